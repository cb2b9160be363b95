#include "base/threads.h"

#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/control_group.h"
#include "larmor/base.h"

/* Turns of GNU OpenMP's waiting loop before a thread sleeps. 2000 turns took 0.054 ms on an AMD EPYC. */
static const char SPIN[] = "2000";

/* Reads the first number of a file and, where there is one, the second. Returns 0 where the file has no number. */
static int read_numbers(const char *directory, const char *name, double *first, double *second)
{
    char path[LM_MAX_PATH];
    FILE *f = lm_path(path, "%s/%s", directory, name) ? NULL : fopen(path, "re");
    if (!f)
        return 0;
    const int found = fscanf(f, "%lf %lf", first, second);
    fclose(f);
    return found > 0;
}

/* Lowers *cores to the processor time that one group grants. */
static void apply_quota(void *cores, int version, const char *directory, const char *group)
{
    double quota = 0, period = 1e5, *least = cores, unused;
    (void)group;
    if (version == 2 && !read_numbers(directory, "cpu.max", &quota, &period))
        return; /* "max": there is no limit */
    if (version == 1 && (!read_numbers(directory, "cpu.cfs_quota_us", &quota, &unused) ||
                         !read_numbers(directory, "cpu.cfs_period_us", &period, &unused)))
        return;
    if (quota > 0 && period > 0)
        *least = fmin(*least, quota / period);
}

double lm_threads_quota_at(const char *root)
{
    double cores = HUGE_VAL;
    lm_control_groups(root, "cpu", apply_quota, &cores);
    return cores;
}

int lm_threads_available(void)
{
    const int cores = omp_get_max_threads();
    const double quota = ceil(lm_threads_quota_at(""));
    return quota < cores ? (int)fmax(quota, 1) : cores;
}

int lm_threads_wanted(int asked)
{
    return asked > 0 ? asked : lm_threads_available();
}

void lm_threads_share(int processes)
{
    const int cores = omp_get_num_procs();
    if (!getenv("OMP_NUM_THREADS") && cores == sysconf(_SC_NPROCESSORS_ONLN))
        omp_set_num_threads(cores > processes ? cores / processes : 1);
}

int lm_threads_useful(uint64_t items, int each, int available)
{
    const uint64_t useful = items / (uint64_t)each;
    return useful < 1 ? 1 : useful < (uint64_t)available ? (int)useful : available;
}

void lm_threads_wait_briefly(char **argv)
{
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY") || length <= 0 || setenv("GOMP_SPINCOUNT", SPIN, 1))
        return;
    self[length] = 0;
    execv(self, argv); /* where this fails, threads spin for longer, and nothing else changes */
}
