/* The limits of what a run can follow well, and how near its start comes to them: printed by check, warned of by run.
 */
#ifndef LARMOR_SURVEY_LIMITS_H
#define LARMOR_SURVEY_LIMITS_H

#include "survey/survey.h"

struct lm_limit {
    char what[64];
    double value, bound;
    const char *about; /* what lies beyond the bound */
    char advice[256];  /* what to change; "" within the bound */
};

enum { LM_MOST_LIMITS = 8 + 5 * LM_MAX_SPECIES + 2 * LM_MAX_BACKGROUNDS };

struct lm_limits {
    int count;
    struct lm_limit of[LM_MOST_LIMITS];
};

static inline int lm_limit_is_exceeded(const struct lm_limit *l)
{
    return !(l->value <= l->bound); /* NaN is */
}

/* All limits of the start, in the order of check. LM_BAD_INPUT, LM_FAILED: an expression cannot be evaluated. */
int lm_limits_find(const struct lm_survey *survey, struct lm_limits *out);

/* One more. The advice is printf style and kept only beyond the bound. */
void lm_limits_add(struct lm_limits *l, const char *what, double value, double bound, const char *about,
                   const char *advice, ...) __attribute__((format(printf, 6, 7)));

int lm_limits_exceeded(const struct lm_limits *l);

#endif
