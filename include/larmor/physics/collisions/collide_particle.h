/* The collisions of one stored particle in one step, in the middle of its push: the first part of the push takes the
 * velocity to the time level of the position, the medium is gathered there, the velocity changes, the channel of a loss
 * is decided, and the tallies of the accounts are formed. lm_collide_and_tally does all of this. The fastest loops of
 * the backends call its parts instead, and lm_collide_and_tally for those particles that are lost.
 */
#ifndef LARMOR_PHYSICS_COLLISIONS_COLLIDE_PARTICLE_H
#define LARMOR_PHYSICS_COLLISIONS_COLLIDE_PARTICLE_H

#include "larmor/physics/collisions/collide.h"
#include "larmor/physics/collisions/medium.h"

/* --- random numbers --- */

/* 32 bits of a velocity. */
LM_HD uint32_t lm_velocity_bits(lm_real v)
{
#if LM_PRECISION == 32
    return lm_real_bits(v);
#else
    return (uint32_t)lm_real_bits(v) + 0x428a2f98u * (uint32_t)(lm_real_bits(v) >> 32);
#endif
}

/* A number that distinguishes a particle in a cell of the domain from the others of its species in this step. It is a
 * sum of six words, each multiplied by its own constant (after Carter and Wegman 1979, J. Comput. Syst. Sci. 18, 143;
 * the constants are the first bits of square and cube roots of primes). Only the position within the cell enters, so
 * that the number does not depend on the tile that stores the particle. */
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
    sum += 0x3c6ef372ull * lm_velocity_bits(p->vx);
    sum += 0xa54ff53aull * lm_velocity_bits(p->vy);
    return sum + 0x510e527full * lm_velocity_bits(p->vz);
}

/* --- the velocity --- */

/* Where a particle collides. */
struct lm_collision_site {
    struct lm_gas_window gas;      /* not read for the medium of density 1 */
    struct lm_local_fields fields; /* for both parts of the push; the limits on pitch angles need B */
    lm_real kick;                  /* of struct lm_step */
    lm_fix x, y;                   /* position in the window */
    uint32_t cell;                 /* its number in the domain */
};

/* What became of a particle. */
struct lm_collision_outcome {
    int survives, channel;     /* 0 and the enum lm_channel that takes it out; or 1 and -1 */
    int exchanged;             /* it exchanged its charge ... */
    double before_exchange[3]; /* ... with this velocity, v_A */
};

/* The velocity in the frame of the medium. */
LM_HD void lm_velocity_in_medium(const struct lm_medium *m, const struct lm_particle *p, lm_real w[3])
{
    w[0] = p->vx - m->u[0];
    w[1] = p->vy - m->u[1];
    w[2] = p->vz;
}

/* Turns and slows down a velocity v, which is w in the frame of the medium. A turn must keep the speed. Double
 * precision would show the round-off of `turn`, which is single: there w is reflected at the plane across `turn`. */
LM_HD void lm_turn_and_slow(lm_real v[3], const lm_real w[3], const struct lm_velocity_change *change)
{
    lm_real part = 1, after[3], turn[3];
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        turn[d] = (lm_real)change->turn[d];
#if LM_PRECISION == 64
    const double tiny = 1e-200; /* no division by 0 where nothing turns; smaller than the square of any other turn */
    const double turn2 = lm_fma(turn[0], turn[0], lm_fma(turn[1], turn[1], lm_fma(turn[2], turn[2], tiny)));
    part = -2.0 * lm_reciprocal(turn2) * lm_fma(w[0], turn[0], lm_fma(w[1], turn[1], w[2] * turn[2]));
#endif
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        after[d] = lm_rfma(part, turn[d], w[d]);
        v[d] = lm_rfma(-(lm_real)change->fraction_lost, after[d], lm_rfma(part, turn[d], v[d]));
    }
}

/* The collisions of p, of velocity w in the frame of the medium, without the limits on pitch angles. stopping:
 * lm_stopping_of_ion. p gets the new velocity, also where it does not survive. */
LM_HD struct lm_collision_outcome lm_collide_in_medium(const struct lm_collisions *c, const struct lm_medium *m,
                                                       const lm_real w[3],
                                                       const struct lm_interpolated_stopping *stopping, uint32_t cell,
                                                       struct lm_particle *p)
{
    const float single[3] = {(float)w[0], (float)w[1], (float)w[2]};
    const struct lm_velocity_change change = lm_collide(c, m->n, single, stopping, lm_identity(cell, p));
    struct lm_collision_outcome outcome = {change.survives, change.channel, change.exchanged, {0.0, 0.0, 0.0}};
    const lm_real u[3] = {m->u[0], m->u[1], 0};
    lm_real v[3] = {p->vx, p->vy, p->vz};
    lm_turn_and_slow(v, w, &change);
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        outcome.before_exchange[d] = (double)v[d];
        v[d] = change.exchanged ? u[d] + (lm_real)change.atom[d] : v[d];
    }
    p->vx = v[0];
    p->vy = v[1];
    p->vz = v[2];
    return outcome;
}

/* The first part of the push of p and all of its collisions in a step. *old: p between the two. */
LM_HD struct lm_collision_outcome lm_collide_particle(int order, const struct lm_collisions *c,
                                                      const struct lm_collision_site *site, struct lm_particle *p,
                                                      struct lm_particle *old)
{
    const lm_real *const b = site->fields.b;
    lm_boris_first(&p->vx, &p->vy, &p->vz, site->fields.e, b, site->kick);
    *old = *p;
    const struct lm_medium m = lm_gather_medium(order, c, &site->gas, site->x, site->y);
    lm_real w[3];
    lm_velocity_in_medium(&m, p, w);
    const float single[3] = {(float)w[0], (float)w[1], (float)w[2]};
    const struct lm_interpolated_stopping stopping = lm_stopping_of_ion(c, single);
    struct lm_collision_outcome outcome = lm_collide_in_medium(c, &m, w, &stopping, site->cell, p);
    if (c->has_pitch && outcome.survives) {
        const double field[3] = {(double)b[0], (double)b[1], (double)b[2]},
                     v[3] = {(double)p->vx, (double)p->vy, (double)p->vz};
        outcome.survives = lm_is_in_pitch_range(c, v, field);
        outcome.channel = outcome.survives ? -1 : LM_THETA_BOUNDARY;
    }
    return outcome;
}

/* --- the tallies --- */

/* Momentum and energy that a particle of unit mass loses when its velocity v becomes `now`: v - now, and
 * v^2 - now^2, which is twice the energy. */
LM_HD void lm_momentum_energy_lost(const double v[3], const double now[3], double lost[4])
{
    lost[3] = 0.0;
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        lost[d] = v[d] - now[d];
        lost[3] = lm_fma(lost[d], v[d] + now[d], lost[3]);
    }
}

/* The same as a tally of number 0. No loss may be above 2^51 units. */
LM_HD struct lm_tally lm_tally_of_loss(const struct lm_tally_units *units, const double v[3], const double now[3])
{
    struct lm_tally t;
    double lost[4];
    lm_momentum_energy_lost(v, now, lost);
    t.number = 0;
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        t.v[d] = lm_round51_of(lost[d], units->v);
    t.v2 = lm_round51_of(lost[3], units->v2);
    return t;
}

/* What an ion that was `old` before its collisions and is p now has transferred to the gas, if it survives. */
LM_HD struct lm_tally lm_tally_of_survivor(const struct lm_tally_units *units, const struct lm_particle *old,
                                           const struct lm_particle *p)
{
    const double before[3] = {(double)old->vx, (double)old->vy, (double)old->vz};
    const double now[3] = {(double)p->vx, (double)p->vy, (double)p->vz};
    return lm_tally_of_loss(units, before, now);
}

/* The same of any ion: one that has stopped transfers all that it had. */
LM_HD struct lm_tally lm_tally_to_gas(const struct lm_tally_units *units, const struct lm_collision_outcome *outcome,
                                      const struct lm_particle *old, const struct lm_particle *p)
{
    if (outcome->channel == LM_ENERGY_STOPPED)
        return lm_tally_of(units, (double)old->vx, (double)old->vy, (double)old->vz);
    return lm_tally_of_survivor(units, old, p);
}

/* The part of a charge exchange in that. */
LM_HD struct lm_tally lm_tally_of_exchange(const struct lm_tally_units *units,
                                           const struct lm_collision_outcome *outcome, const struct lm_particle *p)
{
    const double now[3] = {(double)p->vx, (double)p->vy, (double)p->vz};
    struct lm_tally t = lm_tally_of_loss(units, outcome->before_exchange, now);
    t.number = 1;
    return t;
}

/* An ion that has stopped or scattered too far leaves with the velocity `old` that it had before its collisions. */
LM_HD void lm_restore_velocity(const struct lm_collision_outcome *outcome, const struct lm_particle *old,
                               struct lm_particle *p)
{
    if (outcome->channel >= 0 && outcome->channel != LM_THETA_BOUNDARY) {
        p->vx = old->vx;
        p->vy = old->vy;
        p->vz = old->vz;
    }
}

/* What the collisions of a particle add to the accounts of its species. The loss of an ion is not in it: its tally is
 * lm_tally_of the velocity with which it leaves, as at any surface. */
struct lm_collision_tallies {
    struct lm_tally to_gas;    /* 0 without a gas */
    struct lm_tally exchanged; /* what of to_gas is a charge exchange; 0 without one */
};

/* The first part of the push of p and all of its collisions in a step, with their tallies. The velocity of p becomes
 * that after the collisions, or that with which it leaves. */
LM_HD struct lm_collision_outcome lm_collide_and_tally(int order, const struct lm_collisions *c,
                                                       const struct lm_tally_units *units,
                                                       const struct lm_collision_site *site, struct lm_particle *p,
                                                       struct lm_collision_tallies *tallies)
{
    const struct lm_tally none = {0, {0, 0, 0}, 0};
    struct lm_particle old;
    const struct lm_collision_outcome outcome = lm_collide_particle(order, c, site, p, &old);
    lm_restore_velocity(&outcome, &old, p);
    tallies->to_gas = c->gas >= 0 ? lm_tally_to_gas(units, &outcome, &old, p) : none;
    tallies->exchanged = outcome.exchanged ? lm_tally_of_exchange(units, &outcome, p) : none;
    return outcome;
}

#endif
