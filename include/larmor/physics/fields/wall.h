/* Walls in the moments: which inner cell a cell beyond a wall belongs to, and which cell of a field array. */
#ifndef LARMOR_PHYSICS_FIELDS_WALL_H
#define LARMOR_PHYSICS_FIELDS_WALL_H

#include "larmor/grid.h"
#include "larmor/physics/numerics/cell_index.h"

LM_HD int lm_has_walls(const struct lm_sides *s, int axis)
{
    return s->of[2 * axis] != LM_PERIODIC;
}

/* Whether anything can vary along an axis. It cannot along a single periodic cell, which is its own neighbour. */
LM_HD int lm_varies_along(const struct lm_grid *g, int axis)
{
    return (axis == 0 ? g->nx : g->ny) > 1 || lm_has_walls(&g->sides, axis);
}

/* Whether as many particles come back from a wall as go to it. Then no current crosses it. */
LM_HD int lm_turns_back(int boundary)
{
    return boundary == LM_REFLECTING || boundary == LM_THERMAL;
}

/* The cell inside to which a value at the centre of cell i along an axis of n cells belongs. *sign is multiplied by the
 * sign with which it counts there: a current along the axis (`along` is 1) has the opposite sign behind a wall that
 * turns particles back. */
LM_HD int lm_cell_inside(const struct lm_sides *s, int axis, int n, int along, int i, int *sign)
{
    if (!lm_has_walls(s, axis))
        return lm_wrap_seldom(i, n);
    while (i < 0 || i >= n) {
        if (along && lm_turns_back(s->of[2 * axis + (i >= n)]))
            *sign = -*sign;
        i = i < 0 ? -1 - i : 2 * n - 1 - i;
    }
    return i;
}

/* The cell of a field array that node i is: beyond walls a ghost cell, at most the outermost one. */
LM_HD int lm_field_cell(const struct lm_sides *s, int axis, int n, int i)
{
    if (!lm_has_walls(s, axis))
        return lm_wrap_seldom(i, n);
    return i < -LM_GHOST ? -LM_GHOST : i < n + LM_GHOST ? i : n + LM_GHOST - 1;
}

/* The cell of a field array with the value of a gas in node i: beyond walls the last cell inside. `low` is the first
 * node along the axis: -1 for velocities on the faces that the axis crosses. */
LM_HD int lm_gas_cell(const struct lm_sides *s, int axis, int n, int low, int i)
{
    if (!lm_has_walls(s, axis))
        return lm_wrap_seldom(i, n);
    return i < low ? low : i < n ? i : n - 1;
}

#endif
