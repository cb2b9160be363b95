/* Points on the sides of the domain: the middles of the cell faces. */
#ifndef LARMOR_CONFIG_SIDE_POINTS_H
#define LARMOR_CONFIG_SIDE_POINTS_H

#include "larmor/grid.h"

/* The number of cell faces of the longest side. */
static inline size_t lm_longest_side(const struct lm_grid *g)
{
    return (size_t)(g->nx > g->ny ? g->nx : g->ny);
}

/* The middles x, y of the cell faces of a side. Returns their number. */
static inline int lm_side_points(const struct lm_grid *g, enum lm_side side, double *x, double *y)
{
    int along_y = side == LM_X_MIN || side == LM_X_MAX, count = along_y ? g->ny : g->nx;
    for (int k = 0; k < count; k++) {
        x[k] = along_y ? (side == LM_X_MAX ? g->lx : 0.0) : (k + 0.5) * g->dx;
        y[k] = along_y ? (k + 0.5) * g->dy : (side == LM_Y_MAX ? g->ly : 0.0);
    }
    return count;
}

#endif
