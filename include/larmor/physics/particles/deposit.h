/* Deposition: every weight becomes an integer, so that the sum over particles has no order.
 *
 * Density: a particle is 2^16 parts at x^{n+1}, spread over the cell centres; the last weight is what is missing to
 * 2^16, so the total charge is exact. Currents: w_i v 2^16 / vcap at x^{n+1/2}, J_x on x-faces, J_y on y-faces, J_z at
 * centres; vcap is a power of two >= every |v| of the species in this step (larmor/physics/numerics/bounds.h), so
 * |part| <= 2^16. They are rounded up or down with the probability that keeps the mean: a velocity far below vcap,
 * alike in all particles, would be lost otherwise. The dither comes from the particle's place in its cell and is odd in
 * v: a quiet start stays uniform and without current.
 *
 * LM_CHUNK particles at most are summed in int32 before they are added to the int64 grid: 2^14 (2^16 + 1) < 2^31,
 * overflow cannot happen. The int64 sums hold 2^47 particles in one cell.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_DEPOSIT_H
#define LARMOR_PHYSICS_PARTICLES_DEPOSIT_H

#include "larmor/physics/particles/shape.h"
#include "larmor/physics/particles/tiling.h"

enum { LM_CHUNK = 1 << 14 };
enum { LM_DENSITY, LM_CURRENT_X, LM_CURRENT_Y, LM_CURRENT_Z, LM_MOMENTS };

/* In [0, 1), from the 24 fraction bits of the place in the cell. */
LM_HD float lm_dither(int32_t x24, int32_t y24)
{
    uint32_t h = ((uint32_t)x24 & 0xffffffu) * 0x9e3779b1u ^ ((uint32_t)y24 & 0xffffffu) * 0x85ebca6bu;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    return (float)(h >> 8) * (1.0f / 16777216.0f);
}

/* ADD(component, i, j, parts) is how a backend adds to node (i, j); dither has the sign of amount. */
#define LM_SPREAD(order, component, sx, sy, amount, dither, ADD)                                                       \
    LM_UNROLL                                                                                                          \
    for (int b_ = 0; b_ <= (order); b_++)                                                                              \
        LM_UNROLL                                                                                                      \
    for (int a_ = 0; a_ <= (order); a_++)                                                                              \
    ADD(component, (sx).at + a_, (sy).at + b_, lm_trunc32(lm_fmaf((sx).w[a_] * (sy).w[b_], amount, dither)))

/* Density of one particle at (x, y), 24 fraction bits. */
#define LM_DEPOSIT_DENSITY(order, x24, y24, ADD)                                                                       \
    do {                                                                                                               \
        struct lm_stencil24 sx_ = lm_centre24(order, x24), sy_ = lm_centre24(order, y24);                              \
        int32_t rest_ = LM_CHARGE_QUANTA;                                                                              \
        LM_UNROLL                                                                                                      \
        for (int b_ = 0; b_ <= (order); b_++) {                                                                        \
            float row_ = sy_.w[b_] * (float)LM_CHARGE_QUANTA;                                                          \
            LM_UNROLL                                                                                                  \
            for (int a_ = 0; a_ <= (order); a_++) {                                                                    \
                int32_t part_ = a_ + b_ == 2 * (order) ? rest_ : lm_round32(sx_.w[a_] * row_);                         \
                rest_ -= part_;                                                                                        \
                ADD(LM_DENSITY, sx_.at + a_, sy_.at + b_, part_);                                                      \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

/* Current of one particle at (x, y) with velocity (u, v, w); scale = 2^16 / vcap. */
#define LM_DEPOSIT_CURRENT(order, x24, y24, u, v, w, scale, ADD)                                                       \
    do {                                                                                                               \
        struct lm_stencil24 cx_ = lm_centre24(order, x24), cy_ = lm_centre24(order, y24);                              \
        struct lm_stencil24 fx_ = lm_face24(order, x24), fy_ = lm_face24(order, y24);                                  \
        float ju_ = (float)(u) * (scale), jv_ = (float)(v) * (scale), jw_ = (float)(w) * (scale);                      \
        float d_ = lm_dither(x24, y24);                                                                                \
        LM_SPREAD(order, LM_CURRENT_X, fx_, cy_, ju_, lm_sign(d_, ju_), ADD);                                          \
        LM_SPREAD(order, LM_CURRENT_Y, cx_, fy_, jv_, lm_sign(d_, jv_), ADD);                                          \
        LM_SPREAD(order, LM_CURRENT_Z, cx_, cy_, jw_, lm_sign(d_, jw_), ADD);                                          \
    } while (0)

#endif
