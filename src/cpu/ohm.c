/* CPU backend: Ohm's law (larmor/physics/fields/ohm.h). */
#include "backend/field_boundaries.h"
#include "cpu/fields.h"
#include "larmor/physics/fields/resistivity.h"
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

/* J in row j, one cell more on each side than the motional field needs it. */
LM_HD void current_row(const struct lm_cpu *c, int j, struct lm_view b, struct lm_view external)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    for (int i = -1 - c->walls[0]; i < g->nx + 2; i++) {
        const size_t k = lm_at(g, i, j);
        lm_cpu_put_vector(
            c->curl, k,
            lm_plasma_current(lm_view_at(b, (long)k), lm_external_at(external, (long)k), o->inv_dx, o->inv_dy));
    }
}

/* The cells are [0, n], or from -1 on where there are walls; J also in what its Laplacian needs around them. */
void lm_cpu_motional_field(struct lm_cpu *c, double *const b[3], double *const ion_current[3],
                           struct lm_level_weights at)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_view bv = lm_cpu_view(c, b), jv = lm_cpu_view(c, c->curl);
    static const struct lm_view none = {.s = 0};
    const struct lm_view external = lm_cpu_external(c);
    LM_ROWS(c, 1 + c->walls[1], 2)
    /* Two calls: without J_ext the compiler makes vector instructions of it. */
    external.s ? current_row(c, j, bv, external) : current_row(c, j, bv, none);
    LM_ROWS(c, c->walls[1], 2)
    for (int i = -c->walls[0]; i < g->nx + 2; i++) {
        size_t k = lm_at(g, i, j);
        lm_cpu_put_vector(c->motional, k,
                          lm_motional_field(lm_view_at(jv, (long)k), lm_view_at(bv, (long)k),
                                            lm_cpu_vector(ion_current, k), c->array[LM_FLOORED][k]));
    }
    if (c->base.setup.local_eta)
        local_eta(c, bv, jv);
    if (c->base.setup.friction_species > 0)
        lm_cpu_add_friction(c, bv, at);
}

int lm_cpu_resistivity(struct lm_backend *b)
{
    struct lm_cpu *c = lm_cpu_of(b);
    lm_cpu_closure(b, LM_N_OLD, LM_N_OLD);
    lm_cpu_motional_field(c, c->array + LM_B, c->array + LM_J_OLD, lm_weights_of_old());
    return LM_OK;
}

/* Without the part of the pressure. */
static struct lm_ohm_view ohm_view(const struct lm_cpu *c)
{
    return (struct lm_ohm_view){.motional = lm_cpu_view(c, c->motional),
                                .j = lm_cpu_view(c, c->curl),
                                .n = c->array[LM_FLOORED],
                                .eta = c->array[LM_ETA]};
}

/* E through the walls of an axis, whose nodes have the indices -1 and n - 1. */
static void electric_field_on_wall(struct lm_cpu *c, int axis, double *const e[3], double *const push[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const struct lm_ohm_view v = ohm_view(c);
    const int along = axis == 0 ? g->ny : g->nx, count = along - c->walls[1 - axis] + 1;
    const long last = axis == 0 ? g->nx : (long)g->ny * g->stride, step = axis == 0 ? 1 : g->stride;
    for (int n = 0; n < 2 * count; n++) {
        const int m = n / 2, high = n % 2;
        const long k = (long)(axis == 0 ? lm_at(g, -1, m) : lm_at(g, m, -1)) + (high ? last : 0);
        double total[3], ideal[3];
        lm_wall_field(axis, high ? 0 : step, lm_ohm_view_at(v, k), o, total, ideal);
        if (c->solid)
            lm_body_field(c->solid + k, lm_ohm_view_at(v, k), o, total, ideal);
        e[axis][k] = total[axis];
        if (push)
            push[axis][k] = lm_push_field(total[axis], ideal[axis], o->friction);
    }
}

/* E of the nodes in a row that touch bodies. */
static void electric_field_at_bodies(const struct lm_cpu *c, int j, int count, double *const e[3],
                                     double *const push[3])
{
    const struct lm_ohm_view v = ohm_view(c);
    for (int i = 0; i < count; i++) {
        long k = (long)lm_at(&c->base.setup.grid, i, j);
        double total[3] = {e[0][k], e[1][k], e[2][k]}, of_push[3] = {0.0, 0.0, 0.0};
        for (int d = 0; d < 3 && push; d++)
            of_push[d] = push[d][k];
        lm_body_field(c->solid + k, lm_ohm_view_at(v, k), &c->base.setup.ohm, total, of_push);
        for (int d = 0; d < 3; d++) {
            e[d][k] = total[d];
            if (push)
                push[d][k] = of_push[d];
        }
    }
}

/* E in row j. */
static inline __attribute__((always_inline)) void electric_row(const struct lm_cpu *c, int j, int columns,
                                                               struct lm_ohm_view v, double *const e[3],
                                                               double *const push[3])
{
    const struct lm_ohm *o = &c->base.setup.ohm;
    for (int i = 0; i < columns; i++) {
        long k = (long)lm_at(&c->base.setup.grid, i, j);
        double total[3], ideal[3];
        lm_electric_field(lm_ohm_view_at(v, k), o, total, ideal);
        for (int d = 0; d < 3; d++) {
            e[d][k] = total[d];
            if (push)
                push[d][k] = lm_push_field(total[d], ideal[d], o->friction);
        }
    }
}

void lm_cpu_electric_field(struct lm_cpu *c, double *const e[3], double *const push[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const int columns = g->nx + 1 - c->walls[0];
    const struct lm_ohm_view without = ohm_view(c);
    struct lm_ohm_view with = without;
    with.pressure[0] = c->array[LM_PRESSURE_E], with.pressure[1] = c->array[LM_PRESSURE_E + 1];
    LM_ROWS(c, 0, 1 - c->walls[1])
    {
        if (!push)
            electric_row(c, j, columns, without, e, NULL);
        else if (!lm_has_pressure(&c->base.setup.ohm))
            electric_row(c, j, columns, without, e, push);
        else
            electric_row(c, j, columns, with, e, push);
        if (c->solid)
            electric_field_at_bodies(c, j, columns, e, push);
    }
    for (int axis = 0; axis < 2; axis++)
        if (c->walls[axis])
            electric_field_on_wall(c, axis, e, push);
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

/* The ion current of the NEW level in c->ahead. */
static void extrapolate_current(struct lm_cpu *c)
{
    size_t size = c->base.setup.grid.size;
    for (int d = 0; d < 3; d++) {
        const double *later = c->array[LM_J_NEW + d], *earlier = c->array[LM_J_OLD + d];
        double *to = c->ahead[d];
#pragma omp parallel for num_threads(c->grid_threads)
        for (size_t k = 0; k < size; k++)
            to[k] = lm_extrapolate_half_step(later[k], earlier[k]);
    }
}

int lm_cpu_ohm(struct lm_backend *b, enum lm_ohm_current current)
{
    struct lm_cpu *c = lm_cpu_of(b);
    double *const *push = c->array + LM_PUSH_E;
    const int level = current == LM_OHM_AHEAD ? LM_N_NEW : LM_N_OLD;
    lm_cpu_closure(b, level, level);
    lm_cpu_pressure_field(c, c->array[level], lm_least_push_density(&b->setup.ohm));
    if (current == LM_OHM_AHEAD)
        extrapolate_current(c);
    const struct lm_level_weights at = current == LM_OHM_AHEAD ? lm_weights_ahead() : lm_weights_of_old();
    lm_cpu_motional_field(c, c->array + LM_B, current == LM_OHM_AHEAD ? c->ahead : c->array + LM_J_OLD, at);
    lm_cpu_prescribe_e(c, push);
    lm_cpu_electric_field(c, c->array + LM_E, push);
    if (b->setup.friction_species > 0)
        lm_cpu_friction_fields(c, at);
    lm_cpu_fill_e(c, c->array + LM_E, LM_FILL_FARADAY);
    lm_cpu_fill_e(c, push, LM_FILL_PUSH);
    for (int k = 0; k < 3; k++)
        lm_cpu_smooth_e(c, push[k], k);
    if (lm_halo_needs_moments(b->setup.halo))
        lm_halo_refresh(b->setup.halo, push, 3);
    lm_cpu_survey_level(c, level);
    return LM_OK;
}
