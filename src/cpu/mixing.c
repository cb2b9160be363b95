/* CPU backend: heat of mixing of the electrons. The bodies of the loops are in larmor/physics/fluid/mixing_heat.h. What
 * needs the power of a number is found once in a cell, in work arrays, and not for each of its faces. */
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

/* --- velocities --- */

/* Potentials of the densities that divide the force on B, in the cells of all faces. */
static void find_potentials(struct lm_cpu *c, const struct lm_flow_moments *m, double *for_b)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    LM_ROWS(c, 1, 1)
    for (int i = -1; i <= g->nx; i++) {
        const long k = (long)lm_at(g, i, j);
        for_b[k] = lm_pressure_potential(m->counted[k], o->floor, o);
    }
}

/* U between the cells at k and `next`, whose potentials are known. */
static double work_velocity(const struct lm_flow_moments *m, int axis, long k, long next, const double *for_b,
                            const struct lm_ohm *o)
{
    return lm_work_velocity_of(
        m, axis, k, lm_push_density(lm_middle_density(m, k), lm_middle_density(m, next), lm_least_push_density(o)),
        lm_mean_density(m->counted[k], m->counted[next], for_b[k], for_b[next], o->gamma), o);
}

void lm_cpu_work_velocities(struct lm_cpu *c, const struct lm_flow_moments *moments, double *const work[2])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    double *for_b = c->e[0];
    find_potentials(c, moments, for_b);
    LM_ROWS(c, 1, 0)
    for (int axis = 0; axis < 2; axis++) {
        const size_t step = axis == 0 ? 1 : (size_t)g->stride;
        for (int i = -1; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            if (!mixes(c, axis, i, j))
                work[axis][k] = 0.0;
            else if (c->open && lm_is_passage(&c->passage[k], &c->open[k], axis))
                work[axis][k] = lm_work_velocity_past_bodies(moments, axis, (long)k, o);
            else
                work[axis][k] = work_velocity(moments, axis, (long)k, (long)(k + step), for_b, o);
        }
    }
}

/* --- heat --- */

/* struct lm_mixing_cell as arrays of the grid. Beyond periodic sides all but s are those of the image. */
struct cells {
    double *s, *p, *weight, *h;
};

static struct cells find_cells(struct lm_cpu *c, double half)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct cells to = {lm_cpu_entropy(c), c->e[0], c->e[1], c->e[2]};
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        const struct lm_mixing_cell cell = lm_mixing_cell(to.s[k], c->counted[k], half, &c->base.setup.ohm);
        to.p[k] = cell.p;
        to.weight[k] = cell.weight;
        to.h[k] = cell.h;
    }
    /* Faces on sides that are not periodic do not mix. */
    lm_grid_wrap(g, to.p);
    lm_grid_wrap(g, to.weight);
    lm_grid_wrap(g, to.h);
    return to;
}

static inline struct lm_mixing_cell cell_at(const struct cells *a, size_t k)
{
    return (struct lm_mixing_cell){a->s[k], a->p[k], a->weight[k], a->h[k]};
}

/* Values of the entropy on the upper faces along an axis of cells (first, j) and following ones. */
static void values_of_row(const struct lm_cpu *c, const struct lm_background *f, int axis, int first, int j,
                          const struct lm_cpu_faces *faces, double *value)
{
    const struct lm_bounds bounds = {f->least, f->most};
    const int reach = lm_scheme_reach(f->scheme);
    const long k = (long)lm_at(&c->base.setup.grid, first, j);
    lm_cpu_face_values(f, &bounds, faces, value);
    if (!lm_cpu_is_near_body(c, j) && !lm_cpu_is_near_body(c, j + axis))
        return;
    for (int n = 0; n < faces->count; n++) {
        const struct lm_cpu_special_face at = lm_cpu_special_face(c, axis, k + n, faces->u[n]);
        if (at.before && at.behind && (at.before < reach || at.behind < reach))
            value[n] = lm_cpu_value_near_body(f, &bounds, faces, n, &at);
    }
}

/* The shares of the upper faces along an axis of the cells of row j. `work` has two lines. */
static void share_row(const struct lm_cpu *c, const struct lm_mixing_pass *pass, const struct cells *cells, int axis,
                      int j, double *work)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const int last = c->base.setup.background_count - 1, first = axis == 0 ? -1 : 0;
    const struct lm_background *f = &c->base.setup.background[last];
    const int reach = lm_scheme_reach(f->scheme);
    const double r = axis == 0 ? o->inv_dx : o->inv_dy;
    double *value = work + lm_cpu_line_size(g);
    const struct lm_cpu_faces faces =
        axis == 0 ? lm_cpu_faces_x(c, reach, j, cells->s, c->array[LM_BACKGROUND_X + last], work)
                  : lm_cpu_faces_y(c, reach, j, cells->s, c->array[LM_BACKGROUND_Y + last]);
    values_of_row(c, f, axis, first, j, &faces, value);
    const size_t k = lm_at(g, first, j), next = k + (axis == 0 ? 1 : (size_t)g->stride);
    for (int n = 0; n < faces.count; n++) {
        const struct lm_mixing_cell a = cell_at(cells, k + (size_t)n), b = cell_at(cells, next + (size_t)n);
        const double heat = lm_mixing_heat(&a, &b, value[n], faces.u[n], pass->work[axis][k + (size_t)n], r);
        const double share = lm_mixing_share(heat * lm_opening_at(c->open, axis, (long)k + n), &a, &b);
        pass->share[axis][k + (size_t)n] = mixes(c, axis, first + n, j) ? share : 0.0;
    }
}

/* Gives the heat of its faces to each cell of row j. */
static void mix_row(struct lm_cpu *c, const struct lm_mixing_pass *pass, const struct cells *cells, int j,
                    struct lm_wide *source)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double *x = pass->share[0], *y = pass->share[1];
    for (int i = g->own.from_x; i < g->own.to_x; i++) {
        const size_t k = lm_at(g, i, j);
        const struct lm_mixing_cell cell = cell_at(cells, k);
        cells->s[k] = lm_mix_cell(&cell, x[k - 1], x[k], y[k - (size_t)g->stride], y[k], lm_volume_at(c->open, (long)k),
                                  pass->dt, pass->quantum, c->base.setup.ohm.gamma, source);
    }
}

void lm_cpu_mix(struct lm_cpu *c, const struct lm_mixing_pass *pass)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int last = c->base.setup.background_count - 1;
    struct cells cells = find_cells(c, pass->half);
#pragma omp parallel num_threads(c->grid_threads)
    {
        double *work = pass->lines + (size_t)omp_get_thread_num() * LM_MIXING_LINES * lm_cpu_line_size(g);
        struct lm_wide source = {0, 0};
#pragma omp for schedule(static)
        for (int j = -1; j < g->ny; j++) {
            if (j >= 0)
                share_row(c, pass, &cells, 0, j, work);
            share_row(c, pass, &cells, 1, j, work);
        }
#pragma omp for schedule(static)
        for (int j = g->own.from_y; j < g->own.to_y; j++)
            mix_row(c, pass, &cells, j, &source);
#pragma omp critical
        lm_wide_merge(&c->control.background[last].source, &source);
    }
    lm_halo_refresh(c->base.setup.halo, &cells.s, 1);
}
