/* A strict reader of INI files, around inih.
 *
 * Lines end in \n or \r\n. `#` and `;` begin a comment at the start of a line or after a blank. An indented line goes
 * on with the value of the line before it; the two parts are joined by one blank. inih accepts some lines without a
 * message that are errors here: control characters, `key: value`, text after a [section], an indented line that
 * continues nothing or has a key of its own, a key given twice, and a section [KIND.NAME] given twice. The message
 * names the line.
 */
#ifndef LARMOR_CONFIG_INI_H
#define LARMOR_CONFIG_INI_H

#include "base/problems.h"

enum { LM_INI_GAP = 64 };  /* blanks, # and ; that may stand in a row in a value */
enum { LM_INI_NAME = 50 }; /* bytes of a section or a key for which inih has room, the final 0 included */

struct lm_ini_entry {
    char section[LM_INI_NAME];
    char key[LM_INI_NAME];
    char *value; /* owned by the list */
    int line;    /* LM_COMMAND_LINE: an override on the command line */
    int dropped; /* 1: an override replaces this entry */
};

struct lm_ini_section {
    char name[LM_INI_NAME];
    int line;
};

struct lm_ini {
    int count, capacity;
    struct lm_ini_entry *entry; /* in the order of the file */
    int section_count, section_capacity;
    struct lm_ini_section *section; /* sections without keys included */
    int lost;                       /* 1: a line has been reported and passed over */
};

/* Reads a regular file of at most 1 MiB and adds errors in single lines to `problems`. LM_BAD_INPUT: the file cannot be
 * read at all. LM_FAILED: no memory. The caller frees `ini` in either case. */
int lm_ini_read(const char *file, struct lm_ini *ini, struct lm_problems *problems);

/* The same from a text. */
int lm_ini_read_text(const char *text, struct lm_ini *ini, struct lm_problems *problems);
void lm_ini_free(struct lm_ini *ini);

/* The entry of a key, or NULL. */
struct lm_ini_entry *lm_ini_find(const struct lm_ini *ini, const char *section, const char *key);

/* Appends an entry; section and key must fit. */
int lm_ini_append(struct lm_ini *ini, const char *section, const char *key, const char *value, int line);

/* Puts another value in place of that of an entry. */
int lm_ini_replace(struct lm_ini_entry *entry, const char *value);

/* 1 when more than LM_INI_GAP blanks, # or ; stand in a row. */
int lm_ini_has_gap(const char *value);

/* The index at which a comment begins in a line or value; without a comment the length of the text. */
int lm_ini_comment(const char *line);

#endif
