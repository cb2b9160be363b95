/* Collisions of an ion with a medium, in the medium's frame, and the limits beyond which it is taken out.
 *
 * Friction: v exp(-nu n dt), exact. Stopping (continuous slowing down): m dv/dt = -n S(E), a step of second order in
 * dt. Scattering: a turn by an angle whose projections on two planes across v are normal (small-angle scattering:
 * Jackson, Classical Electrodynamics, section 13.6); its tail beyond so many sigmas is not sampled: such ions are taken
 * out. Charge exchange: with probability 1 - exp(-n (sigma |v| + k) dt) the ion goes on as one of the gas' atoms, which
 * it has ionised; the neutral it was is thermalised on the spot.
 */
#ifndef LARMOR_PHYSICS_COLLIDE_H
#define LARMOR_PHYSICS_COLLIDE_H

#include "larmor/physics/elementary.h"
#include "larmor/physics/normal.h"
#include "larmor/physics/surface.h"

/* Around an ion: density, n0, and velocity, v_A. */
struct lm_medium {
    double n, u[3];
};

/* A row of a table of stopping, with what changes from it to the next one a unit of energy. */
struct lm_stopping {
    double energy, stopping, slope; /* m_p v_A^2; m_p v_A^2 / (n0 d_i) */
    double power, power_slope;      /* d<theta^2>/ds a unit of density, rad^2 / (n0 d_i) */
};

/* Of one species in one step. */
struct lm_collisions {
    int gas;                        /* background field that is the medium; -1: n = 1, at rest */
    int moves;                      /* 0: the gas is at rest as well */
    double dt, mass, one_over_mass; /* 1/Omega_ci, m_p */
    double friction;                /* nu dt a unit of density */
    double keep;                    /* exp(-friction), for the medium of density 1 */
    int points;                     /* rows of `stopping`; 0: none */
    const struct lm_stopping *stopping;
    double power;         /* of scattering in a gas, where the table has none; rad^2 / (n0 d_i) */
    double angle;         /* sigma of each projected angle in the medium of density 1, rad */
    float tail2;          /* square of the sampled radius in sigmas */
    double section, rate; /* of charge exchange: 1/(n0 d_i), Omega_ci/n0 */
    double thermal;       /* speed of the gas' atoms as ions of the species, v_A */
    int stops;            /* an ion with |v|^2 <= stopped2 has stopped */
    double stopped2;
    double cos_low, cos_high;           /* accepted cosines between v and B; beyond -1 and 1: no limit */
    int scatters, exchanges, has_pitch; /* 0: skip */
    uint64_t key;
    int species;
};

/* What became of it. */
struct lm_collided {
    int channel;      /* that has taken it, or -1 */
    int exchanged;    /* 1: its charge, */
    double before[3]; /* when its velocity was this */
};

/* The row below a value, of `points` >= 2 with rising energies; the first or the last but one beyond the table. */
LM_HD int lm_stopping_row(const struct lm_stopping *row, int points, double energy)
{
    int low = 0, high = points - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (row[middle].energy <= energy)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Table at an energy: linear between rows, constant beyond the first and the last. */
LM_HD struct lm_stopping lm_stopping_at(const struct lm_stopping *row, int points, double energy)
{
    const int k = lm_stopping_row(row, points, energy);
    struct lm_stopping s = row[k];
    const double least = s.energy, most = row[k + 1].energy;
    const double in = energy < least ? least : energy > most ? most : energy, past = in - least;
    s.stopping = lm_fma(past, s.slope, s.stopping);
    s.power = lm_fma(past, s.power_slope, s.power);
    if (in != energy)
        s.slope = s.power_slope = 0.0;
    s.energy = energy;
    return s;
}

LM_HD double lm_size2(const double v[3])
{
    return lm_fma(v[0], v[0], lm_fma(v[1], v[1], v[2] * v[2]));
}

/* v turns about the axis a by the angle 2 atan |a|, as in Boris' push. */
LM_HD void lm_turn(double v[3], const double a[3])
{
    const double s = 2.0 * lm_reciprocal(1.0 + lm_size2(a));
    const double p[3] = {lm_fma(v[1], a[2], lm_fma(-v[2], a[1], v[0])), lm_fma(v[2], a[0], lm_fma(-v[0], a[2], v[1])),
                         lm_fma(v[0], a[1], lm_fma(-v[1], a[0], v[2]))};
    v[0] = lm_fma(s, lm_fma(p[1], a[2], -p[2] * a[1]), v[0]);
    v[1] = lm_fma(s, lm_fma(p[2], a[0], -p[0] * a[2]), v[1]);
    v[2] = lm_fma(s, lm_fma(p[0], a[1], -p[1] * a[0]), v[2]);
}

/* Two directions across v != 0, of length 1 to round-off: Duff et al., J. Comput. Graph. Tech. 6 (2017) 1. */
LM_HD void lm_basis_across(const double v[3], float e[3], float f[3])
{
    const float a = (float)v[0], b = (float)v[1], c = (float)v[2];
    const float one = lm_reciprocalf(lm_sqrtf(lm_fmaf(a, a, lm_fmaf(b, b, c * c))));
    const float x = a * one, y = b * one, z = c * one, sign = lm_sign(1.0f, z);
    const float p = -lm_reciprocalf(1.0f + sign * z), q = x * y * p;
    e[0] = lm_fmaf(x * x, p, 1.0f);
    e[1] = q;
    e[2] = -sign * x;
    f[0] = sign * q;
    f[1] = sign * lm_fmaf(y * y, p, 1.0f);
    f[2] = -y;
}

/* Square of a speed below which directions no longer matter: single precision could not tell them. */
#define LM_LEAST_TURNED 1e-30

/* Scattering by angles of variance `variance` in each plane. Returns 0 for the tail that is not sampled. */
LM_HD int lm_scatter(const struct lm_collisions *c, double variance, double v[3], uint32_t a, uint32_t b)
{
    float n[2], e[3], f[3];
    const float square = lm_normal_pair(a, b, n), half = 0.5f * lm_sqrtf((float)variance);
    if (square > c->tail2)
        return 0;
    if (!(lm_size2(v) > LM_LEAST_TURNED))
        return 1;
    lm_basis_across(v, e, f);
    double axis[3];
    for (int d = 0; d < 3; d++)
        axis[d] = (double)(half * (n[0] * e[d] + n[1] * f[d]));
    lm_turn(v, axis);
    return 1;
}

/* Friction and stopping of v; returns 0 where it has stopped. *variance: of the angle that it scatters by meanwhile. */
LM_HD int lm_slow(const struct lm_collisions *c, double n, double v[3], double *variance)
{
    const double size2 = lm_size2(v);
    double keep = c->gas < 0 ? c->keep : c->friction > 0.0 ? lm_exp(-c->friction * n) : 1.0;
    *variance = size2 > 0.0 ? c->angle * c->angle : 0.0;
    if (c->gas >= 0 && (c->points > 0 || c->power > 0.0) && size2 > 0.0) {
        const double speed = lm_sqrt(size2), way = n * c->dt;
        double power = c->power;
        if (c->points > 0) {
            const double energy = 0.5 * c->mass * size2;
            const struct lm_stopping s = lm_stopping_at(c->stopping, c->points, energy);
            const double lost = way * s.stopping * c->one_over_mass * lm_reciprocal(speed);
            keep *= 1.0 - lost * lm_max(1.0 - 0.5 * way * s.slope * speed, 0.0);
            power += lm_max(s.power - 0.5 * s.power_slope * energy * (1.0 - keep * keep), 0.0);
        }
        *variance = 0.25 * power * way * speed * (1.0 + keep);
    }
    if (c->stops && !(keep > 0.0 && keep * keep * size2 > c->stopped2))
        return 0;
    for (int d = 0; d < 3; d++)
        v[d] *= keep;
    return 1;
}

/* Whether an ion of velocity v in the gas' frame loses its charge. */
LM_HD int lm_exchanges(const struct lm_collisions *c, double n, const double v[3], uint32_t bits)
{
    const double size2 = lm_size2(v), chance = ((double)bits + 0.5) * 0x1p-32;
    const double expected = n * c->dt * (c->section * lm_sqrt(size2) + c->rate);
    return chance < expected && chance < 1.0 - lm_exp(-expected); /* 1 - exp(-x) < x */
}

/* Three normal numbers for a velocity. */
LM_HD void lm_atom(const struct lm_collisions *c, uint64_t identity, double v[3])
{
    float n[4];
    const struct lm_random r =
        lm_random_at(c->key, c->species, LM_STREAM_ATOM, (uint32_t)identity, (uint32_t)(identity >> 32));
    lm_normal_pair((uint32_t)r.a, (uint32_t)(r.a >> 32), n);
    lm_normal_pair((uint32_t)r.b, (uint32_t)(r.b >> 32), n + 2);
    for (int d = 0; d < 3; d++)
        v[d] = c->thermal * (double)n[d];
}

LM_HD int lm_is_in_cone(const struct lm_collisions *c, const double v[3], const double b[3])
{
    const double vv = lm_size2(v), bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    const double along = v[0] * b[0] + v[1] * b[1] + v[2] * b[2], size = lm_sqrt(vv * bb);
    return along >= c->cos_low * size && along <= c->cos_high * size;
}

/* One ion with B around it. `identity`: of the particle in this step, for its random numbers. Of one that is taken out
 * v is what it had then. */
LM_HD struct lm_collided lm_collide(const struct lm_collisions *c, const struct lm_medium *m, const double b[3],
                                    double v[3], uint64_t identity)
{
    struct lm_collided out = {-1, 0, {0.0, 0.0, 0.0}};
    double variance, w[3] = {v[0] - m->u[0], v[1] - m->u[1], v[2] - m->u[2]};
    uint32_t r[2];
    if (!lm_slow(c, m->n, w, &variance)) {
        out.channel = LM_ENERGY_STOPPED;
    } else if (c->scatters && variance > 0.0) {
        lm_random_pair(c->key, c->species, LM_STREAM_SCATTER, identity, r);
        out.channel = lm_scatter(c, variance, w, r[0], r[1]) ? -1 : LM_THETA_CUTOFF;
    }
    if (out.channel < 0 && c->exchanges) {
        lm_random_pair(c->key, c->species, LM_STREAM_EXCHANGE, identity, r);
        out.exchanged = lm_exchanges(c, m->n, w, r[0]);
        if (out.exchanged) {
            for (int d = 0; d < 3; d++)
                out.before[d] = w[d] + m->u[d];
            lm_atom(c, identity, w);
        }
    }
    for (int d = 0; d < 3; d++)
        v[d] = w[d] + m->u[d];
    if (out.channel < 0 && c->has_pitch && !lm_is_in_cone(c, v, b))
        out.channel = LM_THETA_BOUNDARY;
    return out;
}

/* What a particle has given away when its velocity became `now`. Units: such that no tally is above 2^51. */
LM_HD struct lm_tally lm_given_up(const struct lm_tally_units *units, const double v[3], const double now[3])
{
    struct lm_tally t;
    double v2 = 0.0;
    t.number = 0;
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        t.v[d] = lm_round51((v[d] - now[d]) * units->v);
        v2 = lm_fma(v[d] - now[d], v[d] + now[d], v2);
    }
    t.v2 = lm_round51(v2 * units->v2);
    return t;
}

/* What of it charge exchange has handed over. */
LM_HD struct lm_tally lm_exchanged(const struct lm_tally_units *units, const struct lm_collided *got,
                                   const double now[3])
{
    struct lm_tally t = lm_given_up(units, got->before, now);
    t.number = 1;
    return t;
}

/* What the gas gets of an ion whose velocity was `old`: of one that has stopped, all. */
LM_HD struct lm_tally lm_to_gas(const struct lm_tally_units *units, const struct lm_collided *got, const double old[3],
                                const double now[3])
{
    struct lm_tally t = lm_given_up(units, old, now);
    if (got->channel == LM_ENERGY_STOPPED) {
        const struct lm_tally rest = lm_tally_of(units, now[0], now[1], now[2]);
        lm_tally_add(&t, &rest);
    }
    return t;
}

#endif
