/* Where the window of a tile lies in the domain. */
#ifndef LARMOR_PHYSICS_PARTICLES_FOOTPRINT_H
#define LARMOR_PHYSICS_PARTICLES_FOOTPRINT_H

#include "larmor/physics/fields/wall.h"
#include "larmor/physics/particles/tile.h"

struct lm_footprint {
    int i, j;    /* first node of the window, not wrapped: it may lie beyond the domain */
    int is_out;  /* the window reaches beyond the domain */
    int at_wall; /* it does so along an axis that has walls */
};

/* `width`: nodes of the window along each axis. */
LM_HD struct lm_footprint lm_footprint_of(const struct lm_tiling *t, const struct lm_sides *sides, int tile, int width)
{
    struct lm_footprint f;
    f.i = tile % t->nx * t->size - LM_WINDOW_LOW;
    f.j = tile / t->nx * t->size - LM_WINDOW_LOW;
    const int out_x = f.i < 0 || f.i + width > t->cells_x, out_y = f.j < 0 || f.j + width > t->cells_y;
    f.is_out = out_x || out_y;
    f.at_wall = (out_x && lm_has_walls(sides, 0)) || (out_y && lm_has_walls(sides, 1));
    return f;
}

#endif
