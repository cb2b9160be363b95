/* `larmor bench`: named measurements of speed and memory, as tables and as one JSON file. */
#ifndef LARMOR_BENCH_BENCH_H
#define LARMOR_BENCH_BENCH_H

#include <stdio.h>

#include "larmor/base.h"

struct lm_bench_options {
    int backend;      /* enum lm_backend_kind */
    int threads;      /* CPU; 0: all */
    const char *json; /* file, or NULL */
    int repeats;      /* of each measurement; 0: each case's own number */
    int quick;        /* small problems: whether it works, not how fast */
    int fill;         /* case memory: really run a problem that fills the device */
    int cells;        /* a side of the square problems; 0: each case's own */
    double ppc;       /* particles a cell; 0: likewise */
    int count;        /* of `cases`; 0: all cases */
    const char *const *cases;
};

/* Runs the cases and prints their tables. LM_BAD_INPUT: an unknown case, a backend that is not there, a file that
 * cannot be written; nothing has run. LM_FAILED: a case failed or found results that must be equal different; the
 * others have run. */
int lm_bench(const struct lm_bench_options *options, FILE *out);

/* The names of the cases, a line each. */
void lm_bench_list(FILE *out);

/* The command: argv[0] is "bench". */
int lm_bench_command(int argc, char **argv);

enum { LM_BENCH_MAX_REPEATS = 1000 };

#endif
