/* Fields at open sides.
 *
 * B along an open side changes by what leaves with the velocity u of the ions, and by what comes in with the Alfven
 * speed v_A against it. On the side, with the spacing d of the cells across it,
 *     dB/dt = -max(u, 0) (B - B_inside)/d - max(v_A - u, 0) (B - B_outside)/d
 * B_outside is that of the start: B beyond the side keeps its bits. A flow faster than v_A takes B out freely. In a
 * slower one B on the side cannot drift away from the field outside, and among ions at rest it is held. A condition
 * that depends on the sign of the Poynting flux would rectify noise. E through the side is 0, so that it does not
 * change B along it, to which no current answers there.
 */
#ifndef LARMOR_PHYSICS_FIELDS_OPEN_SIDE_H
#define LARMOR_PHYSICS_FIELDS_OPEN_SIDE_H

#include "larmor/physics/fields/closure.h"
#include "larmor/physics/fields/field_boundaries.h"
#include "larmor/physics/fields/ohm.h"
#include "larmor/physics/fields/strip_window.h"
#include "larmor/physics/fields/void_field.h"
#include "larmor/physics/numerics/cell_index.h"

/* Arrays of one stride, element 0 of each. */
struct lm_open_sides {
    struct lm_field_sides sides;
    int nx, ny, stride;
    double fastest;                  /* what comes in is no faster, so that the substeps can follow */
    const double *current[2];        /* J_i along x and y */
    const double *density;           /* never below the density floor */
    const double *strip_n[LM_SIDES]; /* of radiating sides: lm_strip_window.side_n in line 0; else NULL */
    long strip_along[LM_SIDES];
    const uint8_t *solid; /* not 0 in bodies; NULL without them */
    const double *b[3];
};

/* For substeps of B of this length. */
LM_HD struct lm_open_sides lm_open_sides_of(const struct lm_grid *g, const struct lm_field_sides *sides, double substep,
                                            const double *const current[2], const double *density,
                                            const struct lm_strip_window *const strips[LM_SIDES], const uint8_t *solid,
                                            const double *const b[3])
{
    struct lm_open_sides o;
    o.sides = *sides;
    o.nx = g->nx;
    o.ny = g->ny;
    o.stride = g->stride;
    o.fastest = lm_sqrt(lm_void_speed2(g, substep));
    o.density = density;
    for (int side = 0; side < LM_SIDES; side++) {
        const struct lm_strip_window *const w = strips[side];
        o.strip_n[side] = w ? w->side_n + lm_strip_at(w, lm_strip_last_inside(w->place), 0) : NULL;
        o.strip_along[side] = w ? w->along : 0;
    }
    o.solid = solid;
    for (int d = 0; d < 3; d++)
        o.b[d] = b[d];
    for (int axis = 0; axis < 2; axis++)
        o.current[axis] = current[axis];
    return o;
}

/* Speeds in cells at a side: of what leaves, and of what comes in. */
struct lm_side_speeds {
    double out, in;
};

/* The Alfven speed is that of ions of charge and mass 1. In a body nothing goes out or in. */
LM_HD struct lm_side_speeds lm_side_speeds(const struct lm_open_sides *o, int axis, int high, long k)
{
    const struct lm_view at = {o->b[0] + k, o->b[1] + k, o->b[2] + k, o->stride};
    const struct lm_vector b = lm_b_centre(at);
    const double per_density = lm_inverse(o->density[k]), size = lm_sqrt(b.x * b.x + b.y * b.y + b.z * b.z),
                 alfven = lm_min(size * lm_sqrt(per_density), o->fastest), along = o->current[axis][k] * per_density,
                 u = high ? along : -along;
    struct lm_side_speeds s;
    s.out = lm_max(u, 0.0);
    s.in = lm_max(alfven - u, 0.0);
    if (o->solid != NULL && o->solid[k])
        s.out = s.in = 0.0;
    return s;
}

/* The difference of E_`component` beyond a side of an axis and before it, on a line inside. With it Faraday's law gives
 * the rate above. */
LM_HD double lm_open_step(const struct lm_open_sides *o, int axis, int component, int high, int line)
{
    const long step = axis == 0 ? 1 : o->stride, across = axis == 0 ? o->stride : 1, out = high ? step : -step,
               cell = LM_GHOST * (1 + (long)o->stride) + line * across +
                      (high ? ((axis == 0 ? o->nx : o->ny) - 1) * step : 0),
               node = high ? cell : cell - step;
    const double *const b = o->b[3 - axis - component] + node;
    const struct lm_side_speeds here = lm_side_speeds(o, axis, high, cell),
                                next = component == 2 ? here : lm_side_speeds(o, axis, high, cell + across);
    const double outside = 2.0 * b[out] - b[2 * out],
                 rate = lm_mean(here.out, next.out) * (b[0] - b[-out]) + lm_mean(here.in, next.in) * (b[0] - outside);
    return (component == (axis + 1) % 3) == (high != 0) ? rate : -rate;
}

/* Whether the rule of open sides gives E_`component` beyond a side on a line. It does at open sides, and at radiating
 * ones where the strip is empty. A node between two lines needs both to be empty. */
LM_HD int lm_opens(const struct lm_open_sides *o, int axis, int component, int high, int line)
{
    const int side = 2 * axis + high, lines = axis == 0 ? o->ny : o->nx,
              above = line + 1 < lines                      ? line + 1
                      : lm_field_walls(&o->sides, 1 - axis) ? line
                                                            : 0;
    const double *const n = o->strip_n[side];
    const int at = line < 0 ? 0 : line;
    if (n == NULL)
        return o->sides.of[side] == LM_OPEN;
    return n[at * o->strip_along[side]] == 0.0 && (component != 1 - axis || n[above * o->strip_along[side]] == 0.0);
}

/* E_`component` on and beyond one side of an axis, if that is open, on one of the lines across the sides, also beyond
 * other walls. There the line inside whose E it takes decides, so that the order of two sides in a corner does not
 * matter. E through all open sides comes first, then E along them: the latter begins with the former where two open
 * sides meet. `last` stands on the node of the last cell inside; `out` leads to the next of the `most` nodes beyond. */
LM_HD void lm_fill_open_side(const struct lm_open_sides *o, int axis, int component, int high, int line, double *last,
                             long out, int most)
{
    int sign = 1;
    const int along = 1 - axis, lines = axis == 0 ? o->ny : o->nx,
              from = lm_inside_node(&o->sides, along, lines, component == along, line, &sign),
              decides = lm_field_walls(&o->sides, along) ? from : lm_wrap(from, lines);
    if (!lm_opens(o, axis, component, high, decides))
        return;
    if (line != from && lm_field_walls(&o->sides, along) && o->sides.of[2 * along + (line >= lines)] == LM_RADIATING)
        sign = 0; /* B beyond a corner stays that of the start */
    if (component == axis) {
        for (int k = high ? 0 : 1; k <= most; k++)
            last[k * out] = 0.0;
    } else {
        const double beyond = last[0] + sign * lm_open_step(o, axis, component, high, decides);
        for (int k = 1; k <= most; k++)
            last[k * out] = beyond;
    }
}

/* The same for both sides and all nodes beyond, in an array of the grid. */
LM_HD void lm_fill_open(const struct lm_open_sides *o, int axis, int component, double *e, int line)
{
    const int n = axis == 0 ? o->nx : o->ny;
    const long step = axis == 0 ? 1 : o->stride, across = axis == 0 ? o->stride : 1;
    e += LM_GHOST * (1 + (long)o->stride) + line * across;
    lm_fill_open_side(o, axis, component, 0, line, e, -step, LM_GHOST);
    lm_fill_open_side(o, axis, component, 1, line, e + (n - 1) * step, step, LM_GHOST);
}

#endif
