/* A list of what is wrong with a user's file, reported all at once. */
#ifndef LARMOR_BASE_PROBLEMS_H
#define LARMOR_BASE_PROBLEMS_H

enum { LM_COMMAND_LINE = -1, LM_WHOLE_FILE = 0 }; /* in place of a line number */

struct lm_problems {
    const char *file;   /* not owned */
    int count, omitted; /* omitted: those for which the list or the memory was too small */
    struct {
        int line;
        char *text;
    } item[64];
};

/* Adds "FILE:LINE: text", "command line: text" or "FILE: text". */
void lm_problems_add(struct lm_problems *problems, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* LM_OK, or LM_BAD_INPUT with all problems in the order of the lines as the error message. Frees the list. */
int lm_problems_report(struct lm_problems *problems);
void lm_problems_free(struct lm_problems *problems);

#endif
