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

/* When a key has a meaning: when one of `count` choices is among `values`. To set the key otherwise is an error. */
struct lm_key_when {
    const char *words; /* "closure = polytropic" */
    int in_config;     /* 1: the choices are members of struct lm_config, although the key is in a named section */
    size_t offset;     /* of the first choice */
    int count;
    unsigned values;                     /* bit v: value v */
    const struct lm_key_when *otherwise; /* a second condition: either is sufficient; NULL: none */
};

/* Keys of one family exclude each other, except keys with the same variant: steps excludes t_end. */
enum lm_key_family {
    LM_ALONE,
    LM_DURATION_FAMILY,
    LM_TEMPERATURE_FAMILY,
    LM_VELOCITY_FAMILY,
    LM_IONISATION_FAMILY,
    LM_ELECTRONS_FAMILY,
    LM_PARTICLES_FAMILY
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
    LM_EVERYWHERE,
    LM_WHERE_PRESENT
};

/* Expressions that may use t as well: evaluated along inflow sides, or at `place` in every cell. The backend evaluates
 * compiled ones (base/program.h) at every step: where they depend on t, or always. Those of the plasma may also use the
 * local n, Te, J and B; they are compiled where they are not expressions of x and y, or always. */
enum lm_key_time {
    LM_TIMELESS,
    LM_ALONG_SIDES,
    LM_IN_CELLS,
    LM_COMPILED,
    LM_ALWAYS_COMPILED,
    LM_OF_PLASMA,
    LM_ALWAYS_OF_PLASMA
};

struct lm_choice {
    const char *name; /* NULL ends the list */
    int value;        /* where an earlier choice has the same value, this is a second name, accepted but not shown */
};

/* Sections with a name, [KIND.NAME]. Each section makes one item of a list in struct lm_config. The first member of an
 * item is its name. */
enum lm_named_kind {
    LM_SPECIES,
    LM_BODIES,
    LM_BACKGROUNDS,
    LM_IONISATIONS,
    LM_OUTPUTS,
    LM_DISTRIBUTIONS,
    LM_PROBES,
    LM_TRACKS,
    LM_DATA,
    LM_SPECTRA,
    LM_NAMED_KINDS
};
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
    const char *section; /* LM_SPECIES_SECTION stands for every [species.NAME]; likewise those after it */
    const char *name;
    const char *formerly; /* an earlier name, still accepted; NULL: none */
    const char *unit;
    const char *initial; /* default, as in a file; NULL without `shown`: the key is required where it has a meaning */
    const char *shown;   /* how the reference shows the default; NULL: as `initial` */
    const char *meaning;
    size_t offset; /* of the member in struct lm_config or in the struct of a named section */
    enum lm_key_kind kind;
    const struct lm_key_when *when; /* NULL: always */
    enum lm_key_family family;
    int variant;
    double low, high; /* inclusive range of the number or of the values of the expression. low = LM_POSITIVE: > 0 */
    const struct lm_choice *choices;
    struct lm_cell_offset cell_offset; /* where an expression is evaluated */
    enum lm_key_time timed;
};

#define LM_SPECIES_SECTION "species.NAME"
#define LM_BODY_SECTION "body.NAME"
#define LM_BACKGROUND_SECTION "background.NAME"
#define LM_IONISATION_SECTION "ionisation.NAME"
#define LM_OUTPUT_SECTION "output.NAME"
#define LM_DISTRIBUTION_SECTION "distribution.NAME"
#define LM_PROBE_SECTION "probe.NAME"
#define LM_TRACK_SECTION "track.NAME"
#define LM_DATA_SECTION "data.NAME"
#define LM_SPECTRUM_SECTION "spectrum.NAME"
#define LM_POSITIVE 4.9406564584124654e-324

extern const struct lm_key lm_keys[];
extern const int lm_key_count;
enum { LM_MAX_KEYS = 256 }; /* >= lm_key_count */

/* The index of a key; -1: there is none. `section` is as in the table. */
int lm_keys_find(const char *section, const char *name);

/* 1 when the table has this section. It does not have "const" and "functions", whose keys the user names. */
int lm_keys_has_section(const char *section);

/* The kind of a section "KIND.NAME"; NULL: the section has no such name. */
const struct lm_named *lm_named_of(const char *section);
int lm_named_count(const struct lm_named *kind, const struct lm_config *config);
/* The offset of item k < kind->most in struct lm_config. */
size_t lm_named_offset(const struct lm_named *kind, int k);

/* Whether a key of `base` (the configuration or an item of a named section) has a meaning. Undecided: a choice that it
 * depends on is missing or wrong. */
enum lm_meaning { LM_MEANINGLESS, LM_MEANINGFUL, LM_UNDECIDED };
enum lm_meaning lm_key_meaning(const struct lm_key *key, const struct lm_config *config, const void *base);

/* A choice that no key has set. */
enum { LM_NOT_CHOSEN = -1 };

/* Stores the value of `text` in the member of `base` (the configuration or an item of a named section). Expressions are
 * stored as they are. LM_BAD_INPUT: the text is not of the kind of the key, or the value is out of range. The message
 * has no file and no key; the caller adds them. */
int lm_key_set(const struct lm_key *key, void *base, const char *text);

enum { LM_KEY_TEXT_SIZE = LM_MAX_TEXT }; /* bytes of any value, the final 0 included */

/* 1 when the key holds a number, which an expression of constants may give. */
int lm_key_is_number(const struct lm_key *key);

/* 1 when the text is a number of the kind of the key, and no expression. */
int lm_key_is_plain(const struct lm_key *key, const char *text);

/* Stores the value of the expression `text`. LM_BAD_INPUT: as for lm_key_set. */
int lm_key_set_number(const struct lm_key *key, void *base, const char *text, double value);

/* Writes a member's value so that lm_key_set gives the same value again; `out` has LM_KEY_TEXT_SIZE bytes. */
void lm_key_text(const struct lm_key *key, const void *base, char *out);

/* The range of a key in words, into out[128]; and its type. */
void lm_key_range(const struct lm_key *key, char *out);
const char *lm_key_type(const struct lm_key *key);

#endif
