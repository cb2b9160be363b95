/* What the ions of a species collide with in a step (larmor/physics/collisions/collide.h). */
#ifndef LARMOR_PHYSICS_COLLISIONS_COLLISION_STEP_H
#define LARMOR_PHYSICS_COLLISIONS_COLLISION_STEP_H

#include "larmor/physics/collisions/stopping_power.h"
#include "larmor/physics/numerics/random_keys.h"

struct lm_collisions {
    int gas;                 /* background field that is the medium; -1: n = 1, at rest */
    int moves;               /* 0: the gas is at rest as well */
    float dt, one_over_mass; /* 1/Omega_ci, 1/m_p */
    float half_mass;         /* m_p */
    float friction;          /* nu dt a unit of density */
    float lost;              /* 1 - exp(-friction), for the medium of density 1 */
    struct lm_stopping stopping;
    float power;         /* of scattering in a gas, beside the table's; rad^2 / (n0 d_i) */
    float variance;      /* of each projected angle in the medium of density 1, rad^2 */
    float tail2;         /* square of the sampled radius in sigmas */
    float section, rate; /* of charge exchange: dt sigma, dt k; v_A^-1/n0, 1/n0 */
    float thermal;       /* speed of the gas' atoms as ions of the species, v_A */
    int stops;           /* an ion with |v|^2 <= stopped2 has stopped */
    float stopped2;
    double cos_low, cos_high;           /* accepted cosines between v and B; beyond -1 and 1: no limit */
    int scatters, exchanges, has_pitch; /* 0: skip */
    uint64_t key;
    uint32_t scatter_key[LM_PHILOX_ROUNDS], exchange_key[LM_PHILOX_ROUNDS];
    int species;
};

#endif
