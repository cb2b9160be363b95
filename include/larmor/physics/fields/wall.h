/* Walls in the moments: which inner node a node beyond a wall belongs to, and which cell of a field array. */
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

/* The inner node to which a value at node i along an axis of n cells belongs. *sign is multiplied by the sign with
 * which it counts there. If `face` is 1 the nodes are the faces that the axis crosses, and face i lies to the right of
 * cell i; the faces on the walls, -1 and n - 1, hold nothing, and -1 is returned. If `face` is 0 the nodes are centres.
 * A current along the axis (`along` is 1) has the opposite sign behind a wall that turns particles back. */
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

/* The cell of a field array that node i is: beyond walls a ghost cell, at most the outermost one. */
LM_HD int lm_field_cell(const struct lm_sides *s, int axis, int n, int i)
{
    if (!lm_has_walls(s, axis))
        return lm_wrap(i, n);
    return i < -LM_GHOST ? -LM_GHOST : i < n + LM_GHOST ? i : n + LM_GHOST - 1;
}

/* The cell of a field array with the value of a gas in node i: beyond walls the last cell inside. `low` is the first
 * node along the axis: -1 for velocities on the faces that the axis crosses. */
LM_HD int lm_gas_cell(const struct lm_sides *s, int axis, int n, int low, int i)
{
    if (!lm_has_walls(s, axis))
        return lm_wrap(i, n);
    return i < low ? low : i < n ? i : n - 1;
}

/* The current along an axis on the face of a wall, from the current on the next face inside. */
LM_HD double lm_on_wall(int boundary, double next)
{
    return lm_turns_back(boundary) ? 0.0 : next;
}

#endif
