/* Loading: the number of particles in a cell, their positions and velocities, from profiles at the cell centres.
 *
 * Random start: positions are uniform in the cell, and velocities are Maxwellian.
 * Quiet start: every cell gets the same set of particles, so the density of a uniform plasma is exactly uniform. Two
 * particles of opposite thermal velocity share one position, so no cell has a net current. The set fills positions and
 * velocities evenly (the additive recurrence of Roberts 2018 in four dimensions, strata in v_x), and is scaled to the
 * exact temperature.
 * Low-discrepancy start: x, y, v_x and v_y are even points (larmor/physics/numerics/net.h), and v_z is at random in as
 * many strata as the cell has particles. No two cells are alike, and means over many cells have no bias.
 *
 * In a cell that the surface of a body cuts, places in the body are replaced by random ones in the plasma.
 *
 * In all three, drifts are interpolated linearly to the particle.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_LOAD_H
#define LARMOR_PHYSICS_PARTICLES_LOAD_H

#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/numerics/net.h"
#include "larmor/physics/particles/profile.h"
#include "larmor/physics/particles/cut_cell.h"

/* Number of particles in cell (i, j) of the domain, of number `cell`, at index k of the profiles: the expected number,
 * rounded up with probability its fraction (random) or by a low-discrepancy sequence over the cells. Where this
 * sequence begins is the same for all species of quiet starts, and drawn for each low-discrepancy start. */
LM_HD uint32_t lm_cell_count(const struct lm_profile *p, size_t k, int i, int j, uint32_t cell)
{
    double expected = p->particles_per_cell * lm_given_at(&p->density, k);
    expected = expected < 4294967000.0 ? expected : 4294967000.0; /* refused later; the conversion must be defined */
    double u = 0.5;
    if (p->start != LM_QUIET)
        u = lm_uniform(lm_random_at(p->seed, p->species, LM_STREAM_COUNT, p->start == LM_RANDOM ? cell : 0, 0).a);
    if (p->start != LM_RANDOM)
        u = lm_fraction(u + (i + 1) * 0.7548776662466927 + (j + 1) * 0.5698402909980532);
    double whole = (double)(int64_t)expected;
    return (uint32_t)whole + (expected - whole > u ? 1u : 0u);
}

/* Thermal velocity from unit normals: along x, y, z, or along B and in two directions across it. */
LM_HD void lm_thermal(const struct lm_profile *p, size_t k, const double g[3], double v[3])
{
    double t[3];
    for (int c = 0; c < 3; c++)
        t[c] = g[c] * lm_sqrt(lm_given_at(&p->temperature[c], k));
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

/* Linear interpolation at (x, y) in [0, 1) of the cell k. One number for all cells gives the same bits as an array that
 * is filled with it. */
LM_HD double lm_at_particle(const struct lm_given *a, size_t k, int stride, double x, double y)
{
    if (!a->array)
        return a->everywhere + 0.0; /* the interpolation of -0.0 is 0.0 */
    long right = x < 0.5 ? -1 : 1, up = y < 0.5 ? -stride : stride;
    double fx = lm_abs(x - 0.5), fy = lm_abs(y - 0.5);
    const double *c = a->array + k;
    double low = c[0] + fx * (c[right] - c[0]), high = c[up] + fx * (c[up + right] - c[up]);
    return low + fy * (high - low);
}

/* --- particle number r of n in a cell: three unit normals, and its place in the cell in fixed point --- */

LM_HD void lm_draw_random(const struct lm_profile *p, uint32_t cell, uint32_t r, lm_fix place[2], double g[3])
{
    struct lm_random position = lm_random_at(p->seed, p->species, LM_STREAM_POSITION, cell, r);
    struct lm_random velocity = lm_random_at(p->seed, p->species, LM_STREAM_VELOCITY, cell, r);
    place[0] = (lm_fix)(position.a >> (64 - LM_FRACTION_BITS));
    place[1] = (lm_fix)(position.b >> (64 - LM_FRACTION_BITS));
    g[0] = lm_normal(lm_uniform(velocity.a));
    g[1] = lm_normal(lm_uniform(velocity.b));
    g[2] = lm_normal(lm_uniform(lm_random_at(p->seed, p->species, LM_STREAM_VELOCITY_Z, cell, r).a));
}

LM_HD void lm_draw_quiet(const struct lm_profile *p, uint32_t r, uint32_t n, lm_fix place[2], double g[3])
{
    double at[2];
    lm_quiet_point(r, n, g, at);
    place[0] = (lm_fix)(at[0] * (double)LM_ONE);
    place[1] = (lm_fix)(at[1] * (double)LM_ONE);
    if ((int)n >= p->quiet_low && (int)n <= p->quiet_high)
        for (int c = 0; c < 3; c++)
            g[c] *= p->quiet_scale[3 * ((int)n - p->quiet_low) + c];
}

/* Which even points a cell with n particles has. Squares of 16 x 16 cells share a sequence, in the order of a curve
 * that passes all cells of a quarter of the square, of the quarters of this quarter, and so on, before it leaves them
 * (Morton 1966). So the velocities of neighbouring cells are even together, and stay so when their particles mix. */
struct lm_even_set {
    uint32_t rank;   /* of the cell in its square */
    uint32_t level;  /* the cell has up to 4^level particles; cells of another level have a sequence of their own */
    uint32_t first;  /* number of the first point; those of the others follow by the exclusive or */
    uint32_t square; /* number of the first cell of the square; of the cell itself if it has too many particles */
};

LM_HD struct lm_even_set lm_even_set_of(const struct lm_profile *p, uint32_t cell, uint32_t n)
{
    const uint32_t i = cell % p->nx, j = cell / p->nx;
    struct lm_even_set s;
    s.rank = s.level = 0;
    for (uint32_t bit = 0; bit < 4; bit++)
        s.rank |= (i >> bit & 1u) << 2 * bit | (j >> bit & 1u) << (2 * bit + 1);
    while (s.level < 15 && n > 1u << 2 * s.level)
        s.level++;
    s.first = s.rank << 2 * s.level;
    s.square = s.level > 12 ? cell : cell - j % 16 * p->nx - i % 16;
    return s;
}

LM_HD void lm_draw_even(const struct lm_profile *p, uint32_t cell, uint32_t r, uint32_t n, lm_fix place[2], double g[3])
{
    const struct lm_even_set s = lm_even_set_of(p, cell, n);
    const struct lm_random a = lm_random_at(p->seed, p->species, LM_STREAM_SCRAMBLE, s.square, 2 * s.level);
    const struct lm_random b = lm_random_at(p->seed, p->species, LM_STREAM_SCRAMBLE, s.square, 2 * s.level + 1);
    uint32_t x[LM_NET_AXES];
    lm_net_point(s.first ^ r, x);
    place[0] = (lm_fix)(lm_net_value(lm_scramble(x[0], (uint32_t)a.a)) * (double)LM_ONE);
    place[1] = (lm_fix)(lm_net_value(lm_scramble(x[1], (uint32_t)(a.a >> 32))) * (double)LM_ONE);
    g[0] = lm_normal(lm_net_value(lm_scramble(x[2], (uint32_t)a.b)));
    g[1] = lm_normal(lm_net_value(lm_scramble(x[3], (uint32_t)(a.b >> 32))));
    const double u = ((double)r + lm_net_value(lm_scramble(s.rank, (uint32_t)lm_mix(b.a ^ r)))) / (double)n;
    g[2] = lm_normal(u < 1.0 ? u : 1.0 - 1.0 / 9007199254740992.0); /* with 2^20 particles u can be rounded to 1 */
}

/* Particle number r of n in the cell: position within the cell in fixed point, velocity at t = 0. `cut`: that of the
 * cell, or NULL. */
LM_HD void lm_load_particle(const struct lm_profile *p, size_t k, int stride, const struct lm_body_cut *cut,
                            uint32_t cell, uint32_t r, uint32_t n, lm_fix *x, lm_fix *y, lm_real v[3])
{
    double g[3], t[3];
    lm_fix place[2];
    if (p->start == LM_QUIET)
        lm_draw_quiet(p, r, n, place, g);
    else if (p->start == LM_LOW_DISCREPANCY)
        lm_draw_even(p, cell, r, n, place, g);
    else
        lm_draw_random(p, cell, r, place, g);
    if (cut)
        lm_cut_place(cut, p->seed, p->species, cell, r, place);
    *x = place[0];
    *y = place[1];
    lm_thermal(p, k, g, t);
    double fx = (double)*x / (double)LM_ONE, fy = (double)*y / (double)LM_ONE;
    for (int c = 0; c < 3; c++)
        v[c] = (lm_real)(t[c] + lm_at_particle(&p->drift[c], k, stride, fx, fy));
}

#endif
