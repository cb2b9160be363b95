/* Collisions of ions with a medium, which may be a background field. */
#ifndef LARMOR_SIM_COLLISIONS_H
#define LARMOR_SIM_COLLISIONS_H

#include "sim/step_limits.h"
#include "sim/state.h"

/* An upper bound of the speed after collisions and then a kick, for particles that without collisions would not be
 * faster than `before`; `kick`: the kick's part in that. NaN if `before` is NaN. */
double lm_sim_collided_speed(const struct lm_sim *sim, int species, double before, double kick);

/* In the step that begins; NULL: none. Valid until the next call. */
const struct lm_collisions *lm_sim_collisions(struct lm_sim *sim, int species);

/* Background fields take up what a species has given to its gas in the pass. */
int lm_sim_give(struct lm_sim *sim, int species);

#endif
