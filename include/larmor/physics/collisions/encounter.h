/* A particle meets the medium it collides with: what surrounds it, what tells it from others, its velocity after, and
 * what it has given away.
 */
#ifndef LARMOR_PHYSICS_COLLISIONS_ENCOUNTER_H
#define LARMOR_PHYSICS_COLLISIONS_ENCOUNTER_H

#include "larmor/physics/collisions/collide.h"
#include "larmor/physics/particles/push.h"

/* Around an ion: density, n0, and velocity, v_A; it has none along z. */
struct lm_medium {
    float n;
    lm_real u[2];
};

/* The gas around a group of particles, as in struct lm_window: density; velocity on x-faces, and `area` further on
 * y-faces, of no use where it does not move. */
enum { LM_GAS_FIELDS = 3 };
struct lm_gas_window {
    const float *density;
    const lm_real *velocity;
    int width, area;
};

/* The medium at (x, y). A reconstruction may undershoot: no density is below 0. */
LM_HD struct lm_medium lm_gather_medium(int order, const struct lm_collisions *c, const struct lm_gas_window *gas,
                                        lm_fix x, lm_fix y)
{
    const struct lm_stencil24 cx = lm_centre24(order, lm_fix24(x)), cy = lm_centre24(order, lm_fix24(y));
    struct lm_medium m = {1.0f, {0, 0}};
    if (c->gas < 0)
        return m;
    m.n = lm_gather24(order, gas->density, gas->width, &cx, &cy);
    m.n = m.n > 0.0f ? m.n : 0.0f;
    if (c->moves) {
        const struct lm_stencil across_x = lm_centre(order, x), across_y = lm_centre(order, y);
        const struct lm_stencil fx = lm_face(order, x), fy = lm_face(order, y);
        m.u[0] = lm_gather(order, gas->velocity, gas->width, &fx, &across_y);
        m.u[1] = lm_gather(order, gas->velocity + gas->area, gas->width, &across_x, &fy);
    }
    return m;
}

/* 32 bits of a velocity. */
LM_HD uint32_t lm_velocity_bits(lm_real v)
{
#if LM_PRECISION == 32
    return lm_real_bits(v);
#else
    return (uint32_t)lm_real_bits(v) + 0x428a2f98u * (uint32_t)(lm_real_bits(v) >> 32);
#endif
}

/* What tells a particle in cell j nx + i from the others of its species in this step: a sum of six words, each times a
 * number of its own (after Carter and Wegman 1979, J. Comput. Syst. Sci. 18, 143; the numbers are the first bits of
 * square and cube roots of primes). Of its place only what lies within the cell counts, whatever its tile. */
LM_HD uint64_t lm_identity(uint32_t cell, const struct lm_particle *p)
{
    uint64_t sum = 0x6a09e667ull * cell;
#if LM_PRECISION == 32
    sum += 0xbb67ae85ull * ((uint32_t)p->x << 8);
    sum += 0x9b05688cull * ((uint32_t)p->y << 8);
#else
    sum += 0xbb67ae85ull * (uint32_t)(p->x >> 16);
    sum += 0x9b05688cull * (uint32_t)(p->y >> 16);
#endif
    sum += 0x3c6ef372ull * lm_velocity_bits(p->u);
    sum += 0xa54ff53aull * lm_velocity_bits(p->v);
    return sum + 0x510e527full * lm_velocity_bits(p->w);
}

/* v, which is w in the medium's frame, turns and slows down. A turn keeps the speed: in double precision, where the
 * round-off of `turn` would show, w is reflected along it. */
LM_HD void lm_deflect(lm_real v[3], const lm_real w[3], const struct lm_collided *got)
{
    lm_real part = 1, after[3], turn[3];
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        turn[d] = (lm_real)got->turn[d];
#if LM_PRECISION == 64
    const double tiny = 1e-200; /* beside any turn but none at all */
    const double turn2 = lm_fma(turn[0], turn[0], lm_fma(turn[1], turn[1], lm_fma(turn[2], turn[2], tiny)));
    part = -2.0 * lm_reciprocal(turn2) * lm_fma(w[0], turn[0], lm_fma(w[1], turn[1], w[2] * turn[2]));
#endif
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        after[d] = lm_rfma(part, turn[d], w[d]);
        v[d] = lm_rfma(-(lm_real)got->lost, after[d], lm_rfma(part, turn[d], v[d]));
    }
}

/* What became of a particle: whether it goes on, else the channel that has taken it; whether it has exchanged its
 * charge, and the velocity with which it did. */
struct lm_fate {
    int goes_on, channel, exchanged;
    double before[3];
};

/* p's velocity in the medium's frame. */
LM_HD void lm_in_frame(const struct lm_medium *m, const struct lm_particle *p, lm_real w[3])
{
    w[0] = p->u - m->u[0];
    w[1] = p->v - m->u[1];
    w[2] = p->w;
}

/* p, of velocity w in the frame of the medium, collides in it; at: what it finds in the table. Its velocity becomes
 * that after; where the fate has a channel: lm_leave. */
LM_HD struct lm_fate lm_strike(const struct lm_collisions *c, const struct lm_medium *m, const lm_real w[3],
                               const struct lm_stopped *at, uint32_t cell, struct lm_particle *p)
{
    const float single[3] = {(float)w[0], (float)w[1], (float)w[2]};
    const struct lm_collided got = lm_collide(c, m->n, single, at, lm_identity(cell, p));
    struct lm_fate fate = {got.goes_on, got.channel, got.exchanged, {0.0, 0.0, 0.0}};
    const lm_real u[3] = {m->u[0], m->u[1], 0};
    lm_real v[3] = {p->u, p->v, p->w};
    lm_deflect(v, w, &got);
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        fate.before[d] = (double)v[d];
        v[d] = got.exchanged ? u[d] + (lm_real)got.atom[d] : v[d];
    }
    p->u = v[0];
    p->v = v[1];
    p->w = v[2];
    return fate;
}

/* The same with what surrounds it, at (x, y) of the windows; `fields`: where B is needed. */
LM_HD struct lm_fate lm_encounter(int order, const struct lm_collisions *c, const struct lm_gas_window *gas,
                                  const struct lm_window *fields, lm_fix x, lm_fix y, uint32_t cell,
                                  struct lm_particle *p)
{
    const struct lm_medium m = lm_gather_medium(order, c, gas, x, y);
    lm_real w[3];
    lm_in_frame(&m, p, w);
    const float single[3] = {(float)w[0], (float)w[1], (float)w[2]};
    const struct lm_stopped at = lm_look_up(c, single);
    struct lm_fate fate = lm_strike(c, &m, w, &at, cell, p);
    if (c->has_pitch && fate.goes_on) {
        lm_real e[3], b[3];
        lm_gather_fields(order, fields, x, y, e, b);
        const double along[3] = {(double)b[0], (double)b[1], (double)b[2]},
                     now[3] = {(double)p->u, (double)p->v, (double)p->w};
        fate.goes_on = lm_is_in_cone(c, now, along);
        fate.channel = fate.goes_on ? -1 : LM_THETA_BOUNDARY;
    }
    return fate;
}

/* An ion that came as `old` and is taken out: stopped or scattered too far, it leaves with the velocity it came with.
 */
LM_HD void lm_leave(const struct lm_fate *fate, const struct lm_particle *old, struct lm_particle *p)
{
    if (fate->channel >= 0 && fate->channel != LM_THETA_BOUNDARY) {
        p->u = old->u;
        p->v = old->v;
        p->w = old->w;
    }
}

/* What the gas gets of an ion that came as `old` and is p now: of one that has stopped, all. */
LM_HD struct lm_tally lm_to_gas(const struct lm_tally_units *units, const struct lm_fate *fate,
                                const struct lm_particle *old, const struct lm_particle *p)
{
    const double before[3] = {(double)old->u, (double)old->v, (double)old->w};
    const double now[3] = {(double)p->u, (double)p->v, (double)p->w};
    if (fate->channel == LM_ENERGY_STOPPED)
        return lm_tally_of(units, before[0], before[1], before[2]);
    return lm_given_up(units, before, now);
}

/* What of it charge exchange has handed over. */
LM_HD struct lm_tally lm_exchanged(const struct lm_tally_units *units, const struct lm_fate *fate,
                                   const struct lm_particle *p)
{
    const double now[3] = {(double)p->u, (double)p->v, (double)p->w};
    struct lm_tally t = lm_given_up(units, fate->before, now);
    t.number = 1;
    return t;
}

#endif
