/* The table of configuration keys, and their values as text. */
#ifndef LARMOR_KEYS_H
#define LARMOR_KEYS_H

#include <stddef.h>
#include <stdio.h>

#include "larmor/config.h"

enum lm_key_kind {
    LM_KEY_INT,      /* int */
    LM_KEY_LONG,     /* int64_t */
    LM_KEY_SEED,     /* uint64_t */
    LM_KEY_REAL,     /* double */
    LM_KEY_CHOICE,   /* int, one of `choices` */
    LM_KEY_EXPR,     /* char[LM_MAX_TEXT]: expression of x, y and constants */
    LM_KEY_PATH,     /* char[LM_MAX_PATH] */
    LM_KEY_DURATION, /* double, whole seconds, hh:mm:ss */
};

/* When a key has a meaning; elsewhere it is an error to give it. */
enum lm_key_when { LM_ALWAYS, LM_IF_POLYTROPIC, LM_IF_NO_SOLVER };

/* How a key stands to others of its family: of one family only keys with the same variant go together. */
enum lm_key_family { LM_ALONE, LM_DURATION_FAMILY, LM_TEMPERATURE_FAMILY };
enum lm_key_variant { LM_BY_TIME = 1, LM_BY_STEPS, LM_ISOTROPIC, LM_ALONG_AXES, LM_ALONG_FIELD };

struct lm_choice {
    const char *name; /* NULL ends the list */
    int value;
};

struct lm_key {
    const char *section; /* LM_SPECIES_SECTION: in every [species.NAME] */
    const char *name;
    const char *unit;
    const char *initial; /* default, as it could stand in a file; NULL: required, or resolved later */
    const char *shown;   /* how the reference shows the default where that is not `initial` */
    const char *meaning;
    size_t offset; /* of the member in struct lm_config or struct lm_species_config */
    enum lm_key_kind kind;
    enum lm_key_when when;
    enum lm_key_family family;
    int variant;
    double low, high; /* inclusive range; of an expression's values as well. low = LM_POSITIVE: > 0 */
    const struct lm_choice *choices;
    struct lm_place place; /* where an expression is evaluated */
};

#define LM_SPECIES_SECTION "species.NAME"
#define LM_POSITIVE 4.9406564584124654e-324

extern const struct lm_key lm_keys[];
extern const int lm_key_count;
enum { LM_MAX_KEYS = 96 }; /* >= lm_key_count */

/* Index of a key; -1 when there is none. `section` as in the table. */
int lm_keys_find(const char *section, const char *name);

/* 1 when a section of this name is in the table ("const" is not: its keys are free). */
int lm_keys_has_section(const char *section);

/* Stores the value of `text` in the member of `base` (struct lm_config or lm_species_config). LM_BAD_INPUT: not of the
 * kind, or out of range; the message is without file and key. Expressions are stored as they are. */
int lm_key_set(const struct lm_key *key, void *base, const char *text);

/* Writes a member's value so that lm_key_set gives the same value again; `out` has LM_MAX_PATH bytes. */
void lm_key_text(const struct lm_key *key, const void *base, char *out);

/* Type and range in words; `out` has 128 bytes. */
void lm_key_range(const struct lm_key *key, char *out);
const char *lm_key_type(const struct lm_key *key);

#endif
