/* Values at points: linear interpolation between the values of the arrays, and files that restarts go on with. */
#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "dataset.h"
#include "output/samples.h"
#include "sim_run.h"

static hsize_t read_data(const char *path, const char *name, hid_t type, hsize_t room, void *out)
{
    const hid_t file = open_h5(path);
    const hsize_t count = read_dataset(file, name, type, room, out);
    H5Fclose(file);
    return count;
}

/* One sample of all probes at the present step. */
static void sample_once(struct lm_sim *sim)
{
    struct lm_samples s = {NULL, NULL};
    snprintf(((struct lm_config *)sim->config)->output.directory, LM_MAX_PATH, "%s", scratch_path("out"));
    ck_assert_msg(!lm_samples_make(sim, sim->config, &s) && !lm_samples_take(&s) && !lm_samples_flush(&s), "%s",
                  lm_error());
    lm_samples_free(&s);
}

/* --- values --- */

/* Fields that are linear in x and y are met exactly, also between faces and corners, and a line has even distances. */
static const char linear[] =
    "[run]\nsteps = 1\ndt = 0.01\n[grid]\nnx = 10\nny = 8\nlx = 5\nly = 2\n"
    "[boundary]\nx_min = reflecting\nx_max = reflecting\ny_min = reflecting\ny_max = reflecting\n"
    "[fields]\nsolver = none\nbx = 1 + 0.5*y\nby = 0.25*x\nbz = 1 + 0.2*x - 0.3*y\n"
    "ex = 0.1*x + y\ney = 0.3 - x\nez = 2*x*1 - y\n[species.p]\nparticles_per_cell = 4\n"
    "[probe.l]\nquantities = B E\nx = 0.5, lx - 1, 4\ny = 0.5, 0.5, 1.5\nline = 9\n";

START_TEST(linear_fields_are_met)
{
    struct lm_sim *sim = sim_new(linear, NULL);
    static const char *const names[] = {"bx", "by", "bz", "ex", "ey", "ez"};
    double x[9], y[9], value[6][9];
    sample_once(sim);
    const char *file = scratch_path("out/probes/l_00000000.h5");
    ck_assert_uint_eq(read_data(file, "x_points", H5T_NATIVE_DOUBLE, 9, x), 9);
    read_data(file, "y_points", H5T_NATIVE_DOUBLE, 9, y);
    for (int c = 0; c < 6; c++)
        ck_assert_uint_eq(read_data(file, names[c], H5T_NATIVE_DOUBLE, 9, value[c]), 9);
    for (int n = 0; n < 9; n++) { /* 3.5 d_i along x, then 1 along y: 4.5 in 8 parts */
        const double way = 4.5 * n / 8;
        ck_assert_double_eq_tol(x[n], way < 3.5 ? 0.5 + way : 4, 1e-14);
        ck_assert_double_eq_tol(y[n], way < 3.5 ? 0.5 : 0.5 + way - 3.5, 1e-14);
        const double expected[6] = {1 + 0.5 * y[n],    0.25 * x[n], 1 + 0.2 * x[n] - 0.3 * y[n],
                                    0.1 * x[n] + y[n], 0.3 - x[n],  2 * x[n] - y[n]};
        for (int c = 0; c < 6; c++)
            ck_assert_double_eq_tol(value[c][n], expected[c], 1e-13);
    }
    sim_free(sim);
}
END_TEST

/* Every quantity, at the places where its values are: there the sample is the value of the array. */
static const char everything[] =
    "[run]\nsteps = 5\ndt = 0.02\n[grid]\nnx = 6\nny = 4\nlx = 6\nly = 4\n[electrons]\ntemperature = 0.4\n"
    "[fields]\nbx = 0.4\nbz = 1 + 0.3*sin(2*pi*x/lx)*cos(2*pi*y/ly)\n"
    "[species.p]\nparticles_per_cell = 30\ntemperature = 0.3\n[species.a]\nmass = 4\ndensity = 0.2\n"
    "particles_per_cell = 90\n[background.dye]\ninitial = 1 + 0.5*cos(2*pi*x/lx)\n"
    "[probe.all]\nquantities = B, E, J_i, rho, p_e, density, backgrounds\n"
    "x = 2.5, 3, 2.5, 3, 5.9, 0\ny = 1.5, 1.5, 2, 2, 3.9, 0\n";

static const struct {
    const char *name;
    int array;
    double x, y;
} quantities[] = {{"bx", LM_B, 0, 0.5},
                  {"by", LM_B + 1, 0.5, 0},
                  {"bz", LM_B + 2, 0.5, 0.5},
                  {"ex", LM_E, 0.5, 0},
                  {"ey", LM_E + 1, 0, 0.5},
                  {"ez", LM_E + 2, 0, 0},
                  {"jx_i", LM_J_OLD, 0, 0},
                  {"jy_i", LM_J_OLD + 1, 0, 0},
                  {"jz_i", LM_J_OLD + 2, 0, 0},
                  {"rho", LM_N_OLD, 0, 0},
                  {"p_e", LM_PRESSURE, 0, 0},
                  {"n_p", LM_SPECIES_N, 0, 0},
                  {"n_a", LM_SPECIES_N + 1, 0, 0},
                  {"background_dye", LM_BACKGROUND, 0, 0}};

START_TEST(values_of_every_quantity)
{
    static const double x[] = {2.5, 3, 2.5, 3, 5.9, 0}, y[] = {1.5, 1.5, 2, 2, 3.9, 0};
    struct lm_sim *sim = sim_new(everything, NULL);
    const struct lm_grid *g = &sim->grid;
    advance(sim, 3);
    sample_once(sim);
    for (size_t q = 0; q < sizeof quantities / sizeof *quantities; q++) {
        double value[6], *a = array_of(sim, quantities[q].array);
        ck_assert_uint_eq(
            read_data(scratch_path("out/probes/all_00000003.h5"), quantities[q].name, H5T_NATIVE_DOUBLE, 6, value), 6);
        for (int n = 0; n < 6; n++) {
            const double at_x = x[n] - 0.5 - quantities[q].x, at_y = y[n] - 0.5 - quantities[q].y;
            double sum = 0; /* over all cells: the hat function of the nearest image */
            for (int j = 0; j < g->ny; j++)
                for (int i = 0; i < g->nx; i++)
                    sum += fmax(0, 1 - fabs(remainder(at_x - i, g->nx))) *
                           fmax(0, 1 - fabs(remainder(at_y - j, g->ny))) * a[lm_at(g, i, j)];
            ck_assert_double_eq_tol(value[n], sum, 1e-13);
        }
        free(a);
    }
    sim_free(sim);
}
END_TEST

/* --- files --- */

static const char moving[] = "[run]\nsteps = 40\ndt = 0.02\nthreads = 1\nbackend = cpu\n"
                             "[grid]\nnx = 12\nny = 8\nlx = 6\nly = 4\n[electrons]\ntemperature = 0.5\n"
                             "[fields]\nbx = 1\n[species.p]\nparticles_per_cell = 8\ntemperature = 0.5\n"
                             "[probe.l]\nquantities = B density\nx = 0, lx\ny = 2, 2\nline = 5\nevery = 3\n"
                             "[output]\ncheckpoint_every = 20\n";

enum { ROWS = 14, POINTS = 5 };
struct rows {
    int64_t step[ROWS];
    double n[ROWS][POINTS];
    int count;
};

static struct rows read_rows(const char *pattern)
{
    struct rows r = {.count = 0};
    glob_t files;
    ck_assert_int_eq(glob(scratch_path(pattern), 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        const hsize_t room = (hsize_t)(ROWS - r.count);
        read_data(files.gl_pathv[k], "n_p", H5T_NATIVE_DOUBLE, room * POINTS, r.n[r.count]);
        r.count += (int)read_data(files.gl_pathv[k], "step", H5T_NATIVE_INT64, room, r.step + r.count);
    }
    globfree(&files);
    return r;
}

/* A sample changes no result; a restart goes on with the file; other points under the same name are refused. */
START_TEST(samples_and_restarts)
{
    make_file("run.ini", moving);
    CLI(0, "run run.ini --quiet --output whole");
    CLI(0, "run run.ini --quiet --output again");
    CLI(0, "run run.ini --quiet --output seldom probe.l.every=1000");
    const struct rows whole = read_rows("whole/probes/l_*.h5");
    ck_assert_int_eq(whole.count, ROWS);
    for (int k = 0; k < ROWS; k++)
        ck_assert_int_eq(whole.step[k], 3 * k);
    ck_assert_int_eq(cli_call("run run.ini --quiet --output again --restart again/checkpoints/checkpoint_00000020.h5 "
                              "probe.l.line=6 output.checkpoint_every=0"),
                     2);
    ck_assert_msg(strstr(cli.err, "[probe.l] cannot go on with its samples") &&
                      strstr(cli.err, "has samples of other points or ions"),
                  "%s", cli.err);
    ck_assert_int_eq(cli_call("run run.ini --quiet --output again --restart again/checkpoints/checkpoint_00000020.h5 "
                              "probe.l.x=0,lx-1"),
                     2);
    const struct rows kept = read_rows("again/probes/l_*.h5");
    ck_assert(!memcmp(&whole, &kept, sizeof whole)); /* what is refused loses nothing */
    CLI(0, "run run.ini --quiet --output again --restart again/checkpoints/checkpoint_00000020.h5 "
           "output.checkpoint_every=7");
    const struct rows again = read_rows("again/probes/l_*.h5");
    ck_assert(!memcmp(&whole, &again, sizeof whole));
    static const char *const outputs[] = {"whole", "seldom"};
    char prints[2][64];
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(cli_call("fingerprint %s/checkpoints/checkpoint_00000040.h5", outputs[k]), 0);
        snprintf(prints[k], sizeof prints[k], "%.16s", cli.out);
    }
    ck_assert_str_eq(prints[0], prints[1]);
    ck_assert_int_eq(cli_call("info whole/probes/l_00000039.h5"), 0);
    ck_assert_msg(strstr(cli.out, "values at 5 points") && strstr(cli.out, "n_p [n0]"), "%s", cli.out);
}
END_TEST

/* --- bad input --- */

static const struct {
    const char *text, *wrong;
} bad[] = {
    {"[probe.o]\nx = 1\ny = 1\n", "probe.o.quantities: required and not given"},
    {"[probe.o]\nquantities = B\nx = 1\n", "probe.o.y: required and not given"},
    {"[probe.o]\nquantities = J\nx = 1\ny = 1\n", "probe.o.quantities: \"J\" is not one of B, E, J_i, rho"},
    {"[probe.o]\nquantities = Bz\nx = 1\ny = 1\n", "probe.o.quantities: \"Bz\" is not one of B"},
    {"[probe.o]\nquantities = B\nx = 1, 2\ny = 1\n", "probe.o.y: x has 2 numbers and y has 1"},
    {"[probe.o]\nquantities = B\nx = 7\ny = 1\n", "probe.o.x: 7 is out of range (0 to 6)"},
    {"[probe.o]\nquantities = B\nx = 1\ny = 1\nline = 4\n", "a line needs two points or more"},
    {"[probe.o]\nquantities = B\nx = ,\ny = ,\n", "probe.o.y: has no number"},
    {"[probe.o]\nquantities = B\nx = lz\ny = 1\n", "probe.o.x: unknown name \"lz\""},
};

START_TEST(wrong_input)
{
    char text[4096];
    snprintf(text, sizeof text, "%.*s%s", (int)(strstr(moving, "[probe.l]") - moving), moving, bad[_i].text);
    make_file("run.ini", text);
    cli_refuses("run run.ini --quiet --output out", bad[_i].wrong, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("probes");
    TCase *t = tcase_create("probes");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, linear_fields_are_met);
    tcase_add_test(t, values_of_every_quantity);
    tcase_add_test(t, samples_and_restarts);
    tcase_add_loop_test(t, wrong_input, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
