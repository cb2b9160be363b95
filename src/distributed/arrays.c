/* Arrays of the domain, which rank 0 has, and arrays of the parts. */
#include <stdlib.h>
#include <string.h>

#include "distributed/parts.h"

static __attribute__((noreturn)) void no_memory(void)
{
    lm_ranks_abort(LM_FAILED, "not enough memory for an array of the domain");
}

/* The cell of the domain at index i of the arrays of a part, whose own cells begin at `own` there and at `domain_own`
 * in the domain: beyond a periodic side that of the opposite side; else as far beyond the wall as there are ghost
 * cells. */
static int domain_cell(int i, int own, int domain_own, int n, int periodic)
{
    const int x = i - own + domain_own;
    if (periodic)
        return ((x % n) + n) % n;
    return x < -LM_GHOST ? -LM_GHOST : x >= n + LM_GHOST ? n + LM_GHOST - 1 : x;
}

/* The array of a rank with all its ghost cells. */
static void cut_array(const struct lm_distributed *d, int rank, const double *whole, double *part)
{
    const struct lm_grid g = lm_partition_grid(&d->partition, &d->domain, rank);
    const struct lm_cells own = d->partition.own[rank];
    const int around_x = d->domain.sides.of[LM_X_MIN] == LM_PERIODIC,
              around_y = d->domain.sides.of[LM_Y_MIN] == LM_PERIODIC;
    for (int j = -LM_GHOST; j < g.ny + LM_GHOST; j++) {
        const int y = domain_cell(j, g.own.from_y, own.from_y, d->domain.ny, around_y);
        for (int i = -LM_GHOST; i < g.nx + LM_GHOST; i++)
            part[lm_at(&g, i, j)] =
                whole[lm_at(&d->domain, domain_cell(i, g.own.from_x, own.from_x, d->domain.nx, around_x), y)];
    }
}

void lm_scatter_array(struct lm_distributed *d, const double *whole, double *part)
{
    if (lm_rank() > 0) {
        const struct lm_message in = {0, d->halo.grid.size * sizeof *part, part};
        lm_ranks_exchange(NULL, 0, &in, 1);
        return;
    }
    cut_array(d, 0, whole, part);
    for (int rank = 1; rank < lm_rank_count(); rank++) {
        const struct lm_grid g = lm_partition_grid(&d->partition, &d->domain, rank);
        const struct lm_message out = {rank, g.size * sizeof *part, malloc(g.size * sizeof *part)};
        if (!out.data)
            no_memory();
        cut_array(d, rank, whole, out.data);
        lm_ranks_exchange(&out, 1, NULL, 0);
        free(out.data);
    }
}

static size_t cells_of(const struct lm_cells *c)
{
    return (size_t)(c->to_x - c->from_x) * (size_t)(c->to_y - c->from_y);
}

/* Memory that is kept from one array to the next, because new pages take longer than what is written to them. */
static double *borrow(struct lm_lent *l, size_t count)
{
    if (count > l->count) {
        free(l->memory);
        l->memory = malloc(count * sizeof *l->memory);
        l->count = count;
    }
    if (!l->memory)
        no_memory();
    return l->memory;
}

/* The part of another rank into the array of the domain. */
static void receive_part(struct lm_distributed *d, int rank, double *whole)
{
    const struct lm_grid g = lm_partition_grid(&d->partition, &d->domain, rank);
    const struct lm_cells cells = lm_own_and_beyond(&g, LM_GHOST, LM_GHOST);
    const size_t count = cells_of(&cells), width = (size_t)(cells.to_x - cells.from_x);
    const double *packed = borrow(&d->packed, count);
    const struct lm_message in = {rank, count * sizeof *packed, d->packed.memory};
    lm_ranks_exchange(NULL, 0, &in, 1);
    for (int j = cells.from_y; j < cells.to_y; j++, packed += width)
        memcpy(whole + lm_domain_element(&g, cells.from_x, j), packed, width * sizeof *packed);
}

/* The own cells, with the ghost cells beyond the domain: rank 0 copies them into the array of the domain, the others
 * send them. */
static void hand_over_part(struct lm_distributed *d, const double *part, double *whole)
{
    const struct lm_grid *g = &d->halo.grid;
    const struct lm_cells cells = lm_own_and_beyond(g, LM_GHOST, LM_GHOST);
    const size_t count = cells_of(&cells), width = (size_t)(cells.to_x - cells.from_x);
    double *packed = lm_rank() == 0 ? NULL : borrow(&d->packed, count);
    for (int j = cells.from_y; j < cells.to_y; j++) {
        double *to =
            packed ? packed + (size_t)(j - cells.from_y) * width : whole + lm_domain_element(g, cells.from_x, j);
        memcpy(to, part + lm_at(g, cells.from_x, j), width * sizeof *part);
    }
    const struct lm_message out = {0, count * sizeof *packed, packed};
    lm_ranks_exchange(&out, packed != NULL, NULL, 0);
}

int lm_get_array(struct lm_distributed *d, enum lm_array array)
{
    double *part = borrow(&d->array, d->halo.grid.size);
    const int status = lm_agree(d->part->ops->get(d->part, array, part));
    if (status)
        return status;
    hand_over_part(d, part, d->to);
    for (int rank = 1; rank < lm_rank_count() && lm_rank() == 0; rank++)
        receive_part(d, rank, d->to);
    if (lm_rank() == 0)
        lm_grid_wrap(&d->domain, d->to);
    return LM_OK;
}

static int cells_along(const struct lm_grid *g, int side)
{
    return side < LM_Y_MIN ? g->ny : g->nx;
}

void lm_share_side(struct lm_distributed *d, int side, size_t size, const void *whole, void **all)
{
    const size_t bytes = (size_t)cells_along(&d->domain, side) * size;
    *all = *all ? *all : malloc(bytes);
    if (!*all)
        no_memory();
    if (lm_rank() == 0)
        memcpy(*all, whole, bytes);
    lm_ranks_broadcast(*all, bytes);
}

void *lm_cut_side(const struct lm_distributed *d, int side, size_t size, const void *all)
{
    const struct lm_grid *g = &d->halo.grid;
    const int count = cells_along(g, side);
    char *part = malloc((size_t)count * size);
    if (!part)
        no_memory();
    for (int k = 0; k < count; k++) {
        const int at = side < LM_Y_MIN ? lm_domain_y(&g->place, k) : lm_domain_x(&g->place, k);
        memcpy(part + (size_t)k * size, (const char *)all + (size_t)at * size, size);
    }
    return part;
}
