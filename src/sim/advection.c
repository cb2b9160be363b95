/* Background fields: flows, sources and what flows in, from the configuration; substeps; quanta and ledgers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/advection.h"
#include "config/side_points.h"
#include "larmor/physics/fluid/advect.h"
#include "config/facts.h"
#include "sim/electrons.h"
#include "sim/setup.h"
#include "base/expr.h"

/* A sum over a large grid in units of the ledger fits 127 bits as long as the quanta are no larger than this many times
 * those units, as a power of two. */
enum { MOST_GROWTH = 40 };

/* WENO takes squares of differences. */
static const double LARGEST = 1e150;

double lm_sim_background_value(const struct lm_sim *sim, int field, lm_int128 sum)
{
    return lm_background_value(&sim->background[field].ledger, sum) * sim->grid.dx * sim->grid.dy;
}

double lm_sim_background_residual(const struct lm_sim *sim, int field)
{
    return (double)lm_background_residual(&sim->background[field].ledger);
}

/* The middle of the step to come. */
static double middle(const struct lm_sim *sim)
{
    return lm_sim_time(sim) + 0.5 * sim->config->run.dt;
}

static int fail_expression(const struct lm_config *c, int field, const char *key)
{
    return lm_fail_context(LM_BAD_INPUT, "%s: background.%s.%s", c->file, c->background[field].name, key);
}

/* NaN if any value is. */
static double largest_of(const struct lm_grid *g, const double *a)
{
    double largest = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const double size = fabs(a[lm_at(g, i, j)]);
            if (isnan(size))
                return size;
            largest = fmax(largest, size);
        }
    return largest;
}

static void clear_cells(const struct lm_grid *g, const uint8_t *mask, double *a)
{
    for (int j = 0; j < g->ny && mask; j++)
        for (int i = 0; i < g->nx; i++)
            if (mask[(size_t)j * (size_t)g->nx + (size_t)i])
                a[lm_at(g, i, j)] = 0;
}

static void clear_bodies(const struct lm_sim *sim, double *a)
{
    clear_cells(&sim->grid, sim->mask, a);
}

/* --- what is given --- */

enum { WORK_ARRAYS = 3 };

/* Through walls nothing flows. */
static void shut_walls(const struct lm_grid *g, const int sides[LM_SIDES], double *vx, double *vy)
{
    for (int side = 0; side < LM_SIDES; side++) {
        const int along_y = side < LM_Y_MIN, count = along_y ? g->ny : g->nx;
        const int last = side % 2 ? (along_y ? g->nx : g->ny) - 1 : -1;
        for (int k = 0; k < count && sides[side] == LM_BACKGROUND_WALL; k++)
            *(along_y ? &vx[lm_at(g, last, k)] : &vy[lm_at(g, k, last)]) = 0;
    }
}

int lm_setup_flow(const struct lm_config *c, int field, const uint8_t *room, double t, double *vx, double *vy,
                  double *work)
{
    static const struct lm_place x_face = {0.5, 0}, y_face = {0, 0.5}, corner = {0.5, 0.5};
    const struct lm_background_config *b = &c->background[field];
    const struct lm_grid g = lm_config_grid(c);
    if (b->stream[0]) {
        if (lm_expr_fill_at(c->constants, b->stream, &g, corner, t, work))
            return fail_expression(c, field, "stream");
        return lm_background_stream(&g, b->sides, room, work, vx, vy);
    }
    if (lm_expr_fill_at(c->constants, b->velocity[0], &g, x_face, t, vx))
        return fail_expression(c, field, "vx");
    if (lm_expr_fill_at(c->constants, b->velocity[1], &g, y_face, t, vy))
        return fail_expression(c, field, "vy");
    lm_grid_wrap(&g, vx);
    lm_grid_wrap(&g, vy);
    lm_background_shut(&g, room, vx, vy);
    shut_walls(&g, b->sides, vx, vy);
    return LM_OK;
}

static int put_velocity(struct lm_sim *sim, int field, double *work)
{
    struct lm_backend *b = sim->backend;
    double *vx = work, *vy = work + sim->grid.size;
    int status = lm_setup_flow(sim->config, field, sim->room, middle(sim), vx, vy, vy + sim->grid.size);
    if (!status)
        status = b->ops->put(b, LM_BACKGROUND_X + field, vx);
    return status ? status : b->ops->put(b, LM_BACKGROUND_Y + field, vy);
}

static int put_source(struct lm_sim *sim, int field, double *work)
{
    const struct lm_config *c = sim->config;
    if (lm_expr_fill_at(c->constants, c->background[field].source, &sim->grid, (struct lm_place){0, 0}, middle(sim),
                        work))
        return fail_expression(sim->config, field, "source");
    clear_bodies(sim, work);
    sim->background[field].largest_source = largest_of(&sim->grid, work) * c->run.dt;
    return sim->backend->ops->put(sim->backend, LM_BACKGROUND_SOURCE + field, work);
}

static int put_inflow(struct lm_sim *sim, int field)
{
    const struct lm_background_config *b = &sim->config->background[field];
    const size_t most = lm_side_most(&sim->grid);
    double *largest = &sim->background[field].largest_inflow;
    double *x = malloc(3 * most * sizeof *x), *y = x + most, *values = y + most;
    int status = x ? LM_OK : lm_fail(LM_FAILED, "not enough memory for what flows in");
    *largest = 0;
    for (int side = 0; side < LM_SIDES && !status; side++) {
        if (b->sides[side] != LM_BACKGROUND_INFLOW)
            continue;
        const int count = lm_side_points(&sim->grid, (enum lm_side)side, x, y);
        if (b->kind == LM_ENTROPY)
            status = lm_sim_entropy_inflow(sim->config, count, x, y, middle(sim), values);
        else if (lm_expr_at(sim->config->constants, b->inflow, (size_t)count, x, y, middle(sim), values))
            status = fail_expression(sim->config, field, "inflow");
        for (int k = 0; k < count && !status; k++)
            *largest = fmax(*largest, fabs(values[k]));
        if (!status)
            status = sim->backend->ops->put_background_side(sim->backend, field, side, values);
    }
    free(x);
    return status;
}

/* `again`: only what changes with time. */
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

/* Of the fields with a given flow, or of the others. */
static int takes_rates(struct lm_sim *sim, int carried)
{
    double rate[LM_MAX_BACKGROUNDS];
    int status = sim->backend->ops->flow_rates(sim->backend, rate);
    for (int f = 0; f < sim->config->background_count && !status; f++)
        if ((sim->config->background[f].flow != LM_FLOW_PRESCRIBED) == carried)
            sim->background[f].flow_rate = rate[f];
    return status;
}

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
            status = lm_expr_uses_time(sim->config->constants, texts[k], &uses);
        *timed[k] |= uses;
    }
    if (!status && b->kind == LM_ENTROPY)
        status = lm_sim_entropy_is_timed(sim->config, &s->timed_inflow);
    return status;
}

static double *work_arrays(const struct lm_sim *sim)
{
    double *work = calloc(WORK_ARRAYS * sim->grid.size, sizeof *work);
    if (!work)
        lm_fail(LM_FAILED, "not enough memory for the background fields");
    return work;
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
    double *work = work_arrays(sim);
    status = work ? LM_OK : LM_FAILED;
    for (int f = 0; f < sim->config->background_count && !status; f++)
        status = put_given(sim, f, 1, work);
    free(work);
    if (!status && velocities)
        status = takes_rates(sim, 0);
    if (status == LM_BAD_INPUT) /* it was sound at the start */
        status = lm_fail_context(LM_FAILED, "step %lld", (long long)sim->step + 1);
    return status;
}

static double largest_given(const struct lm_sim_background *s)
{
    return fmax(s->largest_inflow, s->largest_source);
}

/* --- the start --- */

/* The extremes over the cells of fluid. */
static void survey(struct lm_sim *sim, int field, const double *q)
{
    const struct lm_grid *g = &sim->grid;
    struct lm_sim_background *s = &sim->background[field];
    s->least = INFINITY;
    s->most = -INFINITY;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            if (!sim->mask || !sim->mask[(size_t)j * (size_t)g->nx + (size_t)i]) {
                s->least = fmin(s->least, q[lm_at(g, i, j)]);
                s->most = fmax(s->most, q[lm_at(g, i, j)]);
            }
}

/* `own`: of the field itself; `largest`: also of what it is given. */
static int check_size(const struct lm_config *c, int field, double own, double largest)
{
    const char *name = c->background[field].name;
    if (own > 0 && own < LM_BACKGROUND_LEAST)
        return lm_fail(LM_BAD_INPUT, "%s: [background.%s]: values up to %g only; they must reach %g, or all be 0",
                       c->file, name, own, LM_BACKGROUND_LEAST);
    if (!(own < LARGEST) || !(largest < LARGEST))
        return lm_fail(LM_BAD_INPUT, "%s: [background.%s]: values up to %g; they must stay below %g", c->file, name,
                       own < LARGEST ? largest : own, LARGEST);
    return LM_OK;
}

int lm_setup_initial(const struct lm_config *c, int field, const uint8_t *mask, double *q)
{
    const struct lm_background_config *b = &c->background[field];
    const struct lm_grid g = lm_config_grid(c);
    if (lm_expr_fill_at(c->constants, b->initial, &g, (struct lm_place){0, 0}, 0, q))
        return fail_expression(c, field, "initial");
    clear_cells(&g, mask, q);
    for (int j = 0; j < g.ny && b->kind == LM_NEUTRAL_GAS; j++)
        for (int i = 0; i < g.nx; i++) {
            if (!(q[lm_at(&g, i, j)] < 0))
                continue;
            lm_fail(LM_BAD_INPUT,
                    "\"%s\" is %.10g at x = %.10g, y = %.10g: the density of a neutral_gas cannot be negative",
                    b->initial, q[lm_at(&g, i, j)], (i + 0.5) * g.dx, (j + 0.5) * g.dy);
            return fail_expression(c, field, "initial");
        }
    const double own = largest_of(&g, q);
    return check_size(c, field, own, own);
}

int lm_sim_put_field(struct lm_sim *sim, int field, double *q)
{
    const struct lm_config *c = sim->config;
    struct lm_sim_background *s = &sim->background[field];
    struct lm_background_ledger *l = &s->ledger;
    clear_bodies(sim, q);
    const double own = largest_of(&sim->grid, q), largest = fmax(own, largest_given(s));
    int status = check_size(c, field, own, largest);
    if (status)
        return status;
    *l = (struct lm_background_ledger){.exponent = lm_background_quantum(largest)};
    l->quantum = l->exponent;
    lm_background_round(&sim->grid, q, l->quantum);
    lm_grid_wrap(&sim->grid, q);
    l->loaded = l->total = lm_background_sum(&sim->grid, q, l->exponent);
    survey(sim, field, q);
    return sim->backend->ops->put(sim->backend, LM_BACKGROUND + field, q);
}

static int start_field(struct lm_sim *sim, int field, double *q)
{
    const int status = lm_setup_initial(sim->config, field, sim->mask, q);
    return status ? status : lm_sim_put_field(sim, field, q);
}

/* What has been read must be what its ledger says. It may have grown beyond LM_QUANTA_BITS in the last step, with books
 * that close all the same: up to the whole numbers that doubles hold. */
static int take_field(struct lm_sim *sim, int field, const char *path, const struct lm_checkpoint_background *from,
                      double *q)
{
    const struct lm_grid *g = &sim->grid;
    const struct lm_background_ledger *l = &from->ledger;
    const double limit = 0x1p53;
    int status = sim->backend->ops->get(sim->backend, LM_BACKGROUND + field, q), sound = 1;
    for (int j = 0; j < g->ny && !status; j++)
        for (int i = 0; i < g->nx; i++) {
            const double quanta = ldexp(q[lm_at(g, i, j)], l->quantum);
            sound &= fabs(quanta) < limit && quanta == rint(quanta);
        }
    if (!status && (!sound || lm_background_sum(g, q, l->exponent) != l->total))
        return lm_fail(LM_BAD_INPUT, "%s: the background field %s is not what its ledger says; the file is damaged",
                       path, from->name);
    sim->background[field].ledger = *l;
    survey(sim, field, q);
    return status;
}

int lm_sim_begin_backgrounds(struct lm_sim *sim, const char *path, const struct lm_checkpoint *head)
{
    const int count = sim->config->background_count;
    if (count == 0)
        return LM_OK;
    sim->room = malloc(sim->grid.size);
    double *work = work_arrays(sim);
    int status = work && sim->room ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the background fields");
    if (!status)
        status = lm_background_room(&sim->grid, sim->mask, sim->room);
    for (int f = 0; f < count && !status; f++) {
        status = find_timed(sim, f);
        if (!status)
            status = put_given(sim, f, 0, work);
        memset(work, 0, sim->grid.size * sizeof *work);
        if (!status)
            status = head                                 ? take_field(sim, f, path, &head->background[f], work)
                     : f == lm_entropy_field(sim->config) ? LM_OK /* that follows from the density */
                                                          : start_field(sim, f, work);
    }
    free(work);
    return status ? status : takes_rates(sim, 0);
}

/* --- a step --- */

/* Fields that ions or electrons carry, the entropy among them. */
static int count_carried(const struct lm_sim *sim)
{
    int count = 0;
    for (int f = 0; f < sim->config->background_count; f++)
        count += sim->config->background[f].flow != LM_FLOW_PRESCRIBED;
    return count;
}

int lm_sim_flow(struct lm_sim *sim, int later)
{
    return count_carried(sim) > 0 ? sim->backend->ops->flow(sim->backend, later) : LM_OK;
}

static int find_substeps(const struct lm_sim *sim, int field, double dt, int64_t *substeps)
{
    const struct lm_background_config *b = &sim->config->background[field];
    const double rate =
        lm_background_rate(&sim->grid, &sim->backend->setup.background[field], sim->background[field].flow_rate);
    const double needed = ceil(dt * rate / b->courant);
    if (!(needed <= LM_MOST_SUBSTEPS))
        return lm_fail(LM_FAILED,
                       "step %lld (from t = %g) cannot be taken: the background field %s needs %.3g substeps (limit "
                       "%g). Likely cause: its velocity or diffusivity is too large for the cells and run.dt, or "
                       "its courant too small%s",
                       (long long)sim->step + 1, lm_sim_time(sim), b->name, needed, LM_MOST_SUBSTEPS,
                       b->flow == LM_FLOW_ELECTRON || b->flow == LM_FLOW_ENTROPY
                           ? ", or fields.density_floor so low that electrons are too fast"
                           : "");
    *substeps = needed > 1 ? (int64_t)needed : 1;
    return LM_OK;
}

/* Of a field and of what it is given for the next step. */
static double largest_next(const struct lm_sim_background *s)
{
    return fmax(fmax(fabs(s->least), fabs(s->most)), largest_given(s));
}

static int check_growth(const struct lm_sim *sim, int field)
{
    const double largest = largest_next(&sim->background[field]);
    if (largest < LARGEST)
        return LM_OK;
    return lm_fail(LM_FAILED,
                   "step %lld (from t = %g) cannot be taken: the background field %s or what it is given reaches "
                   "%g; it must stay below %g",
                   (long long)sim->step + 1, lm_sim_time(sim), sim->config->background[field].name, largest, LARGEST);
}

/* Larger quanta for a field that has grown, so that sums stay exact; what that changes is booked. */
static int take_larger_quanta(struct lm_sim *sim, int field)
{
    struct lm_sim_background *s = &sim->background[field];
    struct lm_background_ledger *l = &s->ledger;
    const double largest = largest_next(s);
    if (largest < ldexp(1, LM_QUANTA_BITS - 1 - l->quantum))
        return LM_OK;
    if (check_growth(sim, field))
        return LM_FAILED;
    const int quantum = lm_background_quantum(largest);
    if (l->exponent - quantum > MOST_GROWTH)
        lm_background_coarsen(l, quantum);
    double *q = work_arrays(sim);
    int status = q ? sim->backend->ops->get(sim->backend, LM_BACKGROUND + field, q) : LM_FAILED;
    if (!status) {
        lm_background_round(&sim->grid, q, quantum);
        const lm_int128 total = lm_background_sum(&sim->grid, q, l->exponent);
        l->rounded += total - l->total;
        l->total = total;
        l->quantum = quantum;
        lm_grid_wrap(&sim->grid, q);
        status = sim->backend->ops->put(sim->backend, LM_BACKGROUND + field, q);
    }
    free(q);
    return status;
}

int lm_sim_coarsen(struct lm_sim *sim)
{
    int status = LM_OK;
    for (int f = 0; f < sim->config->background_count && !status; f++)
        status = take_larger_quanta(sim, f);
    return status;
}

static int advect_by(struct lm_sim *sim, int field, double dt, int64_t *substeps)
{
    const int status = find_substeps(sim, field, dt, substeps);
    return status ? status
                  : sim->backend->ops->advect(sim->backend, field, sim->background[field].ledger.quantum,
                                              dt / (double)*substeps, (int)*substeps);
}

int lm_sim_advect_field(struct lm_sim *sim, int field, double dt)
{
    int64_t substeps = 0;
    int status = takes_rates(sim, 1);
    if (!status)
        status = advect_by(sim, field, dt, &substeps);
    sim->background[field].substeps += substeps;
    return status;
}

int lm_sim_advect(struct lm_sim *sim)
{
    const int entropy = lm_entropy_field(sim->config); /* that goes by itself, and takes the rates then */
    int status = count_carried(sim) > (entropy >= 0) ? takes_rates(sim, 1) : LM_OK;
    for (int f = 0; f < sim->config->background_count && !status; f++) {
        if (f == entropy)
            continue;
        status = advect_by(sim, f, sim->config->run.dt, &sim->background[f].substeps);
    }
    return status;
}

static int fail_book(const struct lm_sim *sim, int field)
{
    const struct lm_sim_background *s = &sim->background[field];
    const char *name = sim->config->background[field].name;
    if (fmax(fabs(s->least), fabs(s->most)) >= ldexp(1, LM_QUANTA_BITS - s->ledger.quantum))
        return lm_fail(LM_FAILED,
                       "step %lld: the background field %s has grown too fast in it (to between %g and %g): take a "
                       "smaller run.dt",
                       (long long)sim->step, name, s->least, s->most);
    return lm_fail(LM_FAILED,
                   "step %lld: the ledger of background %s does not close: it is off by %.10g quanta: an error of the "
                   "program",
                   (long long)sim->step, name, lm_sim_background_residual(sim, field));
}

int lm_sim_book_backgrounds(struct lm_sim *sim)
{
    lm_sim_book_heat(sim);
    for (int f = 0; f < sim->config->background_count; f++) {
        struct lm_sim_background *s = &sim->background[f];
        const struct lm_advected *a = &sim->control.background[f];
        s->least = a->least;
        s->most = a->most;
        if (!isfinite(s->least + s->most))
            continue; /* there is nothing to book; the next step is not taken */
        lm_background_book(&s->ledger, a);
        if (lm_background_residual(&s->ledger) != 0)
            return fail_book(sim, f);
    }
    return LM_OK;
}

int lm_sim_check_backgrounds(struct lm_sim *sim)
{
    int64_t unused;
    int status = LM_OK;
    for (int f = 0; f < sim->config->background_count && !status; f++) {
        const struct lm_sim_background *s = &sim->background[f];
        if (!isfinite(s->least + s->most))
            return lm_fail(LM_FAILED,
                           "step %lld (from t = %g) cannot be taken: the background field %s is not finite. Likely "
                           "cause: background.%s.courant too large for its flow and source",
                           (long long)sim->step + 1, lm_sim_time(sim), sim->config->background[f].name,
                           sim->config->background[f].name);
        status = check_growth(sim, f);
        if (!status && sim->config->background[f].flow == LM_FLOW_PRESCRIBED)
            status = find_substeps(sim, f, sim->config->run.dt, &unused);
    }
    return status;
}
