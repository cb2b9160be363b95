/* What the parts of the configuration's reader share: config.c (steps), config_apply.c (keys), config_check.c
 * (meaning). */
#ifndef LARMOR_CONFIG_READER_H
#define LARMOR_CONFIG_READER_H

#include "config/ini.h"
#include "config/keys.h"
#include "larmor/config.h"

struct lm_config_reader {
    struct lm_config *config;
    struct lm_ini ini;
    struct lm_problems problems;
    /* Where a key was given: line, LM_COMMAND_LINE or 0 (not given). Keys of named sections are in `named`. */
    int key_line[LM_MAX_KEYS];
    int named_key_line[LM_NAMED_KINDS][LM_MAX_NAMED][LM_MAX_KEYS];
    int const_line[64];
    int bad_section[LM_NAMED_KINDS]; /* a section of this kind could not be used */
    int unusable_values;             /* a size or a constant is wrong: expressions can be parsed, not evaluated */
};

/* A part of the configuration with keys of its own: a named section, or all that is not in one. */
struct lm_scope {
    const struct lm_named *kind; /* NULL: not a named section */
    void *base;                  /* of its members */
    const int *lines;            /* where its keys were given */
    int line;                    /* of its header */
    char section[LM_INI_NAME];   /* "species.p" */
};

/* Scope k of a reader that has applied its entries: 0 for all that is not in a named section, then the named ones. 0:
 * there are no more. */
int lm_config_scope(const struct lm_config_reader *r, int k, struct lm_scope *out);

/* 1 when the scope has this key. */
int lm_scope_has(const struct lm_scope *scope, const struct lm_key *key);
/* The section in messages about a key that it has. */
const char *lm_scope_section(const struct lm_scope *scope, const struct lm_key *key);

/* Puts one override "section.key=value" into the list of entries. LM_FAILED: no memory. */
int lm_config_override(struct lm_config_reader *r, const char *text);

/* Defaults; species, bodies, background fields and sources of ions from the section headers; values of all entries. */
void lm_config_apply(struct lm_config_reader *r);

/* The sides of the domain: what must go together, and what fields do where the file does not say. */
void lm_config_check_sides(struct lm_config_reader *r);
/* Densities beyond inflow sides, at t = 0. LM_FAILED: no memory. */
int lm_config_check_inflow(struct lm_config_reader *r);

/* Background fields: their sides and bounds; and, with the constants, what flows in by their sides in the first step.
 * LM_FAILED: no memory. */
void lm_config_check_backgrounds(struct lm_config_reader *r);
int lm_config_check_background_inflow(struct lm_config_reader *r);

/* The gas of each species, its table, and what goes together. LM_FAILED: no memory. */
int lm_config_check_gas(struct lm_config_reader *r);

/* Makes `path`, a key's value in an item of a named section, a path from the root, so that the echo in another
 * directory means the same file. `line`: where it was given. 1: a problem is reported. */
int lm_config_resolve_path(struct lm_config_reader *r, const char *section, const char *key, void *item, int line);
/* Sources of ions: the species and gas they name, and what goes together. */
void lm_config_check_ionisation(struct lm_config_reader *r, const struct lm_scope *scope);
/* What a field does at a side where the file says auto. */
int lm_background_side_of(int boundary);

/* The entropy of electrons whose pressure is evolved, as a background field after those of the file. */
void lm_config_add_electrons(struct lm_config_reader *r);

/* Bodies: their points and paths; and, in a configuration without other problems, the cells of each. LM_FAILED: no
 * memory. */
void lm_config_check_points(struct lm_config_reader *r);
int lm_config_check_cells(struct lm_config_reader *r);

/* Required keys, combinations, what follows from other keys, constants, and the expressions on the grid. LM_FAILED: no
 * memory. */
int lm_config_check(struct lm_config_reader *r);

#endif
