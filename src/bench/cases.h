/* What the cases of `larmor bench` share. */
#ifndef LARMOR_BENCH_CASES_H
#define LARMOR_BENCH_CASES_H

#include "bench/bench.h"
#include "sim/state.h"
#include "bench/table.h"

/* One call of `larmor bench`. */
struct lm_bench {
    const struct lm_bench_options *options;
    FILE *out;
    int kind;                                  /* LM_BACKEND_CPU or LM_BACKEND_CUDA */
    int threads;                               /* CPU */
    char device[256];                          /* a line about it */
    struct lm_measured copy;                   /* bandwidth in bytes read and written per second: the better of both */
    struct lm_measured copy_loop, copy_memcpy; /* cudaMemcpy: on the GPU alone */
    struct json_t *tables;
    int different; /* 1: sums or results that must be equal were different */
};

/* src/bench/bench.c */
int lm_bench_repeats(const struct lm_bench *b, int usual);
int lm_bench_on_gpu(const struct lm_bench *b);

/* Prints the table, adds it to the JSON file and frees it. */
int lm_bench_add(struct lm_bench *b, struct lm_table **table);

/* Writes "equal" or "DIFFERENT" into the column, and notes the latter for the exit code. */
void lm_bench_put_equal(struct lm_bench *b, struct lm_table *t, int column, int equal);

/* The cases. Each makes its tables. LM_FAILED ends this case only. */
int lm_bench_copy(struct lm_bench *b);
int lm_bench_particles(struct lm_bench *b);
int lm_bench_order(struct lm_bench *b);
int lm_bench_fields(struct lm_bench *b);
int lm_bench_advect(struct lm_bench *b);
int lm_bench_reduce(struct lm_bench *b);
int lm_bench_ops(struct lm_bench *b);
int lm_bench_step(struct lm_bench *b);
int lm_bench_outputs(struct lm_bench *b);
int lm_bench_memory(struct lm_bench *b);

/* On many ranks. With one rank each prints how to start more, and measures nothing. */
int lm_bench_scale_weak(struct lm_bench *b);
int lm_bench_scale_strong(struct lm_bench *b);
int lm_bench_scale_halo(struct lm_bench *b);
int lm_bench_scale_moving(struct lm_bench *b);
int lm_bench_scale_files(struct lm_bench *b);

/* src/bench/scale.c: prints that line and returns 1 where there is one rank only. */
int lm_bench_needs_ranks(const struct lm_bench *b, const char *name);

/* src/bench/copy.c: fills b->copy. */
int lm_bench_measure_copy(struct lm_bench *b);

/* src/bench/problem.c: simulations that the cases measure. */

enum { LM_BENCH_MORE = 7 };

/* A thermal plasma (beta = 1, v_th dt/dx = 0.028, B_z = 1) in a square box, with the changes in `more`. */
struct lm_bench_problem {
    int shape, precision;            /* enums of config.h; 0: linear, double */
    int cells;                       /* cells along each side */
    int rows;                        /* cells along y; 0: as many */
    double ppc;                      /* average number of particles per cell */
    double mean;                     /* average of the density in `more`; 0 stands for 1 */
    int substeps;                    /* least number of substeps of B; 0 stands for 1 */
    int64_t sort_every;              /* 0: the program chooses */
    int threads;                     /* CPU threads; 0: as in the options */
    const char *sections;            /* further sections of the configuration, or NULL */
    const char *more[LM_BENCH_MORE]; /* section.key=value */
};

struct lm_bench_sim {
    struct lm_config config;
    struct lm_sim *sim;
    double particles;
};

/* The size from the options, or else the default for the device. */
int lm_bench_cells(const struct lm_bench *b);
double lm_bench_ppc(const struct lm_bench *b);

/* Makes the simulation and starts it. */
int lm_bench_sim_new(const struct lm_bench *b, const struct lm_bench_problem *problem, struct lm_bench_sim **out);
void lm_bench_sim_free(struct lm_bench_sim **s);

/* Takes steps with the checks that a run makes. */
int lm_bench_advance(struct lm_bench_sim *s, int64_t steps);

/* Bytes that a step must read and write for one particle: x, y, u, v, w once each. */
double lm_bench_ideal(int precision);
const char *lm_bench_shape(int shape);
const char *lm_bench_precision(int precision);

/* src/bench/background.c: one background field on a backend of its own. */

enum { LM_BENCH_QUANTUM = 46 };

/* Fluid without bodies; a wedge that rises along x and fills a tenth of the box; the wedge, and posts of 2 x 2 cells at
 * distances of 13 cells in the rest of the box. */
enum lm_bench_bodies { LM_BENCH_FREE, LM_BENCH_WEDGE, LM_BENCH_POSTS };

int lm_bench_is_solid(int bodies, const struct lm_grid *g, int i, int j);

typedef double lm_bench_profile(double x, double y);

/* Profiles: waves and small spots; the stream function of a flow of rolls. */
double lm_bench_ripples(double x, double y);
double lm_bench_rolls(double x, double y);

/* An advection problem. */
struct lm_bench_fluid {
    struct lm_grid g;
    int bodies;
    uint8_t *mask; /* NULL: no body */
    double *q, *vx, *vy, *source;
    double cells; /* of fluid */
};

/* nx x ny cells of a periodic box of width 1; the field, and a stream function that is made constant on bodies and is
 * the source too. */
int lm_bench_fluid_new(int nx, int ny, int bodies, lm_bench_profile *initial, lm_bench_profile *psi,
                       struct lm_bench_fluid *f);
void lm_bench_fluid_free(struct lm_bench_fluid *f);

struct lm_bench_background {
    struct lm_setup setup;
    struct lm_backend *b;
};

int lm_bench_background_new(const struct lm_bench *b, struct lm_background field, const struct lm_bench_fluid *f,
                            struct lm_bench_background *p);

/* src/bench/tendency.c: variants of the kernel of a right-hand side. src/bench/share.c: the share of a field in a step.
 */
int lm_bench_tendency(struct lm_bench *b);
int lm_bench_share(struct lm_bench *b);

/* src/bench/watch.c: measures the time of the particle passes and sorts within steps. The operations of a backend are
 * replaced by operations that wait for the device before and after. Only one backend can be watched at a time. */
struct lm_bench_watch {
    double pass, sort; /* s */
    int64_t sorts;
};

void lm_bench_watch_begin(struct lm_backend *b);
struct lm_bench_watch lm_bench_watch_read(void); /* since the beginning */
void lm_bench_watch_end(struct lm_backend *b);

#endif
