/* A configuration as a list of sections, keys and values, which can be drawn, changed piece by piece and written. */
#ifndef LARMOR_TESTS_RANDOM_DRAFT_H
#define LARMOR_TESTS_RANDOM_DRAFT_H

#include <stddef.h>

enum { DRAFT_MOST = 512, DRAFT_NAME = 50, DRAFT_VALUE = 200, DRAFT_TEXT = 1 << 16 };

/* One `key = value` of a section; an empty key stands for the header of the section. */
struct draft_entry {
    char section[DRAFT_NAME], key[DRAFT_NAME], value[DRAFT_VALUE];
};

struct draft {
    int count;
    struct draft_entry entry[DRAFT_MOST];
};

/* Gives a key a value, in place of the one that it has; adds the section where it is new. The program ends when the
 * draft is full. */
void draft_set(struct draft *d, const char *section, const char *key, const char *value);
void draft_set_number(struct draft *d, const char *section, const char *key, double value);

/* The value of a key, or NULL when it is not given. Valid until the draft changes. */
const char *draft_get(const struct draft *d, const char *section, const char *key);

void draft_remove(struct draft *d, int entry);
void draft_remove_section(struct draft *d, const char *section);

/* The whole as text, section by section; `out` has DRAFT_TEXT bytes. */
void draft_text(const struct draft *d, char *out);

/* Reads a text with sections, `key = value` and comments of whole lines. Returns 0 when a line is of another kind. */
int draft_read(struct draft *d, const char *text);

#endif
