/* How the ions of a species exchange heat with the electrons in a step
 * (larmor/physics/collisions/ion_electron_heating.h). */
#ifndef LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_STEP_H
#define LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_STEP_H

#include "larmor/physics/numerics/random_keys.h"

struct lm_exchange {
    double rate; /* x where n = 1 and T_e = 1 */
    double most; /* of x anywhere: T_e stands still meanwhile, and must not come to lie beyond T_i */
    double mass;
    double unit; /* of the sums of velocities, 1/v_A: a power of two that makes the fastest ion's at most 2^33 */
    uint32_t keys[2][LM_PHILOX_ROUNDS]; /* of the step's random numbers: two pairs for an ion */
};

#endif
