/* CPU and GPU, bit for bit: background fields of all kinds, the sums that the backends count, and the velocities of
 * ions and electrons. The backends work on the same numbers without a simulation around them. */
#ifndef LARMOR_TESTS_GPU_BACKGROUNDS_H
#define LARMOR_TESTS_GPU_BACKGROUNDS_H

#include "../background_case.h"

struct background_result {
    struct lm_advected found;
    double rate, *field, *x, *y;
};

static inline struct lm_backend *backgrounds_new(const struct lm_setup *setup, int gpu)
{
    struct lm_backend *b;
    if (gpu ? lm_cuda_create(setup, &b) : lm_cpu_create(setup, &b)) {
        printf("%s\n", lm_error());
        exit(1);
    }
    return b;
}

/* Two calls of advect; the sums are those of both calls together. */
static inline int background_run(const struct background_case *c, int gpu, struct background_result *out)
{
    struct lm_backend *b = backgrounds_new(&c->setup, gpu);
    struct lm_control control;
    double rates[LM_FLOW_RATES] = {0};
    int status = background_case_put(c, b);
    for (int n = 0; n < 2 && !status; n++)
        status = b->ops->advect(b, 0, CASE_QUANTUM, c->dt, 1 + n);
    if (!status)
        status = b->ops->survey_background(b, 0, CASE_QUANTUM);
    if (!status)
        status = b->ops->control(b, &control);
    if (!status)
        status = b->ops->flow_rates(b, rates);
    out->found = control.background[0];
    out->rate = rates[0];
    out->field = calloc(3 * c->setup.grid.size, sizeof *out->field);
    if (!status)
        status = b->ops->get(b, LM_BACKGROUND, out->field);
    lm_backend_destroy(&b);
    return status;
}

/* The velocities with which ions or electrons carry a field. */
static inline int flow_run(const struct background_case *c, int gpu, int flow, struct background_result *out)
{
    struct lm_setup setup = c->setup;
    setup.background[0].flow = flow;
    setup.background[0].has_source = 0;
    struct lm_backend *b = backgrounds_new(&setup, gpu);
    const struct lm_grid *g = &setup.grid;
    double rates[LM_FLOW_RATES] = {0}, *a = malloc(g->size * sizeof *a);
    int status = LM_OK;
    for (int array = 0; array < LM_E && !status; array++) {
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
                const int pi = (i + 10 * g->nx) % g->nx, pj = (j + 10 * g->ny) % g->ny;
                const int dense = array == LM_N_OLD || array == LM_N_NEW;
                a[lm_at(g, i, j)] = case_number(array, pi, pj) + (dense ? 0.6 : 0);
            }
        status = b->ops->put(b, array, a);
    }
    for (int later = 0; later < 2 && !status; later++)
        status = b->ops->flow(b, (enum lm_flow_time)later);
    if (!status)
        status = b->ops->flow_rates(b, rates);
    out->rate = rates[0];
    out->x = calloc(2 * g->size, sizeof *out->x);
    out->y = out->x + g->size;
    if (!status)
        status = b->ops->get(b, LM_BACKGROUND_X, out->x);
    if (!status)
        status = b->ops->get(b, LM_BACKGROUND_Y, out->y);
    free(a);
    lm_backend_destroy(&b);
    return status;
}

/* Compares the cells [-1, n) of both axes, or [0, n). */
static inline int same_cells(const struct lm_grid *g, int low, const double *a, const double *b)
{
    for (int j = low; j < g->ny; j++)
        for (int i = low; i < g->nx; i++)
            if (memcmp(&a[lm_at(g, i, j)], &b[lm_at(g, i, j)], sizeof *a))
                return 0;
    return 1;
}

static inline int same_found(const struct lm_advected *a, const struct lm_advected *b)
{
    int same = lm_wide_value(a->total) == lm_wide_value(b->total) &&
               lm_wide_value(a->source) == lm_wide_value(b->source) && a->least == b->least && a->most == b->most;
    for (int side = 0; side < LM_SIDES; side++)
        same &= lm_wide_value(a->crossed[side]) == lm_wide_value(b->crossed[side]);
    return same;
}

static inline int background_differs(const struct background_case *c)
{
    struct background_result r[2];
    int wrong = 0;
    for (int gpu = 0; gpu < 2; gpu++)
        wrong |= background_run(c, gpu, &r[gpu]);
    wrong |= !same_cells(&c->setup.grid, 0, r[0].field, r[1].field) || r[0].rate != r[1].rate ||
             !same_found(&r[0].found, &r[1].found);
    for (int gpu = 0; gpu < 2; gpu++)
        free(r[gpu].field);
    return wrong;
}

static inline int flow_differs(const struct background_case *c, int flow)
{
    struct background_result r[2];
    int wrong = 0;
    for (int gpu = 0; gpu < 2; gpu++)
        wrong |= flow_run(c, gpu, flow, &r[gpu]);
    wrong |= !same_cells(&c->setup.grid, -1, r[0].x, r[1].x) || !same_cells(&c->setup.grid, -1, r[0].y, r[1].y) ||
             r[0].rate != r[1].rate;
    for (int gpu = 0; gpu < 2; gpu++)
        free(r[gpu].x);
    return wrong;
}

/* Grids with so many cells that a GPU takes high pieces in free fluid and low ones beside solids; the pieces at the
 * upper and right ends are incomplete. */
static inline int large_backgrounds_compare(void)
{
    static const struct lm_background fields[] = {
        {.scheme = LM_WENO5, .single = 1, .has_source = 1},
        {.scheme = LM_WENO9, .single = 1, .limited = 1, .least = 0.1, .most = 1.2, .sides = {0, 0, 2, 3}},
        {.scheme = LM_UPWIND, .diffusivity = 0.3, .sides = {3, 2, 0, 0}}};
    int different = 0;
    for (int k = 0; k < 3; k++) {
        struct background_case c = background_case_new(2201, 2111, fields[k], 1);
        different += background_differs(&c);
        background_case_free(&c);
    }
    printf("%-28s %d, different %d\n", "large background fields", 3, different);
    return different;
}

/* Runs this many cases and returns how many of them differ. */
static inline int backgrounds_compare(int count)
{
    int different = 0;
    for (int number = 0; number < count; number++) {
        struct background_case c = background_case_of(number);
        const int field = background_differs(&c), flow = flow_differs(&c, LM_FLOW_ION + number % 2);
        if (field || flow)
            printf("background fields, case %d: DIFFERENT\n", number);
        different += field || flow;
        background_case_free(&c);
    }
    printf("%-28s %d, different %d\n", "background fields", count, different);
    return different;
}

#endif
