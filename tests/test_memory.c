/* The amount of memory, from files as the kernel writes them, and from the limits of the process. */
#include <sys/resource.h>

#include "base/memory.h"
#include "scratch.h"
#include "suite.h"

static void make_directories(const char *path)
{
    char part[LM_MAX_PATH];
    snprintf(part, sizeof part, "%s", scratch_path(path));
    for (char *c = part + strlen(scratch) + 1; *c; c++)
        if (*c == '/') {
            *c = 0;
            mkdir(part, 0777);
            *c = '/';
        }
}

static void put(const char *path, const char *text)
{
    make_directories(path);
    make_file(path, text);
}

static void setup(void)
{
    scratch_make();
    put("proc/meminfo", "MemTotal:       8000000 kB\nMemFree:         100000 kB\nMemAvailable:    4000000 kB\n");
}

static void found(double free_bytes, double total, const char *by)
{
    struct lm_memory m;
    lm_memory_host_at(scratch, &m);
    ck_assert_double_eq(m.free, free_bytes);
    ck_assert_double_eq(m.total, total);
    ck_assert_msg(strstr(m.limited_by, by) != NULL, "%s", m.limited_by);
}

START_TEST(machine)
{
    found(4000000 * 1024.0, 8000000 * 1024.0, "MemAvailable");
    put("proc/self/cgroup", "0::/\n"); /* a control group without such files */
    found(4000000 * 1024.0, 8000000 * 1024.0, "MemAvailable");
}
END_TEST

#define V2 "sys/fs/cgroup"

/* The parent group has the smaller limit; its page cache counts as free. */
START_TEST(version_2)
{
    put("proc/self/cgroup", "0::/jobs/17\n");
    put(V2 "/jobs/17/memory.max", "max\n");
    put(V2 "/jobs/17/memory.current", "500\n");
    found(4000000 * 1024.0, 8000000 * 1024.0, "MemAvailable");
    put(V2 "/jobs/memory.max", "3000000\n");
    put(V2 "/jobs/memory.current", "2500000\n");
    put(V2 "/jobs/memory.stat", "anon 1500000\nactive_file 300000\ninactive_file 400000\n");
    found(1200000, 3000000, "memory.max of the control group /jobs");
    put(V2 "/jobs/17/memory.max", "1000000\n");
    found(999500, 1000000, "memory.max of the control group /jobs/17");
    put(V2 "/jobs/17/memory.current", "1000001\n");
    found(0, 1000000, "/jobs/17");
}
END_TEST

#define V1 "sys/fs/cgroup/memory"

START_TEST(version_1)
{
    put("proc/self/cgroup", "11:cpu,cpuacct:/x\n4:freezer,memory:/x\n0::/\n");
    put(V1 "/x/memory.limit_in_bytes", "9223372036854771712\n");
    put(V1 "/x/memory.usage_in_bytes", "1000\n");
    found(4000000 * 1024.0, 8000000 * 1024.0, "MemAvailable");
    put(V1 "/x/memory.limit_in_bytes", "2000000\n");
    put(V1 "/x/memory.stat", "inactive_file 1\ntotal_inactive_file 100\ntotal_active_file 50\n");
    found(2000000 - 850, 2000000, "memory.limit_in_bytes of the control group /x");
}
END_TEST

/* In a container the files of the group are where the root of all groups is mounted. */
START_TEST(container)
{
    put("proc/self/cgroup", "4:memory:/docker/0123\n");
    put(V1 "/memory.limit_in_bytes", "1000000\n");
    put(V1 "/memory.usage_in_bytes", "400000\n");
    found(600000, 1000000, "control group /");
}
END_TEST

START_TEST(own_limits)
{
#ifndef __SANITIZE_ADDRESS__ /* the address sanitizer maps terabytes */
    struct lm_memory m;
    const struct rlimit limit = {1u << 30, 1u << 30};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    lm_memory_host(&m);
    ck_assert_double_eq(m.total, 0x1p30);
    ck_assert(m.free > 0 && m.free < 0x1p30);
    ck_assert_msg(strstr(m.limited_by, "ulimit -v") != NULL, "%s", m.limited_by);
    ck_assert_int_eq(lm_memory_require(0x1p20, 0x1p20, "a thing"), LM_OK);
    ck_assert_int_eq(lm_memory_require(0x1p20, 0x1p30, "a thing"), LM_STOPPED);
    assert_error_has("not enough memory: a thing would take 0.000977 GiB and a checkpoint 1 GiB; ");
    assert_error_has("of 1 GiB are free (the limit of address space (ulimit -v))");
#endif
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *t = tcase_create("memory");
    tcase_add_checked_fixture(t, setup, scratch_remove);
    tcase_add_test(t, machine);
    tcase_add_test(t, version_2);
    tcase_add_test(t, version_1);
    tcase_add_test(t, container);
    tcase_add_test(t, own_limits);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
