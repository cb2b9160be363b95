/* The terms of Ohm's law (larmor/physics/fields/ohm.h): which of them there are, and how large they are. */
#ifndef LARMOR_PHYSICS_FIELDS_OHM_TERMS_H
#define LARMOR_PHYSICS_FIELDS_OHM_TERMS_H

struct lm_ohm {
    double inv_dx, inv_dy; /* 1/dx, 1/dy */
    double eta_hyper;      /* mu0 v_A d_i^3 */
    double substep_eta;    /* the largest resistivity in the substeps of B (relaxation.h); 0: any */
    double floor;          /* smallest density in any term, n0 */
    double alfven_floor;   /* smallest density in the motional field, for |B| = 1, but no more than `few` (void.h) */
    double thermal_floor;  /* smallest density where an evolved pressure and B meet, for p_e = 1, likewise; else 0 */
    double few;            /* density of few ions */
    double thin_frequency; /* the largest of the motional field that counts where n < few (time_step_limits.h) */
    double temperature, gamma; /* p_e = T n^gamma; gamma = 1: isothermal */
    int evolved;               /* 1: p_e is a field of its own (larmor/physics/fluid/electrons.h); gamma > 1 */
    int friction;              /* 1: the E of the push has no resistive part */
};

#endif
