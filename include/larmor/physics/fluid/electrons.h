/* Electrons whose pressure is evolved. Their entropy density s = p^(1/gamma) obeys
 *
 *     ds/dt + div(s u_e) = ((gamma - 1)/gamma) s^(1 - gamma) Q
 *
 * so that flow without heat conserves its integral; it is the background field that larmor/physics/fluid/advect.h
 * carries with the electrons. Here: the heat of resistivity, conduction, and what they do to p and s. The energy
 * density is p / (gamma - 1).
 */
#ifndef LARMOR_PHYSICS_FLUID_ELECTRONS_H
#define LARMOR_PHYSICS_FLUID_ELECTRONS_H

#include "larmor/physics/fluid/conductivity.h"
#include "larmor/physics/fluid/flow.h"
#include "larmor/physics/numerics/wide.h"

/* --- pressure and entropy --- */

LM_HD double lm_pressure_of(double entropy, double gamma)
{
    return lm_pow(entropy, gamma);
}

LM_HD double lm_entropy_of(double pressure, double gamma)
{
    return lm_pow(pressure, 1.0 / gamma);
}

/* s when the pressure p of s has gained so much, as a factor of s: what gains nothing keeps its bits, and what gains
 * little is not rounded twice. */
LM_HD double lm_entropy_with(double s, double p, double gain, double gamma)
{
    const double after = p + gain;
    if (gain == 0.0)
        return s;
    if (!(after > 0.0))
        return after == after ? 0.0 : after;
    return p > 0.0 ? s * lm_entropy_of(1.0 + gain / p, gamma) : lm_entropy_of(after, gamma);
}

/* The nearest whole number; NaN if an integer cannot hold it. */
LM_HD double lm_whole(double v)
{
    return lm_abs(v) < 0x1p62 ? (double)lm_round64(v) : lm_nan();
}

/* The same in whole quanta of 2^-quantum; NaN: beyond all bounds. */
LM_HD double lm_heated_entropy(double s, double gain, int quantum, double gamma)
{
    return lm_whole(lm_entropy_with(s, lm_pressure_of(s, gamma), gain, gamma) * lm_exp2i(quantum)) * lm_exp2i(-quantum);
}

/* Exponent of the units in which heat is summed up: 2^LM_QUANTA_BITS quanta of s are, as pressure, at most 2^60 of
 * them. */
LM_HD int lm_heat_exponent(int quantum, double gamma)
{
    const double bits = gamma * (LM_QUANTA_BITS - quantum), whole = lm_trunc(bits);
    const int exponent = 60 - (int)(whole < bits ? whole + 1.0 : whole);
    return exponent < 1000 ? exponent : 1000;
}

/* --- heat of resistivity --- */

/* Arrays, all of one stride: B, density, resistivity, ion current at the centres, lm_background_room. */
struct lm_heat_given {
    struct lm_view b, ji;
    const double *n, *eta;
    const uint8_t *room;
};

LM_HD double lm_current(struct lm_view b, int component, const struct lm_ohm *o)
{
    const struct lm_vector j = lm_curl_b(b, o->inv_dx, o->inv_dy);
    return component == 0 ? j.x : component == 1 ? j.y : j.z;
}

LM_HD double lm_square(double v)
{
    return v * v;
}

/* Heat at the node of a component of J: eta J^2 + eta_H |grad J|^2, which has the integral of -eta_H J lap J and is
 * never negative. Where the ions feel the resistive E too they take J_i E of it. */
LM_HD double lm_heat_at_node(struct lm_view b, int component, double ji, double eta, const struct lm_ohm *o)
{
    /* cppcheck-suppress negativeIndex ; the cross stands inside its array */
    const double j[9] = {0.0,
                         o->eta_hyper > 0.0 ? lm_current(lm_view_at(b, -b.s), component, o) : 0.0,
                         0.0,
                         o->eta_hyper > 0.0 ? lm_current(lm_view_at(b, -1), component, o) : 0.0,
                         lm_current(b, component, o),
                         o->eta_hyper > 0.0 ? lm_current(lm_view_at(b, 1), component, o) : 0.0,
                         0.0,
                         o->eta_hyper > 0.0 ? lm_current(lm_view_at(b, b.s), component, o) : 0.0,
                         0.0};
    const double *const here = j + 4;
    double heat = eta * lm_square(here[0]);
    if (o->eta_hyper > 0.0)
        heat += 0.5 * o->eta_hyper *
                ((lm_square(lm_diff_up(here, 1, o->inv_dx)) + lm_square(lm_diff_down(here, 1, o->inv_dx))) +
                 (lm_square(lm_diff_up(here, 3, o->inv_dy)) + lm_square(lm_diff_down(here, 3, o->inv_dy))));
    return o->friction ? heat : heat - ji * lm_resistive(here, 3, eta, o);
}

/* On the upper face of the cell at k along an axis, with the resistivity of Ohm's law there: on a side of the domain
 * without that of voids (lm_wall_field). Where a body begins the plasma has no resistive E (lm_body_field). */
LM_HD double lm_heat_on_face(const struct lm_heat_given *g, int axis, long k, enum lm_face_place place,
                             const struct lm_ohm *o)
{
    const int other = axis == 0 ? 1 : g->b.s;
    const double *const ji = axis == 0 ? g->ji.x : g->ji.y;
    const double density = 0.5 * (lm_floored(g->n[k], o) + lm_floored(g->n[k + other], o));
    double eta = lm_interp_up(g->eta + k, other);
    if (place == LM_FACE_INSIDE && !(g->room[k] && g->room[k + other]))
        return 0.0;
    if (place == LM_FACE_INSIDE)
        eta += lm_eta_vacuum(density, o);
    return lm_heat_at_node(lm_view_at(g->b, k), axis, lm_interp_up(ji + k, other), eta, o);
}

/* Heat in a unit of time and volume of the cell at k, which is fluid: half of what is on each of its faces, so that the
 * sum over cells is what the fields lose. place: of the faces left, right, below, above. */
LM_HD double lm_heat_in_cell(const struct lm_heat_given *g, long k, const enum lm_face_place place[4],
                             const struct lm_ohm *o)
{
    const double x = lm_heat_on_face(g, 0, k - 1, place[0], o) + lm_heat_on_face(g, 0, k, place[1], o);
    const double y = lm_heat_on_face(g, 1, k - g->b.s, place[2], o) + lm_heat_on_face(g, 1, k, place[3], o);
    const double eta = g->eta[k] + lm_eta_vacuum(lm_floored(g->n[k], o), o);
    return 0.5 * x + (0.5 * y + lm_heat_at_node(lm_view_at(g->b, k), 2, g->ji.z[k], eta, o));
}

/* --- conduction --- */

/* Arrays with one cell beyond the sides: T = p / n, density, B, lm_background_room. */
struct lm_conduction {
    const double *t, *n;
    struct lm_view b;
    const uint8_t *room;
    struct lm_conductivity kappa;
};

/* Whether heat passes between two cells: into no solid, through no side that is not periodic, and not to or from the
 * density floor, whose cells have a heat capacity that is none of the plasma's. */
LM_HD int lm_conducts(const struct lm_conduction *c, long a, long b, const struct lm_ohm *o)
{
    return c->room[a] && c->room[b] && c->n[a] > o->floor && c->n[b] > o->floor;
}

/* Slope of T from a cell to the next one; 0 where no heat passes. */
LM_HD double lm_slope(const struct lm_conduction *c, long k, int step, double r, const struct lm_ohm *o)
{
    return lm_conducts(c, k, k + step, o) ? lm_diff_up(c->t + k, step, r) : 0.0;
}

/* The mean of four slopes, 0 unless all have one sign, and no more than twice the least of them. */
LM_HD double lm_limited_mean(double a, double b, double c, double d)
{
    const double mean = 0.25 * ((a + b) + (c + d));
    const double least = lm_min(lm_min(lm_abs(a), lm_abs(b)), lm_min(lm_abs(c), lm_abs(d)));
    if (!((a > 0.0 && b > 0.0 && c > 0.0 && d > 0.0) || (a < 0.0 && b < 0.0 && c < 0.0 && d < 0.0)))
        return 0.0;
    return mean > 0.0 ? lm_min(mean, 2.0 * least) : lm_max(mean, -2.0 * least);
}

/* Minus the heat flux through the upper face of the cell at k along an axis; where B is 0, `along` counts for both
 * directions. The flux that a slope along the face drives is limited as by Sharma and Hammett (2007, J. Comput. Phys.
 * 227, 123), so that no T leaves the range of its neighbours: the slope has the sign of the difference with one of the
 * two neighbours there and no more than twice its size. */
LM_HD double lm_heat_flux(const struct lm_conduction *c, int axis, long k, const struct lm_ohm *o)
{
    const int f = axis == 0 ? 1 : c->b.s, t = axis == 0 ? c->b.s : 1;
    const double r = axis == 0 ? o->inv_dx : o->inv_dy, rt = axis == 0 ? o->inv_dy : o->inv_dx;
    const double *const normal = (axis == 0 ? c->b.x : c->b.y) + k, *const bz = c->b.z + k;
    if (!lm_conducts(c, k, k + f, o))
        return 0.0;
    const double bn = 0.25 * ((normal[0] + normal[-t]) + (normal[f] + normal[f - t]));
    const double bt = (axis == 0 ? c->b.y : c->b.x)[k], b2 = bn * bn + bt * bt + lm_square(lm_interp_down(bz, t));
    const double more = c->kappa.along - c->kappa.across, slope = lm_diff_up(c->t + k, f, r);
    if (more == 0.0 || !(b2 > 0.0))
        return c->kappa.along * slope;
    const double across = lm_limited_mean(lm_slope(c, k, t, rt, o), lm_slope(c, k - t, t, rt, o),
                                          lm_slope(c, k + f, t, rt, o), lm_slope(c, k + f - t, t, rt, o));
    return (c->kappa.across + more * (bn * bn / b2)) * slope + more * (bn * bt / b2) * across;
}

/* div(kappa grad T) in the cell at k. */
LM_HD double lm_heat_conducted(const struct lm_conduction *c, long k, const struct lm_ohm *o)
{
    const double x[2] = {lm_heat_flux(c, 0, k - 1, o), lm_heat_flux(c, 0, k, o)};
    const double y[2] = {lm_heat_flux(c, 1, k - c->b.s, o), lm_heat_flux(c, 1, k, o)};
    return lm_diff_up(x, 1, o->inv_dx) + lm_diff_up(y, 1, o->inv_dy);
}

/* Steps up to 1 over this keep every T between those of its neighbours: the sum of the factors that these have. */
LM_HD double lm_conduction_rate(struct lm_conductivity k, double least_density, const struct lm_grid *g,
                                const struct lm_ohm *o)
{
    const double most = lm_max(k.along, k.across), more = lm_abs(k.along - k.across);
    const double rr =
        (lm_varies_along(g, 0) ? o->inv_dx * o->inv_dx : 0.0) + (lm_varies_along(g, 1) ? o->inv_dy * o->inv_dy : 0.0);
    return (o->gamma - 1.0) / least_density * (2.0 * (most + more) * rr);
}

/* --- a step of both --- */

/* Heun's method (SSP, Shu and Osher 1988): p after a stage, `first` or second; rate: of p. */
LM_HD double lm_heated(int first, double start, double p, double rate, double h)
{
    const double next = lm_max(lm_fma(h, rate, p), 0.0);
    return first ? next : lm_mean(start, next);
}

#endif
