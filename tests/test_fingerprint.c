/* The same bits: golden fingerprints that a GPU has confirmed, any number of threads, tiles, sort intervals, restarts.
 *
 * Each case is run in one of the variants, another from case to case, and is restarted once in another one. With
 * LARMOR_TEST_ALL in the environment: in all other variants, and with a restart after every second step. */
#include <check.h>

#include "inside.h"
#include "cases.h"
#include "scratch.h"
#include "suite.h"

static const char *const variants[][3] = {
    {"run.threads=1", "run.tile=8", "run.sort_every=1"},     {"run.threads=2", "run.tile=8", "run.sort_every=7"},
    {"run.threads=3", "run.tile=16", "run.sort_every=0"},    {"run.threads=2", "run.tile=16", "run.sort_every=1"},
    {"run.threads=1", "run.tile=16", "run.sort_every=1000"},
};
enum { VARIANTS = sizeof variants / sizeof *variants, RESTARTS = 32, A_FEW = 3, WHOLE = 8 };

static void assert_golden(const struct run_case *c, uint64_t print, const char *how)
{
    const uint64_t want = golden_of(c->name);
    ck_assert_msg(print == want, "%s with %s: %016llx instead of the golden %016llx", c->name, how,
                  (unsigned long long)print, (unsigned long long)want);
}

static void run_variant(const struct run_case *c, int variant)
{
    const char *const *v = variants[variant % VARIANTS];
    const char *more[] = {"run.backend=cpu", v[0], v[1], v[2]};
    char how[128];
    snprintf(how, sizeof how, "%s %s %s", v[0], v[1], v[2]);
    assert_golden(c, case_run(c, 4, more), how);
}

/* What is chosen when nothing is said. */
static void run_default(const struct run_case *c)
{
    const char *more[] = {"run.backend=cpu"};
    assert_golden(c, case_run(c, 1, more), "nothing chosen");
}

static void run_way(int number, int variant)
{
    if (variant == VARIANTS)
        run_default(&run_cases[number]);
    else
        run_variant(&run_cases[number], variant);
}

START_TEST(golden)
{
    run_way(_i, _i % (VARIANTS + 1));
}
END_TEST

/* From one variant to another, after another step from case to case. Under sanitizers a few steps are enough. */
START_TEST(restart)
{
    const char *const *b = variants[(_i + 1) % VARIANTS], *const *a = variants[(_i + 3) % VARIANTS];
    const char *steps = "run.steps=5";
    const char *before[] = {"run.backend=cpu", b[0], b[1], b[2], steps},
               *after[] = {"run.backend=cpu", a[0], a[1], a[2], steps};
    const int step = 1 + 7 * _i % (SANITIZED ? 4 : 15); /* the shortest has 16 */
    char how[128];
    snprintf(how, sizeof how, "a restart after step %d from %s %s %s to %s %s %s", step, b[0], b[1], b[2], a[0], a[1],
             a[2]);
    scratch_make();
    const uint64_t print = case_run_restarted(&run_cases[_i], SANITIZED ? 5 : 4, before, after, step, scratch);
    scratch_remove();
    if (!SANITIZED)
        assert_golden(&run_cases[_i], print, how);
}
END_TEST

/* All variants but that of `golden`. */
START_TEST(every_variant)
{
    const int number = _i / VARIANTS;
    run_way(number, (number + 1 + _i % VARIANTS) % (VARIANTS + 1));
}
END_TEST

/* A checkpoint after every second step, of even or odd number from case to case, and on from it with other threads,
 * tiles and sort intervals: a few steps beside the run that goes straight on, and every so often to the golden end. */
START_TEST(every_restart)
{
    const struct run_case *c = &run_cases[_i];
    const char *before[] = {"run.backend=cpu", "run.threads=1", "run.tile=8", "run.sort_every=0", "output.keep=1"};
    const char *after[] = {"run.backend=cpu", "run.threads=2", "run.tile=16", "run.sort_every=5"};
    const struct lm_references none = {0};
    uint64_t straight[RESTARTS + A_FEW] = {0}, restarted[RESTARTS + A_FEW] = {0};
    char path[LM_MAX_PATH], how[64];
    scratch_make();
    struct case_state run = case_open(c, 5, before, NULL);
    snprintf(run.config->output.directory, sizeof run.config->output.directory, "%s", scratch);
    for (int step = 0; step < RESTARTS + A_FEW; step++) {
        straight[step] = case_advance(c, &run, step);
        if (step >= RESTARTS || (step + _i) % 2)
            continue;
        case_must(lm_sim_save(run.sim, &none, 0, path), c->name);
        struct case_state other = case_open(c, 4, after, path);
        restarted[step + A_FEW - 1] = case_advance(c, &other, step + A_FEW - 1);
        snprintf(how, sizeof how, "a restart after step %d", step);
        if (step / 2 % WHOLE == 0)
            assert_golden(c, case_advance(c, &other, INT64_MAX), how);
        case_close(&other);
    }
    const uint64_t print = case_advance(c, &run, INT64_MAX);
    case_close(&run);
    scratch_remove();
    assert_golden(c, print, "checkpoints");
    for (int step = A_FEW - 1 + _i % 2; step < RESTARTS + A_FEW - 1; step += 2)
        ck_assert_msg(restarted[step] == straight[step], "%s restarted after step %d is another after step %d", c->name,
                      step - A_FEW + 1, step);
}
END_TEST

/* Another seed must give another fingerprint, or the tests above could not fail. */
START_TEST(fingerprint_sees_the_state)
{
    const char *more[] = {"run.backend=cpu", "run.seed=8", "run.steps=1"};
    uint64_t other = case_run(&run_cases[0], 3, more);
    more[1] = "run.seed=7";
    uint64_t one = case_run(&run_cases[0], 3, more);
    ck_assert(one != other);
    more[2] = "run.steps=2";
    ck_assert(case_run(&run_cases[0], 3, more) != one);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fingerprint");
    TCase *t = tcase_create("bits");
    tcase_set_timeout(t, 300);
    if (getenv("LARMOR_TEST_ALL")) {
        tcase_add_loop_test(t, every_variant, 0, RUN_CASES * VARIANTS);
        tcase_add_loop_test(t, every_restart, 0, RUN_CASES);
    } else {
        tcase_add_loop_test(t, golden, 0, unless_sanitized(RUN_CASES));
        tcase_add_loop_test(t, restart, 0, RUN_CASES);
    }
    tcase_add_test(t, fingerprint_sees_the_state);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
