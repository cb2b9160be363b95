/* Conduction of the electrons' heat (larmor/physics/fluid/electrons.h). */
#ifndef LARMOR_PHYSICS_FLUID_CONDUCTIVITY_H
#define LARMOR_PHYSICS_FLUID_CONDUCTIVITY_H

/* Of heat, n0 v_A d_i: heat flux -along grad_parallel T - across grad_perpendicular T. */
struct lm_conductivity {
    double along, across;
};

#endif
