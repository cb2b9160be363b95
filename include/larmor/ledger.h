/* The ledger counts the particles that enter and leave a run, for each species and each channel.
 *
 *     loaded + injected = present + sum of the losses over the channels
 *
 * holds for every species after every step, in integers. Entries and losses are counted as they occur. The number
 * present is found independently, from the deposited charge. The weight of a number of particles is that number times
 * the constant weight of the species. Momentum and energy are sums in fixed point over the particles that enter or
 * leave. They do not balance, because the fields change momentum and energy in between.
 */
#ifndef LARMOR_LEDGER_H
#define LARMOR_LEDGER_H

#include "larmor/base.h"
#include "larmor/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The surfaces that a particle can hit: first the sides of the domain, then the bodies. */
enum { LM_SURFACES = LM_SIDES + LM_MAX_BODIES };

/* The channels of loss. The channel of a surface is its number; the others follow. */
enum lm_channel {
    LM_ENERGY_STOPPED = LM_SURFACES, /* the energy fell below lost_below_energy of the species */
    LM_THETA_BOUNDARY,               /* the pitch angle left the range from lost_below_pitch to lost_above_pitch */
    LM_THETA_CUTOFF,                 /* the scattering angle was beyond scattering_sigmas of the species */
    LM_CHANNELS
};

/* The entrances. The entrance at a side is the number of the side; the others follow. */
enum lm_entrance {
    LM_IONISED = LM_SIDES, /* ions born within the domain: [ionisation.NAME] */
    LM_ENTRANCES
};

/* Sums of one step over the particles of one channel or entrance: their number, v and v^2. Fixed point: the value of v
 * is v * 2^-exponent. The pass over the particles chooses the exponents (lm_ledger_units). */
struct lm_tally {
    int64_t number, v[3], v2;
};

__extension__ typedef __int128 lm_int128;

/* The same over the whole run. */
struct lm_account {
    uint64_t number;
    lm_int128 v[3], v2; /* fixed point with the exponents of struct lm_ledger */
};

/* The ledger of one species. */
struct lm_ledger {
    uint64_t loaded;             /* particles at the start */
    int exponent_v, exponent_v2; /* the value of a sum is sum * 2^-exponent; constant in a run */
    struct lm_account injected[LM_ENTRANCES], lost[LM_CHANNELS];
    struct lm_account to_gas;       /* losses of the ions to the gas; the number counts ions that stopped in the gas */
    struct lm_account exchanged;    /* the part of to_gas that charge exchange has; the number counts exchanges */
    struct lm_account to_electrons; /* losses of the ions to the electrons by the exchange of heat; the number counts
                                       ions that could not exchange because the electrons had too little heat */
};

/* The names of the channels in columns and files. A side has the name x_min, ...; a body has its own name, and NULL
 * here. */
extern const char *const lm_channel_names[LM_CHANNELS];

/* Begins the ledger of a species. No particle of the species may ever be faster than `fastest` [v_A]. */
void lm_ledger_begin(struct lm_ledger *l, uint64_t loaded, double fastest);

/* The exponents for the tallies of a step with at most `count` particles and |v| <= 2^speed_exponent: a sum cannot
 * overflow. */
void lm_ledger_units(const struct lm_ledger *l, double count, int speed_exponent, int *exponent_v, int *exponent_v2);

/* Adds the tally of a step, which has these exponents, to the account `to` of the ledger. */
void lm_ledger_add(const struct lm_ledger *l, struct lm_account *to, const struct lm_tally *t, int exponent_v,
                   int exponent_v2);

/* The number of particles by the ledger: loaded + injected - lost. */
uint64_t lm_ledger_present(const struct lm_ledger *l);

/* An account in the units of the run: number, weight [n0 d_i^2 per unit length], momentum x, y, z and kinetic energy.
 * `weight` is that of one particle (lm_sim_weight). */
enum { LM_LEDGER_VALUES = 6 };
void lm_ledger_values(const struct lm_ledger *l, const struct lm_account *a, double weight, double mass,
                      double out[LM_LEDGER_VALUES]);

/* What fields and electrons have brought through a side since t = 0, inwards positive, n0 m_p v_A^2 d_i^2 a unit
 * length; the sum of the squares of what a step's `fields` may be off by; the part
 * of `fields` that voids brought and that may be no energy of B; and of the state as it stands, by which the next step
 * goes on: what they bring in a unit of time, and the energy of B on the side (larmor/physics/fields/side_energy.h). */
struct lm_side_energy {
    double fields, electrons;
    double off2, doubtful;
    double power_fields, power_electrons, wall;
};

#ifdef __cplusplus
}
#endif
#endif
