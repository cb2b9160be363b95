/* Fields of the configuration that a start and a restart hand to the backend. `work`: arrays of the grid. */
#ifndef LARMOR_SIM_INITIAL_FIELDS_H
#define LARMOR_SIM_INITIAL_FIELDS_H

#include "sim/state.h"

/* E of the configuration, into LM_E and its neighbours: all of E without a field solver; with a solver, the E that is
 * prescribed beyond sides. `restored`: inside the domain the push has its E already, and LM_E shows that E before the
 * first step. `work` has 5 arrays. */
int lm_sim_put_e(struct lm_sim *sim, int restored, double *work);

/* The resistivity, and whether it heats electrons. `work` has 1 array. */
int lm_sim_put_eta(struct lm_sim *sim, double *work);

/* Without a field solver a checkpoint knows nothing of B behind walls: that B comes from the configuration. `work` has
 * 1 array. */
int lm_sim_put_b_behind_walls(struct lm_sim *sim, double *work);

#endif
