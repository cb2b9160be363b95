/* Background fields from the configuration: initial values, flows, sources and what flows in. */
#include <stdlib.h>
#include <string.h>

#include "config/side_points.h"
#include "larmor/physics/fluid/background_sides.h"
#include "sim/background_parts.h"
#include "base/expr.h"
#include "config/facts.h"
#include "sim/electrons.h"
#include "sim/setup.h"

/* The time in the middle of the next step. */
static double middle(const struct lm_sim *sim)
{
    return lm_sim_time(sim) + 0.5 * sim->config->run.dt;
}

static int fail_expression(const struct lm_config *c, int field, const char *key)
{
    return lm_fail_context(LM_BAD_INPUT, "%s: background.%s.%s", c->file, c->background[field].name, key);
}

double *lm_sim_background_work(const struct lm_sim *sim)
{
    double *work = calloc(3 * sim->grid.size, sizeof *work);
    if (!work)
        lm_fail(LM_FAILED, "not enough memory for the background fields");
    return work;
}

/* --- flows, sources, inflow --- */

/* Nothing flows through walls. */
static void shut_walls(const struct lm_grid *g, const int sides[LM_SIDES], double *vx, double *vy)
{
    for (int side = 0; side < LM_SIDES; side++) {
        const int along_y = side < LM_Y_MIN, count = along_y ? g->ny : g->nx;
        const int last = side % 2 ? (along_y ? g->nx : g->ny) - 1 : -1;
        for (int k = 0; k < count && sides[side] == LM_BACKGROUND_WALL; k++)
            *(along_y ? &vx[lm_at(g, last, k)] : &vy[lm_at(g, k, last)]) = 0;
    }
}

int lm_setup_flow(const struct lm_config *c, int field, const uint8_t *clearance, struct lm_cuts cuts, double t,
                  double *vx, double *vy, double *work)
{
    static const struct lm_cell_offset x_face = {0.5, 0}, y_face = {0, 0.5}, corner = {0.5, 0.5};
    const struct lm_background_config *b = &c->background[field];
    const struct lm_grid g = lm_config_grid(c);
    if (b->stream[0]) {
        if (lm_expr_fill_at(c->names, b->stream, &g, corner, t, work))
            return fail_expression(c, field, "stream");
        return lm_background_stream(&g, b->sides, clearance, cuts.open, work, vx, vy);
    }
    if (lm_expr_fill_at(c->names, b->velocity[0], &g, x_face, t, vx))
        return fail_expression(c, field, "vx");
    if (lm_expr_fill_at(c->names, b->velocity[1], &g, y_face, t, vy))
        return fail_expression(c, field, "vy");
    lm_grid_wrap(&g, vx);
    lm_grid_wrap(&g, vy);
    lm_background_shut(&g, clearance, vx, vy);
    shut_walls(&g, b->sides, vx, vy);
    return lm_background_pass(&g, cuts, vx, vy);
}

static int put_velocity(struct lm_sim *sim, int field, double *work)
{
    struct lm_backend *b = sim->backend;
    double *vx = work, *vy = work + sim->grid.size;
    int status = lm_setup_flow(sim->config, field, sim->clearance, sim->cuts, middle(sim), vx, vy, vy + sim->grid.size);
    if (status)
        return status;
    status = b->ops->put(b, LM_BACKGROUND_X + field, vx);
    return status ? status : b->ops->put(b, LM_BACKGROUND_Y + field, vy);
}

static int put_source(struct lm_sim *sim, int field, double *work)
{
    const struct lm_config *c = sim->config;
    if (lm_expr_fill_at(c->names, c->background[field].source, &sim->grid, (struct lm_cell_offset){0, 0}, middle(sim),
                        work))
        return fail_expression(sim->config, field, "source");
    lm_clear_bodies(&sim->grid, sim->mask, work);
    sim->background[field].largest_source = lm_largest_of(&sim->grid, work) * c->run.dt;
    return sim->backend->ops->put(sim->backend, LM_BACKGROUND_SOURCE + field, work);
}

/* The values of a field beyond `count` points of a side. */
static int fill_inflow(const struct lm_sim *sim, int field, int count, const double *x, const double *y, double *values)
{
    const struct lm_background_config *b = &sim->config->background[field];
    if (b->kind == LM_ENTROPY)
        return lm_sim_entropy_inflow(sim->config, count, x, y, middle(sim), values);
    if (lm_expr_at(sim->config->names, b->inflow, (size_t)count, x, y, middle(sim), values))
        return fail_expression(sim->config, field, "inflow");
    return LM_OK;
}

/* `work`: three arrays of lm_longest_side numbers. */
static int put_inflow_of_side(struct lm_sim *sim, int field, enum lm_side side, double *work)
{
    double *x = work, *y = x + lm_longest_side(&sim->grid), *values = y + lm_longest_side(&sim->grid);
    double *largest = &sim->background[field].largest_inflow;
    const int count = lm_side_points(&sim->grid, side, x, y), status = fill_inflow(sim, field, count, x, y, values);
    if (status)
        return status;
    for (int k = 0; k < count; k++)
        *largest = fmax(*largest, fabs(values[k]));
    return sim->backend->ops->put_background_side(sim->backend, field, (int)side, values);
}

static int put_inflow(struct lm_sim *sim, int field)
{
    const struct lm_background_config *b = &sim->config->background[field];
    double *work = malloc(3 * lm_longest_side(&sim->grid) * sizeof *work);
    int status = work ? LM_OK : lm_fail(LM_FAILED, "not enough memory for what flows in");
    sim->background[field].largest_inflow = 0;
    for (int side = 0; side < LM_SIDES && !status; side++)
        if (b->sides[side] == LM_BACKGROUND_INFLOW)
            status = put_inflow_of_side(sim, field, (enum lm_side)side, work);
    free(work);
    return status;
}

/* Flow, source and inflow of a field; `again`: only what changes with time. */
static int put_given(struct lm_sim *sim, int field, int again, double *work)
{
    const struct lm_background_config *b = &sim->config->background[field];
    const struct lm_sim_background *s = &sim->background[field];
    int status = LM_OK;
    if (b->flow == LM_FLOW_PRESCRIBED && (!again || s->timed_velocity))
        status = put_velocity(sim, field, work);
    if (!status && lm_background_has_source(b) && (!again || s->timed_source))
        status = put_source(sim, field, work);
    if (!status && (!again || s->timed_inflow))
        status = put_inflow(sim, field);
    return status;
}

/* Finds which expressions of a field change with time. */
static int find_timed(struct lm_sim *sim, int field)
{
    const struct lm_background_config *b = &sim->config->background[field];
    struct lm_sim_background *s = &sim->background[field];
    const char *const texts[] = {b->velocity[0], b->velocity[1], b->stream, b->source, b->inflow};
    int *const timed[] = {&s->timed_velocity, &s->timed_velocity, &s->timed_velocity, &s->timed_source,
                          &s->timed_inflow};
    int status = LM_OK;
    for (int k = 0; k < 5 && !status; k++) {
        int uses = 0;
        if (*texts[k])
            status = lm_expr_uses_time(sim->config->names, texts[k], &uses);
        *timed[k] |= uses;
    }
    if (!status && b->kind == LM_ENTROPY)
        status = lm_sim_entropy_is_timed(sim->config, &s->timed_inflow);
    return status;
}

int lm_sim_update_backgrounds(struct lm_sim *sim)
{
    int any = 0, velocities = 0, status = LM_OK;
    for (int f = 0; f < sim->config->background_count; f++) {
        const struct lm_sim_background *s = &sim->background[f];
        any |= s->timed_velocity || s->timed_source || s->timed_inflow;
        velocities |= s->timed_velocity;
    }
    if (!any)
        return LM_OK;
    double *work = lm_sim_background_work(sim);
    if (!work)
        return LM_FAILED;
    for (int f = 0; f < sim->config->background_count && !status; f++)
        status = put_given(sim, f, 1, work);
    free(work);
    if (!status && velocities)
        status = lm_sim_take_flow_rates(sim, 0, NULL);
    if (status == LM_BAD_INPUT) /* the expressions were valid at the start */
        status = lm_fail_context(LM_FAILED, "step %lld", (long long)sim->step + 1);
    return status;
}

/* --- initial values --- */

int lm_setup_initial(const struct lm_config *c, int field, const uint8_t *mask, double *q)
{
    const struct lm_background_config *b = &c->background[field];
    const struct lm_grid g = lm_config_grid(c);
    if (lm_expr_fill_at(c->names, b->initial, &g, (struct lm_cell_offset){0, 0}, 0, q))
        return fail_expression(c, field, "initial");
    lm_clear_bodies(&g, mask, q);
    for (int j = 0; j < g.ny && b->kind == LM_NEUTRAL_GAS; j++)
        for (int i = 0; i < g.nx; i++) {
            if (!(q[lm_at(&g, i, j)] < 0))
                continue;
            lm_fail(LM_BAD_INPUT,
                    "\"%s\" is %.10g at x = %.10g, y = %.10g: the density of a neutral_gas cannot be negative",
                    b->initial, q[lm_at(&g, i, j)], (i + 0.5) * g.dx, (j + 0.5) * g.dy);
            return fail_expression(c, field, "initial");
        }
    const double own = lm_largest_of(&g, q);
    return lm_background_check_size(c, field, own, own);
}

static int start_field(struct lm_sim *sim, int field, double *q)
{
    const int status = lm_setup_initial(sim->config, field, sim->mask, q);
    return status ? status : lm_sim_put_field(sim, field, q);
}

/* `head` is NULL at the start. The entropy of the electrons starts later, because it follows from the density. */
static int begin_field(struct lm_sim *sim, int field, const char *path, const struct lm_checkpoint *head, double *work)
{
    int status = find_timed(sim, field);
    if (!status)
        status = put_given(sim, field, 0, work);
    if (status)
        return status;
    memset(work, 0, sim->grid.size * sizeof *work);
    if (head)
        return lm_sim_take_field(sim, field, path, &head->background[field], work);
    return field == lm_entropy_field(sim->config) ? LM_OK : start_field(sim, field, work);
}

static int make_cuts(struct lm_sim *sim)
{
    const struct lm_bodies bodies = {.mask = sim->mask, .obstacles = lm_sim_obstacles(sim)};
    const int status = lm_cuts_make(&sim->grid, &bodies, &sim->cuts);
    sim->crowding = lm_crowding(&sim->grid, sim->clearance, sim->cuts.open);
    return status;
}

int lm_sim_begin_backgrounds(struct lm_sim *sim, const char *path, const struct lm_checkpoint *head)
{
    const int count = sim->config->background_count;
    if (count == 0)
        return LM_OK;
    sim->clearance = malloc(sim->grid.size);
    double *work = lm_sim_background_work(sim);
    int status = work && sim->clearance ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the background fields");
    if (!status)
        status = lm_stencil_clearance(&sim->grid, sim->mask, sim->clearance);
    if (!status)
        status = make_cuts(sim);
    for (int f = 0; f < count && !status; f++)
        status = begin_field(sim, f, path, head, work);
    free(work);
    return status ? status : lm_sim_take_flow_rates(sim, 0, NULL);
}
