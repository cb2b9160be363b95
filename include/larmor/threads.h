/* How many CPU threads a process may have, how they wait for each other, and whether others need the cores. */
#ifndef LARMOR_THREADS_H
#define LARMOR_THREADS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Cores for this process, >= 1: OMP_NUM_THREADS or the cores that it may run on, and no more than the processor time
 * that its control group grants (containers, batch systems). */
int lm_threads_available(void);

/* Threads that have something to do where there are `items` pieces of work and a thread should have `each` at least:
 * from 1 to `most`. */
int lm_threads_fed(uint64_t items, int each, int most);

/* Lets threads that wait for each other sleep after some 0.1 ms; by default GNU OpenMP lets them spin for milliseconds,
 * on cores that others could use. GNU OpenMP reads its environment before main, so the program starts itself once more
 * with GOMP_SPINCOUNT set. A user's GOMP_SPINCOUNT or OMP_WAIT_POLICY stays as it is. Call it first in main. */
void lm_threads_wait_briefly(char **argv);

/* Whether others compete for the cores, judged by how often the kernel has taken a core away from this process. */
struct lm_threads_watch {
    double since; /* clock, s; 0: not begun */
    long taken;   /* involuntary context switches until then */
    int busy;     /* the result */
};

/* Looks again if some 0.1 s have passed. Returns 1 if it did. */
int lm_threads_look(struct lm_threads_watch *watch);

#ifdef __cplusplus
}
#endif
#endif
