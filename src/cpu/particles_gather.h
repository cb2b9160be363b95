/* The fields at particles of a tile. For sources that are compiled for each precision. */
#ifndef LARMOR_CPU_PARTICLES_GATHER_H
#define LARMOR_CPU_PARTICLES_GATHER_H

#include "cpu/particles.h"
#include "larmor/physics/particles/gather_nodes.h"

/* As in struct lm_window, for the shape of the run. */
static inline struct lm_node_window fill_nodes(const struct lm_cpu *c, int species, const struct footprint *f,
                                               lm_node_fields *store)
{
    const int width = f->width;
    const double *field[LM_WINDOW_FIELDS];
    window_fields(c, species, field);
    for (int j = 0; j < width; j++) {
        const size_t row = lm_at(&c->base.setup.grid, 0, f->row[j]);
        for (int i = 0; i < width; i++)
            for (int d = 0; d < LM_WINDOW_FIELDS; d++)
                store[j * width + i][d] = (lm_real)field[d][row + (size_t)f->column[i]];
    }
    if (order_of(c) == 1)
        lm_join_window(store[0], width, LM_WINDOW_FIELDS, 1);
    return (struct lm_node_window){(const lm_node_fields *)store + LM_WINDOW_LOW * width + LM_WINDOW_LOW, width};
}

/* lm_linear_place of some particles. */
enum { PLACED = 64 };
struct placed {
    int32_t corner[PLACED], right[PLACED], up[PLACED];
    lm_real x[PLACED], y[PLACED], centre_x[PLACED], centre_y[PLACED];
};

/* lm_gather_nodes with the linear shape. The places are found in vector instructions. */
LM_HD void gather_placed(const struct lm_node_window *w, const struct arrays *a, size_t first, int count, int size,
                         lm_node_fields *to)
{
    struct placed s;
#pragma omp simd
    for (int l = 0; l < count; l++) {
        const lm_fix x = a->x[first + (size_t)l], y = a->y[first + (size_t)l],
                     near = -(lm_fix)lm_in_window(1, x, y, size);
        const struct lm_linear_place p = lm_linear_place_at(w->width, x & near, y & near);
        s.corner[l] = p.corner, s.right[l] = p.right, s.up[l] = p.up;
        s.x[l] = p.x, s.y[l] = p.y, s.centre_x[l] = p.centre_x, s.centre_y[l] = p.centre_y;
    }
    for (int l = 0; l < count; l++) {
        const struct lm_linear_place p = {s.corner[l], s.right[l],    s.up[l],      s.x[l],
                                          s.y[l],      s.centre_x[l], s.centre_y[l]};
        lm_gather_nodes_linear(w, &p, to[l]);
    }
}

/* lm_gather_nodes at particles [first, first + count) of a tile of `size` cells. A stray gets what stands at the tile's
 * corner. */
LM_HD void gather_block(int order, const struct lm_node_window *w, const struct arrays *a, size_t first, int count,
                        int size, lm_node_fields *to)
{
    if (order == 1) {
        for (int l = 0; l < count; l += PLACED)
            gather_placed(w, a, first + (size_t)l, count - l < PLACED ? count - l : PLACED, size, to + l);
        return;
    }
    for (int l = 0; l < count; l++) {
        const lm_fix x = a->x[first + (size_t)l], y = a->y[first + (size_t)l],
                     near = -(lm_fix)lm_in_window(2, x, y, size);
        lm_gather_nodes_quadratic(w, x & near, y & near, to[l]);
    }
}

#endif
