/* What each rank counts, added up on rank 0. */
#include <stdlib.h>

#include "distributed/parts.h"

enum { PIECE = 1 << 20 }; /* counters of a message */

static uint64_t *new_counters(size_t count)
{
    uint64_t *memory = malloc((count + 1) * sizeof *memory);
    if (!memory)
        lm_ranks_abort(LM_FAILED, "not enough memory for the counts of all ranks");
    return memory;
}

/* Adds the counts of the other ranks to those of rank 0. */
static void add_up(uint64_t *counts, size_t count)
{
    const int self = lm_rank();
    uint64_t *piece = self == 0 ? new_counters(PIECE) : NULL;
    for (int rank = 1; rank < lm_rank_count(); rank++)
        for (size_t first = 0; first < count && (self == 0 || self == rank); first += PIECE) {
            const size_t n = count - first < PIECE ? count - first : PIECE;
            const struct lm_message out = {0, n * sizeof *counts, counts + first}, in = {rank, out.size, piece};
            lm_ranks_exchange(&out, self > 0, &in, self == 0);
            for (size_t k = 0; k < n && self == 0; k++)
                counts[first + k] += piece[k];
        }
    free(piece);
}

int lm_count_parts(struct lm_distributed *d, int species, const struct lm_bins *bins, uint64_t *counts)
{
    const size_t count = lm_bins_counters(bins);
    uint64_t *own = lm_rank() == 0 ? counts : new_counters(count);
    const int status = lm_agree(d->part->particles->distribution(d->part, species, bins, own));
    if (!status)
        add_up(own, count);
    if (lm_rank() > 0)
        free(own);
    return status;
}

int lm_get_maps(struct lm_distributed *d, int species, uint64_t *counters)
{
    const size_t count = lm_map_size(&d->part->setup.maps);
    uint64_t *own = lm_rank() == 0 ? counters : new_counters(count);
    const int status = lm_agree(d->part->ops->get_map(d->part, species, own));
    if (!status)
        add_up(own, count);
    if (lm_rank() > 0)
        free(own);
    return status;
}
