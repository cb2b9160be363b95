/* Sources of ions within the domain. */
#ifndef LARMOR_SIM_IONISATION_H
#define LARMOR_SIM_IONISATION_H

#include "sim/state.h"

/* Hands the sources to the backend: at the start or after a restart, when the background fields are there, and what
 * changes with time before each step. LM_BAD_INPUT: an expression is not finite, or negative where it must not be. */
int lm_sim_begin_ionisation(struct lm_sim *sim);
int lm_sim_update_ionisation(struct lm_sim *sim);

/* Bounds for the next step, from the gases as they are. LM_FAILED: too many would be born in a cell. */
int lm_sim_bound_ionisation(struct lm_sim *sim);

/* Upper bounds for newborn ions of a species: their speed, and how many the next step can create. */
double lm_sim_birth_speed(const struct lm_sim *sim, int species);
uint64_t lm_sim_most_births(const struct lm_sim *sim, int species);

/* Births of a species in the step that is under way, after its pass. */
int lm_sim_ionise(struct lm_sim *sim, int species);

#endif
