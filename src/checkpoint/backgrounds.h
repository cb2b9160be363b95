/* Background fields in a checkpoint. */
#ifndef LARMOR_CHECKPOINT_BACKGROUNDS_H
#define LARMOR_CHECKPOINT_BACKGROUNDS_H

#include "base/h5.h"
#include "checkpoint/checkpoint.h"

/* Nothing is written where there are no background fields. The reader checks that the ledgers close. */
void lm_checkpoint_put_backgrounds(struct lm_h5 *h, const struct lm_checkpoint *head);
void lm_checkpoint_get_backgrounds(struct lm_h5 *h, struct lm_checkpoint *head);

#endif
