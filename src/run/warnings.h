/* Warnings about the limits that the start of a run exceeds, and about outputs that stay empty. */
#ifndef LARMOR_RUN_WARNINGS_H
#define LARMOR_RUN_WARNINGS_H

#include <jansson.h>
#include <stdio.h>

#include "survey/limits.h"

/* Prints a line for each, which begins with `before`. config = NULL: what runs writes no outputs. */
void lm_warnings_print(const struct lm_config *config, const struct lm_limits *limits, const char *before, FILE *out);

/* The same texts for run.json; owned by the caller. */
json_t *lm_warnings_json(const struct lm_config *config, const struct lm_limits *limits);

#endif
