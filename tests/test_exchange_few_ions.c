/* Heat between ions and electrons with few ions in a cell. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exchange_case.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

/* Nothing but the exchange of a step of 1, where n = 1 and T_e = 1 everywhere. */
static void exchange_once(struct lm_sim *sim)
{
    const size_t size = sim->grid.size;
    double *one = malloc(size * sizeof *one);
    for (size_t k = 0; k < size; k++)
        one[k] = 1;
    ck_assert_int_eq(sim->backend->ops->put(sim->backend, LM_N_OLD, one), LM_OK);
    ck_assert_int_eq(sim->backend->ops->put(sim->backend, LM_BACKGROUND, one), LM_OK);
    ck_assert_int_eq(lm_sim_bound_exchange(sim), LM_OK);
    ck_assert_int_eq(lm_sim_pass_all(sim, 0, 0, 1), LM_OK);
    free(one);
}

/* With two or three ions a cell, too, they get the heat of all ions, 3/2 (T_e - T_i)(1 - exp(-2 x)) each, though their
 * velocities relative to the mean of so few are but half or two thirds of that. Their noise has a variance of that
 * share, twice as large where they are two, beside the velocities they have: five standard deviations. */
static const char few_text[] =
    "[run]\nsteps = 1000\ndt = 1\n[grid]\nnx = 200\nny = 200\nlx = 4000\nly = 4000\n[electrons]\nclosure = evolved\n"
    "temperature = 1\n[species.p]\nparticles_per_cell = 2.5\nelectron_exchange = 0.05\ntemperature = 4\n";

START_TEST(few_ions)
{
    struct lm_sim *sim = sim_new(few_text, _i ? NULL : "species.p.temperature=0");
    const double share = -expm1(-0.1), start = mean(ions_of(sim, 0).t), noise = 2 * share;
    exchange_once(sim);
    const struct ions end = ions_of(sim, 0);
    ck_assert_uint_eq(sim->ledger[0].to_electrons.number, 0);
    require_near(mean(end.t) - start, share * (1 - start),
                 5 * sqrt((2 * noise * noise + 4 * noise * start) / (3 * end.number)));
    sim_free(sim);
}
END_TEST

/* One ion a cell on average, anywhere: more than a third of them are alone in theirs, others exchange for them. Where
 * no two are in a cell or beside it, as around 0.736^9 = 0.063 of all cells, nothing is exchanged. That much may be
 * missing, and five standard deviations of noise that is three times as large a share; it would be a quarter if only
 * those in the cell counted. */
START_TEST(lonely_ions)
{
    struct lm_sim *sim = sim_new(few_text, "species.p.particles_per_cell=1");
    double *nu = &((struct lm_config *)sim->config)->species[0].electron_exchange;
    *nu = 1e-30;
    advance(sim, 40); /* they leave the cells they were loaded into, one in each */
    *nu = 0.05;
    const double share = -expm1(-0.1), start = mean(ions_of(sim, 0).t), noise = 3 * share;
    exchange_once(sim);
    const struct ions end = ions_of(sim, 0);
    const double spread = 5 * sqrt((2 * noise * noise + 4 * noise * start) / (3 * end.number));
    const double gain = mean(end.t) - start, expected = share * (1 - start);
    ck_assert_double_gt(expected, -1);
    ck_assert_double_lt(gain, (1 - 0.063) * expected + spread);
    ck_assert_double_gt(gain, expected - spread);
    ck_assert_double_lt(0.063 * fabs(expected) + spread, 0.25 * fabs(expected)); /* tests something */
    sim_free(sim);
}
END_TEST

/* Few ions make T_e noisy; they settle at its mean all the same. Six thousand ions' temperature, averaged over 40 times
 * that do not depend on each other, is known to 0.2 %; the limit is what T_i and T_e differ by without an exchange, as
 * waves and noise exchange heat too: 1.3 %. With the rate of each cell's own T_e it was 6 %. */
START_TEST(settles_at_the_mean)
{
    static const char text[] =
        "[run]\nsteps = 5000\ndt = 0.05\n[grid]\nnx = 20\nny = 20\nlx = 20\nly = 20\n[fields]\nbz = 1\n"
        "[electrons]\nclosure = evolved\ntemperature = 0.5\n[species.p]\ntemperature = 0.5\n"
        "particles_per_cell = 16\nelectron_exchange = 0.1\n";
    struct lm_sim *sim = sim_new(text, NULL);
    double ions = 0, electrons = 0;
    for (int n = 1; n <= 40; n++) {
        advance(sim, 600 + 30 * n);
        ions += mean(ions_of(sim, 0).t) / 40;
        electrons += totals_of(sim).electrons / (1.5 * 400 * 40);
    }
    ck_assert_double_eq_tol(ions / electrons, 1, 0.013);
    sim_free(sim);
}
END_TEST

/* So few ions, so hot electrons for them: cells have not always what is asked of them. They refuse, which is counted,
 * nothing is lost, and no pressure is negative. */
START_TEST(cells_refuse)
{
    char more[64];
    snprintf(more, sizeof more, "particles.precision=%s", _i ? "single" : "double");
    struct lm_config *c;
    struct lm_sim *sim;
    const char *overrides[] = {"run.backend=cpu", "species.p.particles_per_cell=3", "species.q.particles_per_cell=5",
                               "species.p.electron_exchange=30", more};
    make_file("case.ini", busy_text);
    c = calloc(1, sizeof *c);
    ck_assert_msg(!lm_config_read(scratch_path("case.ini"), 5, overrides, c), "%s", lm_error());
    ck_assert_msg(!lm_sim_create(c, &sim) && !lm_sim_start(sim), "%s", lm_error());
    const double scale = totals_of(sim).electrons;
    watch(sim);
    for (int n = 1; n <= 50; n++) {
        advance(sim, n);
        require(sim->background[0].least > 0);
    }
    ck_assert_uint_gt(sim->ledger[0].to_electrons.number, 10);
    ck_assert_double_gt(budget.exchanged, scale);
    ck_assert_msg(fabs(budget.energy) < 1e-12 * scale, "%g of %g", budget.energy, scale);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exchange of heat, few ions");
    TCase *t = tcase_create("exchange of heat, few ions");
    tcase_set_timeout(t, 200);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, few_ions, 0, 2);
    tcase_add_loop_test(t, lonely_ions, 0, unless_sanitized(1));
    tcase_add_loop_test(t, settles_at_the_mean, 0, unless_sanitized(1));
    tcase_add_loop_test(t, cells_refuse, 0, 2);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
