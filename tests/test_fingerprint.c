/* The same bits: golden fingerprints that a GPU has confirmed, any number of threads, tiles, sort intervals. */
#include <check.h>

#include "cases.h"
#include "scratch.h"
#include "suite.h"

START_TEST(golden)
{
    const struct run_case *c = &run_cases[_i];
    const char *more[] = {"run.backend=cpu"};
    uint64_t print = case_run(c, 1, more), want = golden_of(c->name);
    ck_assert_msg(print == want, "%s: %016llx instead of the golden %016llx", c->name, (unsigned long long)print,
                  (unsigned long long)want);
}
END_TEST

static const char *const variants[][3] = {
    {"run.threads=1", "run.tile=8", "run.sort_every=1"},     {"run.threads=2", "run.tile=8", "run.sort_every=7"},
    {"run.threads=3", "run.tile=16", "run.sort_every=0"},    {"run.threads=2", "run.tile=16", "run.sort_every=1"},
    {"run.threads=1", "run.tile=16", "run.sort_every=1000"},
};
enum { VARIANTS = sizeof variants / sizeof *variants, RESTARTS = 32, A_FEW = 3, WHOLE = 8 };
#ifdef __SANITIZE_ADDRESS__
enum { STRIDE = 16, OF_EACH = 1 }; /* ten times slower, and it looks for other things than bits */
#else
enum { STRIDE = 1, OF_EACH = VARIANTS };
#endif

START_TEST(variant)
{
    const struct run_case *c = &run_cases[_i / OF_EACH];
    const char *const *v = variants[_i % VARIANTS];
    const char *more[] = {"run.backend=cpu", v[0], v[1], v[2]};
    uint64_t print = case_run(c, 4, more), want = golden_of(c->name);
    ck_assert_msg(print == want, "%s with %s %s %s: %016llx instead of %016llx", c->name, v[0], v[1], v[2],
                  (unsigned long long)print, (unsigned long long)want);
}
END_TEST

/* A checkpoint after every step (of every STRIDE), and on from it with other threads, tiles and sort intervals: a few
 * steps beside the run that goes straight on, and every so often to the golden end. */
START_TEST(restart)
{
    const struct run_case *c = &run_cases[_i];
    const char *before[] = {"run.backend=cpu", "run.threads=1", "run.tile=8", "run.sort_every=0", "output.keep=1"};
    const char *after[] = {"run.backend=cpu", "run.threads=2", "run.tile=16", "run.sort_every=5"};
    const struct lm_references none = {0};
    uint64_t straight[RESTARTS + A_FEW] = {0}, restarted[RESTARTS + A_FEW] = {0}, want = golden_of(c->name);
    char path[LM_MAX_PATH];
    scratch_make();
    struct case_state run = case_open(c, 5, before, NULL);
    snprintf(run.config->output.directory, sizeof run.config->output.directory, "%s", scratch);
    for (int step = 0; step < RESTARTS + A_FEW; step++) {
        straight[step] = case_advance(c, &run, step);
        if (step % STRIDE || step >= RESTARTS)
            continue;
        case_must(lm_output_checkpoint(run.sim, &none, path), c->name);
        struct case_state other = case_open(c, 4, after, path);
        restarted[step + A_FEW - 1] = case_advance(c, &other, step + A_FEW - 1);
        if (step % WHOLE == 0) {
            const uint64_t print = case_advance(c, &other, INT64_MAX);
            ck_assert_msg(print == want, "%s restarted after step %d: %016llx instead of %016llx", c->name, step,
                          (unsigned long long)print, (unsigned long long)want);
        }
        case_close(&other);
    }
    const uint64_t print = case_advance(c, &run, INT64_MAX);
    case_close(&run);
    scratch_remove();
    ck_assert_msg(print == want, "%s with checkpoints: %016llx instead of %016llx", c->name, (unsigned long long)print,
                  (unsigned long long)want);
    for (int step = A_FEW - 1; step < RESTARTS + A_FEW - 1; step++)
        ck_assert_msg((step - A_FEW + 1) % STRIDE || restarted[step] == straight[step],
                      "%s restarted after step %d is another after step %d", c->name, step - A_FEW + 1, step);
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
    tcase_add_loop_test(t, golden, 0, RUN_CASES);
    tcase_add_loop_test(t, variant, 0, RUN_CASES * OF_EACH);
    tcase_add_loop_test(t, restart, 0, RUN_CASES);
    tcase_add_test(t, fingerprint_sees_the_state);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
