/* What a checkpoint says of background fields. */
#ifndef LARMOR_CHECKPOINT_BACKGROUNDS_H
#define LARMOR_CHECKPOINT_BACKGROUNDS_H

#include "base/h5.h"
#include "checkpoint/checkpoint.h"

/* Nothing is written where there are none. What is read must be sound: ledgers that close. */
void lm_checkpoint_put_backgrounds(struct lm_h5 *h, const struct lm_checkpoint *head);
void lm_checkpoint_get_backgrounds(struct lm_h5 *h, struct lm_checkpoint *head);

#endif
