/* Moments of the velocity: each rank sums over its particles, the ranks add up what they have in the same cell, and
 * rank 0 gets the own cells of all. */
#include <stdlib.h>
#include <string.h>

#include "distributed/parts.h"

static int64_t *new_numbers(size_t count)
{
    int64_t *n = malloc((count + 1) * sizeof *n);
    if (!n)
        lm_ranks_abort(LM_FAILED, "not enough memory for moments of the velocity");
    return n;
}

static size_t width_of(const struct lm_cells *c)
{
    return (size_t)(c->to_x - c->from_x);
}

static size_t cells_of(const struct lm_cells *c)
{
    return width_of(c) * (size_t)(c->to_y - c->from_y);
}

/* Copies the own cells of arrays [count][g->ny][g->nx] into a row. */
static void pack_own(const struct lm_grid *g, int count, const int64_t *arrays, int64_t *to)
{
    const size_t width = width_of(&g->own);
    for (int k = 0; k < count; k++)
        for (int j = g->own.from_y; j < g->own.to_y; j++, to += width)
            memcpy(to, arrays + ((size_t)k * (size_t)g->ny + (size_t)j) * (size_t)g->nx + g->own.from_x,
                   width * sizeof *to);
}

/* Copies such a row of a rank to the cells that the rank owns, in arrays of the domain. */
static void unpack_part(const struct lm_distributed *d, int rank, int count, const int64_t *from, int64_t *whole)
{
    const struct lm_cells *own = &d->partition.own[rank];
    const size_t width = width_of(own);
    for (int k = 0; k < count; k++)
        for (int j = own->from_y; j < own->to_y; j++, from += width)
            memcpy(whole + ((size_t)k * (size_t)d->domain.ny + (size_t)j) * (size_t)d->domain.nx + own->from_x, from,
                   width * sizeof *from);
}

static void gather(const struct lm_distributed *d, int count, int64_t *packed, int64_t *whole)
{
    if (lm_rank() > 0) {
        const struct lm_message out = {0, (size_t)count * cells_of(&d->halo.grid.own) * sizeof *packed, packed};
        lm_ranks_exchange(&out, 1, NULL, 0);
        return;
    }
    unpack_part(d, 0, count, packed, whole);
    for (int rank = 1; rank < lm_rank_count(); rank++) {
        const size_t numbers = (size_t)count * cells_of(&d->partition.own[rank]);
        const struct lm_message in = {rank, numbers * sizeof *packed, new_numbers(numbers)};
        lm_ranks_exchange(NULL, 0, &in, 1);
        unpack_part(d, rank, count, in.data, whole);
        free(in.data);
    }
}

int lm_gather_moments(struct lm_distributed *d, int species, const struct lm_moment_list *list, int64_t *whole)
{
    const struct lm_grid *g = &d->halo.grid;
    int64_t *part = new_numbers((size_t)list->count * g->cells),
            *packed = new_numbers((size_t)list->count * cells_of(&g->own)), *arrays[LM_MOMENT_COUNT];
    const int status = lm_agree(d->part->particles->moments(d->part, species, list, part));
    for (int k = 0; k < list->count; k++)
        arrays[k] = part + (size_t)k * g->cells;
    if (!status) {
        lm_halo_add(&d->halo, arrays, list->count, 1);
        pack_own(g, list->count, part, packed);
        gather(d, list->count, packed, whole);
    }
    free(part);
    free(packed);
    return status;
}
