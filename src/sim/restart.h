/* What a checkpoint says of a simulation, and whether it is this simulation's. */
#ifndef LARMOR_SIM_RESTART_H
#define LARMOR_SIM_RESTART_H

#include "checkpoint/checkpoint.h"
#include "larmor/sim.h"

/* src/sim/restore.c: lm_sim_restore where lm_checkpoint_head has read `head` already: the file is not verified
 * again. */
int lm_sim_restore_state(struct lm_sim *sim, const char *path, struct lm_checkpoint *head);

/* src/sim/save.c: lm_sim_save with the sums of outputs that are means over time, which the simulation does not know. */
int lm_sim_save_with(struct lm_sim *sim, const struct lm_references *references, int sums_count,
                     const struct lm_checkpoint_sums *sums, int keep, char *path);

static inline struct lm_references lm_checkpoint_references(const struct lm_checkpoint *head)
{
    return (struct lm_references){head->energy_start,
                                  {head->momentum_start[0], head->momentum_start[1], head->momentum_start[2]},
                                  head->energy_scale,
                                  head->settings_changed};
}

/* src/sim/restart_check.c: walls, bodies, limits, background fields and maps. */
void lm_sim_describe(const struct lm_sim *sim, struct lm_checkpoint *head);

/* LM_BAD_INPUT: the checkpoint belongs to another configuration; the message says which key to change. */
int lm_sim_compare(const struct lm_sim *sim, const char *path, const struct lm_checkpoint *head);
int lm_sim_compare_electrons(const struct lm_sim *sim, const char *path, const struct lm_checkpoint *head);

#endif
