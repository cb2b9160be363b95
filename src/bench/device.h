/* Measurements that `larmor bench` makes on the device itself. Without CUDA every function fails (src/bench/device.c).
 */
#ifndef LARMOR_BENCH_DEVICE_H
#define LARMOR_BENCH_DEVICE_H

#include <stddef.h>

#include "larmor/base.h"
#include "bench/ops.h"
#include "bench/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds of a copy of `bytes` (a multiple of 16) from one array to another, by a kernel and by cudaMemcpy. */
int lm_cuda_bench_copy(size_t bytes, int repeats, struct lm_measured *kernel, struct lm_measured *memcpy_time);

/* --- ways to write the particle pass --- */

struct lm_particle_problem {
    int cells;              /* a side, a multiple of 8 */
    int particles_per_cell; /* in every cell */
    int shape;              /* 1: linear, 2: quadratic */
    int repeats;
};

/* The sums of a variant are compared with those of shared int32 atomics. Sums in single precision may differ by the
 * tolerance, in particles of one cell. Sums of these integers are exact in double precision, and in single precision
 * while they stay below 2^24. */
enum { LM_SUMS_UNCHECKED, LM_SUMS_EQUAL, LM_SUMS_WITHIN, LM_SUMS_DIFFERENT };
#define LM_PARTICLE_TOLERANCE 1e-4

struct lm_particle_row {
    const char *variant, *order;
    struct lm_measured time; /* s */
    double bytes;            /* that have to be read and written for a particle */
    int threads, registers;
    double spill, shared_static, shared_dynamic; /* bytes */
    double occupancy;                            /* share of the threads a multiprocessor can hold */
    double global_atomics, shared_atomics;       /* a particle */
    int sums;
    double difference;
};

enum { LM_PARTICLE_ROWS = 32 };

/* Fills rows[0..*count). */
int lm_cuda_bench_particles_f32(const struct lm_particle_problem *problem, struct lm_particle_row *rows, int *count);
int lm_cuda_bench_particles_f64(const struct lm_particle_problem *problem, struct lm_particle_row *rows, int *count);

/* --- sums over elements of which few contribute --- */

enum lm_reduce_method {
    LM_REDUCE_THREAD,    /* an atomic a contributing thread and channel */
    LM_REDUCE_WARP,      /* a tree of shuffles, an atomic a warp and channel */
    LM_REDUCE_WARP_SKIP, /* the same; warps without contribution skip it */
    LM_REDUCE_BLOCK,     /* trees of shuffles, then shared memory, an atomic a block and channel */
    LM_REDUCE_BLOCK_SKIP /* the same; warps and blocks without contribution skip it */
};

struct lm_reduce_run {
    int method, channels, block; /* channels 1 or 4 of bench/reduce.h; threads of a block, any number to 1024 */
    double rate;                 /* of the elements that contribute */
    struct lm_measured time;     /* result: s */
    double atomics;              /* result: on the sums, counted in an untimed launch */
    int64_t sum[4];              /* result */
};

/* Fills the results of `run`[0..runs), each over elements [0, count). */
int lm_cuda_bench_reduce(uint64_t count, int repeats, struct lm_reduce_run *run, int runs);

/* --- ways to write one right-hand side of a background field --- */

enum { LM_TENDENCY_GHOSTS = 5, LM_TENDENCY_ROWS = 96 };

/* The cells of a kernel: all cells of fluid; those whose whole stencil is fluid; the other cells of fluid. */
enum lm_tendency_list { LM_TENDENCY_ACTIVE, LM_TENDENCY_INTERIOR, LM_TENDENCY_BOUNDARY, LM_TENDENCY_LISTS };

/* Arrays of ny + 2 LM_TENDENCY_GHOSTS rows of `stride` = nx + 2 LM_TENDENCY_GHOSTS elements, filled periodically; lists
 * hold places in them. */
struct lm_tendency_problem {
    int nx, ny, stride;
    int order; /* 3, 4, 5: WENO5, 7, 9 */
    double unit, dt, inv_dx, inv_dy, diffusivity;
    const double *q, *vx, *vy, *source;
    const uint8_t *clearance;
    const uint32_t *list[LM_TENDENCY_LISTS];
    uint32_t count[LM_TENDENCY_LISTS];
    int repeats;
};

/* A row of the table: one kernel of a variant; or, without the name of a kernel, all kernels of the variant one after
 * the other, and their result. */
struct lm_tendency_row {
    const char *way, *kernel;
    int list;                /* enum lm_tendency_list */
    struct lm_measured time; /* s */
    int registers;
    double spill, occupancy; /* bytes; share of the threads a multiprocessor can hold */
    /* Of a whole way: */
    const char *against;        /* the way that this one differs from in one thing, or NULL */
    struct lm_measured control; /* a kernel that no way touches, timed at the same moment, s */
    int sums;                   /* LM_SUMS_...: against the monolithic kernel, in single precision against its bound */
    double difference;          /* in single precision: largest, in parts of the bound */
};

/* Fills rows[0..*count); `advanced`: q after one whole step of three stages, without ghosts. */
int lm_cuda_bench_tendency(const struct lm_tendency_problem *problem, struct lm_tendency_row *rows, int *count,
                           double *advanced);

/* --- expressions of operators --- */

enum lm_ops_way {
    LM_OPS_GLOBAL, /* every operator evaluates its argument anew */
    LM_OPS_WIDE,   /* a buffer in shared memory for every argument, tiles of 32 x 8 cells */
    LM_OPS_SQUARE, /* tiles of 32 x 32 */
    LM_OPS_LARGE,  /* tiles of 128 x 64 */
    LM_OPS_WAYS
};

struct lm_ops_run {
    int way;
    int fell_back;           /* to LM_OPS_GLOBAL: the buffers do not fit, or an axis has fewer cells than they reach */
    struct lm_measured time; /* s; zero without repeats */
    int registers;
    double spill, shared; /* bytes; `shared` is the need of the buffers, also where they do not fit */
    double occupancy;     /* share of the threads a multiprocessor can hold */
    double loads;         /* of inputs from global memory, counted in an untimed run, a cell */
    uint64_t different;   /* nodes of the results that are not the loops' in every bit */
};

/* Evaluates an expression in all ways and compares with the problem's results, those of lm_ops_loops; fills the runs.
 * Without repeats nothing is timed. */
int lm_cuda_bench_ops(const struct lm_ops_problem *problem, int expression, int repeats,
                      struct lm_ops_run run[LM_OPS_WAYS]);

#ifdef __cplusplus
}
#endif
#endif
