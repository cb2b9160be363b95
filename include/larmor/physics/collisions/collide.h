/* Collisions of an ion with a medium during one step, in the frame of the medium.
 *
 * - Friction: dv/dt = -nu n v has the exact solution v exp(-nu n dt).
 * - Stopping is continuous slowing down: m dv/dt = -n S(E). A step is of second order in dt.
 * - Scattering is the sum of many small deflections. The projections of its angle on two planes that contain v are
 *   independent normal numbers (Jackson, Classical Electrodynamics, 3rd edition, section 13.6), made wider by
 *   lm_wider_variance so that a step is of second order in dt. The tail of the distribution beyond a given number of
 *   standard deviations is not sampled: an ion that would scatter so far is taken out.
 * - Charge exchange has the probability 1 - exp(-n (sigma |v| + k) dt). The ion becomes a neutral atom, and an atom of
 *   the gas becomes the ion, with a thermal velocity. The gas receives the momentum and energy of the old ion at once.
 *
 * The change of the velocity has single precision, 1e-6 of itself, in whatever precision the particles are stored.
 */
#ifndef LARMOR_PHYSICS_COLLISIONS_COLLIDE_H
#define LARMOR_PHYSICS_COLLISIONS_COLLIDE_H

#include "larmor/physics/collisions/collision_step.h"
#include "larmor/physics/numerics/normal.h"
#include "larmor/physics/numerics/one_minus_exp.h"
#include "larmor/physics/particles/surface.h"

/* Whether a species has no other collisions than stopping and scattering in a gas at rest. Both backends have faster
 * loops for this case. */
LM_HD int lm_is_stopping_only(const struct lm_collisions *c)
{
    return c->gas >= 0 && !c->moves && !(c->friction > 0.0f) && !c->exchanges && !c->has_pitch;
}

/* For lm_is_stopping_only: the same parameters, with constants for the absent processes, so that the compiler removes
 * their code. */
LM_HD struct lm_collisions lm_stopping_only(struct lm_collisions c)
{
    c.gas = 0;
    c.friction = 0.0f;
    c.moves = c.exchanges = c.has_pitch = 0;
    return c;
}

/* What a step's collisions do to a velocity w in the frame of the medium. First it turns: w += turn. Then it decreases:
 * w -= fraction_lost w. After a charge exchange the velocity is `atom` instead. */
struct lm_velocity_change {
    int survives; /* 0: the ion is taken out; then only the channel is defined */
    int channel;  /* enum lm_channel that takes it out, or -1 */
    int exchanged;
    float turn[3], fraction_lost, atom[3]; /* turn and atom: v_A */
};

/* Square of a speed, v_A^2, below which only friction acts: single precision has no direction of smaller vectors. */
#define LM_REST_SPEED2 1e-30f

/* Friction and stopping of an ion with w^2 = speed2. Returns the fraction of the velocity that is lost. *variance
 * becomes that of each projected angle of scattering on the way. stopping: of the table at the ion's energy. */
LM_HD float lm_slow_down(const struct lm_collisions *c, float n, float speed2, float speed, float inverse_speed,
                         const struct lm_interpolated_stopping *stopping, float *variance)
{
    if (c->gas < 0) {
        *variance = speed2 > LM_REST_SPEED2 ? c->variance : 0.0f;
        return c->fraction_lost;
    }
    float lost = c->friction > 0.0f ? lm_one_minus_expf(c->friction * n) : 0.0f, power = c->scattering_power;
    const int is_at_rest = !(speed2 > LM_REST_SPEED2);
    const float n_dt = is_at_rest ? 0.0f : n * c->dt;
    if (c->stopping.rows > 0) {
        /* Taylor series: w(dt) = w - (n S / m) dt (1 - (n dS/dE |w| / 2) dt) */
        const float energy = c->half_mass * speed2;
        const float first_order = n_dt * c->one_over_mass * stopping->stopping * inverse_speed;
        const float second_order = 1.0f - 0.5f * n_dt * stopping->slope * speed;
        const float stopped = second_order > 0.0f ? first_order * second_order : 0.0f;
        lost = c->friction > 0.0f ? lm_fmaf(-lost, stopped, lost + stopped) : stopped;
        /* at the mean of the energies before and after: lost (2 - lost) is the fraction of the energy that is lost */
        const float mean =
            lm_fmaf(-0.5f * stopping->scattering_slope * energy, lost * (2.0f - lost), stopping->scattering_power);
        power += mean > 0.0f ? mean : 0.0f;
    }
    /* half of d<theta^2>/ds times the path, |w| dt (1 - lost / 2) */
    *variance = 0.25f * power * n_dt * speed * (2.0f - lost);
    return lost;
}

/* Deflections of the variance s each, added up on the sphere of directions during a step, leave the part
 * 1 - L s/2 + (L s/2)^2/2 - ... of a spherical harmonic, L = l (l + 1). The turns of lm_scatter leave
 * 1 - L s'/2 + s'^2 (L^2/8 + L/4) - ..., which is the same up to s^2 for s' = s (1 + s/2). The returned s' has this
 * factor for small s, and is below 2 s for large ones. */
LM_HD float lm_wider_variance(float s)
{
    const float half = 0.5f * s, share = lm_reciprocalf(1.0f + half);
    return lm_fmaf(s * share, half * share, s);
}

/* Small-angle scattering of a velocity w. The angle is 2 atan(a), where 2 a is the length of two normal numbers of the
 * given variance. They are the deflections along two directions across w, which with w are an orthonormal basis (Duff
 * et al., J. Comput. Graph. Tech. 6 (2017) 1). turn: the change of w. Returns 0 for an angle in the tail that is not
 * sampled. */
LM_HD int lm_scatter(const struct lm_collisions *c, float variance, const float w[3], float speed, float inverse_speed,
                     const uint32_t r[2], float turn[3])
{
    const float radius2 = lm_normal_radius2(r[0]), a2 = 0.25f * variance * radius2;
    const float scale = 2.0f * speed * lm_reciprocalf(1.0f + a2), along = -scale * a2 * inverse_speed;
    const float across = a2 > 1e-30f ? scale * lm_rootf(a2 > 1e-30f ? a2 : 1e-30f) : 0.0f;
    const float x = w[0] * inverse_speed, y = w[1] * inverse_speed, z = w[2] * inverse_speed;
    float e, f;
    lm_directionf(r[1], &e, &f);
    e *= across;
    f *= across;
    const float both = lm_fmaf(x, e, y * f), share = -both * lm_reciprocalf(1.0f + lm_sizef(z));
    turn[0] = lm_fmaf(along, w[0], lm_fmaf(x, share, e));
    turn[1] = lm_fmaf(along, w[1], lm_fmaf(y, share, f));
    turn[2] = lm_fmaf(along, w[2], z < 0.0f ? both : -both);
    return variance > 0.0f ? radius2 <= c->tail2 : 1;
}

/* Draws whether an ion of that speed exchanges its charge. */
LM_HD int lm_draw_charge_exchange(const struct lm_collisions *c, float n, float speed, uint32_t bits)
{
    const float uniform = ((float)bits + 0.5f) * 0x1p-32f;
    const float expected = n * lm_fmaf(c->exchange_section, speed, c->exchange_rate);
    return uniform < expected && uniform < lm_one_minus_expf(expected); /* 1 - exp(-x) < x */
}

/* Draws the velocity of a gas atom in the frame of the gas. */
LM_HD void lm_draw_atom(const struct lm_collisions *c, uint64_t identity, float v[3])
{
    float n[4];
    const struct lm_random r =
        lm_random_at(c->key, c->species, LM_STREAM_ATOM, (uint32_t)identity, (uint32_t)(identity >> 32));
    lm_normal_pair((uint32_t)r.a, (uint32_t)(r.a >> 32), n);
    lm_normal_pair((uint32_t)r.b, (uint32_t)(r.b >> 32), n + 2);
    for (int d = 0; d < 3; d++)
        v[d] = c->thermal * n[d];
}

LM_HD float lm_norm2f(const float w[3])
{
    return lm_fmaf(w[0], w[0], lm_fmaf(w[1], w[1], w[2] * w[2]));
}

/* The table of stopping at the energy of an ion of velocity w in the frame of the medium; zeros without a table. */
LM_HD struct lm_interpolated_stopping lm_stopping_of_ion(const struct lm_collisions *c, const float w[3])
{
    struct lm_interpolated_stopping none = {0.0f, 0.0f, 0.0f, 0.0f};
    return c->stopping.rows > 0 ? lm_stopping_at(&c->stopping, c->half_mass * lm_norm2f(w)) : none;
}

/* The collisions of one ion of velocity w in the frame of a medium of density n. stopping: lm_stopping_of_ion.
 * identity: lm_identity, which selects the random numbers. */
LM_HD struct lm_velocity_change lm_collide(const struct lm_collisions *c, float n, const float w[3],
                                           const struct lm_interpolated_stopping *stopping, uint64_t identity)
{
    struct lm_velocity_change out = {1, -1, 0, {0.0f, 0.0f, 0.0f}, 0.0f, {0.0f, 0.0f, 0.0f}};
    const float speed2 = lm_norm2f(w);
    const float speed = lm_rootf(speed2 > LM_REST_SPEED2 ? speed2 : LM_REST_SPEED2);
    const float inverse_speed = lm_reciprocalf(speed);
    float variance;
    const float lost = lm_slow_down(c, n, speed2, speed, inverse_speed, stopping, &variance), kept = 1.0f - lost;
    const float speed2_after = kept > 0.0f ? kept * kept * speed2 : -1.0f;
    int is_sampled = 1;
    uint32_t r[2];
    if (c->scatters) {
        lm_random_pair(c->scatter_key, identity, r);
        is_sampled = lm_scatter(c, lm_wider_variance(variance), w, speed, inverse_speed, r, out.turn);
    }
    const int is_stopped = c->stops & !(speed2_after > c->stopped2);
    out.fraction_lost = lost;
    out.survives = is_sampled & !is_stopped;
    /* the channel as arithmetic: compilers make vector instructions of it */
    out.channel = is_stopped * (LM_ENERGY_STOPPED - LM_THETA_CUTOFF) + !out.survives * (LM_THETA_CUTOFF + 1) - 1;
    if (c->exchanges && out.survives) {
        lm_random_pair(c->exchange_key, identity, r);
        out.exchanged = lm_draw_charge_exchange(c, n, (1.0f - 0.5f * lost) * speed, r[0]); /* at the mean speed */
        if (out.exchanged)
            lm_draw_atom(c, identity, out.atom);
    }
    return out;
}

/* Whether the angle between v and B lies in the range that the species' lost_below_pitch and lost_above_pitch allow. */
LM_HD int lm_is_in_pitch_range(const struct lm_collisions *c, const double v[3], const double b[3])
{
    const double vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    const double along = v[0] * b[0] + v[1] * b[1] + v[2] * b[2], size = lm_sqrt(vv * bb);
    return along >= c->cos_low * size && along <= c->cos_high * size;
}

#endif
