/* Requests to stop a run, and whether a step under way may be given up for such a request.
 *
 * Requests come from signals (src/run/signals.c) and from the wall-time limit. The loop over steps checks for them
 * between two steps. Within a step the state is half old and half new, so a step may be given up only where a
 * checkpoint of its beginning exists. The run then calls lm_stop_allow, and the loops over substeps of both backends
 * check with lm_stop_now. The requests are global variables, because a signal handler can reach nothing else. */
#ifndef LARMOR_BASE_STOP_H
#define LARMOR_BASE_STOP_H

#include "larmor/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_STOP_TIME = -1 }; /* lm_stop_asked returns it where the time is over and no signal has come */

/* Records a request by a signal. The first signal counts. A signal handler may call this function. */
void lm_stop_ask(int signal);

/* Requests a stop as soon as lm_clock() is past `clock`; INFINITY: never. */
void lm_stop_at(double clock);

/* The first signal that came, LM_STOP_TIME, or 0: there is no request. */
int lm_stop_asked(void);

/* Says whether a step under way may be given up; it may not before the first call. */
void lm_stop_allow(int may);

/* Whether it may. */
int lm_stop_may(void);

/* Where many ranks share a step, all of them must give it up or none. `agree` returns the same request on all ranks for
 * the one of each, or 0. lm_stop_now calls it where the step may be given up. NULL: this process is alone again. */
void lm_stop_agree_by(int (*agree)(int asked));

/* 1 when the step may be given up and there is a request. The caller then returns lm_stop_give_up(). A call takes about
 * 50 ns. */
int lm_stop_now(void);

/* Returns LM_STOPPED and records the message. */
int lm_stop_give_up(void);

/* Removes all requests, before a new run. */
void lm_stop_reset(void);

#ifdef __cplusplus
}
#endif
#endif
