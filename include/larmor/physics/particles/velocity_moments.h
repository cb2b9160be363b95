/* What a particle gives to the moments of the velocity in the cells around it. In double precision, whatever the
 * precision of the particles. The shape is that of the density (shape.h); nodes are the centres of the cells. */
#ifndef LARMOR_PHYSICS_PARTICLES_VELOCITY_MOMENTS_H
#define LARMOR_PHYSICS_PARTICLES_VELOCITY_MOMENTS_H

#include "larmor/physics/particles/push.h"
#include "larmor/velocity_moments.h"

enum { LM_MOMENT_NODES = 3 }; /* along an axis: the cell of the particle and one on each side */

/* The weights of these nodes. Those of the linear shape are 0 on one side. */
LM_HD void lm_moment_weights(int order, lm_fix x, double w[LM_MOMENT_NODES])
{
    const double f = (double)(x & (LM_ONE - 1)) * (1.0 / (double)LM_ONE), r = 1.0 - f, d = f - 0.5;
    w[0] = order == 1 ? (d < 0.0 ? -d : 0.0) : 0.5 * (r * r);
    w[1] = order == 1 ? (d < 0.0 ? 1.0 + d : 1.0 - d) : 0.75 - d * d;
    w[2] = order == 1 ? (d < 0.0 ? 0.0 : d) : 0.5 * (f * f);
}

/* Whether a moment is odd in the velocity along an axis, so that a wall that turns particles back changes its sign. */
LM_HD int lm_moment_is_odd(int moment, int axis)
{
    const unsigned odd[3] = {1u << LM_MOMENT_V | 3u << (LM_MOMENT_VV + 3) | 1u << LM_MOMENT_VVV,
                             2u << LM_MOMENT_V | 5u << (LM_MOMENT_VV + 3) | 2u << LM_MOMENT_VVV,
                             4u << LM_MOMENT_V | 6u << (LM_MOMENT_VV + 3) | 4u << LM_MOMENT_VVV};
    return (int)(odd[axis] >> moment & 1u);
}

/* The velocity of a particle in units of the bound on speeds; per_bound: 2^-speed_exponent. */
LM_HD void lm_moment_velocity(const struct lm_particle *p, double per_bound, double u[3])
{
    u[0] = (double)p->vx * per_bound;
    u[1] = (double)p->vy * per_bound;
    u[2] = (double)p->vz * per_bound;
}

/* The product of velocities that a moment averages. The components are written out, so that they stay in registers. */
LM_HD double lm_moment_product(int moment, const double u[3])
{
    const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    switch (moment) {
    case LM_MOMENT_V:
        return u[0];
    case LM_MOMENT_V + 1:
        return u[1];
    case LM_MOMENT_V + 2:
        return u[2];
    case LM_MOMENT_VV:
        return u[0] * u[0];
    case LM_MOMENT_VV + 1:
        return u[1] * u[1];
    case LM_MOMENT_VV + 2:
        return u[2] * u[2];
    case LM_MOMENT_VV + 3:
        return u[0] * u[1];
    case LM_MOMENT_VV + 4:
        return u[0] * u[2];
    case LM_MOMENT_VV + 5:
        return u[1] * u[2];
    case LM_MOMENT_VVV:
        return u[0] * square;
    case LM_MOMENT_VVV + 1:
        return u[1] * square;
    case LM_MOMENT_VVV + 2:
        return u[2] * square;
    default:
        return 1.0;
    }
}

/* The quanta that a node with these weights gets. */
LM_HD int64_t lm_moment_quanta(double weight_x, double weight_y, double product)
{
    return lm_round51(weight_x * weight_y * (double)(1ll << LM_MOMENT_BITS) * product);
}

#endif
