/* The budget of the energy (src/config/energy.h) of a state, from the totals and the ledger. */
#ifndef LARMOR_OUTPUT_ENERGY_BUDGET_H
#define LARMOR_OUTPUT_ENERGY_BUDGET_H

#include "larmor/sim.h"

struct lm_energy_budget {
    double brought, taken; /* since the start: by ions that enter or are born, or that leave, and to a gas; by fields
                              and electrons through each side */
    double unexplained;    /* what is left of the change of energy */
    double reference;      /* the energy of the start that can change, and what has been brought since */
    double uncertain; /* three standard errors of what fields bring, and what is doubtful of it, over the reference */
    double share;     /* unexplained / reference; 0 where both are 0 */
};

void lm_energy_budget_find(const struct lm_config *config, const struct lm_sim_status *now,
                           const struct lm_totals *totals, const struct lm_references *references,
                           struct lm_energy_budget *out);

#endif
