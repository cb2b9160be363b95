/* What the tables of rules share. */
#ifndef LARMOR_TESTS_RANDOM_RULES_H
#define LARMOR_TESTS_RANDOM_RULES_H

#include <stdio.h>

#include "draw.h"

static inline int as_number(char *out, double value)
{
    snprintf(out, DRAFT_VALUE, "%.6g", value);
    return 1;
}

static inline int as_text(char *out, const char *text)
{
    snprintf(out, DRAFT_VALUE, "%s", text);
    return 1;
}

static inline int from(struct draw *d, const char *templates, char *out)
{
    draw_template(d, templates, out);
    return 1;
}

/* A function of a rule: writes a value of the key to `out`, or returns 0 where the key is not given. */
#define RULE(name)                                                                                                     \
    static int name(__attribute__((unused)) struct draw *d, __attribute__((unused)) const struct draw_scope *s,        \
                    __attribute__((unused)) const struct lm_key *key, char *out)

#endif
