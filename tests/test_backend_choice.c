/* What run.backend = auto stands for in runs with little work. The library of the tests has no GPU, so the comparison
 * itself is in tests/gpu/run.sh. */
#include "backend/backend.h"
#include "config_file.h"
#include "run/backend_choice.h"
#include "suite.h"

static struct lm_prepared prepared;

static void prepare(const char *key)
{
    put_after_head("");
    ck_assert_msg(read_again(key != NULL, &key) == LM_OK, "%s", lm_error());
    ck_assert_msg(lm_prepare(&config, NULL, &prepared) == LM_OK, "%s", lm_error());
    prepared.kind = LM_BACKEND_CUDA; /* as if there were a GPU */
}

static int kind_of_auto(void)
{
    int kind = -1;
    char line[256];
    ck_assert_int_eq(lm_backend_resolve(LM_BACKEND_AUTO, 1, &kind, line, sizeof line), LM_OK);
    return kind;
}

/* The head's 12 cells count as 192 particles. */
START_TEST(work_for_each_core_makes_doubts)
{
    prepare("run.threads=2");
    ck_assert(lm_backend_is_doubtful(&prepared));
    prepared.survey.count[0] = 2 * LM_DOUBTFUL_WORK - 193;
    ck_assert(lm_backend_is_doubtful(&prepared));
    prepared.survey.count[0] = 2 * LM_DOUBTFUL_WORK - 192;
    ck_assert(!lm_backend_is_doubtful(&prepared));
    config.run.threads = 3;
    ck_assert(lm_backend_is_doubtful(&prepared));
    prepared.kind = LM_BACKEND_CPU;
    ck_assert(!lm_backend_is_doubtful(&prepared));
    prepared.kind = LM_BACKEND_CUDA;
    config.boundary[LM_X_MIN] = LM_INFLOW;
    ck_assert(!lm_backend_is_doubtful(&prepared));
    lm_prepare_free(&prepared);
}
END_TEST

/* There is no GPU on which steps could be measured. */
START_TEST(what_cannot_be_measured_stays)
{
    char line[256] = "not written";
    prepare("run.t_end=2000");
    ck_assert_int_ge(config.run.steps, LM_DOUBTFUL_STEPS);
    ck_assert_int_eq(lm_backend_choose(&prepared, line, sizeof line), LM_OK);
    ck_assert_str_eq(line, "");
    ck_assert_int_eq(kind_of_auto(), LM_BACKEND_CPU);
    lm_prepare_free(&prepared);
}
END_TEST

START_TEST(the_faster_one_is_named)
{
    char line[256];
    ck_assert_int_eq(lm_backend_faster(1e-4, 2e-4, line, sizeof line), LM_BACKEND_CUDA);
    ck_assert_str_eq(line, "a step takes 0.1 ms on the GPU and 0.2 ms on the CPU, so the run goes on the GPU");
    ck_assert_int_eq(lm_backend_faster(2e-4, 1e-4, line, sizeof line), LM_BACKEND_CPU);
    ck_assert_str_eq(line, "a step takes 0.2 ms on the GPU and 0.1 ms on the CPU, so the run goes on the CPU");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("choice of a backend");
    TCase *t = tcase_create("choice of a backend");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, work_for_each_core_makes_doubts);
    tcase_add_test(t, what_cannot_be_measured_stays);
    tcase_add_test(t, the_faster_one_is_named);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
