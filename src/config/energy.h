/* The budget of the energy of a run: whether all that gives energy to the plasma and takes it is known, and the energy
 * to which a change is compared.
 *
 *     unexplained = energy now - energy at the start - what has been brought in + what has been taken out
 *
 * The energy is that of the ions, of B and of the electrons. What ions bring and take is known from the ledger, and
 * what fields and electrons carry through the sides is measured (larmor/physics/fields/side_energy.h). */
#ifndef LARMOR_CONFIG_ENERGY_H
#define LARMOR_CONFIG_ENERGY_H

#include "larmor/config.h"

enum lm_energy_judged {
    LM_ENERGY_NOT,   /* something unknown can give energy to the plasma */
    LM_ENERGY_GAINS, /* something unknown can only take energy: a loss is expected, a gain is an error */
    LM_ENERGY_BOTH   /* all exchanges are known */
};
extern const char *const lm_energy_judged_names[]; /* "nothing", "gains", "gains and losses" */

/* What of the budget can be judged. `why` (LM_ENERGY_WHY) gets the reason where it is not LM_ENERGY_BOTH, else "". */
enum { LM_ENERGY_WHY = 256 };
enum lm_energy_judged lm_energy_judge(const struct lm_config *config, char why[LM_ENERGY_WHY]);

/* Integrals over the domain of the state at the start. */
struct lm_energy_parts {
    double kinetic, momentum[3], mass; /* of the ions */
    double magnetic;                   /* B^2/2 */
    double varying;                    /* |B - mean of B|^2/2 */
    double electrons;                  /* p_e */
};

/* The energy at the start that can change: of the varying part of B, 3/2 p_e, and of the ions. The mean of B cannot
 * change where nothing crosses the sides, however strong it is. Neither can the motion of the whole plasma where
 * nothing takes momentum, so it does not count then. At least LM_ENERGY_LEAST of all energy: rounding of velocities in
 * single precision, 2^-24, must stay far below the limits. */
#define LM_ENERGY_LEAST 1e-5
double lm_energy_scale(const struct lm_config *config, const struct lm_energy_parts *parts);

#endif
