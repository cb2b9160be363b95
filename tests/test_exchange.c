/* Heat between ions and electrons: relaxation of their temperatures, with many ions in a cell. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exchange_case.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

/* The equation dT_i/dt = 2 nu n T_e^(-3/2) (T_e - T_i) with n = 1. Electrons lose the energy that ions gain. */
static void relax_exactly(const struct relaxing *k, double *ti, double *te)
{
    const double h = 1e-5;
    for (int64_t n = 0; n < llround(k->end / h); n++) {
        const double half = *te - 0.5 * h * k->r * 2 * k->nu * pow(*te, -1.5) * (*te - *ti);
        const double middle = *ti + 0.5 * h * 2 * k->nu * pow(*te, -1.5) * (*te - *ti);
        const double gain = h * 2 * k->nu * pow(half, -1.5) * (half - middle);
        *ti += gain;
        *te -= k->r * gain;
    }
}

/* The same equation in steps of h during which T_e is constant. */
static void relax_in_steps(const struct relaxing *k, double h, double *ti, double *te)
{
    for (int64_t n = 0; n < llround(k->end / h); n++) {
        const double gain = -expm1(-2 * k->nu * h * pow(*te, -1.5)) * (*te - *ti);
        *ti += gain;
        *te -= k->r * gain;
    }
}

/* The variance of N normal numbers has a relative spread of sqrt(2/N), the mean of three axes sqrt(2/3N). The start is
 * taken from the ions themselves, so the noise adds less than that. The test allows five times this spread of the
 * larger temperature. The error of steps of dt is of first order and known; smaller steps must have the smaller one.
 */
START_TEST(relaxes)
{
    const struct relaxing *k = &relaxing[_i];
    double error[2], spread = 0;
    for (int fine = 0; fine < 2; fine++) {
        char dt[32];
        snprintf(dt, sizeof dt, "run.dt=%g", k->dt[fine]);
        struct lm_sim *sim = sim_new(k->text, dt);
        const struct ions start = ions_of(sim, 0);
        double ti = mean(start.t), te = k->te, exact_i = ti, exact_e = te;
        ck_assert_double_eq_tol(ti, k->ti, 0.02 * k->ti);
        spread = 5 * fmax(k->ti, k->te) * sqrt(2 / (3 * start.number));
        relax_exactly(k, &exact_i, &exact_e);
        relax_in_steps(k, k->dt[fine] * (double)sim->config->species[0].collide_every, &ti, &te);
        advance(sim, llround(k->end / k->dt[fine]));
        const struct ions end = ions_of(sim, 0);
        double *p = array_of(sim, LM_PRESSURE);
        require_near(mean(end.t), ti, spread);
        require_near(p[lm_at(&sim->grid, 0, 0)], te, k->r * spread);
        for (int d = 0; d < 3; d++)
            require_near(end.t[d], ti, sqrt(3) * spread);
        error[fine] = fabs(mean(end.t) - exact_i);
        require_near(error[fine], fabs(ti - exact_i), spread);
        ck_assert_uint_eq(sim->ledger[0].to_electrons.number, 0);
        free(p);
        sim_free(sim);
    }
    ck_assert_double_gt(error[0], error[1] + spread);
}
END_TEST

/* Ions start at rest, so after a step their velocities are the noise alone. It must be normal, and independent for
 * each axis and each species. */
START_TEST(noise_is_normal)
{
    static const char text[] =
        CELL "[electrons]\nclosure = evolved\ntemperature = 1\n[species.p]\nparticles_per_cell = 200000\n"
             "density = 0.5\nelectron_heat_exchange_rate = 0.1\n[species.q]\ndensity = 0.5\nmass = 4\n"
             "particles_per_cell = 200000\nelectron_heat_exchange_rate = 0.1\n";
    struct lm_sim *sim = sim_new(text, _i ? "particles.precision=single" : NULL);
    const size_t count = sim->count[0];
    const double n = (double)count, variance = -expm1(-0.2);
    ck_assert_uint_eq(sim->count[1], count);
    advance(sim, 1);
    double *v[2] = {velocities(sim, 0), velocities(sim, 1)};
    for (size_t a = 0; a < 6; a++)
        for (size_t b = 0; b <= a; b++) {
            const double *p = v[a / 3] + a % 3 * count, *q = v[b / 3] + b % 3 * count;
            double product = 0, fourth = 0;
            for (size_t k = 0; k < count; k++) {
                product += p[k] * q[k];
                fourth += pow(p[k], 4);
            }
            const double unit = variance / sqrt((a < 3 ? 1 : 4) * (b < 3 ? 1 : 4));
            require_near(product / n / unit, a == b, 5 * sqrt((a == b ? 2 : 1) / n));
            if (a == b)
                require_near(fourth / n / (unit * unit), 3, 5 * sqrt(96 / n));
        }
    free(v[0]);
    free(v[1]);
    sim_free(sim);
}
END_TEST

/* With steps of any length the two temperatures only approach each other. */
START_TEST(long_steps)
{
    struct lm_sim *sim = sim_new(relaxing[0].text, "species.p.electron_heat_exchange_rate=100");
    const double common = 0.5 * (mean(ions_of(sim, 0).t) + 0.5);
    advance(sim, 5);
    double *p = array_of(sim, LM_PRESSURE);
    ck_assert_double_eq_tol(mean(ions_of(sim, 0).t), common, 0.02);
    ck_assert_double_eq_tol(p[lm_at(&sim->grid, 0, 0)], common, 0.02);
    struct row r = row_of(sim);
    ck_assert(value(&r, "electron_exchange_limited_p") == 1);
    free(r.columns);
    free(p);
    sim_free(sim);
}
END_TEST

/* Few ions that drift fast: an exchange changes their momentum only by the round-off of the noise, which is in single
 * precision. The forces of noisy fields slow them by less than the thousandth that is allowed here. */
START_TEST(drift_stays)
{
    static const char text[] = "[run]\nsteps = 1000\ndt = 0.05\n[grid]\nnx = 12\nny = 12\nlx = 12\nly = 12\n"
                               "[electrons]\nclosure = evolved\ntemperature = 0.5\n[fields]\nsmoothing = 4\n"
                               "[species.p]\ndrift_x = 3\nparticles_per_cell = 16\ntemperature = 0.5\n"
                               "electron_heat_exchange_rate = 0.3\n";
    struct lm_sim *sim = sim_new(text, NULL);
    const struct ions start = ions_of(sim, 0);
    watch_exchange(sim);
    advance(sim, 400);
    const struct ions end = ions_of(sim, 0);
    require_near(end.u[0], start.u[0], 1e-3 * start.u[0]);
    for (int d = 0; d < 3; d++)
        require_near(budget.momentum[0][d], 0, 1e-7 * budget.exchanged);
    sim_free(sim);
}
END_TEST

/* Streams of different charge and mass in the same cell: each keeps its momentum while its temperature changes. */
START_TEST(streams_stay)
{
    static const char text[] = CELL
        "[electrons]\nclosure = evolved\ntemperature = 2\n[species.p]\ndrift_x = 0.3\nparticles_per_cell = 50\n"
        "density = 0.5\ntemperature = 1\nelectron_heat_exchange_rate = 1\n[species.q]\ndrift_x = -0.3\ndensity = 0.25\n"
        "charge = 2\nmass = 16\nparticles_per_cell = 30\ntemperature = 2\nelectron_heat_exchange_rate = 1\n";
    struct lm_sim *sim = sim_new(text, "run.dt=0.02");
    const struct ions p = ions_of(sim, 0), q = ions_of(sim, 1);
    watch_exchange(sim);
    advance(sim, 200);
    ck_assert_double_gt(fabs(mean(ions_of(sim, 0).t) - mean(p.t)), 0.2);
    ck_assert_double_gt(budget.exchanged, 1);
    for (int d = 0; d < 3; d++) {
        require_near(ions_of(sim, 0).u[d], p.u[d], 1e-6);
        require_near(ions_of(sim, 1).u[d], q.u[d], 1e-6);
    }
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exchange of heat");
    TCase *t = tcase_create("exchange of heat");
    tcase_set_timeout(t, 200);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, relaxes, 0, 2);
    tcase_add_loop_test(t, noise_is_normal, 0, 2);
    tcase_add_test(t, long_steps);
    tcase_add_test(t, drift_stays);
    tcase_add_test(t, streams_stay);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
