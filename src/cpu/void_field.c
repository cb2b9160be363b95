/* CPU backend: E in voids (larmor/physics/fields/void_field.h). */
#include "larmor/physics/fields/void_field.h"

#include "cpu/fields.h"

static struct lm_void_nodes nodes_of(const struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    return (struct lm_void_nodes){c->array[LM_PER_DENSITY], c->node, c->sides, g->nx, g->ny, g->stride};
}

static void clear(struct lm_cpu *c)
{
    for (int a = LM_VOID_E; a <= LM_VOID; a++)
        memset(c->array[a], 0, c->base.setup.grid.size * sizeof(double));
}

/* No E_v on nodes that are at no void. */
static void forget(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_void_nodes nodes = nodes_of(c);
    LM_ROWS(c, c->walls[1], 0)
    for (int i = -c->walls[0]; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        for (int d = 0; d < 3; d++)
            if (!lm_is_void_node(&nodes, d, (long)k))
                c->array[LM_VOID_E + d][k] = 0.0;
    }
    for (int d = 0; d < 3; d++)
        lm_grid_wrap(g, c->array[LM_VOID_E + d]);
}

void lm_cpu_begin_void_field(struct lm_cpu *c, int voids)
{
    const size_t size = c->base.setup.grid.size;
    const double *per_density = c->array[LM_PER_DENSITY];
    double *was_void = c->array[LM_VOID];
    int any = 0;
    if (!voids && c->used_void)
        clear(c);
    c->used_void = voids;
    c->has_void = 0;
    if (!voids)
        return;
#pragma omp parallel for num_threads(c->grid_threads) reduction(| : any)
    for (size_t k = 0; k < size; k++) {
        was_void[k] = per_density[k] == 0.0 ? 1.0 : 0.0;
        any |= per_density[k] == 0.0;
    }
    lm_halo_refresh(c->base.setup.halo, &c->array[LM_VOID], 1);
    forget(c);
    c->has_void = any;
}

/* Adds E_v to c->e: where Faraday's law reads it, beyond walls, too. */
static void add(struct lm_cpu *c, double *const from[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_void_nodes nodes = nodes_of(c);
    const int low_x = c->walls[0] ? LM_GHOST : 0, low_y = c->walls[1] ? LM_GHOST : 0,
              high_x = c->walls[0] ? LM_GHOST : 1, high_y = c->walls[1] ? LM_GHOST : 1;
    LM_ROWS(c, low_y, high_y)
    for (int i = -low_x; i < g->nx + high_x; i++)
        for (int d = 0; d < 3; d++)
            c->e[d][lm_at(g, i, j)] += lm_void_e(&nodes, from[d], d, i, j);
}

/* E_v of the nodes of cell (i, j) in a stage. */
static void advance_nodes(struct lm_cpu *c, int number, double substep, double *const next[3], int i, int j)
{
    double *const sum[3] = {c->raw[3], c->ahead[1], c->ahead[2]}; /* nothing else uses them in a step of B */
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_rk4 rk = lm_rk4_stage(number, substep);
    const struct lm_void_nodes nodes = nodes_of(c);
    const double speed2 = lm_void_speed2(g, substep);
    const size_t k = lm_at(g, i, j);
    for (int d = 0; d < 3; d++) {
        double *state = &c->array[LM_VOID_E + d][k];
        if (!lm_is_own_e(d, i, j) || !lm_is_void_node(&nodes, d, (long)k))
            continue;
        const double start = *state,
                     rate = lm_void_rate(speed2 * lm_void_open_part(&nodes, d, (long)k), c->curl[d][k],
                                         number == 0 ? start : next[d][k]),
                     after = lm_rk4_sum(rk, 0, number == 0 ? start : sum[d][k], rate);
        if (number < 3)
            next[d][k] = lm_rk4_next(rk, 0, start, rate);
        *(number < 3 ? &sum[d][k] : state) = after;
    }
}

void lm_cpu_advance_void_field(struct lm_cpu *c, int number, double substep)
{
    const struct lm_grid *g = &c->base.setup.grid;
    double *const next[3] = {c->raw[0], c->raw[1], c->raw[2]}; /* nothing else uses them in a step of B */
    add(c, number == 0 ? c->array + LM_VOID_E : next);
    /* With the first nodes beyond periodic sides, whose E Faraday's law reads. */
    LM_ROWS(c, c->walls[1], 1 - c->walls[1])
    for (int i = -c->walls[0]; i < g->nx + 1 - c->walls[0]; i++)
        advance_nodes(c, number, substep, next, i, j);
    for (int d = 0; d < 3 && number == 3; d++)
        lm_grid_wrap(g, c->array[LM_VOID_E + d]);
}
