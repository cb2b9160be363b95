/* Conduction of the electrons' heat: the heat flux is -kappa grad T, with one kappa along B and another one across
 * (Braginskii 1965, Reviews of Plasma Physics 1, 205). Slopes along a face are limited (Sharma and Hammett 2007, J.
 * Comput. Phys. 227, 123), so that no T leaves the range of its neighbours. */
#ifndef LARMOR_PHYSICS_FLUID_CONDUCTION_H
#define LARMOR_PHYSICS_FLUID_CONDUCTION_H

#include "larmor/physics/fluid/conductivity.h"
#include "larmor/physics/fluid/joule_heating.h"
#include "larmor/physics/fluid/opening.h"

/* Arrays with one cell beyond the sides. */
struct lm_conduction {
    const double *t, *n; /* T = p / n, density */
    struct lm_view b;
    const uint8_t *clearance;      /* lm_stencil_clearance */
    const struct lm_opening *open; /* NULL: no cell is cut */
    struct lm_conductivity kappa;
};

/* Whether heat passes between two cells. It does not pass into bodies, nor through sides that are not periodic, nor to
 * or from cells at the density floor: their heat capacity is not that of a plasma. */
LM_HD int lm_conducts(const struct lm_conduction *c, long a, long b, const struct lm_ohm *o)
{
    return c->clearance[a] && c->clearance[b] && c->n[a] > o->floor && c->n[b] > o->floor;
}

/* The slope of T from the cell at k to the one `step` further; inv_across is 1/dx or 1/dy. 0 where no heat passes. */
LM_HD double lm_slope(const struct lm_conduction *c, long k, int step, double inv_d, const struct lm_ohm *o)
{
    return lm_conducts(c, k, k + step, o) ? lm_diff_up(c->t + k, step, inv_d) : 0.0;
}

/* The mean of four slopes, limited in size to twice the least of them; 0 unless all have the same sign. */
LM_HD double lm_limited_mean(double a, double b, double c, double d)
{
    const double mean = 0.25 * ((a + b) + (c + d));
    const double least = lm_min(lm_min(lm_abs(a), lm_abs(b)), lm_min(lm_abs(c), lm_abs(d)));
    if (!((a > 0.0 && b > 0.0 && c > 0.0 && d > 0.0) || (a < 0.0 && b < 0.0 && c < 0.0 && d < 0.0)))
        return 0.0;
    return mean > 0.0 ? lm_min(mean, 2.0 * least) : lm_max(mean, -2.0 * least);
}

/* Minus the heat flux through the upper face of the cell at k along an axis. Where B is 0, kappa.along holds in both
 * directions. The part of the flux that slopes along the face drive is limited: the limited slope has the sign of the
 * difference between this cell and one of its two neighbours in that direction, and at most twice its size. */
LM_HD double lm_heat_flux(const struct lm_conduction *c, int axis, long k, const struct lm_ohm *o)
{
    const int f = axis == 0 ? 1 : c->b.s, t = axis == 0 ? c->b.s : 1;
    const double inv_across = axis == 0 ? o->inv_dx : o->inv_dy, inv_along = axis == 0 ? o->inv_dy : o->inv_dx;
    const double *const normal = (axis == 0 ? c->b.x : c->b.y) + k, *const bz = c->b.z + k;
    if (!lm_conducts(c, k, k + f, o))
        return 0.0;
    const double bn = 0.25 * ((normal[0] + normal[-t]) + (normal[f] + normal[f - t]));
    const double bt = (axis == 0 ? c->b.y : c->b.x)[k], b2 = bn * bn + bt * bt + lm_square(lm_interp_down(bz, t));
    const double more = c->kappa.along - c->kappa.across, slope = lm_diff_up(c->t + k, f, inv_across);
    if (more == 0.0 || !(b2 > 0.0))
        return c->kappa.along * slope;
    const double across = lm_limited_mean(lm_slope(c, k, t, inv_along, o), lm_slope(c, k - t, t, inv_along, o),
                                          lm_slope(c, k + f, t, inv_along, o), lm_slope(c, k + f - t, t, inv_along, o));
    return (c->kappa.across + more * (bn * bn / b2)) * slope + more * (bn * bt / b2) * across;
}

/* Minus what passes the same face, of which a part is open. */
LM_HD double lm_heat_through(const struct lm_conduction *c, int axis, long k, const struct lm_ohm *o)
{
    const double flux = lm_heat_flux(c, axis, k, o);
    return c->open ? flux * lm_opening_at(c->open, axis, k) : flux;
}

/* div(kappa grad T) in the cell at k. */
LM_HD double lm_heat_conducted(const struct lm_conduction *c, long k, const struct lm_ohm *o)
{
    const double x[2] = {lm_heat_through(c, 0, k - 1, o), lm_heat_through(c, 0, k, o)};
    const double y[2] = {lm_heat_through(c, 1, k - c->b.s, o), lm_heat_through(c, 1, k, o)};
    const double conducted = lm_diff_up(x, 1, o->inv_dx) + lm_diff_up(y, 1, o->inv_dy);
    return c->open ? conducted / lm_volume_at(c->open, k) : conducted;
}

/* The rate of the conduction. Steps of at most 1 over this rate keep every T between those of its neighbours: the rate
 * is the sum of the factors that these have in the new T. `crowding`: lm_crowding. */
LM_HD double lm_conduction_rate(struct lm_conductivity k, double least_density, double crowding,
                                const struct lm_grid *g, const struct lm_ohm *o)
{
    const double most = lm_max(k.along, k.across), more = lm_abs(k.along - k.across);
    const double rr =
        (lm_varies_along(g, 0) ? o->inv_dx * o->inv_dx : 0.0) + (lm_varies_along(g, 1) ? o->inv_dy * o->inv_dy : 0.0);
    return (o->gamma - 1.0) / least_density * (2.0 * (most + more) * rr) * crowding;
}

/* --- a stage of the conduction --- */

/* Heun's method in SSP form (Shu and Osher 1988): the value after the first or the second stage of a step h. `start` is
 * the value at the beginning of the step, p the value before the stage, `rate` its rate of change. A value that would
 * be negative becomes 0. */
LM_HD double lm_heun_stage(int first, double start, double p, double rate, double h)
{
    const double next = lm_max(lm_fma(h, rate, p), 0.0);
    return first ? next : lm_mean(start, next);
}

/* T from which conduction follows, with the floored density. */
LM_HD double lm_conduction_temperature(double p, double n, const struct lm_ohm *o)
{
    return p / lm_floored(n, o);
}

/* The pressure of the cell at k after a stage. It gains the Joule heat `heat` and what conduction brings. The arrays
 * are those of lm_heun_stage. */
LM_HD double lm_conduction_stage(const struct lm_conduction *c, long k, const double *heat, int first,
                                 const double *start, const double *p, double h, const struct lm_ohm *o)
{
    const double rate = (o->gamma - 1.0) * (heat[k] + lm_heat_conducted(c, k, o));
    return lm_heun_stage(first, start[k], p[k], rate, h);
}

#endif
