#include "backend/field_boundaries.h"

#include <stdlib.h>
#include <string.h>

#include "base/body_nodes.h"
#include "larmor/physics/fields/moments.h"
#include "larmor/physics/fields/pressure_gradient.h"
#include "larmor/physics/fields/solid.h"

struct lm_field_sides lm_field_sides_of(const struct lm_setup *setup)
{
    struct lm_field_sides s;
    memcpy(s.of, setup->field_sides, sizeof s.of);
    for (int side = 0; side < LM_SIDES; side++)
        s.turns_back[side] = lm_turns_back(setup->grid.sides.of[side]);
    return s;
}

int lm_has_field_walls(const struct lm_setup *setup)
{
    struct lm_field_sides s = lm_field_sides_of(setup);
    return lm_any_field_walls(&s);
}

int lm_is_general(const struct lm_setup *setup)
{
    return lm_has_field_walls(setup) || setup->bodies.count > 0 || setup->external_current || setup->local_eta;
}

void lm_fill_moment(const struct lm_grid *g, double *a, int along)
{
    lm_grid_wrap(g, a);
    if (!lm_has_walls(&g->sides, 0) && !lm_has_walls(&g->sides, 1))
        return;
    for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
            if (i == 0 && j >= 0 && j < g->ny)
                i = g->nx; /* there are no ghost cells in between */
            const struct lm_moment_image image = lm_moment_image(&g->sides, g->nx, g->ny, along, i, j);
            a[lm_at(g, i, j)] = image.sign * a[lm_at(g, image.i, image.j)];
        }
}

void lm_fill_e(const struct lm_setup *setup, double *e, int component, enum lm_fill fill)
{
    const struct lm_grid *g = &setup->grid;
    const struct lm_field_sides s = lm_field_sides_of(setup);
    lm_grid_wrap(g, e);
    for (int axis = 0; axis < 2; axis++) {
        const int n = axis == 0 ? g->nx : g->ny, lines = axis == 0 ? g->ny : g->nx;
        for (int line = -LM_GHOST; line < lines + LM_GHOST && lm_field_walls(&s, axis); line++)
            lm_fill_line(&s, axis, component, fill, e + (axis == 0 ? lm_at(g, 0, line) : lm_at(g, line, 0)),
                         axis == 0 ? 1 : g->stride, n);
    }
}

void lm_fill_open_e(const struct lm_setup *setup, const struct lm_open_sides *o, double *const e[3], int threads)
{
    const struct lm_grid *g = &setup->grid;
    for (int part = 0; part < 3; part++)
        for (int axis = 0; axis < 2; axis++) {
            const int component = (axis + part) % 3, end = (axis == 0 ? g->ny : g->nx) + LM_GHOST;
            if (!lm_is_open(&o->sides, 2 * axis) && !lm_is_open(&o->sides, 2 * axis + 1))
                continue;
#pragma omp parallel for schedule(static) num_threads(threads)
            for (int line = -LM_GHOST; line < end; line++)
                lm_fill_open(o, axis, component, e[component], line);
        }
}

void lm_fill_solid(const struct lm_setup *setup, uint8_t *solid)
{
    const struct lm_grid *g = &setup->grid;
    for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
            const struct lm_moment_image image = lm_moment_image(&g->sides, g->nx, g->ny, -1, i, j);
            const int body = setup->bodies.mask[(size_t)image.j * (size_t)g->nx + (size_t)image.i] - 1;
            solid[lm_at(g, i, j)] = body < 0 ? 0 : lm_solid_of(setup->bodies.particles[body]);
        }
}

/* The index from -1 on of a node along an axis of n cells: beyond periodic sides that of its image, beyond walls the
 * nearest one. */
static int node_inside(const struct lm_sides *s, int axis, int n, int i)
{
    return lm_has_walls(s, axis) ? (i < -1 ? -1 : i < n ? i : n - 1) : lm_wrap(i, n);
}

static void spread_nodes(const struct lm_grid *g, const struct lm_body_node *from, struct lm_body_node *to)
{
    for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
        for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++)
            memcpy(to + 3 * lm_at(g, i, j),
                   from +
                       lm_body_node_index(g, node_inside(&g->sides, 0, g->nx, i), node_inside(&g->sides, 1, g->ny, j)),
                   3 * sizeof *to);
}

int lm_fill_nodes(const struct lm_setup *setup, struct lm_body_node *node)
{
    const struct lm_bodies *b = &setup->bodies;
    struct lm_body_node *own = NULL;
    if (!b->node) {
        own = malloc(lm_body_node_count(&setup->grid) * sizeof *own);
        if (!own)
            return lm_fail(LM_FAILED, "not enough memory for the bodies");
        lm_body_nodes_of_cells(&setup->grid, b->mask, b->fields, own);
    }
    spread_nodes(&setup->grid, b->node ? b->node : own, node);
    free(own);
    return LM_OK;
}
