/* Collisions of an ion with a medium, in the medium's frame, and the limits beyond which it is taken out.
 *
 * Friction: v exp(-nu n dt), exact. Stopping (continuous slowing down): m dv/dt = -n S(E), a step of second order in
 * dt. Scattering: a turn by an angle whose projections on two planes across v are normal (small-angle scattering:
 * Jackson, Classical Electrodynamics, section 13.6); its tail beyond so many sigmas is not sampled: such ions are taken
 * out. Charge exchange: with probability 1 - exp(-n (sigma |v| + k) dt) the ion goes on as one of the gas' atoms, which
 * it has ionised; the neutral it was is thermalised on the spot.
 *
 * The change of a velocity is found in single precision whatever the particles are stored in: to 1e-6 of itself.
 */
#ifndef LARMOR_PHYSICS_COLLISIONS_COLLIDE_H
#define LARMOR_PHYSICS_COLLISIONS_COLLIDE_H

#include "larmor/physics/numerics/elementary.h"
#include "larmor/physics/numerics/normal.h"
#include "larmor/physics/collisions/collision_step.h"
#include "larmor/physics/particles/surface.h"

/* Whether no more is asked for than stopping and scattering in a gas at rest: loops of their own do that. */
LM_HD int lm_is_plain(const struct lm_collisions *c)
{
    return c->gas >= 0 && !c->moves && !(c->friction > 0.0f) && !c->exchanges && !c->has_pitch;
}

/* The same, if lm_is_plain, with what is not asked for known to the compiler. */
LM_HD struct lm_collisions lm_plain(struct lm_collisions c)
{
    c.gas = 0;
    c.friction = 0.0f;
    c.moves = c.exchanges = c.has_pitch = 0;
    return c;
}

/* What becomes of it: it turns, w += turn, and slows down, w -= lost w; then, if it has exchanged its charge, it is
 * `atom` in the medium's frame. */
struct lm_collided {
    int goes_on; /* else all but the channel means nothing */
    int channel; /* that has taken it, or -1 */
    int exchanged;
    float turn[3], lost, atom[3];
};

/* 1 - exp(-x) for x >= 0. */
LM_HD float lm_faded(float x)
{
    return x < 1e-4f ? x * (1.0f - 0.5f * x) : (float)(1.0 - lm_exp(-(double)x));
}

/* Square of a speed below which nothing but friction acts: single precision could not tell directions. */
#define LM_AT_REST 1e-30f

/* The share of v, of size `speed` = 1/one, that friction and stopping take; at: of the table; *variance: of the
 * angle that it scatters by meanwhile. */
LM_HD float lm_slow(const struct lm_collisions *c, float n, float size2, float speed, float one,
                    const struct lm_stopped *at, float *variance)
{
    if (c->gas < 0) {
        *variance = size2 > LM_AT_REST ? c->variance : 0.0f;
        return c->lost;
    }
    float lost = c->friction > 0.0f ? lm_faded(c->friction * n) : 0.0f, power = c->power;
    const int is_at_rest = !(size2 > LM_AT_REST);
    const float way = is_at_rest ? 0.0f : n * c->dt;
    if (c->stopping.rows > 0) {
        const float energy = c->half_mass * size2;
        const float taken = way * c->one_over_mass * at->stopping * one;
        const float second = 1.0f - 0.5f * way * at->slope * speed;
        const float stopped = second > 0.0f ? taken * second : 0.0f;
        lost = c->friction > 0.0f ? lm_fmaf(-lost, stopped, lost + stopped) : stopped;
        const float mean = lm_fmaf(-0.5f * at->power_slope * energy, lost * (2.0f - lost), at->power);
        power += mean > 0.0f ? mean : 0.0f;
    }
    *variance = 0.25f * power * way * speed * (2.0f - lost);
    return lost;
}

/* What w, of size `speed`, changes by when it turns: by 2 atan of half of two normal angles of that variance, along two
 * directions across it (Duff et al., J. Comput. Graph. Tech. 6 (2017) 1); one: 1/speed. Returns 0 for the tail that is
 * not sampled. */
LM_HD int lm_scatter(const struct lm_collisions *c, float variance, const float w[3], float speed, float one,
                     const uint32_t r[2], float turn[3])
{
    const float square = lm_normal_radius2(r[0]), a2 = 0.25f * variance * square;
    const float scale = 2.0f * speed * lm_reciprocalf(1.0f + a2), back = -scale * a2 * one;
    const float across = a2 > 1e-30f ? scale * lm_rootf(a2 > 1e-30f ? a2 : 1e-30f) : 0.0f;
    const float x = w[0] * one, y = w[1] * one, z = w[2] * one;
    float e, f;
    lm_directionf(r[1], &e, &f);
    e *= across;
    f *= across;
    const float both = lm_fmaf(x, e, y * f), part = -both * lm_reciprocalf(1.0f + lm_sizef(z));
    turn[0] = lm_fmaf(back, w[0], lm_fmaf(x, part, e));
    turn[1] = lm_fmaf(back, w[1], lm_fmaf(y, part, f));
    turn[2] = lm_fmaf(back, w[2], z < 0.0f ? both : -both);
    return variance > 0.0f ? square <= c->tail2 : 1;
}

/* Whether an ion of that speed in the gas' frame loses its charge. */
LM_HD int lm_exchanges(const struct lm_collisions *c, float n, float speed, uint32_t bits)
{
    const float chance = ((float)bits + 0.5f) * 0x1p-32f, expected = n * lm_fmaf(c->section, speed, c->rate);
    return chance < expected && chance < lm_faded(expected); /* 1 - exp(-x) < x */
}

/* The velocity of an atom. */
LM_HD void lm_atom(const struct lm_collisions *c, uint64_t identity, float v[3])
{
    float n[4];
    const struct lm_random r =
        lm_random_at(c->key, c->species, LM_STREAM_ATOM, (uint32_t)identity, (uint32_t)(identity >> 32));
    lm_normal_pair((uint32_t)r.a, (uint32_t)(r.a >> 32), n);
    lm_normal_pair((uint32_t)r.b, (uint32_t)(r.b >> 32), n + 2);
    for (int d = 0; d < 3; d++)
        v[d] = c->thermal * n[d];
}

LM_HD float lm_size2(const float w[3])
{
    return lm_fmaf(w[0], w[0], lm_fmaf(w[1], w[1], w[2] * w[2]));
}

/* The table, if there is one, for an ion of velocity w in the medium's frame. */
LM_HD struct lm_stopped lm_look_up(const struct lm_collisions *c, const float w[3])
{
    struct lm_stopped none = {0.0f, 0.0f, 0.0f, 0.0f};
    return c->stopping.rows > 0 ? lm_stopping_at(&c->stopping, c->half_mass * lm_size2(w)) : none;
}

/* One ion of velocity w in the frame of a medium of density n; at: lm_look_up. `identity`: of the particle in this
 * step, for its random numbers. */
LM_HD struct lm_collided lm_collide(const struct lm_collisions *c, float n, const float w[3],
                                    const struct lm_stopped *at, uint64_t identity)
{
    struct lm_collided out = {1, -1, 0, {0.0f, 0.0f, 0.0f}, 0.0f, {0.0f, 0.0f, 0.0f}};
    const float size2 = lm_size2(w);
    const float speed = lm_rootf(size2 > LM_AT_REST ? size2 : LM_AT_REST), one = lm_reciprocalf(speed);
    float variance;
    const float lost = lm_slow(c, n, size2, speed, one, at, &variance), keep = 1.0f - lost;
    const float left2 = keep > 0.0f ? keep * keep * size2 : -1.0f;
    int is_sampled = 1;
    uint32_t r[2];
    if (c->scatters) {
        lm_random_pair(c->scatter_key, identity, r);
        is_sampled = lm_scatter(c, variance, w, speed, one, r, out.turn);
    }
    const int is_stopped = c->stops & !(left2 > c->stopped2);
    out.lost = lost;
    out.goes_on = is_sampled & !is_stopped;
    /* as arithmetic, of which compilers make vector instructions */
    out.channel = is_stopped * (LM_ENERGY_STOPPED - LM_THETA_CUTOFF) + !out.goes_on * (LM_THETA_CUTOFF + 1) - 1;
    if (c->exchanges && out.goes_on) {
        lm_random_pair(c->exchange_key, identity, r);
        out.exchanged = lm_exchanges(c, n, keep * speed, r[0]);
        if (out.exchanged)
            lm_atom(c, identity, out.atom);
    }
    return out;
}

/* Whether the angle between v and B is within the limits. */
LM_HD int lm_is_in_cone(const struct lm_collisions *c, const double v[3], const double b[3])
{
    const double vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    const double along = v[0] * b[0] + v[1] * b[1] + v[2] * b[2], size = lm_sqrt(vv * bb);
    return along >= c->cos_low * size && along <= c->cos_high * size;
}

/* What a particle has given away when its velocity v became `now`: v - now and v^2 - now^2. */
LM_HD void lm_given_away(const double v[3], const double now[3], double given[4])
{
    given[3] = 0.0;
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        given[d] = v[d] - now[d];
        given[3] = lm_fma(given[d], v[d] + now[d], given[3]);
    }
}

/* The same as a tally. Units: powers of two such that none is above 2^51. */
LM_HD struct lm_tally lm_given_up(const struct lm_tally_units *units, const double v[3], const double now[3])
{
    struct lm_tally t;
    double given[4];
    lm_given_away(v, now, given);
    t.number = 0;
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        t.v[d] = lm_round51_of(given[d], units->v);
    t.v2 = lm_round51_of(given[3], units->v2);
    return t;
}

#endif
