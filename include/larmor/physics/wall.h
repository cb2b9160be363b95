/* Where a particle's straight step ends in a domain with walls, and where moments go that lie beyond them.
 *
 * Positions are integers, cells << LM_FRACTION_BITS, in [0, size): a mirror at 0 takes x to -1 - x and one at `size` to
 * 2 size - 1 - x, so no place lies on a wall and any overshoot, also of many box lengths, folds exactly.
 */
#ifndef LARMOR_PHYSICS_WALL_H
#define LARMOR_PHYSICS_WALL_H

#include "larmor/grid.h"
#include "larmor/physics/tiling.h"

/* One axis of a step. */
struct lm_path {
    int64_t end;   /* in [0, size) */
    int flipped;   /* 1: the velocity along this axis has changed its sign */
    int side;      /* that absorbed it, or -1 */
    double length; /* way to that side, in fixed-point cells */
};

LM_HD int lm_has_walls(const struct lm_sides *s, int axis)
{
    return s->of[2 * axis] != LM_PERIODIC;
}

/* From `from` in [0, size) by `by`; axis 0: x, 1: y. */
LM_HD struct lm_path lm_path_along(const struct lm_sides *s, int axis, int64_t from, int64_t by, int64_t size)
{
    struct lm_path p = {from + by, 0, -1, 0.0};
    if (p.end >= 0 && p.end < size)
        return p;
    int64_t period = lm_has_walls(s, axis) ? 2 * size : size, folded = p.end % period;
    folded = folded < 0 ? folded + period : folded;
    p.flipped = folded >= size;
    p.end = p.flipped ? period - 1 - folded : folded;
    if (!lm_has_walls(s, axis))
        return p;
    /* The walls it meets, by turns, from the first one on. */
    int first = 2 * axis + (by > 0), second = 2 * axis + (by < 0);
    int64_t ahead = by > 0 ? size - from : from + 1, way = by > 0 ? by : -by;
    if (s->of[first] == LM_ABSORBING) {
        p.side = first;
        p.length = (double)ahead;
    } else if (s->of[second] == LM_ABSORBING && way >= ahead + size) {
        p.side = second;
        p.length = (double)(ahead + size);
    }
    return p;
}

/* Both axes; side: the one that absorbed it first, or -1. */
struct lm_step_end {
    struct lm_path x, y;
    int side;
};

LM_HD struct lm_step_end lm_step_end_of(const struct lm_sides *s, int64_t x, int64_t y, int64_t dx, int64_t dy,
                                        int64_t size_x, int64_t size_y)
{
    struct lm_step_end e;
    e.x = lm_path_along(s, 0, x, dx, size_x);
    e.y = lm_path_along(s, 1, y, dy, size_y);
    e.side = e.x.side >= 0 ? e.x.side : e.y.side;
    if (e.x.side >= 0 && e.y.side >= 0) /* whichever comes first */
        e.side = e.x.length * lm_abs((double)dy) <= e.y.length * lm_abs((double)dx) ? e.x.side : e.y.side;
    return e;
}

/* Where a value that belongs to node i along an axis of n cells counts. *sign is multiplied by that with which it does.
 * `face`: the nodes are the faces that this axis crosses, and i the one right of cell i (the wall's own faces, -1 and
 * n - 1, hold nothing: -1 is returned); else centres. Behind a reflecting wall a current along the axis, `along`, has
 * the opposite sign. */
LM_HD int lm_node_inside(const struct lm_sides *s, int axis, int n, int face, int along, int i, int *sign)
{
    if (!lm_has_walls(s, axis))
        return lm_wrap(i, n);
    int low = face ? -1 : 0, high = n - 1;
    while (i < low || i > high) {
        int side = 2 * axis + (i > high);
        if (along && s->of[side] == LM_REFLECTING)
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

/* The current along an axis on a wall's own face, from that on the face next to it inside. */
LM_HD double lm_on_wall(int boundary, double next)
{
    return boundary == LM_ABSORBING ? next : 0.0;
}

#endif
