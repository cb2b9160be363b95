/* The domain is divided anew during a run. Each rank takes the state out of its backend, makes a backend for its new
 * part and puts the state in. The bits stay, because each value and each particle only moves. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "distributed/parts.h"

static __attribute__((noreturn)) void no_memory(void)
{
    lm_ranks_abort(LM_FAILED, "not enough memory to divide the domain anew");
}

/* --- what a backend holds --- */

/* The arrays of the state, and those that the simulation has put; all others are work. */
static int list_arrays(const struct lm_setup *s, int list[LM_ARRAYS])
{
    int n = 0;
    for (int a = LM_B; a < LM_FLOORED; a++)
        list[n++] = a;
    list[n++] = LM_ETA;
    if (s->local_eta)
        list[n++] = LM_GIVEN_ETA;
    for (int a = LM_MAGNET_J; a < LM_EXTERNAL_J + 3 && s->external_current; a++)
        list[n++] = a;
    for (int k = 0; k < s->species_count; k++)
        list[n++] = LM_SPECIES_N + k;
    for (int k = 0; k < s->friction_species; k++) {
        const int species = lm_friction_species(s, k);
        for (int a = 0; a < 4; a++) {
            list[n++] = LM_SPECIES_OLD + 4 * species + a;
            list[n++] = LM_SPECIES_NEW + 4 * species + a;
        }
        for (int d = 0; d < 3; d++)
            list[n++] = LM_FRICTION_E + 3 * species + d;
    }
    for (int d = 0; d < 3 && s->friction_species > 0; d++)
        list[n++] = LM_FRICTION_FORCE + d;
    for (int f = 0; f < s->background_count; f++) {
        list[n++] = LM_BACKGROUND + f;
        list[n++] = LM_BACKGROUND_X + f;
        list[n++] = LM_BACKGROUND_Y + f;
        if (s->background[f].has_source)
            list[n++] = LM_BACKGROUND_SOURCE + f;
    }
    for (int k = 0; k < LM_BORN_ARRAYS * s->ionisation_count; k++)
        list[n++] = LM_BORN + k % LM_BORN_ARRAYS * LM_MAX_IONISATIONS + k / LM_BORN_ARRAYS;
    return n;
}

/* The state of a rank outside of a backend. */
struct luggage {
    int arrays, list[LM_ARRAYS];
    struct lm_crate *crate;                     /* of the arrays, where they stay on the device; or NULL: */
    double *array[LM_ARRAYS], *strip[LM_SIDES]; /* NULL: no radiating side */
    uint64_t *map[LM_MAX_SPECIES], count[LM_MAX_SPECIES];
    struct lm_raw_particles particles[LM_MAX_SPECIES];
    struct lm_parcel *parcel[LM_MAX_SPECIES]; /* in place of particles, where they stay on the device */
};

static double *new_array(const struct lm_grid *g)
{
    double *a = calloc(g->size, sizeof *a);
    if (!a)
        no_memory();
    return a;
}

/* The state is between two backends: a failure loses it, and ends the run. */
static void must(int status)
{
    if (status)
        lm_ranks_abort(LM_FAILED, lm_error());
}

/* Arrays go to the ranks that will hold them at once. Returns 0 where the host has to do it. */
static int take_crate(struct lm_distributed *d, const struct lm_halo_move *move, struct luggage *l)
{
    if (!d->part->ops->depart)
        return 0;
    const int status = d->part->ops->depart(d->part, move, l->list, l->arrays, &l->crate);
    if (status == LM_STOPPED)
        return 0;
    must(status);
    return 1;
}

static void take_arrays(struct lm_distributed *d, const struct lm_halo_move *move, struct luggage *l)
{
    l->arrays = list_arrays(&d->whole, l->list);
    if (take_crate(d, move, l))
        return;
    double *before = new_array(&move->from);
    for (int k = 0; k < l->arrays; k++) {
        l->array[k] = new_array(&move->to);
        must(d->part->ops->get(d->part, (enum lm_array)l->list[k], before));
        lm_halo_move(move, before, l->array[k]);
    }
    free(before);
}

static void take_particles(struct lm_distributed *d, int s, struct luggage *l)
{
    must(lm_sort_parts(d, s));
    l->count[s] = d->present[s];
    l->particles[s] = lm_new_particles(d, l->count[s]);
    must(d->part->particles->get(d->part, s, 0, l->count[s], l->particles[s]));
    lm_to_domain(d, &l->particles[s], l->count[s]);
}

static void take_species(struct lm_distributed *d, int s, const struct lm_partition *next, struct luggage *l)
{
    const uint64_t maps = lm_map_size(&d->whole.maps);
    if (d->part->particles->depart)
        must(d->part->particles->depart(d->part, s, next, &l->parcel[s], &l->count[s]));
    else
        take_particles(d, s, l);
    if (maps == 0)
        return;
    l->map[s] = calloc(maps, sizeof **l->map);
    if (!l->map[s])
        no_memory();
    must(d->part->ops->get_map(d->part, s, l->map[s]));
}

static void put_arrays(struct lm_distributed *d, const struct lm_halo_move *move, const struct luggage *l)
{
    if (l->crate)
        must(d->part->ops->arrive(d->part, move, l->list, l->arrays, l->crate));
    for (int k = 0; k < l->arrays && !l->crate; k++)
        must(d->part->ops->put(d->part, (enum lm_array)l->list[k], l->array[k]));
}

static void put_particles(struct lm_distributed *d, int s, struct luggage *l)
{
    const struct lm_particle_ops *ops = d->part->particles;
    const uint64_t count = lm_exchange_particles(d, &l->particles[s], l->count[s]);
    must(ops->reserve(d->part, s, count));
    for (int phase = LM_COUNT_PARTICLES; phase <= LM_PLACE_PARTICLES; phase++)
        must(ops->put(d->part, s, (enum lm_put_phase)phase, count, l->particles[s]));
    l->count[s] = count;
}

static void put_species(struct lm_distributed *d, int s, struct luggage *l)
{
    const struct lm_particle_ops *ops = d->part->particles;
    if (l->parcel[s])
        must(ops->arrive(d->part, s, l->parcel[s]));
    else
        put_particles(d, s, l);
    d->present[s] = l->count[s];
    must(ops->maxima(d->part, s));
    if (l->map[s])
        must(d->part->ops->put_map(d->part, s, l->map[s]));
    lm_reserve_again(d, s);
}

static void put_inflow(struct lm_distributed *d, int s, int side)
{
    struct lm_inflow_cell *part = lm_cut_side(d, side, sizeof *part, d->inflow[s][side]);
    must(d->part->ops->put_inflow(d->part, s, (enum lm_side)side, part));
    free(part);
}

static void put_background_side(struct lm_distributed *d, int f, int side)
{
    double *part = lm_cut_side(d, side, sizeof *part, d->background[f][side]);
    must(d->part->ops->put_background_side(d->part, f, (enum lm_side)side, part));
    free(part);
}

static void put_sides(struct lm_distributed *d)
{
    for (int side = 0; side < LM_SIDES; side++) {
        for (int s = 0; s < d->whole.species_count; s++)
            if (d->inflow[s][side])
                put_inflow(d, s, side);
        for (int f = 0; f < d->whole.background_count; f++)
            if (d->background[f][side])
                put_background_side(d, f, side);
    }
}

static void drop(struct luggage *l)
{
    for (int k = 0; k < l->arrays; k++)
        free(l->array[k]);
    for (int side = 0; side < LM_SIDES; side++)
        free(l->strip[side]);
    for (int s = 0; s < LM_MAX_SPECIES; s++) {
        free(l->map[s]);
        free(l->particles[s].x);
    }
}

/* --- a new division --- */

static int is_same(const struct lm_partition *a, const struct lm_partition *b)
{
    return !memcmp(a->own, b->own, (size_t)a->ranks * sizeof *a->own);
}

static void move(struct lm_distributed *d, struct lm_partition *next)
{
    struct luggage l = {.arrays = 0};
    struct lm_halo_move by;
    must(lm_halo_move_make(&d->partition, next, &d->domain, lm_rank(), &by));
    for (int s = 0; s < d->whole.species_count; s++)
        take_species(d, s, next, &l);
    take_arrays(d, &by, &l);
    must(lm_take_strips(d, &by, l.strip));
    lm_backend_destroy(&d->part);
    lm_halo_free(&d->halo);
    lm_partition_free(&d->partition);
    d->partition = *next;
    must(lm_create_part(d));
    put_arrays(d, &by, &l);
    lm_halo_move_free(&by);
    must(lm_put_strips(d, l.strip));
    put_sides(d);
    if (d->whole.driving)
        must(d->part->ops->drive(d->part, d->driving_time, d->result.force));
    for (int s = 0; s < d->whole.species_count; s++)
        put_species(d, s, &l);
    drop(&l);
}

/* Whether there is memory to divide the domain: on GPUs for particles that stay there, because through the hosts a
 * division would take minutes; else on the hosts, where a rank takes its particles out of the backend, packs them, and
 * gets others after the backend has gone. The same on all ranks. */
static int has_memory(struct lm_distributed *d, const struct lm_partition *next)
{
    const struct lm_particle_ops *ops = d->part->particles;
    double bytes = 0;
    if (ops->may_depart)
        return ops->may_depart(d->part, next);
    for (int s = 0; s < d->whole.species_count; s++)
        bytes += 2.0 * (double)lm_particle_bytes(d, d->present[s]);
    return !lm_ranks_largest(lm_memory_require(bytes * lm_ranks_here(), LM_MEMORY_RESERVE, "a new division") != LM_OK);
}

int lm_rebalance(struct lm_distributed *d, const double *cost)
{
    struct lm_partition next;
    const int status = lm_agree(lm_divide(d, cost, &next));
    if (status)
        return status;
    const int stays = is_same(&d->partition, &next), fits = stays || has_memory(d, &next);
    if (fits)
        d->price = d->next_price;
    if (stays || !fits)
        lm_partition_free(&next);
    else
        move(d, &next);
    return fits ? LM_OK : LM_STOPPED;
}

/* --- the cost --- */

/* Adds the cells that this rank owns: the cells themselves, and the particles by their density, each with its price
 * here. */
static void add_own(struct lm_distributed *d, double *cost)
{
    const struct lm_grid *g = &d->halo.grid;
    const int tile = d->whole.tile, columns = (d->domain.nx + tile - 1) / tile;
    double *n = new_array(g);
    for (int s = -1; s < d->whole.species_count; s++) {
        if (s >= 0 && d->part->ops->get(d->part, (enum lm_array)(LM_SPECIES_N + s), n))
            lm_ranks_abort(LM_FAILED, lm_error());
        const double each = s >= 0 ? 1 / d->whole.species[s].weight : 0;
        for (int j = g->own.from_y; j < g->own.to_y; j++)
            for (int i = g->own.from_x; i < g->own.to_x; i++)
                cost[lm_domain_y(&g->place, j) / tile * columns + lm_domain_x(&g->place, i) / tile] +=
                    d->next_price * (s >= 0 ? n[lm_at(g, i, j)] * each : LM_CELL_COST);
    }
    free(n);
}

void lm_measure_cost(struct lm_distributed *d, double *cost)
{
    const size_t tiles = lm_setup_tiles(&d->whole), bytes = tiles * sizeof(double);
    double *own = calloc(tiles, sizeof *own);
    if (!own)
        no_memory();
    d->next_price = lm_balance_next_price(d->price, lm_effort_price(d));
    add_own(d, own);
    if (lm_rank() > 0) {
        const struct lm_message out = {0, bytes, own};
        lm_ranks_exchange(&out, 1, NULL, 0);
    } else {
        memcpy(cost, own, bytes);
    }
    for (int rank = 1; rank < lm_rank_count() && lm_rank() == 0; rank++) {
        const struct lm_message in = {rank, bytes, own};
        lm_ranks_exchange(NULL, 0, &in, 1);
        for (size_t k = 0; k < tiles; k++)
            cost[k] += own[k];
    }
    free(own);
}
