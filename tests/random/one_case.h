/* A case is drawn or read, and run in all ways. A case that differs is shrunk and kept. */
#ifndef LARMOR_TESTS_RANDOM_ONE_CASE_H
#define LARMOR_TESTS_RANDOM_ONE_CASE_H

#include <stdint.h>

#include "draft.h"
#include "larmor/base.h"
#include "workers.h"

enum { MOST_FILES = 1000 };

struct options {
    uint64_t seed;
    int count, first, jobs, seconds, print, shrinks;
    const char *ways, *keep, *cases;
    char files[MOST_FILES][256]; /* of `cases` */
    int file_count;
};

/* Makes a new directory, in memory where that is possible; `path` has LM_MAX_PATH / 2 bytes. Returns 0 when it cannot
 * be made. */
int one_case_directory(char *path);

/* Draws case `index` until the configuration can be started. Returns how many were refused before, or -1. */
int one_case_draw(const struct options *o, int index, struct draft *out);

/* For workers_run, with the options as context. */
void one_case_run(void *options, int index, struct worker_report *report);
void one_case_crashed(void *options, int index, const char *how);

#endif
