/* The whole step in small boxes: order in time, conservation, and the number of substeps. */
#include <check.h>
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "require.h"
#include "sim_case.h"
#include "sim_run.h"
#include "suite.h"

#define WAVE_GRID "[grid]\nny = 1\nlx = 6.283185307179586\nly = 0.2\n[const]\nk = 2*pi/lx\na = 0.02\n"

#define WAVE(w)                                                                                                        \
    "[run]\nt_end = 3.2\ndt = 0.1\n" WAVE_GRID "[fields]\nbx = 1\nby = a*cos(k*x)\nbz = " w                            \
    "*a*sin(k*x)\nsmoothing = 0\n"                                                                                     \
    "[species.p]\nparticles_per_cell = 16\nstart = quiet\ndrift_y = -0.6*a*cos(k*x)\ndrift_z = -0.6*" w                \
    "*a*sin(k*x)\n"

static const char *const waves[] = {WAVE("1"), WAVE("-1"), WAVE("0"),
                                    /* fast wave across B, warm electrons, quadratic shape */
                                    "[run]\nt_end = 3.2\ndt = 0.1\n" WAVE_GRID
                                    "[electrons]\nclosure = polytropic\ntemperature = 0.5\n[fields]\n"
                                    "bz = 1 + 5*a*cos(k*x)\nsmoothing = 1\n[particles]\nshape = quadratic\n"
                                    "[species.p]\nparticles_per_cell = 16\nstart = quiet\ndrift_x = 5*a*cos(k*x)\n"};

enum { WAVES = sizeof waves / sizeof *waves };

/* A wave with so many cells. */
static struct lm_sim *wave_new(int wave, int nx, double dt)
{
    char text[1024], step[64];
    snprintf(text, sizeof text, "%s[grid]\nnx = %d\n", waves[wave], nx);
    snprintf(step, sizeof step, "run.dt=%.17g", dt);
    return sim_new(text, step);
}

/* Cells, and whether ions feel the mean of B: with 20 the shortest whistler makes .65 turns in a step of .1, with 64 at
 * least .8 in steps down to .0125. */
static const struct {
    int nx, feels_mean;
} sizes[] = {{20, 0}, {64, 1}};

enum { SIZES = sizeof sizes / sizeof *sizes };

/* A wave in a cold plasma with a quiet start: half the dt leaves a quarter of the error, in B, in E and in the
 * density. */
START_TEST(second_order_in_dt)
{
    static const int arrays[] = {LM_B + 1, LM_B + 2, LM_PUSH_E + 1, LM_PUSH_E, LM_N_OLD};
    enum { ARRAYS = sizeof arrays / sizeof *arrays };
    double complex z[ARRAYS][4];
    for (int k = 0; k < 4; k++) {
        struct lm_sim *sim = wave_new(_i % WAVES, sizes[_i / WAVES].nx, 0.1 / (1 << k));
        advance(sim, 32 << k);
        ck_assert_int_eq(sim->feels_mean, sizes[_i / WAVES].feels_mean);
        for (int n = 0; n < ARRAYS; n++)
            z[n][k] = mode(sim, arrays[n], 1);
        sim_free(sim);
    }
    for (int n = 0; n < ARRAYS; n++) {
        double one = cabs(z[n][1] - z[n][0]), two = cabs(z[n][2] - z[n][1]), three = cabs(z[n][3] - z[n][2]);
        if (cabs(z[n][3]) < 1e-3) /* this component is not part of the wave */
            continue;
        ck_assert_msg(two / three > 3.4 && two / three < 4.6 && one < 0.05 * cabs(z[n][3]),
                      "wave %d, array %d (%g): changes %g, %g, %g", _i, arrays[n], cabs(z[n][3]), one, two, three);
    }
}
END_TEST

/* The energy of the wave is kept to second order too. A scheme with wrong time levels would amplify or damp the wave.
 */
START_TEST(energy_of_a_wave)
{
    double drift[2];
    for (int k = 0; k < 2; k++) {
        struct lm_totals before, after;
        struct lm_sim *sim = wave_new(_i, 20, k ? 0.05 : 0.1);
        ck_assert_int_eq(lm_sim_totals(sim, &before), LM_OK);
        advance(sim, k ? 64 : 32);
        ck_assert_int_eq(lm_sim_totals(sim, &after), LM_OK);
        double kinetic = before.kinetic[0][0] + before.kinetic[0][1] + before.kinetic[0][2];
        drift[k] = (after.energy - before.energy) / kinetic;
        sim_free(sim);
    }
    ck_assert_msg(fabs(drift[0]) < 0.02 && fabs(drift[1]) < 0.01, "drift over kinetic energy %g, %g", drift[0],
                  drift[1]);
}
END_TEST

/* Beyond the largest speed no sums over particles are made: their round-off would depend on the machine. */
START_TEST(no_energies_beyond_the_largest_speed)
{
    static const char *const fields[] = {"ex = 1e13*(t > 0.2)\n", "ex = 1e9*(t > 0.2)\n", "bz = 1e14\n", "bz = 1e10\n"};
    char text[512];
    snprintf(text, sizeof text,
             "[run]\ndt = 0.5\nsteps = 1\n[grid]\nnx = 8\nny = 8\nlx = 4\nly = 4\n[fields]\nsolver = none\n%s"
             "[particles]\nprecision = single\n[species.p]\nparticles_per_cell = 2\ndrift_x = 1\n",
             fields[_i]);
    struct lm_sim *sim = sim_new(text, NULL);
    struct lm_totals t;
    advance(sim, _i < 2); /* up to the field */
    ck_assert_int_eq(lm_sim_totals(sim, &t), LM_OK);
    for (int d = 0; d < 3; d++)
        ck_assert_int_eq(isfinite(t.kinetic[0][d]) && isfinite(t.momentum[d]), _i % 2);
    ck_assert_int_eq(isfinite(t.energy) != 0, _i % 2);
    sim_free(sim);
}
END_TEST

/* fields.min_substeps substeps are taken where one would be enough, and no more. */
START_TEST(least_substeps)
{
    static const char box[] = "[run]\nsteps = 4\ndt = 0.01\n[grid]\nnx = 8\nny = 8\nlx = 4\nly = 4\n[fields]\nbz = 1\n"
                              "[species.p]\ntemperature = 0.1\nparticles_per_cell = 8\n";
    static const char *const overrides[] = {"fields.min_substeps=1", "fields.min_substeps=7"};
    static const int expected[] = {1, 7};
    for (int k = 0; k < 2; k++) {
        struct lm_sim *sim = sim_new(box, overrides[k]);
        advance(sim, 2);
        ck_assert_int_eq(sim->substeps, expected[k]);
        sim_free(sim);
    }
}
END_TEST

START_TEST(charge_is_constant)
{
    static const char *const variants[] = {"particles.shape=linear", "particles.shape=quadratic",
                                           "particles.precision=single"};
    struct lm_sim *sim = sim_new(PLAIN, variants[_i]);
    for (int n = 0; n <= 30; n += 5) {
        advance(sim, n);
        double *a = array_of(sim, LM_SPECIES_N), sum = 0;
        for (int j = 0; j < sim->grid.ny; j++)
            for (int i = 0; i < sim->grid.nx; i++)
                sum += a[lm_at(&sim->grid, i, j)]; /* multiples of 2^-21: exact */
        ck_assert(sum == (double)sim->count[0] / 32);
        free(a);
    }
    sim_free(sim);
}
END_TEST

/* A drift along z through the noise of few particles, with B in the plane, keeps its momentum. */
START_TEST(momentum_of_a_drift)
{
    static const char *const variants[] = {"fields.smoothing=1", "fields.smoothing=3", "particles.shape=quadratic",
                                           "particles.precision=single"};
    struct lm_sim *sim =
        sim_new("[run]\nsteps = 100\ndt = 0.02\n[grid]\nnx = 32\nny = 24\nlx = 4.8\nly = 3.6\n[electrons]\n"
                "temperature = 0.4\n[fields]\nbx = 0.5\nby = 0.3\nbz = 0.8\n[species.p]\n"
                "particles_per_cell = 15\ntemperature = 0.4\ndrift_z = 0.3\n",
                variants[_i]);
    struct lm_totals before, after;
    ck_assert_int_eq(lm_sim_totals(sim, &before), LM_OK);
    advance(sim, 100);
    ck_assert_int_eq(lm_sim_totals(sim, &after), LM_OK);
    const double mass = 4.8 * 3.6;
    for (int d = 0; d < 3; d++)
        require_near(after.momentum[d] / mass, before.momentum[d] / mass, 1e-3 * 0.3);
    ck_assert(fabs(before.momentum[2] / mass - 0.3) < 0.02);
    sim_free(sim);
}
END_TEST

/* Momentum is kept, also with friction, which acts on ions and electrons with opposite signs. */
START_TEST(momentum)
{
    static const char *const variants[] = {"fields.electron_friction=on", "fields.eta=0.1"};
    struct lm_totals before, after;
    struct lm_sim *sim = sim_new(PLAIN, variants[_i]);
    ck_assert_int_eq(lm_sim_totals(sim, &before), LM_OK);
    advance(sim, 30);
    ck_assert_int_eq(lm_sim_totals(sim, &after), LM_OK);
    double scale = 8 * 5 * sqrt(0.5); /* mass times thermal speed */
    for (int d = 0; d < 3; d++)
        ck_assert_msg(fabs(after.momentum[d] - before.momentum[d]) < 5e-5 * scale,
                      "momentum %d from %g to %g (scale %g)", d, before.momentum[d], after.momentum[d], scale);
    double energy = fabs(after.energy - before.energy) / before.energy;
    ck_assert_msg(_i || energy < 2e-3, "energy changes by %g", energy);
    sim_free(sim);
}
END_TEST

/* A cold slab at rest beside a void: the waves that were B_z in the void go away, by exp(-nu t / 2), and B_z becomes
 * even. A step has the substeps of a void. */
START_TEST(voids_get_the_field_of_a_vacuum)
{
    struct lm_sim *sim = sim_new("[run]\nt_end = 20\ndt = 0.01\n[grid]\nnx = 32\nny = 1\nlx = 16\nly = 0.5\n"
                                 "[fields]\nbz = 1 + (x > 9 ? 0.2*sin(x) : 0)\n[electrons]\ntemperature = 0\n"
                                 "[species.p]\ndensity = x < 6 ? 1 : 0\nparticles_per_cell = 16\nstart = quiet\n",
                                 NULL);
    double *before = array_of(sim, LM_B + 2), low = INFINITY, high = -INFINITY, first = 0;
    advance(sim, 2000);
    ck_assert_int_eq(sim->substeps, 16);
    double *after = array_of(sim, LM_B + 2);
    for (int i = 18; i < 28; i++) {
        const size_t k = lm_at(&sim->grid, i, 0);
        low = fmin(low, after[k]), high = fmax(high, after[k]);
        first = fmax(first, fabs(before[k] - before[k + 1]));
    }
    ck_assert_double_lt(high - low, 1e-3 * first);
    free(before), free(after);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim");
    TCase *t = tcase_create("sim");
    tcase_set_timeout(t, 120);
    tcase_add_unchecked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, second_order_in_dt, 0, WAVES * SIZES);
    tcase_add_loop_test(t, energy_of_a_wave, 0, WAVES);
    tcase_add_loop_test(t, no_energies_beyond_the_largest_speed, 0, 4);
    tcase_add_test(t, least_substeps);
    tcase_add_test(t, voids_get_the_field_of_a_vacuum);
    tcase_add_loop_test(t, charge_is_constant, 0, 3);
    tcase_add_loop_test(t, momentum_of_a_drift, 0, 4);
    tcase_add_loop_test(t, momentum, 0, 2);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
