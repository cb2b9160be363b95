/* What a backend (CPU, CUDA) does for the simulation: it owns particles and grid arrays and iterates over them.
 *
 * src/sim/step.c writes the algorithm in these operations and never sees a backend's memory; src/backend/backend.c is
 * the only file that knows which backends exist. The same operations in the same order give the same bits on every
 * backend. Operations return enum lm_status; on a GPU they are queued, and only those that hand something to the host
 * wait.
 */
#ifndef LARMOR_BACKEND_BACKEND_H
#define LARMOR_BACKEND_BACKEND_H

#include "larmor/array.h"
#include "larmor/background.h"
#include "larmor/base.h"
#include "larmor/distribution.h"
#include "larmor/grid.h"
#include "larmor/ionisation.h"
#include "larmor/ledger.h"
#include "larmor/particles.h"
#include "larmor/ranks.h"
#include "larmor/track.h"
#include "larmor/velocity_moments.h"
#include "backend/raw_particles.h"
#include "larmor/physics/collisions/collision_step.h"
#include "larmor/physics/fields/mean_field.h"
#include "larmor/physics/fields/ohm_terms.h"
#include "larmor/physics/fields/side_energy.h"
#include "larmor/physics/numerics/program.h"
#include "larmor/physics/fluid/conductivity.h"
#include "larmor/physics/collisions/ion_electron_heating_step.h"
#include "larmor/physics/particles/hit_map.h"
#include "larmor/physics/particles/inflow_cell.h"
#include "larmor/physics/particles/profile.h"
#include "ranks/halo.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_BORN_ARRAYS = 5 }; /* of a source of ions */

/* The level of Ohm's law, and its ion current: LM_J_OLD; or, at the NEW level, 1.5 LM_J_NEW - 0.5 LM_J_OLD, which is
 * half a step ahead of LM_J_NEW. LM_OHM_MEAN is the latter where LM_B is a mean over a step and LM_KEPT_B is B. */
enum lm_ohm_current { LM_OHM_OLD, LM_OHM_AHEAD, LM_OHM_MEAN };

/* Maxima of the fields: all of them; or those of B and the density, while those of what ions feel stay. */
enum lm_maxima { LM_MAXIMA, LM_MAXIMA_OF_B };

/* The array of B itself. */
static inline enum lm_array lm_b_of_ohm(enum lm_ohm_current current)
{
    return current == LM_OHM_MEAN ? LM_KEPT_B : LM_B;
}

/* The arrays before this one are the state that a checkpoint holds; where fields end at walls, the first ones of them
 * once more with all their ghosts: B and LM_VOID_E. */
enum { LM_STATE_FIELDS = LM_N_NEW, LM_BORDERED_FIELDS = LM_VOID };

struct lm_backend_species {
    double charge, mass;
    double weight;               /* density of one particle in one cell, n0 */
    double thermal[LM_SURFACES]; /* speed of what LM_THERMAL surfaces re-emit, v_A */
    int has_gas;                 /* it collides with a background field */
    int exchanges;               /* heat with the electrons */
    struct lm_stopping stopping; /* its memory: borrowed for the call that creates a backend */
};

/* What drives the plasma from outside (larmor/physics/fields/driving.h). Expressions of x, y and t. A program of length
 * 0 is not there. */
struct lm_driving {
    struct lm_program current[3];               /* J_ext without that of magnets, B0/(mu0 d_i) */
    struct lm_program e[3];                     /* E beyond sides that are LM_INFLOW_E, v_A B0 */
    struct lm_program force[LM_MAX_SPECIES][3]; /* on an ion of each species, m_p v_A Omega_ci */
    int forced[LM_MAX_SPECIES];                 /* 1: there is one */
    struct lm_program eta; /* the resistivity, also of n, Te, J and B (resistivity.h); mu0 v_A d_i */
    struct lm_program friction_eta[LM_MAX_SPECIES]; /* the same of each species (electron_friction.h) */
    int has_friction[LM_MAX_SPECIES];               /* 1: there is one */
    int everywhere;                                 /* 1: there is no field solver, and E is given in all cells */
};

struct lm_setup {
    struct lm_grid grid;
    const double *cost;   /* of many ranks: the expected cost of each tile (src/sim/setup.h), borrowed; NULL: alike */
    struct lm_halo *halo; /* of many ranks: the cells that others own (src/ranks/halo.h), borrowed; NULL: of one */
    enum lm_field_boundary field_sides[LM_SIDES];
    double side_temperature[LM_SIDES]; /* gamma T of the ions at radiating sides, a unit of charge */
    struct lm_bodies bodies;           /* the mask is borrowed for the call that creates a backend */
    struct lm_ohm ohm;
    enum lm_shape_order shape;
    enum lm_precision precision;      /* of the particles */
    int external_current;             /* 1: there are LM_MAGNET_J and LM_EXTERNAL_J */
    int pushed_species;               /* how many have an E of the push of their own: lm_has_own_push */
    int friction_species;             /* how many of them have friction with electrons */
    int local_eta;                    /* 1: LM_ETA depends on the plasma, and there is LM_GIVEN_ETA */
    const struct lm_driving *driving; /* borrowed as long as there is a backend; NULL: none */
    int smoothing;                    /* binomial passes */
    int tile;                         /* 8 or 16 */
    int threads;                      /* CPU: 0 for all */
    int rebalance;                    /* 1: ranks divide the cells anew when it pays */
    int halo_cells;                   /* of many ranks: width of the halo; 0: by the backend */
    double rank_limit;                /* s: how long a rank waits for another one */
    enum lm_gpu_exchange gpu_exchange;
    int spares_links; /* of many GPUs: 1: NCCL shall not use the links between the GPUs of a machine */
    uint64_t seed;
    struct lm_map_bins maps; /* arrays: borrowed as the mask is */
    int species_count;
    struct lm_backend_species species[LM_MAX_SPECIES];
    int background_count;
    struct lm_background background[LM_MAX_BACKGROUNDS]; /* the last one: with ohm.evolved, the electrons' entropy */
    struct lm_conductivity conductivity;
    int ionisation_count;
    struct lm_ionisation ionisation[LM_MAX_IONISATIONS];
};

/* Whether the E that a species feels differs from LM_PUSH_E: by a force, or by friction with electrons. */
static inline int lm_has_own_push(const struct lm_setup *s, int species)
{
    return s->driving && (s->driving->forced[species] || s->driving->has_friction[species]);
}

/* The entropy of evolved electrons among the background fields. */
static inline const struct lm_background *lm_entropy_background(const struct lm_setup *s)
{
    return &s->background[s->background_count - 1];
}

/* Bits 1 << side of the sides of the domain that are walls, absorb ions (lm_is_absorbing_wall), and meet evolved
 * electrons. */
static inline int lm_absorbing_walls(const struct lm_setup *s)
{
    int bits = 0;
    for (int side = 0; side < LM_SIDES && s->ohm.evolved; side++)
        if (lm_is_absorbing_wall(s->grid.sides.of[side], s->field_sides[side]))
            bits |= 1 << side;
    return bits;
}

/* The same of all sides that are surfaces: also of those through which the entropy does not flow. */
static inline int lm_surface_sides(const struct lm_setup *s)
{
    int bits = lm_absorbing_walls(s);
    for (int side = 0; side < LM_SIDES && s->ohm.evolved; side++)
        if (lm_entropy_background(s)->sides[side] == LM_BACKGROUND_WALL)
            bits |= 1 << side;
    return bits;
}

/* Whether evolved electrons meet bodies or such sides. The answer for a division of a domain can differ from that for
 * the domain (lm_halo.has_surfaces). */
static inline int lm_has_surfaces(const struct lm_setup *s)
{
    return s->ohm.evolved && (s->bodies.count > 0 || lm_surface_sides(s) != 0);
}

/* Array number k of the state of a species that has friction with electrons. */
enum { LM_FRICTION_STATE = 7 };
static inline int lm_friction_array(int species, int k)
{
    return k < 3 ? LM_FRICTION_E + 3 * species + k : LM_SPECIES_OLD + 4 * species + (k - 3);
}

/* The number of the species that is number `which` of those with friction. */
static inline int lm_friction_species(const struct lm_setup *s, int which)
{
    int species = 0;
    for (int left = which; left > 0 || !s->driving->has_friction[species]; species++)
        left -= s->driving->has_friction[species];
    return species;
}

/* The number of arrays that a backend has for friction: the moments of both levels and LM_FRICTION_E of each species
 * with friction, and LM_FRICTION_FORCE. */
static inline int lm_friction_arrays(const struct lm_setup *s)
{
    return s->friction_species > 0 ? 11 * s->friction_species + 3 : 0;
}

static inline void lm_swap_arrays(double **one, double **other, int count)
{
    for (int k = 0; k < count; k++) {
        double *t = one[k];
        one[k] = other[k];
        other[k] = t;
    }
}

/* OLD <-> NEW, of all ions and of single species, in the arrays of a backend (enum lm_array). */
static inline void lm_swap_levels_of(const struct lm_setup *s, double **array)
{
    lm_swap_arrays(array + LM_N_OLD, array + LM_N_NEW, 4);
    for (int k = 0; k < s->friction_species; k++) {
        const int first = 4 * lm_friction_species(s, k);
        lm_swap_arrays(array + LM_SPECIES_OLD + first, array + LM_SPECIES_NEW + first, 4);
    }
}

/* The number of radiating sides of the domain before a side; before LM_SIDES: of all. */
static inline int lm_radiating_before(const struct lm_setup *s, int side)
{
    int count = 0;
    for (int k = 0; k < side; k++)
        count += s->halo ? s->halo->radiates[k] : s->field_sides[k] == LM_RADIATING;
    return count;
}

/* The number of radiating sides that the arrays reach, and the one that is number `which` of them. */
static inline int lm_radiating_sides(const struct lm_setup *s)
{
    int count = 0;
    for (int side = 0; side < LM_SIDES; side++)
        count += s->field_sides[side] == LM_RADIATING;
    return count;
}

static inline enum lm_side lm_radiating_side(const struct lm_setup *s, int which)
{
    int side = 0;
    for (int left = which; left > 0 || s->field_sides[side] != LM_RADIATING; side++)
        left -= s->field_sides[side] == LM_RADIATING;
    return (enum lm_side)side;
}

/* The number of tiles of the setup's grid. */
static inline size_t lm_setup_tiles(const struct lm_setup *s)
{
    const size_t tile = (size_t)s->tile;
    return (((size_t)s->grid.nx + tile - 1) / tile) * (((size_t)s->grid.ny + tile - 1) / tile);
}

/* The width of the halo in cells, on a backend of this kind. */
int lm_setup_halo(const struct lm_setup *s, int kind);

/* The electrons' heat for a while, at a level's density and as B stands. */
struct lm_heat_pass {
    int level;    /* LM_N_OLD or LM_N_NEW */
    double dt;    /* of all substeps */
    int substeps; /* of the conduction; 0: none */
    int quantum;  /* of the entropy, 2^-quantum */
};

/* A species' exchange of heat with the electrons in a step. */
struct lm_exchange_pass {
    struct lm_exchange with;
    int first;             /* of the step: T_e as it is now counts for all species */
    int tally_v, tally_v2; /* exponents of struct lm_tally */
    int quantum;           /* of the entropy, 2^-quantum */
};

/* Over the cells, for a species and the fields as they stand. */
struct lm_exchange_limits {
    double noise2;   /* the largest T_e (1 - exp(-2 x)) */
    int64_t limited; /* cells in which x is lm_exchange.most */
};

/* Whether a background field takes up what collisions give to a gas: enum lm_gas_sum. */
static inline int lm_has_receiver(const struct lm_setup *s, int what)
{
    for (int f = 0; f < s->background_count; f++)
        if (s->background[f].gains == 1 + what)
            return 1;
    return 0;
}

/* Whether any species exchanges heat with the electrons. */
static inline int lm_any_exchanges(const struct lm_setup *s)
{
    int any = 0;
    for (int k = 0; k < s->species_count; k++)
        any |= s->species[k].exchanges;
    return any;
}

/* Profiles a species is loaded from: arrays are those of the host, with ghosts, borrowed for the call. */
struct lm_loading {
    struct lm_given density, drift[3], temperature[3]; /* n0, v_A, T/m */
    const double *b[3];                                /* unit vector along B, or NULL for temperatures per axis */
    double particles_per_cell;
    int start; /* enum lm_start */
    uint64_t seed;
};

#define LM_MAX_PARTICLES 4294960000ull /* of one species on one device: places, and a block beyond, are 32-bit */

/* One pass over a species. */
struct lm_pass {
    double kick_dt;  /* velocities advance by this; 0: not */
    double drift_dt; /* the current is deposited at x + v drift_dt/2, and with `move` x += v drift_dt */
    int move;
    int complete;       /* in this step no particle of the species enters or is born after the pass */
    int speed_exponent; /* 2^speed_exponent >= every |v| after the kick, and of what enters, is born or is re-emitted */
    int tally_v, tally_v2;                  /* exponents of struct lm_tally */
    int64_t step;                           /* that is taken: the random numbers' */
    const struct lm_collisions *collisions; /* within the push; NULL: none. Its table is the backend's own */
};

/* What the host decides the next step from. NaN counts as the largest value. */
struct lm_control {
    double speed2[LM_MAX_SPECIES];         /* max |v|^2 after the last pass */
    double push_e[3];                      /* max |E_c| of LM_PUSH_E */
    double push_pressure[2];               /* max |E_c| of LM_PUSH_PRESSURE */
    double friction_e[LM_MAX_SPECIES][3];  /* max |E_c| of LM_FRICTION_E; 0 where there is none */
    double frequency;                      /* max of lm_frequency */
    double eta;                            /* max of the resistivity */
    int64_t floored, voids;                /* cells at the density floor; of these, void ones (void.h) */
    int64_t strays[LM_MAX_SPECIES];        /* particles that took the direct path in the last pass */
    int64_t charge_quanta[LM_MAX_SPECIES]; /* sum of the last pass's density: LM_CHARGE_QUANTA for each particle that is
                                              there */
    /* Since the values were last handed over: */
    struct lm_tally lost[LM_MAX_SPECIES][LM_CHANNELS], injected[LM_MAX_SPECIES][LM_ENTRANCES];
    struct lm_tally to_gas[LM_MAX_SPECIES], exchanged[LM_MAX_SPECIES], to_electrons[LM_MAX_SPECIES];
    struct lm_advected background[LM_MAX_BACKGROUNDS];
    struct lm_wide side[LM_SIDES][LM_SIDE_SUMS]; /* of the last side_energy, in units of 2^-LM_WIDE_REAL */
    struct lm_wide heat; /* that resistivity has given a volume of a cell, in units of 2^-lm_heat_exponent */
    struct lm_wide through_surfaces; /* energy that electrons have got there: struct lm_surface_sums */
};

/* Sums over a species at integer time n, fixed point: value = sum 2^-exponent. */
struct lm_particle_sums {
    int64_t v2[3], v[3];
    int exponent_v2, exponent_v;
};

/* Sums over the grid, fixed point, and the largest |div B|. */
struct lm_grid_sums {
    int64_t b2[3], electrons;
    int exponent_b2[3], exponent_electrons;
    double div_b;
};

/* A step of B or a round of one, of dt in so many substeps. `voids`: whether there was a void in the domain as the step
 * began (lm_control). Else no E_v is advanced, and LM_VOID_E and LM_VOID become 0. */
struct lm_b_step {
    enum lm_array ion_current; /* LM_J_OLD, LM_J_NEW; LM_J_AHEAD, which the step with LM_MEAN_BEGINS has found */
    double dt;
    int substeps, voids;
    enum lm_b_mean mean; /* what LM_MEAN_B gets of B after each substep */
    int keeps_void;      /* 1: LM_VOID stays, because another round of the same step follows */
    int forecast;        /* where there is a mean: the substeps of its forecast */
};

struct lm_backend;

enum lm_put_phase { LM_COUNT_PARTICLES, LM_PLACE_PARTICLES };

struct lm_halo_move;
struct lm_parcel; /* particles between two backends */
struct lm_crate;  /* arrays between two backends */

/* Operations on particles: a table for each precision. `species` is a number of the setup. */
struct lm_particle_ops {
    /* `load` draws a species from profiles. Particles from a file are handed over twice after reserve(count): all
     * pieces in the phase LM_COUNT_PARTICLES (particles are counted by cell), then all pieces again in the phase
     * LM_PLACE_PARTICLES. In both cases the particles are sorted at the end. `get` gives the stored form, in any
     * order. */
    int (*load)(struct lm_backend *b, int species, const struct lm_loading *from, uint64_t *count);
    int (*reserve)(struct lm_backend *b, int species, uint64_t count);
    int (*put)(struct lm_backend *b, int species, enum lm_put_phase phase, uint64_t count,
               struct lm_raw_particles from);
    int (*get)(struct lm_backend *b, int species, uint64_t first, uint64_t count, struct lm_raw_particles to);
    int (*sort)(struct lm_backend *b, int species);

    /* Slots for so many more particles, which `enter` and `ionise` may fill. LM_STOPPED: there is no memory for them
     * and for a checkpoint; everything is as before. */
    int (*reserve_more)(struct lm_backend *b, int species, uint64_t more);

    /* Before the passes of a step: a species exchanges heat with the electrons, whose entropy takes up the heat cell by
     * cell. Adds to the sums of lm_control, the source of the entropy among them. A cell whose electrons do not have
     * the heat that they would have to give is left as it is. */
    int (*exchange_heat)(struct lm_backend *b, int species, const struct lm_exchange_pass *pass);

    /* Before the pass of a species: takes ions that the host follows through the same collisions, kick and motion as
     * the pass takes the particles whose copies they are, and leaves no trace in any sum. An ion that has left stays as
     * it is. They learn the fields at their places before. pass = NULL: they only learn these, after a step. Positions
     * are in the domain; the host counts turns and steps. Waits. */
    int (*follow)(struct lm_backend *b, int species, const struct lm_pass *pass, uint64_t count,
                  struct lm_tracked *ions);

    /* Collides, kicks, deposits the current, moves, deposits the density. */
    int (*pass)(struct lm_backend *b, int species, const struct lm_pass *pass);

    /* After the pass of a species: the particles that enter by inflow sides, and those that source number `source`
     * creates in the step. They are deposited like the others. What is taken from a gas, in quanta of 2^-quantum, is
     * booked as its source. */
    int (*enter)(struct lm_backend *b, int species, const struct lm_pass *pass);
    int (*ionise)(struct lm_backend *b, int source, const struct lm_pass *pass, int quantum);

    /* The largest speed for lm_control, where no pass has gone before. */
    int (*maxima)(struct lm_backend *b, int species);

    /* A reduction, which waits. `half` kicks velocities from n-1/2 to n; nothing is stored. `present`: the number of
     * particles in the domain, which decides the units. */
    int (*sums)(struct lm_backend *b, int species, const struct lm_pass *half, uint64_t present,
                struct lm_particle_sums *out);

    /* Moments of the velocity as it stands, as integers (larmor/velocity_moments.h): [list->count][ny][nx]; waits. What
     * lies beyond a wall counts in the cell at the wall. May sort, and use the memory of the next pass. */
    int (*moments)(struct lm_backend *b, int species, const struct lm_moment_list *list, int64_t *sums);

    /* Counts the particles by their positions, their velocities as they stand and B: lm_bins_counters(bins) counts;
     * waits. */
    int (*distribution)(struct lm_backend *b, int species, const struct lm_bins *bins, uint64_t *counts);

    /* Of many ranks, before a sort: takes out the particles that are in cells of other ranks, and adds some that are in
     * own cells. Positions are relative to the arrays. `emigrate` allocates; the caller frees out->x. */
    int (*emigrate)(struct lm_backend *b, int species, uint64_t *count, struct lm_raw_particles *out);
    int (*immigrate)(struct lm_backend *b, int species, uint64_t count, struct lm_raw_particles from);

    /* Both, and what lies between: particles in cells of other ranks go to these, and theirs come. Adds how many have
     * gone and come. For backends whose particles are not in the memory of the host; NULL where the two operations
     * above serve. */
    int (*migrate)(struct lm_backend *b, int species, uint64_t *gone, uint64_t *come);

    /* When the domain is divided anew, also for such backends: all particles go to their owners in the new division.
     * What this rank gets stays in memory of the device when the backend is destroyed, until `arrive` puts it into the
     * next one and frees it. `may_depart` says beforehand whether all GPUs have memory for all species to depart and to
     * arrive: 1 or 0 on all ranks. Where they have not, `depart` and `arrive` end all ranks. NULL where get and put
     * serve. */
    int (*may_depart)(struct lm_backend *b, const struct lm_partition *to);
    int (*depart)(struct lm_backend *b, int species, const struct lm_partition *to, struct lm_parcel **out,
                  uint64_t *count);
    int (*arrive)(struct lm_backend *b, int species, struct lm_parcel *parcel);
};

/* When velocities are found: with B where the step begins or ends, or, of the entropy alone, with B where a round of
 * B and the entropy ends and the next one begins. */
enum lm_flow_time { LM_STEP_BEGINS, LM_STEP_ENDS, LM_ROUND_BEGINS, LM_ROUND_ENDS };

/* 1: the second call of the two that belong together. */
static inline int lm_is_later(enum lm_flow_time when)
{
    return when == LM_STEP_ENDS || when == LM_ROUND_ENDS;
}

static inline int lm_is_of_round(enum lm_flow_time when)
{
    return when == LM_ROUND_BEGINS || when == LM_ROUND_ENDS;
}

/* Numbers of flow_rates: one for each background field, and that of the oscillation. */
enum { LM_OSCILLATION = LM_MAX_BACKGROUNDS, LM_FLOW_RATES };

/* All other operations. */
struct lm_backend_ops {
    const char *name;
    void (*destroy)(struct lm_backend *b);

    /* --- data from and to the host --- */

    /* Whole arrays with ghosts. In `put` the ghosts beyond periodic sides are images of the cells, to the bit: backends
     * may read either. */
    int (*put)(struct lm_backend *b, enum lm_array array, const double *host);
    int (*get)(struct lm_backend *b, enum lm_array array, double *host);
    /* As a `put` of an array that has `value` in every element. */
    int (*fill)(struct lm_backend *b, enum lm_array array, double value);

    /* When the domain is divided anew: `depart` sends the cells of these arrays to all ranks that will hold them. What
     * this rank gets stays in memory of the device when the backend is destroyed, until `arrive` puts it into the next
     * one and frees it. `depart` returns LM_STOPPED on all ranks where some GPU has no memory for it: nothing has
     * changed then, and get and put serve. NULL where these always serve. */
    int (*depart)(struct lm_backend *b, const struct lm_halo_move *move, const int *list, int count,
                  struct lm_crate **out);
    int (*arrive)(struct lm_backend *b, const struct lm_halo_move *move, const int *list, int count,
                  struct lm_crate *crate);

    /* Single values of arrays, at cells within the domain; waits. LM_PRESSURE as for `get`. */
    int (*values)(struct lm_backend *b, uint64_t count, struct lm_array_value *values);

    /* The same array where it lies, for reading until the next operation. NULL where arrays are not in the memory of
     * this process as a whole: `get` serves then. */
    const double *(*view)(struct lm_backend *b, enum lm_array array);

    /* What lies beyond an inflow side, for particles of a species and for a background field: ny or nx cells or values,
     * copied. */
    int (*put_inflow)(struct lm_backend *b, int species, enum lm_side side, const struct lm_inflow_cell *cells);
    int (*put_background_side)(struct lm_backend *b, int field, enum lm_side side, const double *values);

    /* Maps of hits of a species since the start: lm_map_size counters. `put` adds to them. */
    int (*get_map)(struct lm_backend *b, int species, uint64_t *counters);
    int (*put_map)(struct lm_backend *b, int species, const uint64_t *counters);

    /* The strip beyond a radiating side (larmor/physics/fields/strip.h): B, u and n, LM_STRIP_ARRAYS arrays of
     * LM_STRIP_CELLS rows of ny or nx cells; a strip that has no plasma yet has n = -1. */
    int (*get_strip)(struct lm_backend *b, enum lm_side side, double *values);
    int (*put_strip)(struct lm_backend *b, enum lm_side side, const double *values);

    /* What the host decides the next step from; waits. The sums begin anew. */
    int (*control)(struct lm_backend *b, struct lm_control *out);

    /* --- moments --- */

    /* The integer sums of the passes become density and current. `collect` adds a species: the first one overwrites,
     * the last one of the setup comes last. `moments` centres and smooths the sum over the species into LM_N_NEW and
     * LM_J_NEW. Only after `moments` does LM_SPECIES_N hold the number density of the last species. */
    int (*collect)(struct lm_backend *b, int species, int speed_exponent, int first);
    int (*moments)(struct lm_backend *b);

    /* --- fields --- */

    int (*swap_levels)(struct lm_backend *b);                                           /* OLD <-> NEW */
    int (*copy)(struct lm_backend *b, enum lm_array to, enum lm_array from, int count); /* arrays in a row */
    int (*swap)(struct lm_backend *b, enum lm_array one, enum lm_array other);          /* three arrays in a row */

    /* Evaluates the programs of the setup's driving at time t: LM_EXTERNAL_J, and the E that is given (LM_E, without a
     * field solver also LM_PUSH_E). Forces act as they are at the time of the last call. Hands over their largest
     * |F_d/Z| over the nodes, for which it waits: force[species][d]. Only with a driving. */
    int (*drive)(struct lm_backend *b, double t, double force[LM_MAX_SPECIES][3]);

    /* LM_ETA and LM_FRICTION_FORCE of the OLD level and B as it stands, where they depend on the plasma. `ohm` and
     * advance_b do so themselves, advance_b in each of its stages. */
    int (*resistivity)(struct lm_backend *b);

    /* Density and pressure of the electrons for advance_b: of the mean of two levels; an evolved pressure as it
     * stands. 1/n keeps a substep of this length stable; 0: it need not. */
    int (*closure)(struct lm_backend *b, enum lm_array density, enum lm_array other, double substep);

    /* B, and with it E in the voids of the last closure, which LM_VOID then has unless the step keeps it. LM_MEAN_B
     * gets its part of the mean. Where the mean ends, LM_KEPT_B is B as the step began. */
    int (*advance_b)(struct lm_backend *b, const struct lm_b_step *step);

    /* B where it diffuses fast: the last part of a step of B (larmor/physics/fields/relaxation.h). dt: of the step; 0:
     * no resistivity acts but that of insulators and voids. */
    int (*relax_b)(struct lm_backend *b, double dt, int stages);

    /* LM_E, LM_PUSH_E and the arrays after it, and the maxima for lm_control over the fields, with density and ion
     * current of the OLD or NEW level. Beyond sides where E is prescribed (larmor/physics/fields/field_boundaries.h)
     * both this operation and advance_b find the prescribed E in LM_E. */
    int (*ohm)(struct lm_backend *b, enum lm_ohm_current current);

    /* The maxima of the fields for lm_control, with the OLD level, where `ohm` has not left them. */
    int (*field_maxima)(struct lm_backend *b, enum lm_maxima which);

    /* For lm_control: the energy that fields and electrons carry through the sides, with the OLD level, B and LM_E. */
    int (*side_energy)(struct lm_backend *b);

    /* --- background fields --- */

    /* Velocities for the fields that ions or electrons carry, half way in a step: of J_i at NEW and the mean of both
     * densities; for electrons less the current of the mean of B as it stands where the step begins and ends; for the
     * entropy of electrons less the current of B at each call. */
    int (*flow)(struct lm_backend *b, enum lm_flow_time when);

    /* The largest lm_flow_rate over the cells for each field; waits. After a `flow` where a step begins also by how
     * much the oscillation of an evolved pressure and B turns in a step (larmor/physics/fluid/oscillation.h), else 0.
     */
    int (*flow_rates)(struct lm_backend *b, double rate[LM_FLOW_RATES]);

    /* Advances a field by substeps of dt; quanta are 2^-quantum. Adds to the sums of lm_control, which count in
     * quanta. */
    int (*advect)(struct lm_backend *b, int field, int quantum, double dt, int substeps);

    /* For lm_control: total and extremes of a field as it stands. */
    int (*survey_background)(struct lm_backend *b, int field, int quantum);

    /* Background fields take up what particles have given to a gas in the last pass; none of it is left. */
    int (*transfer_to_gas)(struct lm_backend *b, const struct lm_gas_gain *gain);

    /* --- evolved electrons --- */

    /* Heats electrons by what resistivity takes from the fields, and conducts. Adds to the sums of lm_control, the
     * source of the entropy among them. */
    int (*heat)(struct lm_backend *b, const struct lm_heat_pass *pass);

    /* The least density of both levels where heat is conducted (infinite: nowhere); waits. */
    int (*least_density)(struct lm_backend *b, double *least);

    /* How near the next exchange of heat with ions comes to its limits; waits. */
    int (*heat_exchange_limits)(struct lm_backend *b, const struct lm_exchange *with, struct lm_exchange_limits *out);

    /* --- reductions; these wait --- */

    int (*grid_sums)(struct lm_backend *b, struct lm_grid_sums *out);
    int (*fingerprint)(struct lm_backend *b, int64_t step, uint64_t *out);

    /* For measurements of the link: sends bytes to another rank and receives as many from it, `count` times; waits.
     * NULL where data are in the memory of the host. */
    int (*ping)(struct lm_backend *b, int peer, size_t bytes, int count);
};

/* Every backend's struct starts with this. */
struct lm_backend {
    const struct lm_backend_ops *ops;
    const struct lm_particle_ops *particles;
    struct lm_setup setup;
    double most_stray_cells; /* between two sorts no particle may move further */
};

int lm_cpu_create(const struct lm_setup *setup, struct lm_backend **out);
int lm_cuda_create(const struct lm_setup *setup, struct lm_backend **out);

/* src/distributed: a backend that divides the domain among the ranks of the run, each of which has a backend of a
 * resolved kind. For rank 0; the other ranks serve it (src/distributed/distributed.h). */
int lm_distributed_create(int kind, const struct lm_setup *setup, struct lm_backend **out);

/* Picks and creates; `kind` is enum lm_backend_kind. LM_BAD_INPUT: asked for a backend that is not there. */
int lm_backend_create(int kind, const struct lm_setup *setup, struct lm_backend **out);
void lm_backend_destroy(struct lm_backend **b);

/* The same for this rank alone and a resolved kind. */
int lm_backend_create_here(int kind, const struct lm_setup *setup, struct lm_backend **out);

/* LM_BAD_INPUT: this rank cannot have a backend of that kind. */
int lm_backend_find(int kind);

/* How many ranks of this machine share the memory of a backend of that kind. */
int lm_backend_share(int kind);

/* The kind that AUTO stands for here, and a line about it ("NVIDIA H200, 139 GiB", "CPU, 2 threads"). Once GPUs of many
 * ranks have been taken, the line says how they exchange data. */
int lm_backend_resolve(int kind, int threads, int *resolved, char *line, size_t size);

/* Lets AUTO stand for this kind in this process from now on. LM_BACKEND_AUTO: for the GPU if there is one, as at first.
 */
void lm_backend_prefer(int kind);

/* How the GPUs of many ranks exchange data, as in that line; "" before there is such a backend. */
const char *lm_backend_exchange(void);

/* Free and total memory in bytes of the resolved kind. */
void lm_backend_memory(int kind, double *free_bytes, double *total_bytes);

/* Bytes of a resolved kind that a run needs, by what they hold. */
struct lm_backend_parts {
    double particles; /* with what sorting takes */
    double grid;      /* arrays of the grid and of the tiles */
    double loading;   /* profiles, until the particles are loaded */
};
struct lm_backend_parts lm_backend_parts(int kind, const struct lm_setup *setup, const uint64_t *counts);

/* Their sum: what a run needs at its peak, loading, and sorting (which needs little more than the particles at rest),
 * without maps. */
double lm_backend_bytes(int kind, const struct lm_setup *setup, const uint64_t *counts);

#ifdef __cplusplus
}
#endif
#endif
