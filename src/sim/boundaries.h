/* Walls, bodies, what enters and what is taken out. */
#ifndef LARMOR_SIM_BOUNDARIES_H
#define LARMOR_SIM_BOUNDARIES_H

#include "sim/state.h"

/* Mask of the bodies and bins of the maps, for `setup` to lend to the backend. */
int lm_sim_surround(struct lm_sim *sim, struct lm_setup *setup);

/* Hands what lies beyond inflow sides to the backend: at the start, and what changes with time before each step. */
int lm_sim_begin_inflow(struct lm_sim *sim);
int lm_sim_update_inflow(struct lm_sim *sim);

/* Books the last step's tallies. LM_FAILED: loaded + injected = present + lost does not hold. */
int lm_sim_book(struct lm_sim *sim);

#endif
