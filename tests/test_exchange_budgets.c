/* Heat between ions and electrons: energy and momentum in all, and in the columns of the series. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "exchange_case.h"
#include "inside.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

/* A thousand steps of a plasma in motion. In each exchange the electrons lose the energy that the ions gain, and the
 * columns of the series give this energy. The momentum changes by round-off only. The entropy is a whole number of
 * quanta, so rounding by half a quantum is the only missing energy. */
START_TEST(budgets)
{
    struct lm_sim *sim = sim_new(busy_text, _i ? "particles.precision=single" : NULL);
    const struct lm_totals start = totals_of(sim);
    double none[3], scale = start.electrons, booked[4] = {0};
    for (int s = 0; s < 2; s++)
        scale += ions_energy(sim, s, none);
    watch_exchange(sim);
    advance(sim, 1000);
    ck_assert_double_gt(budget.exchanged, scale); /* otherwise the test would be empty */
    ck_assert_msg(budget.most < 1e-14 * scale * 2, "largest of a step: %g of %g", budget.most, scale);
    ck_assert_msg(fabs(budget.energy) < 1e-12 * scale, "%g of %g", budget.energy, scale);
    for (int s = 0; s < 2; s++) {
        double v[LM_LEDGER_VALUES];
        lm_ledger_values(&sim->ledger[s], &sim->ledger[s].to_electrons, lm_sim_weight(sim, s),
                         sim->config->species[s].mass, v);
        ck_assert(v[5] != 0);
        for (int d = 0; d < 4; d++)
            booked[d] += v[2 + d];
    }
    for (int d = 0; d < 3; d++) {
        ck_assert(booked[d] != 0);
        require_near(booked[d] + budget.momentum[0][d] + budget.momentum[1][d], 0, 1e-12 * scale);
        for (int k = 0; k < 2; k++)
            require_near(budget.momentum[k][d], 0, 1e-7 * budget.exchanged);
    }
    struct row r = row_of(sim);
    require_near(value(&r, "to_electrons_energy_p") + value(&r, "to_electrons_energy_q"), booked[3], 1e-14 * scale);
    ck_assert(value(&r, "background_electrons_residual") == 0);
    free(r.columns);
    sim_free(sim);
}
END_TEST

/* In one cell without fields the total energy that the run computes is constant. */
START_TEST(energy_stays)
{
    struct lm_sim *sim = sim_new(relaxing[1].text, "species.p.particles_per_cell=2000");
    struct lm_config *c = (struct lm_config *)sim->config;
    const double start = totals_of(sim).energy;
    c->run.dt = 0.125; /* a step far below its limit, and a run in which the temperatures soon become equal */
    advance(sim, 1000);
    ck_assert_double_eq_tol(totals_of(sim).energy, start, 1e-12 * start);
    ck_assert(sim->ledger[0].to_electrons.v2 != 0);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exchange of heat, budgets");
    TCase *t = tcase_create("exchange of heat, budgets");
    tcase_set_timeout(t, 200);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, budgets, 0, 2);
    tcase_add_test(t, energy_stays);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
