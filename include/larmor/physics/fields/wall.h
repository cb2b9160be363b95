/* Where moments go that lie beyond walls, and which cells of a field array lie there. */
#ifndef LARMOR_PHYSICS_FIELDS_WALL_H
#define LARMOR_PHYSICS_FIELDS_WALL_H

#include "larmor/grid.h"
#include "larmor/physics/particles/tiling.h"

LM_HD int lm_has_walls(const struct lm_sides *s, int axis)
{
    return s->of[2 * axis] != LM_PERIODIC;
}

/* Whether anything can vary along an axis: not along a single cell that is its own neighbour. */
LM_HD int lm_varies_along(const struct lm_grid *g, int axis)
{
    return (axis == 0 ? g->nx : g->ny) > 1 || lm_has_walls(&g->sides, axis);
}

/* Whether as many come back from a wall as go to it: no current crosses it. */
LM_HD int lm_turns_back(int boundary)
{
    return boundary == LM_REFLECTING || boundary == LM_THERMAL;
}

/* Where a value that belongs to node i along an axis of n cells counts. *sign is multiplied by that with which it does.
 * `face`: the nodes are the faces that this axis crosses, and i the one right of cell i (the wall's own faces, -1 and
 * n - 1, hold nothing: -1 is returned); else centres. Behind a wall that turns particles back a current along the axis,
 * `along`, has the opposite sign. */
LM_HD int lm_node_inside(const struct lm_sides *s, int axis, int n, int face, int along, int i, int *sign)
{
    if (!lm_has_walls(s, axis))
        return lm_wrap(i, n);
    int low = face ? -1 : 0, high = n - 1;
    while (i < low || i > high) {
        int side = 2 * axis + (i > high);
        if (along && lm_turns_back(s->of[side]))
            *sign = -*sign;
        i = i < low ? (face ? -2 : -1) - i : (face ? 2 * n - 2 : 2 * n - 1) - i;
    }
    return face && (i == -1 || i == n - 1) ? -1 : i;
}

/* The cell of a field array with ghosts that node i is: beyond walls a ghost, as far as there are any. */
LM_HD int lm_field_cell(const struct lm_sides *s, int axis, int n, int i)
{
    if (!lm_has_walls(s, axis))
        return lm_wrap(i, n);
    return i < -LM_GHOST ? -LM_GHOST : i < n + LM_GHOST ? i : n + LM_GHOST - 1;
}

/* The cell of a field array that has what a gas has in node i: beyond walls the last one inside. `low`: the first node
 * along the axis, -1 for velocities on the faces that it crosses. */
LM_HD int lm_gas_cell(const struct lm_sides *s, int axis, int n, int low, int i)
{
    if (!lm_has_walls(s, axis))
        return lm_wrap(i, n);
    return i < low ? low : i < n ? i : n - 1;
}

/* The current along an axis on a wall's own face, from that on the face next to it inside. */
LM_HD double lm_on_wall(int boundary, double next)
{
    return lm_turns_back(boundary) ? 0.0 : next;
}

#endif
