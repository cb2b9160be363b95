/* Reads the rows of an existing series from both of its files. A row is lost only where neither file has it. */
#ifndef LARMOR_OUTPUT_SERIES_EXISTING_H
#define LARMOR_OUTPUT_SERIES_EXISTING_H

#include "output/series.h"

/* The files of a series and its columns. */
struct lm_series_files {
    char csv[LM_MAX_PATH], h5[LM_MAX_PATH]; /* the two files */
    int count;
    const struct lm_series_column *columns;
};

struct lm_series_rows {
    uint64_t count, room;
    double *values; /* [count][columns], in the order of their steps; owned */
    int keep_h5;    /* 1: series.h5 is damaged or differs from series.csv; the caller keeps it under another name */
};

enum {
    LM_SERIES_TITLE = sizeof(((struct lm_series_column *)0)->name) + sizeof(((struct lm_series_column *)0)->unit) + 2
};

/* The title of a column in series.csv. */
void lm_series_title(const struct lm_series_column *column, char out[LM_SERIES_TITLE]);

/* Reads the rows up to restart->step of both files. Where both files have a row, that of series.csv counts. Missing,
 * repeated and different rows are reported on restart->notes. No file changes. LM_BAD_INPUT: a file has other columns,
 * series.csv has a line that is no row, or the only file is a damaged series.h5. LM_FAILED: no memory. The caller frees
 * the rows in either case. */
int lm_series_read_old(const struct lm_series_files *files, const struct lm_series_restart *restart,
                       struct lm_series_rows *out);
void lm_series_free_rows(struct lm_series_rows *rows);

#endif
