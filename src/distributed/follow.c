/* Ions that the run follows: rank 0 keeps them, and the owners of their cells follow them. */
#include <stdlib.h>
#include <string.h>

#include "distributed/parts.h"

static void *new_memory(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    if (!memory)
        lm_ranks_abort(LM_FAILED, "not enough memory for the ions that the run follows");
    return memory;
}

static int64_t cell_edge(const struct lm_distributed *d, int cell)
{
    return (int64_t)cell << (d->precision == LM_SINGLE ? 24 : 48);
}

static int cell_of(const struct lm_distributed *d, int64_t position)
{
    return (int)(position >> (d->precision == LM_SINGLE ? 24 : 48));
}

static int owner_of(const struct lm_distributed *d, const struct lm_tracked *ion)
{
    return lm_partition_owner(&d->partition, cell_of(d, ion->x), cell_of(d, ion->y));
}

/* Ions in the order of their owners, on rank 0. */
struct deal {
    uint64_t *count; /* of each rank; all ranks know it */
    uint64_t *place; /* where each ion is in `sorted` */
    struct lm_tracked *sorted;
};

static void sort_by_owner(const struct lm_distributed *d, uint64_t count, const struct lm_tracked *ions,
                          struct deal *deal)
{
    uint64_t *next = calloc((size_t)lm_rank_count() + 1, sizeof *next);
    if (!next)
        lm_ranks_abort(LM_FAILED, "not enough memory for the ions that the run follows");
    for (uint64_t k = 0; k < count; k++)
        deal->count[owner_of(d, &ions[k])]++;
    for (int rank = 1; rank < lm_rank_count(); rank++)
        next[rank] = next[rank - 1] + deal->count[rank - 1];
    for (uint64_t k = 0; k < count; k++) {
        deal->place[k] = next[owner_of(d, &ions[k])]++;
        deal->sorted[deal->place[k]] = ions[k];
    }
    free(next);
}

/* From rank 0 to the owners, or back. `own`: those of this rank, which on rank 0 are the first ones of `sorted`. */
static void carry(const struct deal *deal, int back, struct lm_tracked *own)
{
    struct lm_tracked *from = deal->sorted;
    const int rank = lm_rank();
    for (int other = 1; other < lm_rank_count() && rank == 0; other++) {
        from += deal->count[other - 1];
        const struct lm_message m = {other, deal->count[other] * sizeof *from, from};
        if (deal->count[other] > 0)
            lm_ranks_exchange(&m, !back, &m, back);
    }
    if (rank > 0 && deal->count[rank] > 0) {
        const struct lm_message m = {0, deal->count[rank] * sizeof *own, own};
        lm_ranks_exchange(&m, back, &m, !back);
    }
}

/* The own ions, whose positions are relative to the arrays meanwhile. */
static int follow_own(struct lm_distributed *d, int species, const struct lm_pass *pass, uint64_t count,
                      struct lm_tracked *ions)
{
    const struct lm_cells *own = &d->partition.own[lm_rank()], *here = &d->halo.grid.own;
    const struct lm_place *place = &d->halo.grid.place;
    for (uint64_t k = 0; k < count; k++) {
        ions[k].x += cell_edge(d, here->from_x - own->from_x);
        ions[k].y += cell_edge(d, here->from_y - own->from_y);
    }
    const int status = d->part->particles->follow(d->part, species, pass, count, ions);
    for (uint64_t k = 0; k < count; k++) {
        const int i = cell_of(d, ions[k].x), j = cell_of(d, ions[k].y);
        ions[k].x += cell_edge(d, lm_domain_x(place, i) - i);
        ions[k].y += cell_edge(d, lm_domain_y(place, j) - j);
    }
    return lm_agree(status);
}

int lm_follow_parts(struct lm_distributed *d, const struct lm_order *o, const struct lm_pass *pass,
                    struct lm_tracked *ions)
{
    const size_t ranks = (size_t)lm_rank_count(), all = lm_rank() == 0 ? o->number : 0;
    struct deal deal = {new_memory(ranks * sizeof *deal.count), new_memory(all * sizeof *deal.place),
                        new_memory(all * sizeof *deal.sorted)};
    memset(deal.count, 0, ranks * sizeof *deal.count);
    if (lm_rank() == 0)
        sort_by_owner(d, all, ions, &deal);
    lm_ranks_broadcast(deal.count, ranks * sizeof *deal.count);
    const uint64_t count = deal.count[lm_rank()];
    struct lm_tracked *own = lm_rank() == 0 ? deal.sorted : new_memory(count * sizeof *own);
    carry(&deal, 0, own);
    const int status = follow_own(d, o->species, pass, count, own);
    carry(&deal, 1, own);
    for (uint64_t k = 0; k < all && !status; k++)
        ions[k] = deal.sorted[deal.place[k]];
    if (lm_rank() > 0)
        free(own);
    free(deal.sorted);
    free(deal.place);
    free(deal.count);
    return status;
}
