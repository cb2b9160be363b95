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

/* Bit d of c->void_node[k] is whether E_d has a part E_v on the node of element k, where all is known that this takes.
 * Elsewhere E_v is 0. */
static void find_nodes(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_void_nodes nodes = nodes_of(c);
    LM_ROWS(c, LM_GHOST, LM_GHOST - 1)
    for (int i = -LM_GHOST; i < g->nx + LM_GHOST - 1; i++) {
        const size_t k = lm_at(g, i, j);
        int bits = 0;
        for (int d = 0; d < 3; d++)
            bits |= lm_is_void_node(&nodes, d, (long)k) << d;
        c->void_node[k] = (uint8_t)bits;
    }
    for (int d = 0; d < 3; d++) {
        double *e = c->array[LM_VOID_E + d];
        LM_ROWS(c, c->walls[1], 0)
        for (int i = -c->walls[0]; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            if (!(c->void_node[k] >> d & 1))
                e[k] = 0.0;
        }
        lm_grid_wrap(g, e);
    }
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
    find_nodes(c);
    c->has_void = any;
}

/* The nodes of a component inside and on walls that it crosses; along a periodic axis also the first ones beyond. */
static struct lm_cells inside(const struct lm_cpu *c, int component)
{
    const struct lm_grid *g = &c->base.setup.grid;
    return (struct lm_cells){component == 0 ? -c->walls[0] : 0, g->nx + 1 - c->walls[0],
                             component == 1 ? -c->walls[1] : 0, g->ny + 1 - c->walls[1]};
}

/* Beyond walls E follows from a node inside, one after the other. `to` is all that Faraday's law reads. */
static void add_beyond(struct lm_cpu *c, double *const from[3], int component, struct lm_cells to)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct lm_void_nodes nodes = nodes_of(c);
    const struct lm_cells in = inside(c, component);
    for (int j = to.from_y; j < to.to_y; j++)
        for (int i = to.from_x; i < to.to_x; i++) {
            if (j >= in.from_y && j < in.to_y && i == in.from_x)
                i = in.to_x;
            if (i < to.to_x)
                c->e[component][lm_at(g, i, j)] += lm_void_e(&nodes, from[component], component, i, j);
        }
}

/* Adds E_v to c->e: where Faraday's law reads it, beyond walls, too. Elsewhere E_v is 0, and -0 becomes 0 by it. */
static void add(struct lm_cpu *c, double *const from[3])
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int d = 0; d < 3; d++) {
        const struct lm_cells in = inside(c, d);
        const double *const e_v = from[d];
        const uint8_t *const node = c->void_node;
        double *const e = c->e[d];
#pragma omp parallel for schedule(static) num_threads(c->grid_threads)
        for (int j = in.from_y; j < in.to_y; j++) {
            const size_t first = lm_at(g, in.from_x, j), end = lm_at(g, in.to_x, j);
#pragma GCC ivdep
            for (size_t k = first; k < end; k++)
                e[k] += node[k] >> d & 1 ? e_v[k] : 0.0;
        }
        if (c->walls[0] || c->walls[1])
            add_beyond(c, from, d,
                       (struct lm_cells){c->walls[0] ? -LM_GHOST : 0, g->nx + (c->walls[0] ? LM_GHOST : 1),
                                         c->walls[1] ? -LM_GHOST : 0, g->ny + (c->walls[1] ? LM_GHOST : 1)});
    }
}

/* What a stage reads and writes of a component of E_v: that of the step's beginning, which becomes the result, the sum
 * so far, and E_v of this stage and of the next one. */
struct component {
    double *state, *sum, *next;
    const double *current;
    const uint8_t *node;
    int bit;
};

/* A stage of elements [first, end) of a component, on the nodes that have it. */
static inline __attribute__((always_inline)) void
advance_nodes(const struct component *of, int number, struct lm_rk4 rk, double speed2, size_t first, size_t end)
{
    const struct component v = *of;
#pragma GCC ivdep
    for (size_t k = first; k < end; k++) {
        const int is_void = v.node[k] >> v.bit & 1;
        const double start = v.state[k], now = number == 0 ? start : v.next[k],
                     rate = lm_void_rate(speed2, v.current[k], now),
                     after = lm_rk4_sum(rk, 0, number == 0 ? start : v.sum[k], rate);
        if (number < 3) {
            v.next[k] = lm_rk4_next(rk, 0, start, rate);
            v.sum[k] = after;
        } else {
            v.state[k] = is_void ? after : start;
        }
    }
}

void lm_cpu_advance_void_field(struct lm_cpu *c, int number, double substep)
{
    const struct lm_grid *g = &c->base.setup.grid;
    double *const next[3] = {c->raw[0], c->raw[1], c->raw[2]};    /* nothing else uses them in a step of B */
    double *const sum[3] = {c->raw[3], c->ahead[1], c->ahead[2]}; /* nor these */
    const struct lm_rk4 rk = lm_rk4_stage(number, substep);
    const double speed2 = lm_void_speed2(g, substep);
    add(c, number == 0 ? c->array + LM_VOID_E : next);
    for (int d = 0; d < 3; d++) {
        const struct lm_cells in = inside(c, d);
        const struct component of = {c->array[LM_VOID_E + d], sum[d], next[d], c->curl[d], c->void_node, d};
#pragma omp parallel for schedule(static) num_threads(c->grid_threads)
        for (int j = in.from_y; j < in.to_y; j++) {
            const size_t first = lm_at(g, in.from_x, j), end = lm_at(g, in.to_x, j);
            if (number == 0)
                advance_nodes(&of, 0, rk, speed2, first, end);
            else if (number < 3)
                advance_nodes(&of, 1, rk, speed2, first, end);
            else
                advance_nodes(&of, 3, rk, speed2, first, end);
        }
        if (number == 3)
            lm_grid_wrap(g, c->array[LM_VOID_E + d]);
    }
}
