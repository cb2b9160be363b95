/* What the parts of the writer and reader of checkpoints share: checkpoint.c (fields and particles), head.c
 * (attributes), ledger.c and backgrounds.c (ledgers), sums.c (means over time), files.c (names, checksums). */
#ifndef LARMOR_CHECKPOINT_PARTS_H
#define LARMOR_CHECKPOINT_PARTS_H

#include "base/h5.h"
#include "checkpoint/checkpoint.h"

enum {
    LM_CHECKPOINT_FORMAT = 8,  /* raise it when an older program could not read the file */
    LM_CHECKPOINT_FIELDS = 256 /* largest number of fields in a file */
};

/* The columns of particles: x, y, u, v, w. */
extern const char *const lm_checkpoint_columns[5];
hid_t lm_checkpoint_column_type(int precision, int column);
int lm_checkpoint_fraction_bits(int precision);

/* Write the attributes of "/" and /surfaces, and those of a species, its ledger included. */
void lm_checkpoint_put_head(struct lm_h5 *h, const struct lm_checkpoint *head, const char *configuration);
void lm_checkpoint_put_species(struct lm_h5 *h, hid_t group, const struct lm_checkpoint_species *species);

/* Opens a checkpoint of this program's format and verifies its checksum; the caller closes it in any case. Where it is
 * damaged, the message names an older, undamaged checkpoint of the same directory if there is one. */
int lm_checkpoint_open(struct lm_h5 *h, const char *path);
int lm_checkpoint_check_format(struct lm_h5 *h);

/* Reads all members of struct lm_checkpoint except field_names, and checks their values. */
int lm_checkpoint_get_head(struct lm_h5 *h, struct lm_checkpoint *head);

void lm_checkpoint_put_ledger(struct lm_h5 *h, hid_t group, const struct lm_ledger *ledger);
/* Reads the ledger and checks that it closes. */
void lm_checkpoint_get_ledger(struct lm_h5 *h, hid_t group, struct lm_checkpoint_species *species);

void lm_checkpoint_put_sums(struct lm_h5 *h, const struct lm_checkpoint *head);

/* src/checkpoint/tracks.c: the ions that the run follows, and what the head of a file says of them. */
void lm_checkpoint_put_tracks(struct lm_h5 *h, const struct lm_checkpoint *head);
void lm_checkpoint_get_tracks(struct lm_h5 *h, struct lm_checkpoint *head);

/* Removes all checkpoints of `directory` up to `step` except the newest `keep`. A file that cannot be removed is no
 * error, because the new checkpoint is complete. */
void lm_checkpoint_prune(const char *directory, int64_t step, int keep);

#endif
