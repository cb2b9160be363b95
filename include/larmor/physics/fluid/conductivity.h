/* Conduction of the electrons' heat (larmor/physics/fluid/electrons.h). */
#ifndef LARMOR_PHYSICS_FLUID_CONDUCTIVITY_H
#define LARMOR_PHYSICS_FLUID_CONDUCTIVITY_H

/* Conductivities of heat along and across B, n0 v_A d_i. The heat flux is -along grad_parallel T - across grad_perp T.
 */
struct lm_conductivity {
    double along, across;
};

#endif
