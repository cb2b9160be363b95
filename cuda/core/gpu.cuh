/* The CUDA backend's private parts. Everything runs in one stream, but for what lm_gpu_fork and halo.cuh tell; a
 * failure sticks and is returned by every later operation. */
#ifndef LARMOR_CORE_GPU_CUH
#define LARMOR_CORE_GPU_CUH

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include "larmor/physics/fields/electron_friction.h"
#include "larmor/physics/fields/field_boundaries.h"
#include "base/stop.h"
#include "backend/surfaces.h"
#include "larmor/physics/fluid/flow.h"
#include "larmor/physics/particles/tiling.h"

typedef unsigned long long lm_u64; /* what CUDA's 64-bit atomics take */

/* What a pass finds out about a species. */
struct lm_gpu_pass_control {
    lm_u64 speed2, strays, charge_quanta; /* as in lm_control */
    lm_u64 edge_strays;                   /* many ranks: those of tiles at the edge, which `strays` leaves out */
};

/* What of a species has left and entered since the host looked last; how many places that has left empty and filled. */
struct lm_gpu_tallies {
    struct lm_tally lost[LM_CHANNELS], injected[LM_ENTRANCES], exchanged, to_gas, to_electrons;
    lm_u64 gone, arrived;
};

/* lm_advected on the device: wide sums; extremes, the least and the largest, as bits that order like the numbers, those
 * of the least one inverted. */
struct lm_gpu_advected {
    lm_u64 total[2], extremes[2]; /* of the field as it is */
    lm_u64 crossed[LM_SIDES][2], source[2];
};

/* lm_control on the device: maxima as bits of non-negative doubles, so that atomicMax orders them and NaN wins. */
struct lm_gpu_control {
    struct lm_gpu_pass_control species[LM_MAX_SPECIES];
    lm_u64 side[LM_SIDES][LM_SIDE_SUMS][2]; /* wide */
    lm_u64 push_e[3], push_pressure[2], frequency, eta, floored, voids;
    lm_u64 friction_e[LM_MAX_SPECIES][3];
    struct lm_gpu_tallies tallies[LM_MAX_SPECIES]; /* only where particles can leave: behind, so that others skip it */
    struct lm_gpu_advected background[LM_MAX_BACKGROUNDS];
    lm_u64 heat[2], through_surfaces[2]; /* wide */
};

/* Results of a reduction that the host waits for. */
struct lm_gpu_sums {
    lm_u64 value[9];
};

/* Particles [first, last) of a tile: what one block works on. */
struct lm_gpu_chunk {
    uint32_t first, last, tile, unused; /* 16 bytes: one load */
};

struct lm_gpu_species {
    uint64_t count;    /* places in use */
    uint64_t gone;     /* of these, of particles that have left since the last sort */
    uint64_t sorted;   /* places up to here are in tiles; the ones behind hold what has entered since */
    uint64_t capacity; /* places there is memory for */
    void *x, *y, *vx, *vy, *vz, *scratch; /* a sort moves one array at a time into scratch and swaps */
    uint32_t *slot;       /* in a sort: where a place's particle comes from; in a pass: a chunk's strays */
    uint32_t *rank;       /* in a sort: a particle's number in its cell; in a pass: all strays; their tiles: scratch */
    uint32_t *tile_start; /* [tiles + 1] */
    uint32_t *cell_count, *cell_start; /* [tiles T^2 + 1] */
    uint32_t *chunk_first;             /* number of the first chunk of each tile: [tiles + 1]; many ranks: of the tiles
                                          in the order of lm_gpu_halo_tiles */
    struct lm_gpu_chunk *chunk;        /* [blocks] */
    uint32_t chunk_size;               /* particles in a chunk at most */
    unsigned blocks;                   /* upper bound of the number of chunks */
    struct {
        uint32_t chunks, edge_chunks, edge_particles; /* all; those of tiles at the edge, which come first */
    } listed;                                         /* many ranks: what the last sort has listed */
    uint32_t *edge_particles;                         /* the same on the device; NULL: there is one rank */
    int placing;
    uint32_t *home; /* tile of each particle behind the sorted ones */
    uint64_t home_capacity;
    double *push;                            /* three arrays: E of the push with the force; NULL: LM_PUSH_E serves */
    struct lm_inflow_cell *inflow[LM_SIDES]; /* NULL: nothing enters there */
    lm_u64 *map;                             /* counters of hits; NULL without maps */
    char *stopping;                          /* a table's memory; NULL: none */
    int collides;                            /* or has: it may have lost particles */
};

struct lm_gpu_strips;
struct lm_strip_window;

struct lm_gpu {
    struct lm_backend base;
    const struct lm_gpu_particles *particles; /* of the precision of the setup */
    cudaStream_t stream;
    struct lm_gpu_halo *halo; /* cuda/halo; NULL: there is one rank */
    int failed, processors;
    void **owned; /* device memory that is allocated */
    size_t owned_count;
    cudaEvent_t queued[2]; /* by turns: how far the work has been queued; see lm_gpu_is_given_up */
    unsigned polls;
    size_t shared_bytes; /* that a block may have */
    struct lm_tiling tiling;
    size_t tiles, tile_cells;
    double *grid; /* every array of the grid, `pitch` elements each; the next lines point into it */
    size_t pitch;
    double *array[LM_ARRAYS]; /* those of one vector, density and current of one level, and what the ions feel, in a
                                 row */
    double *raw, *spare;      /* four arrays: moments of all species but the last, as deposited, without ghosts; eight:
                                 work of the smoothing */
    int resistive;            /* some LM_ETA is not 0 */
    int open;                 /* particles can leave */
    int counted;              /* they can leave or come, or exchange heat: tallies count */
    uint8_t *body, *near_body, *tile_has_body; /* lm_surfaces_mark; NULL without bodies */
    struct lm_body_cut *cut;                   /* struct lm_obstacles; NULL where bodies fill their cells */
    float *factor;                             /* lm_surfaces_factors; NULL without bodies */
    struct lm_map_bins maps;                   /* arrays on the device */
    double *next_b;                            /* three: where a Runge-Kutta step puts B */
    struct lm_field_sides sides;
    const struct lm_driving *driving; /* on the device; NULL: none */
    double driving_time;              /* of the last lm_gpu_drive */
    uint8_t *solid;                   /* lm_solid_of in bodies, with ghosts; NULL without bodies */
    struct lm_body_node *node;        /* three of each cell, with ghosts; NULL without bodies */
    struct {
        int used;                  /* lm_is_general: cuda/fields/walls.cu */
        double *curl, *e, *result; /* three arrays each, if used or lm_gpu_allocate_general */
        double *motional;          /* four: struct lm_motional, the slip last */
        double *next_void;         /* three: where a substep puts LM_VOID_E; NULL until they are needed */
        uint8_t *marks;            /* cuda/fields/stage.cu: of each tile; NULL until they are needed */
    } general;
    uint8_t *relaxes;         /* cuda/fields/relaxation.cu: of each tile; NULL until it is needed */
    int begun_maxima;         /* the maxima have been cleared since the last Ohm's law */
    int found_pressure;       /* lm_gpu_begin_pressure has begun since then */
    int found_b;              /* lm_gpu_begin_survey has begun, and lm_gpu_field_maxima has not taken what it finds */
    double *next_per_density; /* where lm_gpu_begin_survey puts LM_PER_DENSITY; NULL before the first mean of B */
    int used_void;            /* whether LM_VOID_E and LM_VOID may hold something */
    struct lm_gpu_strips *strips; /* cuda/fields/strips.cu; NULL: no side is radiating */
    struct {
        double *flow, *work;                /* velocities of ions x, y and of electrons; two arrays for the stages */
        double *counted;                    /* lm_density_for_battery; NULL without an evolved pressure */
        uint8_t *clearance;                 /* lm_stencil_clearance */
        struct lm_opening *open;            /* lm_openings_fill; NULL where no cell is cut */
        struct lm_passage *passage;         /* lm_passages_fill, likewise */
        struct lm_surface_cell *at_surface; /* lm_surface_cells; NULL without lm_has_surfaces */
        double *of_surface;                 /* [at_surface_count] */
        unsigned at_surface_count;
        int across, rows;          /* the pieces that warps take: how many in a row of them; rows of one */
        uint32_t *list, *list_end; /* their numbers: of those in free fluid first, of those beside solids last */
        unsigned in_free, near_body;
        int later;                                    /* of the last lm_gpu_flow */
        double *inflow[LM_MAX_BACKGROUNDS][LM_SIDES]; /* NULL: nothing flows in */
    } advect;                                         /* where there are background fields */
    lm_u64 *sums, *spare_sums; /* [4][ny][nx] each, by turns: `sums` is clear before a pass, the other need not */
    lm_u64
        *gas_transfer; /* [LM_GAS_SUMS][ny][nx]: what collisions transfer to a gas; NULL where no species has a gas */
    struct {
        double *temperature; /* [ny][nx]: of the electrons as the step began; NULL where no species exchanges */
        struct lm_heating_cell *cells; /* [ny][nx] */
        lm_u64 *sums;                  /* [ny][nx][LM_CELL_SUMS]; clear between steps */
    } exchange;
    int last_speed_exponent,
        last_alone; /* `speed_exponent` and `first` of the last species, whose sums wait for lm_gpu_moments */
    struct lm_gpu_control *control, *control_host; /* device; pinned */
    struct {
        cudaStream_t stream;
        cudaEvent_t fork, done;
        int is_open; /* something has been queued there since the last lm_gpu_join */
    } beside;
    struct lm_gpu_sums *reduced, *reduced_host;
    void *scan_work;
    size_t scan_bytes;
    void *staging; /* device; LM_GPU_STAGING bytes: LM_GPU_PIECE particles in stored form */
    struct lm_gpu_species species[LM_MAX_SPECIES];
};

enum { LM_GPU_PIECE = 1 << 18, LM_GPU_STAGING = LM_GPU_PIECE * 40, LM_GPU_THREADS = 256 };

/* A named stretch of host time in a profiler's timeline (NVTX), to the end of the scope. */
struct lm_gpu_range {
    explicit lm_gpu_range(const char *name)
    {
        nvtxRangePushA(name);
    }
    ~lm_gpu_range()
    {
        nvtxRangePop();
    }
};

static inline struct lm_gpu *lm_gpu_of(struct lm_backend *b)
{
    return (struct lm_gpu *)b;
}

/* A second stream of the backend. What is queued in g->beside.stream after lm_gpu_fork waits for what g->stream had
 * then, and runs beside what follows there, behind it where both want the same multiprocessors. What is queued in
 * g->stream after lm_gpu_join waits for all of that. */
int lm_gpu_fork(struct lm_gpu *g);
int lm_gpu_join(struct lm_gpu *g);

/* Whether the domain leaves most of a GPU idle: then the steps of one thread and the time between two kernels count. On
 * an H200 it pays for 64^2 cells, and does not for 256^2 (docs/performance/tried_and_rejected.md). */
static inline bool lm_gpu_is_small(const struct lm_gpu *g)
{
    return g->base.setup.grid.cells <= 1 << 13;
}

/* Records the first failure; returns the backend's status. */
int lm_gpu_check(struct lm_gpu *g, cudaError_t error, const char *what);
#define LM_GPU_LAUNCHED(g, name) lm_gpu_check(g, cudaGetLastError(), name)

/* Waits for what has been queued. That may wait for other ranks: then no longer than run.rank_limit. */
int lm_gpu_wait(struct lm_gpu *g, const char *what);

/* For loops that queue many short kernels: 1 when the step shall be given up (base/stop.h). Now and then it waits
 * until what was queued a while ago is done, so that little is left to wait for after a request to stop. Many ranks
 * call it alike and get the same answer. */
int lm_gpu_is_given_up(struct lm_gpu *g);

/* cuda/core/memory.cu: device memory. The backend owns all of it and frees in the end what has not been freed before.
 */

/* NULL and a recorded failure when there is no memory. */
void *lm_gpu_allocate(struct lm_gpu *g, size_t bytes, const char *what);

/* The same, but without memory only the message is recorded: the backend goes on. */
void *lm_gpu_try_allocate(struct lm_gpu *g, size_t bytes, const char *what);

/* Frees one piece; NULL is allowed. */
void lm_gpu_free(struct lm_gpu *g, void *memory);
void lm_gpu_free_all(struct lm_gpu *g);

/* All that a backend needs from its start, but for particles and background fields. */
void lm_gpu_allocate_all(struct lm_gpu *g, const struct lm_setup *setup);

/* The arrays of `general` in a domain that does without them until it has a void. */
int lm_gpu_allocate_general(struct lm_gpu *g);

/* Clears `reduced`; copies it to the host and waits. */
int lm_gpu_reduce_begin(struct lm_gpu *g);
int lm_gpu_reduce_end(struct lm_gpu *g);

/* Exclusive prefix sum of `count` values. */
int lm_gpu_scan(struct lm_gpu *g, const uint32_t *in, uint32_t *out, size_t count);

/* cuda/fields: closure.cu, drive.cu, moments.cu, faraday.cu, ohm.cu, reductions.cu, values.cu, relaxation.cu */

/* Smooths `count` arrays `passes` times into `to`, by turns with g->spare: the data start there when `passes` is odd.
 */
int lm_gpu_smooth(struct lm_gpu *g, double *to, int count, int passes);
int lm_gpu_copy(struct lm_backend *b, enum lm_array to, enum lm_array from, int count);
int lm_gpu_drive(struct lm_backend *b, double t, double force[LM_MAX_SPECIES][3]);
int lm_gpu_values(struct lm_backend *b, uint64_t count, struct lm_array_value *values);

/* LM_FLOORED and LM_PER_DENSITY; and LM_PRESSURE where it is evolved, or where general.used is 1. With the NEW level
 * lm_gpu_begin_pressure begins. */
int lm_gpu_closure(struct lm_backend *b, enum lm_array density, enum lm_array other, double substep);
int lm_gpu_find_per_density(struct lm_gpu *g, int density); /* LM_PER_DENSITY alone */
/* LM_PER_DENSITY of the OLD level, and the maxima of B. Takes what lm_gpu_begin_survey has found, after lm_gpu_join;
 * else finds both, after the maxima of B have been cleared. Only where general.used is 0. */
int lm_gpu_survey_b(struct lm_gpu *g);
/* As the mean of B ends: begins to find both beside the first substep, with the level that is NEW until the end of the
 * step. */
int lm_gpu_begin_survey(struct lm_gpu *g);
int lm_gpu_pressure(struct lm_gpu *g); /* LM_FLOORED and LM_PRESSURE of LM_N_OLD */

/* LM_PRESSURE_E of the pressure of the last closure and the density `n`, which counts as `least` where it is less: as
 * the ions feel it, or `for_b`, of an evolved pressure. It is 0 on walls, and has ghost cells beyond periodic sides.
 * g->spare is overwritten. */
int lm_gpu_pressure_field(struct lm_gpu *g, const double *n, double least, bool for_b);

/* closure.cu: g->advect.counted of the mean of two densities, of B and of the entropy as they stand. */
int lm_gpu_count_density(struct lm_gpu *g, const double *n, const double *other);

/* The rate of B_z that follows from the pressure of the last closure, in g->spare; NULL where there is none.
 * LM_PRESSURE_E is overwritten. */
const double *lm_gpu_battery(struct lm_gpu *g);
int lm_gpu_resistivity(struct lm_backend *b);

/* LM_PUSH_E, with what only a species feels where there is such: three arrays. */
const double *lm_gpu_push_field(struct lm_gpu *g, int species);

int lm_gpu_advance_b(struct lm_backend *b, const struct lm_b_step *step);
int lm_gpu_relax_b(struct lm_backend *b, double dt, int stages);
int lm_gpu_ohm(struct lm_backend *b, enum lm_ohm_current current);

/* What Ohm's law of the NEW level needs of a pressure that follows from the density, and its maxima, after all others
 * have been cleared: found beside the step of B, where there are no walls and at most one pass of the filter. */
int lm_gpu_begin_pressure(struct lm_gpu *g);
int lm_gpu_field_maxima(struct lm_backend *b, enum lm_maxima which);
int lm_gpu_begin_maxima(struct lm_gpu *g);            /* clears them, once for each Ohm's law */
void lm_gpu_forget_beside(struct lm_gpu *g);          /* lm_gpu_join, and what was found is not taken */
int lm_gpu_level_maxima(struct lm_gpu *g, int level); /* LM_N_OLD or LM_N_NEW: with the currents that follow it */

/* lm_gpu_collect leaves the last species to lm_gpu_moments, which reads its sums, clears the spare ones for the next
 * pass and swaps the two. The species before it are added up in `raw`, and their sums cleared where they are. */
int lm_gpu_collect(struct lm_backend *b, int species, int speed_exponent, int first);
int lm_gpu_moments(struct lm_backend *b);

int lm_gpu_side_energy(struct lm_backend *b);
int lm_gpu_grid_sums(struct lm_backend *b, struct lm_grid_sums *out);

int lm_gpu_hash_fields(struct lm_gpu *g); /* adds to reduced->value[0] */

/* cuda/fields/void_field.cu: at the beginning of a step of B or a round of one, LM_VOID of the last closure unless the
 * step keeps it, and no E_v elsewhere; in a stage of Runge-Kutta, after J and E of Ohm's law in `general`, adds E_v to
 * E and advances it. */
int lm_gpu_begin_void_field(struct lm_gpu *g, const struct lm_b_step *step);
int lm_gpu_advance_void_field(struct lm_gpu *g, int stage, double substep);
struct lm_void_nodes lm_gpu_void_nodes(const struct lm_gpu *g);

/* cuda/fields/stage.cu: the same as walls.cu and void_field.cu for a substep of B, in one kernel a stage. Not where E
 * beyond sides comes from strips that have ends or are those of several ranks, where the resistivity depends on the
 * plasma, or where electrons have friction with single species. At the beginning of a step of B the tiles are marked.
 */
bool lm_gpu_has_whole_stages(const struct lm_gpu *g);
int lm_gpu_begin_stages(struct lm_gpu *g, bool voids);
int lm_gpu_advance_stages(struct lm_gpu *g, enum lm_array ion_current, const double *battery, double substep,
                          bool is_first, bool voids);

/* cuda/fields/walls.cu: where general.used is 1, and in steps of B with voids */
int lm_gpu_general_advance_b(struct lm_gpu *g, const struct lm_b_step *step);
int lm_gpu_general_ohm(struct lm_gpu *g, enum lm_ohm_current current);

/* cuda/fields/mean_field.cu: the mean of B; nothing in steps without one. As a mean begins: its arrays, and LM_J_AHEAD
 * for the step that ends it. As it ends: LM_KEPT_B, unless the first substep leaves it. After each substep: LM_MEAN_B,
 * beside what follows, so that lm_gpu_join has to come before B changes where it is. In the end its ghost cells on
 * ranks.
 */
int lm_gpu_begin_mean(struct lm_gpu *g, const struct lm_b_step *step);
int lm_gpu_keep_b(struct lm_gpu *g, const struct lm_b_step *step);
int lm_gpu_add_to_mean(struct lm_gpu *g, const struct lm_b_step *step, int substep);
void lm_gpu_end_mean(struct lm_gpu *g, const struct lm_b_step *step);

/* Ghost cells beyond walls of the first `count` components of E. */
void lm_gpu_fill_e(struct lm_gpu *g, double *e, int count, enum lm_fill fill);

/* J, struct lm_motional and, where they depend on the plasma, LM_ETA and LM_FRICTION_FORCE: of a field `b` and the
 * electrons of the last closure. The ion current is that of the level at `ji`; ahead of it, if `before` is not NULL.
 * `at`: when the moments of single species count. */
void lm_gpu_currents(struct lm_gpu *g, const double *b, const double *ji, const double *before,
                     struct lm_level_weights at);

/* cuda/fields/strips.cu: the strips beyond radiating sides. Where there are none, nothing is done. */
void lm_gpu_make_strips(struct lm_gpu *g);
void lm_gpu_free_strips(struct lm_gpu *g);

/* At the beginning of a step of B: the ions of the strips go on, and a new strip gets its plasma. In a forecast
 * (LM_MEAN_ENDS) the ions stay as they are, and lm_gpu_end_strips puts B of the strips back. After other steps it does
 * nothing. */
void lm_gpu_begin_strips(struct lm_gpu *g, const struct lm_b_step *step);
void lm_gpu_end_strips(struct lm_gpu *g, const struct lm_b_step *step);

/* B of all strips in lines that other ranks own, whenever that of the domain is refreshed. */
void lm_gpu_refresh_b_of_strips(struct lm_gpu *g);

/* In a stage of Runge-Kutta for B, with `b` of the domain: E of the strips, then that of the ghost cells in `e`, then B
 * of the strips. The motional field in the domain follows from the ion current `ji`; NULL: it is in g->general. */
void lm_gpu_advance_strips(struct lm_gpu *g, int number, const double *b, const double *ji, double *e, double substep);

/* Whether the sides at the ends of all strips are periodic. Else E beyond the ends depends on E of the domain. */
bool lm_gpu_strips_are_periodic(const struct lm_gpu *g);

/* Then, after E of open sides: B_z in corners of two radiating sides. */
void lm_gpu_settle_corners(struct lm_gpu *g, const double *b, double *e, double substep);

/* The windows of all sides, whose arrays are on the device; NULL where a side has none. */
void lm_gpu_strip_windows(const struct lm_gpu *g, const struct lm_strip_window *of[LM_SIDES]);

/* n and J of all ions, four arrays, as deposited and with their ghosts: what the ions of the strips add to them in the
 * last cells inside, and their ghosts beyond radiating sides. */
void lm_gpu_add_strip_moments(struct lm_gpu *g, double *group);

/* What the ions feel beyond radiating sides: finds E and B of the push there from the strips and the array `b`; puts
 * E or B (`is_b`) into the ghosts of three arrays; does both for LM_PUSH_E and LM_PUSH_B. */
void lm_gpu_find_push_of_strips(struct lm_gpu *g, enum lm_array b);
void lm_gpu_push_of_strips(struct lm_gpu *g, double *group, int is_b);
void lm_gpu_fill_push_of_strips(struct lm_gpu *g);

int lm_gpu_get_strip(struct lm_backend *b, enum lm_side side, double *values);
int lm_gpu_put_strip(struct lm_backend *b, enum lm_side side, const double *values);

/* The hash of own lines, as fields from number `first` on; adds to reduced->value[0]. */
void lm_gpu_hash_strips(struct lm_gpu *g, int first);

/* cuda/fields/friction.cu, with J as it stands and the electrons of the last closure */

/* Adds to LM_ETA and to the motional field, and stores LM_FRICTION_FORCE. */
void lm_gpu_add_friction(struct lm_gpu *g, struct lm_level_weights at, const double *b);

/* What the ions of number `which` of the species with friction feel, at the centres, before smoothing and without ghost
 * cells beyond walls; which < 0: what all ions feel, added to `to`. */
void lm_gpu_friction_field(struct lm_gpu *g, struct lm_level_weights at, int which, double *to);
void lm_gpu_add_friction_heat(struct lm_gpu *g, struct lm_level_weights at, double *heat);
void lm_gpu_survey_friction(struct lm_gpu *g); /* adds the maxima of LM_FRICTION_E to the control values */

/* advect.cu; `bodies` are those of the setup that is lent, with their obstacles */
int lm_gpu_allocate_backgrounds(struct lm_gpu *g, const struct lm_bodies *bodies);
int lm_gpu_put_background_side(struct lm_backend *b, int field, enum lm_side side, const double *values);
int lm_gpu_flow(struct lm_backend *b, enum lm_flow_time when);
struct lm_flow_moments lm_gpu_flow_moments(const struct lm_gpu *g); /* of which lm_gpu_flow makes velocities */
int lm_gpu_flow_rates(struct lm_backend *b, double rate[LM_FLOW_RATES]);
int lm_gpu_advect(struct lm_backend *b, int field, int quantum, double dt, int substeps);
int lm_gpu_survey_background(struct lm_backend *b, int field, int quantum);

/* mixing.cu: lm_work_velocity into g->spare, and the heat of mixing of a time dt; `half` is half a step. */
int lm_gpu_work_velocities(struct lm_gpu *g);
int lm_gpu_mix(struct lm_gpu *g, int quantum, double dt, double half);

/* absorption.cu: takes and gives the entropy that passes through surfaces in a time dt; and makes the list of the cells
 * there on the device (`open` is on the host). */
int lm_gpu_pass_surfaces(struct lm_gpu *g, int quantum, double dt);
int lm_gpu_list_surfaces(struct lm_gpu *g, const struct lm_bodies *bodies, const struct lm_opening *open);

/* advect.cu */
int lm_gpu_transfer_to_gas(struct lm_backend *b, const struct lm_gas_gain *gain);

/* Fills the ghosts of a gas that particles are about to collide with. */
int lm_gpu_fill_gas(struct lm_gpu *g, int field);

/* electrons.cu */
int lm_gpu_evolved_pressure(struct lm_gpu *g); /* LM_PRESSURE with all ghosts */
int lm_gpu_heat(struct lm_backend *b, const struct lm_heat_pass *pass);
int lm_gpu_least_density(struct lm_backend *b, double *least);

/* exchange.cu: what ions meet in the cells, from the sums over them; then which cells can take or give the energy that
 * has been asked for, and these do. */
int lm_gpu_heating_cells(struct lm_gpu *g, const struct lm_exchange_pass *pass);
int lm_gpu_heat_electrons(struct lm_gpu *g, int species, const struct lm_exchange_pass *pass);
int lm_gpu_heat_exchange_limits(struct lm_backend *b, const struct lm_exchange *with, struct lm_exchange_limits *out);

/* cuda/particles/table.cu, compiled for each precision, as all of cuda/particles. */
struct lm_gpu_particles {
    struct lm_particle_ops ops;
    int (*hash)(struct lm_gpu *g, int species); /* adds to reduced->value[0] */
};
extern const struct lm_gpu_particles lm_gpu_particles_f32, lm_gpu_particles_f64;

#ifdef __CUDACC__
/* Brings items of the host to the staging memory, as many as it holds at a time, has `launch(items, n)` change them
 * there, and brings them back. Waits. `what`: for the message of a failure. */
template <typename T, typename LAUNCH>
static inline int lm_gpu_in_pieces(struct lm_gpu *g, uint64_t count, T *items, const char *what, const LAUNCH &launch)
{
    const uint64_t most = LM_GPU_STAGING / sizeof(T);
    T *const device = (T *)g->staging;
    for (uint64_t first = 0; first < count && !g->failed; first += most) {
        const uint32_t n = (uint32_t)(count - first < most ? count - first : most);
        lm_gpu_check(g, cudaMemcpyAsync(device, items + first, n * sizeof(T), cudaMemcpyHostToDevice, g->stream), what);
        launch(device, n);
        LM_GPU_LAUNCHED(g, what);
        lm_gpu_check(g, cudaMemcpyAsync(items + first, device, n * sizeof(T), cudaMemcpyDeviceToHost, g->stream), what);
    }
    return lm_gpu_wait(g, what);
}

/* Warp reductions, then one atomic a warp. All 32 lanes must take part. */
static __device__ __forceinline__ void lm_warp_max(lm_u64 *to, lm_u64 v)
{
    for (int d = 16; d; d >>= 1) {
        lm_u64 other = __shfl_xor_sync(0xffffffffu, v, d);
        v = other > v ? other : v;
    }
    if ((threadIdx.x & 31) == 0 && v)
        atomicMax(to, v);
}

static __device__ __forceinline__ void lm_warp_sum(lm_u64 *to, lm_u64 v)
{
    for (int d = 16; d; d >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0 && v)
        atomicAdd(to, v);
}

/* The sum of numbers of 128 bits: as that of their upper and lower 64. */
static __device__ __forceinline__ void lm_warp_sum_wide(lm_u64 *to, const struct lm_wide &v)
{
    lm_warp_sum(&to[0], (lm_u64)v.high);
    lm_warp_sum(&to[1], (lm_u64)v.low);
}

/* The same for N values over a block, then one atomic each: their maxima, or else their sums. All threads must take
 * part. */
template <bool LARGEST, int N> static __device__ __forceinline__ void lm_block_reduce(lm_u64 *to, const lm_u64 (&v)[N])
{
    __shared__ lm_u64 all[N];
    const unsigned k = threadIdx.x;
    if (k < N)
        all[k] = 0;
    __syncthreads();
    for (int n = 0; n < N; n++)
        LARGEST ? lm_warp_max(&all[n], v[n]) : lm_warp_sum(&all[n], v[n]);
    __syncthreads();
    if (k < N && all[k])
        LARGEST ? atomicMax(&to[k], all[k]) : atomicAdd(&to[k], all[k]);
}

/* The same for a sum of 128 bits. */
static __device__ __forceinline__ void lm_block_sum_wide(lm_u64 *to, const struct lm_wide &v)
{
    const lm_u64 both[2] = {(lm_u64)v.high, (lm_u64)v.low};
    lm_block_reduce<false>(to, both);
}
#endif

#endif
