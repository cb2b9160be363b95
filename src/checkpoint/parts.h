/* What the parts of the checkpoint's writer and reader share: checkpoint.c (the state), checkpoint_head.c (what it says
 * of itself), checkpoint_ledger.c, checkpoint_files.c (names, checksums). */
#ifndef LARMOR_CHECKPOINT_PARTS_H
#define LARMOR_CHECKPOINT_PARTS_H

#include "base/h5.h"
#include "checkpoint/checkpoint.h"

enum {
    LM_CHECKPOINT_FORMAT = 4,  /* counts up when an older program could not read the file */
    LM_CHECKPOINT_FIELDS = 256 /* most fields of a file */
};

/* The columns of particles: x, y, u, v, w. */
extern const char *const lm_checkpoint_columns[5];
hid_t lm_checkpoint_column_type(int precision, int column);
int lm_checkpoint_fraction_bits(int precision);

/* Attributes of "/" and /surfaces; of a species, its ledger included. */
void lm_checkpoint_put_head(struct lm_h5 *h, const struct lm_checkpoint *head, const char *configuration);
void lm_checkpoint_put_species(struct lm_h5 *h, hid_t group, const struct lm_checkpoint_species *species);

/* Opens a checkpoint of this program's format whose bytes are those that were written; close it in any case. The
 * message names an older checkpoint beside a damaged one, where one is sound. */
int lm_checkpoint_open(struct lm_h5 *h, const char *path);
int lm_checkpoint_check_format(struct lm_h5 *h);

/* All that struct lm_checkpoint holds, but field_names. What is read must make sense. */
int lm_checkpoint_get_head(struct lm_h5 *h, struct lm_checkpoint *head);

void lm_checkpoint_put_ledger(struct lm_h5 *h, hid_t group, const struct lm_ledger *ledger);
/* It must close. */
void lm_checkpoint_get_ledger(struct lm_h5 *h, hid_t group, struct lm_checkpoint_species *species);

/* DIRECTORY/checkpoint_STEP.h5 are in `directory`. Removes all but the newest `keep` of those up to `step`; best
 * effort: a file that cannot be removed does not spoil the new checkpoint. */
void lm_checkpoint_prune(const char *directory, int64_t step, int keep);

#endif
