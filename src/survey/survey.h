/* A survey of the state at the start, from the expressions of the configuration and before any particle is loaded.
 * `larmor check`, the limits and the need of memory use it. A grid of up to LM_SURVEYED cells is evaluated in every
 * cell, and a larger one at as many points. */
#ifndef LARMOR_SURVEY_SURVEY_H
#define LARMOR_SURVEY_SURVEY_H

#include "base/expr.h"
#include "config/energy.h"
#include "larmor/config.h"

struct lm_survey {
    const struct lm_config *config; /* borrowed */
    struct lm_grid grid;            /* of the run */
    uint8_t *mask;                  /* of the run's cells, as in struct lm_bodies; NULL without bodies */
    /* The configuration on the points: the run's own, or a copy with a coarser grid; constants as in the run. */
    struct lm_config *points;
    struct lm_grid at;    /* its grid */
    uint8_t *point_mask;  /* its mask, or NULL */
    struct lm_cuts cuts;  /* of the points, where these are the cells and fields need them */
    double cells_a_point; /* 1: every cell */
    /* Extremes over the cells of plasma. */
    double b, n_min, n_max;     /* max |B|; electron density */
    double frequency, gyration; /* max grid frequency; max Z |B|/m */
    double whistler;            /* the largest frequency of a whistler as short as the cells */
    int stages; /* of the relaxation of B that a resistivity above that of the substeps needs; 0: there is none */
    double speed[LM_MAX_SPECIES]; /* drift + 5 thermal speeds, or the bound for entering and re-emitted ions */
    double thermal[LM_MAX_SPECIES], temperature[LM_MAX_SPECIES];
    double count[LM_MAX_SPECIES]; /* expected number of particles */
    /* Where the density is above its floor: the largest relative noise of the density (1/sqrt(particles) if all species
     * have a random start), and the number of particles in that cell. */
    double noise, per_cell;
    /* The largest ratio of the density that counts in Ohm's law (larmor/physics/fields/void.h) to the density, in cells
     * of LM_FEW particles or more. It is above 1 where particles of another species carry more charge. */
    double thickened;
    struct lm_energy_parts energy; /* expected */
};

enum { LM_SURVEYED = LM_SCANNED_CELLS };

/* Finds the cells of the bodies and chooses the points. After LM_BAD_INPUT or LM_FAILED nothing is to be freed. */
int lm_survey_begin(const struct lm_config *config, struct lm_survey *s);

/* Evaluates the fields and the species. LM_BAD_INPUT: no run can begin so: a value is not finite or negative where that
 * is not allowed, div B is not 0, there are no particles or too many, particles are too fast, or a background field is
 * out of its range. */
int lm_survey_evaluate(struct lm_survey *s);

void lm_survey_end(struct lm_survey *s);

/* 1 where the points' cell has plasma. */
static inline int lm_survey_is_plasma(const struct lm_survey *s, int i, int j)
{
    return !s->point_mask || s->point_mask[(size_t)j * (size_t)s->at.nx + (size_t)i] == 0;
}

/* The counts as whole numbers, at most 1e18. */
void lm_survey_counts(const struct lm_survey *s, uint64_t counts[LM_MAX_SPECIES]);

/* The expected number of particles of all species. */
double lm_survey_particles(const struct lm_survey *s);

/* What a step costs by them and by the cells (LM_CELL_COST), in particles. */
double lm_survey_work(const struct lm_survey *s);

/* The largest |a| over the points. */
double lm_survey_largest(const struct lm_survey *s, const double *a);

/* Whether any species can come in by a side or be born. */
int lm_survey_enters(const struct lm_config *config);

#endif
