/* [output.NAME] as means over time: against the outputs of single steps, against sums over the moments of the samples,
 * and across restarts. */
#include "cli.h"

#include <math.h>

#include "attributes.h"
#include "dataset.h"
#include "inside.h"
#include "output/averages.h"
#include "output/moments.h"
#include "require.h"
#include "sim_run.h"

/* Two species, walls in y, and a field that grows by 0.5 in a unit of time. */
#define BOX                                                                                                            \
    "[run]\nsteps = 40\ndt = 0.02\nseed = 3\nthreads = 1\nbackend = cpu\n"                                             \
    "[grid]\nnx = 12\nny = 8\nlx = 6\nly = 2\n"                                                                        \
    "[boundary]\ny_min = reflecting\ny_max = reflecting\n"                                                             \
    "[fields]\nbx = 0.5\nbz = 1 + 0.2*cos(2*pi*x/lx)\n"                                                                \
    "[electrons]\ntemperature = 0.4\n"                                                                                 \
    "[species.p]\nparticles_per_cell = 30\ntemperature = 0.3\ndrift_x = 0.2\n"                                         \
    "[species.a]\nmass = 4\ncharge = 2\ndensity = 0.1\nparticles_per_cell = 200\ntemperature = 0.5\n"                  \
    "[background.dye]\ninitial = 1\nsource = 0.5\n"

#define EACH                                                                                                           \
    "[output.each]\nevery = 1\nquantities = B E J J_i rho p_e E_terms heating backgrounds density energy_flux\n"
#define MEAN                                                                                                           \
    "[output.mean]\nevery = 10\naverage = 6\naverage_every = 2\n"                                                      \
    "quantities = B E J J_i rho p_e E_terms heating backgrounds density energy_flux\n"
#define POOLED                                                                                                         \
    "[output.pooled]\nevery = 10\naverage = 9\naverage_every = 3\nspecies = a\ncoarsen = 2\n"                          \
    "quantities = T_e velocity pressure temperature\n"

static const char *const linear[] = {"B/x", "B/z",      "E/x",     "E/y", "J/z", "J_i/x",          "rho",
                                     "p_e", "E_Hall/x", "J_dot_E", "n_p", "n_a", "background_dye", "Q_a/y"};
static const char *const pooled[] = {"T_e", "u_a/x", "P_a/xx", "P_a/yz", "T_par_a", "T_perp_a"};
enum { LINEAR = sizeof linear / sizeof *linear, RATIOS = sizeof pooled / sizeof *pooled, MOST = 96 };

/* Reads a mesh of DIRECTORY/outputs/NAME_STEP.h5; returns the number of its values. */
static int mesh(const char *directory, const char *name, int step, const char *record, double out[MOST])
{
    char path[128];
    snprintf(path, sizeof path, "%s/outputs/%s_%08d.h5", directory, name, step);
    const hid_t file = open_h5(scratch_path(path));
    snprintf(path, sizeof path, "/data/%d/meshes/%s", step, record);
    const int count = (int)read_dataset(file, path, H5T_NATIVE_DOUBLE, MOST, out);
    H5Fclose(file);
    return count;
}

static int has_file(const char *directory, const char *name, int step)
{
    char path[128];
    snprintf(path, sizeof path, "%s/outputs/%s_%08d.h5", directory, name, step);
    return cli_exists(path);
}

static void same_meshes(const char *a, const char *b, const char *name, int step, int count, const char *const *records)
{
    double one[MOST], two[MOST];
    for (int r = 0; r < count; r++) {
        const int n = mesh(a, name, step, records[r], one);
        ck_assert_int_eq(mesh(b, name, step, records[r], two), n);
        ck_assert_msg(!memcmp(one, two, (size_t)n * sizeof *one), "%s of step %d differs", records[r], step);
    }
}

/* --- the mean --- */

/* Samples of the steps 6, 8, 10 and so on: their sum in this order over 3, to the bit. */
START_TEST(mean_of_outputs)
{
    make_file("case.ini", BOX EACH MEAN);
    CLI(0, "run case.ini --quiet --output out");
    ck_assert(!has_file("out", "mean", 0));
    for (int step = 10; step <= 40; step += 10)
        for (int r = 0; r < LINEAR; r++) {
            double got[MOST], of[3][MOST];
            int differ = 0;
            const int count = mesh("out", "mean", step, linear[r], got);
            for (int k = 0; k < 3; k++)
                ck_assert_int_eq(mesh("out", "each", step - 4 + 2 * k, linear[r], of[k]), count);
            for (int c = 0; c < count; c++) {
                require(got[c] == (of[0][c] + of[1][c] + of[2][c]) / 3);
                differ += got[c] != of[2][c];
            }
            ck_assert_msg(differ > 0 || !strcmp(linear[r], "B/x"), "%s is the same in all samples", linear[r]);
        }
}
END_TEST

/* A window as long as the cadence, with all its steps. */
START_TEST(mean_without_gaps)
{
    make_file("case.ini", BOX "[output.each]\nevery = 1\nquantities = E\n"
                              "[output.mean]\nevery = 5\naverage = 5\nquantities = E\n");
    CLI(0, "run case.ini --quiet --output out run.steps=10");
    double got[MOST], of[MOST], sum[MOST] = {0};
    for (int step = 6; step <= 10; step++) {
        mesh("out", "each", step, "E/y", of);
        for (int c = 0; c < MOST; c++)
            sum[c] += of[c];
    }
    mesh("out", "mean", 10, "E/y", got);
    for (int c = 0; c < MOST; c++)
        require(got[c] == sum[c] / 5);
}
END_TEST

/* What is linear in time has, as its mean, its value at the time of the mesh. */
START_TEST(time_of_the_mean)
{
    make_file("case.ini", BOX MEAN);
    CLI(0, "run case.ini --quiet --output out run.steps=30");
    double got[MOST];
    const hid_t file = open_h5(scratch_path("out/outputs/mean_00000030.h5"));
    const char *dye = "/data/30/meshes/background_dye", *current = "/data/30/meshes/J_i";
    double offset;
    hid_t a = H5Aopen_by_name(file, dye, "timeOffset", H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Aread(a, H5T_NATIVE_DOUBLE, &offset), 0);
    H5Aclose(a);
    mesh("out", "mean", 30, "background_dye", got);
    for (int c = 0; c < MOST; c++)
        require_near(got[c], 1 + 0.5 * (30 * 0.02 + offset), 1e-9);
    require_near(offset, -0.04, 1e-15);
    assert_real(file, current, "timeOffset", -0.01 - 0.04);
    assert_whole(file, current, "averageSamples", H5T_NATIVE_INT64, 0, 3);
    assert_whole(file, current, "averageFirstStep", H5T_NATIVE_INT64, 0, 26);
    assert_whole(file, current, "averageLastStep", H5T_NATIVE_INT64, 0, 30);
    H5Fclose(file);
    CLI(0, "info out/outputs/mean_00000030.h5");
    cli_has(cli.out, "mean of 3 samples, steps 26 to 30");
}
END_TEST

/* --- ratios --- */

enum { SAMPLES = 3 };

/* Sums over the samples of what a coarse cell needs. */
struct pool {
    double moment[24][LM_MOMENT_COUNT], b[24][3], pressure[24], density[24];
};

/* Adds the present state: means over 2 x 2 cells. */
static void join(struct lm_sim *sim, struct pool *pool)
{
    double *out[LM_MOMENT_COUNT], *b[3], *p = array_of(sim, LM_PRESSURE), *n = array_of(sim, LM_FLOORED);
    for (int m = 0; m < LM_MOMENT_COUNT; m++)
        out[m] = malloc(sim->grid.cells * sizeof *out[m]);
    ck_assert_int_eq(lm_moments_collect(sim, sim->config, 1, out), LM_OK);
    for (int d = 0; d < 3; d++) {
        b[d] = array_of(sim, LM_B + d);
        lm_grid_wrap(&sim->grid, b[d]);
    }
    for (int k = 0; k < 96; k++) {
        const int i = k % 12, j = k / 12, c = j / 2 * 6 + i / 2;
        const size_t at = lm_at(&sim->grid, i, j), below = lm_at(&sim->grid, i, j - 1);
        for (int m = 0; m < LM_MOMENT_COUNT; m++)
            pool->moment[c][m] += 0.25 * out[m][k] / SAMPLES;
        pool->b[c][0] += 0.125 * (b[0][at] + b[0][below]) / SAMPLES;
        pool->b[c][1] += 0.125 * (b[1][at] + b[1][at - 1]) / SAMPLES;
        pool->b[c][2] += 0.0625 * (b[2][at] + b[2][at - 1] + b[2][below] + b[2][below - 1]) / SAMPLES;
        pool->pressure[c] += p[at];
        pool->density[c] += n[at];
    }
    for (int m = 0; m < LM_MOMENT_COUNT; m++)
        free(out[m]);
    for (int d = 0; d < 3; d++)
        free(b[d]);
    free(p), free(n);
}

/* m n <(v - u)_i (v - u)_j> of all particles of the samples. */
static double pressure(const double moment[LM_MOMENT_COUNT], int i, int j)
{
    static const int number[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    return 4 * (moment[LM_MOMENT_VV + number[i][j]] -
                moment[LM_MOMENT_V + i] * moment[LM_MOMENT_V + j] / moment[LM_MOMENT_1]);
}

START_TEST(ratios_are_of_all_samples)
{
    struct lm_sim *sim = sim_new(BOX POOLED, NULL);
    struct lm_averages averages;
    struct pool pool = {.pressure = {0}};
    double got[RATIOS][MOST], most = 0;
    snprintf(((struct lm_config *)sim->config)->output.directory, LM_MAX_PATH, "%s", scratch_path("out"));
    ck_assert_int_eq(lm_averages_make(sim->config, &averages), LM_OK);
    for (int step = 1; step <= 10; step++) {
        advance(sim, step);
        ck_assert_int_eq(lm_averages_sample(&averages, sim, sim->config), LM_OK);
        ck_assert_int_eq((int)averages.sums[0].samples, step < 4 ? 0 : step < 7 ? 1 : 2);
        if (step == 4 || step == 7 || step == 10)
            join(sim, &pool);
    }
    ck_assert_msg(!lm_averages_write(&averages, sim, sim->config, 0), "%s", lm_error());
    ck_assert_int_eq((int)averages.sums[0].samples, 0);
    for (int r = 0; r < RATIOS; r++)
        ck_assert_int_eq(mesh("out", "pooled", 10, pooled[r], got[r]), 24);
    for (int c = 0; c < 24; c++) {
        const double *m = pool.moment[c], *b = pool.b[c];
        double along = 0, trace = 0;
        for (int i = 0; i < 3; i++) {
            trace += pressure(m, i, i);
            for (int j = 0; j < 3; j++)
                along += b[i] * b[j] * pressure(m, i, j) / (b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
        }
        require_near(got[0][c], pool.pressure[c] / pool.density[c], 1e-12);
        require_near(got[1][c], m[LM_MOMENT_V] / m[LM_MOMENT_1], 1e-12);
        require_near(got[2][c], pressure(m, 0, 0), 1e-12);
        require_near(got[3][c], pressure(m, 1, 2), 1e-12);
        require_near(got[4][c], along / m[LM_MOMENT_1], 1e-11);
        require_near(got[5][c], 0.5 * (trace - along) / m[LM_MOMENT_1], 1e-11);
        most = fmax(most, fabs(got[1][c]));
    }
    ck_assert_double_gt(most, 1e-3);
    lm_averages_free(&averages);
    sim_free(sim);
}
END_TEST

/* --- restarts --- */

#define KEEP " output.checkpoint_every=1 output.keep=100"

/* From each step between two outputs: before, within and after the windows. */
START_TEST(restart_in_a_window)
{
    make_file("case.ini", BOX MEAN POOLED);
    CLI(0, "run case.ini --quiet --output whole run.steps=30" KEEP);
    CLI(0,
        "run case.ini --quiet --output part --restart whole/checkpoints/checkpoint_000000%d.h5 run.steps=30"
        " run.threads=2",
        10 + _i);
    ck_assert_str_eq(cli.err, "");
    ck_assert_str_eq(cli_fingerprint("whole"), cli_fingerprint("part"));
    for (int step = 20; step <= 30; step += 10) {
        same_meshes("whole", "part", "mean", step, LINEAR, linear);
        same_meshes("whole", "part", "pooled", step, RATIOS, pooled);
    }
}
END_TEST

START_TEST(restart_of_a_restart)
{
    make_file("case.ini", BOX MEAN POOLED);
    CLI(0, "run case.ini --quiet --output whole run.steps=20");
    CLI(0, "run case.ini --quiet --output part run.steps=13 output.checkpoint_every=100");
    CLI(0, "run case.ini --quiet --output part --restart latest run.steps=16 output.checkpoint_every=100");
    CLI(0, "info part/checkpoints/checkpoint_00000016.h5");
    cli_has(cli.out, "output mean: 1 sample of its mean");
    cli_has(cli.out, "output pooled: 1 sample of its mean");
    CLI(0, "run case.ini --quiet --output part --restart latest run.steps=20 output.checkpoint_every=100");
    same_meshes("whole", "part", "mean", 20, LINEAR, linear);
    same_meshes("whole", "part", "pooled", 20, RATIOS, pooled);
    CLI(0, "info part/checkpoints/checkpoint_00000020.h5");
    ck_assert_ptr_null(strstr(cli.out, "samples of its mean"));
}
END_TEST

/* Sums of other settings are of no use: the first output is left out, and the next one is whole. */
START_TEST(restart_with_another_mean)
{
    static const char *const changes[] = {"output.mean.average=8", "output.mean.average_every=3",
                                          "output.mean.quantities=B", "output.mean.from_x=1", "output.mean.species=p"};
    const char *change = changes[_i];
    make_file("case.ini", BOX MEAN);
    CLI(0, "run case.ini --quiet --output first run.steps=18 output.checkpoint_every=100");
    CLI(0, "run case.ini --quiet --output whole run.steps=30 %s", change);
    CLI(0, "run case.ini --quiet --output part --restart first/checkpoints/checkpoint_00000018.h5 run.steps=30 %s",
        change);
    cli_has(cli.err, "[output.mean] has no file of step 20");
    ck_assert(!has_file("part", "mean", 20));
    same_meshes("whole", "part", "mean", 30, 1, linear);
}
END_TEST

/* Without a sample before the checkpoint nothing is missing. */
START_TEST(restart_with_a_new_mean)
{
    make_file("case.ini", BOX MEAN);
    make_file("plain.ini", BOX);
    CLI(0, "run plain.ini --quiet --output first run.steps=13 output.checkpoint_every=100");
    CLI(0, "run case.ini --quiet --output whole run.steps=20");
    CLI(0, "run case.ini --quiet --output part --restart first/checkpoints/checkpoint_00000013.h5 run.steps=20");
    ck_assert_str_eq(cli.err, "");
    same_meshes("whole", "part", "mean", 20, LINEAR, linear);
}
END_TEST

/* --- what may not change, what is said before --- */

START_TEST(means_change_nothing)
{
    make_file("case.ini", BOX MEAN POOLED);
    make_file("plain.ini", BOX);
    CLI(0, "run case.ini --quiet --output with run.steps=20 output.checkpoint_every=7");
    CLI(0, "run plain.ini --quiet --output without run.steps=20 output.checkpoint_every=7");
    ck_assert_str_eq(cli_fingerprint("with"), cli_fingerprint("without"));
    CLI(0, "fingerprint with/checkpoints/checkpoint_00000020.h5");
    cli_has(cli.out, cli_fingerprint("without"));
}
END_TEST

/* The sums of B, E, J, J_i; rho, p_e; E_terms; heating; the dye; and two densities and energy fluxes have 96 values
 * each. Those of pressure and density for T_e, and of 10 moments and B, have 24. */
START_TEST(memory_and_files)
{
    struct lm_config *c = config_new(BOX MEAN POOLED, NULL);
    const int mean = 3 * 4 + 2 + 12 + 3 + 1 + 2 * (1 + 3), pool = 2 + 10 + 3;
    require_near(lm_averages_bytes(c), 8.0 * (96 * mean + 24 * pool), 0);
    lm_config_free(c);
    free(c);
    make_file("case.ini", BOX MEAN);
    CLI(0, "check case.ini");
    cli_has(cli.out, "output.mean: 4 files");
}
END_TEST

static const struct {
    const char *keys, *message;
} bad[] = {
    {"average = 11\n", "output.m.average: a mean over 11 steps is longer than the 10 steps between two outputs"},
    {"average = 6\naverage_every = 4\n", "output.m.average_every: 4 does not divide the 6 steps of average"},
    {"average = 4\naverage_every = 8\n", "output.m.average_every: 8 does not divide the 4 steps of average"},
    {"average_every = 2\n", "output.m.average_every: has no effect without a mean over time"},
    {"average = -1\n", "output.m.average: -1 is out of range"},
    {"average = 2\naverage_every = 0\n", "output.m.average_every: 0 is out of range"},
};

START_TEST(wrong_input)
{
    char text[2048];
    snprintf(text, sizeof text, BOX "[output.m]\nevery = 10\nquantities = B\n%s", bad[_i].keys);
    make_file("case.ini", text);
    cli_refuses("run case.ini --output out", bad[_i].message, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("averages");
    TCase *t = tcase_create("averages");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, mean_of_outputs);
    tcase_add_test(t, mean_without_gaps);
    tcase_add_test(t, time_of_the_mean);
    tcase_add_test(t, ratios_are_of_all_samples);
    tcase_add_loop_test(t, restart_in_a_window, 0, 10);
    tcase_add_test(t, restart_of_a_restart);
    tcase_add_loop_test(t, restart_with_another_mean, 0, 5);
    tcase_add_test(t, restart_with_a_new_mean);
    tcase_add_test(t, means_change_nothing);
    tcase_add_test(t, memory_and_files);
    tcase_add_loop_test(t, wrong_input, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
