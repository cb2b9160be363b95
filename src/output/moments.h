/* Moments of the velocity of a species on the grid: sums over its particles with their shape, in integers, so that they
 * do not depend on the order of the particles. */
#ifndef LARMOR_OUTPUT_MOMENTS_H
#define LARMOR_OUTPUT_MOMENTS_H

#include "larmor/sim.h"

/* n; n <v_i>; n <v_i v_j> for xx, yy, zz, xy, xz, yz; n <v_i v^2>. In n0 v_A^p. */
enum lm_moment {
    LM_MOMENT_1,
    LM_MOMENT_V,
    LM_MOMENT_VV = LM_MOMENT_V + 3,
    LM_MOMENT_VVV = LM_MOMENT_VV + 6,
    LM_MOMENT_COUNT = LM_MOMENT_VVV + 3
};

/* Fills the arrays that are not NULL, [ny][nx] at the centres of the cells. Positions are those of the present step,
 * velocities half a step back. What the shape of a particle puts beyond a wall counts in the cell at the wall. Cells of
 * bodies have 0. LM_FAILED: no memory. */
int lm_moments_collect(struct lm_sim *sim, const struct lm_config *config, int species,
                       double *const out[LM_MOMENT_COUNT]);

#endif
