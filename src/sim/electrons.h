/* Electrons whose pressure is evolved; nothing happens with other electrons. */
#ifndef LARMOR_SIM_ELECTRONS_H
#define LARMOR_SIM_ELECTRONS_H

#include "sim/state.h"

/* The electrons' entropy at t = 0, from the density at LM_N_OLD. */
int lm_sim_start_electrons(struct lm_sim *sim);

/* Finds whether the electrons are heated. `has_eta`: LM_ETA is not 0 somewhere. */
void lm_sim_find_heat(struct lm_sim *sim, int has_eta);

/* The entropy that flows in by a side at `count` points at time t. LM_BAD_INPUT: a negative temperature. */
int lm_sim_entropy_inflow(const struct lm_config *config, int count, const double *x, const double *y, double t,
                          double *values);
/* Whether that changes with time. */
int lm_sim_entropy_is_timed(const struct lm_config *config, int *timed);

/* The rounds of the entropy and B in a step at most. */
enum { LM_MOST_ROUNDS = 16 };

/* The entropy and B advance by turns, in rounds: half of a round of the entropy, a round of B, and the other half. In
 * a round the fastest electrons cross at most one cell, and the oscillation of their pressure and B turns by at most
 * LM_LARGEST_OSCILLATION (larmor/physics/fluid/oscillation.h). In longer ones the pressure and B would see each other
 * too seldom, and the work that one does would not be what the other one gets. Finds the rounds of the step to come,
 * from the state where it begins. `most`: rounds at most, 1 or more. */
int lm_sim_begin_electrons(struct lm_sim *sim, int most);

/* At least so many substeps of B, the same number in each of the rounds, which are 1 or more. */
static inline int lm_sim_substeps_of_rounds(int needed, int rounds)
{
    return (needed + rounds - 1) / rounds * rounds;
}

/* Half a round of the electrons. At LM_N_OLD: heat and its conduction, then the entropy's flow, before B advances. At
 * LM_N_NEW: the flow, then heat. LM_FAILED: it would take too many substeps. */
int lm_sim_advance_electrons(struct lm_sim *sim, int level);

/* The end of a round of B that is not the last one of a step, and the beginning of the next: a half of both. */
int lm_sim_turn_electrons(struct lm_sim *sim);
void lm_sim_book_heat(struct lm_sim *sim);

/* The substeps of the conduction in the last step; its last round counts for all. */
static inline int64_t lm_sim_conduction_substeps(const struct lm_sim *sim)
{
    return 2 * sim->electrons.rounds * sim->electrons.substeps;
}

#endif
