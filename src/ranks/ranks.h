/* Ranks: the processes of one run, which MPI has started together. A program that no MPI has started, or that was built
 * without MPI, is the only rank, number 0, and none of these functions does anything.
 *
 * The functions are collective: every rank calls them in the same order. Not collective are lm_ranks_abort, the
 * functions that return what this rank already knows, and those whose comments say so. None returns an error. A rank
 * that cannot go on ends all of them with lm_ranks_abort. A rank that waits for another one longer than
 * lm_ranks_set_limit allows does so too, so that no run hangs.
 */
#ifndef LARMOR_RANKS_RANKS_H
#define LARMOR_RANKS_RANKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts MPI if it has started this program. Call it once, at first. */
void lm_ranks_begin(void);

/* Ends MPI. */
void lm_ranks_end(void);

int lm_rank(void);
int lm_rank_count(void);

/* The number of ranks on the machine of this rank, and the number of this rank among them, from 0 on. */
int lm_ranks_here(void);
int lm_rank_here(void);

/* A backend may take the first of the ranks only: `count` of those that MPI has started (0: all). For tests; of rank 0.
 * The number that the next backend takes. */
void lm_ranks_use(int count);
int lm_ranks_used(void);

/* Estimates are made for so many ranks, each alone on its machine; 0: for the ranks that there are. */
void lm_ranks_plan(int count);
int lm_ranks_planned(void);

/* The ranks that share a run: those of the plan, or those that the next backend takes. */
int lm_ranks_expected(void);

/* Until lm_ranks_leave the functions below concern the first `count` ranks only. The others return at once and leave,
 * too. */
void lm_ranks_enter(int count);
void lm_ranks_leave(void);

/* The number of processes that a launcher of MPI has started together, as far as the environment tells; 0: there is no
 * launcher. A program need not have begun MPI to ask. */
int lm_ranks_launched(void);

/* The version of MPI, or NULL where the program was built without it. */
const char *lm_ranks_library(void);

/* Seconds that a rank waits for another one. */
void lm_ranks_set_limit(double seconds);

/* For loops that wait for another rank by themselves: ends all ranks where the wait that began at lm_clock() == `begin`
 * has lasted longer than that. Not collective. */
void lm_ranks_check_wait(double begin);

/* Ends all ranks with an exit code. The message goes to stderr and says which rank it comes from. */
void lm_ranks_abort(int code, const char *message) __attribute__((noreturn));

/* Hands data from rank 0 to all. */
void lm_ranks_broadcast(void *data, size_t size);

/* Merges the data of all ranks, two at a time and in any order; all ranks get the result. */
typedef void lm_merge(void *to, const void *from);
void lm_ranks_reduce(void *data, size_t size, lm_merge *merge);

/* Reductions of numbers. */
uint64_t lm_ranks_largest(uint64_t value);
int64_t lm_ranks_sum(int64_t value);

/* The values of all ranks: all[lm_rank_count()]. */
void lm_ranks_gather(uint64_t value, uint64_t *all);

/* Data that goes to another rank or comes from one. Of several messages between two ranks in one exchange the first one
 * sent is the first one received. */
struct lm_message {
    int peer;
    size_t size;
    void *data;
};

/* Sends and receives messages. Not collective: only the ranks that the messages name take part. */
void lm_ranks_exchange(const struct lm_message *out, int out_count, const struct lm_message *in, int in_count);

/* What this rank has done in these functions since the start. */
struct lm_ranks_traffic {
    double seconds;         /* spent in them */
    double bytes, messages; /* sent by lm_ranks_exchange */
    double collectives;     /* broadcasts, reductions and gatherings */
};
struct lm_ranks_traffic lm_ranks_traffic(void);

/* Adds what this rank has done by other means than these functions. Not collective. */
void lm_ranks_add_traffic(double seconds, double bytes, double messages);

#ifdef __cplusplus
}
#endif
#endif
