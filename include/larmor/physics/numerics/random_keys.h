/* Keys of random numbers that are drawn many times in a step (larmor/physics/numerics/rng.h). */
#ifndef LARMOR_PHYSICS_NUMERICS_RANDOM_KEYS_H
#define LARMOR_PHYSICS_NUMERICS_RANDOM_KEYS_H

#include "larmor/physics/numerics/portable.h"

/* Philox2x32-7, enough to pass all tests of the paper: Random123's own takes three times as long on a GPU. The keys of
 * its rounds follow from its key. */
enum { LM_PHILOX_ROUNDS = 7 };

#endif
