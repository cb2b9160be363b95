/* A simulation: the state on a backend, and the algorithm as a sequence of the backend's operations. */
#ifndef LARMOR_SIM_H
#define LARMOR_SIM_H

#include "larmor/backend.h"
#include "larmor/checkpoint.h"
#include "larmor/config.h"

struct lm_sim {
    const struct lm_config *config; /* borrowed */
    struct lm_grid grid;
    struct lm_backend *backend; /* owned */
    struct lm_control control;  /* of the state as it stands */
    int64_t step;               /* n; t = n dt */
    uint64_t count[LM_MAX_SPECIES];
    int substeps; /* of the fields in the last step */
    struct {
        int64_t steps;      /* since the last sort */
        double cells, cost; /* how far a particle can have strayed, and what strays have cost, since then */
    } unsorted[LM_MAX_SPECIES];
    int64_t sorts;
    struct lm_ledger ledger[LM_MAX_SPECIES];
    int departed[LM_MAX_SPECIES]; /* some particles have left since the last sort: the backend still holds their places
                                   */
    uint64_t pushed;              /* particle-steps since the start or restart */
    uint8_t *mask;                /* lm_body_mask; NULL without bodies */
};

/* Names of the state's arrays, in the order of enum lm_array: what a checkpoint holds and a fingerprint covers. The
 * last three are B with its ghosts, which count where fields end at walls. */
extern const char *const lm_state_names[LM_STATE_FIELDS + 3];

/* How many of them are of this run's state. */
int lm_sim_state_fields(const struct lm_sim *sim);

/* Creates the backend. `config` must outlive the simulation. */
int lm_sim_create(const struct lm_config *config, struct lm_sim **out);
void lm_sim_destroy(struct lm_sim **sim);

/* Initial state from the configuration: fields, particles, velocities half a step back. LM_BAD_INPUT: div B of what is
 * given is not 0, or no species has particles. */
int lm_sim_start(struct lm_sim *sim);

/* State from a checkpoint. LM_BAD_INPUT: another grid, shape, precision, time step or species than the configuration's.
 */
int lm_sim_restore(struct lm_sim *sim, const char *path, struct lm_checkpoint *head);

/* Whether the next step can be taken. LM_FAILED: it cannot; lm_error() says step, place and likely cause. The state is
 * untouched. */
int lm_sim_check(struct lm_sim *sim);

/* One step; lm_sim_check has passed. LM_FAILED also when the ledger does not close. */
int lm_sim_step(struct lm_sim *sim);

/* Sorts the species some of whose particles have left, so that the backend holds sim->count of each. */
int lm_sim_compact(struct lm_sim *sim);

double lm_sim_time(const struct lm_sim *sim);
int lm_sim_fingerprint(struct lm_sim *sim, uint64_t *fingerprint);

/* Real ions (n0 d_i^2 a unit length) one particle of a species stands for. */
double lm_sim_weight(const struct lm_sim *sim, int species);

/* src/setup.c: what the configuration means on the grid. Arrays have g->size doubles. */
struct lm_setup lm_setup_of(const struct lm_config *config);
int lm_setup_b(const struct lm_config *config, double *b[3]);

/* The resistivity: its profile, the layers before sides, and what `mask` (as in struct lm_bodies, or NULL) says. */
int lm_setup_eta(const struct lm_config *config, const uint8_t *mask, double *eta);
int lm_setup_loading(const struct lm_config *config, int species, double *const b[3], double *store,
                     struct lm_loading *out);
enum { LM_LOADING_ARRAYS = 10 }; /* of `store` */

/* src/diagnose.c: the integrals of the state, in n0 m_p v_A^2 d_i^2 a unit length (energies). */
struct lm_totals {
    double kinetic[LM_MAX_SPECIES][3], momentum[3], magnetic[3], electrons, energy, div_b;
};
int lm_sim_totals(struct lm_sim *sim, struct lm_totals *out);

#endif
