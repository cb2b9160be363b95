/* What a thread works with in a pass over particles, and how single particles give their moments. For sources that are
 * compiled for each precision. */
#ifndef LARMOR_CPU_PARTICLES_WORKER_H
#define LARMOR_CPU_PARTICLES_WORKER_H

#include "cpu/particles_gather.h"

#include "larmor/physics/particles/pass.h"

enum { BLOCK = 64, QUADS = 2 };

typedef int32_t quad __attribute__((vector_size(16), may_alias));

/* Corner c of a stencil is element c % 4 of quad c / 4; the ninth one of the quadratic shape stands alone. */
struct sums {
    quad quads[LM_MOMENTS][QUADS][AREA_MAX]; /* at the stencil's first node */
    int32_t ninth[LM_MOMENTS][AREA_MAX];
};

struct block {
    _Alignas(64) lm_node_fields fields[BLOCK];
    int32_t near[BLOCK];                                              /* 0: a stray, which takes the direct path */
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
    struct lm_node_window window;
    const struct footprint *at; /* of the window; NULL: no window takes what single particles give */
    struct sums sums;
    struct block block;
    uint64_t speed2; /* largest |v|^2 so far */
    int64_t strays;
    int32_t near_body[AREA_MAX]; /* of struct lm_free_ways */
    int open;                    /* there are walls or bodies */
    int has_collided;            /* the first part of the push is done, and the collisions in its middle */
    struct lm_surfaces surfaces;
    struct lm_tally_units units;
    struct lm_tally lost[LM_CHANNELS];
    uint64_t *map;
};

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* --- single particles --- */

/* Only one thread at a time adds to a row of the sums of the grid. */
static inline void add_to_grid(struct lm_cpu *c, int moment, int i, int j, int32_t quanta)
{
    const struct lm_grid *g = &c->base.setup.grid;
    int sign = 1;
    const int column = lm_cell_inside(&g->sides, 0, g->nx, moment == LM_CURRENT_X, i, &sign);
    const int row = lm_cell_inside(&g->sides, 1, g->ny, moment == LM_CURRENT_Y, j, &sign);
    omp_set_lock(&c->row_lock[row]);
    c->sums[moment][(size_t)row * (size_t)g->nx + (size_t)column] += sign * quanta;
    omp_unset_lock(&c->row_lock[row]);
}

/* The node of a window along an axis that cell i of the arrays is, or one beyond the `count` nodes that begin with
 * node `first`. */
LM_HD int window_node(const struct lm_sides *sides, int axis, int n, int first, int count, int i)
{
    int node = i - first;
    if (!lm_has_walls(sides, axis) && (unsigned)node >= (unsigned)count)
        node += node < 0 ? n : -n;
    return node;
}

/* Adds to node (i, j): to the window of the tile where it can, which takes no lock. There a quantum counts as that of
 * a stencil's first corner, which every stencil of the window has. */
LM_HD void add_quanta(struct worker *w, int order, int moment, int i, int j, int32_t quanta)
{
    const struct lm_grid *g = &w->c->base.setup.grid;
    if (w->at) {
        const int width = w->at->width, count = width - order,
                  column = window_node(&g->sides, 0, g->nx, w->at->at.i, count, i),
                  row = window_node(&g->sides, 1, g->ny, w->at->at.j, count, j);
        if ((unsigned)column < (unsigned)count && (unsigned)row < (unsigned)count) {
            w->sums.quads[moment][0][row * width + column][0] += quanta;
            return;
        }
    }
    add_to_grid(w->c, moment, i, j, quanta);
}

/* Deposits the current or the density of a flight where it ended. */
static inline void add_current(struct worker *w, int order, const struct lm_flight *f)
{
#define ADD(d, a, b, part) add_quanta(w, order, d, f->i + (a), f->j + (b), part)
    if (f->channel < 0)
        LM_DEPOSIT_CURRENT(order, lm_fix24(f->x), lm_fix24(f->y), f->vx, f->vy, f->vz, w->step.current_scale, ADD);
#undef ADD
}

static inline void add_density(struct worker *w, int order, const struct lm_flight *f)
{
#define ADD(d, a, b, part) add_quanta(w, order, d, f->i + (a), f->j + (b), part)
    LM_DEPOSIT_DENSITY(order, lm_fix24(f->x), lm_fix24(f->y), ADD);
#undef ADD
}

/* Adds the hits of a flight to the maps, and the particle to the losses if it has left. Returns 0 if it has left. */
static inline int book_flight(struct worker *w, const struct lm_flight *f)
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

static inline void raise_speed(struct worker *w, const struct lm_flight *f)
{
    w->speed2 = larger(w->speed2, lm_flight_speed2_bits(f));
}

/* --- the work of a thread --- */

static inline struct worker worker_of(struct lm_cpu *c, int species, const struct lm_pass *pass)
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
static inline void add_losses(const struct worker *w, int species)
{
    struct lm_control *to = &w->c->control;
#pragma omp critical(book)
    for (int channel = 0; channel < LM_CHANNELS; channel++) {
        lm_tally_add(&to->lost[species][channel], &w->lost[channel]);
        w->c->species[species].gone += (uint64_t)w->lost[channel].number;
    }
}

#endif
