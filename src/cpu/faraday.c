/* CPU backend: Faraday's law with Ohm's, by Runge-Kutta substeps (larmor/physics/fields/faraday.h). */
#include "backend/field_boundaries.h"
#include "cpu/fields.h"
#include "cpu/strips.h"

struct stage {
    struct lm_cpu *cpu;
    int number; /* 0 to 3 */
    struct lm_rk4 rk;
    const double *battery; /* lm_cpu_battery */
};

/* B of cells [from, to) of row j after a stage; `number` and `rk` are that of the stage. `sides` is NULL where no B is
 * held, `battery` where there is none, `node` where no conductor cuts a cell around a corner. */
static inline __attribute__((always_inline)) void advance_cells(const struct stage *s, int number, int j, int from,
                                                                int to, const struct lm_field_sides *sides,
                                                                const double *battery, const struct lm_body_node *node)
{
    const struct lm_cpu *c = s->cpu;
    const struct lm_grid *g = &c->base.setup.grid;
    const double inv_dx = c->base.setup.ohm.inv_dx, inv_dy = c->base.setup.ohm.inv_dy;
    const struct lm_rk4 rk = s->rk;
    const struct lm_view e = lm_cpu_view(c, c->e);
    double *const state[3] = {c->array[LM_B], c->array[LM_B + 1], c->array[LM_B + 2]},
                  *const next[3] = {c->stage[0], c->stage[1], c->stage[2]},
                  *const result[3] = {c->result[0], c->result[1], c->result[2]};
    const long row = (long)lm_at(g, 0, j);
#pragma GCC ivdep
    for (int i = from; i < to; i++) {
        const long k = row + i;
        const struct lm_vector v = lm_faraday(lm_view_at(e, k), inv_dx, inv_dy);
        const double z = lm_corner_rate(node ? node + 3 * k : NULL, v.z);
        const double rate[3] = {v.x, v.y, battery ? z + battery[k] : z};
        LM_UNROLL
        for (int d = 0; d < 3; d++) {
            const int held = sides && lm_is_held(sides, d, i, j, g->nx, g->ny);
            const double start = state[d][k], sum = number == 0 ? start : result[d][k];
            if (number < 3)
                next[d][k] = lm_rk4_next(rk, held, start, rate[d]);
            *(number < 3 ? &result[d][k] : &state[d][k]) = lm_rk4_sum(rk, held, sum, rate[d]);
        }
    }
}

/* The same where no B is held. A call for each kind of stage, so that the compiler makes vector instructions of it. */
static inline __attribute__((always_inline)) void advance_free(const struct stage *s, int j, int from, int to,
                                                               const double *battery, const struct lm_body_node *node)
{
    if (node)
        advance_cells(s, s->number, j, from, to, NULL, battery, node);
    else if (s->number == 0)
        advance_cells(s, 0, j, from, to, NULL, battery, NULL);
    else if (s->number < 3)
        advance_cells(s, 1, j, from, to, NULL, battery, NULL);
    else
        advance_cells(s, 3, j, from, to, NULL, battery, NULL);
}

/* Cells [from, to) of row j. B may be held beyond the sides and in the last cells before the upper ones. */
static void advance_row(const struct stage *s, int j, int from, int to)
{
    const struct lm_field_sides *sides = &s->cpu->sides;
    const struct lm_grid *g = &s->cpu->base.setup.grid;
    const struct lm_body_node *node = lm_cpu_narrow_nodes(s->cpu, j);
    const int first = 0, last = g->nx - 1;
    if (!lm_any_held_b(sides) && !s->battery) {
        advance_free(s, j, from, to, NULL, node);
    } else if (!lm_any_held_b(sides)) {
        advance_free(s, j, from, to, s->battery, node);
    } else if (j < 0 || j >= g->ny - 1) {
        advance_cells(s, s->number, j, from, to, sides, s->battery, node);
    } else {
        advance_cells(s, s->number, j, from, first, sides, s->battery, node);
        advance_free(s, j, first, last, s->battery, node);
        advance_cells(s, s->number, j, last, to, sides, s->battery, node);
    }
}

static void advance_stage(struct lm_cpu *c, int number, int ion_current, const double *battery, double dt)
{
    const struct lm_grid *g = &c->base.setup.grid;
    const struct stage s = {c, number, lm_rk4_stage(number, dt), battery};
    const int beyond_x = c->walls[0] ? LM_GHOST : 0, beyond_y = c->walls[1] ? LM_GHOST : 0;
    double *const *state = c->array + LM_B;
    double *const *b = number == 0 ? state : c->stage;
    lm_cpu_substep_field(c, b, c->array + ion_current, c->e);
    if (c->walls[0] || c->walls[1])
        lm_cpu_fill_e(c, c->e, LM_FILL_FARADAY);
    lm_cpu_advance_strips(c, number, b, dt);
    if (c->has_void)
        lm_cpu_advance_void_field(c, number, dt);
    const struct lm_strip_window *strips[LM_SIDES];
    for (int side = 0; side < LM_SIDES; side++)
        strips[side] = c->strip[side] ? &c->strip[side]->w : NULL;
    const struct lm_open_sides open =
        lm_open_sides_of(g, &c->sides, dt, (const double *const *)(c->array + ion_current), c->array[LM_FLOORED],
                         strips, c->solid, (const double *const *)b);
    lm_fill_open_e(&c->base.setup, &open, c->e, c->grid_threads);
    lm_cpu_settle_corners(c, b, dt);
    /* Beyond walls up to where E is known on all sides of a node. */
    LM_ROWS(c, beyond_y, beyond_y - c->walls[1])
    advance_row(&s, j, -beyond_x, g->nx + beyond_x - c->walls[0]);
    for (int d = 0; d < 3; d++)
        lm_grid_wrap(g, number == 3 ? state[d] : c->stage[d]);
}

/* The arrays of mean_field.h. */
static int allocate_mean(struct lm_cpu *c)
{
    for (int k = LM_J_AHEAD; k < LM_KEPT_B + 3 && !c->array[LM_KEPT_B + 2]; k++)
        c->array[k] = lm_pool_zeros(&c->pool, c->base.setup.grid.size, sizeof **c->array);
    return c->pool.failed ? lm_fail(LM_FAILED, "not enough memory for the mean of B") : LM_OK;
}

static void add_to_mean(struct lm_cpu *c, const struct lm_b_step *step, int substep)
{
    const double weight = lm_mean_weight(step->mean, substep, step->substeps, step->forecast);
    const int is_first = lm_mean_is_new(step->mean, substep, step->substeps);
    const size_t size = c->base.setup.grid.size;
    for (int d = 0; d < 3 && weight > 0; d++) {
        const double *b = c->array[LM_B + d];
        double *mean = c->array[LM_MEAN_B + d];
#pragma omp parallel for num_threads(c->grid_threads)
        for (size_t k = 0; k < size; k++)
            mean[k] = is_first ? lm_part_of_mean(weight, b[k]) : mean[k] + lm_part_of_mean(weight, b[k]);
    }
}

int lm_cpu_advance_b(struct lm_backend *b, const struct lm_b_step *step)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const double substep = step->dt / step->substeps;
    if (step->mean != LM_NO_MEAN && allocate_mean(c))
        return LM_FAILED;
    if (step->mean == LM_MEAN_BEGINS)
        lm_cpu_extrapolate_current(c, c->array + LM_J_AHEAD);
    if (step->mean == LM_MEAN_ENDS)
        lm_cpu_copy(b, LM_KEPT_B, LM_B, 3);
    const double *battery = lm_cpu_battery(c);
    lm_cpu_prescribe_e(c, c->e);
    if (lm_halo_needs_moments(b->setup.halo))
        lm_halo_refresh(b->setup.halo, &c->array[LM_PER_DENSITY], 1);
    lm_cpu_begin_void_field(c, step);
    lm_cpu_begin_strips(c, step);
    for (int r = 0; r < step->substeps; r++) {
        if (lm_stop_now())
            return lm_stop_give_up();
        for (int stage = 0; stage < 4; stage++)
            advance_stage(c, stage, (int)step->ion_current, battery, substep);
        if (lm_halo_is_used_up(b->setup.halo, r, step->substeps)) {
            lm_halo_refresh(b->setup.halo, c->array + LM_B, step->voids ? 6 : 3); /* with LM_VOID_E */
            lm_cpu_refresh_b_of_strips(c);
        }
        add_to_mean(c, step, r);
    }
    lm_cpu_end_strips(c, step);
    if (step->mean == LM_MEAN_ENDS)
        lm_halo_refresh(b->setup.halo, c->array + LM_MEAN_B, 3);
    return LM_OK;
}
