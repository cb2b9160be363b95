/* CPU backend: velocities of ions and electrons on the faces. The bodies of the loops are in
 * larmor/physics/fluid/flow.h. No rate of this file is recorded. */
#include "backend/field_boundaries.h"
#include "cpu/fields.h"
#include "larmor/physics/fluid/oscillation.h"
#include "larmor/physics/fields/wall.h"

struct lm_flow_moments lm_cpu_flow_moments(const struct lm_cpu *c)
{
    return (struct lm_flow_moments){
        .density = {c->array[LM_N_OLD], c->array[LM_N_NEW]},
        .counted = c->counted,
        .current = {c->array[LM_J_NEW], c->array[LM_J_NEW + 1]},
        .b = {c->array[LM_B], c->array[LM_B + 1], c->array[LM_B + 2], c->base.setup.grid.stride},
        .external = lm_cpu_external(c),
        .clearance = c->clearance,
        .open = c->open,
        .passage = c->passage,
        .absorbing_walls = lm_absorbing_walls(&c->base.setup)};
}

void lm_cpu_count_density(struct lm_cpu *c, const double *n, const double *other)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const struct lm_view b = lm_cpu_view(c, c->array + LM_B);
    const double *entropy = lm_cpu_entropy(c);
    LM_ROWS(c, 0, 0)
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        const double counted = lm_counted_density(lm_floored_mean(n[k], other[k], o), lm_view_at(b, (long)k), o);
        c->counted[k] = lm_density_for_battery(counted, entropy[k], o);
    }
    lm_fill_moment(g, c->counted, -1);
}

int lm_cpu_flow(struct lm_backend *b, enum lm_flow_time when)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const struct lm_flow_moments moments = lm_cpu_flow_moments(c);
    const int last = b->setup.background_count - 1, evolved = b->setup.ohm.evolved, later = lm_is_later(when);
    struct lm_flow_arrays to[2] = {{c->flow[0], c->flow[2], evolved ? c->array[LM_BACKGROUND_X + last] : NULL},
                                   {c->flow[1], c->flow[3], evolved ? c->array[LM_BACKGROUND_Y + last] : NULL}};
    for (int axis = 0; axis < 2 && lm_is_of_round(when); axis++)
        to[axis].ion = to[axis].electron = NULL;
    c->later = later;
    if (evolved)
        lm_cpu_count_density(c, c->array[LM_N_OLD], c->array[LM_N_NEW]);
    LM_ROWS(c, 1, 0)
    for (int i = -1; i < g->nx; i++)
        for (int axis = 0; axis < 2; axis++) {
            const enum lm_face_place place =
                lm_face_place(axis == 0 ? i : j, axis == 0 ? g->nx : g->ny, !lm_has_walls(&g->sides, axis));
            lm_set_flow_on_face(&moments, axis, (long)lm_at(g, i, j), place, later, &b->setup.ohm, &to[axis]);
        }
    return LM_OK;
}

static double largest_oscillation(const struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_ohm *o = &c->base.setup.ohm;
    const struct lm_flow_moments moments = lm_cpu_flow_moments(c);
    const double *s = lm_cpu_entropy(c);
    uint64_t largest = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : largest)
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++) {
            const uint64_t turn = lm_oscillation_bits(&moments, s, &g->sides, g->nx, g->ny, i, j, o);
            largest = turn > largest ? turn : largest;
        }
    return lm_from_bits(largest);
}

int lm_cpu_flow_rates(struct lm_backend *b, double rate[LM_FLOW_RATES])
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const struct lm_ohm *o = &b->setup.ohm;
    for (int f = 0; f < b->setup.background_count; f++) {
        const double *x = c->array[LM_BACKGROUND_X + f], *y = c->array[LM_BACKGROUND_Y + f];
        uint64_t largest = 0;
#pragma omp parallel for num_threads(c->grid_threads) reduction(max : largest)
        for (int j = g->own.from_y; j < g->own.to_y; j++)
            for (int i = g->own.from_x; i < g->own.to_x; i++) {
                const uint64_t size =
                    lm_flow_rate_bits(x, y, c->clearance, c->open, (long)lm_at(g, i, j), g->stride, o);
                largest = size > largest ? size : largest;
            }
        rate[f] = lm_from_bits(largest);
    }
    rate[LM_OSCILLATION] = o->evolved && !c->later ? largest_oscillation(c) : 0;
    return LM_OK;
}
