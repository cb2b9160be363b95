/* CPU backend: the particle pass. The bodies are in larmor/physics/particles/.
 *
 * A thread takes a tile and copies the fields around it to a window. It goes through the particles of the tile in
 * blocks of BLOCK, and adds their integer moments to the grid when the tile is done.
 *
 * A block of particles goes through four loops: fields, push, charge quanta, sums. The first one gathers the fields of
 * one particle after the other (gather_nodes.h); with the linear shape a vector loop finds their places before. The
 * next two have no branches and one iteration a particle, so that the compiler makes vector instructions from the
 * bodies. The last one adds the quanta of the corners of a stencil, four at a time: every node has a sum of its own for
 * each corner. These sums are added up only when the tile is done. */
#include "cpu/particles_worker.h"

/* Particles behind the sorted ones that a thread takes at once; so many of one tile pay for its window. */
enum { UNSORTED = 1024, WORTH_A_WINDOW = 24 };

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
                         const struct lm_step *step, struct block *b, int l)
{
    struct lm_particle old = {a.x[k], a.y[k], a.vx[k], a.vy[k], a.vz[k]}, p = old;
    struct lm_deposit_places at;
    lm_fix near = -(lm_fix)lm_in_window(order, p.x, p.y, n->size);
    p.x &= near; /* a stray is pushed where the window has fields; the result is not used */
    p.y &= near;
    const struct lm_local_fields felt = lm_local_fields_of(b->fields[l]);
    lm_fix dx, dy;
    if (has_collided)
        lm_push_rest(&p, &felt, step, &dx, &dy);
    else
        lm_push_in(&p, &felt, step, &dx, &dy);
    near &= -(lm_fix)lm_pass_on(order, is_free, &p, dx, dy, step, n, &at);
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
    const struct lm_node_window win = w->window;
    struct block *b = &w->block;
    const struct lm_tiling t = tiling(w->c);
    const struct lm_surfaces surfaces = w->surfaces;
    const struct lm_free_ways ways = lm_free_ways_of(&surfaces, &t, w->tile, w->near_body, win.width);
    const struct lm_near near = {&t, &surfaces, t.size, w->tile, &ways};
    int origin = LM_WINDOW_LOW * win.width + LM_WINDOW_LOW;
    uint64_t speed2 = w->speed2;
    gather_block(order, &win, &a, first, count, t.size, b->fields);
#pragma omp simd reduction(max : speed2)
    for (int l = 0; l < count; l++) {
        uint64_t bits = push_near(order, is_free, has_collided, a, first + (size_t)l, &near, &step, b, l);
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

/* Adds a row of the window to the grid. Beyond walls it belongs to a row or a column inside, and currents through a
 * wall that turns particles back have the other sign there. */
static void add_row(struct lm_cpu *c, const struct footprint *f, int j, int32_t nodes[LM_MOMENTS][WIDTH_MAX])
{
    const struct lm_grid *g = &c->base.setup.grid;
    int sign_y = 1;
    const int row = lm_cell_inside(&g->sides, 1, g->ny, 1, f->at.j + j, &sign_y);
    const size_t first = (size_t)row * (size_t)g->nx;
    omp_set_lock(&c->row_lock[row]);
    for (int d = 0; d < LM_MOMENTS; d++)
        for (int i = 0; i < f->width; i++) {
            const int sign = (d == LM_CURRENT_X ? f->sign[i] : 1) * (d == LM_CURRENT_Y ? sign_y : 1);
            c->sums[d][first + (size_t)f->inside[i]] += sign * nodes[d][i];
        }
    omp_unset_lock(&c->row_lock[row]);
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

/* Where a particle of the window's tile stands near a body. */
static void fill_near_body(const struct lm_cpu *c, const struct footprint *f, int32_t *to)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int j = 0; j < f->width; j++)
        for (int i = 0; i < f->width; i++) {
            const size_t row = (size_t)lm_wrap_seldom(f->at.j + j, g->ny),
                         column = (size_t)lm_wrap_seldom(f->at.i + i, g->nx);
            to[j * f->width + i] = c->near_body ? c->near_body[row * (size_t)g->nx + column] : 0;
        }
}

/* Particles [first, end), which have this home tile. `fields` takes its window. */
static void pass_home(struct worker *w, int tile, lm_node_fields *fields, size_t first, size_t end)
{
    const struct footprint f = footprint_of(w->c, tile);
    w->tile = tile;
    w->at = &f;
    w->window = fill_nodes(w->c, w->surfaces.species, &f, fields);
    if (!f.is_free)
        fill_near_body(w->c, &f, w->near_body);
    pass_tile(w, first, end, &f);
    w->at = NULL;
}

/* Particles [first, end) behind the sorted ones. Those that have entered together have a home tile in common. */
static void pass_unsorted(struct worker *w, lm_node_fields *fields, size_t first, size_t end)
{
    const struct lm_cpu_species *s = &w->c->species[w->surfaces.species];
    const int order = order_of(w->c);
    for (size_t k = first, next; k < end; k = next) {
        const int home = home_of(s, k, 0);
        for (next = k + 1; next < end && home_of(s, next, 0) == home; next++)
            ;
        if (next - k >= WORTH_A_WINDOW) {
            pass_home(w, home, fields, k, next);
            continue;
        }
        w->tile = home;
        for (size_t n = k; n < next; n++)
            pass_stray(w, order, n);
    }
}

int LM_P(lm_cpu_pass)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_cpu_species *s = &c->species[species];
    uint64_t speed2 = 0;
    int64_t strays = 0;
    lm_cpu_add_force(c, species);
    if (pass->collisions)
        LM_P(lm_cpu_collide)(c, species, pass);
#pragma omp parallel num_threads(c->threads) reduction(max : speed2) reduction(+ : strays)
    {
        _Alignas(64) lm_node_fields fields[AREA_MAX];
        struct worker w = worker_of(c, species, pass);
#pragma omp for schedule(dynamic, 1)
        for (int tile = 0; tile < c->tiling.nx * c->tiling.ny; tile++) {
            if (s->tile_start[tile] < s->tile_start[tile + 1])
                pass_home(&w, tile, fields, s->tile_start[tile], s->tile_start[tile + 1]);
        }
#pragma omp for schedule(dynamic, 1)
        for (size_t k = s->sorted; k < s->count; k += UNSORTED)
            pass_unsorted(&w, fields, k, s->count - k < UNSORTED ? s->count : k + UNSORTED);
        speed2 = w.speed2;
        strays = w.strays;
        add_losses(&w, species);
    }
    c->control.speed2[species] = lm_from_bits(speed2);
    c->control.strays[species] = strays;
    return LM_OK;
}
