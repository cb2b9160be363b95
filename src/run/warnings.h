/* What a run warns of: the limits that its start exceeds. */
#ifndef LARMOR_RUN_WARNINGS_H
#define LARMOR_RUN_WARNINGS_H

#include <jansson.h>

#include "survey/limits.h"

/* A line "larmor: warning: ..." on stderr for each. */
void lm_warnings_print(const struct lm_limits *limits);

/* The same texts for run.json; owned by the caller. */
json_t *lm_warnings_json(const struct lm_limits *limits);

#endif
