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

/* Of a field that is linear between the centres and the faces along an axis: the centre of the cell, the nearer face,
 * and their weights. The face has the number at which the stencil of the centres begins. */
struct lm_joined {
    int centre, face;
    lm_real on_centre, on_face;
};

/* `c`: lm_centre(1, x). The numbers are exact. */
LM_HD struct lm_joined lm_joined_of(lm_fix x, const struct lm_stencil *c)
{
    struct lm_joined j;
    j.centre = (int)(x >> LM_FRACTION_BITS);
    j.face = c->at;
    j.on_centre = lm_rabs(c->w[1] - c->w[0]);
    j.on_face = (lm_real)1 - j.on_centre;
    return j;
}

/* The value on a centre, with what is given on the faces below and above it; and on a face. */
LM_HD lm_real lm_on_centre(lm_real centre, lm_real face_below, lm_real face)
{
    return lm_rfma((lm_real)0.5, face_below + face, centre);
}

LM_HD lm_real lm_on_face(lm_real face, lm_real centre, lm_real centre_above)
{
    return lm_rfma((lm_real)0.5, centre + centre_above, face);
}

/* Products of the weights of the linear shape, by rows and columns. */
struct lm_corners {
    lm_real w[2][2];
};

LM_HD struct lm_corners lm_corners_of(const struct lm_stencil *x, const struct lm_stencil *y)
{
    const struct lm_corners c = {{{x->w[0] * y->w[0], x->w[1] * y->w[0]}, {x->w[0] * y->w[1], x->w[1] * y->w[1]}}};
    return c;
}

/* Gather with the linear shape; f: the first node of the stencil. */
LM_HD lm_real lm_gather_corners(const lm_real *f, int along, int across, const struct lm_corners *c)
{
    return lm_rfma(c->w[1][1], f[across + along],
                   lm_rfma(c->w[1][0], f[across], lm_rfma(c->w[0][1], f[along], c->w[0][0] * f[0])));
}

/* Position for the deposition: 24 fraction bits; |g| < 128 cells. */
LM_HD int32_t lm_fix24(lm_fix g)
{
    return (int32_t)(g >> (LM_FRACTION_BITS - 24));
}

#endif
