/* Rank 0: when the domain is divided anew during a run. */
#include <math.h>
#include <stdlib.h>

#include "distributed/distributed.h"
#include "distributed/parts.h"
#include "larmor/physics/numerics/hash.h"

static struct lm_distributed *of(struct lm_backend *b)
{
    return (struct lm_distributed *)b;
}

static int disturbed; /* lm_distributed_disturb */

void lm_distributed_disturb(int always)
{
    disturbed = always;
}

static int divide_anew(struct lm_backend *b, const double *cost)
{
    of(b)->from = cost;
    return lm_issue(b, (struct lm_order){.kind = LM_ORDER_REBALANCE});
}

/* The work of the rank that has most, over the mean, in a division by these costs. */
static double imbalance_of(const struct lm_distributed *d, const double *cost)
{
    struct lm_partition p;
    double most = 0;
    if (lm_divide(d, cost, &p))
        return HUGE_VAL;
    for (int r = 0; r < p.ranks; r++)
        most = fmax(most, lm_partition_share(&p, r, d->whole.tile, cost));
    lm_partition_free(&p);
    return most * lm_rank_count();
}

/* Costs that change from sort to sort. */
static void draw_costs(const struct lm_distributed *d, double *cost)
{
    static uint64_t sorts;
    sorts++;
    for (size_t k = 0; k < lm_setup_tiles(&d->whole); k++)
        cost[k] = 1 + (double)(lm_mix(sorts ^ lm_mix(k)) >> 56);
}

/* The cost of the tiles, as it is measured or, for tests, drawn. */
static int find_costs(struct lm_backend *b, double *cost)
{
    of(b)->to = cost;
    if (!disturbed)
        return lm_issue(b, (struct lm_order){.kind = LM_ORDER_COST});
    draw_costs(of(b), cost);
    return LM_OK;
}

/* Divides the domain anew by the cost of its tiles, if that is better. */
static int balance(struct lm_backend *b, double imbalance)
{
    struct lm_distributed *d = of(b);
    const double begin = lm_clock();
    double *cost = malloc(lm_setup_tiles(&d->whole) * sizeof *cost);
    int status = cost ? find_costs(b, cost) : lm_fail(LM_FAILED, "not enough memory");
    const int divides = !status && (disturbed || lm_balance_is_better(imbalance_of(d, cost), imbalance));
    if (divides)
        status = divide_anew(b, cost);
    if (status == LM_STOPPED)
        lm_balance_note_no_memory(&d->balanced, lm_clock());
    else if (divides)
        lm_balance_note_division(&d->balanced, begin, lm_clock(), imbalance, d->effort.steps);
    else
        lm_balance_note_refusal(&d->balanced, lm_clock());
    free(cost);
    return status == LM_STOPPED ? LM_OK : status; /* the division stays */
}

static double imbalance_now(const struct lm_distributed *d)
{
    return d->balance.most * lm_rank_count() / d->balance.sum;
}

int lm_balance_if_due(struct lm_backend *b)
{
    struct lm_distributed *d = of(b);
    const double imbalance = imbalance_now(d);
    const int due = lm_balance_is_due(&d->balanced, lm_clock(), imbalance, d->effort.steps);
    return disturbed || (due && d->whole.rebalance) ? balance(b, imbalance) : LM_OK;
}

int lm_distributed_measure(struct lm_backend *b, double *imbalance)
{
    const int status = lm_issue(b, (struct lm_order){.kind = LM_ORDER_EFFORT});
    *imbalance = imbalance_now(of(b));
    return status;
}

int lm_distributed_rebalance(struct lm_backend *b)
{
    return balance(b, HUGE_VAL);
}

int lm_distributed_divisions(struct lm_backend *b, double *seconds)
{
    *seconds = of(b)->balanced.seconds;
    return of(b)->balanced.divisions;
}
