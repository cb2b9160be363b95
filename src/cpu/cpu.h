/* The CPU backend's private parts. */
#ifndef LARMOR_CPU_CPU_H
#define LARMOR_CPU_CPU_H

#include <omp.h>

#include "larmor/physics/fields/field_boundaries.h"
#include "larmor/physics/particles/tiling.h"
#include "base/pool.h"
#include "base/stop.h"
#include "backend/surfaces.h"
#include "base/threads.h"

struct lm_cpu_species {
    uint64_t count, gone;       /* places; particles that have left since the last sort, and still have theirs */
    uint64_t sorted;            /* places up to here are in tiles; the ones behind hold what has entered since */
    uint64_t capacity;          /* places there is memory for */
    void *x, *y, *vx, *vy, *vz; /* lm_fix and lm_real arrays, by home tile; after a sort by cell */
    void *scratch;              /* one more such array: sorting moves one array at a time into it and swaps */
    uint32_t *slot;             /* where each particle goes in a sort */
    uint32_t *home;             /* tile of each particle behind the sorted ones */
    uint64_t home_capacity;
    double *push[3];                         /* E of the push with the force; NULL: LM_PUSH_E serves */
    struct lm_inflow_cell *inflow[LM_SIDES]; /* NULL: nothing enters there */
    uint64_t *map;                           /* counters of hits; NULL without maps */
    uint32_t *tile_start;                    /* [tiles + 1] */
    uint32_t *cell_start;                    /* [tiles T^2 + 1], work */
    uint32_t *cell_rank;                     /* [tiles T^2], work */
    int placing;                             /* put_particles: cell_start holds starts, not counts */
};

struct lm_cpu_strip; /* src/cpu/strips.h */

/* Some cells of the rows from 0 on: row j has cell[start[j]] up to cell[start[j + 1]], which are elements of an array
 * of the grid. Both pointers are NULL without bodies. */
struct lm_cpu_cells {
    size_t *start;
    long *cell;
};

/* Nodes of a component of E beyond walls: element `to` continues element `from`, with this sign (lm_inside_node). */
struct lm_cpu_image {
    uint32_t to, from;
    int sign;
};

struct lm_cpu_beyond {
    size_t count;
    struct lm_cpu_image *node;
};

struct lm_cpu {
    struct lm_backend base;                   /* its setup's mask and maps are the backend's own */
    const struct lm_cpu_particles *particles; /* of the precision of the setup */
    struct lm_pool pool;                      /* owns all arrays but those of the particles, whose number changes */
    int most_threads, team;                   /* that there may be; that there are where loops are shared */
    int threads;                              /* for particles: as many as have enough to do */
    int grid_threads; /* for loops over the grid: the same number, or 1 where these are too small to share */
    struct lm_tiling tiling;
    double *array[LM_ARRAYS];
    double driving_time; /* of the last lm_cpu_drive */
    int64_t *sums[4];    /* [ny][nx] integer moments of one species */
    int64_t
        *gas_transfer[LM_GAS_SUMS]; /* [ny][nx]: what collisions transfer to a gas; NULL where no species has a gas */
    omp_lock_t *row_lock;           /* [ny]: held by the thread that adds to this row of `sums` */
    double *raw[4];                 /* density and currents of all species as deposited */
    double *curl[3], *motional[3], *slip, *e[3], *ahead[3]; /* work of Ohm's law */
    double *stage[3], *result[3];                           /* work of RK4 */
    double *spare;
    struct lm_cpu_beyond beyond[3];     /* of each component of E */
    uint8_t *void_node;                 /* src/cpu/void_field.c */
    uint8_t *relaxes;                   /* 1 in cells whose B changes in lm_cpu_relax_b */
    int has_void, used_void;            /* in this step of B; whether LM_VOID_E and LM_VOID may hold something */
    uint8_t *near_body, *tile_has_body; /* lm_surfaces_mark; NULL without bodies */
    float *factor;                      /* lm_surfaces_factors; NULL without bodies */
    struct lm_field_sides sides;
    struct lm_cpu_strip *strip[LM_SIDES]; /* beyond radiating sides; NULL elsewhere */
    int walls[2];                         /* whether fields end at walls along an axis */
    uint8_t *solid;                       /* lm_solid_of in bodies, with ghosts; NULL without bodies */
    struct lm_body_node *node;            /* three of each cell, with ghosts; NULL without bodies */
    struct lm_cpu_cells at_bodies;        /* where Ohm's law finds E and a node is at a body */
    uint8_t *row_is_narrow;               /* [ny]: has a node with `more`; NULL without bodies */
    uint8_t *clearance, *row_near_body;   /* lm_stencil_clearance; rows with too little of it or with cut cells */
    struct lm_opening *open;              /* lm_openings_fill; NULL where no cell is cut */
    struct lm_passage *passage;           /* lm_passages_fill, likewise */
    struct lm_surface_cell *at_surface;   /* lm_surface_cells; NULL without lm_has_surfaces */
    double *of_surface;                   /* [at_surface_count] */
    size_t at_surface_count;
    struct {
        double *temperature; /* [ny][nx]: of the electrons as the step began; NULL where no species exchanges */
        struct lm_heating_cell *cells; /* [ny][nx] */
        int64_t *sums;                 /* [ny][nx][LM_CELL_SUMS]; clear between steps */
        int64_t *requests;             /* [ny][nx]: one of these sums; NULL with one rank */
    } exchange;
    double *flow[4]; /* of ions x, y; of electrons; NULL if they carry nothing */
    int later;       /* of the last lm_cpu_flow */
    double *counted; /* lm_density_for_battery, of the last lm_cpu_count_density; NULL: p is not evolved */
    double *background_inflow[LM_MAX_BACKGROUNDS][LM_SIDES]; /* NULL: nothing flows in */
    struct lm_cpu_species species[LM_MAX_SPECIES];
    struct lm_control control;
};

static inline struct lm_cpu *lm_cpu_of(struct lm_backend *b)
{
    return (struct lm_cpu *)b;
}

/* Rows of the grid with all columns, or with `extra` more cells on each side. */
#define LM_ROWS(c, low, high)                                                                                          \
    _Pragma("omp parallel for schedule(static) num_threads((c)->grid_threads)") for (int j = -(low);                   \
                                                                                     j <                               \
                                                                                     (c)->base.setup.grid.ny + (high); \
                                                                                     j++)

/* src/cpu/memory.c: all that a backend needs from its start, but for particles. LM_FAILED: not enough memory. */
int lm_cpu_allocate(struct lm_cpu *c);

/* The grid: src/cpu/closure.c, drive.c, faraday.c, ohm.c, moments.c and reductions.c */
int lm_cpu_copy(struct lm_backend *b, enum lm_array to, enum lm_array from, int count);
int lm_cpu_closure(struct lm_backend *b, enum lm_array density, enum lm_array other, double substep);
int lm_cpu_advance_b(struct lm_backend *b, const struct lm_b_step *step);
int lm_cpu_relax_b(struct lm_backend *b, double dt, int stages);
int lm_cpu_drive(struct lm_backend *b, double t, double force[LM_MAX_SPECIES][3]);
int lm_cpu_ohm(struct lm_backend *b, enum lm_ohm_current current);
int lm_cpu_field_maxima(struct lm_backend *b, enum lm_maxima which);
int lm_cpu_collect(struct lm_backend *b, int species, int speed_exponent, int first);
int lm_cpu_moments(struct lm_backend *b);
int lm_cpu_side_energy(struct lm_backend *b);
int lm_cpu_grid_sums(struct lm_backend *b, struct lm_grid_sums *out);
uint64_t lm_cpu_hash_fields(struct lm_cpu *c);

int lm_cpu_resistivity(struct lm_backend *b);

/* src/cpu/drive.c: LM_PUSH_E with the force on a species, at the beginning of an operation that moves or kicks its
 * ions. Nothing where there is no force. */
void lm_cpu_add_force(struct lm_cpu *c, int species);

/* src/cpu/flow.c */
int lm_cpu_flow(struct lm_backend *b, enum lm_flow_time when);
int lm_cpu_flow_rates(struct lm_backend *b, double rate[LM_FLOW_RATES]);

/* src/cpu/advect.c */
int lm_cpu_transfer_to_gas(struct lm_backend *b, const struct lm_gas_gain *gain);
int lm_cpu_advect(struct lm_backend *b, int field, int quantum, double dt, int substeps);

int lm_cpu_survey_background(struct lm_backend *b, int field, int quantum);

/* The electrons' entropy, where their pressure is evolved. */
static inline double *lm_cpu_entropy(const struct lm_cpu *c)
{
    return c->array[LM_BACKGROUND + c->base.setup.background_count - 1];
}

/* src/cpu/electrons.c */
void lm_cpu_evolved_pressure(struct lm_cpu *c); /* LM_PRESSURE with all ghosts */
int lm_cpu_heat(struct lm_backend *b, const struct lm_heat_pass *pass);
int lm_cpu_least_density(struct lm_backend *b, double *least);

/* src/cpu/ion_electron_heating.c: what ions meet in the cells, from the sums over them; then which cells can take or
 * give the energy that has been asked for, and these do. */
void lm_cpu_heating_cells(struct lm_cpu *c, const struct lm_exchange_pass *pass);
void lm_cpu_add_requests(struct lm_cpu *c);
void lm_cpu_heat_electrons(struct lm_cpu *c, int species, const struct lm_exchange_pass *pass);
int lm_cpu_heat_exchange_limits(struct lm_backend *b, const struct lm_exchange *with, struct lm_exchange_limits *out);

/* src/cpu/particles_table.c, compiled for each precision, as all of src/cpu/particles*.c. */
struct lm_cpu_particles {
    struct lm_particle_ops ops;
    uint64_t (*hash)(struct lm_cpu *c, int species);
};
extern const struct lm_cpu_particles lm_cpu_particles_f32, lm_cpu_particles_f64;

#endif
