/* How many CPU threads a process may have, and how they wait for each other. */
#ifndef LARMOR_BASE_THREADS_H
#define LARMOR_BASE_THREADS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Cores for this process, >= 1: OMP_NUM_THREADS or the cores that it may run on, and no more than the processor time
 * that its control group grants (containers, batch systems). */
int lm_threads_available(void);

/* Threads that have something to do where there are `items` pieces of work and a thread should have `each` at least:
 * from 1 to `most`. */
int lm_threads_useful(uint64_t items, int each, int most);

/* Lets threads that wait for each other sleep after some 0.05 ms; by default GNU OpenMP lets them spin for
 * milliseconds, on cores that others could use. GNU OpenMP reads its environment before main, so the program starts
 * itself once more with GOMP_SPINCOUNT set. A user's GOMP_SPINCOUNT or OMP_WAIT_POLICY stays as it is. Call it first in
 * main. */
void lm_threads_wait_briefly(char **argv);

#ifdef __cplusplus
}
#endif
#endif
