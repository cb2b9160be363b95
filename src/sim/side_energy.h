/* The energy that fields and electrons carry through the sides (larmor/physics/fields/side_energy.h). */
#ifndef LARMOR_SIM_SIDE_ENERGY_H
#define LARMOR_SIM_SIDE_ENERGY_H

#include "checkpoint/checkpoint.h"
#include "sim/state.h"

/* Where something crosses a side, before lm_control is taken: what it needs, of the state at the level called OLD. */
int lm_sim_survey_sides(struct lm_sim *sim);

/* After that: the state at t = 0; and a step, by the trapezoidal rule. A wave that turns within a step makes a noise:
 * the trapezoids are off by half of what the power differs by between two steps. */
void lm_sim_begin_sides(struct lm_sim *sim);
void lm_sim_book_sides(struct lm_sim *sim);

/* The state of a checkpoint. One of an earlier version does not say what has crossed the sides: where anything can, its
 * energy_scale becomes NaN, for the budget is not known. */
void lm_sim_take_sides(struct lm_sim *sim, struct lm_checkpoint *head);

#endif
