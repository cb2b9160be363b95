/* The value of a background field on a face, from the averages over the cells on both sides of it.
 *
 * The value is the mean of both cells, or a WENO reconstruction of order 2r - 1 in the window of the cell upwind of the
 * face (larmor/physics/numerics/weno.h). A limiter (Zhang and Shu 2010, J. Comput. Phys. 229, 3091) keeps a field with
 * bounds between them. Near bodies and near sides that are not periodic, r is as large as the free cells allow.
 *
 * `scheme` (enum lm_scheme), `single` and whether `bounds` is NULL are literals at every call.
 */
#ifndef LARMOR_PHYSICS_FLUID_FACE_VALUE_H
#define LARMOR_PHYSICS_FLUID_FACE_VALUE_H

#include "larmor/physics/numerics/weno.h"

/* --- bounds --- */

/* Weight of each end point in the Gauss-Lobatto rule of three points, into which the limiter splits the average of a
 * cell. The bounds hold for Courant numbers up to this weight. A larger weight would need fewer substeps. But where a
 * smooth extremum just reaches a bound, it would place the value at the middle point beyond the bound, and the limiter
 * would reduce the scheme to second order there. */
#define LM_LOBATTO (1.0 / 6)

struct lm_bounds {
    double least, most;
};

/* The limited value on a face of a cell. `c` is the average of the cell, `value` and `opposite` are the reconstructed
 * values on this face and on the opposite one. The limiter moves both towards c by one factor theta, such that both and
 * the value at the middle point stay within the bounds. */
LM_HD double lm_bounded_value(double c, double value, double opposite, const struct lm_bounds *b)
{
    const double here = value - c, there = opposite - c,
                 middle = -(LM_LOBATTO / (1.0 - 2.0 * LM_LOBATTO)) * (here + there);
    const double up = lm_max(lm_max(here, there), middle), down = lm_min(lm_min(here, there), middle);
    const double above = lm_max(b->most - c, 0.0), below = lm_max(c - b->least, 0.0);
    double theta = 1.0;
    if (up > above)
        theta = above / up;
    if (-down > below)
        theta = lm_min(theta, below / -down);
    return lm_fma(theta, here, c);
}

/* --- clearance of a stencil --- */

/* The clearance of a cell is the largest r <= LM_WENO_MOST for which all 2r - 1 cells of its WENO window are free: none
 * lies in a body or beyond a side that is not periodic. One byte holds it along x and along y, in four bits each. It is
 * 0 for a cell of a body and for a cell beyond a side. A face takes r from the cell upwind of it. */
LM_HD int lm_clearance_x(uint8_t clearance)
{
    return clearance & 15;
}

LM_HD int lm_clearance_y(uint8_t clearance)
{
    return clearance >> 4;
}

/* Whether every scheme can use its full order in the window of a cell. */
LM_HD int lm_has_full_clearance(uint8_t clearance)
{
    return lm_clearance_x(clearance) >= LM_WENO_MOST && lm_clearance_y(clearance) >= LM_WENO_MOST;
}

/* --- reconstruction --- */

/* The largest r of a scheme. Its faces read the cells c[0 .. 2r - 1] across them. The face lies between c[r - 1] and
 * c[r]. */
LM_HD int lm_scheme_reach(int scheme)
{
    return scheme > 1 ? scheme : 1;
}

/* WENO of order 2r - 1 in the window w[0 .. 2 most - 2], limited to the bounds unless these are NULL. */
LM_HD double lm_weno_between(int most, int r, int single, const struct lm_bounds *bounds, const double *w)
{
    double reversed[LM_WENO_WINDOW];
    const double *mine = w + most - r;
    const double value = lm_weno(r, single, mine);
    if (!bounds || r == 1)
        return value;
    LM_UNROLL
    for (int m = 0; m < 2 * r - 1; m++)
        reversed[m] = mine[2 * r - 2 - m];
    return lm_bounded_value(mine[r - 1], value, lm_weno(r, single, reversed), bounds);
}

/* The same for an r <= most that is known only at run time. Each order is a branch with code of its own. */
LM_HD double lm_weno_nested(int most, int r, int single, const struct lm_bounds *bounds, const double *w)
{
    if (most >= 5 && r >= 5)
        return lm_weno_between(most, 5, single, bounds, w);
    if (most >= 4 && r >= 4)
        return lm_weno_between(most, 4, single, bounds, w);
    if (most >= 3 && r >= 3)
        return lm_weno_between(most, 3, single, bounds, w);
    if (most >= 2 && r >= 2)
        return lm_weno_between(most, 2, single, bounds, w);
    return w[most - 1];
}

/* The window w[0 .. 2r - 2] of the cell upwind of a face, for the velocity u on the face. */
LM_HD void lm_upwind_window(int r, const double *c, double u, double *w)
{
    LM_UNROLL
    for (int m = 0; m < 2 * r - 1; m++)
        w[m] = u > 0.0 ? c[m] : c[2 * r - 1 - m];
}

/* The value on a face all of whose cells are free. */
LM_HD double lm_face_value(int scheme, int single, const struct lm_bounds *bounds, const double *c, double u)
{
    double w[LM_WENO_WINDOW];
    if (scheme == 0)
        return 0.5 * (c[0] + c[1]);
    lm_upwind_window(scheme, c, u, w);
    return lm_weno_between(scheme, scheme, single, bounds, w);
}

/* Whether the value on a face has the limited slope of lm_value_beside_body: the body is right behind the cell upwind
 * of the face, which it cuts, and there are two free cells beyond the face. */
LM_HD int lm_is_beside_body(int scheme, int is_cut, int upwind, int downwind)
{
    return is_cut && scheme > 1 && upwind == 1 && downwind > 1;
}

/* The value on the face between the cells `here` and `next`, of second order where the field is smooth. In a layer of
 * cells along a body the value of the cell upwind alone would smear the field out. The slope is the lesser one of those
 * on both sides of `next`, or 0. `here` is upwind of the face, `after` follows on `next`. */
LM_HD double lm_value_beside_body(double here, double next, double after, const struct lm_bounds *bounds)
{
    const double a = next - here, b = after - next;
    const double half = a > 0.0 && b > 0.0 ? 0.5 * lm_min(a, b) : a < 0.0 && b < 0.0 ? 0.5 * lm_max(a, b) : 0.0;
    return bounds ? lm_bounded_value(here, here + half, here - half, bounds) : here + half;
}

/* The value on a face near a body or a side. `before` and `behind` are the clearances, along the axis of the face, of
 * the two cells of the face. Neither is 0. `is_cut`: whether a body cuts the cell upwind. Cells outside the window that
 * the clearance allows do not affect the value. */
LM_HD double lm_face_value_near_body(int scheme, int single, const struct lm_bounds *bounds, const double *c, double u,
                                     int before, int behind, int is_cut)
{
    const int reach = lm_scheme_reach(scheme);
    double w[LM_WENO_WINDOW];
    if (scheme == 0)
        return 0.5 * (c[0] + c[1]);
    if (lm_is_beside_body(scheme, is_cut, u > 0.0 ? before : behind, u > 0.0 ? behind : before))
        return u > 0.0 ? lm_value_beside_body(c[reach - 1], c[reach], c[reach + 1], bounds)
                       : lm_value_beside_body(c[reach], c[reach - 1], c[reach - 2], bounds);
    lm_upwind_window(scheme, c, u, w);
    return lm_weno_nested(scheme, u > 0.0 ? before : behind, single, bounds, w);
}

#endif
