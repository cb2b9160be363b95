/* Particles that enter through a side from the plasma beyond it: a drifting Maxwellian, weighted by the flux.
 *
 * The number of particles in a step is the expected number, rounded by a low-discrepancy sequence over the steps. Their
 * times are spread evenly over the step. So the density of the incoming plasma has hardly any noise of its own. Normal
 * velocities are drawn by rejection, as in Garcia and Wagner, J. Comput. Phys. 217 (2006) 693, with other envelopes.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_INFLOW_H
#define LARMOR_PHYSICS_PARTICLES_INFLOW_H

#include "larmor/physics/particles/flight.h"
#include "larmor/physics/particles/inflow_cell.h"

/* `cell` is the number of a cell along a side of the domain. */
LM_HD uint32_t lm_inflow_number(int side, int cell)
{
    return (uint32_t)side << 16 | (uint32_t)cell;
}

/* How many particles enter through the cell of an lm_inflow_number in a step. */
LM_HD uint32_t lm_inflow_count(const struct lm_inflow_cell *c, uint64_t seed, int species, uint32_t number,
                               int64_t step)
{
    const struct lm_random phase = lm_random_at(seed, species, LM_STREAM_ENTRY, number, 0);
    const double whole = (double)(int64_t)c->rate;
    return (uint32_t)whole + (lm_uniform(phase.a + (uint64_t)step * 0x9e3779b97f4a7c15ull) < c->rate - whole ? 1u : 0u);
}

/* Draws a normal velocity in units of its thermal speed, with the density v exp(-(v - drift)^2 / 2), v > 0. */
LM_HD double lm_flux_speed(double drift, uint64_t key, int species, uint32_t number, uint32_t r)
{
    enum { TRIES = 128 };                         /* one in 2^70 needs more */
    const double mean_size = 0.79788456080286536; /* of a normal number */
    for (int n = 0; n < TRIES; n++) {
        const int who = species | n << 8;
        const struct lm_random a = lm_random_at(key, who, LM_STREAM_FLUX, number, r);
        const double accept = lm_uniform(lm_random_at(key, who, LM_STREAM_FLUX_ACCEPT, number, r).a);
        double v;
        if (drift > 0.0) { /* v <= |v - drift| + drift */
            double z = lm_normal(lm_uniform(a.b));
            if (lm_uniform(a.a) * (drift + mean_size) >= drift)
                z = (a.b & 1u ? 1.0 : -1.0) * lm_sqrt(-2.0 * lm_log(lm_uniform(a.b)));
            v = drift + z;
            if (accept * (lm_abs(z) + drift) < v)
                return v;
        } else if (drift > -1.0) { /* v exp(-v^2/2), times exp(drift v) */
            v = lm_sqrt(-2.0 * lm_log(lm_uniform(a.a)));
            if (accept < lm_exp(drift * v))
                return v;
        } else { /* v exp(drift v), times exp(-v^2/2) */
            v = (lm_log(lm_uniform(a.a)) + lm_log(lm_uniform(a.b))) / drift;
            if (accept < lm_exp(-0.5 * v * v))
                return v;
        }
    }
    return drift > 0.0 ? drift : 0.0;
}

/* Turns a place along the side of a cut cell into one along its plasma. */
LM_HD lm_fix lm_place_in_opening(const struct lm_body_cut *cut, int side, lm_fix place)
{
    int64_t low, high;
    const int64_t length = lm_cut_opening(cut, side, &low, &high);
    const double unit = (double)LM_ONE / LM_CUT_ONE, u = (double)place / (double)LM_ONE;
    const lm_fix at_wall = side % 2 ? LM_ONE - 1 : 0, at = (lm_fix)(((double)low + u * (double)length) * unit);
    const int axis = side / 2;
    return lm_cut_is_solid(cut, axis ? at : at_wall, axis ? at_wall : at) ? (lm_fix)(0.5 * (double)(low + high) * unit)
                                                                          : at;
}

/* Draws number r of the n particles that enter through a cell of a side in a step: position and velocity. `cell` is the
 * number of the cell along the arrays, `number` its lm_inflow_number. Returns the part of the step that is left. */
LM_HD double lm_draw_entering(struct lm_flight *f, const struct lm_inflow_cell *c, const struct lm_surfaces *s,
                              const struct lm_tiling *t, int side, int cell, uint32_t number, uint32_t r, uint32_t n)
{
    const uint64_t key = s->key;
    const int species = s->species;
    const struct lm_random entry = lm_random_at(key, species, LM_STREAM_ENTRY, number, r);
    const struct lm_random along = lm_random_at(key, species, LM_STREAM_FLUX_ALONG, number, r);
    const double g = lm_normal(lm_uniform(along.a)), h = lm_normal(lm_uniform(along.b));
    const int axis = side / 2, high = side % 2;
    double normal = c->drift[0];
    if (c->thermal > 0.0)
        normal = c->thermal * lm_flux_speed(c->drift[0] / c->thermal, key, species, number, r);
    const double more = normal - c->drift[0];
    const double a = c->drift[1] + c->slope[0] * more + c->spread[0] * g;
    const double b = c->drift[2] + c->slope[1] * more + c->spread[1] * g + c->spread[2] * h;
    const lm_fix at_wall = high ? LM_ONE - 1 : 0;
    lm_fix place = (lm_fix)(entry.a >> (64 - LM_FRACTION_BITS));
    normal = high ? -normal : normal;
    f->i = axis ? cell : high ? t->cells_x - 1 : 0;
    f->j = axis ? (high ? t->cells_y - 1 : 0) : cell;
    if (lm_cut_at(s, t, f->i, f->j))
        place = lm_place_in_opening(lm_cut_at(s, t, f->i, f->j), side, place);
    f->x = axis ? place : at_wall;
    f->y = axis ? at_wall : place;
    f->vx = (lm_real)(axis ? a : normal);
    f->vy = (lm_real)(axis ? normal : a);
    f->vz = (lm_real)b;
    return 1.0 - ((double)r + lm_uniform(entry.b)) / (double)n;
}

#endif
