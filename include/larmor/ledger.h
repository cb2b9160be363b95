/* The ledger: who has entered and left the run, by species and channel, exactly.
 *
 *     loaded + injected = present + sum of the channels
 *
 * holds for the number of every species after every step, as integers. Weight is the number times the species'
 * constant weight. Momentum and energy are tallied in fixed point: what crosses, not a balance, since fields change
 * them in between.
 */
#ifndef LARMOR_LEDGER_H
#define LARMOR_LEDGER_H

#include "larmor/base.h"
#include "larmor/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a particle can meet: sides of the domain, then bodies. */
enum { LM_SURFACES = LM_SIDES + LM_MAX_BODIES };

/* How a particle can leave: at a surface, or by one of the ways after them. */
enum lm_channel {
    LM_ENERGY_STOPPED = LM_SURFACES, /* its energy fell below the species' cut-off */
    LM_THETA_BOUNDARY,               /* it left the accepted cone of pitch angles */
    LM_THETA_CUTOFF,                 /* it was scattered beyond the sampled tail */
    LM_CHANNELS
};

/* How a particle can enter: by a side of the domain, or by one of the ways after them. */
enum lm_entrance {
    LM_IONISED = LM_SIDES, /* born within the domain: [ionisation.NAME] */
    LM_ENTRANCES
};

/* One step's sums over particles that pass a channel or an entrance, fixed point: value = sum 2^-exponent (struct
 * lm_pass). */
struct lm_tally {
    int64_t number, v[3], v2;
};

__extension__ typedef __int128 lm_int128;

/* The same over the whole run. */
struct lm_account {
    uint64_t number;
    lm_int128 v[3], v2; /* in units of struct lm_ledger */
};

struct lm_ledger {
    uint64_t loaded;
    int exponent_v, exponent_v2; /* value = sum 2^-exponent; fixed for the run */
    struct lm_account injected[LM_ENTRANCES], lost[LM_CHANNELS];
    struct lm_account to_gas; /* what collisions have handed over; its number: of ions that have stopped in the gas */
    struct lm_account exchanged;    /* charge exchanges, and what of to_gas is theirs */
    struct lm_account to_electrons; /* what ions have given to the electrons they exchange heat with; its number: of
                                       times that one could not, for want of heat */
};

/* Names of the channels in columns and files: sides as x_min, ...; NULL for bodies, which have names of their own. */
extern const char *const lm_channel_names[LM_CHANNELS];

/* An empty ledger of a species, no particle of which is ever faster than `fastest`, v_A. */
void lm_ledger_begin(struct lm_ledger *l, uint64_t loaded, double fastest);

/* Exponents for a step's tallies of at most `count` particles with |v| <= 2^speed_exponent. */
void lm_ledger_units(const struct lm_ledger *l, double count, int speed_exponent, int *exponent_v, int *exponent_v2);

/* Books a step's tally, which has those exponents, to one of the ledger's accounts. */
void lm_ledger_add(const struct lm_ledger *l, struct lm_account *to, const struct lm_tally *t, int exponent_v,
                   int exponent_v2);

/* loaded + injected - lost */
uint64_t lm_ledger_present(const struct lm_ledger *l);

/* An account in the run's units: number, weight (n0 d_i^2 a unit length), momentum x, y, z and kinetic energy.
 * `weight`: of one particle (lm_sim_weight). */
enum { LM_LEDGER_VALUES = 6 };
void lm_ledger_values(const struct lm_ledger *l, const struct lm_account *a, double weight, double mass,
                      double out[LM_LEDGER_VALUES]);

#ifdef __cplusplus
}
#endif
#endif
