/* Limits of what a step can take that need no simulation. */
#ifndef LARMOR_SIM_STEP_LIMITS_H
#define LARMOR_SIM_STEP_LIMITS_H

#include "larmor/config.h"

/* A background field that needs more substeps in a step stops the run. */
#define LM_MOST_SUBSTEPS 1e6

/* --- src/sim/collisions.c --- */

/* How near a species comes to what a step can take, in a gas of density n, at speeds up to `speed`. */
struct lm_collision_limits {
    double exchange; /* probability of charge exchange in a step; an ion exchanges its charge once at most in a step */
    double angle;    /* root mean square in a plane in a step, rad */
    double cells;    /* stopping length of the fastest ions, in cells; infinite without stopping */
};
struct lm_collision_limits lm_collision_limits(const struct lm_species_config *s, const struct lm_grid *g, double dt,
                                               double n, double speed);

/* --- src/sim/ion_electron_heating.c --- */

/* x of larmor/physics/collisions/ion_electron_heating.h where n = 1 and T_e = 1, and the most it may be. */
double lm_exchange_at_one(const struct lm_config *config, int species);
double lm_exchange_most(const struct lm_config *config);

#endif
