/* Loading: the number of particles in a cell, their positions and velocities, from profiles at the cell centres.
 *
 * Random start: positions are uniform in the cell, and velocities are Maxwellian.
 * Quiet start: every cell gets the same set of particles, so the density of a uniform plasma is exactly uniform. Two
 * particles of opposite thermal velocity share one position, so no cell has a net current. The set fills positions and
 * velocities evenly (the additive recurrence of Roberts 2018 in four dimensions, strata in v_x), and is scaled to the
 * exact temperature.
 * In both, drifts are interpolated linearly to the particle.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_LOAD_H
#define LARMOR_PHYSICS_PARTICLES_LOAD_H

#include "larmor/physics/particles/profile.h"
#include "larmor/physics/particles/real.h"

/* Number of particles in cell (i, j) of the domain, of number `cell`, at index k of the profiles: the expected number,
 * rounded up with probability its fraction (random) or by a low-discrepancy sequence over the cells (quiet). */
LM_HD uint32_t lm_cell_count(const struct lm_profile *p, size_t k, int i, int j, uint32_t cell)
{
    double expected = p->particles_per_cell * p->density[k];
    expected = expected < 4294967000.0 ? expected : 4294967000.0; /* refused later; the conversion must be defined */
    double u = p->quiet ? lm_fraction(0.5 + (i + 1) * 0.7548776662466927 + (j + 1) * 0.5698402909980532)
                        : lm_uniform(lm_random_at(p->seed, p->species, LM_STREAM_COUNT, cell, 0).a);
    double whole = (double)(int64_t)expected;
    return (uint32_t)whole + (expected - whole > u ? 1u : 0u);
}

/* Thermal velocity from unit normals: along x, y, z, or along B and in two directions across it. */
LM_HD void lm_thermal(const struct lm_profile *p, size_t k, const double g[3], double v[3])
{
    double t[3];
    for (int c = 0; c < 3; c++)
        t[c] = g[c] * lm_sqrt(p->temperature[c][k]);
    if (!p->b[0]) {
        for (int c = 0; c < 3; c++)
            v[c] = t[c];
        return;
    }
    double b[3] = {p->b[0][k], p->b[1][k], p->b[2][k]}, e[3], f[3];
    double h = lm_sqrt(b[0] * b[0] + b[1] * b[1]);
    if (h > 0.0) { /* e = z x b / h, f = b x e */
        e[0] = -b[1] / h, e[1] = b[0] / h, e[2] = 0.0;
    } else {
        e[0] = 1.0, e[1] = 0.0, e[2] = 0.0;
    }
    f[0] = b[1] * e[2] - b[2] * e[1];
    f[1] = b[2] * e[0] - b[0] * e[2];
    f[2] = b[0] * e[1] - b[1] * e[0];
    for (int c = 0; c < 3; c++)
        v[c] = t[0] * b[c] + t[1] * e[c] + t[2] * f[c];
}

/* Linear interpolation of a centred array at (x, y) in [0, 1) of the cell k. */
LM_HD double lm_at_particle(const double *a, size_t k, int stride, double x, double y)
{
    long right = x < 0.5 ? -1 : 1, up = y < 0.5 ? -stride : stride;
    double fx = lm_abs(x - 0.5), fy = lm_abs(y - 0.5);
    const double *c = a + k;
    double low = c[0] + fx * (c[right] - c[0]), high = c[up] + fx * (c[up + right] - c[up]);
    return low + fy * (high - low);
}

/* Particle number r of n in the cell: position within the cell in fixed point, velocity at t = 0. */
LM_HD void lm_load_particle(const struct lm_profile *p, size_t k, int stride, uint32_t cell, uint32_t r, uint32_t n,
                            lm_fix *x, lm_fix *y, lm_real v[3])
{
    double g[3], t[3], place[2];
    if (p->quiet) {
        lm_quiet_point(r, n, g, place);
        *x = (lm_fix)(place[0] * (double)LM_ONE);
        *y = (lm_fix)(place[1] * (double)LM_ONE);
        if ((int)n >= p->quiet_low && (int)n <= p->quiet_high)
            for (int c = 0; c < 3; c++)
                g[c] *= p->quiet_scale[3 * ((int)n - p->quiet_low) + c];
    } else {
        struct lm_random position = lm_random_at(p->seed, p->species, LM_STREAM_POSITION, cell, r);
        struct lm_random velocity = lm_random_at(p->seed, p->species, LM_STREAM_VELOCITY, cell, r);
        *x = (lm_fix)(position.a >> (64 - LM_FRACTION_BITS));
        *y = (lm_fix)(position.b >> (64 - LM_FRACTION_BITS));
        g[0] = lm_normal(lm_uniform(velocity.a));
        g[1] = lm_normal(lm_uniform(velocity.b));
        g[2] = lm_normal(lm_uniform(lm_random_at(p->seed, p->species, LM_STREAM_VELOCITY_Z, cell, r).a));
    }
    lm_thermal(p, k, g, t);
    double fx = (double)*x / (double)LM_ONE, fy = (double)*y / (double)LM_ONE;
    for (int c = 0; c < 3; c++)
        v[c] = (lm_real)(t[c] + lm_at_particle(p->drift[c], k, stride, fx, fy));
}

#endif
