/* The time series: DIR/series.csv (one line for each row) and DIR/series.h5 (one extendible 1-D dataset for each
 * column).
 *
 * Both files hold the same columns. The CSV file has one header line `name[unit],...`. Its values are written as %.16e,
 * whole numbers as %lld, and it is flushed after each row. The datasets of the HDF5 file have the attributes `units`
 * and `description` (fixed-length strings) and chunks of 4096 rows. The file is flushed every few seconds and at the
 * end, so that a killed run leaves a readable file.
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
    char about[128]; /* the attribute `description`: one phrase */
    int whole;       /* 1: the values are written as integers (int64 in HDF5) */
};

struct lm_series;

/* How a restart continues a series. */
struct lm_series_restart {
    int64_t step;  /* rows of later steps are removed */
    int64_t every; /* steps between two rows so far; 0: not known */
    int expected;  /* 1: the directory is the run's own, so a missing series is reported */
    FILE *notes;   /* gets one line for each kind of missing, repeated or different rows */
};

/* Creates both files in `directory`. Column 0 must be the step. The columns are copied. `restart` is NULL for a new
 * series. With a restart, the rows up to its step that either old file has go into both new files. LM_BAD_INPUT: an old
 * file has other columns, or series.csv has a line that is no row; the old files stay as they are. A series.h5 that
 * cannot be read, or differs from series.csv, is renamed to series.h5.old. LM_FAILED: the disk is full or a file cannot
 * be written; the old files stay as they are. */
int lm_series_open(const char *directory, int column_count, const struct lm_series_column *columns,
                   const struct lm_series_restart *restart, struct lm_series **out);

/* Appends one row, with a value for each column, to both files. */
int lm_series_append(struct lm_series *series, const double *row);

/* The step of the last row; -1: there is no row. */
int64_t lm_series_last_step(const struct lm_series *series);

/* Flushes and closes both files and sets *series to NULL. LM_FAILED: the data could not be written. */
int lm_series_close(struct lm_series **series);

#ifdef __cplusplus
}
#endif
#endif
