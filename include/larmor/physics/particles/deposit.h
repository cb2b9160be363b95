/* Deposition of density and current at the centres with the shape of the particle (shape.h). Every weight becomes an
 * integer, so that the sum over particles does not depend on their order.
 *
 * Density: a particle's charge is split into 2^16 = 65536 integer quanta, which are spread over the cell centres at
 * x^{n+1}. The last node receives the remainder, so the total charge is exact.
 *
 * Currents: w_i v 2^16 / v_bound at x^{n+1/2}. v_bound is a power of two >= every |v| of the species in this step
 * (larmor/physics/numerics/bounds.h), so a node receives at most 2^16 quanta. The quanta are rounded up or down at
 * random, with the right mean: otherwise a velocity far below v_bound, the same for all particles, would be lost. The
 * dither that decides is a hash of the position in the cell, with the sign of v. So a quiet start stays uniform and
 * without current.
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

/* A dither in [0, 1), from the 24 fraction bits of the position in the cell. */
LM_HD float lm_dither(int32_t x24, int32_t y24)
{
    uint32_t h = ((uint32_t)x24 & 0xffffffu) * 0x9e3779b1u ^ ((uint32_t)y24 & 0xffffffu) * 0x85ebca6bu;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    return (float)(h >> 8) * (1.0f / 16777216.0f);
}

/* ADD(component, i, j, quanta) is how a backend adds to node (i, j); dither has the sign of amount. */
#define LM_SPREAD(order, component, sx, sy, amount, dither, ADD)                                                       \
    LM_UNROLL                                                                                                          \
    for (int b_ = 0; b_ <= (order); b_++)                                                                              \
        LM_UNROLL                                                                                                      \
    for (int a_ = 0; a_ <= (order); a_++)                                                                              \
    ADD(component, (sx).at + a_, (sy).at + b_, lm_trunc32(lm_fmaf((sx).w[a_] * (sy).w[b_], amount, dither)))

/* Deposits the density of one particle at (x, y), 24 fraction bits. */
#define LM_DEPOSIT_DENSITY(order, x24, y24, ADD)                                                                       \
    do {                                                                                                               \
        struct lm_stencil24 sx_ = lm_centre24(order, x24), sy_ = lm_centre24(order, y24);                              \
        int32_t rest_ = LM_CHARGE_QUANTA;                                                                              \
        LM_UNROLL                                                                                                      \
        for (int b_ = 0; b_ <= (order); b_++) {                                                                        \
            float row_ = sy_.w[b_] * (float)LM_CHARGE_QUANTA;                                                          \
            LM_UNROLL                                                                                                  \
            for (int a_ = 0; a_ <= (order); a_++) {                                                                    \
                int32_t quanta_ = a_ + b_ == 2 * (order) ? rest_ : lm_round32(sx_.w[a_] * row_);                       \
                rest_ -= quanta_;                                                                                      \
                ADD(LM_DENSITY, sx_.at + a_, sy_.at + b_, quanta_);                                                    \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

/* Deposits the current of one particle at (x, y) with velocity (vx, vy, vz); scale = 2^16 / v_bound. */
#define LM_DEPOSIT_CURRENT(order, x24, y24, vx, vy, vz, scale, ADD)                                                    \
    do {                                                                                                               \
        struct lm_stencil24 cx_ = lm_centre24(order, x24), cy_ = lm_centre24(order, y24);                              \
        float jx_ = (float)(vx) * (scale), jy_ = (float)(vy) * (scale), jz_ = (float)(vz) * (scale);                   \
        float d_ = lm_dither(x24, y24);                                                                                \
        LM_SPREAD(order, LM_CURRENT_X, cx_, cy_, jx_, lm_sign(d_, jx_), ADD);                                          \
        LM_SPREAD(order, LM_CURRENT_Y, cx_, cy_, jy_, lm_sign(d_, jy_), ADD);                                          \
        LM_SPREAD(order, LM_CURRENT_Z, cx_, cy_, jz_, lm_sign(d_, jz_), ADD);                                          \
    } while (0)

#endif
