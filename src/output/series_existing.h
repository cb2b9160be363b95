/* The rows that a series has already, from both of its files: a row is lost only where neither has it. */
#ifndef LARMOR_OUTPUT_SERIES_EXISTING_H
#define LARMOR_OUTPUT_SERIES_EXISTING_H

#include "output/series.h"

/* Where a series is, and its columns. */
struct lm_series_files {
    char csv[LM_MAX_PATH], h5[LM_MAX_PATH]; /* the two files */
    int count;
    const struct lm_series_column *columns;
};

struct lm_series_rows {
    uint64_t count, room;
    double *values; /* [count][columns], in the order of their steps; owned */
    int keep_h5;    /* series.h5 is damaged or says otherwise than series.csv: it is to be kept under another name */
};

enum {
    LM_SERIES_TITLE = sizeof(((struct lm_series_column *)0)->name) + sizeof(((struct lm_series_column *)0)->unit) + 2
};

/* The title of a column in series.csv. */
void lm_series_title(const struct lm_series_column *column, char out[LM_SERIES_TITLE]);

/* Rows up to restart->step of both files; where both have a row, that of series.csv. What is missing, repeated or not
 * alike is said in lines on restart->notes. LM_BAD_INPUT: other columns, a line of series.csv that is no row, or
 * nothing but a damaged series.h5; LM_FAILED: no memory. Changes nothing; free the rows in either case. */
int lm_series_read_old(const struct lm_series_files *files, const struct lm_series_restart *restart,
                       struct lm_series_rows *out);
void lm_series_free_rows(struct lm_series_rows *rows);

#endif
