/* Electrons whose pressure is evolved: compression, order in time, and energy at the edge of a plasma. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "electrons_case.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

static const char wave_text[] = "[run]\nsteps = 400\ndt = 0.02\n[grid]\nnx = 64\nny = 2\nlx = 16\nly = 0.5\n"
                                "[electrons]\nclosure = evolved\ntemperature = 1\n[fields]\nsmoothing = 0\n"
                                "[species.p]\nstart = quiet\ndrift_x = 0.02*sin(2*pi*x/lx)\n";

/* The amplitude of the velocity of a standing wave, half a step before the present time; it is 0.02 at the start. */
static double speed_of(struct lm_sim *sim)
{
    double *j = array_of(sim, LM_J_OLD), sum = 0;
    for (int i = 0; i < 64; i++)
        sum += j[lm_at(&sim->grid, i, 0)] * sin(2 * M_PI * (i + 0.5) / 64) / 32;
    free(j);
    return sum;
}

/* A sound wave of cold ions has omega = k sqrt(gamma T) and p = n^gamma. The velocity of the flow is averaged to the
 * faces and back, which leaves 1 - (k dx)^2 / 4 of it; a difference over a cell leaves 1 - (k dx)^2 / 24. By these two
 * factors the entropy falls short of n. The frequency has the square root of such factors of p, E and J, so its error
 * is below twice their sum; the amplitude a = 0.02 k / omega of n adds less than a^2. */
START_TEST(sound)
{
    struct lm_sim *sim = sim_new(wave_text, NULL);
    const double k = 2 * M_PI / 16, kdx = k * 0.25, omega = k * sqrt(GAMMA), amplitude = 0.02 * k / omega;
    const double missed = kdx * kdx * (1.0 / 4 + 1.0 / 24);
    double before = speed_of(sim), crossing = 0, most = 0;
    for (int n = 1; n <= 400; n++) {
        advance(sim, n);
        const double now = speed_of(sim);
        if (crossing == 0 && now < 0)
            crossing = 0.02 * (n - 0.5 - now / (now - before));
        before = now;
        double *p = pressure_of(sim), *density = packed_of(sim, LM_N_OLD);
        for (size_t c = 0; c < sim->grid.cells; c++)
            density[c] = pow(density[c], GAMMA);
        const double adiabatic = mode_of(&sim->grid, density, 1, 0);
        require_near(mode_of(&sim->grid, p, 1, 0), adiabatic, 1.05 * GAMMA * amplitude * missed);
        most = fmax(most, fabs(adiabatic));
        free(p);
        free(density);
    }
    ck_assert_double_eq_tol(most, GAMMA * amplitude, GAMMA * amplitude * (2 * missed + amplitude));
    ck_assert_double_eq_tol(0.5 * M_PI / crossing, omega, omega * (2 * missed + amplitude * amplitude));
    ck_assert(lm_background_residual(&sim->background[0].ledger) == 0);
    sim_free(sim);
}
END_TEST

/* The largest difference of an array between two runs. */
static double largest_difference(struct lm_sim *a, struct lm_sim *b, int array)
{
    double *p = array_of(a, array), *q = array_of(b, array), most = 0;
    for (int j = 0; j < 16; j++)
        for (int i = 0; i < 16; i++)
            most = fmax(most, fabs(p[lm_at(&a->grid, i, j)] - q[lm_at(&a->grid, i, j)]));
    free(p);
    free(q);
    return most;
}

/* When the step is halved, the differences between runs fall to a quarter. (They do so for steps that are short enough.
 * With steps of 0.05, 0.025 and 0.0125 the second difference of the entropy is 4.9 times smaller than the first one.)
 */
START_TEST(second_order_in_time)
{
    struct lm_sim *sim[3];
    for (int n = 0; n < 3; n++) {
        char dt[32];
        snprintf(dt, sizeof dt, "run.dt=%g", 0.025 / (1 << n));
        sim[n] = sim_new(mixed_text, dt);
        advance(sim[n], 40 << n);
    }
    static const int arrays[] = {LM_B + 2, LM_PRESSURE, LM_BACKGROUND};
    for (int k = 0; k < 3; k++) {
        const double coarse = largest_difference(sim[0], sim[1], arrays[k]),
                     fine = largest_difference(sim[1], sim[2], arrays[k]);
        ck_assert_double_eq_tol(log2(coarse / fine), 2, 0.3);
    }
    for (int n = 0; n < 3; n++)
        sim_free(sim[n]);
}
END_TEST

/* A slab expands into vacuum. The ledger of its entropy closes to the last quantum. Its energy is conserved except for
 * what the pressure does below the density floor. The loss falls with the floor: with a fifth of the floor it must be
 * less than half (measured: a third), and it must be less than 1 % and .5 %. */
static double slab_loss(const char *floor)
{
    static const char text[] =
        "[run]\nsteps = 300\ndt = 0.01\n[grid]\nnx = 96\nny = 1\nlx = 12\nly = 0.125\n"
        "[electrons]\nclosure = evolved\ninitial_temperature = 1\n[particles]\nshape = quadratic\n"
        "[species.p]\nstart = quiet\nparticles_per_cell = 1024\ntemperature = 0.5\n"
        "density = cos(pi*min(abs(x-6),2)/4)^2\n";
    struct lm_sim *sim = sim_new(text, floor);
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    const struct lm_totals start = totals_of(sim);
    for (int n = 1; n <= 300; n++) {
        advance(sim, n);
        require(lm_background_residual(l) == 0 && sim->background[0].least >= 0);
    }
    const struct lm_totals end = totals_of(sim);
    ck_assert_double_lt(end.electrons, 0.7 * start.electrons); /* it has expanded */
    sim_free(sim);
    return fabs(end.energy / start.energy - 1);
}

START_TEST(energy_beside_vacuum)
{
    const double loss = slab_loss("fields.density_floor=0.05"), less = slab_loss("fields.density_floor=0.01");
    ck_assert_double_lt(loss, 0.01);
    ck_assert_double_lt(less, 0.005);
    ck_assert_double_lt(less, loss / 2);
}
END_TEST

/* The energy of a disk of plasma with steep edges, in two dimensions, with a step that is far too long to resolve the
 * waves of the grid: B and the pressure must not amplify each other. */
START_TEST(edges_are_stable)
{
    static const char text[] =
        "[run]\nsteps = 40\ndt = 0.02\n[grid]\nnx = 32\nny = 32\nlx = 8\nly = 8\n"
        "[electrons]\nclosure = evolved\ninitial_temperature = 1\n[particles]\nshape = quadratic\n"
        "[fields]\nbz = 1\neta = 0.02\neta_hyper = 1e-3\n[species.p]\nstart = quiet\nparticles_per_cell = 64\n"
        "density = cos(pi*sqrt(min((x-4)^2 + (y-4)^2, 4))/4)^2\n";
    struct lm_sim *sim = sim_new(text, NULL);
    const struct lm_totals start = totals_of(sim);
    advance(sim, 40);
    const struct lm_totals end = totals_of(sim);
    ck_assert_double_lt(fabs(end.energy - start.energy), 0.05 * start.electrons);
    ck_assert_double_lt(end.electrons, start.electrons);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("electrons");
    TCase *t = tcase_create("electrons");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, sound);
    tcase_add_test(t, second_order_in_time);
    tcase_add_test(t, energy_beside_vacuum);
    tcase_add_test(t, edges_are_stable);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
