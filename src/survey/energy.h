/* The energies of the start, from its expressions. */
#ifndef LARMOR_SURVEY_ENERGY_H
#define LARMOR_SURVEY_ENERGY_H

#include "sim/setup.h"
#include "survey/survey.h"

/* Add the ions of a species, loaded as `l` says, and the field `b`, to s->energy. */
void lm_survey_add_ions(struct lm_survey *s, int species, const struct lm_loading *l);
void lm_survey_add_magnetic(struct lm_survey *s, double *const b[3]);

/* The pressure of the electrons of density n. `work` has the size of an array of the points. */
int lm_survey_add_electrons(struct lm_survey *s, const double *n, double *work);

#endif
