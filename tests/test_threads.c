/* The number of threads, and how they wait. tests/test_fingerprint.c shows that results do not depend on it. */
#include <math.h>
#include <omp.h>
#include <unistd.h>

#include "cli.h"
#include "base/threads.h"

START_TEST(useful)
{
    ck_assert_int_eq(lm_threads_useful(0, 4096, 16), 1);
    ck_assert_int_eq(lm_threads_useful(8191, 4096, 16), 1);
    ck_assert_int_eq(lm_threads_useful(8192, 4096, 16), 2);
    ck_assert_int_eq(lm_threads_useful(1ull << 40, 4096, 16), 16);
    ck_assert_int_eq(lm_threads_useful(1ull << 40, 4096, 1), 1);
}
END_TEST

START_TEST(available)
{
    ck_assert_int_ge(lm_threads_available(), 1);
    ck_assert_int_le(lm_threads_available(), omp_get_max_threads());
    omp_set_num_threads(1);
    ck_assert_int_eq(lm_threads_available(), 1);
}
END_TEST

static void put(const char *path, const char *text)
{
    char folder[LM_MAX_PATH];
    snprintf(folder, sizeof folder, "%s", scratch_path(path));
    for (char *c = folder + strlen(scratch) + 1; (c = strchr(c, '/')); *c++ = '/') {
        *c = 0;
        mkdir(folder, 0777);
    }
    make_file(path, text);
}

/* The group and every group above it grant processor time; the least counts. */
START_TEST(quota)
{
    ck_assert_double_eq(lm_threads_quota_at(scratch_path("nowhere")), HUGE_VAL);
    put("v2/proc/self/cgroup", "0::/jobs/17\n");
    put("v2/sys/fs/cgroup/jobs/17/cpu.max", "max 100000\n");
    ck_assert_double_eq(lm_threads_quota_at(scratch_path("v2")), HUGE_VAL);
    put("v2/sys/fs/cgroup/jobs/cpu.max", "150000 50000\n");
    ck_assert_double_eq(lm_threads_quota_at(scratch_path("v2")), 3);
    put("v2/sys/fs/cgroup/cpu.max", "400000 100000\n");
    ck_assert_double_eq(lm_threads_quota_at(scratch_path("v2")), 3);
    put("v2/sys/fs/cgroup/cpu.max", "250000 100000\n");
    ck_assert_double_eq(lm_threads_quota_at(scratch_path("v2")), 2.5);
    put("v1/proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/docker/0123\n");
    put("v1/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("v1/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    ck_assert_double_eq(lm_threads_quota_at(scratch_path("v1")), HUGE_VAL);
    put("v1/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    ck_assert_double_eq(lm_threads_quota_at(scratch_path("v1")), 0.5);
}
END_TEST

/* Whether the environment of the running program has a line with this beginning. */
static int has_in_environment(const char *begin)
{
    static char text[1 << 16];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)cli.pid);
    FILE *f = fopen(path, "r");
    const size_t length = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[length] = 0;
    for (const char *line = text; line < text + length; line += strlen(line) + 1)
        if (!strncmp(line, begin, strlen(begin)))
            return 1;
    return 0;
}

static void set_passive_waiting(void)
{
    setenv("OMP_WAIT_POLICY", "passive", 1);
}

/* The user's setting of how threads wait is kept. By default they spin only briefly. */
START_TEST(waiting)
{
    unsetenv("GOMP_SPINCOUNT");
    unsetenv("OMP_WAIT_POLICY");
    make_file("long.ini", cli_small);
    cli.prepare = _i ? set_passive_waiting : NULL;
    cli_begin("run long.ini --steps 100000000 --output out%d --quiet", _i);
    char path[sizeof scratch + 32];
    snprintf(path, sizeof path, "%s/out%d/series.csv", scratch, _i);
    for (int k = 0; k < 1000 && access(path, F_OK); k++)
        usleep(10000);
    ck_assert_int_eq(has_in_environment("GOMP_SPINCOUNT="), !_i);
    kill(cli.pid, SIGTERM);
    ck_assert_int_eq(cli_end(), 3);
    cli.prepare = NULL;
}
END_TEST

int main(void)
{
    Suite *s = suite_create("threads");
    TCase *t = tcase_create("threads");
    tcase_add_unchecked_fixture(t, scratch_make, scratch_remove);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, useful);
    tcase_add_test(t, available);
    tcase_add_test(t, quota);
    tcase_add_loop_test(t, waiting, 0, 2);
    suite_add_tcase(s, t);
    return suite_run(s);
}
