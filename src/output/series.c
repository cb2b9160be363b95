#include "output/series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/h5.h"
#include "output/series_existing.h"

enum {
    SERIES_VERSION = 1,
    CHUNK = 4096,  /* rows of a chunk in series.h5 */
    PENDING = 1024 /* rows kept until the next flush at most */
};
static const double flush_seconds = 2.0;

/* series.h5 changes only while it is flushed, so a kill at any other moment leaves a readable file. */
struct lm_series {
    int count;
    struct lm_series_column *columns;
    char csv_path[LM_MAX_PATH], h5_path[LM_MAX_PATH];
    char csv_part[LM_MAX_PATH]; /* path of series.csv at a restart until all old rows are written; "" otherwise */
    FILE *csv;
    struct lm_h5 h5;
    hid_t *data;     /* one dataset for each column */
    double *rows;    /* [PENDING][count]: rows that are not yet in series.h5 */
    double *values;  /* one row, or one column of the pending rows */
    int64_t *wholes; /* one column of the pending rows */
    int pending;
    uint64_t written; /* rows in series.h5 */
    int64_t last_step;
    double flushed_at;
    int status;
};

/* A value that is no integer (NaN, infinite, too large) becomes the lowest integer. */
static int64_t to_whole(double value)
{
    return fabs(value) < 9.2e18 ? (int64_t)value : INT64_MIN;
}

static void free_series(struct lm_series *s)
{
    free(s->columns);
    free(s->data);
    free(s->rows);
    free(s->values);
    free(s->wholes);
    free(s);
}

static struct lm_series *make_series(int count, const struct lm_series_column *columns)
{
    struct lm_series *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    size_t n = (size_t)count, longest = n > PENDING ? n : PENDING;
    s->count = count;
    s->h5.file = -1;
    s->columns = malloc(n * sizeof *s->columns);
    s->data = malloc(n * sizeof *s->data);
    s->rows = malloc(n * PENDING * sizeof *s->rows);
    s->values = malloc(longest * sizeof *s->values);
    s->wholes = malloc(PENDING * sizeof *s->wholes);
    s->last_step = -1;
    if (!s->columns || !s->data || !s->rows || !s->values || !s->wholes) {
        free_series(s);
        return NULL;
    }
    memcpy(s->columns, columns, n * sizeof *columns);
    for (int c = 0; c < count; c++)
        s->data[c] = -1;
    return s;
}

/* ---- series.h5 ---- */

static void create_column(struct lm_series *s, int c)
{
    struct lm_h5 *h = &s->h5;
    if (h->status != LM_OK)
        return;
    const struct lm_series_column *column = &s->columns[c];
    hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = CHUNK;
    hid_t space = H5Screate_simple(1, &none, &unlimited), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    hid_t type = column->whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
    s->data[c] = H5Dcreate2(h->file, column->name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (s->data[c] < 0)
        lm_h5_error(h, "cannot create the column %s", column->name);
    H5Pclose(list);
    H5Sclose(space);
    lm_h5_put_text(h, s->data[c], "units", column->unit);
    lm_h5_put_text(h, s->data[c], "description", column->about);
}

/* All datasets exist from the start, so that readers find every column, also after a kill. The name is *.part until the
 * file has its first content. */
static int create_h5(struct lm_series *s)
{
    struct lm_h5 *h = &s->h5;
    if (lm_h5_create(h, s->h5_path) != LM_OK)
        return h->status;
    lm_h5_put_text(h, h->file, "format", "larmor-series");
    lm_h5_put_whole(h, h->file, "format_version", SERIES_VERSION);
    lm_h5_put_text(h, h->file, "software", "larmor " LM_VERSION);
    for (int c = 0; c < s->count; c++)
        create_column(s, c);
    return h->status;
}

static void write_column(struct lm_series *s, int c)
{
    struct lm_h5 *h = &s->h5;
    for (int r = 0; r < s->pending; r++) {
        s->values[r] = s->rows[(size_t)r * (size_t)s->count + (size_t)c];
        s->wholes[r] = s->columns[c].whole ? to_whole(s->values[r]) : 0;
    }
    hsize_t length = s->written + (uint64_t)s->pending;
    if (h->status == LM_OK && H5Dset_extent(s->data[c], &length) < 0)
        lm_h5_error(h, "cannot grow the column %s", s->columns[c].name);
    if (s->columns[c].whole)
        lm_h5_write_rows(h, s->data[c], H5T_NATIVE_INT64, s->written, (uint64_t)s->pending, s->wholes);
    else
        lm_h5_write_rows(h, s->data[c], H5T_NATIVE_DOUBLE, s->written, (uint64_t)s->pending, s->values);
}

static int flush_h5(struct lm_series *s)
{
    struct lm_h5 *h = &s->h5;
    for (int c = 0; s->pending > 0 && c < s->count; c++)
        write_column(s, c);
    if (h->status == LM_OK && H5Fflush(h->file, H5F_SCOPE_LOCAL) < 0)
        lm_h5_error(h, "cannot write");
    s->written += (uint64_t)s->pending;
    s->pending = 0;
    s->flushed_at = lm_clock();
    return h->status;
}

static int push_row(struct lm_series *s, const double *row)
{
    memcpy(s->rows + (size_t)s->pending * (size_t)s->count, row, (size_t)s->count * sizeof *row);
    s->pending++;
    s->last_step = to_whole(row[0]);
    return s->pending == PENDING ? flush_h5(s) : LM_OK;
}

/* ---- series.csv ---- */

static int csv_failed(const struct lm_series *s)
{
    return lm_fail(LM_FAILED, "%s: cannot write: %s", s->csv_path, strerror(errno));
}

static int flush_csv(struct lm_series *s)
{
    return fflush(s->csv) != 0 || ferror(s->csv) ? csv_failed(s) : LM_OK;
}

static int write_header(struct lm_series *s)
{
    char title[LM_SERIES_TITLE];
    for (int c = 0; c < s->count; c++) {
        lm_series_title(&s->columns[c], title);
        fprintf(s->csv, "%s%s", title, c + 1 < s->count ? "," : "\n");
    }
    return flush_csv(s);
}

static void put_line(struct lm_series *s, const double *row)
{
    for (int c = 0; c < s->count; c++) {
        const char *end = c + 1 < s->count ? "," : "\n";
        if (s->columns[c].whole)
            fprintf(s->csv, "%lld%s", (long long)to_whole(row[c]), end);
        else
            fprintf(s->csv, "%.16e%s", row[c], end);
    }
}

static int create_csv(struct lm_series *s, const char *path)
{
    s->csv = fopen(path, "w");
    if (!s->csv)
        return lm_fail(LM_FAILED, "%s: cannot create the file: %s", s->csv_path, strerror(errno));
    return write_header(s);
}

/* ---- restart ---- */

/* Writes the old rows into the new files. The old files are replaced only when the new ones are complete. */
static int continue_csv(struct lm_series *s, const struct lm_series_rows *rows)
{
    int status = lm_path(s->csv_part, "%s.part", s->csv_path);
    unlink(s->csv_part); /* it may be a link */
    if (!status)
        status = create_csv(s, s->csv_part);
    for (uint64_t k = 0; k < rows->count && !status; k++) {
        const double *row = rows->values + k * (uint64_t)s->count;
        put_line(s, row);
        status = push_row(s, row);
    }
    if (status)
        return status;
    return flush_csv(s);
}

static int publish_csv(struct lm_series *s)
{
    if (!s->csv_part[0])
        return LM_OK;
    if (rename(s->csv_part, s->csv_path))
        return lm_fail(LM_FAILED, "%s: cannot be replaced: %s", s->csv_path, strerror(errno));
    s->csv_part[0] = 0;
    return LM_OK;
}

static int keep_old_h5(const struct lm_series *s)
{
    char old[LM_MAX_PATH];
    int status = lm_path(old, "%s.old", s->h5_path);
    if (!status && rename(s->h5_path, old))
        status = lm_fail(LM_FAILED, "%s: cannot be renamed: %s", s->h5_path, strerror(errno));
    return status;
}

/* ---- the interface ---- */

/* Writes the first rows into new files, and renames them to their final names at the end. */
static int write_files(struct lm_series *s, const struct lm_series_restart *restart, const struct lm_series_rows *old)
{
    int status = create_h5(s);
    if (!status)
        status = restart ? continue_csv(s, old) : create_csv(s, s->csv_path);
    if (!status)
        status = flush_h5(s);
    if (!status && old->keep_h5)
        status = keep_old_h5(s);
    if (!status)
        status = publish_csv(s);
    if (!status)
        status = lm_h5_publish(&s->h5);
    return status;
}

static int open_files(struct lm_series *s, const char *directory, const struct lm_series_restart *restart)
{
    struct lm_series_files files = {.count = s->count, .columns = s->columns};
    struct lm_series_rows old = {.count = 0};
    int status = lm_h5_directory(directory);
    if (status)
        return status;
    if (lm_path(files.csv, "%s/series.csv", directory) || lm_path(files.h5, "%s/series.h5", directory))
        return LM_BAD_INPUT;
    memcpy(s->csv_path, files.csv, sizeof files.csv);
    memcpy(s->h5_path, files.h5, sizeof files.h5);
    if (restart)
        status = lm_series_read_old(&files, restart, &old);
    if (!status)
        status = write_files(s, restart, &old);
    lm_series_free_rows(&old);
    return status;
}

/* Closes the files after an error; they must not get their final names. */
static void abandon(struct lm_series *s, int status)
{
    if (s->h5.status == LM_OK)
        s->h5.status = status;
    lm_h5_finish(&s->h5, 0);
    if (s->csv)
        fclose(s->csv);
    if (s->csv_part[0])
        unlink(s->csv_part);
    free_series(s);
}

int lm_series_open(const char *directory, int column_count, const struct lm_series_column *columns,
                   const struct lm_series_restart *restart, struct lm_series **out)
{
    *out = NULL;
    struct lm_series *s = make_series(column_count, columns);
    if (!s)
        return lm_fail(LM_FAILED, "no memory for the series");
    int status = open_files(s, directory, restart);
    if (status)
        abandon(s, status);
    else
        *out = s;
    return status;
}

int lm_series_append(struct lm_series *s, const double *row)
{
    if (s->status != LM_OK)
        return lm_fail(s->status, "%s: not written after an earlier error", s->csv_path);
    int first = s->written == 0 && s->pending == 0;
    put_line(s, row);
    s->status = flush_csv(s);
    if (s->status == LM_OK)
        s->status = push_row(s, row);
    if (s->status == LM_OK && (first || lm_clock() - s->flushed_at >= flush_seconds))
        s->status = flush_h5(s);
    return s->status;
}

int64_t lm_series_last_step(const struct lm_series *s)
{
    return s->last_step;
}

int lm_series_close(struct lm_series **series)
{
    struct lm_series *s = *series;
    *series = NULL;
    if (!s)
        return LM_OK;
    int status = s->status;
    if (status == LM_OK)
        status = flush_h5(s);
    for (int c = 0; c < s->count; c++)
        lm_h5_end(s->data[c]);
    int closed = lm_h5_finish(&s->h5, 0);
    if (status == LM_OK)
        status = closed;
    if (fclose(s->csv) != 0 && status == LM_OK)
        status = csv_failed(s);
    free_series(s);
    return status;
}
