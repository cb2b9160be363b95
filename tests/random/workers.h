/* Spreads cases over processes, so that a case that crashes or hangs counts as one that differs, and the others go on.
 * Processes are forked before anything uses CUDA, because CUDA does not survive a fork. */
#ifndef LARMOR_TESTS_RANDOM_WORKERS_H
#define LARMOR_TESTS_RANDOM_WORKERS_H

#include <stdint.h>

/* What a worker reports about a case. */
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
    /* cases first .. first + count - 1; a case that takes longer than `seconds` is ended */
    int first, count, jobs, seconds_each;
    void (*run)(void *context, int index, struct worker_report *report);
    void (*crashed)(void *context, int index, const char *how); /* called in the process of the caller */
    void *context;
};

/* Runs all cases. LM_FAILED: no processes. */
int workers_run(const struct worker_task *task, struct worker_total *total);

#endif
