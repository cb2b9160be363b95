/* Items that rank 0 has and that concern single cells: the owners of the cells get them, change them and give them
 * back. */
#include <stdlib.h>
#include <string.h>

#include "distributed/parts.h"

static void *new_memory(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    if (!memory)
        lm_ranks_abort(LM_FAILED, "not enough memory for what rank 0 hands out");
    return memory;
}

/* Counts the items of each rank, and sorts a copy of them by rank. */
static void sort_by_owner(const struct lm_distributed *d, struct lm_deal *deal, const char *items)
{
    const size_t ranks = (size_t)lm_rank_count();
    uint64_t *next = new_memory(ranks * sizeof *next);
    deal->place = new_memory(deal->all * sizeof *deal->place);
    deal->sorted = new_memory(deal->all * deal->size);
    for (uint64_t k = 0; k < deal->all; k++)
        deal->count[deal->owner_of(d, items + k * deal->size)]++;
    next[0] = 0;
    for (size_t rank = 1; rank < ranks; rank++)
        next[rank] = next[rank - 1] + deal->count[rank - 1];
    for (uint64_t k = 0; k < deal->all; k++) {
        deal->place[k] = next[deal->owner_of(d, items + k * deal->size)]++;
        memcpy(deal->sorted + deal->place[k] * deal->size, items + k * deal->size, deal->size);
    }
    free(next);
}

/* From rank 0 to the owners, or back. The items of rank 0 are the first ones of `sorted`. */
static void carry(const struct lm_deal *deal, int back)
{
    char *from = deal->sorted;
    const int rank = lm_rank();
    for (int other = 1; other < lm_rank_count() && rank == 0; other++) {
        from += deal->count[other - 1] * deal->size;
        const struct lm_message m = {other, deal->count[other] * deal->size, from};
        if (deal->count[other] > 0)
            lm_ranks_exchange(&m, !back, &m, back);
    }
    const struct lm_message m = {0, deal->count[rank] * deal->size, deal->own};
    if (rank > 0 && deal->count[rank] > 0)
        lm_ranks_exchange(&m, back, &m, !back);
}

uint64_t lm_deal_out(const struct lm_distributed *d, struct lm_deal *deal, const void *items)
{
    const size_t ranks = (size_t)lm_rank_count();
    deal->count = new_memory(ranks * sizeof *deal->count);
    memset(deal->count, 0, ranks * sizeof *deal->count);
    if (lm_rank() == 0)
        sort_by_owner(d, deal, items);
    lm_ranks_broadcast(deal->count, ranks * sizeof *deal->count);
    deal->own = lm_rank() == 0 ? deal->sorted : new_memory(deal->count[lm_rank()] * deal->size);
    carry(deal, 0);
    return deal->count[lm_rank()];
}

void lm_deal_back(struct lm_deal *deal, void *items)
{
    carry(deal, 1);
    for (uint64_t k = 0; k < deal->all && lm_rank() == 0; k++)
        memcpy((char *)items + k * deal->size, deal->sorted + deal->place[k] * deal->size, deal->size);
    if (lm_rank() > 0)
        free(deal->own);
    free(deal->sorted);
    free(deal->place);
    free(deal->count);
}
