/* Heat between ions and electrons with few ions in a cell. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "exchange_case.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

/* Does only the exchange of one step of length 1, with n = 1 and T_e = 1 in all cells. */
static void exchange_once(struct lm_sim *sim)
{
    const size_t size = sim->grid.size;
    double *one = malloc(size * sizeof *one);
    for (size_t k = 0; k < size; k++)
        one[k] = 1;
    ck_assert_int_eq(sim->backend->ops->put(sim->backend, LM_N_OLD, one), LM_OK);
    ck_assert_int_eq(sim->backend->ops->put(sim->backend, LM_BACKGROUND, one), LM_OK);
    ck_assert_int_eq(lm_sim_bound_heat_exchange(sim), LM_OK);
    ck_assert_int_eq(lm_sim_pass_all(sim, 0, 0, 1), LM_OK);
    free(one);
}

/* Also with two or three ions in a cell each ion gets 3/2 (T_e - T_i)(1 - exp(-2 x)) on average, although the
 * velocities relative to the mean of so few ions have only half or two thirds of the thermal energy. The variance of
 * their noise is at most twice that share. The test allows five standard deviations of this noise together with the
 * velocities at the start. */
static const char few_text[] =
    "[run]\nsteps = 1000\ndt = 1\n[grid]\nnx = 200\nny = 200\nlx = 4000\nly = 4000\n[electrons]\nclosure = evolved\n"
    "temperature = 1\n[species.p]\nparticles_per_cell = 2.5\nelectron_heat_exchange_rate = 0.05\ntemperature = 4\n";

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

/* One ion in a cell on average, at random: more than a third of the ions are alone in their cell, and other ions
 * exchange heat for them. Nothing is exchanged around the 0.736^9 = 0.063 of all cells where neither the cell nor a
 * neighbour has two ions. This share may be missing, and five standard deviations of the noise, whose variance is up
 * to three times the share. Without the neighbours a quarter would be missing. */
START_TEST(lonely_ions)
{
    struct lm_sim *sim = sim_new(few_text, "species.p.particles_per_cell=1");
    double *nu = &((struct lm_config *)sim->config)->species[0].electron_heat_exchange_rate;
    *nu = 1e-30;
    advance(sim, 40); /* ions leave the cells that they were loaded into, one ion in each */
    *nu = 0.05;
    const double share = -expm1(-0.1), start = mean(ions_of(sim, 0).t), noise = 3 * share;
    exchange_once(sim);
    const struct ions end = ions_of(sim, 0);
    const double spread = 5 * sqrt((2 * noise * noise + 4 * noise * start) / (3 * end.number));
    const double gain = mean(end.t) - start, expected = share * (1 - start);
    ck_assert_double_gt(expected, -1);
    ck_assert_double_lt(gain, (1 - 0.063) * expected + spread);
    ck_assert_double_gt(gain, expected - spread);
    /* otherwise the test would be empty */
    ck_assert_double_lt(0.063 * fabs(expected) + spread, 0.25 * fabs(expected));
    sim_free(sim);
}
END_TEST

/* With few ions T_e is noisy, but the ions must settle at the mean of T_e. The temperature of 6400 ions, averaged over
 * 40 independent times, is known to 0.2 %. The limit is the difference between T_i and T_e without an exchange, 1.3 %,
 * as waves and noise exchange heat too. When the rate used the T_e of each single cell, the difference was 6 %. */
START_TEST(settles_at_the_mean)
{
    static const char text[] =
        "[run]\nsteps = 5000\ndt = 0.05\n[grid]\nnx = 20\nny = 20\nlx = 20\nly = 20\n[fields]\nbz = 1\n"
        "[electrons]\nclosure = evolved\ntemperature = 0.5\n[species.p]\ntemperature = 0.5\n"
        "particles_per_cell = 16\nelectron_heat_exchange_rate = 0.1\n";
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

/* With so few ions the electrons of a cell sometimes have less energy than the ions ask for. The cell then refuses,
 * which is counted. No energy is lost, and no pressure is negative. */
START_TEST(cells_refuse)
{
    char more[64];
    snprintf(more, sizeof more, "particles.precision=%s", _i ? "single" : "double");
    struct lm_config *c;
    struct lm_sim *sim;
    const char *overrides[] = {"run.backend=cpu", "species.p.particles_per_cell=3", "species.q.particles_per_cell=5",
                               "species.p.electron_heat_exchange_rate=30", more};
    make_file("case.ini", busy_text);
    c = calloc(1, sizeof *c);
    ck_assert_msg(!lm_config_read(scratch_path("case.ini"), 5, overrides, c), "%s", lm_error());
    ck_assert_msg(!lm_sim_create(c, &sim) && !lm_sim_start(sim), "%s", lm_error());
    const double scale = totals_of(sim).electrons;
    watch_exchange(sim);
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
