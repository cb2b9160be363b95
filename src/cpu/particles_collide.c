/* CPU backend: collisions, before the pass. A thread takes a tile with the fields around it and adds up what its
 * particles give to a gas, cell by cell, before it shares that with the others. */
#include "cpu/particles.h"

enum { CELLS_MAX = 16 * 16 };

/* What a thread works with. */
struct collider {
    struct lm_cpu *c;
    const struct lm_collisions *collisions;
    struct arrays a;
    struct lm_tiling tiling;
    struct lm_tally_units units;
    int species;
    int is_home; /* the next ones are of a tile in order, with its windows */
    struct lm_window fields;
    struct lm_gas_window gas;
    int64_t given[LM_GAS_SUMS][CELLS_MAX]; /* to the gas in the tile's cells */
    struct lm_tally lost[LM_CHANNELS], exchanged, to_gas;
};

static void give(struct collider *w, int tile, int i, int j, const struct lm_tally *t)
{
    const int size = w->tiling.size, left = tile % w->tiling.nx * size, low = tile / w->tiling.nx * size;
    const int64_t part[LM_GAS_SUMS] = {t->number, t->v[0], t->v[1], t->v[2], t->v2};
    const int a = i - left, b = j - low;
    const int is_here = w->is_home && a >= 0 && a < size && b >= 0 && b < size;
    const size_t cell = (size_t)j * (size_t)w->tiling.cells_x + (size_t)i;
    for (int k = 0; k < LM_GAS_SUMS; k++)
        if (is_here)
            w->given[k][b * size + a] += part[k];
        else if (part[k])
#pragma omp atomic
            w->c->given[k][cell] += part[k];
}

static void share(struct collider *w, int tile)
{
    const struct lm_tiling *t = &w->tiling;
    const int left = tile % t->nx * t->size, low = tile / t->nx * t->size;
    for (int k = 0; k < LM_GAS_SUMS; k++)
        for (int b = 0; b < t->size && low + b < t->cells_y; b++)
            for (int a = 0; a < t->size && left + a < t->cells_x; a++) {
                const size_t cell = (size_t)(low + b) * (size_t)t->cells_x + (size_t)(left + a);
#pragma omp atomic
                w->c->given[k][cell] += w->given[k][b * t->size + a];
            }
    memset(w->given, 0, sizeof w->given);
}

/* Arrays of a gas: density, velocity on x-faces and on y-faces. */
static double *gas_array(const struct lm_cpu *c, int gas, int which)
{
    static const int first[LM_GAS_FIELDS] = {LM_BACKGROUND, LM_BACKGROUND_X, LM_BACKGROUND_Y};
    return c->array[first[which] + gas];
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

/* A particle of cell (i, j) of the domain, at (x, y) of its windows. */
static struct lm_fate encounter(const struct collider *w, const struct lm_gas_window *gas,
                                const struct lm_window *fields, lm_fix x, lm_fix y, int i, int j, struct lm_particle *p)
{
    const uint32_t cell = (uint32_t)j * (uint32_t)w->tiling.cells_x + (uint32_t)i;
    return lm_encounter(w->c->base.setup.shape == 1 ? 1 : 2, w->collisions, gas, fields, x, y, cell, p);
}

/* One far from its tile. */
static struct lm_fate encounter_stray(const struct collider *w, int tile, struct lm_particle *p)
{
    struct lm_stray s;
    struct lm_stray_gas store;
    struct lm_gas_window gas = {0};
    const struct lm_window fields = stray_window(w->c, tile, p, &s);
    if (w->collisions->gas >= 0) {
        const int number = w->collisions->gas;
        const double *const field[LM_GAS_FIELDS] = {gas_array(w->c, number, 0), gas_array(w->c, number, 1),
                                                    gas_array(w->c, number, 2)};
        gas = lm_stray_gas(&store, &s, field, w->c->base.setup.grid.stride);
    }
    return encounter(w, &gas, &fields, s.p.x, s.p.y, s.i, s.j, p);
}

/* The particle in place k. */
static void collide(struct collider *w, int tile, size_t k)
{
    const struct lm_tiling *t = &w->tiling;
    const struct arrays a = w->a;
    struct lm_particle p = particle_at(&a, k);
    if (p.x == LM_GONE)
        return;
    const int i = (int)(lm_global(p.x, tile % t->nx, t->size, t->cells_x) >> LM_FRACTION_BITS);
    const int j = (int)(lm_global(p.y, tile / t->nx, t->size, t->cells_y) >> LM_FRACTION_BITS);
    const struct lm_particle old = p;
    const int is_near = w->is_home && lm_in_window(w->c->base.setup.shape, p.x, p.y, t->size);
    const struct lm_fate fate =
        is_near ? encounter(w, &w->gas, &w->fields, p.x, p.y, i, j, &p) : encounter_stray(w, tile, &p);
    lm_leave(&fate, &old, &p);
    a.u[k] = p.u, a.v[k] = p.v, a.w[k] = p.w;
    if (w->collisions->gas >= 0) {
        const struct lm_tally to_gas = lm_to_gas(&w->units, &fate, &old, &p);
        give(w, tile, i, j, &to_gas);
        lm_tally_add(&w->to_gas, &to_gas);
    }
    if (fate.exchanged) {
        const struct lm_tally one = lm_exchanged(&w->units, &fate, &p);
        lm_tally_add(&w->exchanged, &one);
    }
    if (fate.channel < 0)
        return;
    const struct lm_tally one = lm_tally_of(&w->units, (double)p.u, (double)p.v, (double)p.w);
    lm_tally_add(&w->lost[fate.channel], &one);
    a.x[k] = LM_GONE;
    a.u[k] = a.v[k] = a.w[k] = 0;
}

/* --- many at once: ions that stop and scatter in a gas at rest, with nothing rarer --- */

enum { BLOCK = 128 };

struct block {
    int near[BLOCK], i[BLOCK], j[BLOCK], channel[BLOCK];
    float n[BLOCK];
    struct lm_stopped at[BLOCK];
    lm_real u[BLOCK], v[BLOCK], w[BLOCK]; /* after */
    int64_t given[LM_GAS_SUMS - LM_GAS_MOMENTUM][BLOCK];
};

/* The density around each; of those far from the tile some other. */
LM_HD void look_around(const struct collider *w, int order, size_t first, int count, struct block *b)
{
    const struct arrays a = w->a;
    const struct lm_gas_window gas = w->gas;
    const struct lm_collisions plain = {.gas = 0};
    const int size = w->tiling.size;
#pragma omp simd
    for (int l = 0; l < count; l++) {
        const lm_fix x = a.x[first + (size_t)l], y = a.y[first + (size_t)l];
        const int near = lm_in_window(order, x, y, size);
        b->near[l] = near;
        b->n[l] = lm_gather_medium(order, &plain, &gas, near ? x : 0, near ? y : 0).n;
    }
}

/* Cell and place in the table of each; of those far from the tile some other. */
static void look_up(const struct collider *w, int tile, size_t first, int count, struct block *b)
{
    const struct lm_tiling *t = &w->tiling;
    const struct arrays a = w->a;
    const int left = tile % t->nx * t->size, low = tile / t->nx * t->size;
    for (int l = 0; l < count; l++) {
        const size_t k = first + (size_t)l;
        const float v[3] = {(float)a.u[k], (float)a.v[k], (float)a.w[k]};
        b->at[l] = lm_look_up(w->collisions, v);
        b->i[l] = lm_wrap_seldom((int)(a.x[k] >> LM_FRACTION_BITS) + left, t->cells_x);
        b->j[l] = lm_wrap_seldom((int)(a.y[k] >> LM_FRACTION_BITS) + low, t->cells_y);
    }
}

/* The particle in place k, number l of the block. */
LM_HD void strike(const struct lm_collisions *how, const struct lm_tally_units *units, const struct arrays *a, size_t k,
                  uint32_t cell, struct block *b, int l)
{
    const struct lm_medium m = {b->n[l], {0, 0}};
    const double old[3] = {(double)a->u[k], (double)a->v[k], (double)a->w[k]};
    struct lm_particle p = particle_at(a, k);
    const lm_real w[3] = {p.u, p.v, p.w};
    const struct lm_stopped at = b->at[l];
    b->channel[l] = lm_strike(how, &m, w, &at, cell, &p).channel;
    const double now[3] = {(double)p.u, (double)p.v, (double)p.w};
    const struct lm_tally given = lm_given_up(units, old, now);
    b->u[l] = p.u;
    b->v[l] = p.v;
    b->w[l] = p.w;
    b->given[0][l] = given.v[0];
    b->given[1][l] = given.v[1];
    b->given[2][l] = given.v[2];
    b->given[3][l] = given.v2;
}

LM_HD void strike_all(const struct collider *w, size_t first, int count, struct block *b)
{
    const struct arrays a = w->a;
    const struct lm_tally_units units = w->units;
    const uint32_t width = (uint32_t)w->tiling.cells_x;
    const struct lm_collisions how = lm_plain(*w->collisions);
#pragma omp simd
    for (int l = 0; l < count; l++)
        strike(&how, &units, &a, first + (size_t)l, (uint32_t)b->j[l] * width + (uint32_t)b->i[l], b, l);
}

/* Particles [first, first + count) of a tile, at most a block of them. */
static void collide_block(struct collider *w, int tile, size_t first, int count, struct block *b)
{
    const struct arrays a = w->a;
    if (w->c->base.setup.shape == 1)
        look_around(w, 1, first, count, b);
    else
        look_around(w, 2, first, count, b);
    look_up(w, tile, first, count, b);
    strike_all(w, first, count, b);
    for (int l = 0; l < count; l++) {
        const size_t k = first + (size_t)l;
        const struct lm_tally t = {.v = {b->given[0][l], b->given[1][l], b->given[2][l]}, .v2 = b->given[3][l]};
        if (!b->near[l] || b->channel[l] >= 0) {
            collide(w, tile, k);
            continue;
        }
        a.u[k] = b->u[l], a.v[k] = b->v[l], a.w[k] = b->w[l];
        give(w, tile, b->i[l], b->j[l], &t);
        lm_tally_add(&w->to_gas, &t);
    }
}

/* --- all --- */

static void collide_tile(struct collider *w, int tile, size_t first, size_t end)
{
    struct block b;
    if (!lm_is_plain(w->collisions))
        for (; first < end; first++)
            collide(w, tile, first);
    for (; first < end; first += BLOCK)
        collide_block(w, tile, first, end - first < BLOCK ? (int)(end - first) : BLOCK, &b);
}

static void book(const struct collider *w)
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

/* Beyond the sides of the domain a gas is as in the nearest cell, or the one on the other side. */
static void fill_gas(struct lm_cpu *c, int gas)
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
        fill_gas(c, gas);
#pragma omp parallel num_threads(c->threads)
    {
        lm_real fields[LM_WINDOW_FIELDS * AREA_MAX];
        struct gas_store medium;
        struct collider w = {c, &collisions, arrays_of(s), tiling(c), units_of(pass), .species = species, .is_home = 1};
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < c->tiles_x * c->tiles_y; tile++) {
            const struct footprint f = footprint_of(c, tile);
            if (collisions.has_pitch)
                w.fields = fill_window(c, &f, fields);
            if (gas >= 0)
                w.gas = fill_gas_window(c, &f, gas, &medium);
            collide_tile(&w, tile, s->tile_start[tile], s->tile_start[tile + 1]);
            if (gas >= 0)
                share(&w, tile);
        }
        w.is_home = 0;
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++)
            collide(&w, home_of(s, k, 0), k);
        book(&w);
    }
}
