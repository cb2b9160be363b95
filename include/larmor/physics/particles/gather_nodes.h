/* The gather of push.h from a window in which the fields of a node stand side by side.
 *
 * lm_gather_fields takes one field after the other, with a load of its own for each node, particle and field. That is
 * most of the work of a processor without fast gathers. Here a load brings as many fields with one stencil as a
 * register holds: all of a node with the quadratic shape, E_z and B with the linear one. The sums are those of
 * lm_gather_fields, so the bits are the same. */
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

/* lm_gather of all components with the quadratic shape. */
LM_HD void lm_gather_components(const struct lm_node_window *win, const struct lm_stencil *x,
                                const struct lm_stencil *y, lm_node_fields sum)
{
    const lm_node_fields *const node = win->origin + y->at * win->width + x->at;
    LM_UNROLL
    for (int b = 0; b < 3; b++) {
        lm_node_fields r;
#pragma omp simd
        for (int c = 0; c < LM_WINDOW_FIELDS; c++)
            r[c] = x->w[0] * node[b * win->width][c];
        LM_UNROLL
        for (int a = 1; a < 3; a++)
#pragma omp simd
            for (int c = 0; c < LM_WINDOW_FIELDS; c++)
                r[c] = lm_rfma(x->w[a], node[b * win->width + a][c], r[c]);
#pragma omp simd
        for (int c = 0; c < LM_WINDOW_FIELDS; c++)
            sum[c] = b == 0 ? y->w[0] * r[c] : lm_rfma(y->w[b], r[c], sum[c]);
    }
}

/* lm_gather_nodes with the quadratic shape. */
LM_HD void lm_gather_nodes_quadratic(const struct lm_node_window *win, lm_fix x, lm_fix y, lm_node_fields to)
{
    enum { order = 2 };
    const struct lm_stencil cx = lm_centre(order, x), cy = lm_centre(order, y), fx = lm_face(1, x), fy = lm_face(1, y);
    lm_node_fields sum;
    lm_gather_components(win, &cx, &cy, sum);
    sum[LM_WINDOW_E] += lm_gather_component(1, order, win, LM_WINDOW_FACES, &fx, &cy);
    sum[LM_WINDOW_E + 1] += lm_gather_component(order, 1, win, LM_WINDOW_FACES + 1, &cx, &fy);
#pragma omp simd
    for (int c = 0; c < LM_WINDOW_FIELDS; c++)
        to[c] = sum[c];
}

/* Where a particle stands in a node window, for the linear shape. */
struct lm_linear_place {
    int corner;                 /* node (cx.at, cy.at) of the stencils of centres, from the origin */
    int right, up;              /* 1 if the cell of the particle is the upper one of the two along x, along y; else 0 */
    lm_real x, y;               /* the weights of the upper ones */
    lm_real centre_x, centre_y; /* lm_joined.on_centre */
};

LM_HD struct lm_linear_place lm_linear_place_at(int width, lm_fix x, lm_fix y)
{
    const struct lm_stencil cx = lm_centre(1, x), cy = lm_centre(1, y);
    const struct lm_joined ax = lm_joined_of(x, &cx), ay = lm_joined_of(y, &cy);
    const struct lm_linear_place p = {cy.at * width + cx.at, ax.centre - cx.at, ay.centre - cy.at, cx.w[1], cy.w[1],
                                      ax.on_centre,          ay.on_centre};
    return p;
}

/* lm_gather_nodes with the linear shape. */
LM_HD void lm_gather_nodes_linear(const struct lm_node_window *win, const struct lm_linear_place *p, lm_node_fields to)
{
    enum { NODE = LM_WINDOW_FIELDS };
    const struct lm_stencil cx = {0, {(lm_real)1 - p->x, p->x, 0}}, cy = {0, {(lm_real)1 - p->y, p->y, 0}};
    const struct lm_joined ax = {p->right, 0, p->centre_x, (lm_real)1 - p->centre_x},
                           ay = {p->up, 0, p->centre_y, (lm_real)1 - p->centre_y};
    const struct lm_corners w = lm_corners_of(&cx, &cy);
    const lm_real *const corner = win->origin[p->corner], *const face = corner + LM_WINDOW_FACES;
    const int row = win->width * NODE;
    to[LM_WINDOW_E] = lm_gather_joined(corner, face, NODE, row, &ax, &cy);
    to[LM_WINDOW_E + 1] = lm_gather_joined(corner + 1, face + 1, row, NODE, &ay, &cx);
#pragma omp simd
    for (int c = LM_WINDOW_E + 2; c < LM_WINDOW_FACES; c++)
        to[c] = lm_gather_corners(corner + c, NODE, row, &w);
}

/* E with the force of the pressure, then B, at (x, y). The last two numbers of `to` are not used. */
LM_HD void lm_gather_nodes(int order, const struct lm_node_window *win, lm_fix x, lm_fix y, lm_node_fields to)
{
    if (order == 1) {
        const struct lm_linear_place place = lm_linear_place_at(win->width, x, y);
        lm_gather_nodes_linear(win, &place, to);
    } else {
        lm_gather_nodes_quadratic(win, x, y, to);
    }
}

LM_HD struct lm_local_fields lm_local_fields_of(const lm_node_fields f)
{
    const lm_real *const e = f + LM_WINDOW_E, *const b = f + LM_WINDOW_B;
    return (struct lm_local_fields){{e[0], e[1], e[2]}, {b[0], b[1], b[2]}};
}

#endif
