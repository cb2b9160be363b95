/* CPU backend: the particle pass, and new particles. The bodies are in larmor/physics/particles/.
 *
 * A thread takes a tile and copies the fields around it to a window. It goes through the particles of the tile in
 * blocks of BLOCK, and adds their integer moments to the grid when the tile is done.
 *
 * A block of particles goes through three loops: push, charge quanta, sums. The first two loops have no branches and
 * one iteration a particle, so that the compiler makes vector instructions from the bodies. The third loop adds the
 * quanta of the corners of a stencil, four at a time: every node has a sum of its own for each corner. These sums are
 * added up only when the tile is done. */
#include "cpu/particles.h"

#include "larmor/physics/particles/pass.h"
#include "larmor/physics/particles/inflow.h"
#include "larmor/physics/particles/ionise.h"
#include "larmor/physics/particles/new_particle.h"

enum { BLOCK = 64, QUADS = 2 };

typedef int32_t quad __attribute__((vector_size(16), may_alias));

/* Corner c of a stencil is element c % 4 of quad c / 4; the ninth one of the quadratic shape stands alone. */
struct sums {
    quad quads[LM_MOMENTS][QUADS][AREA_MAX]; /* at the stencil's first node */
    int32_t ninth[LM_MOMENTS][AREA_MAX];
};

struct block {
    _Alignas(64) int32_t near[BLOCK];                                 /* 0: a stray, which takes the direct path */
    int32_t half_x[BLOCK], half_y[BLOCK], end_x[BLOCK], end_y[BLOCK]; /* struct lm_deposit_places */
    int32_t node[LM_MOMENTS][BLOCK]; /* first node of the stencil, from the origin of the window */
    int32_t quads[LM_MOMENTS][QUADS][BLOCK][4], ninth[LM_MOMENTS][BLOCK];
};

/* What a thread works with. */
struct worker {
    struct lm_cpu *c;
    struct arrays a;
    struct lm_step step;
    int tile;
    struct lm_window window;
    struct sums sums;
    struct block block;
    uint64_t speed2; /* largest |v|^2 so far */
    int64_t strays;
    int open;         /* there are walls or bodies */
    int has_collided; /* the first part of the push is done, and the collisions in its middle */
    struct lm_surfaces surfaces;
    struct lm_tally_units units;
    struct lm_tally lost[LM_CHANNELS];
    uint64_t *map;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* --- strays: everything through the grid --- */

/* Only one thread at a time adds to a row of the sums of the grid. */
static void add_to_grid(struct lm_cpu *c, int moment, int i, int j, int32_t quanta)
{
    const struct lm_grid *g = &c->base.setup.grid;
    int sign = 1;
    const int column = lm_cell_inside(&g->sides, 0, g->nx, moment == LM_CURRENT_X, i, &sign);
    const int row = lm_cell_inside(&g->sides, 1, g->ny, moment == LM_CURRENT_Y, j, &sign);
    omp_set_lock(&c->row_lock[row]);
    c->sums[moment][(size_t)row * (size_t)g->nx + (size_t)column] += sign * quanta;
    omp_unset_lock(&c->row_lock[row]);
}

/* Deposits the current or the density of a flight where it ended. */
static void add_current(struct worker *w, int order, const struct lm_flight *f)
{
#define ADD(d, a, b, part) add_to_grid(w->c, d, f->i + (a), f->j + (b), part)
    if (f->channel < 0)
        LM_DEPOSIT_CURRENT(order, lm_fix24(f->x), lm_fix24(f->y), f->vx, f->vy, f->vz, w->step.current_scale, ADD);
#undef ADD
}

static void add_density(struct worker *w, int order, const struct lm_flight *f)
{
#define ADD(d, a, b, part) add_to_grid(w->c, d, f->i + (a), f->j + (b), part)
    LM_DEPOSIT_DENSITY(order, lm_fix24(f->x), lm_fix24(f->y), ADD);
#undef ADD
}

/* Adds the hits of a flight to the maps, and the particle to the losses if it has left. Returns 0 if it has left. */
static int book_flight(struct worker *w, const struct lm_flight *f)
{
    const struct lm_setup *s = &w->c->base.setup;
    for (int n = 0; n < f->hits && w->map; n++) {
        uint64_t *counter = &w->map[lm_map_bin(&s->maps, &f->hit[n], s->species[w->surfaces.species].mass)];
#pragma omp atomic
        (*counter)++;
    }
    if (f->channel < 0)
        return 1;
    struct lm_tally t = lm_tally_of(&w->units, (double)f->vx, (double)f->vy, (double)f->vz);
    lm_tally_add(&w->lost[f->channel], &t);
    return 0;
}

static void raise_speed(struct worker *w, const struct lm_flight *f)
{
    w->speed2 = larger(w->speed2, lm_flight_speed2_bits(f));
}

static void pass_stray(struct worker *w, int order, size_t k)
{
    const struct lm_particle p = particle_at(&w->a, k);
    const struct lm_tiling t = tiling(w->c);
    struct lm_stray s;
    struct lm_stray_step m;
    if (p.x == LM_GONE)
        return;
    const struct lm_window win = stray_window(w->c, w->surfaces.species, w->tile, &p, &s);
    struct lm_local_fields felt;
    if (w->has_collided)
        lm_gather_fields(order, &win, s.p.x, s.p.y, felt.e, felt.b);
    lm_pass_stray(order, w->has_collided ? &felt : NULL, &m, &s, &win, &w->step, w->open, &w->surfaces, &t);
    w->strays++;
    add_current(w, order, &m.mid);
    if (book_flight(w, &m.end)) {
        add_density(w, order, &m.end);
        raise_speed(w, &m.end);
    }
    put_particle(&w->a, k, lm_stray_stored(&p, &m.end));
}

/* --- blocks --- */

/* Particle k, number l of the block: push, move, places of the deposition. A stray is left as it is. Returns |v|^2 as
 * bits. Masks, which are all ones or 0, instead of branches keep the loop over a block a vector loop. */
LM_HD uint64_t push_near(int order, int is_free, int has_collided, struct arrays a, size_t k, const struct lm_near *n,
                         const struct lm_window *win, const struct lm_step *step, struct block *b, int l)
{
    struct lm_particle old = {a.x[k], a.y[k], a.vx[k], a.vy[k], a.vz[k]}, p = old;
    struct lm_deposit_places at;
    lm_fix near = -(lm_fix)lm_in_window(order, p.x, p.y, n->size);
    p.x &= near; /* a stray is pushed where the window has fields; the result is not used */
    p.y &= near;
    struct lm_local_fields felt;
    if (has_collided)
        lm_gather_fields(order, win, p.x, p.y, felt.e, felt.b);
    near &= -(lm_fix)lm_pass_near(order, is_free, has_collided ? &felt : NULL, &p, win, step, n, &at);
    const int32_t mask = (int32_t)near;
    b->near[l] = mask;
    b->half_x[l] = at.half_x & mask, b->half_y[l] = at.half_y & mask;
    b->end_x[l] = at.end_x & mask, b->end_y[l] = at.end_y & mask;
    a.x[k] = near ? p.x : old.x, a.y[k] = near ? p.y : old.y;
    a.vx[k] = near ? p.vx : old.vx, a.vy[k] = near ? p.vy : old.vy, a.vz[k] = near ? p.vz : old.vz;
    return lm_speed2_bits(&p) & (uint64_t)(int64_t)near;
}

/* Quanta of particle number l of the block. Those of a stray are not used. */
LM_HD void quanta_of(int order, struct arrays a, size_t k, int width, float scale, struct block *b, int l)
{
    int corner = 0, corners = (order + 1) * (order + 1);
#define ADD(d, i, j, part)                                                                                             \
    do {                                                                                                               \
        if (corner == 0)                                                                                               \
            b->node[d][l] = (j)*width + (i);                                                                           \
        *(corner < 8 ? &b->quads[d][corner / 4][l][corner % 4] : &b->ninth[d][l]) = part;                              \
        corner = (corner + 1) % corners;                                                                               \
    } while (0)
    const struct lm_deposit_places at = {b->half_x[l], b->half_y[l], b->end_x[l], b->end_y[l]};
    LM_DEPOSIT_PASS(order, at, a.vx[k], a.vy[k], a.vz[k], scale, ADD);
#undef ADD
}

LM_HD void sum_quanta(int order, struct sums *s, int origin, const struct block *b, int l)
{
    LM_UNROLL
    for (int d = 0; d < LM_MOMENTS; d++) {
        int node = origin + b->node[d][l];
        LM_UNROLL
        for (int q = 0; q < order; q++)
            s->quads[d][q][node] += *(const quad *)b->quads[d][q][l];
        if (order == 2)
            s->ninth[d][node] += b->ninth[d][l];
    }
}

/* Particles [first, first + count), at most a block of them. */
LM_HD void pass_block(struct worker *w, int order, int is_free, int has_collided, size_t first, int count)
{
    const struct arrays a = w->a;
    const struct lm_step step = w->step;
    const struct lm_window win = w->window;
    struct block *b = &w->block;
    const struct lm_tiling t = tiling(w->c);
    const struct lm_surfaces surfaces = w->surfaces;
    const struct lm_near near = {&t, &surfaces, t.size, w->tile};
    int origin = LM_WINDOW_LOW * win.width + LM_WINDOW_LOW;
    uint64_t speed2 = w->speed2;
#pragma omp simd reduction(max : speed2)
    for (int l = 0; l < count; l++) {
        uint64_t bits = push_near(order, is_free, has_collided, a, first + (size_t)l, &near, &win, &step, b, l);
        speed2 = bits > speed2 ? bits : speed2;
    }
    w->speed2 = speed2;
#pragma omp simd
    for (int l = 0; l < count; l++)
        quanta_of(order, a, first + (size_t)l, win.width, step.current_scale, b, l);
    for (int l = 0; l < count; l++)
        if (b->near[l])
            sum_quanta(order, &w->sums, origin, b, l);
        else
            pass_stray(w, order, first + (size_t)l);
}

/* --- tiles --- */

/* Adds to `nodes` what a row of stencils gives to the row of nodes `above` it. */
LM_HD void add_stencils(int order, const struct sums *s, int moment, int first, int width, int above, int32_t *nodes)
{
    for (int i = 0; i < width - order; i++)
        LM_UNROLL
    for (int a = 0; a <= order; a++) {
        int corner = above * (order + 1) + a;
        nodes[i + a] += corner < 8 ? s->quads[moment][corner / 4][first + i][corner % 4] : s->ninth[moment][first + i];
    }
}

/* Adds a row of the window to the grid. */
static void add_row(struct lm_cpu *c, const struct footprint *f, int j, int32_t nodes[LM_MOMENTS][WIDTH_MAX])
{
    const struct lm_grid *g = &c->base.setup.grid;
    if (f->at.at_wall) {
        for (int d = 0; d < LM_MOMENTS; d++)
            for (int i = 0; i < f->width; i++)
                if (nodes[d][i])
                    add_to_grid(c, d, f->at.i + i, f->at.j + j, nodes[d][i]);
        return;
    }
    size_t row = (size_t)f->row[j] * (size_t)g->nx;
    omp_set_lock(&c->row_lock[f->row[j]]);
    for (int d = 0; d < LM_MOMENTS; d++)
        for (int i = 0; i < f->width; i++)
            c->sums[d][row + (size_t)f->column[i]] += nodes[d][i];
    omp_unset_lock(&c->row_lock[f->row[j]]);
}

/* Adds the sums to the grid and clears them. */
LM_HD void flush(struct worker *w, int order, const struct footprint *f)
{
    for (int j = 0; j < f->width; j++) {
        int32_t nodes[LM_MOMENTS][WIDTH_MAX] = {0};
        for (int d = 0; d < LM_MOMENTS; d++)
            for (int b = 0; b <= order && b <= j; b++)
                add_stencils(order, &w->sums, d, (j - b) * f->width, f->width, b, nodes[d]);
        add_row(w->c, f, j, nodes);
    }
    memset(&w->sums, 0, sizeof w->sums);
}

LM_HD void pass_chunks(struct worker *w, int order, int is_free, int has_collided, size_t first, size_t end,
                       const struct footprint *f)
{
    for (; first < end; first += LM_CHUNK) {
        size_t last = end - first < LM_CHUNK ? end : first + LM_CHUNK;
        for (size_t k = first; k < last; k += BLOCK)
            pass_block(w, order, is_free, has_collided, k, last - k < BLOCK ? (int)(last - k) : BLOCK);
        flush(w, order, f);
    }
}

/* Each call has constants for the kind of the pass, so that the compiler makes a loop for each. */
static void pass_tile(struct worker *w, size_t first, size_t end, const struct footprint *f)
{
    const int linear = w->c->base.setup.shape == LM_LINEAR;
    switch (4 * linear + 2 * f->is_free + w->has_collided) {
    case 0:
        pass_chunks(w, 2, 0, 0, first, end, f);
        return;
    case 1:
        pass_chunks(w, 2, 0, 1, first, end, f);
        return;
    case 2:
        pass_chunks(w, 2, 1, 0, first, end, f);
        return;
    case 3:
        pass_chunks(w, 2, 1, 1, first, end, f);
        return;
    case 4:
        pass_chunks(w, 1, 0, 0, first, end, f);
        return;
    case 5:
        pass_chunks(w, 1, 0, 1, first, end, f);
        return;
    case 6:
        pass_chunks(w, 1, 1, 0, first, end, f);
        return;
    default:
        pass_chunks(w, 1, 1, 1, first, end, f);
    }
}

static struct worker worker_of(struct lm_cpu *c, int species, const struct lm_pass *pass)
{
    return (struct worker){.c = c,
                           .a = arrays_of(&c->species[species]),
                           .step = lm_step_of(&c->base.setup, species, pass),
                           .open = lm_setup_is_open(&c->base.setup),
                           .has_collided = pass->collisions != NULL,
                           .surfaces = surfaces_of(c, species, pass),
                           .units = lm_tally_units_of(pass),
                           .map = pass->move ? c->species[species].map : NULL};
}

/* Adds the losses of a thread to those of the step. */
static void add_losses(const struct worker *w, int species)
{
    struct lm_control *to = &w->c->control;
#pragma omp critical(book)
    for (int channel = 0; channel < LM_CHANNELS; channel++) {
        lm_tally_add(&to->lost[species][channel], &w->lost[channel]);
        w->c->species[species].gone += (uint64_t)w->lost[channel].number;
    }
}

int LM_P(lm_cpu_pass)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_cpu_species *s = &c->species[species];
    const int linear = b->setup.shape == LM_LINEAR;
    uint64_t speed2 = 0;
    int64_t strays = 0;
    lm_cpu_add_force(c, species);
    if (pass->collisions)
        LM_P(lm_cpu_collide)(c, species, pass);
#pragma omp parallel num_threads(c->threads) reduction(max : speed2) reduction(+ : strays)
    {
        lm_real fields[LM_WINDOW_FIELDS * AREA_MAX];
        struct worker w = worker_of(c, species, pass);
#pragma omp for schedule(dynamic, 4)
        for (int tile = 0; tile < c->tiling.nx * c->tiling.ny; tile++) {
            struct footprint f = footprint_of(c, tile);
            w.tile = tile;
            w.window = fill_window(c, species, &f, fields);
            size_t first = s->tile_start[tile], end = s->tile_start[tile + 1];
            pass_tile(&w, first, end, &f);
        }
#pragma omp for schedule(dynamic, 64)
        for (size_t k = s->sorted; k < s->count; k++) {
            w.tile = home_of(s, k, 0);
            pass_stray(&w, linear ? 1 : 2, k);
        }
        speed2 = w.speed2;
        strays = w.strays;
        add_losses(&w, species);
    }
    c->control.speed2[species] = lm_from_bits(speed2);
    c->control.strays[species] = strays;
    return LM_OK;
}

/* --- what enters and what is born --- */

/* A new particle stays behind the sorted ones until the next sort. */
static void append(struct worker *w, struct lm_cpu_species *s, const struct lm_flight *f)
{
    const struct lm_tiling t = tiling(w->c);
    size_t k;
#pragma omp atomic capture
    k = s->count++;
    put_particle(&w->a, k, lm_new_particle(f, &t, &s->home[k - s->sorted]));
}

/* A new particle that starts at *f with `part` of the step left; adds it to *injected. */
static void begin_flight(struct worker *w, struct lm_flight *f, double part, struct lm_tally *injected)
{
    const struct lm_tiling t = tiling(w->c);
    const int order = w->c->base.setup.shape == LM_LINEAR ? 1 : 2;
    const struct lm_tally tally = lm_tally_of(&w->units, (double)f->vx, (double)f->vy, (double)f->vz);
    struct lm_flight mid;
    lm_tally_add(injected, &tally);
    if (lm_new_half_way(&mid, f, &w->surfaces, &t, part))
        add_current(w, order, &mid);
    lm_move_partial(f, &w->surfaces, &t, part);
    if (!book_flight(w, f))
        return;
    add_density(w, order, f);
    raise_speed(w, f);
    append(w, &w->c->species[w->surfaces.species], f);
}

/* Particles that enter through one cell of a side. */
static void enter_cell(struct worker *w, const struct lm_pass *pass, int side, int cell, struct lm_tally *injected)
{
    const int species = w->surfaces.species;
    const struct lm_inflow_cell *from = &w->c->species[species].inflow[side][cell];
    const struct lm_tiling t = tiling(w->c);
    const uint32_t number = lm_inflow_number(side, lm_domain_along(&w->surfaces.place, side < LM_Y_MIN, cell));
    const uint32_t n = lm_inflow_count(from, w->c->base.setup.seed, species, number, pass->step);
    for (uint32_t r = 0; r < n; r++) {
        struct lm_flight f;
        const double part = lm_draw_entering(&f, from, &w->surfaces, &t, side, cell, number, r, n);
        begin_flight(w, &f, part, injected);
    }
}

int LM_P(lm_cpu_enter)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    struct lm_control *to = &c->control;
    const uint64_t gone = c->species[species].gone;
    uint64_t speed2 = lm_bits(to->speed2[species]);
#pragma omp parallel num_threads(c->threads) reduction(max : speed2)
    {
        struct worker w = worker_of(c, species, pass);
        for (int side = 0; side < LM_SIDES; side++) {
            struct lm_tally injected = {0};
            if (!c->species[species].inflow[side] || !lm_owns_side(g, side))
                continue;
#pragma omp for schedule(dynamic, 16)
            for (int cell = side < LM_Y_MIN ? g->own.from_y : g->own.from_x;
                 cell < (side < LM_Y_MIN ? g->own.to_y : g->own.to_x); cell++)
                enter_cell(&w, pass, side, cell, &injected);
#pragma omp critical(book)
            lm_tally_add(&to->injected[species][side], &injected);
        }
        speed2 = larger(speed2, w.speed2);
        add_losses(&w, species);
    }
    c->species[species].gone = gone; /* a new particle that leaves in its first step has had no slot */
    to->speed2[species] = lm_from_bits(speed2);
    return LM_OK;
}

/* Ions that are born in one row of cells; adds what they take from the gas to *taken. */
static void ionise_row(struct worker *w, const struct lm_ionise *from, int j, struct lm_tally *injected,
                       struct lm_wide *taken)
{
    const struct lm_grid *g = &w->c->base.setup.grid;
    const struct lm_tiling t = tiling(w->c);
    for (int i = g->own.from_x; i < g->own.to_x; i++) {
        const size_t k = lm_at(g, i, j);
        const uint32_t cell = lm_domain_cell(&g->place, i, j), n = lm_ionise_count(from, k, cell);
        for (uint32_t r = 0; r < n; r++) {
            struct lm_flight f;
            const double part = lm_draw_newborn(&f, from, lm_cut_at(&w->surfaces, &t, i, j), k, i, j, cell, r, n);
            begin_flight(w, &f, part, injected);
        }
        if (from->gas && n > 0)
            lm_wide_add(taken, -lm_ionise_take(from, k, n));
    }
}

int LM_P(lm_cpu_ionise)(struct lm_backend *b, int source, const struct lm_pass *pass, int quantum)
{
    struct lm_cpu *c = lm_cpu_of(b);
    struct lm_control *to = &c->control;
    const int species = b->setup.ionisation[source].species, gas = b->setup.ionisation[source].gas;
    const struct lm_ionise from = lm_ionise_of(&b->setup, c->array, c->open, source, pass, quantum);
    const uint64_t gone = c->species[species].gone;
    uint64_t speed2 = lm_bits(to->speed2[species]);
#pragma omp parallel num_threads(c->threads) reduction(max : speed2)
    {
        struct worker w = worker_of(c, species, pass);
        struct lm_tally injected = {0};
        struct lm_wide taken = {0};
#pragma omp for schedule(dynamic, 1)
        for (int j = b->setup.grid.own.from_y; j < b->setup.grid.own.to_y; j++)
            ionise_row(&w, &from, j, &injected, &taken);
#pragma omp critical(book)
        {
            lm_tally_add(&to->injected[species][LM_IONISED], &injected);
            if (gas >= 0)
                lm_wide_merge(&to->background[gas].source, &taken);
        }
        speed2 = larger(speed2, w.speed2);
        add_losses(&w, species);
    }
    c->species[species].gone = gone; /* a new particle that leaves in its first step has had no slot */
    to->speed2[species] = lm_from_bits(speed2);
    if (gas >= 0)
        lm_halo_refresh(b->setup.halo, &c->array[LM_BACKGROUND + gas], 1);
    return LM_OK;
}
