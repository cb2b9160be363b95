/* Former names of keys: `formerly` in the table of keys. Files, command lines and old checkpoints may still use them.
 * And keys that have been removed. */
#ifndef LARMOR_CONFIG_FORMER_H
#define LARMOR_CONFIG_FORMER_H

#include <stdio.h>

#include "config/ini.h"

/* The present name of a key in [section]; `name` itself where it is not a former name. */
const char *lm_former_now(const char *section, const char *name);

/* Writes "FILE:LINE: note: species.p.OLD is now called NEW". `problems` has the name of the file. */
void lm_former_note(FILE *notes, const struct lm_problems *problems, int line, const char *section, const char *name,
                    const char *now);

/* Gives all entries with a former name the present one, with a note about each; `notes` may be NULL. Where a key stands
 * under both names, that is added to `problems`, and the entry with the former name is dropped. */
void lm_former_rename(struct lm_ini *ini, struct lm_problems *problems, FILE *notes);

/* Why there is no key of this name any more, and what to do, as a message goes on; NULL: there has been no such key. */
const char *lm_former_removed(const char *section, const char *name);

#endif
