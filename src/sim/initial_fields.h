/* Fields of the configuration that a start and a restart hand to the backend. `work`: arrays of the grid. */
#ifndef LARMOR_SIM_INITIAL_FIELDS_H
#define LARMOR_SIM_INITIAL_FIELDS_H

#include "sim/state.h"

/* E of the configuration, into LM_E and LM_PUSH_E: all of E without a field solver; with a solver, the E that is
 * prescribed beyond sides. `work` has 4 arrays. */
int lm_sim_put_e(struct lm_sim *sim, double *work);

/* B at t = 0 into LM_B. `b` has its arrays afterwards where lm_sim_put_push_b or a species reads them. */
int lm_sim_put_b(struct lm_sim *sim, double *b[3]);

/* Without a field solver: LM_PUSH_B of B with its ghosts. `work` has 1 array. */
int lm_sim_put_push_b(struct lm_sim *sim, double *const b[3], double *work);

/* What the ions feel, into LM_E, for an output after a restart and before the first step. `work` has 3 arrays. */
int lm_sim_show_push_e(struct lm_sim *sim, double *work);

/* The resistivity, and whether it heats electrons. `work` has 1 array. */
int lm_sim_put_eta(struct lm_sim *sim, double *work);

/* Without a field solver a checkpoint knows nothing of B behind walls: that B comes from the configuration, and
 * LM_PUSH_B from it. `work` has 1 array. */
int lm_sim_put_b_behind_walls(struct lm_sim *sim, double *work);

#endif
