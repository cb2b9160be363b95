/* Rows of numbers that a run samples often: the orbits of ions, and values at points. Rows wait in memory. A file
 * DIR/FOLDER/NAME_STEP.h5 takes those that have come since the file before it; STEP is the step of its last row. Files
 * are written where the memory is full, before each checkpoint, and at the end. A run that goes on from an older
 * checkpoint may cut a file.
 *
 * A file has the attribute identity, step [rows] (int64) and, for each column, an array [rows][width] (float64) with
 * the attribute `units`. */
#ifndef LARMOR_OUTPUT_RECORDS_H
#define LARMOR_OUTPUT_RECORDS_H

#include "base/h5.h"
#include "larmor/sim.h"

struct lm_records_column {
    const char *name, *units;
};

/* What the rows of a run are. */
struct lm_records_kind {
    const char *folder, *name; /* borrowed */
    int columns;
    const struct lm_records_column *column; /* borrowed */
    size_t width;                           /* 0: not known yet; then there are no rows */
    uint64_t identity; /* files of one name that have another one are not of the same points or ions */
    /* Writes the attributes of a file, and what is no column. */
    void (*describe)(struct lm_h5 *h, const void *context);
    const void *context; /* borrowed */
};

struct lm_records;

/* LM_FAILED: no memory. The caller frees with lm_records_free. */
int lm_records_new(const struct lm_config *config, const struct lm_records_kind *kind, struct lm_records **out);
void lm_records_free(struct lm_records **r);

/* The bytes of the rows that wait. */
double lm_records_memory(int columns, size_t width);

/* Room for the row of a step, [columns][width], which the caller fills. LM_FAILED: a file cannot be written. */
int lm_records_add(struct lm_records *r, int64_t step, double **row);

/* Writes the rows that wait, if there are any. */
int lm_records_flush(struct lm_records *r);

/* A run that goes on from a step in its own directory. The first function changes nothing. LM_BAD_INPUT: a file is
 * damaged, has other columns, or another identity; the message says what to do. The second function removes files with
 * later rows only, and writes anew the rows of a file that are not later. */
int lm_records_check(struct lm_records *r, int64_t step);
int lm_records_go_on(struct lm_records *r, int64_t step);

#endif
