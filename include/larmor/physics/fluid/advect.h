/* Advection of background fields: dq/dt = -div(q u) + div(kappa grad q) + S on the cells, u given on their faces.
 *
 * A field is a whole number of quanta U (a power of two) in every cell, and what crosses a face in a stage of the
 * Runge-Kutta method is a whole number of quanta too, rounded towards zero. Sums over cells are then exact: what a cell
 * loses its neighbour gains, and the ledger of what crosses the sides of the domain closes to the last bit. For the
 * same reason terms may be added up in any order.
 *
 * SSP-RK3 (Shu and Osher 1988, J. Comput. Phys. 77, 439), with D the rate times dt:
 *     q1 = q + D(q),  q2 = q + (q1 - q + D(q1)) / 4,  q' = q + 2/3 (q2 - q + D(q2))
 * The factors are exact if D(q), D(q1) count in 6 U and D(q2) in 3/2 U: q2 - q is then a multiple of 3/2 U. Whatever
 * the stage, one of its units ends up as 1 U in q'.
 */
#ifndef LARMOR_PHYSICS_FLUID_ADVECT_H
#define LARMOR_PHYSICS_FLUID_ADVECT_H

#include "larmor/physics/numerics/operators.h"
#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/numerics/weno.h"
#include "larmor/physics/numerics/wide.h"
#include "larmor/physics/fluid/background_sides.h"

enum { LM_ADVECT_STAGES = 3 };

/* |q| < 2^LM_QUANTA_BITS U at all times, so that all of this is exact. */
enum { LM_QUANTA_BITS = 50 };

/* A stage's factors. */
struct lm_advect {
    int stage;     /* 0, 1, 2 */
    double unit;   /* U */
    double x, y;   /* a flux into units: dt / (dx units), dt / (dy units) */
    double kx, ky; /* a difference of neighbours into units of diffusion: kappa dt / (dx^2 units), ... */
    double source; /* dt / units */
};

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

/* Units that a velocity u carries through a face on which the field is q: rounded towards zero, so that a cell cannot
 * lose more than it has. */
LM_HD double lm_carried(double u, double q, double factor)
{
    return lm_trunc(u * q * factor);
}

/* Units that diffuse through the face between the cells c[0] and c[1]. */
LM_HD double lm_diffused(const double *c, double factor)
{
    return lm_trunc(lm_drop_up(c, 1, factor));
}

/* The next stage from the units that a cell has gained; q0: at the start of the step. Exact. */
LM_HD double lm_advect_update(const struct lm_advect *a, double q0, double q, double gain)
{
    if (a->stage == 0)
        return lm_fma(6.0 * a->unit, gain, q);
    if (a->stage == 1)
        return lm_fma(0.25, lm_fma(6.0 * a->unit, gain, q - q0), q0);
    /* 2/3 (q2 - q) is whole but for the rounding of the product: the sum with 3 2^51 U drops what is not. */
    const double whole = 0x1.8p52 * a->unit, change = (2.0 / 3) * (q - q0);
    return q0 + lm_fma(a->unit, gain, (change + whole) - whole);
}

/* The larger of what leaves a cell and of what enters it in a unit of time, from the velocities on its faces. */
LM_HD double lm_flow_rate(double left, double right, double below, double above, double inv_dx, double inv_dy)
{
    const double out =
        (lm_max(right, 0.0) - lm_min(left, 0.0)) * inv_dx + (lm_max(above, 0.0) - lm_min(below, 0.0)) * inv_dy;
    const double in =
        (lm_max(left, 0.0) - lm_min(right, 0.0)) * inv_dx + (lm_max(below, 0.0) - lm_min(above, 0.0)) * inv_dy;
    return lm_max(out, in);
}

/* A random number in (0, 1) for what a species gives to a field in cell j nx + i; key: of the step. */
LM_HD double lm_gain_chance(uint64_t key, int species, uint32_t cell, int field)
{
    return lm_uniform(lm_random_at(key, species, LM_STREAM_GAIN, cell, (uint32_t)field).a);
}

/* Quanta of a field that a sum of so many units makes: whole ones as they are; of a part, one with that probability, so
 * that gains of less than half a quantum are not lost. u: lm_gain_chance. */
LM_HD double lm_gained(int64_t sum, double unit, int quantum, double u)
{
    const double quanta = (double)sum * unit * lm_exp2i(quantum), part = quanta - lm_trunc(quanta);
    return lm_trunc(quanta) + (part > u ? 1.0 : 0.0) - (part < -u ? 1.0 : 0.0);
}

/* --- bounds: conservative limiter (Zhang and Shu 2010, J. Comput. Phys. 229, 3091) --- */

/* Weight of the end points of the Gauss-Lobatto rule of three points that a cell's average is split with: the bounds
 * hold for Courant numbers up to it. A larger weight would need fewer substeps, but puts what is between the ends of a
 * smooth extremum outside bounds that the field just reaches: the limiter would cut extrema to second order. */
#define LM_LOBATTO (1.0 / 6)

struct lm_bounds {
    double least, most;
};

/* The value on a cell's face, brought so near to the average c that it, the one on the opposite face and what is
 * between stay in the bounds. */
LM_HD double lm_limited(double c, double value, double opposite, const struct lm_bounds *b)
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

/* --- solids, and sides that are not periodic --- */

/* The largest r <= LM_WENO_MOST for which the window around a cell is all fluid, along x and along y: four bits each.
 * 0 for a cell that is solid or beyond a side. A face takes r from the cell upwind of it. */
LM_HD int lm_room_x(uint8_t room)
{
    return room & 15;
}

LM_HD int lm_room_y(uint8_t room)
{
    return room >> 4;
}

/* --- values on faces; `scheme` (enum lm_scheme), `single` and whether there are bounds are literals --- */

/* Largest r of a scheme. Its faces take the cells c[0 .. 2 r - 1] across them, c[r - 1] before and c[r] behind. */
LM_HD int lm_scheme_reach(int scheme)
{
    return scheme > 1 ? scheme : 1;
}

/* WENO of order 2r - 1 in a window w[0 .. 2 most - 2], between bounds (NULL: none). */
LM_HD double lm_weno_between(int most, int r, int single, const struct lm_bounds *bounds, const double *w)
{
    double turned[LM_WENO_WINDOW];
    const double *mine = w + most - r;
    const double value = lm_weno(r, single, mine);
    if (!bounds || r == 1)
        return value;
    LM_UNROLL
    for (int m = 0; m < 2 * r - 1; m++)
        turned[m] = mine[2 * r - 2 - m];
    return lm_limited(mine[r - 1], value, lm_weno(r, single, turned), bounds);
}

/* The same for an r <= most that is known only now: each order is a scheme of its own. */
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

/* The window of the cell upwind of a face. */
LM_HD void lm_upwind_window(int r, const double *c, double u, double *w)
{
    LM_UNROLL
    for (int m = 0; m < 2 * r - 1; m++)
        w[m] = u > 0.0 ? c[m] : c[2 * r - 1 - m];
}

/* In free fluid. */
LM_HD double lm_face_value(int scheme, int single, const struct lm_bounds *bounds, const double *c, double u)
{
    double w[LM_WENO_WINDOW];
    if (scheme == 0)
        return 0.5 * (c[0] + c[1]);
    lm_upwind_window(scheme, c, u, w);
    return lm_weno_between(scheme, scheme, single, bounds, w);
}

/* Beside solids: `before` and `behind` are the rooms of the cells on both sides, along the face's axis and not 0; what
 * is not in that of the cell upwind is not used. */
LM_HD double lm_face_value_beside(int scheme, int single, const struct lm_bounds *bounds, const double *c, double u,
                                  int before, int behind)
{
    double w[LM_WENO_WINDOW];
    if (scheme == 0)
        return 0.5 * (c[0] + c[1]);
    lm_upwind_window(scheme, c, u, w);
    return lm_weno_nested(scheme, u > 0.0 ? before : behind, single, bounds, w);
}

/* Units through a side; `inwards`: u times the direction in; `inside`: the first cell. */
LM_HD double lm_side_units(int side, double u, double inwards, double inside, double given, double factor)
{
    if (side == LM_BACKGROUND_WALL)
        return 0.0;
    return lm_carried(u, side == LM_BACKGROUND_INFLOW && inwards > 0.0 ? given : inside, factor);
}

#endif
