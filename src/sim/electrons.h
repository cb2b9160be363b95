/* Electrons whose pressure is evolved; nothing happens with other electrons. */
#ifndef LARMOR_SIM_ELECTRONS_H
#define LARMOR_SIM_ELECTRONS_H

#include "sim/state.h"

/* The electrons' entropy at t = 0, from the density at LM_N_OLD. */
int lm_sim_start_electrons(struct lm_sim *sim);

/* Finds whether the electrons are heated, `eta` being LM_ETA on the host. */
void lm_sim_find_heat(struct lm_sim *sim, const double *eta);

/* The entropy that flows in by a side at `count` points at time t. LM_BAD_INPUT: a negative temperature. */
int lm_sim_entropy_inflow(const struct lm_config *config, int count, const double *x, const double *y, double t,
                          double *values);
/* Whether that changes with time. */
int lm_sim_entropy_is_timed(const struct lm_config *config, int *timed);

/* Half a step of the electrons. At LM_N_OLD: heat and its conduction, then the entropy's flow, before B advances. At
 * LM_N_NEW: the flow, then heat. LM_FAILED: it would take too many substeps. */
int lm_sim_advance_electrons(struct lm_sim *sim, int level);
void lm_sim_book_heat(struct lm_sim *sim);

#endif
