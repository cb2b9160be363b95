/* The medium at the position of a particle: density and velocity of a gas, gathered from the grid with the shape
 * function of the particle. */
#ifndef LARMOR_PHYSICS_COLLISIONS_MEDIUM_H
#define LARMOR_PHYSICS_COLLISIONS_MEDIUM_H

#include "larmor/physics/collisions/collision_step.h"
#include "larmor/physics/particles/push.h"

/* Density, n0, and velocity, v_A. The velocity along z is 0. */
struct lm_medium {
    float n;
    lm_real u[2];
};

/* The gas around a group of particles, laid out as the fields in struct lm_window. */
enum { LM_GAS_FIELDS = 3 }; /* density, u_x, u_y */
struct lm_gas_window {
    const float *density;
    const lm_real *velocity; /* u_x on x-faces, then, `area` further on, u_y on y-faces; not read where c->moves is 0 */
    int width, area;
};

/* The medium at (x, y). Interpolation may undershoot: a negative density counts as 0. */
LM_HD struct lm_medium lm_gather_medium(int order, const struct lm_collisions *c, const struct lm_gas_window *gas,
                                        lm_fix x, lm_fix y)
{
    const struct lm_stencil24 cx = lm_centre24(order, lm_fix24(x)), cy = lm_centre24(order, lm_fix24(y));
    struct lm_medium m = {1.0f, {0, 0}};
    if (c->gas < 0)
        return m;
    m.n = lm_gather24(order, order, gas->density, gas->width, &cx, &cy);
    m.n = m.n > 0.0f ? m.n : 0.0f;
    if (c->moves) {
        const struct lm_stencil across_x = lm_centre(order, x), across_y = lm_centre(order, y);
        const struct lm_stencil fx = lm_face(order, x), fy = lm_face(order, y);
        m.u[0] = lm_gather(order, order, gas->velocity, gas->width, &fx, &across_y);
        m.u[1] = lm_gather(order, order, gas->velocity + gas->area, gas->width, &across_x, &fy);
    }
    return m;
}

#endif
