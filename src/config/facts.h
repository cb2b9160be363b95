/* Facts that follow from the configuration alone. */
#ifndef LARMOR_CONFIG_FACTS_H
#define LARMOR_CONFIG_FACTS_H

#include "larmor/config.h"

/* --- species --- */

int lm_is_ionised(const struct lm_config *config, int species); /* a source of ions creates its particles */
int lm_collides(const struct lm_species_config *s);             /* it has collisions, or limits that are tested then */
int lm_scatters(const struct lm_config *config, int species);   /* collisions turn its particles */
int lm_exchanges_charge(const struct lm_species_config *s);
int lm_limits_pitch(const struct lm_species_config *s); /* ions are taken out at some angles between v and B */

/* The time that one collision covers: run.dt times collide_every. */
double lm_collision_time(const struct lm_config *config, int species);

/* --- background fields --- */

/* The number of the background field that is the entropy of evolved electrons; -1: there is none. */
int lm_entropy_field(const struct lm_config *config);

int lm_is_zero(const char *expression);                       /* the text is "0" */
int lm_has_local_eta(const struct lm_config *config);         /* the resistivity depends on t or on the plasma */
int lm_has_friction(const struct lm_species_config *species); /* with electrons: it has a resistivity of its own */
int lm_is_forced(const struct lm_species_config *species);    /* a force acts on its ions */
int lm_has_magnets(const struct lm_config *config);           /* outside the plasma */
int lm_has_external_current(const struct lm_config *config);  /* of magnets or of coils */
int lm_background_has_source(const struct lm_background_config *b);
int lm_background_is_sourced(const struct lm_config *config, int field); /* has a source, or ionisation takes from it */
int lm_background_is_open(const struct lm_background_config *b, int side); /* something can cross the side */

/* --- sides --- */

int lm_has_inflow(const struct lm_config *config); /* particles enter through a side */

/* Whether fields carry energy through a side, and whether electrons that have a pressure do
 * (larmor/physics/fields/side_energy.h). */
int lm_is_crossed_by_fields(const struct lm_config *config, int side);
int lm_is_crossed_by_electrons(const struct lm_config *config, int side);

/* Whether evolved electrons meet bodies, or sides that are walls for them
 * (larmor/physics/fluid/absorption.h). */
int lm_has_electron_surfaces(const struct lm_config *config);

/* Why a side has these fields: "plasma flows out at 2.5 times its thermal speed"; "" where the flow changed nothing. */
enum { LM_WHY_FIELDS = 64 };
void lm_why_fields(const struct lm_config *config, int side, char out[LM_WHY_FIELDS]);

/* --- accounts of the ledger --- */

/* The accounts of a species' ledger that anything can pass in a run, in the order of the outputs. */
enum { LM_SURFACE_NAME = LM_MAX_NAME + 8 };
enum lm_account_kind { LM_LEAVES, LM_ENTERS, LM_TO_GAS, LM_EXCHANGED, LM_TO_ELECTRONS };
struct lm_account_of {
    char name[LM_SURFACE_NAME]; /* x_min, body_NAME, energy_stopped, to_gas, ... */
    enum lm_account_kind kind;
    int channel; /* of what leaves, enum lm_channel; of what enters, enum lm_entrance */
};
enum { LM_ACCOUNTS = LM_ENTRANCES + LM_CHANNELS + 3 };

int lm_accounts(const struct lm_config *config, int species, struct lm_account_of out[LM_ACCOUNTS]);
int lm_accounts_any(const struct lm_config *config); /* any species of the run has an account */
const struct lm_account *lm_account_in(const struct lm_ledger *l, const struct lm_account_of *a);

/* Whether particles of the species can leave by the channel. */
int lm_channel_is_open(const struct lm_config *config, int species, int channel);

/* Indices: enum lm_boundary. */
extern const char *const lm_boundary_names[];

/* x_min, body_NAME, ...: surface k < LM_SIDES + the number of bodies. */
void lm_surface_name(const struct lm_config *config, int surface, char out[LM_SURFACE_NAME]);

/* What of the files of [data.NAME] may give B a divergence, as sentences that go on with a message; "" where no file
 * takes part in B. */
void lm_config_advise_div_b(const struct lm_config *config, size_t size, char *out);

#endif
