/* The terms of Ohm's law apart, and the work that they do. */
#ifndef LARMOR_OUTPUT_ELECTRIC_H
#define LARMOR_OUTPUT_ELECTRIC_H

#include "larmor/sim.h"

/* E = convection + Hall + pressure + resistive, to round-off. The last three follow from B, the density, the pressure
 * and the resistivity of the step, at sides and bodies as in the solver; the convection term is the rest of E:
 * -J_i x B / n, and E that a side prescribes. */
enum lm_e_term { LM_E_CONVECTION, LM_E_HALL, LM_E_PRESSURE, LM_E_RESISTIVE, LM_E_TERMS };

/* Power in a volume, in n0 m_p v_A^2 Omega_ci, at the centres: J.E, which the fields lose; J.E_resistive, which heats;
 * -p_e div u_e, which compression gives to the electrons. u_e = (J_i - J)/n with J_i half a step back. */
enum lm_power { LM_POWER_FIELDS, LM_POWER_RESISTIVE, LM_POWER_COMPRESSION, LM_POWERS };

enum { LM_ELECTRIC_ARRAYS = 39 }; /* grid arrays that lm_electric_make needs at most, work and bodies included */

struct lm_electric {
    double *memory;           /* owned */
    double *e[LM_E_TERMS][3]; /* grid arrays, where E is */
    double *power[LM_POWERS]; /* grid arrays */
};

/* The powers, and where `terms` is not 0 the terms of E. LM_FAILED: no memory. The caller frees with lm_electric_free,
 * also after a failure. */
int lm_electric_make(struct lm_sim *sim, const struct lm_config *config, int terms, struct lm_electric *out);
void lm_electric_free(struct lm_electric *e);

#endif
