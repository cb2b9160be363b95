/* CPU backend: loops over particles, compiled for each precision. A thread takes a tile, copies the fields around it,
 * runs through the tile's particles and adds its integer moments to the grid. The bodies are in larmor/physics/. */
#include "cpu.h"

#include <stdlib.h>

#include "larmor/loading.h"
#include "larmor/physics/bounds.h"
#include "larmor/physics/deposit.h"
#include "larmor/physics/hash.h"
#include "larmor/physics/load.h"
#include "larmor/physics/stray.h"

enum { WIDTH_MAX = 16 + LM_WINDOW_EXTRA, AREA_MAX = WIDTH_MAX * WIDTH_MAX };

struct arrays {
    lm_fix *x, *y;
    lm_real *u, *v, *w;
};

static struct arrays arrays_of(const struct lm_cpu_species *s)
{
    return (struct arrays){s->x, s->y, s->u, s->v, s->w};
}

static struct lm_tiling tiling(const struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    return (struct lm_tiling){c->base.setup.tile, c->tiles_x, c->tiles_y, g->nx, g->ny};
}

static size_t tile_cells(const struct lm_cpu *c)
{
    return (size_t)c->tiles_x * (size_t)c->tiles_y * (size_t)(c->base.setup.tile * c->base.setup.tile);
}

/* E of the push and B, in the order of lm_window. */
static void push_fields(const struct lm_cpu *c, const double *field[6])
{
    for (int d = 0; d < 3; d++) {
        field[d] = c->array[LM_PUSH_E + d];
        field[3 + d] = c->array[LM_B + d];
    }
}

static struct lm_window fill_window(const struct lm_cpu *c, int tile, lm_real *store)
{
    const struct lm_grid *g = &c->base.setup.grid;
    int size = c->base.setup.tile, width = size + LM_WINDOW_EXTRA;
    int i0 = tile % c->tiles_x * size - LM_WINDOW_LOW, j0 = tile / c->tiles_x * size - LM_WINDOW_LOW;
    const double *field[6];
    push_fields(c, field);
    for (int j = 0; j < width; j++) {
        size_t row = lm_at(g, 0, lm_wrap(j0 + j, g->ny));
        for (int i = 0; i < width; i++) {
            size_t k = row + (size_t)lm_wrap(i0 + i, g->nx);
            for (int d = 0; d < 6; d++)
                store[d * width * width + j * width + i] = (lm_real)field[d][k];
        }
    }
    return (struct lm_window){store + LM_WINDOW_LOW * width + LM_WINDOW_LOW, width, width * width};
}

/* Adds a window of integer moments to the grid and clears it. */
static void flush_window(const struct lm_cpu *c, int tile, int32_t *parts)
{
    const struct lm_grid *g = &c->base.setup.grid;
    int size = c->base.setup.tile, width = size + LM_WINDOW_EXTRA;
    int i0 = tile % c->tiles_x * size - LM_WINDOW_LOW, j0 = tile / c->tiles_x * size - LM_WINDOW_LOW;
    for (int j = 0; j < width; j++)
        for (int i = 0; i < width; i++) {
            size_t k = (size_t)lm_wrap(j0 + j, g->ny) * (size_t)g->nx + (size_t)lm_wrap(i0 + i, g->nx);
            for (int d = 0; d < LM_MOMENTS; d++) {
                int32_t *part = parts + (d * width + j) * width + i;
                if (*part) {
#pragma omp atomic
                    c->sums[d][k] += *part;
                    *part = 0;
                }
            }
        }
}

static struct lm_step step_of(const struct lm_cpu *c, int species, const struct lm_pass *pass)
{
    const struct lm_setup *s = &c->base.setup;
    const struct lm_backend_species *p = &s->species[species];
    return lm_step_make(pass->kick_dt, pass->drift_dt, pass->move, pass->cap, p->charge / p->mass, s->ohm.rx,
                        s->ohm.ry);
}

/* The direct path for one particle: everything through the grid. */
static void pass_stray(struct lm_cpu *c, int order, int tile, struct lm_particle *p, const struct lm_step *step,
                       lm_fix *dx, lm_fix *dy)
{
    const struct lm_grid *g = &c->base.setup.grid;
    struct lm_tiling t = tiling(c);
    const double *field[6];
    push_fields(c, field);
    struct lm_stray s;
    lm_stray_at(&s, &t, tile, p, field, g->stride);
    struct lm_window win = lm_stray_window(&s);
    lm_push(order, &s.p, &win, step, dx, dy);
    p->u = s.p.u, p->v = s.p.v, p->w = s.p.w;
#define ADD(d, a, b, part)                                                                                             \
    do {                                                                                                               \
        int64_t add_ = part;                                                                                           \
        size_t k_ = (size_t)lm_wrap(s.j + (b), g->ny) * (size_t)g->nx + (size_t)lm_wrap(s.i + (a), g->nx);             \
        _Pragma("omp atomic") c->sums[d][k_] += add_;                                                                  \
    } while (0)
    int32_t hx = lm_fix24(s.p.x + (*dx >> 1)), hy = lm_fix24(s.p.y + (*dy >> 1));
    LM_DEPOSIT_CURRENT(order, hx, hy, p->u, p->v, p->w, step->current_scale, ADD);
    hx = lm_fix24(s.p.x + (step->move ? *dx : 0)), hy = lm_fix24(s.p.y + (step->move ? *dy : 0));
    LM_DEPOSIT_DENSITY(order, hx, hy, ADD);
#undef ADD
}

/* Particles [first, last) of a tile; returns how many took the direct path. *speed2: the largest |v|^2 so far. */
LM_HD int64_t pass_chunk(struct lm_cpu *c, int order, int tile, struct arrays a, size_t first, size_t last,
                         const struct lm_window *win, int32_t *parts, const struct lm_step *step, uint64_t *speed2)
{
    int size = c->base.setup.tile, width = win->width, area = win->area;
    int32_t *origin = parts + LM_WINDOW_LOW * width + LM_WINDOW_LOW;
    int64_t strays = 0;
    for (size_t k = first; k < last; k++) {
        struct lm_particle p = {a.x[k], a.y[k], a.u[k], a.v[k], a.w[k]}, before = p;
        lm_fix dx, dy, x, y;
        int near = lm_in_window(order, p.x, p.y, size);
        if (near) {
            lm_push(order, &p, win, step, &dx, &dy);
            x = p.x + (step->move ? dx : 0), y = p.y + (step->move ? dy : 0);
            near = lm_in_window(order, x, y, size) & lm_in_window(order, p.x + (dx >> 1), p.y + (dy >> 1), size);
        }
        if (near) {
#define ADD(d, i, j, part) origin[(d)*area + (j)*width + (i)] += part
            LM_DEPOSIT_CURRENT(order, lm_fix24(p.x + (dx >> 1)), lm_fix24(p.y + (dy >> 1)), p.u, p.v, p.w,
                               step->current_scale, ADD);
            LM_DEPOSIT_DENSITY(order, lm_fix24(x), lm_fix24(y), ADD);
#undef ADD
        } else {
            p = before;
            pass_stray(c, order, tile, &p, step, &dx, &dy);
            x = p.x + (step->move ? dx : 0), y = p.y + (step->move ? dy : 0);
            strays++;
        }
        a.x[k] = x, a.y[k] = y, a.u[k] = p.u, a.v[k] = p.v, a.w[k] = p.w;
        uint64_t bits = lm_bits(lm_speed2(&p));
        *speed2 = bits > *speed2 ? bits : *speed2;
    }
    return strays;
}

int LM_P(lm_cpu_pass)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_cpu_species *s = &c->species[species];
    struct lm_step step = step_of(c, species, pass);
    struct arrays a = arrays_of(s);
    int tiles = c->tiles_x * c->tiles_y;
    uint64_t speed2 = 0;
    int64_t strays = 0;
#pragma omp parallel num_threads(c->threads) reduction(max : speed2) reduction(+ : strays)
    {
        lm_real fields[6 * AREA_MAX];
        int32_t parts[LM_MOMENTS * AREA_MAX] = {0};
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < tiles; tile++) {
            size_t end = s->tile_start[tile + 1];
            struct lm_window win = fill_window(c, tile, fields);
            for (size_t k = s->tile_start[tile]; k < end; k += LM_CHUNK) {
                size_t last = k + LM_CHUNK < end ? k + LM_CHUNK : end;
                strays += b->setup.shape == 1 ? pass_chunk(c, 1, tile, a, k, last, &win, parts, &step, &speed2)
                                              : pass_chunk(c, 2, tile, a, k, last, &win, parts, &step, &speed2);
                flush_window(c, tile, parts);
            }
        }
    }
    c->control.speed2[species] = lm_from_bits(speed2);
    c->control.strays[species] = strays;
    return LM_OK;
}

int LM_P(lm_cpu_survey_particles)(struct lm_backend *b, int species)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_cpu_species *s = &c->species[species];
    struct arrays a = arrays_of(s);
    uint64_t speed2 = 0;
#pragma omp parallel for num_threads(c->threads) reduction(max : speed2)
    for (size_t k = 0; k < s->count; k++) {
        struct lm_particle p = {0, 0, a.u[k], a.v[k], a.w[k]};
        uint64_t bits = lm_bits(lm_speed2(&p));
        speed2 = bits > speed2 ? bits : speed2;
    }
    c->control.speed2[species] = lm_from_bits(speed2);
    return LM_OK;
}

int LM_P(lm_cpu_particle_sums)(struct lm_backend *b, int species, const struct lm_pass *half,
                               struct lm_particle_sums *out)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_cpu_species *s = &c->species[species];
    struct lm_step step = step_of(c, species, half);
    struct lm_tiling t = tiling(c);
    struct arrays a = arrays_of(s);
    int order = b->setup.shape;
    out->exponent_v = lm_sum_exponent((double)s->count, half->cap);
    out->exponent_v2 = lm_sum_exponent((double)s->count, 2 * half->cap);
    double one = lm_exp2i(out->exponent_v), two = lm_exp2i(out->exponent_v2);
    int64_t sum[6] = {0};
#pragma omp parallel num_threads(c->threads) reduction(+ : sum)
    {
        lm_real fields[6 * AREA_MAX];
        const double *field[6];
        push_fields(c, field);
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < c->tiles_x * c->tiles_y; tile++) {
            struct lm_window near = fill_window(c, tile, fields);
            for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++) {
                struct lm_particle p = {a.x[k], a.y[k], a.u[k], a.v[k], a.w[k]};
                struct lm_stray stray;
                struct lm_window win = near;
                lm_fix dx, dy;
                if (!lm_in_window(order, p.x, p.y, t.size)) {
                    lm_stray_at(&stray, &t, tile, &p, field, b->setup.grid.stride);
                    p = stray.p;
                    win = lm_stray_window(&stray);
                }
                lm_push(order, &p, &win, &step, &dx, &dy);
                lm_add_sums(sum, &p, one, two);
            }
        }
    }
    memcpy(out->v, sum, sizeof out->v);
    memcpy(out->v2, sum + 3, sizeof out->v2);
    return LM_OK;
}

uint64_t LM_P(lm_cpu_hash_particles)(struct lm_cpu *c, int species)
{
    const struct lm_cpu_species *s = &c->species[species];
    struct lm_tiling t = tiling(c);
    struct arrays a = arrays_of(s);
    uint64_t hash = 0;
#pragma omp parallel for schedule(dynamic, 16) num_threads(c->threads) reduction(+ : hash)
    for (int tile = 0; tile < c->tiles_x * c->tiles_y; tile++)
        for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++)
            hash += lm_hash_particle(species, lm_global(a.x[k], tile % t.nx, t.size, t.cells_x),
                                     lm_global(a.y[k], tile / t.nx, t.size, t.cells_y), (double)a.u[k], (double)a.v[k],
                                     (double)a.w[k]);
    return hash;
}

/* --- where particles go: counts by cell, starts, places --- */

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

static struct lm_starts starts_of(const struct lm_cpu *c, const struct lm_cpu_species *s)
{
    return (struct lm_starts){s->cell_start, s->tile_start, c->base.setup.tile};
}

static uint32_t next_rank(uint32_t *counter)
{
    uint32_t rank;
#pragma omp atomic capture
    rank = (*counter)++;
    return rank;
}

static void move_array(struct lm_cpu *c, struct lm_cpu_species *s, void **array, size_t element)
{
    const char *from = *array;
    char *to = s->scratch;
#pragma omp parallel for num_threads(c->threads)
    for (size_t k = 0; k < s->count; k++)
        memcpy(to + s->place[k] * element, from + k * element, element);
    s->scratch = *array;
    *array = to;
}

int LM_P(lm_cpu_sort)(struct lm_backend *b, int species)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    struct lm_tiling t = tiling(c);
    struct arrays a = arrays_of(s);
    memset(s->cell_start, 0, tile_cells(c) * sizeof *s->cell_start);
    uint32_t *cell_of = s->scratch; /* free until the arrays move */
#pragma omp parallel for schedule(dynamic, 16) num_threads(c->threads)
    for (int tile = 0; tile < t.nx * t.ny; tile++)
        for (size_t k = s->tile_start[tile]; k < s->tile_start[tile + 1]; k++) {
            cell_of[k] = lm_rebase(&t, tile, &a.x[k], &a.y[k]);
            s->place[k] = next_rank(&s->cell_start[cell_of[k]]);
        }
    scan_cells(c, s);
    struct lm_starts starts = starts_of(c, s);
#pragma omp parallel for num_threads(c->threads)
    for (size_t k = 0; k < s->count; k++)
        s->place[k] = lm_place_of(&starts, cell_of[k], s->place[k]);
    move_array(c, s, &s->x, sizeof(lm_fix));
    move_array(c, s, &s->y, sizeof(lm_fix));
    move_array(c, s, &s->u, sizeof(lm_real));
    move_array(c, s, &s->v, sizeof(lm_real));
    move_array(c, s, &s->w, sizeof(lm_real));
    return LM_OK;
}

/* --- getting particles in and out --- */

int LM_P(lm_cpu_reserve)(struct lm_backend *b, int species, uint64_t count)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    void **const arrays[] = {&s->x, &s->y, &s->u, &s->v, &s->w, &s->scratch};
    if (count > LM_MAX_PARTICLES)
        return lm_fail(LM_BAD_INPUT, "%llu particles; at most %llu fit one device", (unsigned long long)count,
                       (unsigned long long)LM_MAX_PARTICLES);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        free(*arrays[k]);
        *arrays[k] = malloc((count + 1) * sizeof(lm_real));
    }
    free(s->place);
    s->place = malloc((count + 1) * sizeof *s->place);
    if (!s->x || !s->y || !s->u || !s->v || !s->w || !s->scratch || !s->place)
        return lm_fail(LM_FAILED, "not enough memory for %llu particles of species %d", (unsigned long long)count,
                       species);
    s->count = count;
    s->placing = 0;
    memset(s->cell_start, 0, tile_cells(c) * sizeof *s->cell_start);
    memset(s->cell_rank, 0, tile_cells(c) * sizeof *s->cell_rank);
    return LM_OK;
}

int LM_P(lm_cpu_put_particles)(struct lm_backend *b, int species, int place, uint64_t count,
                               struct lm_raw_particles from)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_cpu_species *s = &c->species[species];
    struct lm_tiling t = tiling(c);
    struct arrays a = arrays_of(s);
    if (place && !s->placing) {
        scan_cells(c, s);
        s->placing = 1;
    }
    struct lm_starts starts = starts_of(c, s);
    for (size_t k = 0; k < count; k++) {
        int home;
        uint32_t cell = lm_tile_cell(&t, (int)(from.x[k] >> LM_FRACTION_BITS), (int)(from.y[k] >> LM_FRACTION_BITS));
        if (!place) {
            s->cell_start[cell]++;
            continue;
        }
        uint32_t to = lm_place_of(&starts, cell, s->cell_rank[cell]++);
        a.x[to] = lm_local(from.x[k], t.size, &home);
        a.y[to] = lm_local(from.y[k], t.size, &home);
        a.u[to] = ((const lm_real *)from.u)[k];
        a.v[to] = ((const lm_real *)from.v)[k];
        a.w[to] = ((const lm_real *)from.w)[k];
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
        while (s->tile_start[tile + 1] <= p)
            tile++;
        to.x[k] = lm_global(a.x[p], tile % t.nx, t.size, t.cells_x);
        to.y[k] = lm_global(a.y[p], tile / t.nx, t.size, t.cells_y);
        ((lm_real *)to.u)[k] = a.u[p];
        ((lm_real *)to.v)[k] = a.v[p];
        ((lm_real *)to.w)[k] = a.w[p];
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
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            uint32_t n = lm_cell_count(profile, lm_at(g, i, j), i, j, (uint32_t)j * (uint32_t)g->nx + (uint32_t)i);
            s->cell_start[lm_tile_cell(&t, i, j)] = n;
            total += n;
        }
    return total;
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
    struct lm_starts starts = starts_of(c, s);
#pragma omp parallel for num_threads(c->threads)
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            uint32_t home = lm_tile_cell(&t, i, j), n = s->cell_start[home + 1] - s->cell_start[home];
            uint32_t cell = (uint32_t)j * (uint32_t)g->nx + (uint32_t)i;
            for (uint32_t r = 0; r < n; r++) {
                uint32_t to = lm_place_of(&starts, home, r);
                lm_real v[3];
                lm_load_particle(&profile, lm_at(g, i, j), g->stride, cell, r, n, &a.x[to], &a.y[to], v);
                a.x[to] += (lm_fix)(i % t.size) * LM_ONE;
                a.y[to] += (lm_fix)(j % t.size) * LM_ONE;
                a.u[to] = v[0], a.v[to] = v[1], a.w[to] = v[2];
            }
        }
    *count = total;
done:
    free(scale);
    return status;
}
