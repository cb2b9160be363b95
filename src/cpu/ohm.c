/* CPU backend: Ohm's law (larmor/physics/fields/ohm.h). */
#include "backend/field_boundaries.h"
#include "cpu/fields.h"
#include "cpu/strips.h"
#include "larmor/physics/fields/resistivity.h"
#include "larmor/physics/fields/side_current.h"
#include "larmor/physics/fields/solid.h"

/* LM_ETA where it depends on the plasma, from J and B: in the domain, and one cell and two beyond walls, as far as
 * Ohm's law reads it. */
static void local_eta(struct lm_cpu *c, struct lm_view b, struct lm_view current)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int up_x = 2 * c->walls[0], up_y = 2 * c->walls[1];
    LM_ROWS(c, c->walls[1], up_y)
    for (int i = -c->walls[0]; i < g->nx + up_x; i++) {
        const size_t k = lm_at(g, i, j);
        const struct lm_electron_view here = {c->array[LM_FLOORED] + k, c->array[LM_PRESSURE] + k};
        const double given = c->array[LM_GIVEN_ETA][k];
        c->array[LM_ETA][k] = c->solid && c->solid[k]
                                  ? given
                                  : lm_local_eta(&c->base.setup.driving->eta, g, i, j, c->driving_time, here,
                                                 lm_view_at(current, (long)k), lm_view_at(b, (long)k), given);
    }
    lm_grid_wrap(g, c->array[LM_ETA]);
}

/* J in row j, in what the Laplacian needs around the nodes whose resistive E counts. */
LM_HD void current_row(const struct lm_cpu *c, int j, struct lm_view b, struct lm_view external)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const double inv_dx = c->base.setup.ohm.inv_dx, inv_dy = c->base.setup.ohm.inv_dy;
    const long first = (long)lm_at(g, -2, j), end = first + g->nx + 4;
    double *const to[3] = {c->curl[0], c->curl[1], c->curl[2]};
#pragma GCC ivdep
    for (long k = first; k < end; k++)
        lm_cpu_put_vector(to, (size_t)k,
                          lm_plasma_current(lm_view_at(b, k), lm_external_at(external, k), inv_dx, inv_dy));
}

/* The same in row j beyond the sides of the domain. */
static void current_beyond(const struct lm_cpu *c, int j, struct lm_view b, struct lm_view external)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const int inside = j >= 0 && j < g->ny;
    for (int i = -2; i < g->nx + 2; i = inside && i == -1 ? g->nx : i + 1) {
        const long k = (long)lm_at(g, i, j);
        lm_cpu_put_vector(c->curl, (size_t)k,
                          lm_current_in_cell(&c->sides, g->nx, g->ny, i, j, lm_view_at(b, k),
                                             lm_external_at(external, k), o->inv_dx, o->inv_dy));
    }
}

static void current_in_row(const struct lm_cpu *c, int j, struct lm_view b)
{
    static const struct lm_view none = {.s = 0};
    const struct lm_view external = lm_cpu_external(c);
    /* Two calls: without J_ext the compiler makes vector instructions of it. */
    external.s ? current_row(c, j, b, external) : current_row(c, j, b, none);
    if (lm_any_side_is(&c->sides, LM_OPEN) || lm_any_side_is(&c->sides, LM_RADIATING))
        current_beyond(c, j, b, external);
}

/* struct lm_motional in row j. */
LM_HD void motional_row(const struct lm_cpu *c, int j, struct lm_view b, double *const ion_current[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_view current = lm_cpu_view(c, c->curl);
    const double *const per_density = c->array[LM_PER_DENSITY];
    double *const to[3] = {c->motional[0], c->motional[1], c->motional[2]}, *const slip = c->slip;
    double *const ji[3] = {ion_current[0], ion_current[1], ion_current[2]};
    const long first = (long)lm_at(g, -c->walls[0], j), end = (long)lm_at(g, g->nx + 2, j);
#pragma GCC ivdep
    for (long k = first; k < end; k++) {
        const struct lm_motional m =
            lm_motional_field(lm_view_at(current, k), lm_view_at(b, k), lm_cpu_vector(ji, (size_t)k), per_density[k]);
        lm_cpu_put_vector(to, (size_t)k, m.field);
        slip[k] = m.slip;
    }
}

/* The cells are [0, n], or from -1 on where there are walls; J from -2 on. */
void lm_cpu_motional_field(struct lm_cpu *c, double *const b[3], double *const ion_current[3],
                           struct lm_level_weights at)
{
    const struct lm_view bv = lm_cpu_view(c, b), jv = lm_cpu_view(c, c->curl);
    LM_ROWS(c, 2, 2)
    current_in_row(c, j, bv);
    LM_ROWS(c, c->walls[1], 2)
    motional_row(c, j, bv, ion_current);
    if (c->base.setup.local_eta)
        local_eta(c, bv, jv);
    if (c->base.setup.friction_species > 0)
        lm_cpu_add_friction(c, bv, at);
}

int lm_cpu_resistivity(struct lm_backend *b)
{
    struct lm_cpu *c = lm_cpu_of(b);
    lm_cpu_closure(b, LM_N_OLD, LM_N_OLD, 0.0);
    lm_cpu_motional_field(c, c->array + LM_B, c->array + LM_J_OLD, lm_weights_of_old());
    return LM_OK;
}

/* With the field `b`, without the part of the pressure. */
static struct lm_ohm_view ohm_view(const struct lm_cpu *c, double *const b[3])
{
    return (struct lm_ohm_view){.motional = lm_cpu_view(c, c->motional),
                                .b = lm_cpu_view(c, b),
                                .j = lm_cpu_view(c, c->curl),
                                .slip = c->slip,
                                .eta = c->array[LM_ETA]};
}

static struct lm_body_view body_view(const struct lm_cpu *c)
{
    return (struct lm_body_view){c->solid, c->node, c->array[LM_PER_DENSITY]};
}

/* E through the walls of an axis, whose nodes have the indices -1 and n - 1. */
static void electric_field_on_wall(const struct lm_cpu *c, const struct lm_ohm *o, int axis, struct lm_ohm_view v,
                                   double *const e[3], double *const resistive[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_body_view bodies = body_view(c);
    const int along = axis == 0 ? g->ny : g->nx, count = along - c->walls[1 - axis] + 1;
    const long last = axis == 0 ? g->nx : (long)g->ny * g->stride, step = axis == 0 ? 1 : g->stride;
    for (int n = 0; n < 2 * count; n++) {
        const int m = n / 2, high = n % 2;
        const long k = (long)(axis == 0 ? lm_at(g, -1, m) : lm_at(g, m, -1)) + (high ? last : 0);
        double total[3], part[3];
        lm_wall_field(axis, high ? 0 : step, lm_ohm_view_at(v, k), o, total, part);
        if (c->solid)
            lm_body_field(lm_body_view_at(bodies, k), lm_ohm_view_at(v, k), o, total, part);
        e[axis][k] = total[axis];
        if (resistive)
            resistive[axis][k] = part[axis];
    }
}

/* E of the nodes in a row that are at bodies. */
static void electric_field_at_bodies(const struct lm_cpu *c, const struct lm_ohm *o, int j, struct lm_ohm_view v,
                                     double *const e[3], double *const resistive[3])
{
    const struct lm_body_view bodies = body_view(c);
    for (size_t n = c->at_bodies.start[j]; n < c->at_bodies.start[j + 1]; n++) {
        const long k = c->at_bodies.cell[n];
        double total[3] = {e[0][k], e[1][k], e[2][k]}, part[3] = {0.0, 0.0, 0.0};
        for (int d = 0; d < 3 && resistive; d++)
            part[d] = resistive[d][k];
        lm_body_field(lm_body_view_at(bodies, k), lm_ohm_view_at(v, k), o, total, part);
        for (int d = 0; d < 3; d++) {
            e[d][k] = total[d];
            if (resistive)
                resistive[d][k] = part[d];
        }
    }
}

/* E of elements [first, end). */
static inline __attribute__((always_inline)) void electric_cells(struct lm_ohm o, long first, long end,
                                                                 struct lm_ohm_view v, double *const e[3],
                                                                 double *const resistive[3])
{
#pragma GCC ivdep
    for (long k = first; k < end; k++) {
        double total[3], part[3];
        lm_electric_field(lm_ohm_view_at(v, k), &o, total, part);
        LM_UNROLL
        for (int d = 0; d < 3; d++) {
            e[d][k] = total[d];
            if (resistive)
                resistive[d][k] = part[d];
        }
    }
}

/* E in row j. Two calls, so that there is no branch in a loop, and the compiler makes vector instructions of it. */
static inline __attribute__((always_inline)) void electric_row(const struct lm_cpu *c, const struct lm_ohm *o, int j,
                                                               int columns, struct lm_ohm_view v, double *const e[3],
                                                               double *const resistive[3])
{
    const long first = (long)lm_at(&c->base.setup.grid, 0, j);
    const struct lm_ohm ohm = *o;
    double *const to[3] = {e[0], e[1], e[2]};
    if (ohm.eta_hyper > 0.0)
        electric_cells(ohm, first, first + columns, v, to, resistive);
    else
        electric_cells(ohm, first, first + columns, v, to, resistive);
}

/* E in row j in the substeps. */
static void substep_row(const struct lm_cpu *c, int j, struct lm_ohm_view v, double *const e[3])
{
    const struct lm_ohm *o = &c->base.setup.ohm;
    electric_row(c, o, j, c->base.setup.grid.nx + 1 - c->walls[0], v, e, NULL);
    if (c->solid)
        electric_field_at_bodies(c, o, j, v, e, NULL);
}

void lm_cpu_electric_field(struct lm_cpu *c, double *const b[3], double *const e[3], double *const resistive[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int columns = g->nx + 1 - c->walls[0];
    const struct lm_ohm all = lm_with_all_eta(c->base.setup.ohm), *o = resistive ? &all : &c->base.setup.ohm;
    const struct lm_ohm_view without = ohm_view(c, b);
    struct lm_ohm_view with = without;
    with.pressure[0] = c->array[LM_PRESSURE_E], with.pressure[1] = c->array[LM_PRESSURE_E + 1];
    LM_ROWS(c, 0, 1 - c->walls[1])
    {
        /* Three calls for the same reason. */
        if (!resistive) {
            substep_row(c, j, without, e);
            continue;
        }
        if (!lm_has_pressure(o))
            electric_row(c, o, j, columns, without, e, resistive);
        else
            electric_row(c, o, j, columns, with, e, resistive);
        if (c->solid)
            electric_field_at_bodies(c, o, j, without, e, resistive);
    }
    for (int axis = 0; axis < 2; axis++)
        if (c->walls[axis])
            electric_field_on_wall(c, o, axis, without, e, resistive);
}

/* A row of J, and what its neighbours allow: the motional field up to it and E below it, so that all of this is still
 * in the cache. Only what the rows from `from` on allow. */
static void sweep_row(const struct lm_cpu *c, int from, int j, struct lm_ohm_view v, double *const ion_current[3],
                      double *const e[3])
{
    const int last = c->base.setup.grid.ny - c->walls[1];
    current_in_row(c, j, v.b);
    if (j > from && j >= -c->walls[1])
        motional_row(c, j, v.b, ion_current);
    if (j - 1 > from && j - 1 >= 0 && j - 1 <= last)
        substep_row(c, j - 1, v, e);
}

void lm_cpu_substep_field(struct lm_cpu *c, double *const b[3], double *const ion_current[3], double *const e[3])
{
    const struct lm_ohm *o = &c->base.setup.ohm;
    const struct lm_ohm_view v = ohm_view(c, b);
    const int rows = c->base.setup.grid.ny + 4, last = c->base.setup.grid.ny - c->walls[1];
    if (c->base.setup.local_eta || c->base.setup.friction_species > 0) {
        lm_cpu_motional_field(c, b, ion_current, lm_weights_half_way());
        lm_cpu_electric_field(c, b, e, NULL);
        return;
    }
#pragma omp parallel num_threads(c->grid_threads)
    {
        const int me = omp_get_thread_num(), team = omp_get_num_threads();
        const int from = rows * me / team - 2, end = rows * (me + 1) / team - 2;
        for (int j = from; j < end; j++)
            sweep_row(c, from, j, v, ion_current, e);
#pragma omp barrier
        if (from < end && from >= -c->walls[1])
            motional_row(c, from, v.b, ion_current);
#pragma omp barrier
        if (from < end && from >= 0 && from <= last)
            substep_row(c, from, v, e);
        if (end - 1 > from && end - 1 >= 0 && end - 1 <= last)
            substep_row(c, end - 1, v, e);
    }
    for (int axis = 0; axis < 2; axis++)
        if (c->walls[axis])
            electric_field_on_wall(c, o, axis, v, e, NULL);
}

/* A view that stands on element k, unless it has no x and y. */
LM_HD struct lm_view view_at(struct lm_view v, size_t k)
{
    if (v.x == NULL)
        return v;
    return (struct lm_view){v.x + k, v.y + k, v.z ? v.z + k : NULL, v.s};
}

/* LM_PUSH_E and LM_PUSH_B of row j before smoothing. `solid` is NULL without bodies; `pressure`: as in lm_push_field.
 */
static inline __attribute__((always_inline)) void push_row(const struct lm_cpu *c, int j, const uint8_t *solid,
                                                           struct lm_view resistive, struct lm_view pressure)
{
    const struct lm_grid *g = &c->base.setup.grid;
    static const struct lm_vector none = {0.0, 0.0, 0.0};
    const struct lm_view b = lm_cpu_view(c, c->array + LM_B);
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        const int in_body = solid && solid[k];
        const struct lm_vector centre = lm_b_centre(lm_view_at(b, (long)k));
        lm_cpu_put_vector(c->array + LM_PUSH_B, k, centre);
        lm_cpu_put_vector(c->array + LM_PUSH_E, k,
                          lm_push_field(in_body ? none : lm_cpu_vector(c->motional, k), in_body ? 0.0 : c->slip[k],
                                        centre, view_at(resistive, k), view_at(pressure, k)));
    }
}

/* What the ions feel, from LM_E and its resistive part. What strips beyond sides add follows from B in b_of_strips. */
static void push_fields(struct lm_cpu *c, double *const resistive[3], struct lm_level_weights at,
                        enum lm_array b_of_strips)
{
    static const struct lm_view none = {.s = 0};
    const struct lm_ohm *o = &c->base.setup.ohm;
    double *const *push = c->array + LM_PUSH_E;
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_view view = lm_cpu_view(c, resistive);
    const struct lm_view pressure = {c->array[LM_PRESSURE_E], c->array[LM_PRESSURE_E + 1], NULL, g->stride};
    for (int d = 0; d < 3; d++)
        lm_grid_wrap(g, resistive[d]);
    LM_ROWS(c, 0, 0)
    {
        /* Three calls: without bodies the compiler makes vector instructions of it. */
        if (c->solid || o->friction)
            push_row(c, j, c->solid, o->friction ? none : view, o->evolved ? pressure : none);
        else if (o->evolved)
            push_row(c, j, NULL, view, pressure);
        else
            push_row(c, j, NULL, view, none);
    }
    if (c->base.setup.friction_species > 0)
        lm_cpu_friction_fields(c, at);
    lm_cpu_find_push_of_strips(c, b_of_strips);
    for (int d = 0; d < 3; d++) {
        lm_cpu_smooth_push(c, push[d], d, LM_FILL_PUSH_E);
        lm_cpu_smooth_push(c, push[3 + d], d, LM_FILL_PUSH_B);
    }
    for (int axis = 0; axis < 2 && lm_has_pressure_on_faces(o); axis++) {
        lm_cpu_copy_array(c, c->array[LM_PUSH_PRESSURE + axis], c->array[LM_PRESSURE_E + axis]);
        lm_cpu_smooth_push(c, c->array[LM_PUSH_PRESSURE + axis], axis, LM_FILL_PUSH_PRESSURE);
    }
    if (lm_halo_needs_moments(c->base.setup.halo))
        lm_halo_refresh(c->base.setup.halo, push, LM_N_OLD - LM_PUSH_E);
}

void lm_cpu_prescribe_e(struct lm_cpu *c, double *const e[3])
{
    for (int d = 0; d < 3 && lm_any_prescribed_e(&c->sides); d++)
        lm_cpu_copy_array(c, e[d], c->array[LM_E + d]);
}

void lm_cpu_fill_e(struct lm_cpu *c, double *const e[3], enum lm_fill fill)
{
    for (int d = 0; d < 3; d++)
        lm_fill_e(&c->base.setup, e[d], d, fill);
}

void lm_cpu_extrapolate_current(struct lm_cpu *c, double *const to_array[3])
{
    size_t size = c->base.setup.grid.size;
    for (int d = 0; d < 3; d++) {
        const double *later = c->array[LM_J_NEW + d], *earlier = c->array[LM_J_OLD + d];
        double *to = to_array[d];
#pragma omp parallel for num_threads(c->grid_threads)
        for (size_t k = 0; k < size; k++)
            to[k] = lm_extrapolate_half_step(later[k], earlier[k]);
    }
}

int lm_cpu_ohm(struct lm_backend *b, enum lm_ohm_current current)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const int ahead = current != LM_OHM_OLD, level = ahead ? LM_N_NEW : LM_N_OLD;
    lm_cpu_closure(b, level, level, 0.0);
    lm_cpu_pressure_field(c, c->array[level], lm_least_push_density(&b->setup.ohm), 0);
    if (ahead)
        lm_cpu_extrapolate_current(c, c->ahead);
    const struct lm_level_weights at = ahead ? lm_weights_ahead() : lm_weights_of_old();
    lm_cpu_motional_field(c, c->array + LM_B, ahead ? c->ahead : c->array + LM_J_OLD, at);
    lm_cpu_electric_field(c, c->array + LM_B, c->array + LM_E, c->e);
    lm_cpu_fill_e(c, c->array + LM_E, LM_FILL_FARADAY);
    push_fields(c, c->e, at, lm_b_of_ohm(current));
    lm_cpu_survey_level(c, level);
    return LM_OK;
}
