/* The state at the start as a configuration gives it, before any particle is loaded: what check, the limits and the
 * need of memory are made of. Evaluated in every cell of a grid of up to LM_SURVEYED cells, and at as many points of a
 * larger one. */
#ifndef LARMOR_SURVEY_SURVEY_H
#define LARMOR_SURVEY_SURVEY_H

#include "base/expr.h"
#include "larmor/config.h"

struct lm_survey {
    const struct lm_config *config; /* borrowed */
    struct lm_grid grid;            /* of the run */
    uint8_t *mask;                  /* of the run's cells, as in struct lm_bodies; NULL without bodies */
    /* The configuration on the points: the run's own, or a copy with a coarser grid; constants as in the run. */
    struct lm_config *points;
    struct lm_grid at;    /* its grid */
    uint8_t *point_mask;  /* its mask, or NULL */
    double cells_a_point; /* 1: every cell */
    /* Extremes over the cells of plasma. */
    double b, n_min, frequency, gyration; /* max |B|; min electron density; max grid frequency; max Z |B|/m */
    double speed[LM_MAX_SPECIES];         /* drift + 5 thermal speeds; or the bound on what enters or is re-emitted */
    double thermal[LM_MAX_SPECIES], temperature[LM_MAX_SPECIES];
    double count[LM_MAX_SPECIES]; /* particles that are expected */
    /* Where the density is above its floor: the largest share of it that a random start is off by, 1/sqrt(particles) if
     * all species start so, and the particles in that cell. */
    double noise, per_cell;
};

enum { LM_SURVEYED = LM_SCANNED_CELLS };

/* Cuts the bodies and chooses the points. LM_BAD_INPUT, LM_FAILED: nothing is to be freed. */
int lm_survey_begin(const struct lm_config *config, struct lm_survey *s);

/* Evaluates the fields and species. LM_BAD_INPUT: what no run can begin with: not finite or negative where it must not
 * be, div B, too many or no particles, too fast ones, a background field that is out of its bounds. */
int lm_survey_take(struct lm_survey *s);

void lm_survey_end(struct lm_survey *s);

/* 1 where the points' cell has plasma. */
static inline int lm_survey_is_plasma(const struct lm_survey *s, int i, int j)
{
    return !s->point_mask || s->point_mask[(size_t)j * (size_t)s->at.nx + (size_t)i] == 0;
}

/* The counts as whole numbers, at most 1e18. */
void lm_survey_counts(const struct lm_survey *s, uint64_t counts[LM_MAX_SPECIES]);

/* The largest |a| over the points. */
double lm_survey_top(const struct lm_survey *s, const double *a);

/* Whether any species can come in by a side or be born. */
int lm_survey_enters(const struct lm_config *config);

#endif
