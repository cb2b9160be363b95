/* The lock on a directory: one process at a time holds it, and a lock file that a killed process leaves stops no later
 * run. */
#include <sys/mman.h>
#include <sys/wait.h>

#include "output/lock.h"
#include "scratch.h"
#include "suite.h"

START_TEST(taken_and_released)
{
    struct lm_lock a = LM_LOCK_NONE, b = LM_LOCK_NONE;
    char text[64] = "", expected[64];
    ck_assert_int_eq(lm_lock_existing(&a, scratch), LM_OK);
    ck_assert_int_lt(a.file, 0);
    ck_assert_int_eq(access(scratch_path(LM_LOCK_NAME), F_OK), -1);
    ck_assert_int_eq(lm_lock_take(&a, scratch), LM_OK);
    ck_assert_int_eq(lm_lock_take(&b, scratch), LM_BAD_INPUT);
    assert_error_has("another run is writing there (process ");
    ck_assert_int_eq(lm_lock_existing(&b, scratch), LM_BAD_INPUT);
    FILE *f = fopen(scratch_path(LM_LOCK_NAME), "r");
    ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
    fclose(f); /* with the older locks of fcntl the lock would be lost here */
    snprintf(expected, sizeof expected, "process %ld on ", (long)getpid());
    ck_assert_int_eq(strncmp(text, expected, strlen(expected)), 0);
    ck_assert_int_eq(lm_lock_take(&b, scratch), LM_BAD_INPUT);
    lm_lock_release(&a);
    ck_assert_int_eq(access(scratch_path(LM_LOCK_NAME), F_OK), -1);
    ck_assert_int_eq(lm_lock_take(&b, scratch), LM_OK);
    lm_lock_release(&b);
}
END_TEST

/* A directory that existed is locked as it is, and stays when the run writes nothing. */
START_TEST(left_behind)
{
    struct lm_lock a = LM_LOCK_NONE, b = LM_LOCK_NONE;
    make_file(LM_LOCK_NAME, "process 1 on elsewhere since long ago\x1b[2J\n");
    ck_assert_int_eq(lm_lock_existing(&a, scratch), LM_OK);
    ck_assert_int_ge(a.file, 0);
    ck_assert_int_eq(lm_lock_existing(&b, scratch), LM_BAD_INPUT);
    assert_error_has("(process 1 on elsewhere since long ago?[2J)");
    lm_lock_release(&a);
    ck_assert_int_eq(access(scratch_path(LM_LOCK_NAME), F_OK), 0);
    ck_assert_int_eq(lm_lock_take(&b, scratch), LM_OK);
    lm_lock_release(&b);
}
END_TEST

START_TEST(links)
{
    struct lm_lock a = LM_LOCK_NONE;
    make_file("mine", "mine\n");
    ck_assert_int_eq(symlink(scratch_path("mine"), scratch_path(LM_LOCK_NAME)), 0);
    ck_assert_int_eq(lm_lock_existing(&a, scratch), LM_BAD_INPUT);
    ck_assert_int_eq(lm_lock_take(&a, scratch), LM_FAILED);
}
END_TEST

/* Many processes take and release the lock as fast as they can. Never do two hold it at a time, although each removes
 * the file. */
START_TEST(many)
{
    enum { PROCESSES = 8, TURNS = 8000 };
    int *inside = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int *worst = inside + 1, *taken = inside + 2, status;
    for (int k = 0; k < PROCESSES; k++) {
        if (fork())
            continue;
        for (int turn = 0; turn < TURNS; turn++) {
            struct lm_lock lock = LM_LOCK_NONE;
            if (lm_lock_take(&lock, scratch))
                continue;
            const int now = __atomic_add_fetch(inside, 1, __ATOMIC_SEQ_CST);
            if (now > 1)
                __atomic_store_n(worst, now, __ATOMIC_SEQ_CST);
            __atomic_add_fetch(taken, 1, __ATOMIC_SEQ_CST);
            usleep(20);
            __atomic_sub_fetch(inside, 1, __ATOMIC_SEQ_CST);
            lm_lock_release(&lock);
        }
        _exit(0);
    }
    for (int k = 0; k < PROCESSES; k++)
        wait(&status);
    ck_assert_int_gt(*taken, PROCESSES);
    ck_assert_int_eq(*worst, 0);
    munmap(inside, 4096);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock");
    TCase *t = tcase_create("lock");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, taken_and_released);
    tcase_add_test(t, left_behind);
    tcase_add_test(t, links);
    tcase_add_test(t, many);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
