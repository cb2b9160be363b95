/* Outputs of which a run writes nothing but step 0, or nothing at all, because their steps lie beyond its end. */
#ifndef LARMOR_RUN_UNWRITTEN_H
#define LARMOR_RUN_UNWRITTEN_H

#include "larmor/config.h"

/* Calls `tell` with one line of text, without a line end, for each of these outputs. A run without steps has none. */
void lm_unwritten_each(const struct lm_config *config, void (*tell)(void *user, const char *text), void *user);

#endif
