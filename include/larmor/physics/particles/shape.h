/* Particle shapes along one axis: linear (cloud in cell, CIC) and quadratic (triangular-shaped cloud, TSC).
 *
 * Birdsall and Langdon, Plasma Physics via Computer Simulation (1985), section 8-8; Hockney and Eastwood, Computer
 * Simulation Using Particles (1988), chapter 5. A position g counts cells: cell i spans [i, i+1), node i of a centred
 * quantity lies at i + 1/2, and node i of a face quantity at i + 1. The stencil starts at node `at`. It has order + 1
 * weights, and their sum is 1 to round-off.
 *
 * There are two instances. lm_centre and lm_face are for the gather, in the precision of the particles. lm_centre24 and
 * lm_face24 are for the deposition. Its weights are rounded to 2^-16, so 24 bits of position and float weights are
 * enough in both precisions.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_SHAPE_H
#define LARMOR_PHYSICS_PARTICLES_SHAPE_H

#include "larmor/physics/particles/real.h"

/* The position within the cell, [0, 1), exact. In double precision it is made from the bits of 1 + f, because most
 * processors convert an int64 slowly or without vector instructions. */
LM_HD float lm_in_cell24(int32_t g)
{
    return (float)(g & 0xffffff) * (1.0f / 16777216.0f);
}

LM_HD lm_real lm_in_cell(lm_fix g)
{
#if LM_PRECISION == 32
    return lm_in_cell24(g);
#else
    return lm_from_bits(0x3ff0000000000000ull | ((uint64_t)g & (uint64_t)(LM_ONE - 1)) << 4) - 1.0;
#endif
}

#define LM_DEFINE_SHAPE(suffix, real, fix, bits)                                                                       \
    struct lm_stencil##suffix {                                                                                        \
        int at;                                                                                                        \
        real w[3];                                                                                                     \
    };                                                                                                                 \
    LM_HD struct lm_stencil##suffix lm_shape##suffix(int order, fix g)                                                 \
    {                                                                                                                  \
        struct lm_stencil##suffix s;                                                                                   \
        s.at = (int)(g >> (bits));                                                                                     \
        real f = lm_in_cell##suffix(g);                                                                                \
        real r = (real)1 - f;                                                                                          \
        if (order == 1) {                                                                                              \
            s.w[0] = r;                                                                                                \
            s.w[1] = f;                                                                                                \
            s.w[2] = 0;                                                                                                \
        } else {                                                                                                       \
            real d = f - (real)0.5;                                                                                    \
            s.w[0] = (real)0.5 * (r * r);                                                                              \
            s.w[1] = (real)0.75 - d * d;                                                                               \
            s.w[2] = (real)0.5 * (f * f);                                                                              \
        }                                                                                                              \
        return s;                                                                                                      \
    }                                                                                                                  \
    LM_HD struct lm_stencil##suffix lm_centre##suffix(int order, fix g)                                                \
    {                                                                                                                  \
        struct lm_stencil##suffix s = lm_shape##suffix(order, order == 1 ? g - ((fix)1 << ((bits)-1)) : g);            \
        s.at -= order == 1 ? 0 : 1;                                                                                    \
        return s;                                                                                                      \
    }                                                                                                                  \
    LM_HD struct lm_stencil##suffix lm_face##suffix(int order, fix g)                                                  \
    {                                                                                                                  \
        struct lm_stencil##suffix s = lm_shape##suffix(order, order == 1 ? g : g - ((fix)1 << ((bits)-1)));            \
        s.at -= 1;                                                                                                     \
        return s;                                                                                                      \
    }

LM_DEFINE_SHAPE(, lm_real, lm_fix, LM_FRACTION_BITS)
LM_DEFINE_SHAPE(24, float, int32_t, 24)

/* Position for the deposition: 24 fraction bits; |g| < 128 cells. */
LM_HD int32_t lm_fix24(lm_fix g)
{
    return (int32_t)(g >> (LM_FRACTION_BITS - 24));
}

#endif
