/* The setup of rank 0 on all ranks, and the part of the domain that each has. */
#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "backend/field_boundaries.h"
#include "distributed/parts.h"
#include "larmor/physics/numerics/cell_index.h"
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
    struct lm_obstacles *const obstacles = &s->bodies.obstacles;
    const size_t cells = obstacles->of ? s->grid.cells : 0;
    obstacles->of = share(d, obstacles->of, cells);
    obstacles->cut = share(d, obstacles->cut, cells * sizeof *obstacles->cut);
    obstacles->factor = share(d, obstacles->factor, cells * sizeof *obstacles->factor);
    s->bodies.node =
        share(d, s->bodies.node,
              s->bodies.count > 0 && s->bodies.node ? lm_body_node_count(&s->grid) * sizeof *s->bodies.node : 0);
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

/* What cells of the domain have, `size` bytes each, in the arrays of this rank, in place of what *to had. */
static void cut_cells(struct lm_distributed *d, const void *from, size_t size, void **to)
{
    const struct lm_grid *g = &d->halo.grid;
    free(*to);
    *to = malloc(g->cells * size);
    if (!*to)
        lm_ranks_abort(LM_FAILED, "not enough memory for the bodies");
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            memcpy((char *)*to + ((size_t)j * (size_t)g->nx + (size_t)i) * size,
                   (const char *)from + lm_domain_cell(&g->place, i, j) * size, size);
}

/* The bodies in the arrays of this rank. */
static void cut_bodies(struct lm_distributed *d, struct lm_bodies *b)
{
    const struct lm_obstacles whole = d->whole.bodies.obstacles;
    cut_cells(d, d->whole.bodies.mask, 1, &d->mask);
    b->mask = d->mask;
    if (!whole.of)
        return;
    cut_cells(d, whole.of, sizeof *whole.of, &d->obstacle);
    cut_cells(d, whole.cut, sizeof *whole.cut, &d->cut);
    cut_cells(d, whole.factor, sizeof *whole.factor, &d->factor);
    b->obstacles = (struct lm_obstacles){d->obstacle, d->cut, d->factor};
}

/* The node of the domain that index i of the arrays is along an axis, from -1 on. */
static int domain_node(const struct lm_distributed *d, int axis, int i)
{
    const int n = axis == 0 ? d->domain.nx : d->domain.ny, at = lm_domain_along(&d->halo.grid.place, axis, i);
    if (d->domain.sides.of[2 * axis] == LM_PERIODIC)
        return lm_wrap(at, n);
    return at < -1 ? -1 : at < n ? at : n - 1;
}

/* The nodes of E at bodies in the arrays of this rank. */
static void cut_nodes(struct lm_distributed *d)
{
    const struct lm_grid *g = &d->halo.grid;
    free(d->node);
    d->node = malloc(lm_body_node_count(g) * sizeof *d->node);
    if (!d->node)
        lm_ranks_abort(LM_FAILED, "not enough memory for the bodies");
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++)
            memcpy(d->node + lm_body_node_index(g, i, j),
                   d->whole.bodies.node + lm_body_node_index(&d->domain, domain_node(d, 0, i), domain_node(d, 1, j)),
                   3 * sizeof *d->node);
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

/* Between GPUs: a step sends little if it sends fewer bytes than this for the work of a particle. The links between the
 * GPUs of a machine take power as soon as they are used now and then. A GPU at its limit of power then has less for the
 * particles. Through the memory of the machine the data take longer, but the links sleep. Two H200 gained 2.5 % in this
 * way with 0.012 bytes, and 1.3 % with 0.022 (docs/performance/results.md, "Many GPUs"). */
static const double FEW_BYTES = 0.02;

/* Whether the ranks send little in a step: B once, and the sums of the species. */
static int sends_little(const struct lm_distributed *d)
{
    const struct lm_setup *s = &d->whole;
    const double numbers = lm_partition_held(&d->partition, &d->domain) * (3 + 4 * s->species_count);
    double work = 0;
    for (size_t k = 0; s->cost && k < lm_setup_tiles(s); k++)
        work += s->cost[k];
    return numbers * sizeof(double) < FEW_BYTES * work;
}

/* The setup of this rank's part. At the edge of a halo any kind of side will do, as long as nothing becomes infinite.
 */
static struct lm_setup setup_of_part(struct lm_distributed *d)
{
    struct lm_setup s = d->whole;
    s.grid = d->halo.grid;
    s.halo = &d->halo;
    s.spares_links = s.gpu_exchange == LM_EXCHANGE_NCCL_HOST || (s.gpu_exchange == LM_EXCHANGE_AUTO && sends_little(d));
    if (s.bodies.count > 0)
        cut_bodies(d, &s.bodies);
    if (s.bodies.count > 0 && s.bodies.node)
        cut_nodes(d);
    s.bodies.node = d->node;
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
    d->halo.has_bodies = d->whole.bodies.count > 0;
    d->halo.has_surfaces = lm_has_surfaces(&d->whole);
    for (int side = 0; side < LM_SIDES; side++)
        d->halo.radiates[side] = d->whole.field_sides[side] == LM_RADIATING;
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
    d->price = d->next_price = 1;
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
    free(d->obstacle);
    free(d->cut);
    free(d->factor);
    free(d->node);
}
