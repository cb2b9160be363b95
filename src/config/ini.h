/* A strict reader of INI files, around inih.
 *
 * Lines end in \n or \r\n; `#` and `;` begin a comment at the start of a line or after a blank. What inih would pass
 * over in silence is an error with its line: indented lines, lines of 200 bytes or more, control characters, `key:
 * value`, text after a [section], a key given twice, a section [KIND.NAME] given twice.
 */
#ifndef LARMOR_CONFIG_INI_H
#define LARMOR_CONFIG_INI_H

#include "base/problems.h"

enum { LM_INI_LINE = 200, LM_INI_NAME = 50 }; /* bytes that inih holds, the final 0 included */

struct lm_ini_entry {
    char section[LM_INI_NAME];
    char key[LM_INI_NAME];
    char value[LM_INI_LINE];
    int line;    /* LM_COMMAND_LINE: from an override */
    int dropped; /* an override made it void */
};

struct lm_ini_section {
    char name[LM_INI_NAME];
    int line;
};

struct lm_ini {
    int count, capacity;
    struct lm_ini_entry *entry; /* in the order of the file */
    int section_count, section_capacity;
    struct lm_ini_section *section; /* also those without keys */
};

/* Reads a regular file of at most 1 MiB; what is wrong with single lines is added to `problems`. LM_BAD_INPUT: the
 * file cannot be read at all; LM_FAILED: no memory. Free in either case. */
int lm_ini_read(const char *file, struct lm_ini *ini, struct lm_problems *problems);

/* The same from a text. */
int lm_ini_read_text(const char *text, struct lm_ini *ini, struct lm_problems *problems);
void lm_ini_free(struct lm_ini *ini);

/* The entry of a key, or NULL. */
struct lm_ini_entry *lm_ini_find(const struct lm_ini *ini, const char *section, const char *key);

/* Appends an entry; the texts must fit. */
int lm_ini_append(struct lm_ini *ini, const char *section, const char *key, const char *value, int line);

/* Where a comment begins in a line or value; its length when there is none. */
int lm_ini_comment(const char *line);

#endif
