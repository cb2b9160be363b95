/* The limits up to which a run is accurate, and the values that its start has. `larmor check` prints them, and `larmor
 * run` warns of those that are exceeded. */
#ifndef LARMOR_SURVEY_LIMITS_H
#define LARMOR_SURVEY_LIMITS_H

#include "survey/survey.h"

struct lm_limit {
    char what[64];
    double value, bound;
    const char *about; /* what the limit means */
    char advice[256];  /* what to change; "" where the limit is not exceeded */
};

enum { LM_MAX_LIMITS = 10 + 5 * LM_MAX_SPECIES + 2 * LM_MAX_BACKGROUNDS };

struct lm_limits {
    int count;
    struct lm_limit of[LM_MAX_LIMITS];
};

static inline int lm_limit_is_exceeded(const struct lm_limit *l)
{
    return !(l->value <= l->bound); /* NaN counts as exceeded */
}

/* Finds all limits of the start, in the order in which check prints them. LM_BAD_INPUT, LM_FAILED: an expression cannot
 * be evaluated. */
int lm_limits_find(const struct lm_survey *survey, struct lm_limits *out);

/* Adds a limit. The advice is printf style, and it is kept only where the limit is exceeded. */
void lm_limits_add(struct lm_limits *l, const char *what, double value, double bound, const char *about,
                   const char *advice, ...) __attribute__((format(printf, 6, 7)));

int lm_limits_exceeded(const struct lm_limits *l);

#endif
