/* Advection of background fields: dq/dt = -div(q u) + div(kappa grad q) + S in the cells, with u given on their faces.
 *
 * In every cell a field is a whole number of quanta U, where U is a power of two. What crosses a face in a stage of the
 * Runge-Kutta method is a whole number of units of that stage, rounded towards zero. Sums over cells are therefore
 * exact. What one cell loses its neighbour gains, and the ledger of what crosses the sides of the domain closes to the
 * last bit. For the same reason the terms may be added in any order.
 *
 * The time stepping is the third-order SSP Runge-Kutta method (Shu and Osher 1988, J. Comput. Phys. 77, 439, eq. 2.18).
 * With D(q), the rate of change times dt, it reads
 *     q1 = q + D(q),  q2 = q + (q1 - q + D(q1)) / 4,  q' = q + 2/3 (q2 - q + D(q2))
 * These factors are exact if D(q) and D(q1) are counted in units of 6 U, and D(q2) in units of 3/2 U. The difference
 * q2 - q is then a multiple of 3/2 U. One unit of any stage changes q' by exactly 1 U.
 *
 * In cells that bodies cut all this holds for their contents (larmor/physics/fluid/opening.h). The factors of the
 * fluxes through their faces are times the open lengths.
 */
#ifndef LARMOR_PHYSICS_FLUID_ADVECT_H
#define LARMOR_PHYSICS_FLUID_ADVECT_H

#include "larmor/physics/fluid/background_sides.h"
#include "larmor/physics/fluid/opening.h"
#include "larmor/physics/numerics/operators.h"
#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/numerics/wide.h"

enum { LM_ADVECT_STAGES = 3 };

/* |q| < 2^LM_QUANTA_BITS U at all times. All sums are then exact. */
enum { LM_QUANTA_BITS = 50 };

/* The factors of a stage. A unit is 6 U in the stages 0 and 1, and 3/2 U in stage 2. */
struct lm_advect {
    int stage;     /* 0, 1, 2 */
    double unit;   /* U */
    double x, y;   /* turn u q into units: dt / (dx unit), dt / (dy unit) */
    double kx, ky; /* turn a difference of two neighbours into units: kappa dt / (dx^2 unit), kappa dt / (dy^2 unit) */
    double source; /* turns S into units: dt / unit */
};

/* inv_dx and inv_dy are 1/dx and 1/dy. */
LM_HD struct lm_advect lm_advect_stage(int stage, double unit, double dt, double inv_dx, double inv_dy, double kappa)
{
    struct lm_advect a;
    const double per = dt / (unit * (stage < 2 ? 6.0 : 1.5));
    a.stage = stage;
    a.unit = unit;
    a.x = inv_dx * per;
    a.y = inv_dy * per;
    a.kx = kappa * inv_dx * a.x;
    a.ky = kappa * inv_dy * a.y;
    a.source = per;
    return a;
}

/* --- faces --- */

/* The advective flux through a face in a stage, in units of the stage. u is the velocity and q the value on the face,
 * `factor` is lm_advect.x or .y. The flux is rounded towards zero, so that a cell cannot lose more than it holds. */
LM_HD double lm_advective_flux(double u, double q, double factor)
{
    return lm_trunc(u * q * factor);
}

/* The diffusive flux from the cell c[0] to the cell c[1] in a stage, in units of the stage. `factor` is lm_advect.kx or
 * .ky. */
LM_HD double lm_diffusive_flux(const double *c, double factor)
{
    return lm_trunc(lm_drop_up(c, 1, factor));
}

/* The flux through a face on a side of the domain, in units of the stage, positive along the axis. `kind` is what the
 * side does to the field (enum lm_background_side), `inflow` holds the field beyond each cell of the side, or is NULL
 * where nothing flows in. `n` is the number of the cell along the side, `inside` is the field in that cell. */
LM_HD double lm_side_flux(int kind, const double *inflow, int side, double u, int n, double inside, double factor)
{
    const double inwards = side % 2 ? -u : u, outside = inflow ? inflow[n] : 0.0;
    if (kind == LM_BACKGROUND_WALL)
        return 0.0;
    return lm_advective_flux(u, kind == LM_BACKGROUND_INFLOW && inwards > 0.0 ? outside : inside, factor);
}

/* The larger one of the outflow and the inflow of a cell per unit of time, from the velocities on its faces (of a cut
 * cell: times their open lengths, and of its volume). */
LM_HD double lm_flow_rate(double left, double right, double below, double above, double inv_dx, double inv_dy)
{
    const double out =
        (lm_max(right, 0.0) - lm_min(left, 0.0)) * inv_dx + (lm_max(above, 0.0) - lm_min(below, 0.0)) * inv_dy;
    const double in =
        (lm_max(left, 0.0) - lm_min(right, 0.0)) * inv_dx + (lm_max(below, 0.0) - lm_min(above, 0.0)) * inv_dy;
    return lm_max(out, in);
}

/* --- cells --- */

/* The net inflow of a cell from the fluxes through its faces. */
LM_HD double lm_net_inflow(double left, double right, double below, double above)
{
    return (left - right) + (below - above);
}

/* What the source S adds to the content of a cell in a stage, in units of the stage. */
LM_HD double lm_source_units(const struct lm_advect *a, double source, double volume)
{
    return lm_trunc(source * a->source * volume);
}

/* The cell after a stage. q0 is its value at the start of the step, q its value before the stage, and `gain` is its net
 * inflow and its source in units of the stage. Exact. */
LM_HD double lm_advect_update(const struct lm_advect *a, double q0, double q, double gain)
{
    if (a->stage == 0)
        return lm_fma(6.0 * a->unit, gain, q);
    if (a->stage == 1)
        return lm_fma(0.25, lm_fma(6.0 * a->unit, gain, q - q0), q0);
    /* 2/3 (q2 - q) is a whole number of quanta but for the rounding of the product. Adding 3 2^51 U drops the rest. */
    const double whole = 0x1.8p52 * a->unit, change = (2.0 / 3) * (q - q0);
    return q0 + lm_fma(a->unit, gain, (change + whole) - whole);
}

/* The same for a cell with this open volume. `gain` is that of its content. */
LM_HD double lm_advect_update_cut(const struct lm_advect *a, double q0, double q, double gain, double volume)
{
    if (volume == 1.0)
        return lm_advect_update(a, q0, q, gain);
    return lm_advect_update(a, lm_content(q0, volume, a->unit), lm_content(q, volume, a->unit), gain) / volume;
}

/* --- sums over a field --- */

/* Bits that order like the numbers do. A NaN lies beyond all numbers at one of the ends. */
LM_HD uint64_t lm_ordered_bits(double x)
{
    const uint64_t b = lm_bits(x);
    return b >> 63 ? ~b : b | 0x8000000000000000ull;
}

LM_HD double lm_from_ordered_bits(uint64_t b)
{
    return lm_from_bits(b >> 63 ? b & 0x7fffffffffffffffull : ~b);
}

/* Total and extremes of a field. Starts with all members 0. */
struct lm_field_survey {
    struct lm_wide total; /* quanta */
    uint64_t not_least,
        most; /* over the free cells: ~lm_ordered_bits of the least value, lm_ordered_bits of the largest */
};

/* `volume`: what is open of the cell. */
LM_HD void lm_survey_cell(struct lm_field_survey *s, double q, uint8_t clearance, double volume, double per_quantum)
{
    lm_wide_add(&s->total, volume == 1.0 ? q * per_quantum : lm_content(q * per_quantum, volume, 1.0));
    if (!clearance)
        return;
    const uint64_t most = lm_ordered_bits(q), not_least = ~most;
    s->not_least = not_least > s->not_least ? not_least : s->not_least;
    s->most = most > s->most ? most : s->most;
}

LM_HD void lm_merge_surveys(struct lm_field_survey *to, const struct lm_field_survey *from)
{
    lm_wide_merge(&to->total, &from->total);
    to->not_least = from->not_least > to->not_least ? from->not_least : to->not_least;
    to->most = from->most > to->most ? from->most : to->most;
}

/* --- what particles transfer to a gas --- */

/* A random number in (0, 1) for what a species transfers to a field in a cell of the domain. `key` is that of the step.
 */
LM_HD double lm_gas_gain_chance(uint64_t key, int species, uint32_t cell, int field)
{
    return lm_uniform(lm_random_at(key, species, LM_STREAM_GAIN, cell, (uint32_t)field).a);
}

/* The number of quanta of a field, 2^-quantum each, that a sum of so many units makes. The whole part counts as it is.
 * The fractional part adds one quantum with a probability equal to it, so that gains of less than one quantum are right
 * on average. u is lm_gas_gain_chance. */
LM_HD double lm_gas_gain_quanta(int64_t sum, double unit, int quantum, double u)
{
    const double quanta = (double)sum * unit * lm_exp2i(quantum), part = quanta - lm_trunc(quanta);
    return lm_trunc(quanta) + (part > u ? 1.0 : 0.0) - (part < -u ? 1.0 : 0.0);
}

/* Adds such a sum to the content of the field in a cell with this open volume. Returns the number of quanta. */
LM_HD double lm_add_gas_gain(double *q, int64_t sum, double volume, double unit, int quantum, double u)
{
    const double quanta = lm_gas_gain_quanta(sum, unit, quantum, u), whole = lm_exp2i(-quantum);
    *q = volume == 1.0 ? *q + quanta * whole : (lm_content(*q, volume, whole) + quanta * whole) / volume;
    return quanta;
}

#endif
