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
    int shuffled[LM_MAX_SPECIES]; /* some have left or entered since the last sort: not every place is a particle's */
    uint64_t pushed;              /* particle-steps since the start or restart */
    struct lm_pass pass[LM_MAX_SPECIES]; /* the last one */
    uint8_t *mask;                       /* lm_body_mask; NULL without bodies */
    struct lm_map_bins maps;             /* with arrays of its own */
    struct {
        struct lm_inflow_cell *cells[LM_SIDES]; /* owned; NULL where nothing enters */
        int timed;                              /* what enters changes with time */
        double speed;                           /* nothing that enters or is re-emitted is faster */
        uint64_t most;                          /* that can enter in the next step */
    } inflow[LM_MAX_SPECIES];
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

/* State from a checkpoint. LM_BAD_INPUT: another grid, shape, precision, time step, species, walls, bodies, limits or
 * maps than the configuration's. */
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

/* src/surroundings.c: walls, bodies, what enters and what is taken out. */

/* Mask of the bodies and bins of the maps, for `setup` to lend to the backend. */
int lm_sim_surround(struct lm_sim *sim, struct lm_setup *setup);

/* Hands what lies beyond inflow sides to the backend: at the start, and what changes with time before each step. */
int lm_sim_begin_inflow(struct lm_sim *sim);
int lm_sim_update_inflow(struct lm_sim *sim);

/* Takes out of a species what slowing and scattering bring to its limits, for the step that begins. */
int lm_sim_lose(struct lm_sim *sim, int species);

/* Books the last step's tallies. LM_FAILED: loaded + injected = present + lost does not hold. */
int lm_sim_book(struct lm_sim *sim);

/* src/accounts.c: the accounts of a species' ledger that anything can pass in a run, in the order of the outputs. */
enum { LM_SURFACE_NAME = LM_MAX_NAME + 8 };
struct lm_account_of {
    char name[LM_SURFACE_NAME]; /* x_min, body_NAME, energy_stopped, ... */
    int enters;                 /* 1: what enters by a side; 0: what is lost */
    int channel;                /* enum lm_side; enum lm_channel */
};
enum { LM_ACCOUNTS = LM_SIDES + LM_CHANNELS };

/* Whether particles of the species can leave by the channel. */
int lm_channel_is_open(const struct lm_config *config, int species, int channel);
int lm_accounts(const struct lm_config *config, int species, struct lm_account_of out[LM_ACCOUNTS]);

/* Whether any species of the run has an account. */
int lm_accounts_any(const struct lm_config *config);
const struct lm_account *lm_account_in(const struct lm_ledger *l, const struct lm_account_of *a);

/* Indices: enum lm_boundary. */
extern const char *const lm_boundary_names[];

/* x_min, body_NAME, ...: surface k < LM_SIDES + the number of bodies. */
void lm_surface_name(const struct lm_config *config, int surface, char out[LM_SURFACE_NAME]);

/* loaded + injected - lost - present: 0, or the run has stopped. */
int64_t lm_sim_residual(const struct lm_sim *sim, int species);

/* src/restart.c: what a checkpoint says of walls, bodies and limits, and whether it is the run's. */
void lm_sim_describe(const struct lm_sim *sim, struct lm_checkpoint *head);
int lm_sim_compare(const struct lm_sim *sim, const char *path, const struct lm_checkpoint *head);

/* src/setup.c: what the configuration means on the grid. Arrays have g->size doubles. */
struct lm_setup lm_setup_of(const struct lm_config *config);
int lm_setup_b(const struct lm_config *config, double *b[3]);

/* The resistivity: its profile, the layers before sides, and what `mask` (as in struct lm_bodies, or NULL) says. */
int lm_setup_eta(const struct lm_config *config, const uint8_t *mask, double *eta);
/* Puts E_`component` of the plasma that comes in beyond sides whose fields are `inflow`: -u x B of the configuration, u
 * the mean drift of the charges that come in at t = 0. */
int lm_setup_inflow_e(const struct lm_config *config, double *const b[3], int component, double *e);
int lm_setup_loading(const struct lm_config *config, int species, double *const b[3], double *store,
                     struct lm_loading *out);
enum { LM_LOADING_ARRAYS = 10 }; /* of `store` */

/* src/diagnose.c: the integrals of the state, in n0 m_p v_A^2 d_i^2 a unit length (energies). */
struct lm_totals {
    double kinetic[LM_MAX_SPECIES][3], momentum[3], magnetic[3], electrons, energy, div_b;
};
int lm_sim_totals(struct lm_sim *sim, struct lm_totals *out);

#endif
