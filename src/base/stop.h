/* Whether the program has been asked to stop, and whether the work under way may be given up for that.
 *
 * Signals (src/run/signals.c) and the wall-time limit ask. The loop over steps looks between steps. Within a step the
 * state is half old and half new, so a step may be given up only where a checkpoint of its beginning exists: the run
 * says so with lm_stop_allow, and the loops over substeps of both backends look with lm_stop_now. There is one state
 * for the whole program, because a signal handler can reach nothing else. */
#ifndef LARMOR_BASE_STOP_H
#define LARMOR_BASE_STOP_H

#include "larmor/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_STOP_TIME = -1 }; /* what lm_stop_asked returns where the time is over and no signal has come */

/* Asks for an end on behalf of a signal; the first one stays. It may be called by a signal handler. */
void lm_stop_ask(int signal);

/* Asks for an end as soon as lm_clock() is past `clock`; INFINITY: never. */
void lm_stop_at(double clock);

/* The signal that has asked first, LM_STOP_TIME, or 0: nobody has asked. */
int lm_stop_asked(void);

/* Whether work under way may be given up; it may not before the first call. */
void lm_stop_allow(int may);

/* 1 when work may be given up and somebody has asked. It costs some 50 ns. The caller then returns lm_stop_give_up().
 */
int lm_stop_now(void);

/* Returns LM_STOPPED, with a message. */
int lm_stop_give_up(void);

/* Forgets everything, for a new run. */
void lm_stop_reset(void);

#ifdef __cplusplus
}
#endif
#endif
