/* What the steps cost each rank, as it is measured: its time without the waiting for others. Ranks differ in what their
 * cells hold (particles, collisions, bodies) and in how fast their machines are; the measured time has all of it. */
#include <math.h>

#include "distributed/parts.h"

enum { FEWEST_STEPS = 32 /* that are worth a judgement */ };

/* Seconds. A cost must be above 0, and the clocks of the host and of a GPU differ a little. */
static const double CLOCK_TICK = 1e-6;

/* What is kept of what has been counted, from step to step. The memory is long, because a GPU at the limit of its power
 * changes its clock by several percent for seconds. What moves with the plasma is the work, which is known exactly. */
static const double KEPT = 1023.0 / 1024;

/* The work of this rank in a step, in units of a particle. */
static double work_of(const struct lm_distributed *d)
{
    const struct lm_cells *own = &d->halo.grid.own;
    double work = LM_CELL_COST * (double)(own->to_x - own->from_x) * (own->to_y - own->from_y);
    for (int s = 0; s < d->whole.species_count; s++)
        work += (double)d->present[s];
    return work;
}

void lm_effort_add(struct lm_distributed *d, double clock, double waited)
{
    d->effort.seconds += lm_clock() - clock - (lm_ranks_traffic().seconds - waited);
}

void lm_effort_end_step(struct lm_distributed *d)
{
    struct lm_effort *e = &d->effort;
    e->seconds *= KEPT;
    e->work = KEPT * (e->work + work_of(d));
    e->steps++;
}

double lm_effort_rate(const struct lm_distributed *d)
{
    const struct lm_effort *e = &d->effort;
    return e->steps < FEWEST_STEPS ? 1 : fmax(e->seconds, CLOCK_TICK) / e->work;
}

static void merge(void *to, const void *from)
{
    struct lm_balance *a = to;
    const struct lm_balance *b = from;
    a->sum += b->sum;
    a->most = a->most > b->most ? a->most : b->most;
}

double lm_effort_price(const struct lm_distributed *d)
{
    const double rate = lm_effort_rate(d);
    struct lm_balance all = {rate, rate};
    lm_ranks_reduce(&all, sizeof all, merge);
    return rate * lm_rank_count() / all.sum;
}

struct lm_balance lm_effort_expected(const struct lm_distributed *d)
{
    const double cost = lm_effort_rate(d) * work_of(d);
    struct lm_balance all = {cost, cost};
    lm_ranks_reduce(&all, sizeof all, merge);
    return all;
}
