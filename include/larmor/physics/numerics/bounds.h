/* Bounds that are known before a step is taken. They make overflow impossible, and stop a run while its state is still
 * good.
 *
 * Each component of the gathered E is a convex combination of grid values, and the rotation of the Boris push keeps
 * |v|. Therefore |v_new| <= max|v| + |Z/m| dt max|E| (+ round-off). Exponents are the same on the GPU, because frexp is
 * exact.
 */
#ifndef LARMOR_PHYSICS_NUMERICS_BOUNDS_H
#define LARMOR_PHYSICS_NUMERICS_BOUNDS_H

#include <math.h>

#include "larmor/physics/numerics/portable.h"

enum {
    LM_MAX_CELLS = 8,        /* that a particle may cross in one step */
    LM_MAX_STRAY_CELLS = 100 /* from the home tile between sorts: int32 positions hold 127 cells */
};

#define LM_MAX_SPEED 1e12 /* v_A; sums and scales stay far from the limits of float */

/* Largest speed after a kick of |dt|; infinite or NaN when the fields or the velocities are. */
static inline double lm_speed_bound(double speed2_max, const double e_max[3], double charge_to_mass, double dt)
{
    double e = sqrt(e_max[0] * e_max[0] + e_max[1] * e_max[1] + e_max[2] * e_max[2]);
    return (sqrt(speed2_max) + charge_to_mass * fabs(dt) * e) * (1.0 + 1e-4);
}

/* Exponent of the smallest power of two >= bound, at least 2^-40. */
LM_HD int lm_cap_exponent(double bound)
{
    int e;
    double m = frexp(bound, &e);
    e = m == 0.5 ? e - 1 : e;
    return bound > 0 && e > -40 ? e : -40;
}

/* Exponent of the fixed-point scale with which `count` terms of at most 2^cap each sum without overflow in int64. */
LM_HD int lm_sum_exponent(double count, int cap)
{
    int e;
    frexp(count < 1 ? 1 : count, &e);
    return 62 - e - cap;
}

#endif
