/* A list of all errors in a user's file, which is reported in one message. */
#ifndef LARMOR_BASE_PROBLEMS_H
#define LARMOR_BASE_PROBLEMS_H

#include "larmor/base.h"

enum { LM_COMMAND_LINE = -1, LM_WHOLE_FILE = 0 }; /* they stand for a line number */
enum { LM_PROBLEMS_LOCATION = LM_MAX_PATH + 32 };

struct lm_problems {
    const char *file;   /* not owned */
    int count, omitted; /* omitted: those for which the list or the memory was too small */
    struct {
        int line;
        char *text;
    } item[64];
};

/* Writes where a line is: "FILE:LINE", "command line" or "FILE". */
void lm_problems_locate(const struct lm_problems *problems, int line, char out[LM_PROBLEMS_LOCATION]);

/* Adds an error. The message has "FILE:LINE: text", "command line: text" or "FILE: text". */
void lm_problems_add(struct lm_problems *problems, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* LM_OK where the list is empty. Else LM_BAD_INPUT, and the error message has all errors in the order of the lines. The
 * list is freed in either case. */
int lm_problems_report(struct lm_problems *problems);
void lm_problems_free(struct lm_problems *problems);

#endif
