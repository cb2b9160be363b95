/* Case `advect`: the advection of a background field, in free fluid and past a slope; its order and how much variation
 * it adds to a step; then the ways to write a right-hand side, and the share of a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases.h"
#include "larmor/background.h"
#include "larmor/physics/fluid/advect.h"

enum { BATCH = 10 };

static const char *const schemes[] = {"centred", "upwind", "WENO3", "WENO5", "WENO7", "WENO9"};

static int advance(struct lm_bench_background *p, double dt, int substeps)
{
    return p->b->ops->advect(p->b, 0, LM_BENCH_QUANTUM, dt, substeps);
}

static int wait_for(struct lm_bench_background *p)
{
    struct lm_control ignored;
    return p->b->ops->control(p->b, &ignored);
}

/* --- speed --- */

static int time_problem(const struct lm_bench *b, struct lm_bench_background *p, struct lm_measured *out)
{
    const int repeats = lm_bench_repeats(b, b->options->quick ? 2 : 10), batch = b->options->quick ? 1 : BATCH;
    const double dt = 0.3 * p->setup.grid.dx;
    double times[LM_BENCH_MAX_REPEATS];
    int status = LM_OK;
    for (int r = -1; r < repeats && !status; r++) { /* the first is the warm-up */
        const double before = lm_clock();
        status = advance(p, dt, batch);
        status = status ? status : wait_for(p);
        times[r < 0 ? 0 : r] = (lm_clock() - before) / (batch * LM_ADVECT_STAGES);
    }
    if (!status)
        *out = lm_measured_of(times, repeats);
    return status;
}

/* --- quality --- */

static double wave(double x, double y)
{
    return 1 + 0.5 * sin(2 * M_PI * x) * cos(2 * M_PI * y);
}

static double step(double x, double y)
{
    (void)y;
    return x > 0.3 && x < 0.7 ? 1 : 0;
}

static double diagonal(double x, double y)
{
    return y - x;
}

static double rightwards(double x, double y)
{
    (void)x;
    return y;
}

/* Cells of a row, before and after. */
static int get(struct lm_bench_background *p, double *out)
{
    return p->b->ops->get(p->b, LM_BACKGROUND, out);
}

/* Mean error of a wave that has crossed the box once. */
static int wave_error(const struct lm_bench *b, struct lm_background field, int n, double dt, double *error)
{
    struct lm_bench_background p = {.b = NULL};
    struct lm_bench_fluid f;
    int status = lm_bench_fluid_new(n, n, LM_BENCH_FREE, wave, diagonal, &f);
    const struct lm_grid *g = &f.g;
    double *z = malloc(g->size * sizeof *z);
    const int substeps = (int)ceil(1 / dt);
    if (!z && !status)
        status = lm_fail(LM_FAILED, "not enough memory for the problem");
    status = status ? status : lm_bench_background_new(b, field, &f, &p);
    status = status ? status : advance(&p, 1.0 / substeps, substeps);
    status = status ? status : get(&p, z);
    *error = 0;
    for (int j = 0; j < n && !status; j++)
        for (int i = 0; i < n; i++)
            *error += fabs(z[lm_at(g, i, j)] - f.q[lm_at(g, i, j)]) / (n * n);
    free(z);
    lm_bench_fluid_free(&f);
    lm_backend_destroy(&p.b);
    return status;
}

/* The time step shrinks so that its error falls as that of the reconstruction. */
static int find_order(const struct lm_bench *b, struct lm_background field, double *order)
{
    static const int cells[] = {64, 64, 64, 24, 16, 12};
    const int n = cells[field.scheme];
    const double formal = field.scheme > LM_WENO3 ? 2 * field.scheme - 1 : 2, dt = 0.4 / n;
    double coarse, fine;
    int status = wave_error(b, field, n, dt, &coarse);
    if (!status)
        status = wave_error(b, field, 2 * n, dt / exp2(fmax(formal / 3, 1)), &fine);
    if (!status)
        *order = log2(coarse / fine);
    return status;
}

/* The relative growth of the total variation of a step that has crossed the box once. */
static int find_variation(const struct lm_bench *b, struct lm_background field, double *error)
{
    enum { N = 200 };
    struct lm_bench_background p = {.b = NULL};
    struct lm_bench_fluid f;
    double sum = 0;
    int status = lm_bench_fluid_new(N, 4, LM_BENCH_FREE, step, rightwards, &f);
    const struct lm_grid *g = &f.g;
    double *a = malloc(g->size * sizeof *a);
    if (!a && !status)
        status = lm_fail(LM_FAILED, "not enough memory for the problem");
    status = status ? status : lm_bench_background_new(b, field, &f, &p);
    status = status ? status : advance(&p, 0.4 / N, (int)(N / 0.4));
    status = status ? status : get(&p, a);
    for (int i = 0; i < N && !status; i++)
        sum += fabs(a[lm_at(g, (i + 1) % N, 1)] - a[lm_at(g, i, 1)]);
    *error = sum / 2 - 1;
    free(a);
    lm_bench_fluid_free(&f);
    lm_backend_destroy(&p.b);
    return status;
}

/* --- the table --- */

enum { TIME, RATE, COPY, WEDGE, WEDGE_SHARE, ORDER, VARIATION };

/* Reads the field, its value at the start of the step (except in the first of three stages) and two velocities, and
 * writes the field. */
static const double BYTES = 8 * (4 + 5 + 5) / 3.0;

static int new_table(int cells, struct lm_table **t)
{
    char title[128];
    snprintf(title, sizeof title, "advect: a stage (one right-hand side) of one field on %d x %d cells", cells, cells);
    if (lm_table_new("advect", title, t))
        return LM_FAILED;
    lm_table_column(*t, "time", "us");
    lm_table_column(*t, "cells", "G/s");
    lm_table_column(*t, "of copy", "%");
    lm_table_column(*t, "past a wedge", "G/s");
    lm_table_column(*t, "of free", "%");
    lm_table_column(*t, "order", "");
    lm_table_column(*t, "variation", "%");
    lm_table_note(*t,
                  "of copy: %.1f bytes a cell and stage; past a wedge: a body on a tenth of the box, its cells do not "
                  "count",
                  BYTES);
    lm_table_note(*t, "order: of a smooth wave's error; variation: what a step that has crossed 200 cells has more of "
                      "it in %% (less: smeared)");
    return LM_OK;
}

static int time_one(const struct lm_bench *b, struct lm_background field, const struct lm_bench_fluid *f,
                    struct lm_measured *time)
{
    struct lm_bench_background p;
    int status = lm_bench_background_new(b, field, f, &p);
    if (!status)
        status = time_problem(b, &p, time);
    lm_backend_destroy(&p.b);
    return status;
}

/* f[0]: free; f[1]: past the wedge. */
static int one_row(const struct lm_bench *b, struct lm_table *t, struct lm_background field,
                   const struct lm_bench_fluid *f)
{
    struct lm_measured free_time, past;
    double order, variation;
    int status = time_one(b, field, &f[0], &free_time);
    status = status ? status : time_one(b, field, &f[1], &past);
    status = status ? status : find_order(b, field, &order);
    status = status ? status : find_variation(b, field, &variation);
    if (status)
        return status;
    lm_table_row(t, "%s%s%s", schemes[field.scheme], field.single ? ", single" : "", field.limited ? ", bounds" : "");
    lm_table_measured(t, TIME, lm_measured_scaled(1e6, free_time));
    lm_table_measured(t, RATE, lm_measured_rate(1e-9 * f[0].cells, free_time));
    lm_table_number(t, COPY, 100 * BYTES * f[0].cells / free_time.median / b->copy.median);
    lm_table_measured(t, WEDGE, lm_measured_rate(1e-9 * f[1].cells, past));
    lm_table_number(t, WEDGE_SHARE, 100 * (f[1].cells / past.median) / (f[0].cells / free_time.median));
    lm_table_number(t, ORDER, order);
    lm_table_number(t, VARIATION, 100 * variation);
    return LM_OK;
}

int lm_bench_advect(struct lm_bench *b)
{
    const int usual = lm_bench_on_gpu(b) ? 4096 : 1024;
    const int cells = b->options->cells > 0 ? b->options->cells : b->options->quick ? 128 : usual;
    struct lm_table *t;
    struct lm_bench_fluid f[2] = {{.mask = NULL}};
    if (new_table(cells, &t))
        return LM_FAILED;
    int status = lm_bench_fluid_new(cells, cells, LM_BENCH_FREE, lm_bench_ripples, lm_bench_rolls, &f[0]);
    if (!status)
        status = lm_bench_fluid_new(cells, cells, LM_BENCH_WEDGE, lm_bench_ripples, lm_bench_rolls, &f[1]);
    for (int scheme = LM_CENTRED; scheme <= LM_WENO9 && !status; scheme++)
        for (int kind = 0; kind < (scheme > LM_UPWIND ? 3 : 1) && !status; kind++)
            status = one_row(b, t,
                             (struct lm_background){
                                 .scheme = scheme, .single = kind == 1, .limited = kind == 2, .least = 0, .most = 3},
                             f);
    lm_bench_fluid_free(&f[0]);
    lm_bench_fluid_free(&f[1]);
    if (status) {
        lm_table_free(&t);
        return status;
    }
    status = lm_bench_add(b, &t);
    status = status ? status : lm_bench_tendency(b);
    return status ? status : lm_bench_share(b);
}
