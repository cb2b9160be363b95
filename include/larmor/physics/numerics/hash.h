/* The fingerprint of a state: a 64-bit sum of hashes, so that the order of the particles does not matter.
 *
 * fingerprint = sum over particles of lm_hash_particle + sum over cells and fields of lm_hash_value + lm_hash_value of
 * the step, all modulo 2^64. Positions enter as integers relative to the domain, velocities and fields by their bits.
 */
#ifndef LARMOR_PHYSICS_NUMERICS_HASH_H
#define LARMOR_PHYSICS_NUMERICS_HASH_H

#include "larmor/physics/numerics/portable.h"

/* SplitMix64's finalizer (Steele, Lea and Flood 2014). */
LM_HD uint64_t lm_mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* A velocity component given as double; a float converts exactly, so both precisions hash alike. */
LM_HD uint64_t lm_hash_particle(int species, int64_t x, int64_t y, double u, double v, double w)
{
    uint64_t h = lm_mix((uint64_t)species);
    h = lm_mix(h ^ (uint64_t)x);
    h = lm_mix(h ^ (uint64_t)y);
    h = lm_mix(h ^ lm_bits(u));
    h = lm_mix(h ^ lm_bits(v));
    return lm_mix(h ^ lm_bits(w));
}

/* Value of field number `field` (its position in the checkpoint's list) in packed cell `cell` = j nx + i. */
LM_HD uint64_t lm_hash_value(int field, uint64_t cell, double value)
{
    return lm_mix(lm_mix(lm_mix((uint64_t)0x4c61726d6f72 + (uint64_t)(int64_t)field) ^ cell) ^ lm_bits(value));
}

/* The step enters as field number -1, cell 0. */
LM_HD uint64_t lm_hash_step(int64_t step)
{
    return lm_hash_value(-1, 0, (double)step);
}

#endif
