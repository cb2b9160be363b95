/* Slowing down and scattering of an ion, and the limits beyond which it is taken out.
 *
 * Slowing: v exp(-nu dt), exact. Scattering: a turn by an angle whose projections on two planes are normal, of variance
 * d<theta^2>/dt dt each: small-angle scattering (Jackson, Classical Electrodynamics, section 13.6). The tail beyond so
 * many sigmas is not sampled: such ions are taken out.
 */
#ifndef LARMOR_PHYSICS_LOSSES_H
#define LARMOR_PHYSICS_LOSSES_H

#include "larmor/physics/elementary.h"
#include "larmor/physics/surface.h"

/* Of one species in one step. */
struct lm_losses {
    double keep;              /* factor of the speed in a step */
    double angle, tail2;      /* sigma of each projected angle, rad; square of the sampled radius in sigmas */
    double stopped2;          /* |v|^2 below which it has stopped */
    double cos_low, cos_high; /* accepted cosines between v and B; beyond -1 and 1: no limit */
    int scatters, has_pitch;  /* 0: skip */
    uint64_t key;
    int species;
};

/* Turns v by the angles (a, b) in two planes across it. */
LM_HD void lm_turn(double v[3], double a, double b)
{
    const double across = v[0] * v[0] + v[1] * v[1], size = lm_sqrt(across + v[2] * v[2]),
                 theta = lm_sqrt(a * a + b * b);
    if (size == 0.0 || theta == 0.0)
        return;
    const double h = lm_sqrt(across), c = lm_cos(theta), s = lm_sin(theta) * size / theta;
    const double e[3] = {h > 0.0 ? -v[1] / h : 1.0, h > 0.0 ? v[0] / h : 0.0, 0.0}; /* across v; f = v/|v| x e */
    const double f[3] = {-v[2] * e[1] / size, v[2] * e[0] / size, (v[0] * e[1] - v[1] * e[0]) / size};
    for (int d = 0; d < 3; d++)
        v[d] = c * v[d] + s * (a * e[d] + b * f[d]);
}

/* One ion with B around it; the channel that takes it, or -1. `identity` as in lm_fly. */
LM_HD int lm_lose(const struct lm_losses *l, double v[3], const double b[3], uint64_t identity)
{
    for (int d = 0; d < 3; d++)
        v[d] *= l->keep;
    if (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < l->stopped2)
        return LM_ENERGY_STOPPED;
    if (l->scatters) {
        const struct lm_random r =
            lm_random_at(l->key, l->species, LM_STREAM_SCATTER, (uint32_t)identity, (uint32_t)(identity >> 32));
        const double g = lm_normal(lm_uniform(r.a)), h = lm_normal(lm_uniform(r.b));
        if (g * g + h * h > l->tail2)
            return LM_THETA_CUTOFF;
        lm_turn(v, l->angle * g, l->angle * h);
    }
    if (l->has_pitch) {
        const double vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
        const double along = v[0] * b[0] + v[1] * b[1] + v[2] * b[2], size = lm_sqrt(vv * bb);
        if (along < l->cos_low * size || along > l->cos_high * size)
            return LM_THETA_BOUNDARY;
    }
    return -1;
}

#endif
