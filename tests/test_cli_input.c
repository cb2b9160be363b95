/* Wrong input: exit code 2, one message with the place and the remedy, and not a byte written or lost. */
#include "cli.h"

/* Lines that follow a good file; the message names the last one. */
static const struct {
    const char *lines, *expected;
} files[] = {
    {"[feilds]\n", "unknown section [feilds], did you mean [fields]?"},
    {"[sepcies.alphas]\n", "did you mean [species.alphas]?"},
    {"[species.a-b]\n", "is not a name"},
    {"[fields\n", "] is missing"},
    {"[run]\nsede = 3\n", "run.sede: unknown key, did you mean seed?"},
    {"[run]\nbx = 1\n", "run.bx: unknown key, did you mean fields.bx?"},
    {"[run]\nseed = 3x\n", "run.seed: x cannot be used in a number"},
    {"[output]\nkeep = 0\n", "output.keep: 0 is out of range"},
    {"[output]\nwall_limit = 1:99:00\n", "output.wall_limit: "},
    {"[fields]\neta_hyper = nan\n", "fields.eta_hyper: "},
    {"[fields]\neta_hyper = 1e999\n", "fields.eta_hyper: "},
    {"[particles]\nshape = cubic\n", "particles.shape: "},
    {"[run]\ndt = 0.01\n", "run.dt: given twice, first on line 3"},
    {"[fields]\neta = 1 +\n", "fields.eta: "},
    {"[fields]\neta = sin(x\n", "fields.eta: "},
    {"[fields]\neta = y0\n", "fields.eta: "},
    {"[fields]\neta = 1/(x - 0.25)\n", "fields.eta: "},
    {"[fields]\neta = sqrt(-1 - x)\n", "fields.eta: "},
    {"[fields]\neta = -1\n", "fields.eta: "},
    {"[fields]\nex = 1\n", "fields.ex: has a meaning only with solver = none"},
    {"[fields]\n  eta = 1\n", "indented line"},
    {"[fields]\neta\n", "expected key = value"},
    {"[fields]\neta = 1\x01\n", "control character"},
    {"[const]\na = 2*a\n", "const.a: needs a, and a cannot be defined before it"},
    {"[fields]\nmin_substeps = 201\n", "fields.min_substeps: min_substeps is above max_substeps"},
    {"[units]\nb0 = 1e-8\n", "units.b0: needs units.n0 as well"},
    {"temperature_x = 1\n", "not together with temperature"},
    {"[boundary]\nx_min = absorbing\n", "boundary.x_min: the side opposite is periodic"},
    {"[body.m]\nshape = mask\nfile = none.pgm\n", "none.pgm: No such file"},
    {"[body.m]\nshape = mask\nfile = small.ini\n", "body.m.file: "},
    {"[body.m]\nshape = disk\nx = 1\ny = 1\nradius = 9\n", "body.m.radius: the bodies leave no cell for the plasma"},
};

START_TEST(wrong_file)
{
    char text[2048], place[64];
    scratch_make();
    snprintf(text, sizeof text, "%s%s", cli_small, files[_i].lines);
    snprintf(place, sizeof place, "larmor: bad.ini:%d: ", cli_lines(text));
    make_file("bad.ini", text);
    cli_refuses("run bad.ini", place, files[_i].expected);
    cli_refuses("check bad.ini", place, files[_i].expected);
    scratch_remove();
}
END_TEST

/* The directory `old` holds a run with checkpoints of steps 20 and 40. The directory `mine` holds a run.ini of the
 * user. */
static const struct {
    const char *command, *expected, *more;
} commands[] = {
    {"frob", "unknown command frob", "--help"},
    {"chekc small.ini", "unknown command chekc, did you mean check?", "--help"},
    {"live old", "live is a command of the Python package", "-m larmor live DIR"},
    {"run small.ini --backend cdua", "\"cdua\" is not one of", "did you mean cuda?"},
    {"small.ini", "unknown command small.ini: a file comes after its command", "larmor run small.ini"},
    {"--frob", "unknown command --frob", "--help"},
    {"run", "which file?", "larmor run FILE.ini"},
    {"check", "which file?", "--help"},
    {"info", "which file?", "larmor info FILE.h5"},
    {"info a b", "which file?", "larmor info FILE.h5"},
    {"fingerprint", "which file?", "larmor fingerprint FILE.h5"},
    {"keys small.ini", "takes no file", "small.ini"},
    {"run small.ini --frob", "no such option here: --frob", "--help"},
    {"run small.ini -x", "no such option here: -x", "--help"},
    {"run small.ini --quiet=3", "no such option here: --quiet=3", "--help"},
    {"keys --steps 3", "no such option here: --steps", "--help"},
    {"info --overwrite old/series.h5", "no such option here: --overwrite", "--help"},
    {"run small.ini --output", "needs a value: --output", "--help"},
    {"run small.ini --output --quiet", "needs a value, before --quiet", "--help"},
    {"run small.ini --output ''", "value is empty", "--help"},
    {"run small.ini --steps 5x", "run.steps: x cannot be used in a number", NULL},
    {"run small.ini --steps -3", "run.steps: -3 is out of range", NULL},
    {"run small.ini --steps 1e-3", "run.steps: \"1e-3\" is not an integer but 0.001", NULL},
    {"run small.ini --threads 1.5", "run.threads: ", NULL},
    {"run small.ini --threads 99999", "run.threads: 99999 is out of range", NULL},
    {"check small.ini --ranks 0", "--ranks takes a number from 1", NULL},
    {"check small.ini --ranks 2x", "--ranks takes a number from 1", NULL},
    {"check small.ini --ranks 97", "97 ranks cannot share 12 x 8 cells: take fewer ranks", NULL},
    {"run small.ini --backend gpu", "run.backend: ", "cuda"},
    {"run small.ini --backend cuda", "backend cuda: ", "use --backend cpu"},
    {"check small.ini --backend cuda", "backend cuda: ", "use --backend cpu"},
    {"run small.ini frob", "\"frob\": expected section.key=value", NULL},
    {"run small.ini run.sede=3", "command line: run.sede: unknown key, did you mean seed?", NULL},
    {"run none.ini", "none.ini: No such file", NULL},
    {"run old", "old: not a regular file", NULL},
    {"run old/series.h5", "old/series.h5:1: ", NULL},
    {"info none.h5", "none.h5: no such file", NULL},
    {"info small.ini", "small.ini: is not an HDF5 file", NULL},
    {"info old", "old: is a directory", NULL},
    {"fingerprint none.h5", "none.h5: no such file", NULL},
    {"fingerprint old/series.h5", "old/series.h5: is not a checkpoint", "checkpoints/"},
    {"run small.ini fields.by=sin(y)", "small.ini: fields.bx, fields.by: div B is not zero", "fields.az"},
    {"run small.ini species.protons.density=0", "small.ini: [species.NAME]: no species has any particles",
     "raise density"},
    {"check small.ini species.protons.density=0", "small.ini: [species.NAME]: no species has any particles",
     "raise density"},
    {"run small.ini species.protons.density=1e300", "small.ini: [species.protons]: ", "at most"},
    {"run small.ini --output small.ini", "small.ini: is a file", "--output"},
    {"run small.ini --output small.ini/below", "small.ini/below: Not a directory", "--output"},
    {"run small.ini --output link", "link: is a link that leads nowhere", "--output"},
    {"run small.ini --output old", "old: holds a run already", "--overwrite"},
    {"run small.ini --output ./old//", "holds a run already", "--overwrite"},
    {"run small.ini --output mine", "mine: exists and is not the output of a run", "--output"},
    {"run small.ini --output mine --overwrite", "mine: exists and is not the output of a run", "--output"},
    {"run small.ini --output . --overwrite", ".: exists and is not the output of a run", "--output"},
    {"run old/run.ini", "old: holds a run already", "--overwrite"},
};

static void hide_gpus(void)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
}

/* A directory that all commands share, as none of them may change it. */
static void world_setup(void)
{
    cli_setup();
    CLI(0, "run small.ini --quiet --output old output.checkpoint_every=20 output.fields_every=40");
    ck_assert_int_eq(mkdir(scratch_path("mine"), 0777), 0);
    make_file("mine/run.ini", cli_small);
    ck_assert_int_eq(symlink("nowhere", scratch_path("link")), 0);
    make_file("text.h5", "not HDF5\n");
    cli.prepare = hide_gpus;
}

START_TEST(wrong_command)
{
    cli_refuses(commands[_i].command, commands[_i].expected, commands[_i].more);
}
END_TEST

START_TEST(no_command)
{
    CLI(2, "%s", "");
    cli_has(cli.err, "larmor run FILE.ini");
    ck_assert_str_eq(cli.out, "");
}
END_TEST

#define STEP_20 "old/checkpoints/checkpoint_00000020.h5"

static const struct {
    const char *arguments, *expected, *more;
} restarts[] = {
    {"none.h5", "none.h5: no such file", NULL},
    {"old", "old: is a directory", NULL},
    {"text.h5", "text.h5: is not an HDF5 file", NULL},
    {"old/series.h5", "old/series.h5: is not a checkpoint", "checkpoints/"},
    {"old/fields/data_00000040.h5", "is an openPMD output", "checkpoints/"},
    {STEP_20 " grid.nx=10", STEP_20 ": cannot be continued", ": grid.nx: 12 there, 10 in the run; set it as there"},
    {STEP_20 " grid.ly=5", STEP_20 ": cannot be continued", ": grid.ly: 4 there, 5 in the run"},
    {STEP_20 " run.dt=0.01", STEP_20 ": cannot be continued", ": run.dt: 0.02 there, 0.01 in the run"},
    {STEP_20 " particles.shape=quadratic", "cannot be continued", ": particles.shape: linear there, quadratic in"},
    {STEP_20 " particles.precision=single", "cannot be continued", ": particles.precision: double there, single in"},
    {STEP_20 " species.protons.mass=2", "cannot be continued", ": species.protons.mass: 1 there, 2 in the run"},
    {STEP_20 " species.protons.charge=2", "cannot be continued", ": species.protons.charge: 1 there, 2 in the run"},
    {STEP_20 " species.protons.particles_per_cell=9", "cannot be continued", ".particles_per_cell: 8 there, 9 in"},
    {STEP_20 " fields.solver=none", "cannot be continued", ": fields.solver: hybrid there, none in the run; set it"},
    {STEP_20 " electrons.closure=evolved", "cannot be continued", ": electrons.closure: isothermal there, evolved in"},
    {STEP_20 " boundary.x_min=reflecting boundary.x_max=absorbing",
     "boundary.x_min: periodic there, reflecting in the run; ",
     "boundary.x_max: periodic there, absorbing in the run; set them as there"},
    {STEP_20 " --steps 20", STEP_20 ": is at step 20 and the run ends at 20", "--steps"},
};

START_TEST(wrong_restart)
{
    char command[256];
    snprintf(command, sizeof command, "run small.ini --output new --restart %s", restarts[_i].arguments);
    cli_refuses(command, restarts[_i].expected, restarts[_i].more);
}
END_TEST

START_TEST(restart_with_other_species)
{
    char text[2048];
    snprintf(text, sizeof text, "%s[species.alphas]\ncharge = 2\nmass = 4\n", cli_small);
    make_file("two.ini", text);
    cli_refuses("run two.ini --output new --restart " STEP_20, STEP_20 ": cannot be continued",
                ": [species.alphas]: not given there, given in the run");
    unlink(scratch_path("two.ini"));
}
END_TEST

/* A checkpoint that is cut off at any length is refused by all commands that read one. */
START_TEST(restart_from_a_torn_file)
{
    static const double shares[] = {0, 0.0001, 0.002, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.99999};
    FILE *in = fopen(scratch_path(STEP_20), "rb"), *out = fopen(scratch_path("torn.h5"), "wb");
    ck_assert(in && out);
    fseek(in, 0, SEEK_END);
    long size = ftell(in), length = (long)(shares[_i] * (double)size);
    rewind(in);
    for (long k = 0; k < length; k++)
        putc(getc(in), out);
    fclose(in);
    fclose(out);
    cli_refuses("run small.ini --output new --restart torn.h5", "torn.h5: is ", NULL);
    cli_refuses("fingerprint torn.h5", "torn.h5: is ", NULL);
    cli_refuses("info torn.h5", "torn.h5: is ", NULL);
}
END_TEST

/* A restart must not shorten the series of another run. */
START_TEST(restart_into_another_run)
{
    CLI(0, "run small.ini --quiet --output other run.seed=5");
    cli_refuses("run small.ini --output other --restart " STEP_20, "other: holds another run", "--overwrite");
    cli_refuses("run small.ini --output mine --restart " STEP_20, "mine: exists and is not the output of a run", NULL);
    cli_refuses("run small.ini --output mine --overwrite --restart " STEP_20, "mine: exists and is not", NULL);
    CLI(0, "run small.ini --quiet --output other --overwrite --restart " STEP_20);
    ck_assert_str_eq(cli_fingerprint("other"), cli_fingerprint("old"));
}
END_TEST

/* A series that the restart cannot continue is left as it is. */
START_TEST(restart_into_a_damaged_series)
{
    static const char *const texts[] = {"step,time\n0,0\n", "not a series\n"};
    CLI(0, "run small.ini --quiet --output hurt output.checkpoint_every=20 --overwrite");
    make_file("hurt/series.csv", texts[_i]);
    cli_refuses("run small.ini --output hurt --restart hurt/checkpoints/checkpoint_00000020.h5",
                "hurt/series.csv: column ", "restart with the same settings or into another");
}
END_TEST

static void become_nobody(void)
{
    if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
        _exit(125);
}

START_TEST(unwritable_parent)
{
    cli_setup();
    ck_assert(!chmod(scratch, 0755) && !mkdir(scratch_path("locked"), 0555));
    cli.prepare = become_nobody;
    int code = cli_call("keys");
    if (code > 3)
        fprintf(stderr, "skipped: unwritable_parent (another user cannot run the program: %d)\n", code);
    else {
        cli_refuses("run small.ini --output locked/new", "locked/new: cannot be made in ", "Permission denied");
        cli_refuses("run small.ini --output locked/a/b/new", "cannot be made in ", "Permission denied");
        cli_refuses("run small.ini --output locked", "locked: Permission denied", "--output");
    }
    scratch_remove();
}
END_TEST

#define COUNT(table) (int)(sizeof table / sizeof *table)

int main(void)
{
    Suite *suite = suite_create("cli_input");
    TCase *alone = tcase_create("files");
    tcase_add_loop_test(alone, wrong_file, 0, COUNT(files));
    tcase_add_test(alone, unwritable_parent);
    suite_add_tcase(suite, alone);
    TCase *world = tcase_create("commands");
    tcase_add_unchecked_fixture(world, world_setup, scratch_remove);
    tcase_set_timeout(world, 30);
    tcase_add_loop_test(world, wrong_command, 0, COUNT(commands));
    tcase_add_test(world, no_command);
    tcase_add_loop_test(world, wrong_restart, 0, COUNT(restarts));
    tcase_add_test(world, restart_with_other_species);
    tcase_add_loop_test(world, restart_from_a_torn_file, 0, 11);
    tcase_add_test(world, restart_into_another_run);
    tcase_add_loop_test(world, restart_into_a_damaged_series, 0, 2);
    suite_add_tcase(suite, world);
    return cli_main(suite);
}
