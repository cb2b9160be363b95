/* Parts of `larmor check`. Each prints what follows from the survey of the start. LM_BAD_INPUT, LM_FAILED: an
 * expression cannot be evaluated. */
#ifndef LARMOR_SURVEY_PARTS_H
#define LARMOR_SURVEY_PARTS_H

#include <stdio.h>

#include "survey/prepare.h"

/* src/survey/backgrounds.c: background fields, and evolved electrons. */
int lm_check_backgrounds(const struct lm_survey *survey, FILE *out);

/* The largest lm_flow_rate and divergence of a prescribed flow in the first step; 0 and infinity for other flows. */
int lm_check_flow(const struct lm_survey *survey, int field, double *rate, double *divergence);
double lm_check_substeps(const struct lm_survey *survey, int field, double rate);

/* lm_crowding of the cells. */
double lm_survey_crowding(const struct lm_survey *survey);

/* src/survey/electrons.c: electrons whose pressure is evolved. */
int lm_check_electrons(const struct lm_survey *survey, FILE *out);

/* src/survey/ionisation.c: sources of ions. */
int lm_check_ionisation(const struct lm_survey *survey, const struct lm_need *need, FILE *out);

/* src/survey/ranks.c: the division among the ranks of lm_ranks_plan; nothing where there are none. With out = NULL it
 * is only checked. LM_BAD_INPUT: there are more ranks than cells. */
int lm_check_ranks(const struct lm_prepared *p, FILE *out);

/* src/survey/disk.c: the files of the run, by kind, and the disk that there is. */
void lm_check_disk(const struct lm_prepared *p, FILE *out);

/* src/survey/energy.c: what of the energy the run judges, and against what. */
void lm_check_energy(const struct lm_survey *survey, FILE *out);

/* The number of particles of each species at the end of the run, if no new ion leaves. */
int lm_check_births(const struct lm_survey *survey, uint64_t counts[LM_MAX_SPECIES]);

#endif
