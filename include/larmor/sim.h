/* A simulation: the state on a backend, and the algorithm as a sequence of the backend's operations. */
#ifndef LARMOR_SIM_H
#define LARMOR_SIM_H

#include "backend/backend.h"
#include "output/checkpoint/checkpoint.h"
#include "larmor/config.h"

enum { LM_MOST_STATE_FIELDS = LM_STATE_FIELDS + LM_MAX_BACKGROUNDS + 3 };

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
    struct lm_pass pass[LM_MAX_SPECIES];                /* the last one */
    struct lm_collisions collisions[LM_MAX_SPECIES];    /* of that */
    struct lm_exchange_limits exchange[LM_MAX_SPECIES]; /* of the next step */
    uint8_t *mask;                                      /* lm_body_mask; NULL without bodies */
    struct lm_map_bins maps;                            /* with arrays of its own */
    struct {
        struct lm_inflow_cell *cells[LM_SIDES]; /* owned; NULL where nothing enters */
        int timed;                              /* what enters changes with time */
        double speed;                           /* nothing that enters or is re-emitted is faster */
        uint64_t most;                          /* that can enter in the next step */
    } inflow[LM_MAX_SPECIES];
    struct lm_sim_ionisation {
        int timed;           /* it changes with time */
        double speed;        /* nobody is born faster */
        double sum, largest; /* of what is expected in the cells in a step; of a gas: for each unit of its density */
        double cells;        /* in which anybody can be born */
        uint64_t most;       /* that can be born in the next step */
    } ionisation[LM_MAX_IONISATIONS];
    uint8_t *clearance; /* lm_stencil_clearance; NULL without background fields */
    struct lm_sim_background {
        struct lm_background_ledger ledger;
        double least, most;                             /* over the cells of fluid, as they are */
        double largest_inflow, largest_source;          /* that is given for the next step: a value, and what it adds */
        double flow_rate;                               /* of the last step; of a given flow: of the next one */
        int64_t substeps;                               /* of the last step */
        int timed_velocity, timed_source, timed_inflow; /* what changes with time */
    } background[LM_MAX_BACKGROUNDS];
    struct {
        int heats;        /* whether there is a resistivity */
        int64_t substeps; /* of the conduction in half of the last step */
        double heat;      /* since the start, a sum of n0 m_p v_A^2 over the cells */
    } electrons;          /* whose pressure is evolved */
    const char *state_names[LM_MOST_STATE_FIELDS];
    char background_names[LM_MAX_BACKGROUNDS][LM_MAX_NAME + 16]; /* background_NAME */
};

/* The arrays of the state, which a checkpoint holds and a fingerprint covers: those before LM_STATE_FIELDS, the
 * background fields and, where fields end at walls, B once more with all its ghosts. How many; how many of them with
 * ghosts; and number k as enum lm_array. Their names are sim->state_names. */
int lm_sim_state_fields(const struct lm_sim *sim);
int lm_sim_state_bordered(const struct lm_sim *sim);
int lm_sim_state_array(const struct lm_sim *sim, int k);
void lm_sim_name_state(struct lm_sim *sim);

/* Creates the backend. `config` must outlive the simulation. */
int lm_sim_create(const struct lm_config *config, struct lm_sim **out);
void lm_sim_destroy(struct lm_sim **sim);

/* Initial state from the configuration: fields, particles, velocities half a step back. LM_BAD_INPUT: div B of what is
 * given is not 0, or no species has particles. */
int lm_sim_start(struct lm_sim *sim);

/* The same for a run: LM_BAD_INPUT also where there is no memory for what the first step brings in. */
int lm_sim_begin(struct lm_sim *sim);

/* Messages of a start that cannot be: LM_BAD_INPUT. */
int lm_sim_too_fast(const struct lm_config *config, int species);
int lm_sim_no_particles(const struct lm_config *config);

/* State from a checkpoint. LM_BAD_INPUT: another grid, shape, precision, time step, species, walls, bodies, limits or
 * maps than the configuration's. */
int lm_sim_restore(struct lm_sim *sim, const char *path, struct lm_checkpoint *head);

/* The same where lm_checkpoint_head has read `head` already: the file is not verified again. */
int lm_sim_restore_state(struct lm_sim *sim, const char *path, struct lm_checkpoint *head);

/* Whether the next step can be taken. LM_FAILED: it cannot; lm_error() says step, place and likely cause. The state is
 * untouched. */
int lm_sim_check(struct lm_sim *sim);

/* One step; lm_sim_check has passed. LM_FAILED also when the ledger does not close. LM_STOPPED: it has been given up,
 * as lm_stop_allow (base/stop.h) allowed. After a failure the state is good for nothing. */
int lm_sim_step(struct lm_sim *sim);

/* Substeps of B that the next step needs. */
int lm_sim_substeps_needed(const struct lm_sim *sim);

/* Sorts the species some of whose particles have left, so that the backend holds sim->count of each. */
int lm_sim_compact(struct lm_sim *sim);

double lm_sim_time(const struct lm_sim *sim);
int lm_sim_fingerprint(struct lm_sim *sim, uint64_t *fingerprint);

/* Real ions (n0 d_i^2 a unit length) one particle of a species stands for. */
double lm_sim_weight(const struct lm_sim *sim, int species);

/* src/sim/step.c, for the start. One pass over every species, and their moments at the new level; with `move`, which a
 * step has and its preparation has not, particles also leave and enter. Then maxima of the fields at the level called
 * OLD.
 */
int lm_sim_pass_all(struct lm_sim *sim, double kick_dt, double drift_dt, int move);
int lm_sim_settle(struct lm_sim *sim);

/* src/sim/boundaries.c: walls, bodies, what enters and what is taken out. */

/* Mask of the bodies and bins of the maps, for `setup` to lend to the backend. */
int lm_sim_surround(struct lm_sim *sim, struct lm_setup *setup);

/* Hands what lies beyond inflow sides to the backend: at the start, and what changes with time before each step. */
int lm_sim_begin_inflow(struct lm_sim *sim);
int lm_sim_update_inflow(struct lm_sim *sim);

/* Books the last step's tallies. LM_FAILED: loaded + injected = present + lost does not hold. */
int lm_sim_book(struct lm_sim *sim);

/* src/sim/ionisation.c: sources of ions. */

/* Hands them to the backend: at the start or after a restart, when the background fields are there, and what changes
 * with time before each step. LM_BAD_INPUT: an expression is not finite, or negative where it must not be. */
int lm_sim_begin_ionisation(struct lm_sim *sim);
int lm_sim_update_ionisation(struct lm_sim *sim);

/* Bounds for the next step, from the gases as they are. LM_FAILED: too many would be born in a cell. */
int lm_sim_bound_ionisation(struct lm_sim *sim);

/* Nobody of the species that is born is faster; that can be born in the next step. */
double lm_sim_birth_speed(const struct lm_sim *sim, int species);
uint64_t lm_sim_most_births(const struct lm_sim *sim, int species);

/* Births of a species in the step that is under way, after its pass. */
int lm_sim_ionise(struct lm_sim *sim, int species);

int lm_is_ionised(const struct lm_config *config, int species);

/* What is expected in a step, at time t: particles in the cells, of a gas for each unit of its density; thermal speeds
 * and drifts. Arrays of g->size; `work` has 3. `mask` and `room`: of the bodies, NULL without; lm_stencil_clearance. */
int lm_setup_ionisation(const struct lm_config *config, int source, const uint8_t *mask, const uint8_t *room, double t,
                        double *const to[LM_BORN_ARRAYS], double *work);

/* src/sim/advection.c: background fields. */
#define LM_MOST_SUBSTEPS 1e6 /* of a field in a step; one that needs more stops the run */

/* Hands flows, sources and what flows in to the backend, for the step to come: at the start or after a restart, and
 * what changes with time before each step. Then the fields: from the configuration, or, `head` given, as they have been
 * read. LM_BAD_INPUT: an expression is not finite, or what has been read does not fit its ledger. */
int lm_sim_begin_backgrounds(struct lm_sim *sim, const char *path, const struct lm_checkpoint *head);
int lm_sim_update_backgrounds(struct lm_sim *sim);

/* Whether the next step can take them. LM_FAILED: it cannot. */
int lm_sim_check_backgrounds(struct lm_sim *sim);

/* Velocities of ions and electrons, where they carry fields: before B is advanced, and `later`. */
int lm_sim_flow(struct lm_sim *sim, int later);

/* Larger quanta for fields that have grown. LM_FAILED: one has grown too much. */
int lm_sim_coarsen(struct lm_sim *sim);

/* Puts a field at the start, rounded to whole quanta and with 0 in bodies, and begins its ledger. */
int lm_sim_put_field(struct lm_sim *sim, int field, double *q);

/* A field by dt, with the velocities that there are. */
int lm_sim_advect_field(struct lm_sim *sim, int field, double dt);

/* All fields but the electrons' entropy by one step. LM_FAILED: one would need too many substeps. */
int lm_sim_advect(struct lm_sim *sim);

/* Books the last step. LM_FAILED: a ledger does not close. */
int lm_sim_book_backgrounds(struct lm_sim *sim);

/* src/sim/electrons.c: electrons whose pressure is evolved; nothing happens with others. */

/* The background field that is their entropy; -1: there is none. */
int lm_sim_entropy(const struct lm_config *config);

/* Their entropy at t = 0, from the density at LM_N_OLD. */
int lm_sim_start_electrons(struct lm_sim *sim);

/* Whether they are heated, `eta` being LM_ETA on the host. */
void lm_sim_find_heat(struct lm_sim *sim, const double *eta);

/* The entropy that flows in by a side at `count` points at time t. LM_BAD_INPUT: a negative temperature. */
int lm_sim_entropy_inflow(const struct lm_config *config, int count, const double *x, const double *y, double t,
                          double *values);
/* Whether that changes with time. */
int lm_sim_entropy_is_timed(const struct lm_config *config, int *timed);

/* Half a step of the electrons: heat and its conduction at LM_N_OLD, then the entropy's flow, before B advances; after
 * that the flow, then heat at LM_N_NEW. LM_FAILED: it would take too many substeps. */
int lm_sim_advance_electrons(struct lm_sim *sim, int level);
void lm_sim_book_heat(struct lm_sim *sim);

/* src/sim/advection.c: integrals over the domain, and the residual, which is 0 or the run has stopped. */
double lm_sim_background_value(const struct lm_sim *sim, int field, lm_int128 sum);
double lm_sim_background_residual(const struct lm_sim *sim, int field);

/* A given flow on the faces at time t, shut at bodies and walls; arrays of g->size that hold something, `work` another
 * one. */
int lm_setup_flow(const struct lm_config *config, int field, const uint8_t *room, double t, double *vx, double *vy,
                  double *work);

/* A field at t = 0 in the cells, 0 in bodies; `mask` as in struct lm_bodies, or NULL. LM_BAD_INPUT: not finite, a
 * negative density of a gas, or of a size that whole quanta cannot hold. */
int lm_setup_initial(const struct lm_config *config, int field, const uint8_t *mask, double *q);

/* Whether it has a source; whether it has, or ionisation takes from it; whether anything can cross a side. */
int lm_background_has_source(const struct lm_background_config *b);
int lm_background_is_sourced(const struct lm_config *config, int field);
int lm_background_is_open(const struct lm_background_config *b, int side);

/* src/sim/collisions.c: collisions with a medium, which may be a background field. */

/* Whether a species has any, or limits that are looked at with them; whether they turn it, or take its charge; whether
 * ions are taken out at some angles between v and B. */
int lm_collides(const struct lm_species_config *s);
int lm_scatters(const struct lm_config *c, int species);
int lm_exchanges_charge(const struct lm_species_config *s);
int lm_limits_pitch(const struct lm_species_config *s);

/* The time that is made up for at once. */
double lm_collision_time(const struct lm_config *c, int species);

/* How near a species comes to what a step can take, in a gas of density n, at speeds up to `speed`. */
struct lm_collision_limits {
    double exchange; /* probability of charge exchange in a step; it has one at most in it */
    double angle;    /* root mean square in a plane in a step, rad */
    double cells;    /* on the way on which a fastest ion would lose its energy; infinite without stopping */
};
struct lm_collision_limits lm_collision_limits(const struct lm_species_config *s, const struct lm_grid *g, double dt,
                                               double n, double speed);

/* No particle is faster than this after collisions and then a kick, that without collisions would not be faster than
 * `before`; `kick`: the kick's part in that. NaN if `before` is. */
double lm_sim_collided_speed(const struct lm_sim *sim, int species, double before, double kick);

/* In the step that begins; NULL: none. Valid until the next call. */
const struct lm_collisions *lm_sim_collisions(struct lm_sim *sim, int species);

/* Background fields take up what a species has given to its gas in the pass. */
int lm_sim_give(struct lm_sim *sim, int species);

/* src/sim/ion_electron_heating.c: ions exchange heat with electrons whose pressure is evolved; nothing happens where
 * none do. */

/* x of larmor/physics/collisions/ion_electron_heating.h where n = 1 and T_e = 1, and the most it may be. */
double lm_exchange_at_one(const struct lm_config *c, int species);
double lm_exchange_most(const struct lm_config *c);

/* How far the next step's exchange can go, from the state as it stands. */
int lm_sim_bound_exchange(struct lm_sim *sim);

/* The largest |v|^2 after it. */
double lm_sim_exchanged_speed2(const struct lm_sim *sim, int species);

/* All species that do, in the step that begins: with the tallies of sim->pass. */
int lm_sim_exchange(struct lm_sim *sim);

/* src/sim/ledger_accounts.c: the accounts of a species' ledger that anything can pass in a run, in the order of the
 * outputs. */
enum { LM_SURFACE_NAME = LM_MAX_NAME + 8 };
enum lm_account_kind { LM_LEAVES, LM_ENTERS, LM_TO_GAS, LM_EXCHANGED, LM_TO_ELECTRONS };
struct lm_account_of {
    char name[LM_SURFACE_NAME]; /* x_min, body_NAME, energy_stopped, to_gas, ... */
    enum lm_account_kind kind;
    int channel; /* of what leaves, enum lm_channel; of what enters, enum lm_entrance */
};
enum { LM_ACCOUNTS = LM_ENTRANCES + LM_CHANNELS + 3 };

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

/* src/sim/restart_check.c: what a checkpoint says of walls, bodies and limits, and whether it is the run's. */
void lm_sim_describe(const struct lm_sim *sim, struct lm_checkpoint *head);
int lm_sim_compare(const struct lm_sim *sim, const char *path, const struct lm_checkpoint *head);
int lm_sim_compare_electrons(const struct lm_sim *sim, const char *path, const struct lm_checkpoint *head);

/* src/sim/setup.c: what the configuration means on the grid. Arrays have g->size doubles. */
struct lm_setup lm_setup_of(const struct lm_config *config);
int lm_setup_b(const struct lm_config *config, double *b[3]);

/* The resistivity: its profile, the layers before sides, and what `mask` (as in struct lm_bodies, or NULL) says. */
int lm_setup_eta(const struct lm_config *config, const uint8_t *mask, double *eta);
/* Puts E_`component` of the plasma that comes in beyond sides whose fields are `inflow`: -u x B of the configuration, u
 * the mean drift of the charges that come in at t = 0. Ghosts beyond periodic sides become images of the cells. */
int lm_setup_inflow_e(const struct lm_config *config, double *const b[3], int component, double *e);
int lm_setup_loading(const struct lm_config *config, int species, double *const b[3], double *store,
                     struct lm_loading *out);
enum { LM_LOADING_ARRAYS = 10 }; /* of `store` */

/* src/sim/totals.c: the integrals of the state, in n0 m_p v_A^2 d_i^2 a unit length (energies). */
struct lm_totals {
    double kinetic[LM_MAX_SPECIES][3], momentum[3], magnetic[3], electrons, energy, div_b;
};
int lm_sim_totals(struct lm_sim *sim, struct lm_totals *out);

#endif
