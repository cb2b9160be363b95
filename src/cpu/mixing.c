/* CPU backend: heat of mixing of the electrons. The bodies of the loops are in larmor/physics/fluid/mixing_heat.h. No
 * rate of this file is recorded. */
#include "larmor/physics/fluid/mixing_heat.h"

#include "cpu/fields.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/fluid/face_value.h"

/* Whether the upper face of the cell at k lies inside the domain, and between cells of plasma. */
static int mixes(const struct lm_cpu *c, int axis, int i, int j)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const size_t k = lm_at(g, i, j), next = k + (axis == 0 ? 1 : (size_t)g->stride);
    const enum lm_face_place place =
        lm_face_place(axis == 0 ? i : j, axis == 0 ? g->nx : g->ny, !lm_has_walls(&g->sides, axis));
    return place == LM_FACE_INSIDE && c->clearance[k] && c->clearance[next];
}

void lm_cpu_work_velocities(struct lm_cpu *c, const struct lm_flow_moments *moments, double *const work[2])
{
    const struct lm_grid *g = &c->base.setup.grid;
    LM_ROWS(c, 1, 0)
    for (int i = -1; i < g->nx; i++)
        for (int axis = 0; axis < 2; axis++) {
            const size_t k = lm_at(g, i, j);
            work[axis][k] =
                mixes(c, axis, i, j) ? lm_work_velocity_past_bodies(moments, axis, (long)k, &c->base.setup.ohm) : 0.0;
        }
}

/* The cell whose values cell (i, j) has. */
static struct lm_mixing_cell cell_at(const struct lm_cpu *c, int i, int j, double half)
{
    const struct lm_grid *g = &c->base.setup.grid;
    lm_image_cell(&g->sides, g->nx, g->ny, &i, &j);
    const size_t k = lm_at(g, i, j);
    const double n = lm_mean(c->array[LM_N_OLD][k], c->array[LM_N_NEW][k]);
    return lm_mixing_cell(lm_cpu_entropy(c)[k], n, half, &c->base.setup.ohm);
}

/* The share of the upper face of cell (i, j). */
static double share_on_face(const struct lm_cpu *c, const struct lm_mixing_pass *pass, int axis, int i, int j)
{
    const struct lm_ohm *o = &c->base.setup.ohm;
    const int last = c->base.setup.background_count - 1, x = axis == 0, y = axis == 1;
    const struct lm_background *f = &c->base.setup.background[last];
    const struct lm_bounds bounds = {f->least, f->most};
    const size_t k = lm_at(&c->base.setup.grid, i, j);
    if (!mixes(c, axis, i, j))
        return 0.0;
    const double u = c->array[(x ? LM_BACKGROUND_X : LM_BACKGROUND_Y) + last][k];
    const double value = lm_cpu_value_on_face(c, f, &bounds, axis, i, j, u);
    const struct lm_mixing_cell a = cell_at(c, i, j, pass->half), b = cell_at(c, i + x, j + y, pass->half);
    const double heat = lm_mixing_heat(&a, &b, value, u, pass->work[axis][k], x ? o->inv_dx : o->inv_dy, o->gamma);
    return lm_mixing_share(heat * lm_opening_at(c->open, axis, (long)k), &a, &b);
}

void lm_cpu_mix(struct lm_cpu *c, const struct lm_mixing_pass *pass)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int last = c->base.setup.background_count - 1;
    double *s = c->array[LM_BACKGROUND + last], *x = pass->share[0], *y = pass->share[1];
    struct lm_wide source = {0, 0};
    LM_ROWS(c, 1, 0)
    for (int i = -1; i < g->nx; i++)
        for (int axis = 0; axis < 2; axis++)
            pass->share[axis][lm_at(g, i, j)] = share_on_face(c, pass, axis, i, j);
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++) {
            const size_t k = lm_at(g, i, j);
            const struct lm_mixing_cell cell = cell_at(c, i, j, pass->half);
            s[k] = lm_mix_cell(&cell, x[k - 1], x[k], y[k - (size_t)g->stride], y[k], lm_volume_at(c->open, (long)k),
                               pass->dt, pass->quantum, c->base.setup.ohm.gamma, &source);
        }
    lm_wide_merge(&c->control.background[last].source, &source);
    lm_halo_refresh(c->base.setup.halo, &s, 1);
}
