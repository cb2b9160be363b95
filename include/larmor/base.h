/* Errors, limits of sizes and small helpers, which all other modules use. */
#ifndef LARMOR_BASE_H
#define LARMOR_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function that can fail returns; the values are the program's exit codes. */
enum lm_status {
    LM_OK = 0,
    LM_FAILED = 1,    /* the run could not go on: the disk is full, memory is short, the plasma is unstable */
    LM_BAD_INPUT = 2, /* the user's file, key, option or path is wrong, or needs more than the machine has */
    LM_STOPPED = 3,   /* the run ended early with a checkpoint: a signal, the wall-time limit, or memory became short */
    LM_BEYOND = 4     /* larmor check: a run could begin, but it exceeds a limit of accuracy */
};

enum {
    LM_MAX_SPECIES = 16,
    LM_MAX_NAME = 32,   /* bytes of the name of a species, the final 0 included */
    LM_MAX_TEXT = 2048, /* bytes of an expression in a configuration, the final 0 included */
    LM_MAX_PATH = 1024,
    LM_MAX_MESSAGE = 4096
};

/* Records the error message of this thread (printf style, no final newline) and returns `status`. */
int lm_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts a context before the recorded message ("CONTEXT: MESSAGE") and returns `status`. */
int lm_fail_context(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The message of the last failure in this thread; "" when there was none. The library owns the text. */
const char *lm_error(void);

/* Seconds of a monotonic clock. */
double lm_clock(void);

/* Formats a path into out[LM_MAX_PATH]. LM_BAD_INPUT: it does not fit. */
int lm_path(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define LM_VERSION "0.1.0"

#ifdef __cplusplus
}
#endif
#endif
