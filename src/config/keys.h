/* The table of configuration keys, and their values as text. */
#ifndef LARMOR_CONFIG_KEYS_H
#define LARMOR_CONFIG_KEYS_H

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
    LM_KEY_TEXT,     /* char[high + 1] */
    LM_KEY_DURATION, /* double, whole seconds, hh:mm:ss */
};

/* When a key has a meaning: where one of `count` choices is among `values`. Elsewhere it is an error to give it. */
struct lm_key_when {
    const char *words; /* "closure = polytropic" */
    int in_config;     /* the choices are members of struct lm_config, also for a key of a named section */
    size_t offset;     /* of the first choice */
    int count;
    unsigned values;                     /* bit v: value v */
    const struct lm_key_when *otherwise; /* a second condition that is as good; NULL: none */
};

/* How a key stands to others of its family: of one family only keys with the same variant go together. */
enum lm_key_family {
    LM_ALONE,
    LM_DURATION_FAMILY,
    LM_TEMPERATURE_FAMILY,
    LM_VELOCITY_FAMILY,
    LM_IONISATION_FAMILY,
    LM_ELECTRONS_FAMILY
};
enum lm_key_variant {
    LM_BY_TIME = 1,
    LM_BY_STEPS,
    LM_ISOTROPIC,
    LM_ALONG_AXES,
    LM_ALONG_FIELD,
    LM_BY_COMPONENTS,
    LM_BY_STREAM,
    LM_BY_RATE,
    LM_BY_GAS,
    LM_AT_DENSITY_1,
    LM_EVERYWHERE
};

/* Expressions that may use t as well: evaluated along inflow sides, or at `place` in every cell. */
enum lm_key_time { LM_TIMELESS, LM_ALONG_SIDES, LM_IN_CELLS };

struct lm_choice {
    const char *name; /* NULL ends the list */
    int value;        /* that of one above: another name of it, understood and never shown */
};

/* Sections with a name, [KIND.NAME]: each makes one item of a list in struct lm_config; an item's first member is its
 * name. */
enum lm_named_kind { LM_SPECIES, LM_BODIES, LM_BACKGROUNDS, LM_IONISATIONS, LM_NAMED_KINDS };
struct lm_named {
    const char *kind;        /* "species" */
    const char *section;     /* in the table of keys: "species.NAME" */
    const char *one, *many;  /* "a species", "species" */
    size_t list, size, used; /* offsets of the list and of its length; size of an item */
    int most;
};
extern const struct lm_named lm_named[LM_NAMED_KINDS];
enum { LM_MAX_NAMED = LM_MAX_SPECIES }; /* >= `most` of every kind */

struct lm_key {
    const char *section; /* LM_SPECIES_SECTION: in every [species.NAME]; those below it likewise */
    const char *name;
    const char *unit;
    const char *initial; /* default, as it could stand in a file; NULL: required where the key has a meaning... */
    const char *shown;   /* ...unless there is this: how the reference shows the default */
    const char *meaning;
    size_t offset; /* of the member in struct lm_config or the struct of a named section */
    enum lm_key_kind kind;
    const struct lm_key_when *when; /* NULL: always */
    enum lm_key_family family;
    int variant;
    double low, high; /* inclusive range; of an expression's values as well. low = LM_POSITIVE: > 0 */
    const struct lm_choice *choices;
    struct lm_cell_offset cell_offset; /* where an expression is evaluated */
    enum lm_key_time timed;
};

#define LM_SPECIES_SECTION "species.NAME"
#define LM_BODY_SECTION "body.NAME"
#define LM_BACKGROUND_SECTION "background.NAME"
#define LM_IONISATION_SECTION "ionisation.NAME"
#define LM_POSITIVE 4.9406564584124654e-324

extern const struct lm_key lm_keys[];
extern const int lm_key_count;
enum { LM_MAX_KEYS = 192 }; /* >= lm_key_count */

/* Index of a key; -1 when there is none. `section` as in the table. */
int lm_keys_find(const char *section, const char *name);

/* 1 when a section of this name is in the table ("const" is not: its keys are free). */
int lm_keys_has_section(const char *section);

/* The kind of a section's name "KIND.NAME"; NULL: it is of none. */
const struct lm_named *lm_named_of(const char *section);
int lm_named_count(const struct lm_named *kind, const struct lm_config *config);
/* Offset of item k < kind->most in struct lm_config. */
size_t lm_named_offset(const struct lm_named *kind, int k);

/* Whether a key of `base` (the configuration or an item of a named section) has a meaning. Undecided: what it depends
 * on is not known, as that was not given or is wrong. */
enum lm_meaning { LM_MEANINGLESS, LM_MEANINGFUL, LM_UNDECIDED };
enum lm_meaning lm_key_meaning(const struct lm_key *key, const struct lm_config *config, const void *base);

/* A choice that no key has set. */
enum { LM_NOT_CHOSEN = -1 };

/* Stores the value of `text` in the member of `base` (the configuration or an item of a named section). LM_BAD_INPUT:
 * not of the kind, or out of range; the message is without file and key. Expressions are stored as they are. */
int lm_key_set(const struct lm_key *key, void *base, const char *text);

/* Writes a member's value so that lm_key_set gives the same value again; `out` has LM_MAX_PATH bytes. */
void lm_key_text(const struct lm_key *key, const void *base, char *out);

/* Type and range in words; `out` has 128 bytes. */
void lm_key_range(const struct lm_key *key, char *out);
const char *lm_key_type(const struct lm_key *key);

#endif
