/* The fields at particles of a tile. For sources that are compiled for each precision. */
#ifndef LARMOR_CPU_PARTICLES_GATHER_H
#define LARMOR_CPU_PARTICLES_GATHER_H

#include "cpu/particles.h"
#include "larmor/physics/particles/gather_nodes.h"

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
    return (struct lm_node_window){(const lm_node_fields *)store + LM_WINDOW_LOW * width + LM_WINDOW_LOW, width};
}

/* lm_gather_nodes at particles [first, first + count) of a tile of `size` cells. A stray gets what stands at the tile's
 * corner. */
LM_HD void gather_block(int order, const struct lm_node_window *w, const struct arrays *a, size_t first, int count,
                        int size, lm_node_fields *to)
{
    for (int l = 0; l < count; l++) {
        const lm_fix x = a->x[first + (size_t)l], y = a->y[first + (size_t)l],
                     near = -(lm_fix)lm_in_window(order, x, y, size);
        lm_gather_nodes(order, w, x & near, y & near, to[l]);
    }
}

#endif
