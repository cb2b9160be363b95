/* Velocities of ions and electrons on the faces of the cells, for the background fields that they carry:
 * u_i = J_i / n and u_e = u_i - J / n. They are taken in the middle of a step, with the floored density of Ohm's law.
 * Below the density floor the entropy of the electrons (larmor/physics/fluid/electrons.h) follows the ions. If it did
 * not, it would stay behind in voids, and its pressure would hold the plasma back. For the entropy, J is divided by the
 * density that also divides the force of its pressure on B (lm_density_for_battery in larmor/physics/fields/void.h):
 * electrons that flow faster than this force allows would make energy.
 *
 * The current also flows through surfaces of bodies and walls. What it carries there is in absorption.h. Ions that a
 * wall absorbs take the entropy of their electrons along. Nothing enters where the ions move away from the wall.
 */
#ifndef LARMOR_PHYSICS_FLUID_FLOW_H
#define LARMOR_PHYSICS_FLUID_FLOW_H

#include "larmor/physics/fluid/advect.h"
#include "larmor/physics/fields/external_current.h"
#include "larmor/physics/fields/fields.h"

/* The moments and B from which the velocities follow: arrays, all of one stride. */
struct lm_flow_moments {
    const double *density[2];      /* n at the beginning and at the end of the step */
    const double *counted;         /* lm_density_for_battery of the mean of both; NULL: p is not evolved */
    const double *current[2];      /* J_i,x and J_i,y at the centres, in the middle of the step */
    struct lm_view b;              /* B as it stands */
    struct lm_view external;       /* current outside the plasma, of the middle of the step; s = 0: none */
    const uint8_t *clearance;      /* lm_stencil_clearance */
    const struct lm_opening *open; /* of cells that bodies cut; NULL: there are none */
    const struct lm_passage *passage;
    int absorbing_walls; /* bits 1 << side: such a side of the domain is a lm_is_absorbing_wall */
};

/* The density in the middle of the step. */
LM_HD double lm_middle_density(const struct lm_flow_moments *g, long k)
{
    return lm_mean(g->density[0][k], g->density[1][k]);
}

/* Velocities, v_A, and the current J, n0 v_A for a unit of charge. */
struct lm_flows {
    double ion, electron, entropy, current;
};

/* Whether a face lies on a side of the domain, and on which end of the axis. */
enum lm_face_place { LM_FACE_INSIDE, LM_FACE_LOW, LM_FACE_HIGH };

/* Of the upper face of cell number `cell` along an axis of n cells. */
LM_HD enum lm_face_place lm_face_place(int cell, int n, int periodic)
{
    return periodic || (cell >= 0 && cell < n - 1) ? LM_FACE_INSIDE : cell < 0 ? LM_FACE_LOW : LM_FACE_HIGH;
}

/* The velocities and the current on the upper face of the cell at k along an axis. They are 0 on faces of bodies. On a
 * side of the domain the cell inside stands for both cells of the face.
 *
 * A step calls this with B at its beginning (`later` = 0) and with B at its end (`later` = 1). The electrons get the
 * ions' velocity in the first call, and half of the current in each. The entropy gets the velocity that belongs to B as
 * it stands. For the entropy alone, a step of several rounds also calls this between rounds. */
LM_HD struct lm_flows lm_flow_on_face(const struct lm_flow_moments *g, int axis, long k, enum lm_face_place place,
                                      int later, const struct lm_ohm *o)
{
    struct lm_flows u = {0.0, 0.0, 0.0, 0.0};
    const long next = k + (axis == 0 ? 1 : g->b.s), a = place == LM_FACE_LOW ? next : k,
               b = place == LM_FACE_HIGH ? k : next;
    const double *ji = g->current[axis];
    if (!g->clearance[a] || !g->clearance[b])
        return u;
    const double na = lm_middle_density(g, a), nb = lm_middle_density(g, b), there = 0.5 * (na + nb);
    const double fa = lm_floored(na, o), fb = lm_floored(nb, o), density = 0.5 * (fa + fb);
    const struct lm_vector j =
        lm_plasma_current(lm_view_at(g->b, k), lm_external_at(g->external, k), o->inv_dx, o->inv_dy);
    const double ji_here = 0.5 * (ji[a] + ji[b]);
    u.current = axis == 0 ? j.x : j.y;
    u.ion = later ? 0.0 : ji_here / density;
    u.electron = u.ion - 0.5 * u.current / density;
    if (o->evolved) {
        const double counted = 0.5 * (g->counted[a] + g->counted[b]);
        const int high = place == LM_FACE_HIGH,
                  is_wall = g->absorbing_walls >> (2 * axis + high) & (place != LM_FACE_INSIDE);
        u.entropy =
            (is_wall ? lm_current_of_leaving(ji_here, high) : ji_here) / lm_max(there, lm_least_push_density(o));
        if (!is_wall)
            u.entropy = u.entropy - u.current / counted;
    }
    return u;
}

/* The same, but those whose flows through the open length of the face pass around bodies. */
LM_HD struct lm_flows lm_flow_past_bodies(const struct lm_flow_moments *g, int axis, long k, enum lm_face_place place,
                                          int later, const struct lm_ohm *o)
{
    const struct lm_flows u = lm_flow_on_face(g, axis, k, place, later, o), none = {0.0, 0.0, 0.0, 0.0};
    if (!g->open || !lm_is_passage(&g->passage[k], &g->open[k], axis))
        return u;
    const struct lm_passage *p = &g->passage[k];
    struct lm_flows w[2] = {none, none};
    for (int end = 0; end < 2; end++)
        if (p->which[axis][end])
            w[end] = lm_flow_on_face(g, !axis, lm_other_face(axis, end, p->which[axis][end], k, g->b.s), LM_FACE_INSIDE,
                                     later, o);
    const double ion[2] = {w[0].ion, w[1].ion}, electron[2] = {w[0].electron, w[1].electron},
                 entropy[2] = {w[0].entropy, w[1].entropy}, current[2] = {w[0].current, w[1].current};
    struct lm_flows passes;
    passes.ion = lm_passing_velocity(p, &g->open[k], axis, u.ion, ion);
    passes.electron = lm_passing_velocity(p, &g->open[k], axis, u.electron, electron);
    passes.entropy = lm_passing_velocity(p, &g->open[k], axis, u.entropy, entropy);
    passes.current = lm_passing_velocity(p, &g->open[k], axis, u.current, current);
    return passes;
}

/* The velocities along one axis, on the faces. `ion` and `electron` are both NULL if these carry no field, `entropy` is
 * NULL if the pressure of the electrons is not evolved. */
struct lm_flow_arrays {
    double *ion, *electron, *entropy;
};

/* Stores the velocities on the upper face of the cell at k along an axis. */
LM_HD void lm_set_flow_on_face(const struct lm_flow_moments *g, int axis, long k, enum lm_face_place place, int later,
                               const struct lm_ohm *o, const struct lm_flow_arrays *to)
{
    const struct lm_flows u = lm_flow_past_bodies(g, axis, k, place, later, o);
    if (to->entropy)
        to->entropy[k] = u.entropy;
    if (!to->ion)
        return;
    if (!later)
        to->ion[k] = u.ion;
    to->electron[k] = later ? to->electron[k] + u.electron : u.electron;
}

/* lm_flow_rate of the cell at k. x and y are the velocities on the faces, `stride` is the distance from a cell to the
 * one above; open NULL: no cell is cut. */
LM_HD double lm_flow_rate_at(const double *x, const double *y, const struct lm_opening *open, long k, int stride,
                             double inv_dx, double inv_dy)
{
    if (!open)
        return lm_flow_rate(x[k - 1], x[k], y[k - stride], y[k], inv_dx, inv_dy);
    return lm_flow_rate(x[k - 1] * lm_opening_at(open, 0, k - 1), x[k] * lm_opening_at(open, 0, k),
                        y[k - stride] * lm_opening_at(open, 1, k - stride), y[k] * lm_opening_at(open, 1, k), inv_dx,
                        inv_dy) /
           lm_volume_at(open, k);
}

/* The same as bits, which order like sizes. 0 in bodies. */
LM_HD uint64_t lm_flow_rate_bits(const double *x, const double *y, const uint8_t *clearance,
                                 const struct lm_opening *open, long k, int stride, const struct lm_ohm *o)
{
    const uint64_t size = lm_size_bits(lm_flow_rate_at(x, y, open, k, stride, o->inv_dx, o->inv_dy));
    return clearance[k] ? size : 0;
}

#endif
