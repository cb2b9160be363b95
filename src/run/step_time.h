/* How long the steps of a run take, by some of them in memory. */
#ifndef LARMOR_RUN_STEP_TIME_H
#define LARMOR_RUN_STEP_TIME_H

#include "larmor/sim.h"

struct lm_step_time {
    double step;   /* s, the mean */
    int64_t steps; /* that were measured; 0 or less: too few */
};

/* Takes steps after lm_sim_begin until they have lasted for `seconds`, and at most `most` of them. The first one does
 * not count. LM_FAILED, LM_BAD_INPUT, LM_STOPPED: as in lm_sim_check and lm_sim_step. */
int lm_step_time_measure(struct lm_sim *sim, int64_t most, double seconds, struct lm_step_time *out);

#endif
