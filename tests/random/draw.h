/* Random configurations, drawn from the table of keys.
 *
 * Every key of the table is drawn: one without a rule of its own (rules.c) gets a value of its type and range. A case
 * is given by a seed and its index, and drawn in attempts, since not everything that is drawn is a valid configuration.
 */
#ifndef LARMOR_TESTS_RANDOM_DRAW_H
#define LARMOR_TESTS_RANDOM_DRAW_H

#include <stdint.h>

#include "config/keys.h"
#include "draft.h"

/* The plan of a case. It is decided before any key is drawn, so that the keys fit each other. */
struct draw_plan {
    int nx, ny;
    double dx, dy, dt;
    int64_t steps;
    double floor;        /* fields.density_floor */
    int given_fields;    /* solver = none */
    int sides[LM_SIDES]; /* enum lm_boundary */
    double particles;    /* in a cell, of each species */
    int has_units, has_constant;
    int items[LM_NAMED_KINDS]; /* sections of each kind */
};

struct draw {
    uint64_t random;     /* state of the random numbers */
    double chance;       /* that a key is given which need not be */
    struct draft *draft; /* what has been drawn */
    struct draw_plan plan;
    struct lm_config *shadow; /* its choices, and defaults, for lm_key_meaning */
};

/* A section that is being drawn. */
struct draw_scope {
    char section[DRAFT_NAME]; /* for example "species.s0"; "" stands for all sections without a name */
    const char *table;        /* its section in the table of keys; NULL: all without a name */
    void *base;               /* of its members in the shadow */
    int item;                 /* its number among those of its kind */
    int variant[8];           /* the choice in each family, enum lm_key_variant; 0: none yet */
};

/* Draws a configuration into `out`. */
void draw_case(uint64_t seed, int index, int attempt, struct draft *out);

/* Random numbers: in [low, high), and whole ones in low..high. */
double draw_between(struct draw *d, double low, double high);
int draw_whole(struct draw *d, int low, int high);
int draw_chance(struct draw *d, double probability);

/* Writes one of several templates, which are separated by `|`; {a:b} in it becomes a number between a and b. `out` has
 * DRAFT_VALUE bytes. */
void draw_template(struct draw *d, const char *templates, char *out);

/* What is known about a key beyond its row in the table. */
struct draw_rule {
    const char *section, *key; /* as in the table */
    int percent;               /* how often it is given where it need not be; 0: as often as others */
    const char *values;        /* templates, or NULL */
    int (*draw)(struct draw *d, const struct draw_scope *s, const struct lm_key *key, char *out); /* 0: leave it out */
    const char *never; /* the reason why the key is never drawn; or NULL */
};

extern const struct draw_rule draw_rules[], draw_output_rules[]; /* rules.c; rules_outputs.c */
extern const int draw_rule_count, draw_output_rule_count;

/* Returns NULL when there is none. */
const struct draw_rule *draw_rule_of(const struct lm_key *key);

/* The plan; the values of the shadow that follow from the choices once these are drawn; and whether a variant of a
 * family can be chosen. */
void draw_plan(struct draw *d);
void draw_resolve(struct draw *d);
int draw_allows(const struct draw *d, int variant);

#endif
