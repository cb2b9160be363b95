/* How much memory of the host this process may still take. */
#ifndef LARMOR_BASE_MEMORY_H
#define LARMOR_BASE_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes. */
struct lm_memory {
    double free;          /* what the process may still take */
    double total;         /* all memory that the narrowest limit allows, used memory included */
    char limited_by[192]; /* the narrowest limit: "MemAvailable", "memory.max of the control group /x" */
};

/* The narrowest of these limits: the machine's memory (MemAvailable), the limits of all control groups of the process
 * (their page cache counts as free), and the limits on the address space and data of the process (ulimit). */
void lm_memory_host(struct lm_memory *out);

/* The same with the files below `root`/proc and `root`/sys; tests use it. */
void lm_memory_host_at(const char *root, struct lm_memory *out);

/* What writing a checkpoint or an output takes besides arrays of the grid, bytes. */
#define LM_MEMORY_RESERVE (128.0 * 1024 * 1024)

/* Checks that the host has memory for `bytes` more and leaves `reserve` for a checkpoint. Nothing is allocated.
 * LM_STOPPED: there is too little; the message says what `what` would take, what is free and what limits it. */
int lm_memory_require(double bytes, double reserve, const char *what);

#ifdef __cplusplus
}
#endif
#endif
