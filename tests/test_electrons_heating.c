/* Electrons whose pressure is evolved: what resistivity takes from B heats them. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "electrons_case.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

static double magnetic(const struct lm_totals *t)
{
    return t->magnetic[0] + t->magnetic[1] + t->magnetic[2];
}

/* `keys` stands in [fields]. */
static struct lm_sim *decay_new(const char *keys, double dt, double t_end)
{
    char text[1024];
    snprintf(text, sizeof text,
             "[run]\nt_end = %g\ndt = %g\n[grid]\nnx = 32\nny = 2\nlx = 8\nly = 0.5\n"
             "[electrons]\nclosure = evolved\ntemperature = 0.3\n"
             "[fields]\nby = 0.5*sin(2*pi*(x + 0.3)/lx)\nmin_substeps = 4\nmax_substeps = 1000\n%s\n" HEAVY,
             t_end, dt, keys);
    return sim_new(text, NULL);
}

/* A current along z decays at the rate r / 2 = eta k^2 + eta_H k^4 (with the k^2 of the grid), and the electrons get
 * its energy. The heating rate falls as exp(-r t), and the trapezium rule integrates it in time with a relative error
 * of (r dt)^2 / 12. */
START_TEST(resistive_decay)
{
    static const struct {
        const char *key;
        double eta, eta_hyper;
    } kinds[] = {{"eta = 0.2", 0.2, 0}, {"eta_hyper = 0.2", 0, 0.2}, {"eta = 0.1\neta_hyper = 0.1", 0.1, 0.1}};
    const double k2 = pow(2 / 0.25 * sin(M_PI / 32), 2);
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        const double rate = 2 * k2 * (kinds[n].eta + k2 * kinds[n].eta_hyper);
        double error[2];
        for (int half = 0; half < 2; half++) {
            const double dt = half ? 0.2 : 0.4;
            struct lm_sim *sim = decay_new(kinds[n].key, dt, 8);
            const struct lm_totals start = totals_of(sim);
            advance(sim, sim->config->run.steps);
            const struct lm_totals end = totals_of(sim);
            const double heat = magnetic(&start) * -expm1(-rate * 8), gain = end.electrons - start.electrons;
            error[half] = gain / heat - 1;
            ck_assert_double_eq_tol(error[half], pow(rate * dt, 2) / 12, 0.05 * pow(rate * dt, 2) / 12);
            ck_assert_double_eq_tol(magnetic(&start) - magnetic(&end), heat, 1e-7 * heat);
            struct row r = row_of(sim);
            ck_assert_double_eq_tol(value(&r, "electron_heat"), gain, 1e-11);
            ck_assert_double_gt(value(&r, "background_electrons_source"), 0);
            ck_assert(value(&r, "background_electrons_residual") == 0);
            free(r.columns);
            sim_free(sim);
        }
        ck_assert_double_eq_tol(error[0] / error[1], 4, 0.2);
    }
}
END_TEST

/* In two dimensions, the electrons get the energy that every part of the resistivity takes from B: with all components
 * of B, with a resistivity that varies, with hyper-resistivity, and with voids. The run takes one short step, so that
 * nothing else changes; the trapezium rule and Runge-Kutta have errors of (omega dt)^2. */
START_TEST(heat_of_every_resistivity)
{
    static const struct {
        const char *keys;
        int closed;
    } kinds[] = {{"[fields]\neta = 0.02*(1 + x/lx)", 1},
                 {"[fields]\neta_hyper = 1e-3", 1},
                 {"[fields]\neta = 0.01\neta_hyper = 1e-3\ndensity_floor = 1.1", 1},
                 {"[fields]\neta = 0.01\neta_hyper = 1e-3\nelectron_friction = off", 1}};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "[run]\nsteps = 1\ndt = 1e-4\n[grid]\nnx = 12\nny = 10\nlx = 6\nly = 5\n[const]\nk = 2*pi/lx\nq = 2*pi/ly\n"
            "[electrons]\nclosure = evolved\ntemperature = 0.3\n"
            "[fields]\naz = 0.3*cos(k*x)*sin(q*y + 1)\nbz = 0.5*sin(k*x + q*y)\n"
            "[species.p]\nstart = quiet\nparticles_per_cell = 4\nmass = 1e20\n%s\n",
            kinds[n].keys);
        struct lm_sim *sim = sim_new(text, NULL);
        const struct lm_totals start = totals_of(sim);
        advance(sim, 1);
        const struct lm_totals end = totals_of(sim);
        const double lost = magnetic(&start) - magnetic(&end);
        struct row r = row_of(sim);
        ck_assert_double_eq_tol(value(&r, "electron_heat"), lost, 1e-5 * lost);
        free(r.columns);
        sim_free(sim);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("electrons, heating");
    TCase *t = tcase_create("electrons, heating");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, resistive_decay);
    tcase_add_test(t, heat_of_every_resistivity);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
