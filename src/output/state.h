/* What outputs read of the state of a simulation. */
#ifndef LARMOR_OUTPUT_STATE_H
#define LARMOR_OUTPUT_STATE_H

#include "larmor/sim.h"

/* The three arrays of B, one after the other, with their ghost cells beyond periodic sides. The caller frees them.
 * LM_FAILED: no memory; *b is NULL. */
int lm_output_b(struct lm_sim *sim, const struct lm_grid *grid, double **b);

/* Calls `each` for every particle of a species: its position [d_i], and its velocity [v_A] half a step back. LM_FAILED:
 * no memory. */
typedef void lm_particle_visitor(void *context, double x, double y, const double v[3]);
int lm_output_each_particle(struct lm_sim *sim, int species, lm_particle_visitor *each, void *context);

#endif
