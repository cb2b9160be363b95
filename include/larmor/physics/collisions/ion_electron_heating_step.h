/* The parameters of the exchange of heat of a species with the electrons in a step
 * (larmor/physics/collisions/ion_electron_heating.h). */
#ifndef LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_STEP_H
#define LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_STEP_H

#include "larmor/physics/numerics/random_keys.h"

struct lm_exchange {
    double rate; /* x where n = 1 and T_e = 1 */
    double most; /* upper limit of x: T_e is constant during the exchange, and must not pass T_i */
    double mass;
    double unit; /* of the sums of velocities, 1/v_A: a power of two; |v| unit <= 2^33 for all ions */
    uint32_t keys[2][LM_PHILOX_ROUNDS]; /* for two pairs of random numbers per ion and step */
};

#endif
