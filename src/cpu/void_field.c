/* CPU backend: E in voids (larmor/physics/fields/void_field.h). */
#include "larmor/physics/fields/void_field.h"

#include "cpu/fields.h"

static int is_void_node(const struct lm_cpu *c, int component, size_t k)
{
    return lm_is_void_node(c->array[LM_PER_DENSITY] + k, c->node ? c->node + 3 * k : NULL, component,
                           c->base.setup.grid.stride);
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
    LM_ROWS(c, c->walls[1], 0)
    for (int i = -c->walls[0]; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        for (int d = 0; d < 3; d++)
            if (!is_void_node(c, d, k))
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

/* The nodes of the cell at k. */
static void advance_nodes(struct lm_cpu *c, int number, struct lm_rk4 rk, double speed2, int i, int j)
{
    /* Work arrays that nothing else uses in a step of B. */
    double *const next[3] = {c->raw[0], c->raw[1], c->raw[2]}, *const sum[3] = {c->raw[3], c->ahead[1], c->ahead[2]};
    const size_t k = lm_at(&c->base.setup.grid, i, j);
    for (int d = 0; d < 3; d++) {
        if (!lm_is_own_e(d, i, j) || !is_void_node(c, d, k))
            continue;
        double *state = &c->array[LM_VOID_E + d][k];
        const double start = *state, e = number == 0 ? start : next[d][k],
                     rate = lm_void_rate(speed2, c->curl[d][k], e),
                     after = lm_rk4_sum(rk, 0, number == 0 ? start : sum[d][k], rate);
        c->e[d][k] += e;
        if (number < 3)
            next[d][k] = lm_rk4_next(rk, 0, start, rate);
        *(number < 3 ? &sum[d][k] : state) = after;
    }
}

void lm_cpu_advance_void_field(struct lm_cpu *c, int number, double substep)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_rk4 rk = lm_rk4_stage(number, substep);
    const double speed2 = lm_void_speed2(g, substep);
    LM_ROWS(c, c->walls[1], 1 - c->walls[1])
    for (int i = -c->walls[0]; i < g->nx + 1 - c->walls[0]; i++)
        advance_nodes(c, number, rk, speed2, i, j);
    for (int d = 0; d < 3 && number == 3; d++)
        lm_grid_wrap(g, c->array[LM_VOID_E + d]);
}
