/* The number of substeps of the next step is known, or bounded, before the step, in every case of the table of
 * fingerprints. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "sim/electrons.h"
#include "sim/step_forecast.h"
#include "cases.h"
#include "inside.h"
#include "suite.h"

static const char *const one_thread[] = {"run.backend=cpu", "run.threads=1"};

/* Whether the number of substeps of this kind is known before the step; others are found within the step. Those of B
 * are so where a pressure is evolved, because they are a multiple of its rounds. */
static int is_known(const struct lm_config *c, int kind)
{
    return (kind == 0 && c->electrons.closure != LM_EVOLVED) ||
           (kind >= 2 && kind - 2 < c->background_count && c->background[kind - 2].flow == LM_FLOW_PRESCRIBED);
}

static void compare(const struct run_case *c, const struct lm_sim *sim, const double *expected,
                    const struct lm_step_forecast *after, int first)
{
    for (int k = 0; k < LM_SUBSTEP_KINDS; k++) {
        const double e = expected[k], took = after->substeps[k];
        if (is_known(sim->config, k))
            ck_assert_msg(e == took, "%s, step %lld, kind %d: %g expected, %g taken", c->name, (long long)sim->step, k,
                          e, took);
        else if (first && k > 0)
            ck_assert_msg(e >= took, "%s, kind %d: %g expected, %g taken", c->name, k, e, took);
    }
}

START_TEST(of_every_case)
{
    const struct run_case *c = &run_cases[_i];
    struct case_state s = case_open(c, 2, one_thread, NULL);
    struct lm_step_forecast forecast = {.seconds = 0};
    for (int step = 0; step < 4 && step < s.config->run.steps; step++) {
        double expected[LM_SUBSTEP_KINDS];
        case_must(lm_sim_check(s.sim), c->name);
        lm_step_forecast_substeps(&forecast, s.sim, expected);
        case_advance(c, &s, step + 1);
        lm_step_forecast_update(&forecast, s.sim, 1);
        compare(c, s.sim, expected, &forecast, step == 0);
    }
    case_close(&s);
}
END_TEST

/* In a step that has as many rounds as the last one, the forecast of the substeps of B is what the step takes. In
 * others it is so with the rounds of that step. */
START_TEST(of_rounds)
{
    static const char *const cases[] = {"electrons-void-double", "electrons-hybrid-double"};
    const struct run_case *c = run_cases;
    while (strcmp(c->name, cases[_i]) != 0)
        c++;
    struct case_state s = case_open(c, 2, one_thread, NULL);
    const struct lm_step_forecast forecast = {.seconds = 1};
    int same = 0, most = 0;
    for (int step = 0; step < 12; step++) {
        double expected[LM_SUBSTEP_KINDS];
        const int needed = lm_sim_substeps_needed(s.sim), last = s.sim->electrons.rounds;
        lm_step_forecast_substeps(&forecast, s.sim, expected);
        case_advance(c, &s, step + 1);
        const int rounds = s.sim->electrons.rounds, took = s.sim->substeps;
        ck_assert_int_eq(took, (needed + rounds - 1) / rounds * rounds);
        ck_assert(rounds != last || expected[0] == took);
        same += rounds == last;
        most = rounds > most ? rounds : most;
    }
    ck_assert_int_gt(same, 0);
    ck_assert(_i > 0 || most > 1);
    case_close(&s);
}
END_TEST

/* A step with a hundred times the substeps may take a hundred times as long, but no longer than that number of
 * substeps can take. */
START_TEST(seconds)
{
    static const struct run_case c = {"mix", "mix.ini", {"fields.min_substeps=100"}};
    struct case_state s = case_open(&c, 2, one_thread, NULL);
    struct lm_step_forecast forecast = {.seconds = 1e-6, .substeps = {1}};
    struct lm_step_forecast before = forecast;
    before.substeps[0] = 100;
    const double substeps = lm_sim_substeps_needed(s.sim);
    ck_assert_double_ge(substeps, 100);
    ck_assert_double_eq_tol(lm_step_forecast_seconds(&forecast, s.sim), 1e-6 * substeps, 1e-12);
    ck_assert_double_eq_tol(lm_step_forecast_seconds(&before, s.sim), 1e-8 * substeps, 1e-12);
    forecast.seconds = 1e6;
    const double most = lm_step_forecast_seconds(&forecast, s.sim);
    ck_assert_double_lt(most, 1e3);
    forecast.seconds = 0;
    ck_assert_double_eq_tol(lm_step_forecast_seconds(&forecast, s.sim), most / 10, 1e-12);
    case_close(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("forecast");
    TCase *t = tcase_create("forecast");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, of_every_case, 0, RUN_CASES);
    tcase_add_loop_test(t, of_rounds, 0, 2);
    tcase_add_test(t, seconds);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
