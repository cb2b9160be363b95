/* The gather of push.h from a window in which the fields of a node stand side by side.
 *
 * lm_gather_fields takes one field after the other, with a load of its own for each node, particle and field. That is
 * most of the work of a processor without fast gathers. E and B have one stencil, so here a load brings as many fields
 * of a node as a register holds. The sums are those of lm_gather_fields, so the bits are the same. */
#ifndef LARMOR_PHYSICS_PARTICLES_GATHER_NODES_H
#define LARMOR_PHYSICS_PARTICLES_GATHER_NODES_H

#include "larmor/physics/particles/push.h"

typedef lm_real lm_node_fields[LM_WINDOW_FIELDS];

/* As struct lm_window, with component c of node (i, j) at origin[j * width + i][c]. */
struct lm_node_window {
    const lm_node_fields *origin;
    int width;
};

/* lm_gather of one component. */
LM_HD lm_real lm_gather_component(int order_x, int order_y, const struct lm_node_window *win, int component,
                                  const struct lm_stencil *x, const struct lm_stencil *y)
{
    const lm_node_fields *const node = win->origin + y->at * win->width + x->at;
    lm_real sum = 0;
    LM_UNROLL
    for (int b = 0; b <= order_y; b++) {
        lm_real r = x->w[0] * node[b * win->width][component];
        LM_UNROLL
        for (int a = 1; a <= order_x; a++)
            r = lm_rfma(x->w[a], node[b * win->width + a][component], r);
        sum = b == 0 ? y->w[0] * r : lm_rfma(y->w[b], r, sum);
    }
    return sum;
}

/* lm_gather of all components with one stencil. */
LM_HD void lm_gather_components(int order, const struct lm_node_window *win, const struct lm_stencil *x,
                                const struct lm_stencil *y, lm_node_fields sum)
{
    const lm_node_fields *const node = win->origin + y->at * win->width + x->at;
    LM_UNROLL
    for (int b = 0; b <= order; b++) {
        lm_node_fields r;
#pragma omp simd
        for (int c = 0; c < LM_WINDOW_FIELDS; c++)
            r[c] = x->w[0] * node[b * win->width][c];
        LM_UNROLL
        for (int a = 1; a <= order; a++)
#pragma omp simd
            for (int c = 0; c < LM_WINDOW_FIELDS; c++)
                r[c] = lm_rfma(x->w[a], node[b * win->width + a][c], r[c]);
#pragma omp simd
        for (int c = 0; c < LM_WINDOW_FIELDS; c++)
            sum[c] = b == 0 ? y->w[0] * r[c] : lm_rfma(y->w[b], r[c], sum[c]);
    }
}

/* E with the force of the pressure, then B, at (x, y). The last two numbers of `to` are not used. */
LM_HD void lm_gather_nodes(int order, const struct lm_node_window *win, lm_fix x, lm_fix y, lm_node_fields to)
{
    const struct lm_stencil cx = lm_centre(order, x), cy = lm_centre(order, y), fx = lm_face(1, x), fy = lm_face(1, y);
    lm_node_fields sum;
    lm_gather_components(order, win, &cx, &cy, sum);
    sum[LM_WINDOW_E] += lm_gather_component(1, order, win, LM_WINDOW_PRESSURE, &fx, &cy);
    sum[LM_WINDOW_E + 1] += lm_gather_component(order, 1, win, LM_WINDOW_PRESSURE + 1, &cx, &fy);
#pragma omp simd
    for (int c = 0; c < LM_WINDOW_FIELDS; c++)
        to[c] = sum[c];
}

LM_HD struct lm_local_fields lm_local_fields_of(const lm_node_fields f)
{
    const lm_real *const e = f + LM_WINDOW_E, *const b = f + LM_WINDOW_B;
    return (struct lm_local_fields){{e[0], e[1], e[2]}, {b[0], b[1], b[2]}};
}

#endif
