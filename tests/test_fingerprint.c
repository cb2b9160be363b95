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
#ifdef __SANITIZE_ADDRESS__
enum { STRIDE = 8 }; /* ten times slower, and it looks for other things than bits */
#else
enum { STRIDE = 1 };
#endif
enum { VARIANTS = sizeof variants / sizeof *variants, RESTARTS = 32 / STRIDE };

START_TEST(variant)
{
    const struct run_case *c = &run_cases[_i / VARIANTS];
    const char *const *v = variants[_i % VARIANTS];
    const char *more[] = {"run.backend=cpu", v[0], v[1], v[2]};
    uint64_t print = case_run(c, 4, more), want = golden_of(c->name);
    ck_assert_msg(print == want, "%s with %s %s %s: %016llx instead of %016llx", c->name, v[0], v[1], v[2],
                  (unsigned long long)print, (unsigned long long)want);
}
END_TEST

/* Through a checkpoint after every step (of every STRIDE), and on with other threads, tiles and sort intervals. */
START_TEST(restart)
{
    const struct run_case *c = &run_cases[_i / RESTARTS];
    const int step = _i % RESTARTS * STRIDE;
    const char *before[] = {"run.backend=cpu", "run.threads=1", "run.tile=8", "run.sort_every=0"};
    const char *after[] = {"run.backend=cpu", "run.threads=2", "run.tile=16", "run.sort_every=5"};
    scratch_make();
    uint64_t print = case_run_restarted(c, 4, before, after, step, scratch), want = golden_of(c->name);
    scratch_remove();
    ck_assert_msg(print == want, "%s restarted after step %d: %016llx instead of %016llx", c->name, step,
                  (unsigned long long)print, (unsigned long long)want);
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
    tcase_add_loop_test(t, variant, 0, RUN_CASES * VARIANTS);
    tcase_add_loop_test(t, restart, 0, RUN_CASES * RESTARTS);
    tcase_add_test(t, fingerprint_sees_the_state);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
