/* Heat of mixing: the energy that the advection of the electrons' entropy s = p^(1/gamma) loses on a face where it
 * smooths s, given back to the electrons of both cells.
 *
 * The energy W = p / (gamma - 1) of a cell has the derivative h = dW/ds = gamma/(gamma - 1) p/s. The flux u s_f through
 * the face between the cells a and b changes the energy of both by u s_f (h_b - h_a) / dx per unit of volume and time.
 * The force -(p_b - p_a) / (N dx) of the pressure (larmor/physics/fields/pressure_gradient.h) gives ions and fields
 * -U (p_b - p_a) / dx, where U = (J_i - J) / N is the velocity of the electrons with the density N that divides the
 * force. The heat Q = (U (p_b - p_a) - u s_f (h_b - h_a)) / dx makes the sum of all three 0. With U = u it is
 * u (s* - s_f) (h_b - h_a) / dx, where s* = (p_b - p_a) / (h_b - h_a) is a mean of s_a and s_b: where s is smooth Q is
 * of second order in dx and has either sign, where the scheme smooths s it is positive. It is 0 where p is uniform.
 * Through a face that a body cuts, Q is times the open length, as the flux is.
 */
#ifndef LARMOR_PHYSICS_FLUID_MIXING_HEAT_H
#define LARMOR_PHYSICS_FLUID_MIXING_HEAT_H

#include "larmor/physics/fields/pressure_gradient.h"
#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/fluid/flow.h"

/* A cell takes less heat the larger x = gamma p (dt (1/dx^2 + 1/dy^2) / n)^2 is, and none from this value on. Where n
 * varies from cell to cell, p and B are an oscillator of at most the frequency k^2 sqrt(gamma p) / n, with k^2 up to
 * 4 (1/dx^2 + 1/dy^2). They are advanced by turns, which is stable for steps below 2 over that frequency: for x < 1/4.
 * Without this limit, heat would drive thin cells beyond it. */
#define LM_MIXING_LIMIT 0.25

/* No cell loses more than this share of its pressure where Q is negative. */
#define LM_MIXING_LOSS 0.5

/* --- a face --- */

/* The mean of two densities that divides the force of the pressure on B. */
LM_HD double lm_battery_density(double a, double b, double least, const struct lm_ohm *o)
{
    const double from = lm_max(a, least), to = lm_max(b, least);
    return lm_mean_density(from, to, lm_pressure_potential(from, least, o), lm_pressure_potential(to, least, o),
                           o->gamma);
}

/* U on the upper face of the cell at k along an axis, which is inside the domain and between cells of plasma. The
 * forces on the ions (`push`) and on B have different least densities, and so different densities that divide them. */
LM_HD double lm_work_velocity_of(const struct lm_flow_moments *g, int axis, long k, double push_density,
                                 double b_density, const struct lm_ohm *o)
{
    const double *ji = g->current[axis];
    const long next = k + (axis == 0 ? 1 : g->b.s);
    const struct lm_vector j =
        lm_plasma_current(lm_view_at(g->b, k), lm_external_at(g->external, k), o->inv_dx, o->inv_dy);
    return 0.5 * (ji[k] + ji[next]) / push_density - (axis == 0 ? j.x : j.y) / b_density;
}

/* The same, with both densities found from those of the cells. */
LM_HD double lm_work_velocity(const struct lm_flow_moments *g, int axis, long k, const struct lm_ohm *o)
{
    const long next = k + (axis == 0 ? 1 : g->b.s);
    const double push = lm_push_density(lm_middle_density(g, k), lm_middle_density(g, next), lm_least_push_density(o));
    return lm_work_velocity_of(g, axis, k, push, lm_battery_density(g->counted[k], g->counted[next], o->floor, o), o);
}

/* The same, but that of which the flow through the open length of the face passes around bodies, as that of the entropy
 * (lm_flow_past_bodies). */
LM_HD double lm_work_velocity_past_bodies(const struct lm_flow_moments *g, int axis, long k, const struct lm_ohm *o)
{
    const double own = lm_work_velocity(g, axis, k, o);
    double other[2] = {0.0, 0.0};
    if (!g->open || !lm_is_passage(&g->passage[k], &g->open[k], axis))
        return own;
    const struct lm_passage *p = &g->passage[k];
    for (int end = 0; end < 2; end++)
        if (p->which[axis][end])
            other[end] = lm_work_velocity(g, !axis, lm_other_face(axis, end, p->which[axis][end], k, g->b.s), o);
    return lm_passing_velocity(p, &g->open[k], axis, own, other);
}

/* A cell of a face: entropy, pressure, the weight with which it takes heat, and h (0 without electrons). */
struct lm_mixing_cell {
    double s, p, weight, h;
};

/* `half`: half a step. n: the density that counts in the middle of the step. */
LM_HD struct lm_mixing_cell lm_mixing_cell(double s, double n, double half, const struct lm_ohm *o)
{
    const double p = lm_pressure_of(s, o->gamma);
    const double rate = 2.0 * half * (o->inv_dx * o->inv_dx + o->inv_dy * o->inv_dy) / n;
    const double x = o->gamma * p * (rate * rate) / LM_MIXING_LIMIT;
    const struct lm_mixing_cell c = {s, p, p * lm_max(1.0 - x * x, 0.0),
                                     s > 0.0 ? o->gamma / (o->gamma - 1.0) * (p / s) : 0.0};
    return c;
}

/* Q. `value` is s_f, r is 1/dx or 1/dy. */
LM_HD double lm_mixing_heat(const struct lm_mixing_cell *a, const struct lm_mixing_cell *b, double value, double u,
                            double work, double r)
{
    return (work * (b->p - a->p) - u * value * (b->h - a->h)) * r;
}

/* Q for each unit of what the cells take it by: their weights where it is positive, their pressures where it is
 * negative. Cells without electrons therefore stay so. */
LM_HD double lm_mixing_share(double heat, const struct lm_mixing_cell *a, const struct lm_mixing_cell *b)
{
    const double by = heat > 0.0 ? a->weight + b->weight : a->p + b->p;
    return by > 0.0 ? heat / by : 0.0;
}

/* --- a cell --- */

/* What a cell gets of a face with this share. */
LM_HD double lm_mixing_part(double share, const struct lm_mixing_cell *c)
{
    return share * (share > 0.0 ? c->weight : c->p);
}

/* The entropy of a cell after a time dt, from the shares of its faces. Adds the quanta of the change to *source.
 * `volume`: what is open of the cell. */
LM_HD double lm_mix_cell(const struct lm_mixing_cell *c, double left, double right, double below, double above,
                         double volume, double dt, int quantum, double gamma, struct lm_wide *source)
{
    const double sum =
        (lm_mixing_part(left, c) + lm_mixing_part(right, c)) + (lm_mixing_part(below, c) + lm_mixing_part(above, c));
    const double heat = sum / volume;
    const double gain = lm_max((gamma - 1.0) * heat * dt, -LM_MIXING_LOSS * c->p);
    return lm_heat_cell(c->s, c->p, gain, volume, quantum, gamma, source);
}

#endif
