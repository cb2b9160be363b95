/* Background fields beside a disk, or in a disk-shaped cavity, on a backend without a simulation around it. The bodies
 * cut cells, or they are sets of whole cells. */
#ifndef LARMOR_TESTS_BACKGROUND_CUT_H
#define LARMOR_TESTS_BACKGROUND_CUT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background_case.h"
#include "base/body_obstacles.h"
#include "larmor/physics/fluid/opening.h"

/* Lengths in units of the lattice of `dx`; `hollow`: the body is what lies beyond the disk. */
struct cut_disk {
    double x, y, radius, dx;
    int hollow;
};

static inline int cut_disk_at(const void *shapes, double x, double y)
{
    const struct cut_disk *d = shapes;
    return (hypot(x * d->dx - d->x, y * d->dx - d->y) < d->radius) != d->hollow;
}

/* A case of background_case.h with bodies that cut cells. */
struct cut_case {
    struct background_case c;
    struct cut_disk disk;
    uint8_t *clearance;
    struct lm_cuts cuts; /* NULL: whole cells */
    double crowding;
};

static inline struct cut_case cut_case_new(int n, double size, struct lm_background field, struct cut_disk disk,
                                           int whole)
{
    struct cut_case k = {.c = background_case_new(n, n, field, 0), .disk = disk, .crowding = 1};
    struct lm_setup *s = &k.c.setup;
    struct lm_grid g = lm_grid_make(n, n, size, size);
    g.sides = s->grid.sides;
    s->grid = g;
    s->ohm.inv_dx = 1 / g.dx, s->ohm.inv_dy = 1 / g.dy;
    k.disk.dx = g.dx;
    for (size_t cell = 0; cell < g.cells; cell++)
        k.c.mask[cell] =
            (uint8_t)cut_disk_at(&k.disk, (double)(cell % (size_t)n) + 0.5, (double)(cell / (size_t)n) + 0.5);
    k.clearance = malloc(g.size);
    const struct lm_body_places places = {cut_disk_at, cut_disk_at, &k.disk};
    s->bodies = (struct lm_bodies){.count = 1, .mask = k.c.mask};
    lm_stencil_clearance(&g, k.c.mask, k.clearance);
    if (!whole) {
        case_cut(&k.c, &places);
        k.cuts = (struct lm_cuts){k.c.open, malloc(g.size * sizeof *k.cuts.passage)};
        lm_passages_fill(&g, &s->bodies, k.cuts.passage);
        k.crowding = lm_crowding(&g, k.clearance, k.cuts.open);
    }
    memset(k.c.q, 0, 4 * g.size * sizeof *k.c.q);
    return k;
}

static inline void cut_case_free(struct cut_case *k)
{
    background_case_free(&k->c);
    free(k->clearance);
    free(k->cuts.passage);
}

typedef double cut_profile(const struct cut_disk *disk, double x, double y);
typedef void cut_velocity(const struct cut_disk *disk, const double at[2], double v[2]);

/* Values at the centres of the free cells. */
static inline void cut_case_fill(struct cut_case *k, cut_profile *initial)
{
    const struct lm_grid *g = &k->c.setup.grid;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            if (k->clearance[lm_at(g, i, j)])
                k->c.q[lm_at(g, i, j)] = initial(&k->disk, (i + 0.5) * g->dx, (j + 0.5) * g->dy);
    lm_background_round(g, k->c.open, k->c.q, CASE_QUANTUM);
}

/* A flow from a stream function at the corners. */
static inline int cut_case_stream(struct cut_case *k, cut_profile *psi)
{
    const struct lm_grid *g = &k->c.setup.grid;
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++)
            k->c.source[lm_at(g, i, j)] = psi(&k->disk, (i + 1) * g->dx, (j + 1) * g->dy);
    return lm_background_stream(g, (const int *)k->c.setup.background[0].sides, k->clearance, k->c.open, k->c.source,
                                k->c.vx, k->c.vy);
}

/* A flow from velocities at the middles of the faces. */
static inline int cut_case_flow(struct cut_case *k, cut_velocity *velocity)
{
    const struct lm_grid *g = &k->c.setup.grid;
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++) {
            const double x[2] = {(i + 1) * g->dx, (j + 0.5) * g->dy}, y[2] = {(i + 0.5) * g->dx, (j + 1) * g->dy};
            double v[2];
            velocity(&k->disk, x, v);
            k->c.vx[lm_at(g, i, j)] = v[0];
            velocity(&k->disk, y, v);
            k->c.vy[lm_at(g, i, j)] = v[1];
        }
    lm_background_shut(g, k->clearance, k->c.vx, k->c.vy);
    return lm_background_pass(g, k->cuts, k->c.vx, k->c.vy);
}

/* Advances the case by a time in substeps with a Courant number of at most `courant`. k->c.q has the result. */
static inline int cut_case_advance(struct cut_case *k, double time, double courant, struct lm_advected *found)
{
    struct lm_backend *b;
    struct lm_control control = {0};
    double rate[LM_FLOW_RATES] = {0};
    int status = lm_cpu_create(&k->c.setup, &b);
    if (status)
        return status;
    status = background_case_put(&k->c, b);
    if (!status)
        status = b->ops->flow_rates(b, rate);
    const double all = lm_background_rate(&k->c.setup.grid, &k->c.setup.background[0], rate[0], k->crowding);
    const int substeps = (int)ceil(time * all / courant);
    if (!status)
        status = b->ops->advect(b, 0, CASE_QUANTUM, time / substeps, substeps);
    if (!status)
        status = b->ops->survey_background(b, 0, CASE_QUANTUM);
    if (!status)
        status = b->ops->control(b, &control);
    if (!status)
        status = b->ops->get(b, LM_BACKGROUND, k->c.q);
    *found = control.background[0];
    lm_backend_destroy(&b);
    return status;
}

#endif
