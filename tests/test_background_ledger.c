/* Ledgers of background fields in runs, and what stops a run. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "background_run.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

START_TEST(books_of_every_step)
{
    struct lm_sim *sim = sim_new(open_text, NULL);
    const struct lm_background_ledger *dye = &sim->background[0].ledger, *gas = &sim->background[1].ledger,
                                      *heat = &sim->background[2].ledger;
    assert_ledgers(sim);
    ck_assert(dye->quantum == dye->exponent && dye->loaded == dye->total && dye->loaded > 0);
    ck_assert_int_eq(dye->exponent, lm_background_quantum(sim->background[0].most));
    const int exponent = gas->exponent;
    for (int n = 1; n <= 40; n++) {
        advance(sim, n);
        assert_ledgers(sim);
        ck_assert(sim->background[0].least >= 0 && sim->background[0].most <= 1);
    }
    ck_assert(dye->entered[LM_X_MIN] > 0 && dye->entered[LM_X_MAX] < 0 && dye->source == 0);
    ck_assert(gas->source > 0 && gas->rounded != 0 && gas->exponent == exponent && gas->quantum < exponent);
    ck_assert(heat->entered[LM_X_MIN] == 0 && heat->entered[LM_X_MAX] == 0 && heat->source == 0);
    for (int f = 0; f < 3; f++)
        ck_assert(sim->background[f].ledger.entered[LM_Y_MIN] == 0);
    sim_free(sim);
}
END_TEST

static void stops(const char *text, int64_t last_good, const char *expected)
{
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, last_good);
    int status = lm_sim_check(sim);
    ck_assert_int_eq(status ? status : lm_sim_step(sim), LM_FAILED);
    assert_error_has(expected);
    sim_free(sim);
}

START_TEST(stopped)
{
    char text[1024];
    snprintf(text, sizeof text, "%svx = 1/max(0.2 - t, 1e-9)\n", periodic_text);
    stops(text, 4, "the background field q needs 6.67e+08 substeps (limit 1e+06)");
    snprintf(text, sizeof text, "%ssource = log(0.17 - t)\n", periodic_text);
    stops(text, 3, "background.q.source: \"log(0.17 - t)\" is not a number");
    snprintf(text, sizeof text, "%.512ssource = 1e20*t\n", text_with(periodic_text, "2 + sin(2*pi*x/lx)", "0"));
    struct lm_sim *sim = sim_new(text, NULL); /* the quantum is large enough for what the source gives */
    advance(sim, 40);
    require_near(sim->background[0].most, 2e20, 1e8);
    ck_assert(sim->background[0].ledger.rounded != 0 ||
              sim->background[0].ledger.quantum < sim->background[0].ledger.exponent);
    sim_free(sim);
    snprintf(text, sizeof text, "%ssource = t < 0.1 ? 0 : 1e200\n", periodic_text);
    stops(text, 2, "it must stay below 1e+150");
}
END_TEST

/* A source that is a pulse in time begins with extremely small values, so its ledger changes to larger units during
 * the run. */
START_TEST(pulse)
{
    char text[1024];
    snprintf(text, sizeof text, "%.512ssource = exp(-(t - 1)^2/0.005)\n",
             text_with(periodic_text, "2 + sin(2*pi*x/lx)", "0"));
    struct lm_sim *sim = sim_new(text, NULL);
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    const int exponent = l->exponent;
    ck_assert_int_gt(exponent, 47 + 200);
    for (int n = 1; n <= 40; n++) {
        advance(sim, n);
        assert_ledgers(sim);
    }
    ck_assert_int_lt(l->exponent, 100);
    /* the midpoint rule with steps of 0.05 integrates the pulse */
    require_near(sim->background[0].most, sqrt(0.005 * M_PI), 1e-9);
    ck_assert_double_lt(fabs(lm_background_value(l, l->rounded)), 1e-12);
    sim_free(sim);
}
END_TEST

/* A ledger that does not close, and a field that is not finite, stop the run. */
START_TEST(wrong_books)
{
    struct lm_sim *sim = sim_new(periodic_text, NULL);
    sim->background[0].ledger.source += 1;
    ck_assert_int_eq(lm_sim_check(sim), LM_OK);
    ck_assert_int_eq(lm_sim_step(sim), LM_FAILED);
    assert_error_has("step 1: the ledger of background q does not close");
    sim_free(sim);
    sim = sim_new(periodic_text, NULL);
    double *q = array_of(sim, LM_BACKGROUND);
    q[lm_at(&sim->grid, 3, 2)] = NAN;
    ck_assert_int_eq(sim->backend->ops->put(sim->backend, LM_BACKGROUND, q), LM_OK);
    free(q);
    ck_assert_int_eq(lm_sim_step(sim), LM_OK);
    ck_assert_int_eq(lm_sim_check(sim), LM_FAILED);
    assert_error_has("step 2 (from t = 0.05) cannot be taken: the background field q is not finite");
    sim_free(sim);
}
END_TEST

START_TEST(bad_starts)
{
    struct lm_config *c = config_new(text_with(periodic_text, "2 + sin(2*pi*x/lx)", "1e200"), NULL);
    struct lm_sim *sim;
    ck_assert_int_eq(lm_sim_create(c, &sim), LM_OK);
    ck_assert_int_eq(lm_sim_start(sim), LM_BAD_INPUT);
    assert_error_has("[background.q]: values up to 1e+200");
    lm_sim_destroy(&sim);
    lm_config_free(c);
    free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("background fields, ledgers");
    TCase *t = tcase_create("background fields, ledgers");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, books_of_every_step);
    tcase_add_test(t, stopped);
    tcase_add_test(t, pulse);
    tcase_add_test(t, wrong_books);
    tcase_add_test(t, bad_starts);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
