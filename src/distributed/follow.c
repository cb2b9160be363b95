/* Ions that the run follows: rank 0 keeps them, and the owners of their cells follow them. */
#include "distributed/parts.h"

static int fraction_bits(const struct lm_distributed *d)
{
    return d->precision == LM_SINGLE ? 24 : 48;
}

static int64_t cell_edge(const struct lm_distributed *d, int cell)
{
    return (int64_t)cell * ((int64_t)1 << fraction_bits(d));
}

static int cell_of(const struct lm_distributed *d, int64_t position)
{
    return (int)(position >> fraction_bits(d));
}

static int owner_of(const struct lm_distributed *d, const void *item)
{
    const struct lm_tracked *ion = item;
    return lm_partition_owner(&d->partition, cell_of(d, ion->x), cell_of(d, ion->y));
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
    struct lm_deal deal = {.all = lm_rank() == 0 ? o->number : 0, .size = sizeof *ions, .owner_of = owner_of};
    const uint64_t count = lm_deal_out(d, &deal, ions);
    const int status = follow_own(d, o->species, pass, count, deal.own);
    lm_deal_back(&deal, ions);
    return status;
}
