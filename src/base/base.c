#include "larmor/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Thread_local char message[LM_MAX_MESSAGE];

int lm_fail(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return status;
}

int lm_fail_context(int status, const char *format, ...)
{
    char text[LM_MAX_MESSAGE / 4];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *old = strdup(message);
    lm_fail(status, "%s: %s", text, old ? old : "");
    free(old);
    return status;
}

const char *lm_error(void)
{
    return message;
}

double lm_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int lm_path(char *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out, LM_MAX_PATH, format, args);
    va_end(args);
    if (n < 0 || n >= LM_MAX_PATH)
        return lm_fail(LM_BAD_INPUT, "path too long (more than %d bytes): %.80s...", LM_MAX_PATH - 1, out);
    return LM_OK;
}
