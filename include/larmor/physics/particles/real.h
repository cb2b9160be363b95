/* The precision of particles. A source that works on particles is compiled twice, with LM_PRECISION 32 and 64.
 *
 * Positions are fixed-point integers in units of 2^-LM_FRACTION_BITS cells, relative to the home tile of the particle.
 * So a change of the tile, periodic wrapping and reflection are exact, and the bits of a run depend neither on the
 * tiles nor on the size of the domain.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_REAL_H
#define LARMOR_PHYSICS_PARTICLES_REAL_H

#include "larmor/physics/numerics/portable.h"

#if LM_PRECISION == 32
typedef float lm_real;
typedef int32_t lm_fix;
typedef uint32_t lm_ufix;
#define LM_FRACTION_BITS 24
#define LM_P(name) name##_f32
#elif LM_PRECISION == 64
typedef double lm_real;
typedef int64_t lm_fix;
typedef uint64_t lm_ufix;
#define LM_FRACTION_BITS 48
#define LM_P(name) name##_f64
#else
#error "compile with -DLM_PRECISION=32 or 64"
#endif

#define LM_ONE ((lm_fix)1 << LM_FRACTION_BITS) /* one cell */
#define LM_HALF (LM_ONE >> 1)
#define LM_GONE                                                                                                        \
    ((lm_fix)((lm_ufix)1 << (8 * sizeof(lm_fix) - 1))) /* x of a particle that has left, until the next sort */

LM_HD lm_real lm_rfma(lm_real a, lm_real b, lm_real c)
{
#if LM_PRECISION == 32
    return lm_fmaf(a, b, c);
#else
    return lm_fma(a, b, c);
#endif
}

/* The bits of non-negative numbers order as they do, and NaN stands above all. */
LM_HD lm_ufix lm_real_bits(lm_real x)
{
    lm_ufix b;
    memcpy(&b, &x, sizeof b);
    return b;
}

LM_HD lm_real lm_real_from_bits(lm_ufix b)
{
    lm_real x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* |x| */
LM_HD lm_real lm_rabs(lm_real x)
{
    return lm_real_from_bits(lm_real_bits(x) & ~((lm_ufix)1 << (8 * sizeof x - 1)));
}

/* The integer nearest to a b, ties to even: in double to the exact product, |a b| <= 2^51, the LM_MAX_CELLS of a step;
 * in single to the product as a float. */
LM_HD lm_fix lm_round_product(lm_real a, lm_real b)
{
#if LM_PRECISION == 32
    return lm_round32(a * b);
#else
    return lm_round51_of(a, b);
#endif
}

#endif
