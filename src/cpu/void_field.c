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

void lm_cpu_begin_void_field(struct lm_cpu *c, const struct lm_b_step *step)
{
    const size_t size = c->base.setup.grid.size;
    const double *per_density = c->array[LM_PER_DENSITY];
    double *was_void = c->array[LM_VOID];
    int any = 0;
    if (!step->voids && c->used_void)
        clear(c);
    c->used_void = step->voids;
    c->has_void = 0;
    if (!step->voids)
        return;
#pragma omp parallel for num_threads(c->grid_threads) reduction(| : any)
    for (size_t k = 0; k < size; k++) {
        const int is_void = per_density[k] == 0.0;
        if (!step->keeps_void)
            was_void[k] = is_void;
        any |= is_void;
    }
    if (!step->keeps_void)
        lm_halo_refresh(c->base.setup.halo, &c->array[LM_VOID], 1);
    find_nodes(c);
    c->has_void = any;
}

/* Adds E_v to c->e beyond walls. */
static void add_beyond(struct lm_cpu *c, double *const from[3])
{
    for (int d = 0; d < 3; d++)
        for (size_t n = 0; n < c->beyond[d].count; n++) {
            const struct lm_cpu_image *i = &c->beyond[d].node[n];
            c->e[d][i->to] += c->void_node[i->from] >> d & 1 ? i->sign * from[d][i->from] : 0.0;
        }
}

/* What a stage reads and writes of a component: all of E; E_v of the step's beginning, which becomes the result; the
 * sum so far; E_v of this stage and of the next one. */
struct component {
    double *e, *state, *sum, *next;
    const double *current;
    const uint8_t *node;
    int number; /* of the component */
};

/* A stage of elements [first, end): adds E_v to E and advances it, on the nodes that have it. Elsewhere E_v is 0, and
 * an E of -0 becomes 0. `node`: lm_cpu_narrow_nodes. */
static inline __attribute__((always_inline)) void advance_nodes(const struct component *of,
                                                                const struct lm_body_node *node, int number,
                                                                struct lm_rk4 rk, double speed2, size_t first,
                                                                size_t end)
{
    const struct component v = *of;
    const struct lm_void_nodes nodes = {.node = node};
#pragma GCC ivdep
    for (size_t k = first; k < end; k++) {
        const int is_void = v.node[k] >> v.number & 1;
        const double start = v.state[k], now = number == 0 ? start : v.next[k],
                     rate = lm_void_rate(speed2 * lm_void_open_part(&nodes, v.number, (long)k), v.current[k], now),
                     after = lm_rk4_sum(rk, 0, number == 0 ? start : v.sum[k], rate);
        v.e[k] += is_void ? now : 0.0;
        if (number < 3) {
            v.next[k] = lm_rk4_next(rk, 0, start, rate);
            v.sum[k] = after;
        } else {
            v.state[k] = is_void ? after : start;
        }
    }
}

static void advance_row(const struct component *of, const struct lm_body_node *node, int number, struct lm_rk4 rk,
                        double speed2, size_t first, size_t end)
{
    int any = 0;
    for (size_t k = first; k < end; k++)
        any |= of->node[k];
    if (!any)
        for (size_t k = first; k < end; k++)
            of->e[k] += 0.0;
    else if (node)
        advance_nodes(of, node, number, rk, speed2, first, end);
    else if (number == 0)
        advance_nodes(of, NULL, 0, rk, speed2, first, end);
    else if (number < 3)
        advance_nodes(of, NULL, 1, rk, speed2, first, end);
    else
        advance_nodes(of, NULL, 3, rk, speed2, first, end);
}

void lm_cpu_advance_void_field(struct lm_cpu *c, int number, double substep)
{
    const struct lm_grid *g = &c->base.setup.grid;
    double *const next[3] = {c->raw[0], c->raw[1], c->raw[2]};    /* nothing else uses them in a step of B */
    double *const sum[3] = {c->raw[3], c->ahead[1], c->ahead[2]}; /* nor these */
    const struct lm_rk4 rk = lm_rk4_stage(number, substep);
    const double speed2 = lm_void_speed2(g, substep);
    add_beyond(c, number == 0 ? c->array + LM_VOID_E : next);
    LM_ROWS(c, c->walls[1], 1 - c->walls[1])
    for (int d = 0; d < 3; d++) {
        const struct lm_cells in = lm_cpu_nodes(c, d);
        const struct component of = {c->e[d], c->array[LM_VOID_E + d], sum[d], next[d], c->curl[d], c->void_node, d};
        if (j >= in.from_y)
            advance_row(&of, lm_cpu_narrow_nodes(c, j), number, rk, speed2, lm_at(g, in.from_x, j),
                        lm_at(g, in.to_x, j));
    }
    for (int d = 0; d < 3 && number == 3; d++)
        lm_grid_wrap(g, c->array[LM_VOID_E + d]);
}
