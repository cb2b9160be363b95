/* Parameters of the collisions of one species in one step (larmor/physics/collisions/collide.h). The unit of length is
 * d_i, of time 1/Omega_ci, of density n0, of velocity v_A, of mass m_p. */
#ifndef LARMOR_PHYSICS_COLLISIONS_COLLISION_STEP_H
#define LARMOR_PHYSICS_COLLISIONS_COLLISION_STEP_H

#include "larmor/physics/collisions/stopping_power.h"
#include "larmor/physics/numerics/random_keys.h"

struct lm_collisions {
    int gas;                 /* index of the background field that is the gas; -1: a medium of density 1, at rest */
    int moves;               /* the gas has a velocity */
    float dt, one_over_mass; /* 1/Omega_ci, 1/m_p */
    float half_mass;         /* m_p */
    float friction;          /* nu dt of a gas of density 1 */
    float fraction_lost;     /* 1 - exp(-friction): the fraction of the velocity lost in the medium of density 1 */
    struct lm_stopping stopping;
    float scattering_power;   /* d<theta^2>/ds in a gas of density 1, beside the table's; rad^2 / (n0 d_i) */
    float variance;           /* of each projected angle of scattering in the medium of density 1, rad^2 */
    float tail2;              /* square of the largest sampled angle, in variances */
    float exchange_section;   /* cross-section of charge exchange times dt, 1 / (v_A n0) */
    float exchange_rate;      /* rate coefficient of charge exchange times dt, 1 / n0 */
    float thermal;            /* thermal speed of the gas atoms, v_A */
    int stops;                /* ions with |v|^2 <= stopped2 are taken out */
    float stopped2;           /* v_A^2 */
    double cos_low, cos_high; /* range of the cosine of the angle between v and B; beyond -1 and 1: no limit */
    int scatters, exchanges, has_pitch; /* which of these processes there are; has_pitch: the limits on the cosine */
    uint64_t key;                       /* of the step's random numbers */
    uint32_t scatter_key[LM_PHILOX_ROUNDS], exchange_key[LM_PHILOX_ROUNDS];
    int species;
};

#endif
