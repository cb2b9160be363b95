/* The program as a new user meets it: help, keys, check, info, and what a run writes and prints. */
#define _GNU_SOURCE /* posix_openpt */
#include "cli.h"

#include <hdf5.h>

#include <fcntl.h>

START_TEST(help)
{
    static const char *const calls[] = {"--help",     "-h", "help", "run --help", "run small.ini --output x -h",
                                        "keys --help"};
    CLI(0, "%s", calls[_i]);
    cli_has(cli.out, "larmor run FILE.ini");
    cli_has(cli.out, "Exit codes: 0 done, 1 failed, 2 wrong input, 3 stopped early");
    ck_assert_str_eq(cli.err, "");
}
END_TEST

START_TEST(version)
{
    CLI(0, "--version");
    ck_assert_int_eq(strncmp(cli.out, "Larmor " LM_VERSION " (", 9 + strlen(LM_VERSION)), 0);
    cli_has(cli.out, "compiler: ");
    cli_has(cli.out, "backend cpu: ");
    cli_has(cli.out, "backend cuda: ");
    cli_has(cli.out, "ranks: ");
}
END_TEST

START_TEST(reference_is_the_table)
{
    const char *tests = getenv("LARMOR_TESTS");
    char path[LM_MAX_PATH], text[CLI_TEXT];
    snprintf(path, sizeof path, "%s/../config/reference.md", tests ? tests : "tests");
    FILE *in = fopen(path, "rb");
    ck_assert_msg(in != NULL, "%s is missing", path);
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    CLI(0, "keys --markdown");
    ck_assert_msg(!strcmp(text, cli.out), "config/reference.md is not of this table of keys: make reference");
    CLI(0, "keys");
    cli_has(cli.out, "  particles_per_cell ");
}
END_TEST

static void no_output(void)
{
    int full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
}

static char *attribute(const char *file, const char *name)
{
    hid_t h = H5Fopen(scratch_path(file), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t a = H5Aopen_by_name(h, "/", name, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_msg(a >= 0, "%s has no attribute %s", file, name);
    hid_t type = H5Aget_type(a);
    char *text = calloc(1, H5Tget_size(type) + 1);
    ck_assert_int_ge(H5Aread(a, type, text), 0);
    H5Tclose(type);
    H5Aclose(a);
    H5Fclose(h);
    return text;
}

/* Every HDF5 file of a run says where it comes from. */
START_TEST(provenance)
{
    static const char *const files[] = {"u/series.h5",
                                        "u/fields/data_00000010.h5",
                                        "u/particles/data_00000010.h5",
                                        "u/checkpoints/checkpoint_00000010.h5",
                                        "u/outputs/m_00000010.h5",
                                        "u/distributions/f_00000010.h5"};
    char text[4096];
    snprintf(
        text, sizeof text,
        "%s[output]\nfields_every=10\nparticles_every=10\ncheckpoint_every=10\n[output.m]\nevery=10\nquantities=B\n"
        "[distribution.f]\nevery=10\naxes=vx\nbins=4\nfrom=-1\nto=1\n",
        cli_small);
    make_file("many.ini", text);
    CLI(0, "run many.ini --quiet --output u --steps 10 fields.bz=0.1*sin(2*pi*x/lx)");
    char *settings = cli_read("u/run.ini");
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char *told[4] = {attribute(files[k], "settings"), attribute(files[k], "command"), attribute(files[k], "commit"),
                         attribute(files[k], "created")};
        ck_assert_str_eq(told[0], settings);
        cli_has(told[1], " run many.ini --quiet --output u --steps 10 'fields.bz=0.1*sin(2*pi*x/lx)'");
        ck_assert_uint_gt(strlen(told[2]), 0);
        ck_assert(strlen(told[3]) == 20 && told[3][10] == 'T');
        for (int n = 0; n < 4; n++)
            free(told[n]);
    }
    free(settings);
}
END_TEST

START_TEST(output_that_is_lost)
{
    static const char *const calls[] = {"keys", "--help", "check small.ini"};
    cli.prepare = no_output;
    CLI(1, "%s", calls[_i]);
    cli_has(cli.err, "larmor: ");
}
END_TEST

START_TEST(check)
{
    uint64_t before = cli_snapshot();
    CLI(0, "check small.ini --steps 15 --output elsewhere");
    static const char *const parts[] = {"; resolved settings",
                                        "t_end = 0.3",
                                        "directory = elsewhere",
                                        "15 steps to t = 0.3 on",
                                        "12 x 8 cells of 0.5 x 0.5 d_i",
                                        "protons: 0.000768 M particles, 8 a cell",
                                        "memory\n",
                                        "limits",
                                        "advice\n",
                                        "fields.eta_hyper is 0",
                                        "output.checkpoint_every is 0"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        cli_has(cli.out, parts[k]);
    ck_assert_str_eq(cli.err, "");
    ck_assert_ptr_null(strstr(cli.out, "gyration: Z B dt/m                         BEYOND"));
    CLI(4, "check small.ini run.dt=0.25");
    cli_has(cli.out, "BEYOND");
    cli_has(cli.out, "gyration: Z B dt/m is beyond its limit: take run.dt <= 0.2");
    cli_has(cli.err, "beyond 2 limits: gyration: Z B dt/m; cells a step, protons");
    ck_assert(before == cli_snapshot());
}
END_TEST

/* 12 x 8 cells; the box covers 4 x 2 of them. */
/* How ranks would share a run; the dense half of the domain gets more of them. */
START_TEST(check_ranks)
{
    int x = 0, x2 = 0;
    CLI(0, "check small.ini --ranks 3 grid.nx=96 grid.lx=48 species.protons.density=0.1+0.9*(x>lx/2) run.tile=8 "
           "species.protons.particles_per_cell=64");
    cli_has(cli.out, "ranks (3)\n");
    cli_has(cli.out, "% of the work");
    cli_has(cli.out, "work: the most is 1.");
    ck_assert_int_eq(sscanf(strstr(cli.out, "  0: cells"), "  0: cells 0 to %d x 0 to 7, arrays", &x), 1);
    ck_assert_int_eq(sscanf(strstr(cli.out, "  1: cells"), "  1: cells %*d to %d", &x2), 1);
    ck_assert_int_gt(x, 47);
    ck_assert_int_lt(x2 - x, 32);
    CLI(0, "check small.ini");
    ck_assert_ptr_null(strstr(cli.out, "ranks ("));
}
END_TEST

START_TEST(check_bodies)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", cli_small,
             "inflow_density = 1\n[boundary]\nx_min = inflow\nx_max = thermal\nx_max_temperature = 0.5\n"
             "[body.rock]\nshape = box\nx = 3\ny = 2\nwidth = 2\nheight = 1\nparticles = thermal\ntemperature = 1\n");
    make_file("rock.ini", text);
    CLI(0, "check rock.ini");
    static const char *const parts[] = {
        "  x_min: particles inflow, fields radiating, because the mean flow there is not inwards\n",
        "  x_max: particles thermal, fields conducting\n", "  y_max: particles periodic, fields periodic\n",
        "  rock: 8 cells, 8.33 % of the domain; particles thermal, fields conducting\n",
        "protons: 0.000704 M particles"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        cli_has(cli.out, parts[k]);
    ck_assert_ptr_null(strstr(cli.out, "nothing comes in"));
    ck_assert_ptr_null(strstr(cli.out, "nothing leaves"));
    /* the file says what each side does to particles */
    CLI(0, "run rock.ini --quiet --output u --steps 1 output.fields_every=1");
    CLI(0, "check rock.ini boundary.x_max_temperature=0 body.rock.temperature=0 species.protons.inflow_density=0");
    cli_has(cli.out, "  boundary.x_max is thermal at boundary.x_max_temperature = 0: nothing leaves");
    cli_has(cli.out, "  body.rock is thermal at temperature = 0: nothing leaves");
    cli_has(cli.out, "  boundary.x_min is inflow, but nothing comes in");
    CLI(0, "check rock.ini species.protons.temperature=0 species.protons.drift_x=-1");
    cli_has(cli.out, "  boundary.x_min is inflow, but nothing comes in");
    CLI(0, "check rock.ini species.protons.temperature=0 species.protons.drift_x=1");
    ck_assert_ptr_null(strstr(cli.out, "nothing comes in"));
    CLI(0, "check rock.ini species.protons.inflow_density=t");
    ck_assert_ptr_null(strstr(cli.out, "nothing comes in"));
}
END_TEST

START_TEST(info)
{
    CLI(0, "run small.ini --output u output.fields_every=20 output.particles_every=40 output.checkpoint_every=40");
    CLI(0, "info u/checkpoints/checkpoint_00000040.h5");
    cli_has(cli.out, ": checkpoint\n");
    cli_has(cli.out, "protons: 768 particles");
    CLI(0, "info u/series.h5");
    cli_has(cli.out, "time series, ");
    cli_has(cli.out, " 5 rows");
    CLI(0, "info u/fields/data_00000020.h5");
    cli_has(cli.out, "openPMD ");
    cli_has(cli.out, "B: x, y, z");
    CLI(0, "info u/particles/data_00000040.h5");
    cli_has(cli.out, "protons: 768 particles");
    ck_assert(!cli_exists("u/particles/data_00000020.h5") && cli_exists("u/fields/data_00000000.h5"));
    CLI(0, "run small.ini --quiet --output v --steps 1 output.fields_every=1 "
           "boundary.x_min=inflow boundary.x_max=absorbing");
    ck_assert(cli_exists("v/fields/data_00000001.h5"));
}
END_TEST

START_TEST(fraction_of_the_particles)
{
    static const char *const fractions[] = {"0.25", "1e-9", "0.9999", "1"};
    static const int kept[] = {192, 1, 768, 768};
    char expected[64];
    CLI(0, "run small.ini --output u --steps 2 output.particles_every=1 output.particles_fraction=%s", fractions[_i]);
    CLI(0, "info u/particles/data_00000002.h5");
    snprintf(expected, sizeof expected, "protons: %d particles", kept[_i]);
    cli_has(cli.out, expected);
}
END_TEST

/* run.ini describes the whole run: it has t_end = steps dt, and a run from it gives the same bits. */
START_TEST(run_ini_runs_again)
{
    static const char *const overrides[] = {"--steps 17", "--steps 7 run.dt=0.125", "run.t_end=0.37", "--steps 0",
                                            "run.seed=18446744073709551615 fields.eta=1e-3*(1+sin(x)) --steps 5"};
    static const char *const expected[] = {"\nt_end = 0.34\n", "\nt_end = 0.875\n", "\nt_end = 0.37\n", "\nt_end = 0\n",
                                           "\neta = 1e-3*(1+sin(x))\n"};
    CLI(0, "run small.ini --quiet --output a/b/one %s", overrides[_i]);
    CLI(0, "run a/b/one/run.ini --quiet --output two");
    ck_assert_str_eq(cli_fingerprint("a/b/one"), cli_fingerprint("two"));
    char *whole[2] = {cli_read("a/b/one/run.ini"), cli_read("two/run.ini")};
    char *echo = strstr(whole[0], "\n[run]\n"), *again = strstr(whole[1], "\n[run]\n");
    cli_has(echo, expected[_i]);
    ck_assert_ptr_null(strstr(echo, "\nsteps ="));
    *strstr(echo, "\ndirectory =") = *strstr(again, "\ndirectory =") = 0;
    ck_assert_str_eq(echo, again);
    free(whole[0]);
    free(whole[1]);
}
END_TEST

START_TEST(steps_displace_t_end)
{
    char *json;
    make_file("t.ini",
              "[run]\nt_end = 5\ndt = 0.02\n[grid]\nnx = 4\nny = 4\nlx = 2\nly = 2\n[fields]\nbz = 1\n[species.p]\n");
    CLI(0, "run t.ini --quiet --steps 3");
    json = cli_read("t.out/run.json");
    cli_has(json, "\"last_step\": 3,");
    cli_has(json, "\"ended\": \"complete\"");
    free(json);
    cli_refuses("run t.ini --steps 3 run.t_end=1 --output x", "run.steps: not together with t_end", NULL);
}
END_TEST

START_TEST(quiet)
{
    CLI(0, "run small.ini --quiet");
    ck_assert_str_eq(cli.err, "");
    ck_assert_str_eq(cli.out, "");
    ck_assert(cli_exists("small.out/series.csv") && cli_exists("small.out/run.json"));
}
END_TEST

START_TEST(progress_in_lines)
{
    CLI(0, "run small.ini");
    cli_has(cli.err, "step 40 of 40, t = 0.8, ");
    cli_has(cli.err, cli_fingerprint("small.out"));
    ck_assert_ptr_null(strchr(cli.err, '\r'));
    ck_assert_int_eq(cli_lines(cli.err), 3);
    ck_assert_str_eq(cli.out, "");
}
END_TEST

static char terminal[128];

static void on_a_terminal(void)
{
    int end = open(terminal, O_RDWR | O_NOCTTY);
    dup2(end, STDERR_FILENO);
}

START_TEST(progress_on_a_terminal)
{
    char text[8192];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master)) {
        fprintf(stderr, "skipped: progress_on_a_terminal (no terminal to be had)\n");
        return;
    }
    snprintf(terminal, sizeof terminal, "%s", ptsname(master));
    int keep = open(terminal, O_RDWR | O_NOCTTY);
    cli.prepare = on_a_terminal;
    CLI(0, "run small.ini");
    ssize_t n = read(master, text, sizeof text - 1);
    ck_assert_int_gt((int)n, 0);
    text[n] = 0;
    cli_has(text, "\r[========================] 100 %");
    close(keep);
    close(master);
}
END_TEST

/* The files of the earlier run are removed, and no other files. */
START_TEST(overwrite)
{
    CLI(0,
        "run small.ini --quiet --output u output.fields_every=10 output.particles_every=10 output.checkpoint_every=10");
    make_file("u/notes.txt", "mine\n");
    make_file("u/fields/picture.png", "mine\n");
    CLI(0, "run small.ini --quiet --output u --overwrite --steps 5 output.fields_every=5");
    ck_assert(cli_exists("u/notes.txt") && cli_exists("u/fields/picture.png") &&
              cli_exists("u/fields/data_00000005.h5"));
    ck_assert(!cli_exists("u/fields/data_00000010.h5") && !cli_exists("u/particles/data_00000000.h5"));
    ck_assert(!cli_exists("u/checkpoints/checkpoint_00000040.h5"));
    char *csv = cli_read("u/series.csv");
    ck_assert_int_eq(cli_lines(csv), 3); /* a header, steps 0 and 5 */
    free(csv);
    CLI(0, "run u/run.ini --quiet --overwrite");
    ck_assert(cli_exists("u/notes.txt") && cli_exists("u/run.json"));
}
END_TEST

START_TEST(into_an_empty_directory)
{
    ck_assert_int_eq(mkdir(scratch_path("empty"), 0777), 0);
    CLI(0, "run small.ini --quiet --output empty/");
    ck_assert(cli_exists("empty/run.json"));
}
END_TEST

/* JSON must be UTF-8, but the names of files need not be. */
START_TEST(name_that_is_not_utf8)
{
    make_file("caf\xe9.ini", cli_small);
    CLI(0, "run caf\xe9.ini --quiet --output u");
    char *json = cli_read("u/run.json");
    cli_has(json, "\"configuration\": \"(not UTF-8)\"");
    free(json);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli");
    TCase *t = tcase_create("ordinary");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, help, 0, 6);
    tcase_add_test(t, version);
    tcase_add_test(t, reference_is_the_table);
    tcase_add_test(t, provenance);
    tcase_add_loop_test(t, output_that_is_lost, 0, 3);
    tcase_add_test(t, check);
    tcase_add_test(t, check_ranks);
    tcase_add_test(t, check_bodies);
    tcase_add_test(t, info);
    tcase_add_loop_test(t, fraction_of_the_particles, 0, 4);
    tcase_add_loop_test(t, run_ini_runs_again, 0, 5);
    tcase_add_test(t, steps_displace_t_end);
    tcase_add_test(t, quiet);
    tcase_add_test(t, progress_in_lines);
    tcase_add_test(t, progress_on_a_terminal);
    tcase_add_test(t, overwrite);
    tcase_add_test(t, into_an_empty_directory);
    tcase_add_test(t, name_that_is_not_utf8);
    suite_add_tcase(suite, t);
    return cli_main(suite);
}
