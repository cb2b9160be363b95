/* CPU backend: collisions, before the pass. A thread takes a tile with the fields around it and adds up what its
 * particles give to a gas, cell by cell, before it shares that with the others. */
#include "particles.h"

#include "larmor/physics/hash.h"

enum { CELLS_MAX = 16 * 16 };

/* What a thread works with. */
struct collider {
    struct lm_cpu *c;
    const struct lm_collisions *collisions;
    struct arrays a;
    struct lm_tiling tiling;
    struct lm_tally_units units;
    int species;
    struct lm_window window;            /* of the tile; origin NULL: of none */
    int64_t given[LM_GIVEN][CELLS_MAX]; /* to the gas in the tile's cells */
    struct lm_tally lost[LM_CHANNELS], exchanged, to_gas;
};

static void give(struct collider *w, int tile, int i, int j, const struct lm_tally *t)
{
    const int size = w->tiling.size, left = tile % w->tiling.nx * size, low = tile / w->tiling.nx * size;
    const int64_t part[LM_GIVEN] = {t->number, t->v[0], t->v[1], t->v[2], t->v2};
    const int a = i - left, b = j - low, is_here = w->window.origin && a >= 0 && a < size && b >= 0 && b < size;
    const size_t cell = (size_t)j * (size_t)w->tiling.cells_x + (size_t)i;
    for (int k = 0; k < LM_GIVEN; k++)
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
    for (int k = 0; k < LM_GIVEN; k++)
        for (int b = 0; b < t->size && low + b < t->cells_y; b++)
            for (int a = 0; a < t->size && left + a < t->cells_x; a++) {
                const size_t cell = (size_t)(low + b) * (size_t)t->cells_x + (size_t)(left + a);
#pragma omp atomic
                w->c->given[k][cell] += w->given[k][b * t->size + a];
            }
    memset(w->given, 0, sizeof w->given);
}

/* The particle in place k. */
static void collide(struct collider *w, int tile, size_t k)
{
    const struct lm_tiling *t = &w->tiling;
    const struct arrays a = w->a;
    const int order = w->c->base.setup.shape;
    struct lm_particle p = {a.x[k], a.y[k], a.u[k], a.v[k], a.w[k]};
    if (p.x == LM_GONE)
        return;
    const int64_t x = lm_global(p.x, tile % t->nx, t->size, t->cells_x);
    const int64_t y = lm_global(p.y, tile / t->nx, t->size, t->cells_y);
    const double old[3] = {(double)p.u, (double)p.v, (double)p.w};
    struct lm_window win = w->window;
    struct lm_stray s = {.p = p};
    if (!win.origin || !lm_in_window(order, p.x, p.y, t->size))
        win = stray_window(w->c, tile, &p, w->collisions->gas, &s);
    struct lm_medium m;
    double b[3], v[3] = {old[0], old[1], old[2]};
    lm_gather_medium(order, w->collisions, &win, s.p.x, s.p.y, &m, b);
    const struct lm_collided got = lm_collide(w->collisions, &m, b, v, lm_identity(x, y, old[0], old[1], old[2]));
    a.u[k] = (lm_real)v[0], a.v[k] = (lm_real)v[1], a.w[k] = (lm_real)v[2];
    const double now[3] = {(double)a.u[k], (double)a.v[k], (double)a.w[k]};
    if (w->collisions->gas >= 0) {
        const struct lm_tally to_gas = lm_to_gas(&w->units, &got, old, now);
        give(w, tile, (int)(x >> LM_FRACTION_BITS), (int)(y >> LM_FRACTION_BITS), &to_gas);
        lm_tally_add(&w->to_gas, &to_gas);
    }
    if (got.exchanged) {
        const struct lm_tally one = lm_exchanged(&w->units, &got, now);
        lm_tally_add(&w->exchanged, &one);
    }
    if (got.channel < 0)
        return;
    const struct lm_tally one = lm_tally_of(&w->units, now[0], now[1], now[2]);
    lm_tally_add(&w->lost[got.channel], &one);
    a.x[k] = LM_GONE;
    a.u[k] = a.v[k] = a.w[k] = 0;
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
    const int arrays[3] = {LM_BACKGROUND + gas, LM_BACKGROUND_X + gas, LM_BACKGROUND_Y + gas};
    for (int k = 0; k < 3; k++) {
        double *a = c->array[arrays[k]];
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
                const int from_x = lm_gas_cell(&g->sides, 0, g->nx, k == 1 ? -1 : 0, i);
                const int from_y = lm_gas_cell(&g->sides, 1, g->ny, k == 2 ? -1 : 0, j);
                if (from_x != i || from_y != j)
                    a[lm_at(g, i, j)] = a[lm_at(g, from_x, from_y)];
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
        struct collider w = {c, &collisions, arrays_of(s), tiling(c), units_of(pass), .species = species};
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < c->tiles_x * c->tiles_y; tile++) {
            const struct footprint f = footprint_of(c, tile);
            w.window = fill_window(c, &f, gas, fields);
            for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++)
                collide(&w, tile, k);
            if (gas >= 0)
                share(&w, tile);
        }
        w.window.origin = NULL;
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++) {
            const int tile = home_of(s, k, 0);
            collide(&w, tile, k);
        }
        book(&w);
    }
}
