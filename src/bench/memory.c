/* Case `memory`: bytes a particle takes, measured on a running simulation, and how many particles fit the device. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/cases.h"

enum { FILL_STEPS = 6 };

/* A side of the grid that a filled device has. */
static int fill_cells(const struct lm_bench *b)
{
    return b->options->quick ? 128 : 2048;
}

/* Bytes in use: of the device, or of this process. */
static double used_bytes(const struct lm_bench *b)
{
    double free_bytes = 0, total = 0, pages = 0;
    if (lm_bench_on_gpu(b)) {
        lm_backend_memory(b->kind, &free_bytes, &total);
        return total - free_bytes;
    }
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*f %lf", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

/* Of one simulation: bytes once it is loaded, and after steps with a sort in them. */
struct usage {
    double particles, loaded, stepped, estimate;
};

static int measure(const struct lm_bench *b, struct lm_bench_problem problem, double ppc, struct usage *u)
{
    struct lm_bench_sim *s;
    double before = used_bytes(b);
    problem.ppc = ppc;
    problem.sort_every = 1;
    int status = lm_bench_sim_new(b, &problem, &s);
    if (status)
        return status;
    u->particles = s->particles;
    u->loaded = used_bytes(b) - before;
    status = lm_bench_advance(s, 3);
    u->stepped = used_bytes(b) - before;
    u->estimate = lm_backend_bytes(b->kind, &s->sim->backend->setup, s->sim->count);
    lm_bench_sim_free(&s);
    return status;
}

/* The memory in one precision: per particle, and for the grid. */
struct cost {
    double loaded, stepped, estimate; /* a particle */
    double grid;                      /* a cell */
};

/* Measures two simulations that differ in the number of particles only. A first simulation makes what is allocated
 * once. */
static int find_cost(const struct lm_bench *b, const struct lm_bench_problem *p, struct cost *c)
{
    double ppc = lm_bench_ppc(b), cells = (double)p->cells * p->cells;
    struct usage few, many;
    int status = measure(b, *p, 0.25 * ppc, &few);
    status = status ? status : measure(b, *p, ppc, &many);
    status = status ? status : measure(b, *p, 0.25 * ppc, &few);
    double more = many.particles - few.particles;
    if (status)
        return status;
    c->loaded = (many.loaded - few.loaded) / more;
    c->stepped = (many.stepped - few.stepped) / more;
    c->estimate = (many.estimate - few.estimate) / more;
    c->grid = fmax(0, (few.stepped - c->stepped * few.particles) / cells);
    return LM_OK;
}

/* The number of particles that fit together with the grid of --fill, with a margin of 3 %. */
static double capacity(const struct lm_bench *b, const struct cost *c)
{
    double free_bytes, total, cells = (double)fill_cells(b) * fill_cells(b);
    lm_backend_memory(b->kind, &free_bytes, &total);
    double fit = (0.97 * free_bytes - fmax(c->grid, 500) * cells) / fmax(c->stepped, c->estimate);
    return fmin(fmax(fit, 0), 0.999 * (double)LM_MAX_PARTICLES);
}

enum { LOADED, STEPPED, ESTIMATE, GRID, FIT };

static int cost_table(struct lm_bench *b, double fit[2])
{
    struct lm_bench_problem p = {.shape = LM_LINEAR, .cells = lm_bench_cells(b)};
    struct lm_table *t;
    int status = lm_table_new("memory", "memory: what a particle takes, and how many fit", &t);
    if (status)
        return status;
    lm_table_column(t, "loaded", "B a particle");
    lm_table_column(t, "after sorts", "B a particle");
    lm_table_column(t, "estimate", "B a particle");
    lm_table_column(t, "grid", "B a cell");
    lm_table_column(t, "fit", "M particles");
    for (int k = 0; k < 2 && !status; k++) {
        struct cost c;
        p.precision = k ? LM_SINGLE : LM_DOUBLE;
        status = find_cost(b, &p, &c);
        if (status)
            break;
        fit[k] = capacity(b, &c);
        lm_table_row(t, "%s precision", lm_bench_precision(p.precision));
        lm_table_number(t, LOADED, c.loaded);
        lm_table_number(t, STEPPED, c.stepped);
        lm_table_number(t, ESTIMATE, c.estimate);
        lm_table_number(t, GRID, c.grid);
        lm_table_number(t, FIT, 1e-6 * fit[k]);
    }
    lm_table_note(t,
                  "measured: %s, from two simulations of %d x %d cells that differ in their particles only; estimate: "
                  "the number that `larmor check` uses, sorting and loading included",
                  lm_bench_on_gpu(b) ? "free memory of the device" : "resident memory of the process", p.cells,
                  p.cells);
    lm_table_note(t, "fit: of the memory that is free now less 3 %%, beside %d x %d cells; at most %.4g M a species",
                  fill_cells(b), fill_cells(b), 1e-6 * (double)LM_MAX_PARTICLES);
    if (!status)
        return lm_bench_add(b, &t);
    lm_table_free(&t);
    return status;
}

static int time_full(struct lm_bench_sim *s, struct lm_measured *out)
{
    double times[FILL_STEPS];
    int status = lm_bench_advance(s, 2);
    for (int k = 0; k < FILL_STEPS && !status; k++) {
        double before = lm_clock();
        status = lm_bench_advance(s, 1);
        times[k] = lm_clock() - before;
    }
    if (!status)
        *out = lm_measured_of(times, FILL_STEPS);
    return status;
}

/* Runs as many particles as fit, in single precision. */
static int fill_table(struct lm_bench *b, double particles)
{
    int cells = fill_cells(b);
    const struct lm_bench_problem p = {.shape = LM_LINEAR,
                                       .precision = LM_SINGLE,
                                       .cells = cells,
                                       .ppc = floor(particles / ((double)cells * cells)),
                                       .sort_every = 4};
    struct lm_bench_sim *s;
    struct lm_table *t;
    struct lm_measured time;
    int status = lm_bench_sim_new(b, &p, &s);
    if (status)
        return status;
    double free_bytes, total, count = s->particles;
    status = time_full(s, &time);
    lm_backend_memory(b->kind, &free_bytes, &total);
    lm_bench_sim_free(&s);
    status = status ? status : lm_table_new("memory_fill", "memory: a run that fills the device; linear, single", &t);
    if (status)
        return status;
    lm_table_column(t, "particles", "M");
    lm_table_column(t, "rate", "G particle-steps/s");
    lm_table_column(t, "step", "ms");
    lm_table_column(t, "free", "GiB");
    lm_table_row(t, "%d x %d cells, %g a cell", p.cells, p.cells, p.ppc);
    lm_table_number(t, 0, 1e-6 * count);
    lm_table_measured(t, 1, lm_measured_rate(1e-9 * count, time));
    lm_table_measured(t, 2, lm_measured_scaled(1e3, time));
    lm_table_number(t, 3, free_bytes / 0x1p30);
    lm_table_note(t, "%d steps, sorted every %lld", FILL_STEPS, (long long)p.sort_every);
    return lm_bench_add(b, &t);
}

int lm_bench_memory(struct lm_bench *b)
{
    double fit[2] = {0, 0};
    int status = cost_table(b, fit);
    if (status || !b->options->fill)
        return status;
    return fill_table(b, b->options->quick ? fmin(fit[1], 1e5) : fit[1]);
}
