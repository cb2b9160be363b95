#include "base/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/base.h"

enum { CAPACITY = (int)(sizeof((struct lm_problems *)0)->item / sizeof((struct lm_problems *)0)->item[0]) };

void lm_problems_add(struct lm_problems *problems, int line, const char *format, ...)
{
    char text[LM_MAX_MESSAGE / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *copy = problems->count < CAPACITY ? strdup(text) : NULL;
    if (!copy) {
        problems->omitted++;
        return;
    }
    problems->item[problems->count].line = line;
    problems->item[problems->count++].text = copy;
}

void lm_problems_locate(const struct lm_problems *problems, int line, char out[LM_PROBLEMS_LOCATION])
{
    if (line > 0)
        snprintf(out, LM_PROBLEMS_LOCATION, "%s:%d", problems->file, line);
    else
        snprintf(out, LM_PROBLEMS_LOCATION, "%s", line == LM_COMMAND_LINE ? "command line" : problems->file);
}

/* The index of the problem that follows (line, index) in the order of lines; -1: there is none. Problems of the command
 * line come first, then those of the whole file. */
static int next(const struct lm_problems *problems, int line, int index)
{
    int best = -1;
    for (int k = 0; k < problems->count; k++) {
        /* cppcheck-suppress negativeIndex ; k starts at 0 */
        int l = problems->item[k].line;
        if (l < line || (l == line && k <= index))
            continue;
        if (best < 0 || l < problems->item[best].line)
            best = k;
    }
    return best;
}

void lm_problems_free(struct lm_problems *problems)
{
    for (int k = 0; k < problems->count; k++)
        free(problems->item[k].text);
    problems->count = problems->omitted = 0;
}

int lm_problems_report(struct lm_problems *problems)
{
    enum { ROOM_FOR_COUNT = 40 };
    char all[LM_MAX_MESSAGE] = "";
    size_t used = 0;
    int left = problems->count + problems->omitted, any = left > 0, full = 0;
    for (int k = next(problems, LM_COMMAND_LINE, -1); k >= 0 && !full; k = next(problems, problems->item[k].line, k)) {
        char line[LM_MAX_MESSAGE], location[LM_PROBLEMS_LOCATION];
        lm_problems_locate(problems, problems->item[k].line, location);
        int n = snprintf(line, sizeof line, "%s%s: %s", used ? "\n" : "", location, problems->item[k].text);
        size_t length = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
        full = used + length + ROOM_FOR_COUNT > sizeof all;
        if (!full) {
            memcpy(all + used, line, length + 1);
            used += length;
            left--;
        }
    }
    if (left > 0)
        snprintf(all + used, sizeof all - used, "%sand %d more", used ? "\n" : "", left);
    lm_problems_free(problems);
    return any ? lm_fail(LM_BAD_INPUT, "%s", all) : LM_OK;
}
