#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/control_group.h"
#include "larmor/base.h"

static const double NO_LIMIT =
    0x1p60; /* version 1 of control groups writes a number near 2^63 where there is no limit */

/* The number after `name` at the beginning of a line; with "" the first number of the file. -1: there is none. */
static double number_in(const char *path, const char *name)
{
    char line[256];
    double value = -1;
    const size_t n = strlen(name);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, n)) {
            if (sscanf(line + n, "%*[ :\t]%lf", &value) != 1 && sscanf(line + n, "%lf", &value) != 1)
                value = -1; /* the file says "max" */
            break;
        }
    if (f)
        fclose(f);
    return value;
}

/* Keeps the narrowest limit. */
static void limit(struct lm_memory *m, double free_bytes, double total, const char *by)
{
    if (!(free_bytes < m->free))
        return;
    m->free = free_bytes > 0 ? free_bytes : 0;
    m->total = total;
    snprintf(m->limited_by, sizeof m->limited_by, "%s", by);
}

static void by_machine(const char *root, struct lm_memory *m)
{
    char path[LM_MAX_PATH];
    const double page = (double)sysconf(_SC_PAGESIZE);
    m->free = page * (double)sysconf(_SC_AVPHYS_PAGES);
    m->total = page * (double)sysconf(_SC_PHYS_PAGES);
    snprintf(m->limited_by, sizeof m->limited_by, "free pages");
    if (lm_path(path, "%s/proc/meminfo", root))
        return;
    const double available = number_in(path, "MemAvailable"), all = number_in(path, "MemTotal");
    if (available < 0 || all < 0)
        return;
    m->free = INFINITY;
    limit(m, 1024 * available, 1024 * all, "MemAvailable");
}

/* The files of a group that say how much memory it may use, how much it uses, and how much of that is page cache. */
struct group_files {
    const char *limit, *used, *cache[2];
};
static const struct group_files files_of_version[] = {
    [1] = {"memory.limit_in_bytes", "memory.usage_in_bytes", {"total_active_file", "total_inactive_file"}},
    [2] = {"memory.max", "memory.current", {"active_file", "inactive_file"}}};

static double number_of_group(const char *directory, const char *file, const char *name)
{
    char path[LM_MAX_PATH];
    return lm_path(path, "%s/%s", directory, file) ? -1 : number_in(path, name);
}

/* The page cache counts as free, because the kernel gives it up when memory is short. */
static void by_group(void *memory, int version, const char *directory, const char *group)
{
    const struct group_files *files = &files_of_version[version];
    char by[160];
    const double total = number_of_group(directory, files->limit, "");
    if (total < 0 || total >= NO_LIMIT)
        return;
    double used = number_of_group(directory, files->used, "");
    for (int k = 0; k < 2; k++)
        used -= fmax(number_of_group(directory, "memory.stat", files->cache[k]), 0);
    snprintf(by, sizeof by, "%s of the control group %.100s", files->limit, *group ? group : "/");
    limit(memory, total - fmax(used, 0), total, by);
}

/* The limits of the process on its own address space and data. */
static void by_own_limits(const char *root, struct lm_memory *m)
{
    static const struct {
        int resource;
        const char *used, *by;
    } limits[] = {{RLIMIT_AS, "VmSize", "the limit of address space (ulimit -v)"},
                  {RLIMIT_DATA, "VmData", "the limit of data (ulimit -d)"}};
    char path[LM_MAX_PATH];
    if (lm_path(path, "%s/proc/self/status", root))
        return;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        struct rlimit r;
        const double used = 1024 * number_in(path, limits[k].used);
        if (!getrlimit(limits[k].resource, &r) && r.rlim_cur != RLIM_INFINITY && used >= 0)
            limit(m, (double)r.rlim_cur - used, (double)r.rlim_cur, limits[k].by);
    }
}

void lm_memory_host_at(const char *root, struct lm_memory *out)
{
    by_machine(root, out);
    lm_control_groups(root, "memory", by_group, out);
    by_own_limits(root, out);
}

void lm_memory_host(struct lm_memory *out)
{
    lm_memory_host_at("", out);
}

int lm_memory_require(double bytes, double reserve, const char *what)
{
    struct lm_memory m;
    lm_memory_host(&m);
    if (bytes + reserve <= m.free)
        return LM_OK;
    return lm_fail(
        LM_STOPPED,
        "not enough memory: %s would take %.3g GiB and a checkpoint %.3g GiB; %.3g of %.3g GiB are free (%s)", what,
        bytes / 0x1p30, reserve / 0x1p30, m.free / 0x1p30, m.total / 0x1p30, m.limited_by);
}
