/* Ions exchange heat with electrons whose pressure is evolved; nothing happens where none do. */
#ifndef LARMOR_SIM_ION_ELECTRON_HEATING_H
#define LARMOR_SIM_ION_ELECTRON_HEATING_H

#include "sim/step_limits.h"
#include "sim/state.h"

/* How far the next step's exchange can go, from the state as it stands. */
int lm_sim_bound_exchange(struct lm_sim *sim);

/* The largest |v|^2 after it. */
double lm_sim_exchanged_speed2(const struct lm_sim *sim, int species);

/* The exchange of all species in the step that begins, with the tallies of sim->pass. */
int lm_sim_exchange(struct lm_sim *sim);

#endif
