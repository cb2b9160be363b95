/* Keys for random numbers that are drawn for many particles in a step (larmor/physics/numerics/rng.h). */
#ifndef LARMOR_PHYSICS_NUMERICS_RANDOM_KEYS_H
#define LARMOR_PHYSICS_NUMERICS_RANDOM_KEYS_H

#include "larmor/physics/numerics/portable.h"

/* Rounds of Philox2x32-7, which passes all tests of the paper (Salmon et al. 2011). The implementation in Random123
 * takes three times as long on a GPU. The keys of the rounds follow from one key. */
enum { LM_PHILOX_ROUNDS = 7 };

#endif
