/* Substeps of the coming step are known or bounded before it, in every case of the table of fingerprints. */
#include <check.h>
#include <math.h>

#include "inside.h"
#include "sim/outlook.h"
#include "cases.h"
#include "suite.h"

static const char *const one_thread[] = {"run.backend=cpu", "run.threads=1"};

/* Whether a kind is known beforehand, or found within the step. */
static int is_known(const struct lm_config *c, int kind)
{
    return kind == 0 ||
           (kind >= 2 && kind - 2 < c->background_count && c->background[kind - 2].flow == LM_FLOW_PRESCRIBED);
}

static void compare(const struct run_case *c, const struct lm_sim *sim, const double *expected,
                    const struct lm_outlook *after, int first)
{
    for (int k = 0; k < LM_SUBSTEP_KINDS; k++) {
        const double e = expected[k], took = after->substeps[k];
        if (is_known(sim->config, k))
            ck_assert_msg(e == took, "%s, step %lld, kind %d: %g expected, %g taken", c->name, (long long)sim->step, k,
                          e, took);
        else if (first)
            ck_assert_msg(e >= took, "%s, kind %d: %g expected, %g taken", c->name, k, e, took);
    }
}

START_TEST(of_every_case)
{
    const struct run_case *c = &run_cases[_i];
    struct case_state s = case_open(c, 2, one_thread, NULL);
    struct lm_outlook outlook = {.seconds = 0};
    for (int step = 0; step < 4 && step < s.config->run.steps; step++) {
        double expected[LM_SUBSTEP_KINDS];
        case_must(lm_sim_check(s.sim), c->name);
        lm_outlook_substeps(&outlook, s.sim, expected);
        case_advance(c, &s, step + 1);
        lm_outlook_took(&outlook, s.sim, 1);
        compare(c, s.sim, expected, &outlook, step == 0);
    }
    case_close(&s);
}
END_TEST

/* A step with a hundred times the substeps may take a hundred times as long, but no longer than so many substeps can.
 */
START_TEST(seconds)
{
    static const struct run_case c = {"mix", "mix.ini", {"fields.min_substeps=100"}};
    struct case_state s = case_open(&c, 2, one_thread, NULL);
    struct lm_outlook outlook = {.seconds = 1e-6, .substeps = {1}};
    struct lm_outlook before = outlook;
    before.substeps[0] = 100;
    const double substeps = lm_sim_substeps_needed(s.sim);
    ck_assert_double_ge(substeps, 100);
    ck_assert_double_eq_tol(lm_outlook_next(&outlook, s.sim), 1e-6 * substeps, 1e-12);
    ck_assert_double_eq_tol(lm_outlook_next(&before, s.sim), 1e-8 * substeps, 1e-12);
    outlook.seconds = 1e6;
    const double most = lm_outlook_next(&outlook, s.sim);
    ck_assert_double_lt(most, 1e3);
    outlook.seconds = 0;
    ck_assert_double_eq_tol(lm_outlook_next(&outlook, s.sim), most / 10, 1e-12);
    case_close(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("outlook");
    TCase *t = tcase_create("outlook");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, of_every_case, 0, RUN_CASES);
    tcase_add_test(t, seconds);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
