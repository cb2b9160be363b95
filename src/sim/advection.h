/* Background fields in a step. */
#ifndef LARMOR_SIM_ADVECTION_H
#define LARMOR_SIM_ADVECTION_H

#include "checkpoint/checkpoint.h"
#include "sim/state.h"
#include "sim/step_limits.h"

/* Hands flows, sources and inflowing values to the backend, for the step to come: at the start or after a restart, and
 * what changes with time before each step. Then the fields: from the configuration, or, with `head`, as they have been
 * read. LM_BAD_INPUT: an expression is not finite, or what has been read does not fit its ledger. */
int lm_sim_begin_backgrounds(struct lm_sim *sim, const char *path, const struct lm_checkpoint *head);
int lm_sim_update_backgrounds(struct lm_sim *sim);

/* LM_FAILED: a field cannot take the next step. */
int lm_sim_check_backgrounds(struct lm_sim *sim);

/* Velocities of ions and electrons, where they carry fields. */
int lm_sim_flow(struct lm_sim *sim, enum lm_flow_time when);

/* Takes the largest flow rates over the cells, of the fields that ions or electrons carry (`carried`) or of the others,
 * from the velocities that there are. `oscillation`, unless NULL, gets how far that of an evolved pressure and B turns
 * in a step, where a step begins. */
int lm_sim_take_flow_rates(struct lm_sim *sim, int carried, double *oscillation);

/* Larger quanta for fields that have grown. LM_FAILED: one has grown too much. */
int lm_sim_coarsen(struct lm_sim *sim);

/* Puts a field at the start, rounded to whole quanta and with 0 in bodies, and begins its ledger. */
int lm_sim_put_field(struct lm_sim *sim, int field, double *q);

/* Advances one field by dt with the velocities that there are, whose rate has been taken. */
int lm_sim_advect_field(struct lm_sim *sim, int field, double dt);

/* Advances all fields but the electrons' entropy by one step. LM_FAILED: one would need too many substeps. */
int lm_sim_advect(struct lm_sim *sim);

/* For the control values: totals and extremes of all fields as they stand at the end of a step. */
int lm_sim_survey_advected(struct lm_sim *sim);

/* Books the last step. LM_FAILED: a ledger does not close. */
int lm_sim_book_backgrounds(struct lm_sim *sim);

/* The integral over the domain of a sum of quanta; and the residual of the ledger, which is 0 or the run has
 * stopped. */
double lm_sim_background_value(const struct lm_sim *sim, int field, lm_int128 sum);
double lm_sim_background_residual(const struct lm_sim *sim, int field);

#endif
