/* Restarts, signals and the limit of wall time: however a run is interrupted, it ends as a run without a break. */
#include "cli.h"

#include <dirent.h>
#include <math.h>

#include "dataset.h"

#define OFTEN "output.series_every=5 output.checkpoint_every=10 output.keep=100"

/* Rows of DIRECTORY/series.csv after `step`, without the column `rate` (the last), to be freed. */
static char *rows_after(const char *directory, long step)
{
    char name[128];
    snprintf(name, sizeof name, "%s/series.csv", directory);
    char *text = cli_read(name), *out = text;
    ck_assert_ptr_nonnull(text);
    for (char *line = text, *next; *line; line = next) {
        char *end = strchr(line, '\n'), *comma = end;
        ck_assert_msg(end != NULL, "%s ends within a line", name);
        next = end + 1;
        while (comma > line && *comma != ',')
            comma--;
        if (line != text && strtol(line, NULL, 10) <= step)
            continue;
        memmove(out, line, (size_t)(comma - line));
        out += comma - line;
        *out++ = '\n';
    }
    *out = 0;
    return text;
}

/* Reads a column of DIRECTORY/series.h5; returns its length. */
static int column(const char *directory, const char *name, double *out, int room)
{
    char path[128];
    snprintf(path, sizeof path, "%s/series.h5", directory);
    const hid_t file = open_h5(scratch_path(path));
    const int length = (int)read_dataset(file, name, H5T_NATIVE_DOUBLE, (hsize_t)room, out);
    H5Fclose(file);
    return length;
}

enum { ROOM = 4096 };

static void same_column(const char *a, const char *b, long step, const char *name)
{
    static double one[ROOM], two[ROOM], steps[ROOM];
    int n = column(a, name, one, ROOM), m = column(b, name, two, ROOM), skip = 0;
    ck_assert_int_eq(column(a, "step", steps, ROOM), n);
    while (skip < n && steps[skip] <= (double)step)
        skip++;
    ck_assert_msg(n - skip == m, "%s: %d rows instead of %d", name, m, n - skip);
    for (int k = 0; k < m; k++)
        ck_assert_msg(two[k] == one[skip + k], "%s, row %d: %.17g instead of %.17g", name, k, two[k], one[skip + k]);
}

/* In both files the rows of run `b` must be those of run `a` after `step`. */
static void same_rows(const char *a, const char *b, long step)
{
    char *one = rows_after(a, step), *two = rows_after(b, -1);
    ck_assert_str_eq(one, two);
    free(one);
    free(two);
    static const char *const names[] = {"step",    "time", "energy_total", "energy_drift", "kinetic_x_protons",
                                        "substeps"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        same_column(a, b, step, names[k]);
}

static void same_end(const char *a, const char *b)
{
    ck_assert_str_eq(cli_fingerprint(a), cli_fingerprint(b));
}

static const char *const others[] = {"--threads 1", "--threads 2 run.tile=16", "--threads 1 run.sort_every=3"};

START_TEST(into_the_same_directory)
{
    int step = 10 * (1 + _i);
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "run small.ini --quiet --output part " OFTEN);
    CLI(0, "run small.ini --quiet --output part --restart part/checkpoints/checkpoint_000000%d.h5 %s " OFTEN, step,
        others[_i]);
    same_end("whole", "part");
    same_rows("whole", "part", -1);
    CLI(0, "fingerprint part/checkpoints/checkpoint_00000040.h5");
    cli_has(cli.out, cli_fingerprint("whole"));
}
END_TEST

START_TEST(into_a_new_directory)
{
    int step = 10 * (1 + _i);
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "run small.ini --quiet --output new --restart whole/checkpoints/checkpoint_000000%d.h5 %s " OFTEN, step,
        others[_i]);
    same_end("whole", "new");
    same_rows("whole", "new", step);
    ck_assert(cli_exists("new/run.ini") && cli_exists("new/checkpoints/checkpoint_00000040.h5"));
}
END_TEST

/* Until the second part has ended there is no run.json, because an old one would describe the first part. */
START_TEST(in_two_parts)
{
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "run small.ini --quiet --output part --steps 20 " OFTEN);
    CLI(0, "run small.ini --quiet --output part --restart part/checkpoints/checkpoint_00000020.h5 " OFTEN);
    same_end("whole", "part");
    same_rows("whole", "part", -1);
    char *json = cli_read("part/run.json");
    cli_has(json, "\"first_step\": 20");
    cli_has(json, "\"last_step\": 40");
    static double drift[ROOM];
    int n = column("part", "energy_drift", drift, ROOM);
    double told = strtod(strstr(json, "\"energy_drift\": ") + 16, NULL), last = drift[n - 1];
    ck_assert_msg(fabs(told - last) <= 1e-9 * fabs(last), "run.json has %g, the series %g", told, last);
    free(json);
}
END_TEST

/* The newest checkpoint of `long`. */
static int newest(void)
{
    int step = -1, at;
    char rest[8];
    DIR *d = opendir(scratch_path("long/checkpoints"));
    for (struct dirent *e; d && (e = readdir(d));)
        if (sscanf(e->d_name, "checkpoint_%d.h%7s", &at, rest) == 2 && !strcmp(rest, "5"))
            step = at > step ? at : step;
    if (d)
        closedir(d);
    return step;
}

static void wait_for_checkpoint(void)
{
    for (int k = 0; k < 1000 && newest() < 20; k++)
        cli_sleep(0.01);
}

/* A restart from the checkpoint of `step` takes 20 more steps and is compared with a run without a break. */
static void assert_restart(int step)
{
    CLI(0, "run small.ini --quiet --output whole " OFTEN " --steps %d", step + 20);
    CLI(0, "run small.ini --quiet --output long " OFTEN " --steps %d --restart long/checkpoints/checkpoint_%08d.h5",
        step + 20, step);
    same_end("whole", "long");
    same_rows("whole", "long", -1);
}

START_TEST(after_a_kill)
{
    cli_begin("run small.ini --quiet --output long " OFTEN " --steps 1000000");
    wait_for_checkpoint();
    kill(cli.pid, SIGKILL);
    ck_assert_int_eq(cli_end(), 128 + SIGKILL);
    assert_restart(newest());
}
END_TEST

/* A run that was killed after its last checkpoint and before run.json is completed by a restart from that checkpoint.
 */
START_TEST(after_a_kill_at_the_end)
{
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "run small.ini --quiet --output part " OFTEN);
    ck_assert_int_eq(unlink(scratch_path("part/run.json")), 0);
    CLI(0, "run small.ini --quiet --output part --restart part/checkpoints/checkpoint_00000040.h5 " OFTEN);
    same_end("whole", "part");
    same_rows("whole", "part", -1);
    char *json = cli_read("part/run.json");
    cli_has(json, "\"ended\": \"complete\"");
    free(json);
}
END_TEST

/* --restart latest begins a run, goes on with it, passes over a damaged checkpoint, and knows that it is complete. */
START_TEST(from_the_latest)
{
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "run small.ini --output part --restart latest --steps 30 " OFTEN);
    CLI(0, "run small.ini --output part --restart latest --steps 35 " OFTEN);
    cli_has(cli.err, "goes on from part/checkpoints/checkpoint_00000030.h5");
    FILE *f = fopen(scratch_path("part/checkpoints/checkpoint_00000035.h5"), "r+b");
    ck_assert(f && !fseek(f, 3000, SEEK_SET));
    const int byte = fgetc(f);
    fseek(f, 3000, SEEK_SET);
    fputc(byte ^ 4, f);
    fclose(f);
    CLI(0, "run small.ini --output part --restart latest " OFTEN);
    cli_has(cli.err, "warning: part/checkpoints/checkpoint_00000035.h5: is damaged and passed over");
    cli_has(cli.err, "goes on from part/checkpoints/checkpoint_00000030.h5");
    same_end("whole", "part");
    same_rows("whole", "part", -1);
    CLI(0, "run small.ini --output part --restart latest " OFTEN);
    cli_has(cli.err, "part: the run is complete, at step 40; nothing is left to do");
    cli_refuses("run small.ini --output part --restart latest fields.bz=0.5",
                "part: holds a complete run of other settings (fields.bz: 0 there, 0.5 here)", "--overwrite");
    ck_assert_int_eq(unlink(scratch_path("part/run.json")), 0);
    CLI(0, "run small.ini --quiet --output part --restart latest " OFTEN);
    same_end("whole", "part");
}
END_TEST

/* A run that was killed before its first checkpoint is not replaced without a word. */
START_TEST(from_the_latest_of_none)
{
    CLI(0, "run small.ini --quiet --output part --steps 10");
    cli_refuses("run small.ini --output part --restart latest", "part: holds a run already", "--overwrite");
    CLI(0, "run small.ini --quiet --output part --restart latest --overwrite --steps 10");
    cli_refuses("run small.ini --output nowhere/deep --restart late", "late: no such file", NULL);
}
END_TEST

/* Step and path from "stopped at step N: WHY; go on with --restart PATH"; 0 when there is no such message. */
static int stopped(const char *why, char *path)
{
    int step = 0;
    char *at = strstr(cli.err, "stopped at step "), *go_on = strstr(cli.err, "; go on with --restart ");
    ck_assert_msg(at && go_on && sscanf(at, "stopped at step %d: ", &step) == 1, "no such message: %s", cli.err);
    cli_has(at, why);
    ck_assert_int_eq(sscanf(go_on, "; go on with --restart %200s", path), 1);
    char *json = cli_read("long/run.json");
    ck_assert_ptr_nonnull(json);
    cli_has(json, why);
    free(json);
    return step;
}

START_TEST(signals)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    char path[256];
    cli_begin("run small.ini --quiet --output long output.series_every=5 --steps 1000000");
    for (int k = 0; k < 1000 && !cli_exists("long/run.ini"); k++)
        cli_sleep(0.01);
    kill(cli.pid, numbers[_i]);
    ck_assert_int_eq(cli_end(), 3);
    int step = stopped(_i ? "terminated (SIGTERM)" : "interrupted (SIGINT)", path);
    CLI(0, "fingerprint %s", path);
    cli_has(cli.out, cli_fingerprint("long"));
    CLI(0, "run small.ini --quiet --output long --restart %s --steps %d", path, step + 20);
    CLI(0, "run small.ini --quiet --output whole --steps %d", step + 20);
    same_end("whole", "long");
}
END_TEST

/* A signal comes while two million particles are loaded, or before the end of the first step: the state is kept. When
 * it comes earlier, nothing is written. */
START_TEST(early_signal)
{
    static const double delays[] = {0.0, 0.02, 0.2};
    char path[256];
    cli_begin("run small.ini --quiet --output long --steps 1000 species.protons.particles_per_cell=20000");
    cli_sleep(delays[_i]);
    kill(cli.pid, SIGTERM);
    int code = cli_end();
    if (code == 128 + SIGTERM)
        ck_assert(!cli_exists("long"));
    else {
        ck_assert_int_eq(code, 3);
        stopped("terminated (SIGTERM)", path);
        CLI(0, "fingerprint %s", path);
        cli_has(cli.out, cli_fingerprint("long"));
    }
}
END_TEST

START_TEST(wall_limit)
{
    char path[256];
    CLI(3, "run small.ini --quiet --output long --steps 1000000 output.wall_limit=00:00:01");
    int step = stopped("wall-time limit (output.wall_limit)", path);
    CLI(0, "run long/run.ini --quiet --restart %s --steps %d", path, step + 5);
    CLI(0, "run small.ini --quiet --output whole --steps %d", step + 5);
    same_end("whole", "long");
}
END_TEST

/* --- a series that lacks rows --- */

/* Leaves the first `lines` lines of FILE. */
static void shorten(const char *file, int lines)
{
    char *text = cli_read(file), *end = text;
    ck_assert_ptr_nonnull(text);
    for (int k = 0; k < lines; k++)
        end = strchr(end, '\n') + 1;
    *end = 0;
    make_file(file, text);
    free(text);
}

START_TEST(a_short_series_is_completed)
{
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "run small.ini --quiet --output part " OFTEN);
    shorten("part/series.csv", 4); /* the title, steps 0, 5, 10 */
    CLI(0, "run small.ini --quiet --output part --restart part/checkpoints/checkpoint_00000030.h5 " OFTEN);
    ck_assert_str_eq(cli.err, "part/series.csv: misses 4 rows of steps 15 to 30: they are taken from series.h5\n");
    same_end("whole", "part");
    same_rows("whole", "part", -1);
}
END_TEST

START_TEST(a_series_that_is_gone_is_said)
{
    CLI(0, "run small.ini --quiet --output part " OFTEN);
    unlink(scratch_path("part/series.csv"));
    unlink(scratch_path("part/series.h5"));
    CLI(0, "run small.ini --quiet --output part --restart part/checkpoints/checkpoint_00000030.h5 " OFTEN);
    cli_has(cli.err, "part/series.csv: is missing, and so is series.h5: the series begins anew after step 30\n");
    CLI(0, "run small.ini --quiet --output new --restart part/checkpoints/checkpoint_00000030.h5 " OFTEN);
    ck_assert_str_eq(cli.err, ""); /* a restart into a new directory misses no rows */
    CLI(0, "run small.ini --quiet --output part --restart part/checkpoints/checkpoint_00000040.h5 --steps 60 " OFTEN);
    ck_assert_str_eq(cli.err, "");
}
END_TEST

/* --- damaged checkpoints --- */

static void flip_bit(const char *file, long at)
{
    FILE *f = fopen(scratch_path(file), "r+b");
    ck_assert_ptr_nonnull(f);
    fseek(f, at, SEEK_SET);
    int byte = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(byte ^ 1, f);
    fclose(f);
}

START_TEST(a_flipped_bit_is_refused_by_all)
{
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "info --verify whole");
    ck_assert_int_eq(cli_lines(cli.out), 4);
    cli_has(cli.out, "whole/checkpoints/checkpoint_00000030.h5: OK, step 30, ");
    flip_bit("whole/checkpoints/checkpoint_00000030.h5", 20000);
    const char *why = "checkpoint_00000030.h5: is damaged: the checksum of its bytes is ",
               *older = "take the older checkpoint whole/checkpoints/checkpoint_00000020.h5, which is sound";
    cli_refuses("run small.ini --output whole --restart whole/checkpoints/checkpoint_00000030.h5", why, older);
    cli_refuses("run small.ini --output new --restart whole/checkpoints/checkpoint_00000030.h5", why, older);
    cli_refuses("fingerprint whole/checkpoints/checkpoint_00000030.h5", why, older);
    cli_refuses("info whole/checkpoints/checkpoint_00000030.h5", why, older);
    cli_refuses("info --verify whole/checkpoints/checkpoint_00000030.h5", why, older);
    CLI(2, "info --verify whole/checkpoints");
    cli_has(cli.err, "whole/checkpoints: 1 of 4 checkpoints cannot be used");
    cli_has(cli.out, why);
    cli_has(cli.out, "checkpoint_00000040.h5: OK, step 40, ");
    cli_refuses("info --verify whole/series.h5", "whole/series.h5: is not a checkpoint of this program", NULL);
    cli_refuses("info --verify small.ini", "small.ini: is not an HDF5 file", NULL);
}
END_TEST

/* --- other settings than the checkpoint's --- */

#define FROM_20 "--restart whole/checkpoints/checkpoint_00000020.h5 "

/* Keys that cannot change a result are not mentioned. */
START_TEST(neutral_settings_are_not_listed)
{
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "run small.ini --quiet --output new " FROM_20 "--steps 60 --threads 2 run.tile=16 run.sort_every=3 "
           "output.keep=1 output.fields_every=20 output.wall_limit=01:00:00");
    ck_assert_str_eq(cli.err, "");
    char *json = cli_read("new/run.json");
    cli_has(json, "\"checkpoint\": \"whole/checkpoints/checkpoint_00000020.h5\"");
    cli_has(json, "\"changed\": []");
    free(json);
    json = cli_read("whole/run.json");
    cli_has(json, "\"restart\": null");
    free(json);
}
END_TEST

START_TEST(other_settings_are_listed)
{
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "run small.ini --quiet --output new " FROM_20 "run.seed=9 electrons.closure=polytropic fields.eta=0.01 "
           "fields.smoothing=2 species.protons.temperature=0.7");
    ck_assert_str_eq(cli.err,
                     "whole/checkpoints/checkpoint_00000020.h5: the run goes on with other settings:\n"
                     "  run.seed: 1 -> 9 (no effect: no random numbers are drawn after the start)\n"
                     "  electrons.closure: isothermal -> polytropic\n"
                     "  electrons.gamma: not given -> 1.6666666666666667\n"
                     "  fields.eta: 0 -> 0.01\n"
                     "  fields.smoothing: 1 -> 2\n"
                     "  species.protons.temperature: 0.5 -> 0.7 (no effect: the key describes the start only)\n");
    char *json = cli_read("new/run.json");
    cli_has(json,
            "\"key\": \"fields.smoothing\",\n                \"checkpoint\": \"1\",\n                \"run\": \"2\"");
    free(json);
}
END_TEST

/* Settings that the list calls without effect have no effect. */
START_TEST(what_is_without_effect_is)
{
    CLI(0, "run small.ini --quiet --output whole " OFTEN);
    CLI(0, "run small.ini --quiet --output new " FROM_20 "run.seed=9 species.protons.temperature=0.7 "
           "species.protons.density=2 species.protons.drift_x=0.3 species.protons.drift_y=0.1");
    ck_assert_int_eq(cli_lines(cli.err), 6);
    same_end("whole", "new");
    CLI(0, "run small.ini --quiet --output walls boundary.x_min=thermal boundary.x_min_temperature=0.5 "
           "boundary.x_max=absorbing species.protons.start=random " OFTEN);
    CLI(0, "run walls/run.ini --quiet --output new --overwrite --restart walls/checkpoints/checkpoint_00000020.h5 "
           "run.seed=9");
    cli_has(cli.err, "  run.seed: 1 -> 9 (other random numbers from here on)\n");
    ck_assert_str_ne(cli_fingerprint("walls"), cli_fingerprint("new"));
}
END_TEST

/* A side that the flow makes radiating or open stays what it is in the checkpoint: where the settings of the flow
 * change, and where the version that wrote the checkpoint had another default. */
START_TEST(what_the_flow_chose_stays)
{
#define WIND "--quiet boundary.x_min=inflow boundary.x_max=absorbing species.protons.drift_x=2 "
    CLI(0, "run small.ini --output whole " WIND OFTEN);
    CLI(0, "run small.ini --output part --restart whole/checkpoints/checkpoint_00000020.h5 " WIND);
    same_end("whole", "part");
    CLI(0, "run small.ini --output new --restart whole/checkpoints/checkpoint_00000020.h5 " WIND
           "species.protons.temperature=100");
    ck_assert_ptr_null(strstr(cli.err, "fields_x_max"));
    char *ini = cli_read("new/run.ini");
    cli_has(ini, "fields_x_max = radiating\n");
    free(ini);
    CLI(0, "run small.ini --output open boundary.fields_x_max=open " WIND OFTEN);
    CLI(0, "run small.ini --output rest --restart open/checkpoints/checkpoint_00000020.h5 " WIND);
    same_end("open", "rest");
    ck_assert_str_ne(cli_fingerprint("whole"), cli_fingerprint("open"));
    CLI(0, "run small.ini --output rest --restart latest " WIND); /* complete */
    CLI(2, "run small.ini --output new --overwrite --restart open/checkpoints/checkpoint_00000020.h5 "
           "boundary.fields_x_max=radiating " WIND);
#define SLOW "--quiet boundary.x_min=inflow boundary.x_max=inflow "
    CLI(0, "run small.ini --output held boundary.fields_x_min=inflow boundary.fields_x_max=inflow " SLOW OFTEN);
    CLI(0, "run small.ini --output rest --overwrite --restart held/checkpoints/checkpoint_00000020.h5 " SLOW);
    same_end("held", "rest");
    CLI(0, "run small.ini --output slow " SLOW);
    ck_assert_str_ne(cli_fingerprint("held"), cli_fingerprint("slow"));
#undef SLOW
#undef WIND
}
END_TEST

START_TEST(constants_and_absent_keys_are_listed)
{
    char text[2048];
    snprintf(text, sizeof text, "%s[const]\na = 1\n", cli_small);
    make_file("const.ini", text);
    CLI(0, "run const.ini --quiet --output whole " OFTEN);
    CLI(0, "run const.ini --quiet --output new " FROM_20 "const.a=2");
    cli_has(cli.err, "  const.a: 1 -> 2\n");
    CLI(0, "run small.ini --quiet --output other " FROM_20);
    cli_has(cli.err, "  const.a: 1 -> not given\n");
}
END_TEST

/* The file of a table keeps its name but has other content. */
START_TEST(another_table_is_listed)
{
    char text[2048];
    snprintf(text, sizeof text,
             "%sgas = g\nstopping_table = table.txt\n[background.g]\nkind = neutral_gas\ninitial = 0.1\n", cli_small);
    make_file("gas.ini", text);
    make_file("table.txt",
              "# source = this test\n# energy = normalized\n# stopping = normalized\n0.2 1.5\n1 1\n4 0.6\n20 0.2\n");
    CLI(0, "run gas.ini --quiet --output whole " OFTEN);
    CLI(0, "run gas.ini --quiet --output new " FROM_20);
    ck_assert_str_eq(cli.err, "");
    same_end("whole", "new");
    make_file("table.txt",
              "# source = this test\n# energy = normalized\n# stopping = normalized\n0.2 1.5\n1 1\n4 0.6\n20 0.3\n");
    CLI(0, "run gas.ini --quiet --output other " FROM_20);
    cli_has(cli.err, "  species.protons.stopping_table: contents ");
    cli_has(cli.err, " (the file holds another table now)\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_restart");
    TCase *t = tcase_create("restarts");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, into_the_same_directory, 0, 3);
    tcase_add_loop_test(t, into_a_new_directory, 0, 3);
    tcase_add_test(t, in_two_parts);
    tcase_add_test(t, after_a_kill);
    tcase_add_test(t, after_a_kill_at_the_end);
    tcase_add_test(t, from_the_latest);
    tcase_add_test(t, from_the_latest_of_none);
    tcase_add_loop_test(t, signals, 0, 2);
    tcase_add_loop_test(t, early_signal, 0, 3);
    tcase_add_test(t, wall_limit);
    tcase_add_test(t, a_short_series_is_completed);
    tcase_add_test(t, a_series_that_is_gone_is_said);
    tcase_add_test(t, a_flipped_bit_is_refused_by_all);
    tcase_add_test(t, neutral_settings_are_not_listed);
    tcase_add_test(t, other_settings_are_listed);
    tcase_add_test(t, what_is_without_effect_is);
    tcase_add_test(t, what_the_flow_chose_stays);
    tcase_add_test(t, constants_and_absent_keys_are_listed);
    tcase_add_test(t, another_table_is_listed);
    suite_add_tcase(suite, t);
    return cli_main(suite);
}
