/* Parts of `larmor check`: what it says of the survey of a start. LM_BAD_INPUT, LM_FAILED: something cannot be
 * evaluated. */
#ifndef LARMOR_SURVEY_PARTS_H
#define LARMOR_SURVEY_PARTS_H

#include <stdio.h>

#include "survey/prepare.h"

/* src/survey/backgrounds.c: background fields, and evolved electrons. */
int lm_check_backgrounds(const struct lm_survey *survey, FILE *out);

/* The largest lm_flow_rate of a given flow in the first step, and its divergence; of other flows 0 and infinity. */
int lm_check_flow(const struct lm_survey *survey, int field, double *rate, double *divergence);
double lm_check_substeps(const struct lm_survey *survey, int field, double rate);

/* src/survey/electrons.c: electrons whose pressure is evolved. */
int lm_check_electrons(const struct lm_survey *survey, FILE *out);

/* src/survey/ionisation.c: sources of ions. */
int lm_check_ionisation(const struct lm_survey *survey, const struct lm_need *need, FILE *out);

/* Particles of each species at the end of the run if none of those born leave. */
int lm_check_births(const struct lm_survey *survey, uint64_t counts[LM_MAX_SPECIES]);

#endif
