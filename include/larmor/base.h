/* Errors, limits and small helpers that every other module stands on. */
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
    LM_FAILED = 1,    /* the run could not go on: full disk, no memory, unstable */
    LM_BAD_INPUT = 2, /* the user's file, key, option or path is wrong, or asks for more than the machine has */
    LM_STOPPED = 3,   /* ended early in a checkpoint: by a signal, the wall-time limit, or before memory runs out */
    LM_BEYOND = 4     /* larmor check: a run could begin, and is beyond a limit */
};

enum {
    LM_MAX_SPECIES = 16,
    LM_MAX_NAME = 32,  /* bytes of a species' name, with the final 0 */
    LM_MAX_TEXT = 256, /* bytes of an expression or a path in a configuration */
    LM_MAX_PATH = 1024,
    LM_MAX_MESSAGE = 4096
};

/* Records the thread's error message (printf style, no final newline) and returns `status`. */
int lm_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts a context in front of the recorded message ("while writing x: ..."); returns `status`. */
int lm_fail_context(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The message of the last failure in this thread; "" when there was none. Owned by the library. */
const char *lm_error(void);

/* Seconds of a steady clock. */
double lm_clock(void);

/* snprintf into a path buffer of LM_MAX_PATH bytes; LM_BAD_INPUT when it does not fit. */
int lm_path(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define LM_VERSION "0.1.0"

#ifdef __cplusplus
}
#endif
#endif
