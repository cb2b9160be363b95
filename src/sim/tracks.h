/* Ions that the run follows ([track.NAME]). The host keeps a copy of each, and the backend takes the copies through the
 * step of the particles. What an ion does depends on its own state and on the fields around it only, its random numbers
 * included, so a copy stays what the ion is, to the bit, and no particle needs a number. */
#ifndef LARMOR_SIM_TRACKS_H
#define LARMOR_SIM_TRACKS_H

#include "checkpoint/checkpoint.h"
#include "sim/state.h"

/* Chooses the ions of the tracks that start at the present step. LM_FAILED: not enough memory. */
int lm_sim_choose_tracks(struct lm_sim *sim);

/* Takes the ions of a species through the pass that comes next. */
int lm_sim_follow(struct lm_sim *sim, int species, const struct lm_pass *pass);

/* The tracks that a checkpoint holds, written and read; sim/save.c and sim/restore.c. */
void lm_sim_describe_tracks(const struct lm_sim *sim, struct lm_checkpoint *head);
int lm_sim_restore_tracks(struct lm_sim *sim, const char *path, const struct lm_checkpoint *head);

#endif
