/* What a simulation consists of: private to src/sim, to the benchmarks and to tests that look inside. */
#ifndef LARMOR_SIM_STATE_H
#define LARMOR_SIM_STATE_H

#include <math.h>

#include "backend/backend.h"
#include "larmor/physics/particles/tiling.h"
#include "larmor/sim.h"
#include "larmor/physics/numerics/bounds.h"

enum {
    LM_MOST_STATE_FIELDS =
        LM_STATE_FIELDS + LM_MAX_BACKGROUNDS + LM_FRICTION_STATE * LM_MAX_SPECIES + LM_SIDES + LM_BORDERED_FIELDS
};

struct lm_sim {
    const struct lm_config *config; /* borrowed */
    struct lm_grid grid;
    struct lm_backend *backend; /* owned */
    struct lm_control control;  /* of the state as it stands */
    int64_t step;               /* n; t = n dt */
    uint64_t count[LM_MAX_SPECIES];
    int substeps;   /* of B in the last step */
    int feels_mean; /* whether ions felt the mean of B in the last step */
    struct {
        int64_t steps;      /* since the last sort */
        double cells, cost; /* how far a particle can have strayed, and what strays have cost, since then */
    } unsorted[LM_MAX_SPECIES];
    int64_t sorts;
    struct lm_ledger ledger[LM_MAX_SPECIES];
    struct lm_side_energy side[LM_SIDES];
    int has_gaps[LM_MAX_SPECIES];        /* particles have left or entered since the last sort: some slots are empty */
    uint64_t particle_steps;             /* since the start or restart */
    struct lm_pass pass[LM_MAX_SPECIES]; /* the last one */
    struct lm_collisions collisions[LM_MAX_SPECIES];    /* of that pass */
    struct lm_exchange_limits exchange[LM_MAX_SPECIES]; /* of the next step */
    uint8_t *mask;                                      /* lm_body_mask, owned; NULL without bodies */
    struct lm_body_node *node;                          /* lm_body_nodes, in the same way */
    uint8_t *obstacle;                                  /* lm_body_obstacles, in the same way */
    struct lm_body_cut *cut;
    float *factor;
    struct lm_driving *driving;      /* owned; NULL: nothing drives the plasma from outside */
    int driven;                      /* the driving changes with time */
    double force[LM_MAX_SPECIES][3]; /* largest |F_d/Z| of the forces on ions, at n */
    struct lm_map_bins maps;
    struct { /* the arrays of `maps`, owned */
        double *cos2, *energy;
        uint32_t *faces;
    } map_arrays;
    struct {
        struct lm_inflow_cell *cells[LM_SIDES]; /* owned; NULL where nothing enters */
        int timed;                              /* what enters changes with time */
        double speed;                           /* an upper bound of what enters or is re-emitted */
        uint64_t most;                          /* an upper bound of the number that enters in the next step */
    } inflow[LM_MAX_SPECIES];
    struct lm_sim_ionisation {
        int timed;           /* it changes with time */
        double speed;        /* an upper bound of newborn ions */
        double sum, largest; /* of what is expected in the cells in a step; of a gas: for each unit of its density */
        double cells;        /* in which ions can be born */
        uint64_t most;       /* an upper bound of the number that is born in the next step */
    } ionisation[LM_MAX_IONISATIONS];
    uint8_t *clearance;  /* lm_stencil_clearance, owned; NULL without background fields */
    struct lm_cuts cuts; /* owned */
    double crowding;     /* lm_crowding */
    struct lm_sim_background {
        struct lm_background_ledger ledger;
        double least, most;                             /* over the cells of fluid, as they are */
        double largest_inflow, largest_source;          /* for the next step: a value, and what the source adds */
        double flow_rate;                               /* of the last step; of a prescribed flow: of the next one */
        int64_t substeps;                               /* of the last step */
        int timed_velocity, timed_source, timed_inflow; /* what changes with time */
    } background[LM_MAX_BACKGROUNDS];
    struct {
        int heats;                     /* whether there is a resistivity */
        int rounds;                    /* of the entropy and B in the last step */
        int64_t substeps;              /* of the conduction in half of the last round */
        double heat, through_surfaces; /* since t = 0, sums of n0 m_p v_A^2 over the cells */
    } electrons;                       /* whose pressure is evolved */
    struct lm_sim_track {
        uint64_t count;
        struct lm_tracked *ion; /* owned; NULL before the ions are chosen */
        uint64_t identity;      /* a hash of the chosen ions, and of the step at which they were chosen */
    } track[LM_MAX_TRACKS];
    const char *state_names[LM_MOST_STATE_FIELDS];
    char background_names[LM_MAX_BACKGROUNDS][LM_MAX_NAME + 16]; /* background_NAME */
    char friction_names[LM_MAX_SPECIES][LM_FRICTION_STATE][LM_MAX_NAME + 16];
};

/* --- src/sim/step.c --- */

/* One pass over every species, and their moments at the new level; with `move`, which a step has and its preparation
 * has not, particles also leave and enter. */
int lm_sim_pass_all(struct lm_sim *sim, double kick_dt, double drift_dt, int move);

/* The maxima of the fields at the level called OLD, and all else that lm_control has. */
int lm_sim_find_maxima(struct lm_sim *sim);

/* No particle of a species is faster after a kick by kick_dt. NaN where the velocities or the fields are not finite:
 * lm_max keeps the NaN of its second argument. */
double lm_sim_speed_bound(const struct lm_sim *sim, int species, double kick_dt);

/* The same from a speed and for a kick of its own, without what collides or is new. */
double lm_sim_kicked_speed(const struct lm_sim *sim, int species, double speed2, double kick_dt);

/* Substeps of B that the next step needs. */
int lm_sim_substeps_needed(const struct lm_sim *sim);

/* The stages of the relaxation of B in the next step (larmor/physics/fields/relaxation.h). */
int lm_sim_relaxation_stages(const struct lm_sim *sim);

/* --- src/sim/sort.c --- */

/* Sorts the species for which a sort pays or is necessary, before a step. */
int lm_sim_sort_where_due(struct lm_sim *sim);

/* Sorts the species that have gaps, so that the backend holds sim->count particles of each in a row. */
int lm_sim_compact(struct lm_sim *sim);

/* --- src/sim/start.c --- */

/* lm_sim_begin, but for LM_STOPPED where there is no memory for what the first step brings in. */
int lm_sim_start(struct lm_sim *sim);

/* Real ions that one particle of a species stands for, n0 d_i^2 a unit length. */
static inline double lm_sim_weight(const struct lm_sim *sim, int species)
{
    return sim->backend->setup.species[species].weight * sim->grid.dx * sim->grid.dy;
}

/* loaded + injected - lost - present: 0, or the run has stopped. */
static inline int64_t lm_sim_residual(const struct lm_sim *sim, int species)
{
    return (int64_t)(lm_ledger_present(&sim->ledger[species]) - sim->count[species]);
}

/* No particle may ever be faster, v_A: it would cross too many cells in a step. */
static inline double lm_sim_speed_limit(const struct lm_sim *sim)
{
    return LM_MAX_CELLS * fmin(sim->grid.dx, sim->grid.dy) / sim->config->run.dt;
}

/* --- src/sim/state_arrays.c --- */

/* The arrays of the state, which a checkpoint holds and a fingerprint covers: those before LM_STATE_FIELDS, the
 * background fields, those of friction with electrons, the strips beyond radiating sides and, where fields end at
 * walls, B and E_v of voids once more with all their ghosts.
 * How many; how many of them with ghosts; and number k as enum lm_array, -1 for a strip. Their names are
 * sim->state_names. */
int lm_sim_state_fields(const struct lm_sim *sim);
int lm_sim_state_bordered(const struct lm_sim *sim);
int lm_sim_state_array(const struct lm_sim *sim, int k);

/* The side whose strip is number k of these arrays, or -1: it is another array. */
int lm_sim_state_strip(const struct lm_sim *sim, int k);
void lm_sim_name_state(struct lm_sim *sim);

#endif
