/* Cases spread over processes, so that one that crashes or hangs is a case that differs and no more.
 *
 * Processes are forked before anything touches CUDA, which does not survive that. */
#ifndef LARMOR_TESTS_RANDOM_WORKERS_H
#define LARMOR_TESTS_RANDOM_WORKERS_H

#include <stdint.h>

/* What a worker reports of a case. */
struct worker_report {
    int index;
    int begins; /* 1: it begins; 0: it has ended, and the rest says how */
    int differs, broken, stopped, ways, refused;
    double seconds;
};

struct worker_total {
    int cases, different, broken, stopped, crashed;
    int64_t ways, refused;
    double seconds;
};

struct worker_task {
    int first, count, jobs, seconds_each; /* cases first .. first + count - 1; after that time one is ended */
    void (*run)(void *context, int index, struct worker_report *report);
    void (*crashed)(void *context, int index, const char *how); /* in the process that has called */
    void *context;
};

/* Runs all cases. LM_FAILED: no processes. */
int workers_run(const struct worker_task *task, struct worker_total *total);

#endif
