/* What the sides of the domain do to the fields.
 *
 * The domain ends on cell faces. Across a wall, E along it and B through it live half a cell off, E through it and B
 * along it on it: their lower walls' nodes have index -1, their upper walls' n - 1. Everything follows from how E goes
 * on beyond the walls; Faraday's law then advances B there as inside, so that div B keeps its bits' worth of zero on
 * walls, beyond them and in the corners. E along the wall goes on
 *     conducting   odd, so that it is 0 on the wall: B along the wall evolves, the flux through it is frozen
 *     open         linearly: B on the wall and beyond changes as it does inside
 *     inflow, inflow_e   as given: that of the plasma that comes in, -u x B, or another
 *     inflow_b     as a constant: B along the wall does not change, neither there nor beyond; the flux through the wall
 *                  is free, and wanders where the plasma is noisy
 * Two sides that meet in a corner act one after the other, in either order.
 */
#ifndef LARMOR_PHYSICS_FIELDS_FIELD_BOUNDARIES_H
#define LARMOR_PHYSICS_FIELDS_FIELD_BOUNDARIES_H

#include "larmor/grid.h"
#include "larmor/physics/numerics/portable.h"

struct lm_field_sides {
    int of[LM_SIDES]; /* enum lm_field_boundary */
};

/* What E is filled for: Faraday's law; or the push, where no value may be larger than those inside, and a run must be
 * able to go on from what lies in cells: E through a wall is that on the next face inside. */
enum lm_fill { LM_FILL_FARADAY, LM_FILL_PUSH };

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

LM_HD int lm_gives_e(int kind)
{
    return kind == LM_FIELDS_INFLOW || kind == LM_INFLOW_E;
}

LM_HD int lm_is_given_e(const struct lm_field_sides *s)
{
    return lm_any_side_is(s, LM_FIELDS_INFLOW) || lm_any_side_is(s, LM_INFLOW_E);
}

LM_HD int lm_is_given_b(const struct lm_field_sides *s)
{
    return lm_any_side_is(s, LM_INFLOW_B);
}

/* One end of a line of n cells: `e` is the last node inside or, if E is `normal`, on the wall; `in` leads to the next
 * one inside. Given E is there already. */
LM_HD void lm_fill_beyond(double *e, long in, int n, int kind, int normal, enum lm_fill fill, int depth)
{
    for (int k = 1; k <= depth && !lm_gives_e(kind); k++) {
        const int deep = normal ? k : k - 1, most = normal ? n : n - 1, mirror = deep < most ? deep : most;
        double v = e[0];
        if (kind == LM_CONDUCTING)
            v = normal ? e[mirror * in] : -e[mirror * in];
        else if (kind == LM_OPEN && fill == LM_FILL_FARADAY && !normal && n > 1)
            v = e[0] + k * (e[0] - e[in]);
        e[-k * in] = v;
    }
}

/* A line of E_`component` along a walled axis: `e` stands on cell 0, `step` leads to the next. */
LM_HD void lm_fill_line(const struct lm_field_sides *s, int axis, int component, enum lm_fill fill, double *e,
                        long step, int n)
{
    const int low = s->of[2 * axis], high = s->of[2 * axis + 1], normal = component == axis;
    double *last = e + (n - 1) * step;
    if (normal && (fill == LM_FILL_PUSH || (low == LM_OPEN && n > 1)))
        e[-step] = e[0];
    if (normal && n > 1 && (fill == LM_FILL_PUSH || high == LM_OPEN))
        last[0] = last[-step];
    lm_fill_beyond(normal ? e - step : e, step, n, low, normal, fill, LM_GHOST - normal);
    lm_fill_beyond(last, -step, n, high, normal, fill, LM_GHOST);
}

/* Whether Ohm's law gives E_`component` of cell (i, j), -1 included: inside, or through a wall on it. */
LM_HD int lm_is_own_e(int component, int i, int j)
{
    return i >= -(component == 0) && j >= -(component == 1);
}

/* Whether B_`component` of cell (i, j) is given: it stays, to the bit. */
LM_HD int lm_is_held(const struct lm_field_sides *s, int component, int i, int j, int nx, int ny)
{
    return (component != 0 &&
            ((i < 0 && s->of[LM_X_MIN] == LM_INFLOW_B) || (i >= nx - 1 && s->of[LM_X_MAX] == LM_INFLOW_B))) ||
           (component != 1 &&
            ((j < 0 && s->of[LM_Y_MIN] == LM_INFLOW_B) || (j >= ny - 1 && s->of[LM_Y_MAX] == LM_INFLOW_B)));
}

#endif
