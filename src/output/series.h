/* The time series: DIR/series.csv (live, a line a row) and DIR/series.h5 (one extendible 1-D dataset a column).
 *
 * Both hold the same columns. CSV: one header line `name[unit],...`, values as %.16e (whole numbers as %lld where the
 * column says so), flushed a row. HDF5: a dataset a column with the attribute `units` (fixed-length string), chunks of
 * 4096 rows, flushed every few seconds and at close so that a killed run leaves a readable file.
 */
#ifndef LARMOR_OUTPUT_SERIES_H
#define LARMOR_OUTPUT_SERIES_H

#include <stdio.h>

#include "larmor/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lm_series_column {
    char name[96];
    char unit[32];   /* "" for a pure number */
    char about[128]; /* one phrase, the HDF5 attribute `description` */
    int whole;       /* written as an integer (int64 in HDF5) */
};

struct lm_series;

/* Where a series goes on. */
struct lm_series_restart {
    int64_t step;  /* rows of later steps are cut off */
    int64_t every; /* steps between rows so far; 0: not known */
    int expected;  /* the directory is the run's own: that it has no series at all is said */
    FILE *notes;   /* what was missing, repeated or unlike: a line each */
};

/* Creates both files in `directory`; column 0 must be the step. With `restart` (else NULL) the rows of the files that
 * are there are continued: the rows up to its step that either file has go into both. Files with other columns, or a
 * line of series.csv that is no row, are LM_BAD_INPUT, and stay as they are. A series.h5 that cannot be read, or says
 * otherwise than series.csv, becomes series.h5.old. The columns are copied. LM_FAILED on a full disk or a file that
 * cannot be written; then the old files are there. */
int lm_series_open(const char *directory, int column_count, const struct lm_series_column *columns,
                   const struct lm_series_restart *restart, struct lm_series **out);

/* Appends one row of column_count values to both files. */
int lm_series_append(struct lm_series *series, const double *row);

/* Step of the last row, or -1. */
int64_t lm_series_last_step(const struct lm_series *series);

/* Flushes and closes; *series becomes NULL. LM_FAILED when the data could not be written. */
int lm_series_close(struct lm_series **series);

#ifdef __cplusplus
}
#endif
#endif
