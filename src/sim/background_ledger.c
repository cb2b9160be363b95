/* Ledgers of the background fields: the start, larger quanta for fields that have grown, and the books of each step. */
#include <math.h>
#include <stdlib.h>

#include "larmor/physics/fluid/advect.h"
#include "sim/background_parts.h"
#include "config/facts.h"
#include "sim/electrons.h"

/* The quanta of a field are at most 2^MOST_GROWTH times the units of its ledger. A sum over a large grid in these units
 * then fits 127 bits. */
enum { MOST_GROWTH = 40 };

double lm_sim_background_value(const struct lm_sim *sim, int field, lm_int128 sum)
{
    return lm_background_value(&sim->background[field].ledger, sum) * sim->grid.dx * sim->grid.dy;
}

double lm_sim_background_residual(const struct lm_sim *sim, int field)
{
    return (double)lm_background_residual(&sim->background[field].ledger);
}

double lm_largest_of(const struct lm_grid *g, const double *a)
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

void lm_clear_bodies(const struct lm_grid *g, const uint8_t *mask, double *a)
{
    for (int j = 0; j < g->ny && mask; j++)
        for (int i = 0; i < g->nx; i++)
            if (mask[(size_t)j * (size_t)g->nx + (size_t)i])
                a[lm_at(g, i, j)] = 0;
}

/* --- the start --- */

void lm_sim_survey_background(struct lm_sim *sim, int field, const double *q)
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

int lm_background_check_size(const struct lm_config *c, int field, double own, double largest)
{
    const char *name = c->background[field].name;
    if (own > 0 && own < LM_BACKGROUND_LEAST)
        return lm_fail(LM_BAD_INPUT, "%s: [background.%s]: values up to %g only; they must reach %g, or all be 0",
                       c->file, name, own, LM_BACKGROUND_LEAST);
    if (!(own < LM_BACKGROUND_LARGEST) || !(largest < LM_BACKGROUND_LARGEST))
        return lm_fail(LM_BAD_INPUT, "%s: [background.%s]: values up to %g; they must stay below %g", c->file, name,
                       own < LM_BACKGROUND_LARGEST ? largest : own, LM_BACKGROUND_LARGEST);
    return LM_OK;
}

int lm_sim_put_field(struct lm_sim *sim, int field, double *q)
{
    const struct lm_config *c = sim->config;
    struct lm_sim_background *s = &sim->background[field];
    struct lm_background_ledger *l = &s->ledger;
    lm_clear_bodies(&sim->grid, sim->mask, q);
    const double own = lm_largest_of(&sim->grid, q), largest = fmax(own, lm_largest_given(s));
    int status = lm_background_check_size(c, field, own, largest);
    if (status)
        return status;
    *l = (struct lm_background_ledger){.exponent = lm_background_quantum(largest)};
    l->quantum = l->exponent;
    lm_background_round(&sim->grid, sim->cuts.open, q, l->quantum);
    lm_grid_wrap(&sim->grid, q);
    l->loaded = l->total = lm_background_sum(&sim->grid, sim->cuts.open, q, l->quantum, l->exponent);
    lm_sim_survey_background(sim, field, q);
    return sim->backend->ops->put(sim->backend, LM_BACKGROUND + field, q);
}

/* A field may have grown beyond LM_QUANTA_BITS in the last step, and its ledger closes all the same, up to the whole
 * numbers that doubles hold. */
int lm_sim_take_field(struct lm_sim *sim, int field, const char *path, const struct lm_checkpoint_background *from,
                      double *q)
{
    const struct lm_grid *g = &sim->grid;
    const struct lm_background_ledger *l = &from->ledger;
    const int status = sim->backend->ops->get(sim->backend, LM_BACKGROUND + field, q);
    if (status)
        return status;
    if (!lm_background_is_whole(g, sim->cuts.open, q, l->quantum) ||
        lm_background_sum(g, sim->cuts.open, q, l->quantum, l->exponent) != l->total)
        return lm_fail(LM_BAD_INPUT, "%s: the background field %s is not what its ledger says; the file is damaged",
                       path, from->name);
    sim->background[field].ledger = *l;
    lm_sim_survey_background(sim, field, q);
    return LM_OK;
}

/* --- larger quanta --- */

int lm_sim_check_growth(const struct lm_sim *sim, int field)
{
    const double largest = lm_largest_next(&sim->background[field]);
    if (largest < LM_BACKGROUND_LARGEST)
        return LM_OK;
    return lm_fail(LM_FAILED,
                   "step %lld (from t = %g) cannot be taken: the background field %s or what it is given reaches "
                   "%g; it must stay below %g",
                   (long long)sim->step + 1, lm_sim_time(sim), sim->config->background[field].name, largest,
                   LM_BACKGROUND_LARGEST);
}

/* Gives a field that has grown larger quanta, so that sums stay exact. The change of the field by the rounding is
 * booked under `rounded`. */
static int take_larger_quanta(struct lm_sim *sim, int field)
{
    struct lm_background_ledger *l = &sim->background[field].ledger;
    const double largest = lm_largest_next(&sim->background[field]);
    if (largest < ldexp(1, LM_QUANTA_BITS - 1 - l->quantum))
        return LM_OK;
    if (lm_sim_check_growth(sim, field))
        return LM_FAILED;
    const int quantum = lm_background_quantum(largest);
    if (l->exponent - quantum > MOST_GROWTH)
        lm_background_coarsen(l, quantum);
    double *q = lm_sim_background_work(sim);
    int status = q ? sim->backend->ops->get(sim->backend, LM_BACKGROUND + field, q) : LM_FAILED;
    if (!status) {
        lm_background_round(&sim->grid, sim->cuts.open, q, quantum);
        const lm_int128 total = lm_background_sum(&sim->grid, sim->cuts.open, q, quantum, l->exponent);
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

/* --- a step --- */

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
            continue; /* nothing can be booked; lm_sim_check_backgrounds refuses the next step */
        lm_background_book(&s->ledger, a);
        if (lm_background_residual(&s->ledger) != 0)
            return fail_book(sim, f);
    }
    return LM_OK;
}
