/* What drives the plasma from outside: currents of coils and magnets, and E that changes with time. */
#ifndef LARMOR_SIM_DRIVING_H
#define LARMOR_SIM_DRIVING_H

#include "sim/state.h"

/* Compiles the expressions of the configuration for the backend, into sim->driving, which stays NULL where nothing
 * drives the plasma. LM_BAD_INPUT: an expression cannot be compiled. */
int lm_sim_make_driving(struct lm_sim *sim);

/* Puts the current of magnets and of coils whose current does not change. `work` has 5 arrays. */
int lm_sim_put_magnets(struct lm_sim *sim, double *work);

/* The driving at time t, where there is one; with `again`, only what changes with time. */
int lm_sim_drive(struct lm_sim *sim, double t, int again);

#endif
