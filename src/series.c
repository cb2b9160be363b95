#include "larmor/series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "h5.h"

enum {
    SERIES_VERSION = 1,
    CHUNK = 4096,  /* rows of a chunk in series.h5 */
    PENDING = 1024 /* rows kept until the next flush at most */
};
static const double flush_seconds = 2.0;

/* series.h5 is touched only while flushing: a kill at any other moment leaves a readable file. */
struct lm_series {
    int count;
    struct lm_series_column *columns;
    char csv_path[LM_MAX_PATH], h5_path[LM_MAX_PATH];
    FILE *csv;
    struct lm_h5 h5;
    hid_t *data;     /* a dataset a column */
    double *rows;    /* [PENDING][count], not yet in series.h5 */
    double *values;  /* one row, or one column of the pending rows */
    int64_t *wholes; /* one column of the pending rows */
    int pending;
    uint64_t written; /* rows in series.h5 */
    int64_t last_step;
    double flushed_at;
    int status;
};

/* A whole number that has no integer (NaN, infinite, too large) becomes the lowest integer. */
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

/* All datasets exist from the start: readers and a killed run see every column. The name stays *.part until the file
 * has its first content. */
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

enum { TITLE = sizeof(((struct lm_series_column *)0)->name) + sizeof(((struct lm_series_column *)0)->unit) + 2 };

static void format_title(const struct lm_series_column *column, char out[TITLE])
{
    snprintf(out, TITLE, column->unit[0] ? "%s[%s]" : "%s", column->name, column->unit);
}

static int write_header(struct lm_series *s)
{
    char title[TITLE];
    for (int c = 0; c < s->count; c++) {
        format_title(&s->columns[c], title);
        fprintf(s->csv, "%s%s", title, c + 1 < s->count ? "," : "\n");
    }
    return fflush(s->csv) != 0 || ferror(s->csv) ? csv_failed(s) : LM_OK;
}

static int write_line(struct lm_series *s, const double *row)
{
    for (int c = 0; c < s->count; c++) {
        const char *end = c + 1 < s->count ? "," : "\n";
        if (s->columns[c].whole)
            fprintf(s->csv, "%lld%s", (long long)to_whole(row[c]), end);
        else
            fprintf(s->csv, "%.16e%s", row[c], end);
    }
    return fflush(s->csv) != 0 || ferror(s->csv) ? csv_failed(s) : LM_OK;
}

static int create_csv(struct lm_series *s)
{
    s->csv = fopen(s->csv_path, "w");
    if (!s->csv)
        return lm_fail(LM_FAILED, "%s: cannot create the file: %s", s->csv_path, strerror(errno));
    return write_header(s);
}

/* ---- restart ---- */

static int other_column(const char *path, int c, const char *there, const char *here)
{
    return lm_fail(LM_BAD_INPUT,
                   "%s: column %d is '%s', this run writes '%s'; restart with the same settings or into another "
                   "output directory",
                   path, c + 1, there, here);
}

static int check_header(const struct lm_series *s, char *line)
{
    char title[TITLE];
    line[strcspn(line, "\r\n")] = 0;
    char *rest = line;
    for (int c = 0; c < s->count; c++) {
        format_title(&s->columns[c], title);
        char *there = strsep(&rest, ",");
        if (!there || strcmp(there, title) != 0)
            return other_column(s->csv_path, c, there ? there : "(none)", title);
    }
    return rest ? other_column(s->csv_path, s->count, rest, "(none)") : LM_OK;
}

/* One row from a whole line; 0 when it is not one. */
static int parse_line(const struct lm_series *s, const char *line, double *row)
{
    for (int c = 0; c < s->count; c++) {
        char *end;
        row[c] = strtod(line, &end);
        if (end == line || *end != (c + 1 < s->count ? ',' : '\n'))
            return 0;
        line = end + 1;
    }
    return 1;
}

/* Rows up to restart_step go into series.h5 too: after a kill it may lack the last seconds that series.csv has. Sets
 * *keep to the length that series.csv shall have. */
static int keep_lines(struct lm_series *s, FILE *in, int64_t restart_step, off_t *keep)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length = getline(&line, &size, in);
    int status = length > 0 ? check_header(s, line) : other_column(s->csv_path, 0, "(none)", s->columns[0].name);
    *keep = ftello(in);
    for (int64_t number = 2; status == LM_OK && (length = getline(&line, &size, in)) > 0; number++) {
        if (line[length - 1] != '\n')
            break; /* torn by a kill */
        if (!parse_line(s, line, s->values))
            status = lm_fail(LM_BAD_INPUT, "%s:%lld: is not a row of %d numbers; repair or remove the file",
                             s->csv_path, (long long)number, s->count);
        else if (s->values[0] > (double)restart_step)
            break;
        else
            status = push_row(s, s->values);
        *keep = ftello(in);
    }
    free(line);
    return status;
}

static int continue_csv(struct lm_series *s, int64_t restart_step)
{
    FILE *in = fopen(s->csv_path, "r");
    if (!in)
        return lm_fail(LM_FAILED, "%s: cannot read the file: %s", s->csv_path, strerror(errno));
    off_t keep = 0;
    int status = keep_lines(s, in, restart_step, &keep);
    fclose(in);
    if (status != LM_OK)
        return status;
    if (truncate(s->csv_path, keep) != 0)
        return csv_failed(s);
    s->csv = fopen(s->csv_path, "a");
    return s->csv ? LM_OK : csv_failed(s);
}

/* Opens the columns of an old series.h5 and returns the number of its rows. */
static hsize_t open_columns(const struct lm_series *s, struct lm_h5 *old, hid_t *data)
{
    hsize_t length = lm_h5_length(old, old->file, s->columns[0].name);
    const int columns = lm_h5_link_count(old, old->file);
    if (old->status == LM_OK && columns != s->count)
        lm_h5_wrong(old, "has %d columns, this run writes %d; restart with the same settings or into another directory",
                    columns, s->count);
    for (int c = 0; c < s->count; c++) {
        hid_t type = s->columns[c].whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
        data[c] = lm_h5_dataset(old, old->file, s->columns[c].name, type, 1, &length);
    }
    return length;
}

/* Copies `count` old rows up to restart_step from block[column][PENDING] into both files; 0 when that step was reached.
 */
static int copy_rows(struct lm_series *s, const double *block, uint64_t count, int64_t restart_step, int *status)
{
    for (uint64_t r = 0; r < count; r++) {
        for (int c = 0; c < s->count; c++)
            s->values[c] = block[(uint64_t)c * PENDING + r];
        if (s->values[0] > (double)restart_step)
            return 0;
        *status = write_line(s, s->values);
        if (*status == LM_OK)
            *status = push_row(s, s->values);
        if (*status != LM_OK)
            return 0;
    }
    return 1;
}

static int copy_old(struct lm_series *s, struct lm_h5 *old, const hid_t *data, hsize_t length, int64_t restart_step)
{
    double *block = malloc((size_t)s->count * PENDING * sizeof *block);
    int status = block ? create_csv(s) : lm_fail(LM_FAILED, "no memory for the series");
    int more = status == LM_OK;
    for (uint64_t first = 0; more && first < length; first += PENDING) {
        uint64_t count = length - first < PENDING ? length - first : PENDING;
        for (int c = 0; c < s->count; c++)
            lm_h5_read_rows(old, data[c], H5T_NATIVE_DOUBLE, first, count, block + (size_t)c * PENDING);
        more = old->status == LM_OK && copy_rows(s, block, count, restart_step, &status);
    }
    free(block);
    return status != LM_OK ? status : old->status;
}

/* Only series.h5 is left: its rows up to restart_step make both files anew. */
static int continue_h5(struct lm_series *s, int64_t restart_step)
{
    struct lm_h5 old;
    if (lm_h5_open(&old, s->h5_path) != LM_OK)
        return old.status;
    int status = LM_FAILED;
    hid_t *data = malloc((size_t)s->count * sizeof *data);
    if (!data) {
        lm_fail(status, "no memory for the series");
    } else {
        hsize_t length = open_columns(s, &old, data);
        status = old.status == LM_OK ? copy_old(s, &old, data, length, restart_step) : old.status;
        for (int c = 0; c < s->count; c++)
            lm_h5_end(data[c]);
    }
    free(data);
    lm_h5_finish(&old, 0);
    return status;
}

/* ---- the interface ---- */

static int exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static int open_files(struct lm_series *s, const char *directory, int64_t restart_step)
{
    int status = lm_h5_directory(directory);
    if (status == LM_OK)
        status = lm_path(s->csv_path, "%s/series.csv", directory);
    if (status == LM_OK)
        status = lm_path(s->h5_path, "%s/series.h5", directory);
    if (status == LM_OK)
        status = create_h5(s);
    if (status != LM_OK)
        return status;
    if (restart_step >= 0 && exists(s->csv_path))
        status = continue_csv(s, restart_step);
    else if (restart_step >= 0 && exists(s->h5_path))
        status = continue_h5(s, restart_step);
    else
        status = create_csv(s);
    if (status == LM_OK)
        status = flush_h5(s);
    return status == LM_OK ? lm_h5_publish(&s->h5) : status;
}

int lm_series_open(const char *directory, int column_count, const struct lm_series_column *columns,
                   int64_t restart_step, struct lm_series **out)
{
    *out = NULL;
    struct lm_series *s = make_series(column_count, columns);
    if (!s)
        return lm_fail(LM_FAILED, "no memory for the series");
    int status = open_files(s, directory, restart_step);
    if (status != LM_OK) {
        if (s->h5.status == LM_OK) /* the file must not get its final name */
            s->h5.status = status;
        lm_h5_finish(&s->h5, 0);
        if (s->csv)
            fclose(s->csv);
        free_series(s);
        return status;
    }
    *out = s;
    return LM_OK;
}

int lm_series_append(struct lm_series *s, const double *row)
{
    if (s->status != LM_OK)
        return lm_fail(s->status, "%s: not written after an earlier error", s->csv_path);
    int first = s->written == 0 && s->pending == 0;
    s->status = write_line(s, row);
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
