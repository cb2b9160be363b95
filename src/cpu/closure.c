/* CPU backend: copies of arrays, the closure of the electrons, and what their pressure adds to E and to the rate of B.
 */
#include "backend/field_boundaries.h"
#include "cpu/fields.h"
#include "larmor/physics/fluid/flow.h"

void lm_cpu_copy_array(const struct lm_cpu *c, double *to, const double *from)
{
    size_t size = c->base.setup.grid.size;
#pragma omp parallel for num_threads(c->grid_threads)
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
}

int lm_cpu_copy(struct lm_backend *b, enum lm_array to, enum lm_array from, int count)
{
    struct lm_cpu *c = lm_cpu_of(b);
    for (int k = 0; k < count; k++)
        lm_cpu_copy_array(c, c->array[(int)to + k], c->array[(int)from + k]);
    return LM_OK;
}

/* Beyond the sides, up to where lm_is_void looks. */
static void fill_empty(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    lm_fill_moment(g, c->spare, -1);
    for (int j = -LM_VOID_REACH; j < g->ny + LM_VOID_REACH && lm_any_side_is(&c->sides, LM_INFLOW_E); j++)
        for (int i = -LM_VOID_REACH; i < g->nx + LM_VOID_REACH; i++)
            if (lm_is_vacuum_beyond(&c->sides, g->nx, g->ny, i, j))
                c->spare[lm_at(g, i, j)] = 1.0;
}

/* c->spare: 1 in empty cells, else 0, with ghost cells. Returns whether any is empty. */
static int find_empty(struct lm_cpu *c, const double *n, const double *other)
{
    const struct lm_grid *g = &c->base.setup.grid;
    int any = 0;
#pragma omp parallel for schedule(static) num_threads(c->grid_threads) reduction(| : any)
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const int empty = lm_is_empty(n + k, other + k, g->stride, c->array[LM_VOID][k], &c->base.setup.ohm);
            c->spare[k] = empty;
            any |= empty;
        }
    if (any)
        fill_empty(c);
    return any;
}

/* LM_PER_DENSITY in row j. `empty` is c->spare, or NULL where no cell is empty. */
static void per_density_row(struct lm_cpu *c, int j, const double *n, const double *other, const double *empty,
                            double whistler_floor)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const struct lm_view b = lm_cpu_view(c, c->array + LM_B);
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        c->array[LM_PER_DENSITY][k] =
            lm_per_density(lm_floored_mean(n[k], other[k], o), empty ? empty + k : NULL, lm_view_at(b, (long)k),
                           c->solid ? c->solid[k] : 0, o, whistler_floor);
    }
}

void lm_cpu_find_per_density(struct lm_cpu *c, const double *n, const double *other, double substep)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double whistler_floor = lm_whistler_floor(g, substep);
    const double *empty = find_empty(c, n, other) ? c->spare : NULL;
    LM_ROWS(c, 0, 0)
    per_density_row(c, j, n, other, empty, whistler_floor);
    lm_fill_moment(g, c->array[LM_PER_DENSITY], -1);
}

int lm_cpu_closure(struct lm_backend *b, enum lm_array density, enum lm_array other, double substep)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_ohm *o = &b->setup.ohm;
    size_t size = b->setup.grid.size;
    const double *n = c->array[density], *m = c->array[other];
    double *floored = c->array[LM_FLOORED], *p = c->array[LM_PRESSURE];
#pragma omp parallel for num_threads(c->grid_threads)
    for (size_t i = 0; i < size; i++)
        floored[i] = lm_floored_mean(n[i], m[i], o);
    if (o->evolved)
        lm_cpu_evolved_pressure(c);
    else {
#pragma omp parallel for num_threads(c->grid_threads)
        for (size_t i = 0; i < size; i++)
            p[i] = lm_pressure(floored[i], o);
    }
    lm_cpu_find_per_density(c, n, m, substep);
    return LM_OK;
}

/* There is none on walls that the faces lie on, nor on faces of bodies: there E is that of ohm.h and solid.h. */
static int is_free_face(const struct lm_cpu *c, int axis, int i, int j)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int last = axis == 0 ? i == g->nx - 1 : j == g->ny - 1;
    return !(c->walls[axis] && last) && !(c->solid && lm_touches_body(c->solid + lm_at(g, i, j), axis, g->stride));
}

/* The faces on the lower wall of an axis, which no cell has as its upper face. */
static void clear_lower_wall(const struct lm_cpu *c, int axis, double *e)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int n = 0; c->walls[axis] && n < (axis == 0 ? g->ny : g->nx); n++)
        e[axis == 0 ? lm_at(g, -1, n) : lm_at(g, n, -1)] = 0.0;
}

void lm_cpu_pressure_field(struct lm_cpu *c, const double *n, double least, int for_b)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const double *p = c->array[LM_PRESSURE];
    double *h = c->spare;
    if (!lm_has_pressure(o))
        return;
    LM_ROWS(c, 0, 1)
    for (int i = 0; i <= g->nx && o->gamma > 1.0 && (for_b || !o->evolved); i++) {
        const size_t k = lm_at(g, i, j);
        h[k] = lm_pressure_potential(n[k], least, o);
    }
    for (int axis = 0; axis < 2; axis++) {
        double *to = c->array[LM_PRESSURE_E + axis];
        const int step = axis == 0 ? 1 : g->stride;
        const double inv_d = axis == 0 ? o->inv_dx : o->inv_dy;
        LM_ROWS(c, 0, 0)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            to[k] = !is_free_face(c, axis, i, j) ? 0.0
                    : for_b                      ? lm_battery_field(h + k, p + k, n + k, least, step, inv_d, o)
                                                 : lm_pressure_field(h + k, p + k, n + k, least, step, inv_d, o);
        }
        clear_lower_wall(c, axis, to);
        lm_grid_wrap(g, to);
    }
}

const double *lm_cpu_battery(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    double *const *e = c->array + LM_PRESSURE_E, *to = c->ahead[0];
    if (!o->evolved)
        return NULL;
    lm_cpu_count_density(c, c->array[LM_FLOORED], c->array[LM_FLOORED]);
    lm_cpu_pressure_field(c, c->counted, o->floor, 1);
    for (int axis = 0; axis < 2; axis++)
        lm_fill_e(&c->base.setup, e[axis], axis, LM_FILL_FARADAY);
    LM_ROWS(c, LM_GHOST, LM_GHOST - 1)
    for (int i = -LM_GHOST; i < g->nx + LM_GHOST - 1; i++) {
        const size_t k = lm_at(g, i, j);
        to[k] = lm_has_battery(c->clearance, &g->sides, g->nx, g->ny, g->stride, i, j)
                    ? lm_battery(e[0] + k, e[1] + k, g->stride, o->inv_dx, o->inv_dy)
                    : 0.0;
    }
    return to;
}
