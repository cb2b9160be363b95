/* The fields at particles of a tile, from a window in which the fields of a node stand side by side. For sources that
 * are compiled for each precision.
 *
 * lm_gather_fields takes one field after the other, with a load of its own for each node, particle and field, and a
 * processor has few of these at once. E and B have one stencil, so here a load brings all of a node that fit into a
 * register. The sums are those of lm_gather_fields, so the bits are the same. */
#ifndef LARMOR_CPU_PARTICLES_GATHER_H
#define LARMOR_CPU_PARTICLES_GATHER_H

#include "cpu/particles.h"

typedef lm_real fields_at[LM_WINDOW_FIELDS];

/* As struct lm_window, with field c of node (i, j) at origin[j * width + i][c]. */
struct node_window {
    const fields_at *origin;
    int width;
};

static inline struct node_window fill_nodes(const struct lm_cpu *c, int species, const struct footprint *f,
                                            fields_at *store)
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
    return (struct node_window){(const fields_at *)store + LM_WINDOW_LOW * width + LM_WINDOW_LOW, width};
}

/* What the sum over a stencil is for one field alone. */
LM_HD lm_real gather_one(int order_x, int order_y, const fields_at *node, int width, int field, const lm_real *wx,
                         const lm_real *wy)
{
    lm_real sum = 0;
    LM_UNROLL
    for (int b = 0; b <= order_y; b++) {
        lm_real r = wx[0] * node[b * width][field];
        LM_UNROLL
        for (int a = 1; a <= order_x; a++)
            r = lm_rfma(wx[a], node[b * width + a][field], r);
        sum = b == 0 ? wy[0] * r : lm_rfma(wy[b], r, sum);
    }
    return sum;
}

/* E with the force of the pressure, then B, at (x, y); what stands behind them is not used. */
LM_HD void gather_at(int order, const struct node_window *w, lm_fix x, lm_fix y, fields_at to)
{
    const struct lm_stencil cx = lm_centre(order, x), cy = lm_centre(order, y), fx = lm_face(1, x), fy = lm_face(1, y);
    const fields_at *const centre = w->origin + cy.at * w->width + cx.at;
    fields_at sum;
    LM_UNROLL
    for (int b = 0; b <= order; b++) {
        fields_at r;
#pragma omp simd
        for (int d = 0; d < LM_WINDOW_FIELDS; d++)
            r[d] = cx.w[0] * centre[b * w->width][d];
        LM_UNROLL
        for (int a = 1; a <= order; a++)
#pragma omp simd
            for (int d = 0; d < LM_WINDOW_FIELDS; d++)
                r[d] = lm_rfma(cx.w[a], centre[b * w->width + a][d], r[d]);
#pragma omp simd
        for (int d = 0; d < LM_WINDOW_FIELDS; d++)
            sum[d] = b == 0 ? cy.w[0] * r[d] : lm_rfma(cy.w[b], r[d], sum[d]);
    }
    sum[0] += gather_one(1, order, w->origin + cy.at * w->width + fx.at, w->width, LM_WINDOW_PRESSURE, fx.w, cy.w);
    sum[1] += gather_one(order, 1, w->origin + fy.at * w->width + cx.at, w->width, LM_WINDOW_PRESSURE + 1, cx.w, fy.w);
#pragma omp simd
    for (int d = 0; d < LM_WINDOW_FIELDS; d++)
        to[d] = sum[d];
}

LM_HD struct lm_local_fields local_fields(const fields_at f)
{
    return (struct lm_local_fields){{f[0], f[1], f[2]}, {f[3], f[4], f[5]}};
}

/* The same at particles [first, first + count) of a tile of `size` cells. A stray gets what stands at the tile's
 * corner. */
LM_HD void gather_block(int order, const struct node_window *w, const struct arrays *a, size_t first, int count,
                        int size, fields_at *to)
{
    for (int l = 0; l < count; l++) {
        const lm_fix x = a->x[first + (size_t)l], y = a->y[first + (size_t)l],
                     near = -(lm_fix)lm_in_window(order, x, y, size);
        gather_at(order, w, x & near, y & near, to[l]);
    }
}

#endif
