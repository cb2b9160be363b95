/* The energy that fields and electrons carry through the sides of the domain, for the budget of the energy
 * (docs/physics/energy.md).
 *
 * Faraday's law in the domain, summed by parts, gives what B gains through a side: the flux E x B, with B on the side.
 * Nodes on a lower side do not belong to the cells (grid_sums.h), and E is that along the side in the cell before it.
 * Nodes on an upper side do, and E is that beyond the side. The one E follows from the other and from the change of B
 * on the side, but for what E through the side makes of it. So E beyond the side serves where it is given, because a
 * void before such a side has fast waves in E, and elsewhere E before the side.
 *
 * The electrons carry their enthalpy, with the ions where the pressure follows from the density: then it is no part of
 * Faraday's law. An evolved pressure acts on B, and flows with the electrons. Those that a wall takes and gives for the
 * current along it are counted there (larmor/physics/fluid/absorption.h).
 */
#ifndef LARMOR_PHYSICS_FIELDS_SIDE_ENERGY_H
#define LARMOR_PHYSICS_FIELDS_SIDE_ENERGY_H

#include "larmor/grid.h"
#include "larmor/physics/fields/closure.h"
#include "larmor/physics/fields/field_boundaries.h"
#include "larmor/physics/fields/pressure_gradient.h"
#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/numerics/operators.h"
#include "larmor/physics/numerics/wide.h"

/* What is summed over the cells at a side: powers inwards, and the energy of B on the side that counts. The power of E
 * in voids is a part of that of the fields. The sum of its sizes shows how much of it cancels between the cells. */
enum lm_side_sum { LM_SIDE_FIELDS, LM_SIDE_ELECTRONS, LM_SIDE_WALL, LM_SIDE_VOID, LM_SIDE_VOID_SIZES, LM_SIDE_SUMS };

/* Arrays of one stride, element 0 of each, at one time. */
struct lm_side_arrays {
    struct lm_view e, void_e, b;
    const double *pressure_e[2]; /* the part of E that Faraday's law does not have; NULL: there is none */
    const double *ion_current[2], *density;
    const double *entropy; /* NULL: the pressure follows from the density */
};

/* The enthalpy of the electrons for a unit of their charge. */
LM_HD double lm_side_enthalpy(const struct lm_side_arrays *a, long k, const struct lm_ohm *o)
{
    const double n = lm_max(a->density[k], lm_least_push_density(o));
    return a->entropy == NULL ? lm_enthalpy(n, o)
                              : o->gamma / (o->gamma - 1.0) * (lm_pressure_of(a->entropy[k], o->gamma) / n);
}

/* E along a side, in the plane and out of it. */
struct lm_side_field {
    double in_plane, out_of_plane;
};

/* That of Faraday's law in the cell before the side. */
LM_HD struct lm_side_field lm_side_field_inside(const struct lm_side_arrays *a, int axis, long k)
{
    const double *const pressure_e = a->pressure_e[1 - axis];
    const double e = axis == 0 ? a->e.y[k] + a->void_e.y[k] : a->e.x[k] + a->void_e.x[k];
    return (struct lm_side_field){pressure_e ? e - pressure_e[k] : e, a->e.z[k] + a->void_e.z[k]};
}

/* The given one beyond the side. */
LM_HD struct lm_side_field lm_side_field_given(const struct lm_side_arrays *a, int axis, long beyond)
{
    return (struct lm_side_field){axis == 0 ? a->e.y[beyond] : a->e.x[beyond], a->e.z[beyond]};
}

/* What E through the side adds to the rate of B_z on it, at the node `wall`. E through open sides counts as 0, and B on
 * sides that hold it has no rate. */
LM_HD double lm_side_turn(const struct lm_side_arrays *a, int axis, int fields, long wall, const struct lm_ohm *o)
{
    const long s = a->e.s;
    if (fields == LM_OPEN || fields == LM_INFLOW_B)
        return 0.0;
    return axis == 0 ? (a->e.x[wall + s] + a->void_e.x[wall + s] - (a->e.x[wall] + a->void_e.x[wall])) * o->inv_dy
                     : (a->e.y[wall] + a->void_e.y[wall] - (a->e.y[wall + 1] + a->void_e.y[wall + 1])) * o->inv_dx;
}

/* What a cell, element k, at a side adds to the sums. `fields` and `ions` are the boundary conditions of the side
 * (enum lm_field_boundary, lm_boundary). */
LM_HD void lm_side_cell(const struct lm_side_arrays *a, const struct lm_grid *g, int side, int fields, int ions, long k,
                        const struct lm_ohm *o, double sum[LM_SIDE_SUMS])
{
    const int axis = side / 2, high = side % 2, step = axis == 0 ? 1 : a->b.s, given = lm_prescribes_e(fields);
    const double inwards = high ? -1.0 : 1.0, length = axis == 0 ? g->dy : g->dx, area = g->dx * g->dy;
    const long wall = high ? k : k - step;
    const struct lm_view b = lm_view_at(a->b, wall);
    const double *const along = axis == 0 ? b.y : b.x; /* of B on the side, in the plane */
    LM_UNROLL
    for (int of = 0; of < LM_SIDE_SUMS; of++)
        sum[of] = 0.0;
    if (lm_fields_cross(fields)) {
        const struct lm_side_field e =
            given ? lm_side_field_given(a, axis, high ? k + step : k - step) : lm_side_field_inside(a, axis, k);
        const double edge = (axis == 0 ? inwards : -inwards) * length, /* of E x B along x, and along -y */
            counts = given ? (high ? 0.0 : -1.0) : (high ? 1.0 : 0.0); /* the change of B on the side */
        sum[LM_SIDE_FIELDS] = edge * (e.in_plane * b.z[0] - e.out_of_plane * along[0]);
        if (!given)
            sum[LM_SIDE_VOID] =
                edge * ((axis == 0 ? a->void_e.y[k] : a->void_e.x[k]) * b.z[0] - a->void_e.z[k] * along[0]);
        sum[LM_SIDE_VOID_SIZES] = lm_abs(sum[LM_SIDE_VOID]);
        if (counts != 0.0) {
            sum[LM_SIDE_FIELDS] -= counts * area * b.z[0] * lm_side_turn(a, axis, fields, wall, o);
            sum[LM_SIDE_WALL] = counts * 0.5 * area * (along[0] * along[0] + b.z[0] * b.z[0]);
        }
    }
    if (lm_ions_cross(ions) && lm_has_pressure(o)) {
        const double current = axis == 0 ? lm_diff_down(b.z, b.s, o->inv_dy) : lm_drop_down(b.z, 1, o->inv_dx),
                     *const ji = a->ion_current[axis] + k; /* half a cell before the side */
        const double there = lm_extrapolate_half(ji[0], ji[high ? -step : step]);
        const double carried = a->entropy == NULL                   ? there
                               : lm_is_absorbing_wall(ions, fields) ? lm_current_of_leaving(there, high)
                                                                    : there - current;
        sum[LM_SIDE_ELECTRONS] = inwards * length * lm_side_enthalpy(a, k, o) * carried;
    }
}

#endif
