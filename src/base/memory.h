/* How much memory there is: on the host, for this process. */
#ifndef LARMOR_BASE_MEMORY_H
#define LARMOR_BASE_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes. */
struct lm_memory {
    double free;          /* that can still be taken */
    double total;         /* of what limits it */
    char limited_by[192]; /* "MemAvailable", "memory.max of the control group /x", "ulimit -v" */
};

/* The least that is left of the machine's memory (MemAvailable), of the limits of all control groups that the process
 * is in (version 1 and 2; their page cache counts as free) and of the limits on its own address space and data. */
void lm_memory_host(struct lm_memory *out);

/* The same with the files below `root`/proc and `root`/sys, for tests. */
void lm_memory_host_at(const char *root, struct lm_memory *out);

/* Room for the writing of a checkpoint or of outputs, beside arrays of the grid. */
#define LM_MEMORY_RESERVE (128.0 * 1024 * 1024)

/* Whether the host has memory for `bytes` more, with `reserve` to spare. LM_STOPPED: it has not; lm_error() says what
 * `what` would take, what there is and what limits it. Nothing is allocated. */
int lm_memory_require(double bytes, double reserve, const char *what);

#ifdef __cplusplus
}
#endif
#endif
