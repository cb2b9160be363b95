/* CPU backend: collisions of particles with a medium, in a loop of their own before the pass, which also does the first
 * part of the push. A thread processes a tile
 * with the fields and the gas around it in windows. It adds up what the particles of the tile transfer to the gas cell
 * by cell, and adds these sums to the arrays that the threads share when the tile is done. The body for one particle is
 * in larmor/physics/collisions/collide_particle.h. */
#include "cpu/particles_gather.h"
#include "larmor/physics/collisions/collide_particle.h"

enum { TILE_CELLS_MAX = 16 * 16 };

/* The work of a thread on one species. */
struct collision_work {
    struct lm_cpu *c;
    const struct lm_collisions *collisions;
    struct arrays a;
    struct lm_step step;
    struct lm_tiling tiling;
    struct lm_tally_units units;
    int species;
    int has_windows; /* the particles are those of one tile in order, and the windows are those of this tile */
    struct lm_node_window fields;
    struct lm_gas_window gas;
    int64_t transfer[LM_GAS_SUMS][TILE_CELLS_MAX]; /* to the gas in the cells of the tile */
    struct lm_tally lost[LM_CHANNELS], exchanged, to_gas;
};

/* Adds what the gas receives in cell (i, j): to the sums of the tile if the cell lies in it. */
static void add_to_gas(struct collision_work *w, int tile, int i, int j, const struct lm_tally *t)
{
    const int size = w->tiling.size, left = tile % w->tiling.nx * size, low = tile / w->tiling.nx * size;
    const int64_t part[LM_GAS_SUMS] = {t->number, t->v[0], t->v[1], t->v[2], t->v2};
    const int a = i - left, b = j - low;
    const int is_in_tile = w->has_windows && a >= 0 && a < size && b >= 0 && b < size;
    const size_t cell = (size_t)j * (size_t)w->tiling.cells_x + (size_t)i;
    for (int k = 0; k < LM_GAS_SUMS; k++)
        if (is_in_tile)
            w->transfer[k][b * size + a] += part[k];
        else if (part[k])
#pragma omp atomic
            w->c->gas_transfer[k][cell] += part[k];
}

/* Adds the sums of a tile to the shared arrays and clears them. */
static void flush_gas_transfer(struct collision_work *w, int tile)
{
    const struct lm_tiling *t = &w->tiling;
    const int left = tile % t->nx * t->size, low = tile / t->nx * t->size;
    for (int k = 0; k < LM_GAS_SUMS; k++)
        for (int b = 0; b < t->size && low + b < t->cells_y; b++)
            for (int a = 0; a < t->size && left + a < t->cells_x; a++) {
                const size_t cell = (size_t)(low + b) * (size_t)t->cells_x + (size_t)(left + a);
#pragma omp atomic
                w->c->gas_transfer[k][cell] += w->transfer[k][b * t->size + a];
            }
    memset(w->transfer, 0, sizeof w->transfer);
}

struct gas_store {
    float density[AREA_MAX];
    lm_real velocity[2 * AREA_MAX];
};

static struct lm_gas_window fill_gas_window(const struct lm_cpu *c, const struct footprint *f, int gas,
                                            struct gas_store *store)
{
    const int width = f->width, area = width * width, origin = LM_WINDOW_LOW * width + LM_WINDOW_LOW;
    const double *n = gas_array(c, gas, 0), *x = gas_array(c, gas, 1), *y = gas_array(c, gas, 2);
    for (int j = 0; j < width; j++)
        for (int i = 0; i < width; i++) {
            const size_t from = lm_at(&c->base.setup.grid, f->column[i], f->row[j]);
            const int k = j * width + i;
            store->density[k] = (float)n[from];
            store->velocity[k] = (lm_real)x[from];
            store->velocity[area + k] = (lm_real)y[from];
        }
    return (struct lm_gas_window){store->density + origin, store->velocity + origin, width, area};
}

/* --- one particle --- */

/* A particle in the windows of the tile. */
static struct lm_collision_outcome collide_near(const struct collision_work *w, uint32_t cell, struct lm_particle *p,
                                                struct lm_collision_tallies *tallies)
{
    struct lm_collision_site site = {.gas = w->gas, .kick = w->step.kick, .x = p->x, .y = p->y, .cell = cell};
    lm_node_fields felt;
    lm_gather_nodes(order_of(w->c), &w->fields, p->x, p->y, felt);
    site.fields = lm_local_fields_of(felt);
    return lm_collide_and_tally(order_of(w->c), w->collisions, &w->units, &site, p, tallies);
}

/* A particle too far from the tile for its windows: the fields and the gas are gathered from the whole grid. */
static struct lm_collision_outcome collide_stray(const struct collision_work *w, int tile, uint32_t cell,
                                                 struct lm_particle *p, struct lm_collision_tallies *tallies)
{
    struct lm_stray s;
    struct lm_stray_gas store;
    const struct lm_window fields = stray_window(w->c, w->species, tile, p, &s);
    struct lm_collision_site site = {.kick = w->step.kick, .x = s.p.x, .y = s.p.y, .cell = cell};
    const int gas = w->collisions->gas;
    if (gas >= 0) {
        const double *const field[LM_GAS_FIELDS] = {gas_array(w->c, gas, 0), gas_array(w->c, gas, 1),
                                                    gas_array(w->c, gas, 2)};
        site.gas = lm_stray_gas(&store, &s, field, w->c->base.setup.grid.stride);
    }
    lm_gather_fields(order_of(w->c), &fields, site.x, site.y, site.fields.e, site.fields.b);
    return lm_collide_and_tally(order_of(w->c), w->collisions, &w->units, &site, p, tallies);
}

static void remove_particle(struct collision_work *w, size_t k, int channel, const struct lm_particle *p)
{
    const struct arrays a = w->a;
    const struct lm_tally lost = lm_tally_of(&w->units, (double)p->vx, (double)p->vy, (double)p->vz);
    lm_tally_add(&w->lost[channel], &lost);
    a.x[k] = LM_GONE;
    a.vx[k] = a.vy[k] = a.vz[k] = 0;
}

/* Particle k, whose home is the tile. */
static void collide(struct collision_work *w, int tile, size_t k)
{
    const struct lm_tiling *t = &w->tiling;
    const struct arrays a = w->a;
    struct lm_particle p = particle_at(&a, k);
    if (p.x == LM_GONE)
        return;
    const int i = (int)(lm_global(p.x, tile % t->nx, t->size, t->cells_x) >> LM_FRACTION_BITS);
    const int j = (int)(lm_global(p.y, tile / t->nx, t->size, t->cells_y) >> LM_FRACTION_BITS);
    const uint32_t cell = lm_domain_cell(&w->c->base.setup.grid.place, i, j);
    const int is_near = w->has_windows && lm_in_window(w->c->base.setup.shape, p.x, p.y, t->size);
    struct lm_collision_tallies tallies;
    const struct lm_collision_outcome outcome =
        is_near ? collide_near(w, cell, &p, &tallies) : collide_stray(w, tile, cell, &p, &tallies);
    a.vx[k] = p.vx, a.vy[k] = p.vy, a.vz[k] = p.vz;
    lm_tally_add(&w->exchanged, &tallies.exchanged);
    if (w->collisions->gas >= 0) {
        add_to_gas(w, tile, i, j, &tallies.to_gas);
        lm_tally_add(&w->to_gas, &tallies.to_gas);
    }
    if (!outcome.survives)
        remove_particle(w, k, outcome.channel, &p);
}

/* --- many particles at a time: lm_is_stopping_only --- */

enum { BLOCK = 128 };

/* Particles that are processed together. The vector loops compute results for all of them. The results of particles
 * that are far from the tile or are lost are not used: `collide` repeats these particles. */
struct block {
    _Alignas(64) lm_node_fields fields[BLOCK];
    int near[BLOCK], i[BLOCK], j[BLOCK], channel[BLOCK]; /* in the windows; cell; enum lm_channel or -1 */
    float n[BLOCK];                                      /* density of the gas, n0 */
    struct lm_interpolated_stopping stopping[BLOCK];
    lm_real vx[BLOCK], vy[BLOCK], vz[BLOCK]; /* velocity before the collisions, then after them, v_A */
    int64_t transfer[LM_GAS_SUMS - LM_GAS_MOMENTUM][BLOCK];
};

/* The first part of the push, and the density of the gas at each particle. */
LM_HD void begin_pushes(const struct collision_work *w, int order, size_t first, int count, struct block *b)
{
    const struct arrays a = w->a;
    const struct lm_gas_window gas = w->gas;
    const struct lm_node_window fields = w->fields;
    const struct lm_collisions at_rest = {.gas = 0};
    const lm_real kick = w->step.kick;
    const int size = w->tiling.size;
    gather_block(order, &fields, &a, first, count, size, b->fields);
#pragma omp simd
    for (int l = 0; l < count; l++) {
        struct lm_particle p = particle_at(&a, first + (size_t)l);
        const struct lm_local_fields felt = lm_local_fields_of(b->fields[l]);
        const int near = lm_in_window(order, p.x, p.y, size);
        p.x = near ? p.x : 0;
        p.y = near ? p.y : 0;
        lm_boris_first(&p.vx, &p.vy, &p.vz, felt.e, felt.b, kick);
        b->near[l] = near;
        b->vx[l] = p.vx, b->vy[l] = p.vy, b->vz[l] = p.vz;
        b->n[l] = lm_gather_medium(order, &at_rest, &gas, p.x, p.y).n;
    }
}

/* The cell and the stopping power of each particle. */
static void look_up_stopping(const struct collision_work *w, int tile, size_t first, int count, struct block *b)
{
    const struct lm_tiling *t = &w->tiling;
    const struct arrays a = w->a;
    const int left = tile % t->nx * t->size, low = tile / t->nx * t->size;
    for (int l = 0; l < count; l++) {
        const size_t k = first + (size_t)l;
        const float v[3] = {(float)b->vx[l], (float)b->vy[l], (float)b->vz[l]};
        b->stopping[l] = lm_stopping_of_ion(w->collisions, v);
        b->i[l] = lm_wrap_seldom((int)(a.x[k] >> LM_FRACTION_BITS) + left, t->cells_x);
        b->j[l] = lm_wrap_seldom((int)(a.y[k] >> LM_FRACTION_BITS) + low, t->cells_y);
    }
}

/* Particle k, which is number l of the block, in `cell`. */
LM_HD void collide_lane(const struct lm_collisions *collisions, const struct lm_tally_units *units,
                        const struct arrays *a, size_t k, uint32_t cell, struct block *b, int l)
{
    const struct lm_medium m = {b->n[l], {0, 0}};
    const double old[3] = {(double)b->vx[l], (double)b->vy[l], (double)b->vz[l]};
    struct lm_particle p = {a->x[k], a->y[k], b->vx[l], b->vy[l], b->vz[l]};
    const lm_real w[3] = {p.vx, p.vy, p.vz};
    const struct lm_interpolated_stopping stopping = b->stopping[l];
    b->channel[l] = lm_collide_in_medium(collisions, &m, w, &stopping, cell, &p).channel;
    const double now[3] = {(double)p.vx, (double)p.vy, (double)p.vz};
    const struct lm_tally to_gas = lm_tally_of_loss(units, old, now);
    b->vx[l] = p.vx;
    b->vy[l] = p.vy;
    b->vz[l] = p.vz;
    b->transfer[0][l] = to_gas.v[0];
    b->transfer[1][l] = to_gas.v[1];
    b->transfer[2][l] = to_gas.v[2];
    b->transfer[3][l] = to_gas.v2;
}

LM_HD void collide_lanes(const struct collision_work *w, size_t first, int count, struct block *b)
{
    const struct arrays a = w->a;
    const struct lm_tally_units units = w->units;
    const struct lm_place place = w->c->base.setup.grid.place;
    const struct lm_collisions collisions = lm_stopping_only(*w->collisions);
#pragma omp simd
    for (int l = 0; l < count; l++)
        collide_lane(&collisions, &units, &a, first + (size_t)l, lm_domain_cell(&place, b->i[l], b->j[l]), b, l);
}

/* Particles [first, first + count) of a tile; count <= BLOCK. */
static void collide_block(struct collision_work *w, int tile, size_t first, int count, struct block *b)
{
    const struct arrays a = w->a;
    if (w->c->base.setup.shape == LM_LINEAR)
        begin_pushes(w, 1, first, count, b);
    else
        begin_pushes(w, 2, first, count, b);
    look_up_stopping(w, tile, first, count, b);
    collide_lanes(w, first, count, b);
    for (int l = 0; l < count; l++) {
        const size_t k = first + (size_t)l;
        const struct lm_tally to_gas = {.v = {b->transfer[0][l], b->transfer[1][l], b->transfer[2][l]},
                                        .v2 = b->transfer[3][l]};
        if (!b->near[l] || b->channel[l] >= 0) {
            collide(w, tile, k);
            continue;
        }
        a.vx[k] = b->vx[l], a.vy[k] = b->vy[l], a.vz[k] = b->vz[l];
        add_to_gas(w, tile, b->i[l], b->j[l], &to_gas);
        lm_tally_add(&w->to_gas, &to_gas);
    }
}

/* --- all particles of a species --- */

/* Particles [first, end) of a tile. */
static void collide_tile(struct collision_work *w, int tile, size_t first, size_t end)
{
    struct block b;
    if (!lm_is_stopping_only(w->collisions))
        for (; first < end; first++)
            collide(w, tile, first);
    for (; first < end; first += BLOCK)
        collide_block(w, tile, first, end - first < BLOCK ? (int)(end - first) : BLOCK, &b);
}

/* Adds the tallies of a thread to those of the step. */
static void add_tallies(const struct collision_work *w)
{
    struct lm_control *to = &w->c->control;
#pragma omp critical(book)
    {
        lm_tally_add(&to->exchanged[w->species], &w->exchanged);
        lm_tally_add(&to->to_gas[w->species], &w->to_gas);
        for (int channel = LM_SURFACES; channel < LM_CHANNELS; channel++) {
            lm_tally_add(&to->lost[w->species][channel], &w->lost[channel]);
            w->c->species[w->species].gone += (uint64_t)w->lost[channel].number;
        }
    }
}

void LM_P(lm_cpu_fill_gas_ghosts)(struct lm_cpu *c, int gas)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int k = 0; k < LM_GAS_FIELDS; k++) {
        double *a = gas_array(c, gas, k);
        const int low_x = k == 1 ? -1 : 0, low_y = k == 2 ? -1 : 0;
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++) {
            const int inside = j >= 0 && j < g->ny, from_y = lm_gas_cell(&g->sides, 1, g->ny, low_y, j);
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i += inside && i == -1 ? g->nx + 1 : 1)
                a[lm_at(g, i, j)] = a[lm_at(g, lm_gas_cell(&g->sides, 0, g->nx, low_x, i), from_y)];
        }
    }
}

void LM_P(lm_cpu_collide)(struct lm_cpu *c, int species, const struct lm_pass *pass)
{
    const struct lm_cpu_species *s = &c->species[species];
    const int gas = pass->collisions->gas;
    struct lm_collisions collisions = *pass->collisions;
    collisions.stopping = c->base.setup.species[species].stopping;
    if (gas >= 0)
        LM_P(lm_cpu_fill_gas_ghosts)(c, gas);
#pragma omp parallel num_threads(c->threads)
    {
        _Alignas(64) lm_node_fields fields[AREA_MAX];
        struct gas_store medium;
        struct collision_work w = {c,
                                   &collisions,
                                   arrays_of(s),
                                   lm_step_of(&c->base.setup, species, pass),
                                   tiling(c),
                                   lm_tally_units_of(pass),
                                   .species = species,
                                   .has_windows = 1};
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < c->tiling.nx * c->tiling.ny; tile++) {
            const struct footprint f = footprint_of(c, tile);
            w.fields = fill_nodes(c, species, &f, fields);
            if (gas >= 0)
                w.gas = fill_gas_window(c, &f, gas, &medium);
            collide_tile(&w, tile, s->tile_start[tile], s->tile_start[tile + 1]);
            if (gas >= 0)
                flush_gas_transfer(&w, tile);
        }
        w.has_windows = 0; /* particles that entered since the last sort are in no order */
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++)
            collide(&w, home_of(s, k, 0), k);
        add_tallies(&w);
    }
}
