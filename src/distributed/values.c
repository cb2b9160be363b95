/* Values of arrays at single cells: rank 0 asks the owners of the cells. */
#include "distributed/parts.h"

static int owner_of(const struct lm_distributed *d, const void *item)
{
    const struct lm_array_value *value = item;
    return lm_partition_owner(&d->partition, value->i, value->j);
}

int lm_values_of_parts(struct lm_distributed *d, const struct lm_order *o, struct lm_array_value *values)
{
    const struct lm_cells *here = &d->halo.grid.own, *own = &d->partition.own[lm_rank()];
    struct lm_deal deal = {.all = lm_rank() == 0 ? o->number : 0, .size = sizeof *values, .owner_of = owner_of};
    const uint64_t count = lm_deal_out(d, &deal, values);
    struct lm_array_value *mine = deal.own;
    for (uint64_t k = 0; k < count; k++) {
        mine[k].i += here->from_x - own->from_x;
        mine[k].j += here->from_y - own->from_y;
    }
    const int status = lm_agree(d->part->ops->values(d->part, count, mine));
    for (uint64_t k = 0; k < count; k++) {
        mine[k].i -= here->from_x - own->from_x;
        mine[k].j -= here->from_y - own->from_y;
    }
    lm_deal_back(&deal, values);
    return status;
}
