/* Case `advect`, second part: ways to write one right-hand side of a background field, side by side on the GPU
 * (cuda/bench/tendency.cu), past a wedge and among posts; the last way is the program's own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "larmor/background.h"
#include "bench/device.h"
#include "larmor/physics/fluid/advect.h"
#include "larmor/physics/fluid/face_value.h"

enum { REPEATS = 50, CELLS = 2048, QUICK_CELLS = 200, BATCH = 10, GHOSTS = LM_TENDENCY_GHOSTS };

/* --- the problem: arrays with more ghosts than the program's --- */

struct host {
    struct lm_tendency_problem p;
    const struct lm_bench_fluid *fluid;
    struct lm_grid g;
    double *arrays; /* q, vx, vy, source */
    uint8_t *clearance;
    uint32_t *lists;
    double *advanced;
};

static void host_free(struct host *h)
{
    free(h->arrays);
    free(h->clearance);
    free(h->lists);
    free(h->advanced);
}

static size_t element_of(const struct lm_tendency_problem *p, int i, int j)
{
    return (size_t)(j + GHOSTS) * (size_t)p->stride + (size_t)(i + GHOSTS);
}

static int is_solid(const struct host *h, int i, int j)
{
    return lm_bench_is_solid(h->fluid->bodies, &h->g, (i + h->g.nx) % h->g.nx, (j + h->g.ny) % h->g.ny);
}

static void put_arrays(struct host *h, size_t elements)
{
    const double *const from[] = {h->fluid->q, h->fluid->vx, h->fluid->vy, h->fluid->source};
    const struct lm_grid *g = &h->g;
    for (int n = 0; n < 4; n++)
        for (int j = -GHOSTS; j < g->ny + GHOSTS; j++)
            for (int i = -GHOSTS; i < g->nx + GHOSTS; i++)
                h->arrays[(size_t)n * elements + element_of(&h->p, i, j)] =
                    from[n][lm_at(g, (i + g->nx) % g->nx, (j + g->ny) % g->ny)];
}

static int put_clearance(struct host *h)
{
    const struct lm_grid *g = &h->g;
    uint8_t *clearance = malloc(g->size);
    int status = clearance ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the problem");
    if (!status)
        status = lm_stencil_clearance(g, h->fluid->mask, clearance);
    for (int j = -GHOSTS; j < g->ny + GHOSTS && !status; j++)
        for (int i = -GHOSTS; i < g->nx + GHOSTS; i++)
            h->clearance[element_of(&h->p, i, j)] = clearance[lm_at(g, (i + g->nx) % g->nx, (j + g->ny) % g->ny)];
    free(clearance);
    return status;
}

/* --- lists of cells --- */

/* 1 when the stencils of all four faces of a cell are in free fluid: the clearances of the cell and of its neighbours
 * are large enough. */
static int is_interior(const struct host *h, size_t k)
{
    const size_t stride = (size_t)h->p.stride;
    const uint8_t *clearance = h->clearance;
    int x = lm_clearance_x(clearance[k]), y = lm_clearance_y(clearance[k]);
    x = x < lm_clearance_x(clearance[k - 1]) ? x : lm_clearance_x(clearance[k - 1]);
    x = x < lm_clearance_x(clearance[k + 1]) ? x : lm_clearance_x(clearance[k + 1]);
    y = y < lm_clearance_y(clearance[k - stride]) ? y : lm_clearance_y(clearance[k - stride]);
    y = y < lm_clearance_y(clearance[k + stride]) ? y : lm_clearance_y(clearance[k + stride]);
    return x >= h->p.order && y >= h->p.order;
}

static void make_lists(struct host *h)
{
    uint32_t *to[LM_TENDENCY_LISTS];
    for (int n = 0; n < LM_TENDENCY_LISTS; n++) {
        to[n] = h->lists + (size_t)n * h->g.cells;
        h->p.list[n] = to[n];
        h->p.count[n] = 0;
    }
    for (int j = 0; j < h->g.ny; j++)
        for (int i = 0; i < h->g.nx; i++) {
            const size_t k = element_of(&h->p, i, j);
            const int list = is_interior(h, k) ? LM_TENDENCY_INTERIOR : LM_TENDENCY_BOUNDARY;
            if (!h->clearance[k])
                continue;
            to[LM_TENDENCY_ACTIVE][h->p.count[LM_TENDENCY_ACTIVE]++] = (uint32_t)k;
            to[list][h->p.count[list]++] = (uint32_t)k;
        }
}

/* The list that a cell belongs to, from the cells themselves. */
static int list_by_definition(const struct host *h, int i, int j)
{
    int solids = 0;
    if (is_solid(h, i, j))
        return LM_TENDENCY_LISTS;
    for (int m = -h->p.order; m <= h->p.order; m++)
        solids += is_solid(h, i + m, j) + is_solid(h, i, j + m);
    return solids ? LM_TENDENCY_BOUNDARY : LM_TENDENCY_INTERIOR;
}

/* Whether the two lists are disjoint and complete and hold the right cells. */
static int lists_are_right(const struct host *h)
{
    const size_t elements = (size_t)h->p.stride * (size_t)(h->g.ny + 2 * GHOSTS);
    uint8_t *list = calloc(elements, 1);
    int right = list != NULL;
    for (int n = LM_TENDENCY_INTERIOR; n <= LM_TENDENCY_BOUNDARY && right; n++)
        for (uint32_t k = 0; k < h->p.count[n]; k++) {
            right &= list[h->p.list[n][k]] == 0;
            list[h->p.list[n][k]] = (uint8_t)n;
        }
    for (int j = 0; j < h->g.ny && right; j++)
        for (int i = 0; i < h->g.nx; i++)
            right &= list[element_of(&h->p, i, j)] == list_by_definition(h, i, j) % LM_TENDENCY_LISTS;
    free(list);
    return right;
}

static struct lm_background field_of(const struct lm_bench_fluid *f, int scheme, int single)
{
    return (struct lm_background){.scheme = scheme,
                                  .single = single,
                                  .diffusivity = 0.05 * f->g.dx,
                                  .has_source = 1,
                                  .least = 0,
                                  .most = INFINITY};
}

static int host_new(const struct lm_bench *b, const struct lm_bench_fluid *f, int scheme, struct host *h)
{
    const struct lm_grid *g = &f->g;
    const size_t elements = (size_t)(g->nx + 2 * GHOSTS) * (size_t)(g->ny + 2 * GHOSTS);
    *h = (struct host){.fluid = f, .g = *g, .arrays = malloc(4 * elements * sizeof *h->arrays)};
    h->clearance = malloc(elements);
    h->lists = malloc(LM_TENDENCY_LISTS * g->cells * sizeof *h->lists);
    h->advanced = malloc(g->cells * sizeof *h->advanced);
    if (!h->arrays || !h->clearance || !h->lists || !h->advanced)
        return lm_fail(LM_FAILED, "not enough memory for the problem");
    h->p = (struct lm_tendency_problem){.nx = g->nx,
                                        .ny = g->ny,
                                        .stride = g->nx + 2 * GHOSTS,
                                        .order = scheme,
                                        .unit = ldexp(1, -LM_BENCH_QUANTUM),
                                        .dt = 0.2 * g->dx,
                                        .inv_dx = 1 / g->dx,
                                        .inv_dy = 1 / g->dy,
                                        .diffusivity = field_of(f, scheme, 0).diffusivity,
                                        .q = h->arrays,
                                        .vx = h->arrays + elements,
                                        .vy = h->arrays + 2 * elements,
                                        .source = h->arrays + 3 * elements,
                                        .clearance = h->clearance,
                                        .repeats = lm_bench_repeats(b, b->options->quick ? 2 : REPEATS)};
    put_arrays(h, elements);
    int status = put_clearance(h);
    if (!status)
        make_lists(h);
    return status;
}

/* --- the program's own way --- */

/* Seconds of a stage: a right-hand side and what follows from it. */
static int time_stage(const struct lm_bench *b, struct lm_bench_background *p, double dt, struct lm_measured *out)
{
    const int repeats = lm_bench_repeats(b, b->options->quick ? 2 : REPEATS), batch = b->options->quick ? 1 : BATCH;
    struct lm_control ignored;
    double times[LM_BENCH_MAX_REPEATS];
    int status = LM_OK;
    for (int r = -1; r < repeats && !status; r++) { /* the first is the warm-up */
        const double before = lm_clock();
        status = p->b->ops->advect(p->b, 0, LM_BENCH_QUANTUM, dt, batch);
        status = status ? status : p->b->ops->control(p->b, &ignored);
        times[r < 0 ? 0 : r] = (lm_clock() - before) / (batch * LM_ADVECT_STAGES);
    }
    if (!status)
        *out = lm_measured_of(times, repeats);
    return status;
}

/* One step by the program against one by the first of the ways. */
static int compare_step(const struct host *h, struct lm_backend *b, int *equal)
{
    const struct lm_grid *g = &h->g;
    double *q = malloc(g->size * sizeof *q);
    int status = q ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the problem");
    status = status ? status : b->ops->advect(b, 0, LM_BENCH_QUANTUM, h->p.dt, 1);
    status = status ? status : b->ops->get(b, LM_BACKGROUND, q);
    *equal = 1;
    for (int j = 0; j < g->ny && !status; j++)
        for (int i = 0; i < g->nx; i++)
            *equal &= is_solid(h, i, j) || q[lm_at(g, i, j)] == h->advanced[(size_t)j * (size_t)g->nx + (size_t)i];
    free(q);
    return status;
}

/* --- the tables --- */

enum { TIME, LIST, COUNT, RATE, REGISTERS, SPILL, OCCUPANCY };
enum { WAY_TIME, WAY_RATE, SPEED_UP, AGAINST, THAN, CONTROL, SUMS, OF_BOUND };

/* A table of `what`, which is `of` a right-hand side. */
static int new_table(const struct host *h, const char *what, const char *of, struct lm_table **t)
{
    const int weno = 2 * h->p.order - 1, posts = h->fluid->bodies == LM_BENCH_POSTS;
    char name[64], title[160];
    snprintf(name, sizeof name, "advect_%s_%d%s", what, weno, posts ? "_posts" : "");
    snprintf(title, sizeof title, "advect: %s %s a right-hand side, WENO%d, %d x %d cells past %s", what, of, weno,
             h->g.nx, h->g.ny, posts ? "a wedge and posts" : "a wedge");
    return lm_table_new(name, title, t);
}

static int kernel_table(const struct host *h, struct lm_table **t)
{
    if (new_table(h, "kernels", "for", t))
        return LM_FAILED;
    lm_table_column(*t, "time", "us");
    lm_table_column(*t, "of the cells", "");
    lm_table_column(*t, "cells", "M");
    lm_table_column(*t, "rate", "G cells/s");
    lm_table_column(*t, "registers", "");
    lm_table_column(*t, "spilled", "B");
    lm_table_column(*t, "occupancy", "%");
    lm_table_note(*t, "medians of %d; code size and instructions: make advect-report", h->p.repeats);
    lm_table_note(
        *t, "What drives the registers (nvcc 13.0, sm_90): how many faces are in work at a time; one of WENO9 has "
            "9 averages, 26 differences, 5 polynomials with values, smoothness and weights, each a pair.");
    lm_table_note(
        *t, "Interior kernels have no branches, all faces of a cell are scheduled together, and they take the most "
            "where they may (WENO7, x: 78, all terms: 112); branches beside solids keep faces apart (46, 66).");
    lm_table_note(*t,
                  "Without a cap ptxas chooses 30 to 62 itself, for more threads; a high cap is leave to take more. "
                  "fp32 smoothness saves 20 to 30 there (WENO7, x: 78 to 56), where ptxas chooses hardly any.");
    return LM_OK;
}

static int way_table(const struct host *h, int right, struct lm_table **t)
{
    const double active = h->p.count[LM_TENDENCY_ACTIVE];
    if (new_table(h, "ways", "to write", t))
        return LM_FAILED;
    lm_table_column(*t, "time", "us");
    lm_table_column(*t, "rate", "G cells/s");
    lm_table_column(*t, "speed-up", "");
    lm_table_column(*t, "against", "");
    lm_table_column(*t, "the way", "");
    lm_table_column(*t, "control", "us");
    lm_table_column(*t, "sums", "");
    lm_table_column(*t, "of bound", "%");
    lm_table_note(*t,
                  "%u cells of fluid: %u with their whole stencil in fluid (%.2f %%), %u beside solids (%.2f %%); %s",
                  h->p.count[LM_TENDENCY_ACTIVE], h->p.count[LM_TENDENCY_INTERIOR],
                  100 * h->p.count[LM_TENDENCY_INTERIOR] / active, h->p.count[LM_TENDENCY_BOUNDARY],
                  100 * h->p.count[LM_TENDENCY_BOUNDARY] / active,
                  right ? "disjoint and complete" : "lists are DIFFERENT from the definition");
    lm_table_note(*t,
                  "each: advection along x and y, diffusion and a source; equal sums to the bit, in fp32 (smoothness) "
                  "equal among themselves and within the bound of weno.h");
    return LM_OK;
}

static void put_kernel(const struct host *h, struct lm_table *t, const struct lm_tendency_row *r)
{
    static const char *const lists[] = {"all", "interior", "boundary"};
    const double count = h->p.count[r->list];
    lm_table_row(t, "%s: %s", r->way, r->kernel);
    lm_table_measured(t, TIME, lm_measured_scaled(1e6, r->time));
    lm_table_text(t, LIST, lists[r->list]);
    lm_table_number(t, COUNT, 1e-6 * count);
    lm_table_number(t, RATE, 1e-9 * count / r->time.median);
    lm_table_number(t, REGISTERS, r->registers);
    lm_table_number(t, SPILL, r->spill);
    lm_table_number(t, OCCUPANCY, 100 * r->occupancy);
}

static double seconds_of(const char *way, const struct lm_tendency_row *rows, int count)
{
    for (int k = 0; k < count; k++)
        if (!rows[k].kernel && !strcmp(rows[k].way, way))
            return rows[k].time.median;
    return 0;
}

static void put_time(const struct host *h, struct lm_table *t, struct lm_measured time, double monolithic)
{
    lm_table_measured(t, WAY_TIME, lm_measured_scaled(1e6, time));
    lm_table_number(t, WAY_RATE, 1e-9 * h->p.count[LM_TENDENCY_ACTIVE] / time.median);
    lm_table_number(t, SPEED_UP, monolithic / time.median);
}

static void put_way(struct lm_bench *b, const struct host *h, struct lm_table *t, const struct lm_tendency_row *r,
                    const struct lm_tendency_row *rows, int count)
{
    static const char *const sums[] = {"-", "equal", "within", "DIFFERENT"};
    lm_table_row(t, "%s", r->way);
    put_time(h, t, r->time, rows[1].time.median);
    if (r->against) {
        lm_table_number(t, AGAINST, seconds_of(r->against, rows, count) / r->time.median);
        lm_table_text(t, THAN, r->against);
    }
    lm_table_measured(t, CONTROL, lm_measured_scaled(1e6, r->control));
    lm_table_text(t, SUMS, sums[r->sums]);
    if (r->difference > 0)
        lm_table_number(t, OF_BOUND, 100 * r->difference);
    b->different |= r->sums == LM_SUMS_DIFFERENT;
}

/* How far the control's times are apart. */
static void note_control(struct lm_table *t, const struct lm_tendency_row *rows, int count)
{
    double times[LM_TENDENCY_ROWS];
    int ways = 0;
    for (int k = 0; k < count; k++)
        if (!rows[k].kernel)
            times[ways++] = rows[k].control.median;
    const struct lm_measured s = lm_measured_of(times, ways);
    const double off = 100 * fmax(s.max / s.median - 1, 1 - s.min / s.median);
    lm_table_note(t,
                  "control: a kernel that no way touches, ten times; its medians are within %.2f %% of each other's %s",
                  off, off <= 1 ? "(1 % is allowed)" : "(MORE than 1 %: the times above are not to be trusted so far)");
}

static int put_program(struct lm_bench *b, const struct host *h, struct lm_table *t, struct lm_bench_background *p,
                       double monolithic)
{
    struct lm_measured time;
    int equal = 1, single = p->setup.background[0].single;
    int status = single ? LM_OK : compare_step(h, p->b, &equal);
    status = status ? status : time_stage(b, p, h->p.dt, &time);
    if (status)
        return status;
    lm_table_row(t, "each face once (the program's stage)%s", single ? ", fp32" : "");
    put_time(h, t, time, monolithic);
    lm_table_number(t, AGAINST, monolithic / time.median);
    lm_table_text(t, THAN, "monolithic");
    lm_table_text(t, SUMS, single ? "-" : equal ? "equal" : "DIFFERENT");
    b->different |= !equal;
    return LM_OK;
}

/* --- the case --- */

static int put_programs(struct lm_bench *b, const struct host *h, struct lm_table *t, double monolithic)
{
    int status = LM_OK;
    for (int single = 0; single < 2 && !status; single++) {
        struct lm_bench_background p;
        status = lm_bench_background_new(b, field_of(h->fluid, h->p.order, single), h->fluid, &p);
        status = status ? status : put_program(b, h, t, &p, monolithic);
        lm_backend_destroy(&p.b);
    }
    return status;
}

static int add_tables(struct lm_bench *b, const struct host *h, const struct lm_tendency_row *rows, int count)
{
    struct lm_table *kernels = NULL, *ways = NULL;
    const int right = lists_are_right(h);
    int status = kernel_table(h, &kernels);
    status = status ? status : way_table(h, right, &ways);
    b->different |= !right;
    for (int k = 0; k < count && !status; k++)
        if (rows[k].kernel)
            put_kernel(h, kernels, &rows[k]);
        else
            put_way(b, h, ways, &rows[k], rows, count);
    status = status ? status : put_programs(b, h, ways, rows[1].time.median);
    if (!status)
        note_control(ways, rows, count);
    status = status ? status : lm_bench_add(b, &kernels);
    status = status ? status : lm_bench_add(b, &ways);
    if (kernels)
        lm_table_free(&kernels);
    if (ways)
        lm_table_free(&ways);
    return status;
}

static int one_order(struct lm_bench *b, const struct lm_bench_fluid *f, int scheme)
{
    struct lm_tendency_row rows[LM_TENDENCY_ROWS];
    struct host h;
    int count = 0;
    int status = host_new(b, f, scheme, &h);
    status = status ? status : lm_cuda_bench_tendency(&h.p, rows, &count, h.advanced);
    status = status ? status : add_tables(b, &h, rows, count);
    host_free(&h);
    return status;
}

int lm_bench_tendency(struct lm_bench *b)
{
    const int usual = b->options->quick ? QUICK_CELLS : CELLS, n = b->options->cells ? b->options->cells : usual;
    int status = LM_OK;
    if (!lm_bench_on_gpu(b)) {
        fprintf(b->out, "advect: ways to write a right-hand side: needs a GPU\n\n");
        return LM_OK;
    }
    for (int bodies = LM_BENCH_WEDGE; bodies <= LM_BENCH_POSTS && !status; bodies++) {
        struct lm_bench_fluid f;
        status = lm_bench_fluid_new(n, n, bodies, lm_bench_ripples, lm_bench_rolls, &f);
        for (int scheme = LM_WENO5; scheme <= LM_WENO9 && !status; scheme++)
            status = one_order(b, &f, scheme);
        lm_bench_fluid_free(&f);
    }
    return status;
}
