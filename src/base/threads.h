/* How many CPU threads a process may have, and how they wait for each other. */
#ifndef LARMOR_BASE_THREADS_H
#define LARMOR_BASE_THREADS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of threads for this process, >= 1: OMP_NUM_THREADS, or the cores on which the process may run, but no more
 * than the processor time that its control groups grant (containers, batch systems). */
int lm_threads_available(void);

/* So many threads as are asked for; where that is 0, all that are available. */
int lm_threads_wanted(int asked);

/* The processor time that the control groups grant, in cores; HUGE_VAL: there is no limit. The files are those below
 * `root`/proc and `root`/sys; `root` is "", or a folder of a test. */
double lm_threads_quota_at(const char *root);

/* Takes the share of one of so many processes on this machine, unless the system has given each its own cores, or
 * OMP_NUM_THREADS says how many threads there are. */
void lm_threads_share(int processes);

/* The number of threads that have enough to do, from 1 to `available`: each thread gets at least `each` of the `items`.
 */
int lm_threads_useful(uint64_t items, int each, int available);

/* Lets a thread that waits for others sleep after about 0.05 ms. By default GNU OpenMP lets such a thread spin for
 * milliseconds on a core that others could use. GNU OpenMP reads its environment before main, so the program starts
 * itself once more with GOMP_SPINCOUNT set. A user's GOMP_SPINCOUNT or OMP_WAIT_POLICY stays as it is. main calls this
 * function first. */
void lm_threads_wait_briefly(char **argv);

#ifdef __cplusplus
}
#endif
#endif
