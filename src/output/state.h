/* What outputs read of the state of a simulation. */
#ifndef LARMOR_OUTPUT_STATE_H
#define LARMOR_OUTPUT_STATE_H

#include "larmor/sim.h"

/* The three arrays of B, one after the other, with their ghost cells beyond periodic sides. The caller frees them.
 * LM_FAILED: no memory; *b is NULL. */
int lm_output_b(struct lm_sim *sim, const struct lm_grid *grid, double **b);

/* The threads that have enough to do in a loop over the cells. */
int lm_output_threads(const struct lm_config *config);

#endif
