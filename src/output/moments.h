/* Moments of the velocity of a species on the grid: sums over its particles with their shape, in integers, so that they
 * do not depend on the order of the particles. */
#ifndef LARMOR_OUTPUT_MOMENTS_H
#define LARMOR_OUTPUT_MOMENTS_H

#include "larmor/sim.h"

/* Fills the arrays that are not NULL, [ny][nx] at the centres of the cells. Positions are those of the present step,
 * velocities half a step back. What the shape of a particle puts beyond a wall counts in the cell at the wall. Cells of
 * bodies have 0. LM_FAILED: no memory. */
int lm_moments_collect(struct lm_sim *sim, const struct lm_config *config, int species,
                       double *const out[LM_MOMENT_COUNT]);

#endif
