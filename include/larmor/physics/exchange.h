/* Ions exchange heat with the electrons in their cell, T_i with T_e, where ions are slow beside electrons (v_ti <<
 * v_te): there the Fokker-Planck operator is an Ornstein-Uhlenbeck process (Lemons et al., J. Comput. Phys. 228 (2009)
 * 1391; Spitzer, Physics of Fully Ionized Gases, chapter 5),
 *
 *     w' = w exp(-x) + sqrt(T_e/m (1 - exp(-2 x))) N,   x = nu dt n / T_e^(3/2),
 *
 * N three normal numbers, w the velocity relative to the mean of all ions in the cell: what electrons do to that mean
 * is resistivity's. n, T_e and the mean are those of the cell the ion is in, at the beginning of the step. The mean is
 * that of the current, so momentum is kept on average and for one charge only; and energy is counted where the box is
 * at rest: noise brakes a plasma that drifts fast through it.
 *
 * Here what the cells are; the particles are in larmor/physics/exchange_particle.h.
 */
#ifndef LARMOR_PHYSICS_EXCHANGE_H
#define LARMOR_PHYSICS_EXCHANGE_H

#include "larmor/physics/electrons.h"
#include "larmor/physics/rng.h"

/* Of one species in one step. */
struct lm_exchange {
    double rate;    /* x where n = 1 and T_e = 1 */
    double most;    /* of x anywhere: T_e stands still meanwhile, and must not come to lie beyond T_i */
    double fastest; /* no mean velocity is larger, v_A */
    double one_over_mass;
    uint32_t keys[2][LM_PHILOX_ROUNDS]; /* of the step's random numbers: two pairs for an ion */
};

enum lm_bath_kind {
    LM_BATH_NONE, /* at the density floor, or in a solid: no exchange */
    LM_BATH_OPEN,
    LM_BATH_REFUSES /* its electrons have less than they were asked for */
};

/* What the ions of a species meet in a cell. */
struct lm_bath {
    float lost;    /* 1 - exp(-x) */
    float thermal; /* standard deviation of the noise, v_A */
    float u[3];    /* mean velocity, v_A */
    int kind;
};

/* A cell whose electrons would be left with less of their pressure than this refuses. */
#define LM_EXCHANGE_LEFT 0x1p-6

/* Stands for the temperature where there is no exchange. */
#define LM_NO_TEMPERATURE (-1.0)

/* T_e of a cell. `room`: lm_background_room. */
LM_HD double lm_electron_temperature(double entropy, double n, uint8_t room, const struct lm_ohm *o)
{
    return room && n > o->floor ? lm_pressure_of(entropy, o->gamma) / n : LM_NO_TEMPERATURE;
}

/* 1 - exp(-x) for x >= 0. */
LM_HD double lm_share(double x)
{
    return x < 1e-5 ? x * (1.0 - 0.5 * x) : 1.0 - lm_exp(-x);
}

/* x before it is limited; infinite at T = 0. */
LM_HD double lm_exchange_rate(const struct lm_exchange *e, double n, double t)
{
    return e->rate * n / (t * lm_sqrt(t));
}

/* Square of the noise for a mass of 1. */
LM_HD double lm_exchange_noise2(double x, double t)
{
    return t * lm_share(2.0 * x);
}

/* With the ions' current j of the cell. */
LM_HD struct lm_bath lm_bath_of(const struct lm_exchange *e, double n, double t, const double j[3])
{
    struct lm_bath b = {0.0f, 0.0f, {0.0f, 0.0f, 0.0f}, LM_BATH_NONE};
    if (t == LM_NO_TEMPERATURE)
        return b;
    const double x = lm_min(lm_exchange_rate(e, n, t), e->most);
    const double size = lm_sqrt(j[0] * j[0] + j[1] * j[1] + j[2] * j[2]), most = n * e->fastest;
    /* The current is of half a step before the density: in thin cells they need not fit. */
    const double scale = size > most ? e->fastest / size : 1.0 / n;
    b.lost = (float)lm_share(x);
    b.thermal = (float)lm_sqrt(lm_exchange_noise2(x, t) * e->one_over_mass);
    for (int d = 0; d < 3; d++)
        b.u[d] = (float)(j[d] * scale);
    b.kind = LM_BATH_OPEN;
    return b;
}

/* What of a cell counts for lm_exchange_limits: sizes as bits, which order like them. */
struct lm_exchange_reach {
    uint64_t lost, noise2;
    int limited;
};

LM_HD struct lm_exchange_reach lm_exchange_reach(const struct lm_exchange *e, double n, double t)
{
    struct lm_exchange_reach r = {0, 0, 0};
    if (t == LM_NO_TEMPERATURE)
        return r;
    const double x = lm_exchange_rate(e, n, t), within = lm_min(x, e->most);
    r.lost = lm_size_bits(lm_share(within));
    r.noise2 = lm_size_bits(lm_exchange_noise2(within, t));
    r.limited = x > e->most;
    return r;
}

/* Whether the electrons of a cell of that entropy can take, or give, an energy density. */
LM_HD int lm_can_exchange(double entropy, double heat, double gamma)
{
    const double p = lm_pressure_of(entropy, gamma);
    return p + (gamma - 1.0) * heat >= LM_EXCHANGE_LEFT * p;
}

#endif
