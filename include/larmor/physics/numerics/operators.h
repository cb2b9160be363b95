/* Differences and interpolations on the staggered grid of Yee (1966, IEEE Trans. Antennas Propag. 14, 302). Where each
 * quantity lives: larmor/grid.h.
 *
 * Pointers stand on cell (i, j). s is the array's step to the next cell along the operator's axis (1 along x, the
 * stride along y), and r is 1 over the cell's size along it. Operators named "up" lead half a cell up, from centres to
 * faces or from faces to corners; those named "down" lead half a cell down, from faces to centres. Differences have the
 * units of the argument over d_i, all others those of the argument.
 *
 * On a uniform grid all are exact for straight lines and of second order. The difference up is minus the adjoint of the
 * difference down, so that sums over the grid telescope, and div curl is 0 but for round-off.
 */
#ifndef LARMOR_PHYSICS_NUMERICS_OPERATORS_H
#define LARMOR_PHYSICS_NUMERICS_OPERATORS_H

#include "larmor/physics/numerics/portable.h"

struct lm_vector {
    double x, y, z;
};

/* Read-only components of a vector field, all standing on the same cell of arrays of one stride. */
struct lm_view {
    const double *x, *y, *z;
    int s;
};

LM_HD struct lm_view lm_view_at(struct lm_view v, long k)
{
    v.x += k;
    v.y += k;
    v.z += k;
    return v;
}

/* --- along an axis, staggered --- */

/* Half a spacing beyond the first of two values on a straight line. */
LM_HD double lm_extrapolate_half(double first, double second)
{
    return 1.5 * first - 0.5 * second;
}

/* Gradient: from two centres to the face between them. */
LM_HD double lm_diff_up(const double *a, int s, double r)
{
    return (a[s] - a[0]) * r;
}

/* Divergence: from two faces to the centre between them. */
LM_HD double lm_diff_down(const double *a, int s, double r)
{
    return (a[0] - a[-s]) * r;
}

/* Minus these differences. -(a - b) would not do: its zero has the other sign. */
LM_HD double lm_drop_up(const double *a, int s, double r)
{
    return (a[0] - a[s]) * r;
}

LM_HD double lm_drop_down(const double *a, int s, double r)
{
    return (a[-s] - a[0]) * r;
}

LM_HD double lm_interp_up(const double *a, int s)
{
    return 0.5 * (a[0] + a[s]);
}

LM_HD double lm_interp_down(const double *a, int s)
{
    return 0.5 * (a[0] + a[-s]);
}

/* The flux through a face: the velocity on the face times the value at the centre that the flow comes from. First
 * order. */
LM_HD double lm_upwind(double u, const double *a, int s)
{
    return u * (u >= 0.0 ? a[0] : a[s]);
}

/* --- along an axis, collocated: the argument and the result live in the same place --- */

LM_HD double lm_diff_centre(const double *a, int s, double r)
{
    return (a[s] - a[-s]) * (0.5 * r);
}

/* To the faces and back: a pass of the binomial filter along the axis. */
LM_HD double lm_interp_centre(const double *a, int s)
{
    return 0.5 * a[0] + 0.25 * (a[-s] + a[s]);
}

/* Second derivative. */
LM_HD double lm_second(const double *a, int s, double r)
{
    return (a[s] - 2.0 * a[0] + a[-s]) * (r * r);
}

/* --- in the plane; s is the stride, nothing depends on z --- */

/* From four corners to the centre. */
LM_HD double lm_interp_corner(const double *a, int s)
{
    return 0.25 * ((a[0] + a[-1]) + (a[-s] + a[-s - 1]));
}

LM_HD double lm_laplacian(const double *a, int s, double inv_dx, double inv_dy)
{
    return lm_second(a, 1, inv_dx) + lm_second(a, s, inv_dy);
}

/* Divergence at the centre of a vector on faces; and, up, of a vector such as B, whose components are at centres along
 * their own axes. */
LM_HD double lm_div_down(struct lm_view v, double inv_dx, double inv_dy)
{
    return lm_diff_down(v.x, 1, inv_dx) + lm_diff_down(v.y, v.s, inv_dy);
}

LM_HD double lm_div_up(struct lm_view v, double inv_dx, double inv_dy)
{
    return lm_diff_up(v.x, 1, inv_dx) + lm_diff_up(v.y, v.s, inv_dy);
}

/* Curl of a vector that lives where B does: it lives where E does. */
LM_HD struct lm_vector lm_curl_down(struct lm_view v, double inv_dx, double inv_dy)
{
    struct lm_vector c;
    c.x = lm_diff_down(v.z, v.s, inv_dy);
    c.y = lm_drop_down(v.z, 1, inv_dx);
    c.z = lm_diff_down(v.y, 1, inv_dx) - lm_diff_down(v.x, v.s, inv_dy);
    return c;
}

/* Minus the curl of a vector that lives where E does: it lives where B does. */
LM_HD struct lm_vector lm_drop_curl_up(struct lm_view v, double inv_dx, double inv_dy)
{
    struct lm_vector c;
    c.x = lm_drop_up(v.z, v.s, inv_dy);
    c.y = lm_diff_up(v.z, 1, inv_dx);
    c.z = lm_diff_up(v.x, v.s, inv_dy) - lm_diff_up(v.y, 1, inv_dx);
    return c;
}

/* kappa dq/dx on the face between two centres: minus the diffusive flux through it. */
LM_HD double lm_diffusive(const double *kappa, const double *q, int s, double r)
{
    return lm_interp_up(kappa, s) * lm_diff_up(q, s, r);
}

/* div(kappa grad q) in the centre: what goes through a face leaves one cell and enters the other, to the bit. */
LM_HD double lm_diffusion(const double *kappa, const double *q, int s, double inv_dx, double inv_dy)
{
    const double x[2] = {lm_diffusive(kappa - 1, q - 1, 1, inv_dx), lm_diffusive(kappa, q, 1, inv_dx)};
    const double y[2] = {lm_diffusive(kappa - s, q - s, s, inv_dy), lm_diffusive(kappa, q, s, inv_dy)};
    return lm_diff_up(x, 1, inv_dx) + lm_diff_up(y, 1, inv_dy);
}

/* --- the operators along an axis by number, for expressions made of them --- */

enum lm_operator {
    LM_DIFF_UP,
    LM_DIFF_DOWN,
    LM_DROP_UP,
    LM_DROP_DOWN,
    LM_INTERP_UP,
    LM_INTERP_DOWN,
    LM_UPWIND_PRODUCT, /* leads up */
    LM_DIFF_CENTRE,
    LM_INTERP_CENTRE,
    LM_SECOND,
    LM_OPERATORS
};

/* u: of LM_UPWIND_PRODUCT. */
LM_HD double lm_along(int op, const double *a, int s, double r, double u)
{
    switch (op) {
    case LM_DIFF_UP:
        return lm_diff_up(a, s, r);
    case LM_DIFF_DOWN:
        return lm_diff_down(a, s, r);
    case LM_DROP_UP:
        return lm_drop_up(a, s, r);
    case LM_DROP_DOWN:
        return lm_drop_down(a, s, r);
    case LM_INTERP_UP:
        return lm_interp_up(a, s);
    case LM_INTERP_DOWN:
        return lm_interp_down(a, s);
    case LM_UPWIND_PRODUCT:
        return lm_upwind(u, a, s);
    case LM_DIFF_CENTRE:
        return lm_diff_centre(a, s, r);
    case LM_INTERP_CENTRE:
        return lm_interp_centre(a, s);
    default:
        return lm_second(a, s, r);
    }
}

/* --- where the domain ends ---
 *
 * A condition says how an operator's argument is continued beyond a wall. It is a straight line
 *     value         through the given value on the wall
 *     gradient      with the given slope along the axis, for arguments at centres: the slope is the difference on the
 *                   wall
 *     divergence    with the given slope along the axis, for arguments on faces: the slope is the difference in the
 *                   first cell
 *     extrapolated  through the last two nodes inside (along a single cell: a constant)
 * With the condition `none` the values beyond the wall are read as they are: at periodic sides, and on known faces.
 *
 * An argument on faces has nodes on the walls, -1 and n - 1, which count as beyond the wall; a corner counts so along
 * both axes. The difference on a wall with a given value is of first order, and second differences near walls are
 * worse; solutions stay of second order. In a single cell a given divergence has priority over the condition of the
 * other side.
 */
enum lm_condition_kind { LM_NO_CONDITION, LM_GIVEN_VALUE, LM_GIVEN_GRADIENT, LM_GIVEN_DIVERGENCE, LM_EXTRAPOLATED };

struct lm_condition {
    int kind; /* enum lm_condition_kind */
    double value;
};

/* Where a node is beyond a wall. */
struct lm_beyond {
    int steps;         /* from the last node inside; 0: inside, or without a condition */
    int side;          /* 0: lower, 1: upper */
    int first, second; /* the last node inside and the one before it */
};

/* Whether an argument, at centres or on faces along the axis, can have such a condition. */
LM_HD int lm_takes_condition(int faces, int kind)
{
    return kind != (faces ? LM_GIVEN_GRADIENT : LM_GIVEN_DIVERGENCE);
}

/* Node `at` of an argument along an axis of n cells, between conditions c[0] below and c[1] above. */
LM_HD struct lm_beyond lm_beyond_wall(const struct lm_condition c[2], int faces, int n, int at)
{
    const int last = n - 1 - faces, next = n > 1;
    struct lm_beyond b = {0, 0, at, at};
    if (at < 0 && c[0].kind != LM_NO_CONDITION) {
        b.steps = -at;
        b.first = 0;
        b.second = next;
    } else if (at > last && c[1].kind != LM_NO_CONDITION) {
        b.steps = at - last;
        b.side = 1;
        b.first = last;
        b.second = last - next;
    }
    return b;
}

/* The argument there, from its values `first` and `second`; d is the cell's size along the axis. */
LM_HD double lm_continued(struct lm_beyond b, const struct lm_condition c[2], int faces, double d, double first,
                          double second)
{
    const struct lm_condition *w = &c[b.side];
    if (w->kind == LM_EXTRAPOLATED)
        return first + b.steps * (first - second);
    if (w->kind != LM_GIVEN_VALUE)
        return first + b.steps * ((b.side ? d : -d) * w->value);
    if (!faces)
        return first + 2 * b.steps * (w->value - first);
    return w->value + (b.steps - 1) * (w->value - first);
}

/* The condition that gives the difference up or down itself at node i of the result, or NULL. */
LM_HD const struct lm_condition *lm_given_difference(int op, const struct lm_condition c[2], int n, int i)
{
    const int up = op == LM_DIFF_UP || op == LM_DROP_UP, down = op == LM_DIFF_DOWN || op == LM_DROP_DOWN;
    const int kind = up ? LM_GIVEN_GRADIENT : LM_GIVEN_DIVERGENCE;
    if ((up || down) && i <= -up && c[0].kind == kind)
        return &c[0];
    if ((up || down) && i >= n - 1 && c[1].kind == kind)
        return &c[1];
    return NULL;
}

/* The difference that such a condition gives. */
LM_HD double lm_given(int op, const struct lm_condition *c)
{
    return op == LM_DROP_UP || op == LM_DROP_DOWN ? -c->value : c->value;
}

#endif
