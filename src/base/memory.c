/* How much memory the host has for this process: what the kernel says, under every limit that it is subject to. */
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "larmor/base.h"

static const double NO_LIMIT = 0x1p60; /* version 1 of control groups writes a number near 2^63 for "none" */

/* The number after `name` at the beginning of a line ("" takes the first one of the file); -1: there is none. */
static double number_in(const char *path, const char *name)
{
    char line[256];
    double value = -1;
    const size_t n = strlen(name);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, n)) {
            if (sscanf(line + n, "%*[ :\t]%lf", &value) != 1 && sscanf(line + n, "%lf", &value) != 1)
                value = -1; /* "max" */
            break;
        }
    if (f)
        fclose(f);
    return value;
}

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

/* The files of one version of control groups. */
struct group_files {
    const char *mount, *most, *used, *cache[2];
};
static const struct group_files version_1 = {"sys/fs/cgroup/memory",
                                             "memory.limit_in_bytes",
                                             "memory.usage_in_bytes",
                                             {"total_active_file", "total_inactive_file"}};
static const struct group_files version_2 = {
    "sys/fs/cgroup", "memory.max", "memory.current", {"active_file", "inactive_file"}};

static void by_group(const char *root, const struct group_files *v, const char *group, struct lm_memory *m)
{
    char path[LM_MAX_PATH], by[160];
    if (lm_path(path, "%s/%s%s/%s", root, v->mount, group, v->most))
        return;
    const double most = number_in(path, "");
    if (most < 0 || most >= NO_LIMIT || lm_path(path, "%s/%s%s/%s", root, v->mount, group, v->used))
        return;
    double used = number_in(path, "");
    if (lm_path(path, "%s/%s%s/memory.stat", root, v->mount, group))
        return;
    for (int k = 0; k < 2; k++) {
        const double cache = number_in(path, v->cache[k]);
        used -= cache > 0 ? cache : 0;
    }
    snprintf(by, sizeof by, "%s of the control group %.100s", v->most, *group ? group : "/");
    limit(m, most - (used > 0 ? used : 0), most, by);
}

/* A group and all above it: each limits what is below. In a container those above may not be there. */
static void by_groups(const char *root, const struct group_files *v, const char *group, struct lm_memory *m)
{
    char path[LM_MAX_PATH];
    if (lm_path(path, "%s", strcmp(group, "/") ? group : ""))
        return;
    for (;;) {
        by_group(root, v, path, m);
        char *slash = strrchr(path, '/');
        if (!slash)
            return;
        *slash = 0;
    }
}

/* Lines "0::PATH" (version 2) and "9:memory:PATH" or "4:cpu,memory:PATH" (version 1). */
static void by_control_groups(const char *root, struct lm_memory *m)
{
    char path[LM_MAX_PATH], line[LM_MAX_PATH];
    FILE *f = lm_path(path, "%s/proc/self/cgroup", root) ? NULL : fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        *controllers++ = 0;
        for (char *save, *c = strtok_r(controllers, ",", &save); c; c = strtok_r(NULL, ",", &save))
            if (!strcmp(c, "memory"))
                by_groups(root, &version_1, group, m);
        if (!strcmp(line, "0"))
            by_groups(root, &version_2, group, m);
    }
    if (f)
        fclose(f);
}

/* What the process may still map. */
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
    by_control_groups(root, out);
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
