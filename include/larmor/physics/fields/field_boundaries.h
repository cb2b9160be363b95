/* What the sides of the domain do to the fields.
 *
 * The domain ends on cell faces. E through a wall and B along it live on the wall: the lower wall's node has index -1,
 * the upper wall's n - 1. E along a wall and B through it live half a cell off. Only E is continued beyond the walls.
 * Faraday's law then advances B there as it does inside, so that div B stays at round-off on walls, beyond them and in
 * the corners. E along the wall is continued
 *     conducting         odd, so that it is 0 on the wall: B along the wall evolves, the flux through it is frozen
 *     open               so that B along the wall leaves with the ions and comes in as it was (open_side.h); E
 *                        through the wall is 0
 *     radiating          as a strip of plasma beyond the side says, in which waves die (strip.h)
 *     inflow, inflow_e   with prescribed values: -u x B of the plasma that comes in, or those of the configuration
 *     inflow_b           as a constant. B along the wall is held, on the wall and beyond: it does not change. The flux
 *                        through the wall is free, and noise of the plasma lets it wander
 * Two sides that meet in a corner act one after the other; their order does not matter.
 */
#ifndef LARMOR_PHYSICS_FIELDS_FIELD_BOUNDARIES_H
#define LARMOR_PHYSICS_FIELDS_FIELD_BOUNDARIES_H

#include "larmor/grid.h"
#include "larmor/physics/numerics/portable.h"

struct lm_field_sides {
    int of[LM_SIDES];         /* enum lm_field_boundary */
    int turns_back[LM_SIDES]; /* whether ions come back from the side (lm_turns_back) */
};

/* What ghost cells are filled for. For Faraday's law E is continued as above. For the push a restarted run must find
 * everything in the cells, and no value may be larger than those inside. E and B of the push are at the centres, the
 * force of the pressure on faces.
 *
 * Behind a side that turns ions back, the current of the ions through the side is odd, and their density and their
 * current along the side are even (lm_cell_inside). What they feel is continued the same way: E through the side and B
 * along it are odd, E along it and B through it are even. So a particle takes from a cell what it gives to the cell,
 * and their exchange makes no energy at the side. (Beyond radiating sides a strip has its own values, strip.h.) Behind
 * other sides everything is even or has the last value inside, and where E is prescribed, E of the push is, too. */
enum lm_fill { LM_FILL_FARADAY, LM_FILL_PUSH_E, LM_FILL_PUSH_B, LM_FILL_PUSH_PRESSURE };

LM_HD int lm_field_walls(const struct lm_field_sides *s, int axis)
{
    return s->of[2 * axis] != LM_FIELDS_PERIODIC;
}

LM_HD int lm_any_field_walls(const struct lm_field_sides *s)
{
    return lm_field_walls(s, 0) || lm_field_walls(s, 1);
}

LM_HD int lm_any_side_is(const struct lm_field_sides *s, int kind)
{
    return s->of[LM_X_MIN] == kind || s->of[LM_X_MAX] == kind || s->of[LM_Y_MIN] == kind || s->of[LM_Y_MAX] == kind;
}

/* Whether E along such a side is prescribed; on some side; whether B along some side is held. */
LM_HD int lm_prescribes_e(int kind)
{
    return kind == LM_FIELDS_INFLOW || kind == LM_INFLOW_E;
}

LM_HD int lm_any_prescribed_e(const struct lm_field_sides *s)
{
    return lm_any_side_is(s, LM_FIELDS_INFLOW) || lm_any_side_is(s, LM_INFLOW_E);
}

LM_HD int lm_any_held_b(const struct lm_field_sides *s)
{
    return lm_any_side_is(s, LM_INFLOW_B);
}

/* The part of an ion current along an axis that leaves through its upper side (`high`) or its lower one: 0 where the
 * current points inwards. */
LM_HD double lm_current_of_leaving(double ji, int high)
{
    return high ? lm_max(ji, 0.0) : lm_min(ji, 0.0);
}

/* How a line of values goes on beyond a side. */
struct lm_line_end {
    int on_wall; /* the first node is on the wall, not half a cell inside */
    int sign;    /* of the mirror image; 0: the last value inside is copied */
    int is_kept; /* the ghost cells have their values already */
};

LM_HD struct lm_line_end lm_line_end_of(const struct lm_field_sides *s, int side, int component, enum lm_fill fill)
{
    const int kind = s->of[side], through = component == side / 2,
              turns = fill != LM_FILL_FARADAY && s->turns_back[side];
    struct lm_line_end end;
    end.on_wall = through && (fill == LM_FILL_FARADAY || fill == LM_FILL_PUSH_PRESSURE);
    end.is_kept = !turns && lm_prescribes_e(kind) && (fill == LM_FILL_FARADAY || fill == LM_FILL_PUSH_E);
    if (turns)
        end.sign = through == (fill == LM_FILL_PUSH_B) ? 1 : -1;
    else if (kind != LM_CONDUCTING)
        end.sign = 0;
    else
        end.sign = through || fill != LM_FILL_FARADAY ? 1 : -1;
    return end;
}

/* Ghost cells at one end of a line of n cells. `e` stands on the last node inside, or on the wall; `in` leads to the
 * next node inside. */
LM_HD void lm_fill_beyond(double *e, long in, int n, struct lm_line_end end, int depth)
{
    for (int k = 1; k <= depth && !end.is_kept; k++) {
        const int deep = end.on_wall ? k : k - 1, most = end.on_wall ? n : n - 1, mirror = deep < most ? deep : most;
        e[-k * in] = end.sign == 0 ? e[0] : end.sign * e[mirror * in];
    }
}

/* The force of the pressure on a wall. `e` stands there. */
LM_HD void lm_fill_on_wall(double *e, long in, struct lm_line_end end)
{
    e[0] = end.sign < 0 ? 0.0 : e[in];
}

/* Ghost cells of a line of a component along an axis with walls. `e` stands on cell 0; `step` leads to the next cell.
 */
LM_HD void lm_fill_line(const struct lm_field_sides *s, int axis, int component, enum lm_fill fill, double *e,
                        long step, int n)
{
    const struct lm_line_end low = lm_line_end_of(s, 2 * axis, component, fill),
                             high = lm_line_end_of(s, 2 * axis + 1, component, fill);
    double *const first = low.on_wall ? e - step : e, *const last = e + (n - 1) * step;
    if (low.on_wall && fill != LM_FILL_FARADAY) {
        lm_fill_on_wall(first, step, low);
        if (n > 1)
            lm_fill_on_wall(last, -step, high);
    }
    lm_fill_beyond(first, step, n, low, LM_GHOST - low.on_wall);
    lm_fill_beyond(last, -step, n, high, LM_GHOST);
}

/* The node inside whose E a node beyond walls of an axis of n cells takes: the mirror image behind conducting walls,
 * else the nearest one. `on_wall`: the nodes are the faces that the axis crosses. *sign is multiplied by that of E: by
 * 0 where E is prescribed, for a correction to E does not change it there. */
LM_HD int lm_inside_node(const struct lm_field_sides *sides, int axis, int n, int on_wall, int i, int *sign)
{
    const int low = on_wall ? -1 : 0, side = 2 * axis + (i >= n);
    if (!lm_field_walls(sides, axis) || (i >= low && i < n))
        return i;
    if (lm_prescribes_e(sides->of[side]))
        *sign = 0;
    if (sides->of[side] == LM_CONDUCTING) {
        *sign = on_wall ? *sign : -*sign;
        i = i < low ? low + (on_wall ? low - i : low - 1 - i) : on_wall ? 2 * (n - 1) - i : 2 * n - 1 - i;
    }
    return i < low ? low : i < n ? i : n - 1;
}

LM_HD int lm_is_open(const struct lm_field_sides *s, int side)
{
    return s->of[side] == LM_OPEN || s->of[side] == LM_RADIATING;
}

/* Whether E_`component` of cell (i, j) goes through an open side, on it or beyond. */
LM_HD int lm_is_open_face(const struct lm_field_sides *s, int component, int i, int j, int nx, int ny)
{
    return (component == 0 && ((i < 0 && lm_is_open(s, LM_X_MIN)) || (i >= nx - 1 && lm_is_open(s, LM_X_MAX)))) ||
           (component == 1 && ((j < 0 && lm_is_open(s, LM_Y_MIN)) || (j >= ny - 1 && lm_is_open(s, LM_Y_MAX))));
}

/* Whether Ohm's law gives E_`component` of cell (i, j): inside, or on a wall that the component crosses (index -1). */
LM_HD int lm_is_own_e(int component, int i, int j)
{
    return i >= -(component == 0) && j >= -(component == 1);
}

/* Whether B_`component` of cell (i, j) is held: it keeps its bits. */
LM_HD int lm_is_held(const struct lm_field_sides *s, int component, int i, int j, int nx, int ny)
{
    return (component != 0 &&
            ((i < 0 && s->of[LM_X_MIN] == LM_INFLOW_B) || (i >= nx - 1 && s->of[LM_X_MAX] == LM_INFLOW_B))) ||
           (component != 1 &&
            ((j < 0 && s->of[LM_Y_MIN] == LM_INFLOW_B) || (j >= ny - 1 && s->of[LM_Y_MAX] == LM_INFLOW_B)));
}

#endif
