/* The setup of rank 0 on all ranks, and the part of the domain that each has. */
#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "backend/field_boundaries.h"
#include "distributed/parts.h"
#include "larmor/physics/fluid/background_sides.h"

/* Hands memory that the setup of rank 0 lends to all ranks. Returns this rank's copy; NULL where there is none. */
static void *share(struct lm_distributed *d, const void *from, size_t size)
{
    if (size == 0)
        return NULL;
    void *copy = malloc(size);
    if (!copy || d->memories == sizeof d->memory / sizeof *d->memory)
        lm_ranks_abort(LM_FAILED, "not enough memory for the setup of a rank");
    d->memory[d->memories++] = copy;
    if (lm_rank() == 0)
        memcpy(copy, from, size);
    lm_ranks_broadcast(copy, size);
    return copy;
}

/* Everything that the setup points to. */
static void share_setup(struct lm_distributed *d, struct lm_setup *s)
{
    struct lm_map_bins *m = &s->maps;
    lm_ranks_broadcast(s, sizeof *s);
    s->halo = NULL;
    s->cost = share(d, s->cost, s->cost ? lm_setup_tiles(s) * sizeof *s->cost : 0);
    s->driving = share(d, s->driving, s->driving ? sizeof *s->driving : 0);
    s->bodies.mask = share(d, s->bodies.mask, s->bodies.count > 0 ? s->grid.cells : 0);
    if (m->angles > 0) {
        m->cos2 = share(d, m->cos2, (size_t)m->angles * sizeof *m->cos2);
        m->energy = share(d, m->energy, (size_t)(m->energies + 1) * sizeof *m->energy);
        m->faces = share(d, m->faces, m->first[LM_SURFACES] * sizeof *m->faces);
    }
    for (int k = 0; k < s->species_count; k++) {
        struct lm_stopping *table = &s->species[k].stopping;
        const size_t size = lm_stopping_bytes(table);
        *table = lm_stopping_in_memory(*table, share(d, table->row, size));
    }
}

/* The cells of bodies in the arrays of this rank. */
static void cut_mask(struct lm_distributed *d)
{
    const struct lm_grid *g = &d->halo.grid;
    free(d->mask);
    d->mask = malloc(g->cells);
    if (!d->mask)
        lm_ranks_abort(LM_FAILED, "not enough memory for the bodies");
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            d->mask[(size_t)j * (size_t)g->nx + (size_t)i] = d->whole.bodies.mask[lm_domain_cell(&g->place, i, j)];
}

/* Whether a side of the arrays is the edge of a halo on an axis that has walls. */
static int is_edge(const struct lm_distributed *d, int side)
{
    const struct lm_grid *g = &d->halo.grid;
    const int end = side < LM_Y_MIN ? g->place.origin_x + g->nx : g->place.origin_y + g->ny,
              begin = side < LM_Y_MIN ? g->place.origin_x : g->place.origin_y,
              last = side < LM_Y_MIN ? d->domain.nx : d->domain.ny;
    return d->domain.sides.of[side] != LM_PERIODIC && (side % 2 ? end < last : begin > 0);
}

/* The setup of this rank's part. At the edge of a halo any kind of side will do, as long as nothing becomes infinite.
 */
static struct lm_setup setup_of_part(struct lm_distributed *d)
{
    struct lm_setup s = d->whole;
    s.grid = d->halo.grid;
    s.halo = &d->halo;
    if (s.bodies.count > 0)
        cut_mask(d);
    s.bodies.mask = d->mask;
    for (int side = 0; side < LM_SIDES; side++) {
        if (!is_edge(d, side))
            continue;
        const int periodic = s.grid.sides.of[side] == LM_PERIODIC;
        s.field_sides[side] =
            periodic || d->whole.field_sides[side] == LM_FIELDS_PERIODIC ? LM_FIELDS_PERIODIC : LM_OPEN;
        for (int f = 0; f < s.background_count; f++)
            s.background[f].sides[side] = periodic ? LM_BACKGROUND_PERIODIC : LM_BACKGROUND_OPEN;
    }
    return s;
}

/* Only rank 0 is asked to stop: the others ignore signals. */
static int agree_to_stop(int asked)
{
    lm_ranks_broadcast(&asked, sizeof asked);
    return asked;
}

int lm_divide(const struct lm_distributed *d, const double *cost, struct lm_partition *out)
{
    const int halo = lm_setup_halo(&d->whole, d->kind);
    return lm_partition_make(&d->domain, lm_rank_count(), d->whole.tile, halo, cost, out);
}

int lm_create_part(struct lm_distributed *d)
{
    int status = lm_halo_make(&d->partition, &d->domain, lm_rank(), &d->halo);
    d->halo.fields_have_walls = lm_has_field_walls(&d->whole);
    d->halo.smoothing = d->whole.smoothing;
    if (status)
        return status;
    const struct lm_setup part = setup_of_part(d);
    return lm_backend_create_here(d->kind, &part, &d->part);
}

int lm_distributed_begin(struct lm_distributed *d, int kind, const struct lm_setup *setup)
{
    struct lm_setup *whole = &d->whole;
    if (setup)
        *whole = *setup;
    share_setup(d, whole);
    lm_ranks_set_limit(whole->rank_limit);
    lm_stop_agree_by(agree_to_stop);
    d->domain = whole->grid;
    d->precision = whole->precision;
    d->kind = kind;
    int status = lm_agree(lm_backend_find(kind));
    if (!status)
        status = lm_agree(lm_divide(d, whole->cost, &d->partition));
    return status ? status : lm_agree(lm_create_part(d));
}

void lm_distributed_free(struct lm_distributed *d)
{
    lm_stop_agree_by(NULL);
    lm_backend_destroy(&d->part);
    lm_halo_free(&d->halo);
    lm_partition_free(&d->partition);
    for (int s = 0; s < LM_MAX_SPECIES; s++)
        free(d->arrivals[s].particles.x);
    lm_end_reading(d);
    for (int k = 0; k < LM_MAX_SPECIES * LM_SIDES; k++)
        free(d->inflow[k / LM_SIDES][k % LM_SIDES]);
    for (int k = 0; k < LM_MAX_BACKGROUNDS * LM_SIDES; k++)
        free(d->background[k / LM_SIDES][k % LM_SIDES]);
    for (int k = 0; k < d->memories; k++)
        free(d->memory[k]);
    free(d->mask);
}
