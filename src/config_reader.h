/* What the parts of the configuration's reader share: config.c (steps), config_apply.c (keys), config_check.c
 * (meaning). */
#ifndef LARMOR_CONFIG_READER_H
#define LARMOR_CONFIG_READER_H

#include "ini_read.h"
#include "keys.h"
#include "larmor/config.h"

struct lm_config_reader {
    struct lm_config *config;
    struct lm_ini ini;
    struct lm_problems problems;
    /* Where a key was given: line, LM_COMMAND_LINE or 0 (not given). Keys of species are in `species`. */
    int given[LM_MAX_KEYS];
    int species[LM_MAX_SPECIES][LM_MAX_KEYS];
    int const_line[64];
    int bad_species;     /* a species' section could not be used */
    int unusable_values; /* a size or a constant is wrong: expressions can be parsed, not evaluated */
};

/* Puts one override "section.key=value" into the list of entries. LM_FAILED: no memory. */
int lm_config_override(struct lm_config_reader *r, const char *text);

/* Defaults; species from the section headers; values of all entries. */
void lm_config_apply(struct lm_config_reader *r);

/* Required keys, combinations, what follows from other keys, constants, and the expressions on the grid. LM_FAILED: no
 * memory. */
int lm_config_check(struct lm_config_reader *r);

#endif
