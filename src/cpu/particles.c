/* CPU backend: loops over particles other than the pass: sums, hash, sort, memory, loading. Compiled for each
 * precision. The bodies are in larmor/physics/particles/. */
#include "cpu/particles_gather.h"

#include <stdlib.h>

#include "backend/load_profile.h"
#include "base/memory.h"
#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/particles/load.h"

static size_t tile_cells(const struct lm_cpu *c)
{
    return (size_t)c->tiling.nx * (size_t)c->tiling.ny * (size_t)(c->base.setup.tile * c->base.setup.tile);
}

int LM_P(lm_cpu_particle_maxima)(struct lm_backend *b, int species)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_cpu_species *s = &c->species[species];
    struct arrays a = arrays_of(s);
    uint64_t speed2 = 0;
#pragma omp parallel for num_threads(c->threads) reduction(max : speed2)
    for (size_t k = 0; k < s->count; k++) {
        struct lm_particle p = {0, 0, a.vx[k], a.vy[k], a.vz[k]};
        uint64_t bits = lm_speed2_bits(&p);
        speed2 = bits > speed2 ? bits : speed2;
    }
    c->control.speed2[species] = lm_from_bits(speed2);
    return LM_OK;
}

/* What the sums over particles of a species need. */
struct summing {
    const struct lm_cpu *c;
    int species;
    struct lm_step step;
    double units[2];
};

/* A particle's velocities half a step later, added to sum, with the fields of the grid. */
static void add_stray(const struct summing *w, struct lm_particle p, int tile, int64_t sum[6])
{
    struct lm_stray stray;
    lm_fix dx, dy;
    if (p.x == LM_GONE)
        return;
    const struct lm_window win = stray_window(w->c, w->species, tile, &p, &stray);
    p = stray.p;
    lm_push(order_of(w->c), &p, &win, &w->step, &dx, &dy);
    lm_add_sums(0, sum, &p, w->units[0], w->units[1]);
}

enum { SUMMED = 64 /* particles at once */ };

/* What a block of particles adds to the sums, with the velocities half a step later. */
struct terms {
    int64_t of[6][SUMMED], near[SUMMED]; /* near: all ones, or 0 for a stray, whose terms are 0 */
};

/* What particle k, number l of the block, adds. */
LM_HD void find_terms(const struct summing *w, int order, struct arrays a, size_t k, lm_node_fields fields, int l,
                      struct terms *t)
{
    struct lm_particle p = {a.x[k], a.y[k], a.vx[k], a.vy[k], a.vz[k]};
    const struct lm_local_fields felt = lm_local_fields_of(fields);
    const int64_t near = -(int64_t)lm_in_window(order, p.x, p.y, w->c->tiling.size);
    int64_t one[6] = {0};
    lm_fix dx, dy;
    lm_push_in(&p, &felt, &w->step, &dx, &dy);
    lm_add_sums(1, one, &p, w->units[0], w->units[1]);
    LM_UNROLL
    for (int d = 0; d < 6; d++)
        t->of[d][l] = one[d] & near;
    t->near[l] = near;
}

/* Adds particles [first, first + count) of a tile to sum, from its window where that has their fields. The loop over
 * them has no branches, so that the compiler makes vector instructions of it. */
LM_HD void add_block(const struct summing *w, int order, int tile, const struct lm_node_window *window, size_t first,
                     int count, int64_t sum[6])
{
    const struct arrays a = arrays_of(&w->c->species[w->species]);
    const struct summing with = *w;
    _Alignas(64) lm_node_fields fields[SUMMED];
    struct terms t;
    gather_block(order, window, &a, first, count, with.c->tiling.size, fields);
#pragma omp simd
    for (int l = 0; l < count; l++)
        find_terms(&with, order, a, first + (size_t)l, fields[l], l, &t);
    for (int d = 0; d < 6; d++)
        for (int l = 0; l < count; l++)
            sum[d] += t.of[d][l];
    for (int l = 0; l < count; l++)
        if (!t.near[l])
            add_stray(w, particle_at(&a, first + (size_t)l), tile, sum);
}

LM_HD void add_tile(const struct summing *w, int order, int tile, const struct lm_node_window *window, size_t first,
                    size_t end, int64_t sum[6])
{
    for (; first < end; first += SUMMED)
        add_block(w, order, tile, window, first, end - first < SUMMED ? (int)(end - first) : SUMMED, sum);
}

int LM_P(lm_cpu_particle_sums)(struct lm_backend *b, int species, const struct lm_pass *half, uint64_t present,
                               struct lm_particle_sums *out)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_cpu_species *s = &c->species[species];
    const struct arrays a = arrays_of(s);
    out->exponent_v = lm_sum_exponent((double)present, half->speed_exponent);
    out->exponent_v2 = lm_sum_exponent((double)present, 2 * half->speed_exponent);
    /* Terms of sums over few particles are too large for add_tile. */
    const int is_small = out->exponent_v + half->speed_exponent <= 51;
    const struct summing w = {
        c, species, lm_step_of(&b->setup, species, half), {lm_exp2i(out->exponent_v), lm_exp2i(out->exponent_v2)}};
    int64_t sum[6] = {0};
    lm_cpu_add_force(c, species);
#pragma omp parallel num_threads(c->threads) reduction(+ : sum)
    {
        _Alignas(64) lm_node_fields fields[AREA_MAX];
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < c->tiling.nx * c->tiling.ny; tile++) {
            const size_t first = s->tile_start[tile], end = s->tile_start[tile + 1];
            if (!is_small) {
                for (size_t k = first; k < end; k++)
                    add_stray(&w, particle_at(&a, k), tile, sum);
                continue;
            }
            const struct footprint f = footprint_of(c, tile);
            const struct lm_node_window near = fill_nodes(c, species, &f, fields);
            if (b->setup.shape == LM_LINEAR)
                add_tile(&w, 1, tile, &near, first, end, sum);
            else
                add_tile(&w, 2, tile, &near, first, end, sum);
        }
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++)
            add_stray(&w, particle_at(&a, k), home_of(s, k, 0), sum);
    }
    memcpy(out->v, sum, sizeof out->v);
    memcpy(out->v2, sum + 3, sizeof out->v2);
    return LM_OK;
}

uint64_t LM_P(lm_cpu_hash_particles)(struct lm_cpu *c, int species)
{
    const struct lm_cpu_species *s = &c->species[species];
    struct lm_tiling t = tiling(c);
    const struct arrays a = arrays_of(s);
    uint64_t hash = 0;
#pragma omp parallel num_threads(c->threads) reduction(+ : hash)
    {
#pragma omp for schedule(dynamic, 16)
        for (int tile = 0; tile < c->tiling.nx * c->tiling.ny; tile++)
            for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++) {
                const struct lm_particle p = particle_at(&a, k);
                hash += lm_hash_stored(&t, &c->base.setup.grid.place, species, tile, &p);
            }
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++) {
            const struct lm_particle p = particle_at(&a, k);
            hash += lm_hash_stored(&t, &c->base.setup.grid.place, species, home_of(s, k, 0), &p);
        }
    }
    return hash;
}

/* --- sort: numbers of particles in the cells, starts of the cells, slots --- */

#define NOWHERE 0xffffffffu

/* cell_start: counts become starts; tile_start follows. */
static void scan_cells(struct lm_cpu *c, struct lm_cpu_species *s)
{
    size_t cells = tile_cells(c), per_tile = (size_t)(c->base.setup.tile * c->base.setup.tile);
    uint32_t sum = 0;
    for (size_t k = 0; k < cells; k++) {
        uint32_t n = s->cell_start[k];
        s->cell_start[k] = sum;
        sum += n;
    }
    s->cell_start[cells] = sum;
    for (size_t tile = 0; tile <= cells / per_tile; tile++)
        s->tile_start[tile] = s->cell_start[tile * per_tile];
}

static uint32_t next_rank(uint32_t *counter)
{
    uint32_t rank;
#pragma omp atomic capture
    rank = (*counter)++;
    return rank;
}

/* lm_fix and lm_real have one size. */
static void move_array(struct lm_cpu *c, struct lm_cpu_species *s, void **array)
{
    const char *from = *array;
    char *to = s->scratch;
#pragma omp parallel for num_threads(c->threads)
    for (size_t k = 0; k < s->count; k++)
        if (s->slot[k] != NOWHERE)
            memcpy(to + s->slot[k] * sizeof(lm_real), from + k * sizeof(lm_real), sizeof(lm_real));
    s->scratch = *array;
    *array = to;
}

/* Its cell, and its number in that. */
static void rank_one(struct lm_cpu_species *s, const struct lm_tiling *t, const struct arrays *a, size_t k, int tile,
                     uint32_t *cell_of)
{
    cell_of[k] = a->x[k] == LM_GONE ? NOWHERE : lm_rebase(t, tile, &a->x[k], &a->y[k]);
    s->slot[k] = cell_of[k] == NOWHERE ? NOWHERE : next_rank(&s->cell_start[cell_of[k]]);
}

int LM_P(lm_cpu_sort)(struct lm_backend *b, int species)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    struct lm_tiling t = tiling(c);
    struct arrays a = arrays_of(s);
    memset(s->cell_start, 0, tile_cells(c) * sizeof *s->cell_start);
    uint32_t *cell_of = s->scratch; /* free until the arrays move */
#pragma omp parallel num_threads(c->threads)
    {
#pragma omp for schedule(dynamic, 16)
        for (int tile = 0; tile < t.nx * t.ny; tile++)
            for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++)
                rank_one(s, &t, &a, k, tile, cell_of);
#pragma omp for schedule(static)
        for (size_t k = s->sorted; k < s->count; k++)
            rank_one(s, &t, &a, k, home_of(s, k, 0), cell_of);
    }
    scan_cells(c, s);
#pragma omp parallel for num_threads(c->threads)
    for (size_t k = 0; k < s->count; k++)
        if (cell_of[k] != NOWHERE)
            s->slot[k] += s->cell_start[cell_of[k]];
    move_array(c, s, &s->x);
    move_array(c, s, &s->y);
    move_array(c, s, &s->vx);
    move_array(c, s, &s->vy);
    move_array(c, s, &s->vz);
    s->count -= s->gone;
    s->sorted = s->count;
    s->gone = 0;
    return LM_OK;
}

/* --- getting particles in and out --- */

int LM_P(lm_cpu_reserve)(struct lm_backend *b, int species, uint64_t count)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    void **const arrays[] = {&s->x, &s->y, &s->vx, &s->vy, &s->vz, &s->scratch};
    if (count > LM_MAX_PARTICLES)
        return lm_fail(LM_BAD_INPUT, "%llu particles; at most %llu fit one device", (unsigned long long)count,
                       (unsigned long long)LM_MAX_PARTICLES);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        free(*arrays[k]);
        *arrays[k] = malloc((count + 1) * sizeof(lm_real));
    }
    free(s->slot);
    s->slot = malloc((count + 1) * sizeof *s->slot);
    if (!s->x || !s->y || !s->vx || !s->vy || !s->vz || !s->scratch || !s->slot)
        return lm_fail(LM_FAILED, "not enough memory for %llu particles of species %d", (unsigned long long)count,
                       species);
    s->count = s->sorted = s->capacity = count;
    s->placing = 0;
    memset(s->cell_start, 0, tile_cells(c) * sizeof *s->cell_start);
    memset(s->cell_rank, 0, tile_cells(c) * sizeof *s->cell_rank);
    return LM_OK;
}

/* An array of particles with more places; 0 when there is no memory for it, and the old one stays. */
static int extend(void **array, uint64_t capacity)
{
    void *more = realloc(*array, (capacity + 1) * sizeof(lm_real));
    if (!more)
        return 0;
    *array = more;
    return 1;
}

/* What must stay free: outputs and a checkpoint are written at any time. */
static double reserve_bytes(const struct lm_cpu *c)
{
    const struct lm_setup *s = &c->base.setup;
    const double arrays = LM_OUTPUT_ARRAYS + s->species_count + s->background_count;
    return 8.0 * arrays * (double)s->grid.size + 8.0 * (double)lm_map_size(&s->maps) + LM_MEMORY_RESERVE;
}

/* Homes for what comes until the next sort. */
static int grow_home(struct lm_cpu *c, int species, uint64_t more)
{
    struct lm_cpu_species *s = &c->species[species];
    const uint64_t steps[] = {64, 8,
                              1}; /* a sort comes no later than after 64 (src/sim/step.c); before, where it must */
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        const uint64_t wanted = steps[k] * more;
        const double bytes = ((double)wanted - (double)s->home_capacity) * sizeof *s->home;
        if (lm_memory_require(bytes, reserve_bytes(c), "particles that come in"))
            continue;
        uint32_t *home = realloc(s->home, wanted * sizeof *home);
        if (!home)
            return lm_fail(LM_STOPPED, "species %d: not enough memory for particles that come in", species);
        s->home = home;
        s->home_capacity = wanted;
        return LM_OK;
    }
    return lm_fail_context(LM_STOPPED, "species %d", species);
}

static int grow(struct lm_cpu_species *s, uint64_t capacity)
{
    void **const arrays[] = {&s->x, &s->y, &s->vx, &s->vy, &s->vz, &s->scratch};
    int failed = 0;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays && !failed; k++)
        failed = !extend(arrays[k], capacity);
    uint32_t *slot = failed ? NULL : realloc(s->slot, (capacity + 1) * sizeof *slot);
    if (!slot)
        return lm_fail(LM_STOPPED, "not enough memory for %llu particles of a species", (unsigned long long)capacity);
    s->slot = slot;
    s->capacity = capacity;
    return LM_OK;
}

/* Memory for as many places and a quarter more; where that is not there, for hardly more. */
static int grow_places(const struct lm_cpu *c, struct lm_cpu_species *s, uint64_t wanted)
{
    const double each = 6 * sizeof(lm_real) + sizeof *s->slot;
    for (uint64_t part = 4; part <= 64; part *= 16) {
        const uint64_t capacity = wanted + wanted / part < LM_MAX_PARTICLES ? wanted + wanted / part : LM_MAX_PARTICLES;
        if (!lm_memory_require(each * (double)(capacity - s->capacity), reserve_bytes(c), "room for more particles"))
            return grow(s, capacity);
    }
    return LM_STOPPED;
}

int LM_P(lm_cpu_reserve_more)(struct lm_backend *b, int species, uint64_t more)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    const int is_full = s->count + more > s->capacity, is_long = s->count - s->sorted + more > s->home_capacity;
    if ((is_full && s->gone > 0) || (is_long && s->count > s->sorted))
        LM_P(lm_cpu_sort)(b, species);
    if (s->count - s->sorted + more > s->home_capacity && grow_home(c, species, more))
        return LM_STOPPED;
    if (s->count + more <= s->capacity)
        return LM_OK;
    if (s->count + more > LM_MAX_PARTICLES)
        return lm_fail(LM_FAILED, "no room for more than %llu particles of species %d: places are 32-bit numbers",
                       (unsigned long long)s->count, species);
    return grow_places(c, s, s->count + more);
}

int LM_P(lm_cpu_put_particles)(struct lm_backend *b, int species, enum lm_put_phase phase, uint64_t count,
                               struct lm_raw_particles from)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    struct lm_tiling t = tiling(c);
    struct arrays a = arrays_of(s);
    if (phase == LM_PLACE_PARTICLES && !s->placing) {
        scan_cells(c, s);
        s->placing = 1;
    }
    for (size_t k = 0; k < count; k++) {
        int home;
        uint32_t cell = lm_tile_cell(&t, (int)(from.x[k] >> LM_FRACTION_BITS), (int)(from.y[k] >> LM_FRACTION_BITS));
        if (phase == LM_COUNT_PARTICLES) {
            s->cell_start[cell]++;
            continue;
        }
        uint32_t to = s->cell_start[cell] + s->cell_rank[cell]++;
        a.x[to] = lm_local(from.x[k], t.size, &home);
        a.y[to] = lm_local(from.y[k], t.size, &home);
        a.vx[to] = ((const lm_real *)from.vx)[k];
        a.vy[to] = ((const lm_real *)from.vy)[k];
        a.vz[to] = ((const lm_real *)from.vz)[k];
    }
    return LM_OK;
}

int LM_P(lm_cpu_get_particles)(struct lm_backend *b, int species, uint64_t first, uint64_t count,
                               struct lm_raw_particles to)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_cpu_species *s = &c->species[species];
    struct lm_tiling t = tiling(c);
    struct arrays a = arrays_of(s);
    int tile = 0;
    for (size_t k = 0; k < count; k++) {
        size_t p = first + k;
        tile = home_of(s, p, p < s->sorted ? tile : 0);
        to.x[k] = lm_global(a.x[p], tile % t.nx, t.size, t.cells_x);
        to.y[k] = lm_global(a.y[p], tile / t.nx, t.size, t.cells_y);
        ((lm_real *)to.vx)[k] = a.vx[p];
        ((lm_real *)to.vy)[k] = a.vy[p];
        ((lm_real *)to.vz)[k] = a.vz[p];
    }
    return LM_OK;
}

/* cell_start: the number of particles in each cell. Returns their sum. */
static uint64_t count_cells(struct lm_cpu *c, struct lm_cpu_species *s, const struct lm_profile *profile)
{
    const struct lm_grid *g = &c->base.setup.grid;
    struct lm_tiling t = tiling(c);
    uint64_t total = 0;
    memset(s->cell_start, 0, tile_cells(c) * sizeof *s->cell_start);
#pragma omp parallel for num_threads(c->threads) reduction(+ : total)
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++) {
            uint32_t n = lm_cell_count(profile, lm_at(g, i, j), lm_domain_x(&g->place, i), lm_domain_y(&g->place, j),
                                       lm_domain_cell(&g->place, i, j));
            s->cell_start[lm_tile_cell(&t, i, j)] = n;
            total += n;
        }
    return total;
}

/* NULL: no surface of a body cuts the cell. */
static const struct lm_body_cut *cut_of_cell(const struct lm_cpu *c, int i, int j)
{
    const struct lm_bodies *b = &c->base.setup.bodies;
    const size_t k = (size_t)j * (size_t)c->base.setup.grid.nx + (size_t)i;
    return b->obstacles.of && (b->obstacles.of[k] & LM_CUT) ? b->obstacles.cut + k : NULL;
}

int LM_P(lm_cpu_load)(struct lm_backend *b, int species, const struct lm_loading *from, uint64_t *count)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    const struct lm_grid *g = &b->setup.grid;
    struct lm_tiling t = tiling(c);
    struct lm_profile profile;
    double *scale;
    int status = lm_profile_make(g, from, species, &profile, &scale);
    if (status)
        return status;
    uint64_t total = count_cells(c, s, &profile);
    status = LM_P(lm_cpu_reserve)(b, species, total);
    if (status)
        goto done;
    count_cells(c, s, &profile); /* reserve has cleared them */
    scan_cells(c, s);
    struct arrays a = arrays_of(s);
#pragma omp parallel for num_threads(c->threads)
    for (int j = g->own.from_y; j < g->own.to_y; j++)
        for (int i = g->own.from_x; i < g->own.to_x; i++) {
            uint32_t home = lm_tile_cell(&t, i, j), n = s->cell_start[home + 1] - s->cell_start[home];
            uint32_t cell = lm_domain_cell(&g->place, i, j);
            const struct lm_body_cut *cut = cut_of_cell(c, i, j);
            for (uint32_t r = 0; r < n; r++) {
                uint32_t to = s->cell_start[home] + r;
                lm_real v[3];
                lm_load_particle(&profile, lm_at(g, i, j), g->stride, cut, cell, r, n, &a.x[to], &a.y[to], v);
                a.x[to] += (lm_fix)(i % t.size) * LM_ONE;
                a.y[to] += (lm_fix)(j % t.size) * LM_ONE;
                a.vx[to] = v[0], a.vy[to] = v[1], a.vz[to] = v[2];
            }
        }
    *count = total;
done:
    free(scale);
    return status;
}
