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
    int quick;        /* 1: small problems, which show whether a case works but not how fast it is */
    int fill;         /* 1: the case `memory` runs a problem that fills the device */
    int cells;        /* cells along each side of the square problems; 0: the default of each case */
    double ppc;       /* particles per cell; 0: the default of each case */
    int count;        /* number of `cases`; 0: all cases run */
    const char *const *cases;
};

/* Runs the cases and prints their tables. LM_BAD_INPUT: a case is unknown, the backend is not available, or the file
 * cannot be written; nothing has run. LM_FAILED: a case failed, or results that must be equal were different; the other
 * cases have run. */
int lm_bench(const struct lm_bench_options *options, FILE *out);

/* Prints the names of the cases, one on each line. */
void lm_bench_list(FILE *out);

/* The command: argv[0] is "bench". */
int lm_bench_command(int argc, char **argv);

enum { LM_BENCH_MAX_REPEATS = 1000 };

#endif
