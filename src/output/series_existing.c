#include "output/series_existing.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/h5.h"
#include "base/input.h"
#include "base/try.h"

enum { BLOCK = 1024 /* rows read of series.h5 at a time */ };

/* ---- rows ---- */

void lm_series_free_rows(struct lm_series_rows *rows)
{
    free(rows->values);
    *rows = (struct lm_series_rows){.count = 0};
}

static int add_row(struct lm_series_rows *rows, int columns, const double *row)
{
    if (rows->count == rows->room) {
        uint64_t room = rows->room ? 2 * rows->room : 256;
        double *values = realloc(rows->values, room * (size_t)columns * sizeof *values);
        if (!values)
            return lm_fail(LM_FAILED, "not enough memory for the rows of the series");
        rows->values = values;
        rows->room = room;
    }
    memcpy(rows->values + rows->count++ * (size_t)columns, row, (size_t)columns * sizeof *row);
    return LM_OK;
}

static const double *row_at(const struct lm_series_rows *rows, int columns, uint64_t k)
{
    return rows->values + k * (uint64_t)columns;
}

struct row_key {
    double step;
    uint64_t index;
};

static int by_step(const void *a, const void *b)
{
    const struct row_key *x = a, *y = b;
    return x->step != y->step ? (x->step > y->step) - (x->step < y->step)
                              : (x->index > y->index) - (x->index < y->index);
}

/* Sorts the rows by their steps. Of rows with the same step the first one is kept, and the others are reported. */
static int order(struct lm_series_rows *rows, int columns, const char *path, FILE *notes)
{
    struct lm_series_rows sorted = {.count = 0};
    struct row_key *keys = malloc((rows->count + 1) * sizeof *keys);
    double first = INFINITY, last = 0;
    uint64_t repeated = 0;
    if (!keys)
        return lm_fail(LM_FAILED, "not enough memory for the rows of the series");
    for (uint64_t k = 0; k < rows->count; k++)
        keys[k] = (struct row_key){row_at(rows, columns, k)[0], k};
    qsort(keys, rows->count, sizeof *keys, by_step);
    int status = LM_OK;
    for (uint64_t k = 0; k < rows->count && !status; k++) {
        if (k > 0 && keys[k].step == keys[k - 1].step) {
            repeated++;
            first = fmin(first, keys[k].step);
            last = keys[k].step;
            continue;
        }
        status = add_row(&sorted, columns, row_at(rows, columns, keys[k].index));
    }
    free(keys);
    lm_series_free_rows(rows);
    *rows = sorted;
    if (repeated > 0)
        fprintf(notes, "%s: repeats %" PRIu64 " rows of steps %.0f to %.0f: the first of each is kept\n", path,
                repeated, first, last);
    return status;
}

/* ---- series.csv ---- */

void lm_series_title(const struct lm_series_column *column, char out[LM_SERIES_TITLE])
{
    snprintf(out, LM_SERIES_TITLE, column->unit[0] ? "%s[%s]" : "%s", column->name, column->unit);
}

static int other_column(const char *path, int c, const char *there, const char *here)
{
    return lm_fail(LM_BAD_INPUT,
                   "%s: column %d is '%s', this run writes '%s'; restart with the same settings or into another "
                   "output directory",
                   path, c + 1, there, here);
}

static int check_header(const struct lm_series_files *p, char *line)
{
    char title[LM_SERIES_TITLE];
    line[strcspn(line, "\r\n")] = 0;
    char *rest = line;
    for (int c = 0; c < p->count; c++) {
        lm_series_title(&p->columns[c], title);
        char *there = strsep(&rest, ",");
        if (!there || strcmp(there, title) != 0)
            return other_column(p->csv, c, there ? there : "(none)", title);
    }
    return rest ? other_column(p->csv, p->count, rest, "(none)") : LM_OK;
}

/* Reads a row from a complete line. 0: the line is not a row. */
static int parse_line(int count, const char *line, double *row)
{
    for (int c = 0; c < count; c++) {
        char *end;
        row[c] = strtod(line, &end);
        if (end == line || *end != (c + 1 < count ? ',' : '\n'))
            return 0;
        line = end + 1;
    }
    return isfinite(row[0]);
}

/* A last line without its end is what a kill has left. Wrong lines after the step of the restart do not matter. */
static int read_lines(const struct lm_series_files *p, FILE *in, int64_t step, double *row, struct lm_series_rows *out)
{
    char *line = NULL;
    size_t size = 0;
    double latest = -1;
    int status = LM_OK;
    for (int64_t number = 2; !status && getline(&line, &size, in) > 0 && strchr(line, '\n'); number++) {
        if (!parse_line(p->count, line, row)) {
            if (latest <= (double)step)
                status = lm_fail(LM_BAD_INPUT,
                                 "%s:%" PRId64 ": is not a row of %d numbers; repair the file, or remove it: "
                                 "series.h5 then gives the rows that it has",
                                 p->csv, number, p->count);
            continue;
        }
        latest = row[0];
        if (latest <= (double)step)
            status = add_row(out, p->count, row);
    }
    free(line);
    return status;
}

/* *there = 1: the file has a complete header. */
static int read_stream(const struct lm_series_files *p, FILE *in, int64_t step, struct lm_series_rows *out, int *there)
{
    char *header = NULL;
    size_t size = 0;
    *there = getline(&header, &size, in) > 0 && strchr(header, '\n');
    int status = *there ? check_header(p, header) : LM_OK;
    free(header);
    double *row = malloc((size_t)p->count * sizeof *row);
    if (!status && !row)
        status = lm_fail(LM_FAILED, "not enough memory for the rows of the series");
    if (!status && *there)
        status = read_lines(p, in, step, row, out);
    free(row);
    return status;
}

static int read_csv(const struct lm_series_files *p, const struct lm_series_restart *restart,
                    struct lm_series_rows *out, int *there)
{
    struct stat info;
    FILE *in;
    *there = 0;
    if (stat(p->csv, &info) && errno == ENOENT)
        return LM_OK;
    LM_TRY(lm_input_open(p->csv, &in));
    const int status = read_stream(p, in, restart->step, out, there);
    fclose(in);
    LM_TRY(status);
    return order(out, p->count, p->csv, restart->notes);
}

/* ---- series.h5 ---- */

/* Opens the columns and returns the number of rows that all of them have. */
static hsize_t open_columns(const struct lm_series_files *p, struct lm_h5 *h, hid_t *data)
{
    hsize_t least = 0;
    const int columns = lm_h5_link_count(h, h->file);
    if (h->status == LM_OK && columns != p->count)
        lm_h5_wrong(h, "has %d columns, this run writes %d; restart with the same settings or into another directory",
                    columns, p->count);
    for (int c = 0; c < p->count; c++) {
        hid_t type = p->columns[c].whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
        hsize_t length = lm_h5_length(h, h->file, p->columns[c].name);
        data[c] = lm_h5_dataset(h, h->file, p->columns[c].name, type, 1, &length);
        least = c == 0 || length < least ? length : least;
    }
    return least;
}

static void read_block(const struct lm_series_files *p, struct lm_h5 *h, const hid_t *data, uint64_t first,
                       uint64_t count, int64_t step, double *block, struct lm_series_rows *out)
{
    double *row = block + (size_t)p->count * BLOCK;
    for (int c = 0; c < p->count; c++)
        lm_h5_read_rows(h, data[c], H5T_NATIVE_DOUBLE, first, count, block + (size_t)c * BLOCK);
    for (uint64_t r = 0; h->status == LM_OK && r < count; r++) {
        for (int c = 0; c < p->count; c++)
            row[c] = block[(uint64_t)c * BLOCK + r];
        if (row[0] <= (double)step)
            h->status = add_row(out, p->count, row);
    }
}

static void read_columns(const struct lm_series_files *p, struct lm_h5 *h, int64_t step, struct lm_series_rows *out)
{
    hid_t *data = malloc((size_t)p->count * sizeof *data);
    double *block = malloc((size_t)p->count * (BLOCK + 1) * sizeof *block);
    if (!data || !block) {
        h->status = lm_fail(LM_FAILED, "not enough memory for the rows of the series");
    } else {
        const uint64_t length = open_columns(p, h, data);
        for (uint64_t first = 0; h->status == LM_OK && first < length; first += BLOCK)
            read_block(p, h, data, first, length - first < BLOCK ? length - first : BLOCK, step, block, out);
        for (int c = 0; c < p->count; c++)
            lm_h5_end(data[c]);
    }
    free(data);
    free(block);
}

/* The program writes rows in the order of their steps, so another order means damage. */
static void check_order(struct lm_h5 *h, const struct lm_series_rows *rows, int columns)
{
    for (uint64_t k = 1; h->status == LM_OK && k < rows->count; k++)
        if (!(row_at(rows, columns, k)[0] > row_at(rows, columns, k - 1)[0]))
            lm_h5_wrong(h, "has step %.0f after step %.0f; the file is damaged", row_at(rows, columns, k)[0],
                        row_at(rows, columns, k - 1)[0]);
}

static int read_h5(const struct lm_series_files *p, const struct lm_series_restart *restart, struct lm_series_rows *out,
                   int *there)
{
    struct lm_h5 h;
    struct stat info;
    *there = stat(p->h5, &info) == 0;
    if (!*there)
        return LM_OK;
    if (lm_h5_open(&h, p->h5) == LM_OK)
        read_columns(p, &h, restart->step, out);
    check_order(&h, out, p->count);
    return lm_h5_finish(&h, 0);
}

/* ---- both ---- */

/* A set of rows: their number, and the first and the last step. */
struct gap {
    uint64_t count;
    double first, last;
};

static void widen(struct gap *g, double step)
{
    g->first = g->count++ ? g->first : step;
    g->last = step;
}

static void say_missing(const struct gap *g, const char *path, const char *other, FILE *notes)
{
    if (g->count > 0)
        fprintf(notes, "%s: misses %" PRIu64 " rows of steps %.0f to %.0f: they are taken from %s\n", path, g->count,
                g->first, g->last, other);
}

static int same_number(double a, double b)
{
    return a == b || (a != a && b != b);
}

/* The column in which two rows of a step differ, or -1. */
static int find_difference(const double *a, const double *b, int count)
{
    for (int c = 0; c < count; c++)
        if (!same_number(a[c], b[c]))
            return c;
    return -1;
}

struct merge {
    const struct lm_series_files *files;
    const struct lm_series_rows *csv, *h5;
    struct gap of_csv, of_h5, unlike; /* rows that series.csv misses, that series.h5 misses, that differ */
    int column;                       /* the first column in which the first different rows differ */
};

static void compare(struct merge *m, const double *a, const double *b)
{
    const int c = find_difference(a, b, m->files->count);
    if (c < 0)
        return;
    m->column = m->unlike.count ? m->column : c;
    widen(&m->unlike, a[0]);
}

static int merge_rows(struct merge *m, struct lm_series_rows *out)
{
    const int n = m->files->count;
    int status = LM_OK;
    for (uint64_t i = 0, j = 0; !status && (i < m->csv->count || j < m->h5->count);) {
        const double *a = i < m->csv->count ? row_at(m->csv, n, i) : NULL;
        const double *b = j < m->h5->count ? row_at(m->h5, n, j) : NULL;
        const int use_a = a && (!b || a[0] <= b[0]), use_b = b && (!a || b[0] <= a[0]);
        if (use_a && use_b)
            compare(m, a, b);
        else
            widen(use_a ? &m->of_h5 : &m->of_csv, use_a ? a[0] : b[0]);
        status = add_row(out, n, use_a ? a : b);
        i += (uint64_t)use_a;
        j += (uint64_t)use_b;
    }
    return status;
}

static void say_unlike(const struct merge *m, FILE *notes)
{
    if (m->unlike.count > 0)
        fprintf(notes,
                "%s: differs from series.csv in %" PRIu64
                " rows of steps %.0f to %.0f, first in the column %s: those of "
                "series.csv are taken, and the file is kept as series.h5.old\n",
                m->files->h5, m->unlike.count, m->unlike.first, m->unlike.last, m->files->columns[m->column].name);
}

/* Reports rows that neither file has, as far as the other rows show that: a distance between two rows that is larger
 * than those before and after it and than series_every, or missing rows before the step of the restart. */
static void say_gaps(const struct lm_series_rows *rows, int columns, const struct lm_series_restart *restart,
                     const char *path)
{
    const double every = (double)restart->every, due = every > 0 ? floor((double)restart->step / every) * every : 0;
    double before = 0;
    for (uint64_t k = 1; every > 0 && k < rows->count; k++) {
        const double at = row_at(rows, columns, k)[0], width = at - row_at(rows, columns, k - 1)[0];
        const double after = k + 1 < rows->count ? row_at(rows, columns, k + 1)[0] - at : 0;
        if (width > every && width > before && width > after)
            fprintf(restart->notes, "%s: has no rows between steps %.0f and %.0f, nor has series.h5\n", path,
                    at - width, at);
        before = width;
    }
    const double last = rows->count ? row_at(rows, columns, rows->count - 1)[0] : 0;
    if (every > 0 && rows->count > 0 && due > last)
        fprintf(restart->notes,
                "%s: has no rows after step %.0f, nor has series.h5; the restart is at step %" PRId64 "\n", path, last,
                restart->step);
}

static int merge_files(const struct lm_series_files *p, const struct lm_series_restart *restart,
                       const struct lm_series_rows *csv, const struct lm_series_rows *h5, struct lm_series_rows *out)
{
    struct merge m = {.files = p, .csv = csv, .h5 = h5};
    LM_TRY(merge_rows(&m, out));
    say_missing(&m.of_csv, p->csv, "series.h5", restart->notes);
    say_missing(&m.of_h5, p->h5, "series.csv", restart->notes);
    say_unlike(&m, restart->notes);
    out->keep_h5 = m.unlike.count > 0;
    return LM_OK;
}

/* Joins the rows of the files. `csv_is_there`, `h5_is_there`: the file exists and can be read. */
static int join(const struct lm_series_files *p, const struct lm_series_restart *restart, struct lm_series_rows *csv,
                struct lm_series_rows *h5, int csv_is_there, int h5_is_there, struct lm_series_rows *out)
{
    if (csv_is_there && h5_is_there)
        return merge_files(p, restart, csv, h5, out);
    if (!csv_is_there && !h5_is_there) {
        if (restart->expected)
            fprintf(restart->notes,
                    "%s: is missing, and so is series.h5: the series begins anew after step %" PRId64 "\n", p->csv,
                    restart->step);
        return LM_OK;
    }
    struct lm_series_rows *only = csv_is_there ? csv : h5;
    fprintf(restart->notes, "%s: %s: its %" PRIu64 " rows are taken from %s\n", csv_is_there ? p->h5 : p->csv,
            "is missing or empty", only->count, csv_is_there ? "series.csv" : "series.h5");
    *out = *only;
    *only = (struct lm_series_rows){.count = 0};
    return LM_OK;
}

int lm_series_read_old(const struct lm_series_files *p, const struct lm_series_restart *restart,
                       struct lm_series_rows *out)
{
    struct lm_series_rows csv = {.count = 0}, h5 = {.count = 0};
    int has_csv = 0, has_h5 = 0, keep = 0;
    *out = (struct lm_series_rows){.count = 0};
    int status = read_csv(p, restart, &csv, &has_csv);
    if (!status)
        status = read_h5(p, restart, &h5, &has_h5);
    if (status == LM_BAD_INPUT && has_csv && has_h5) { /* of series.h5; series.csv is good */
        fprintf(restart->notes, "%s: the rows are taken from series.csv, and the file is kept as series.h5.old\n",
                lm_error());
        lm_series_free_rows(&h5);
        *out = csv;
        csv = (struct lm_series_rows){.count = 0};
        keep = 1;
        status = LM_OK;
    } else if (status == LM_BAD_INPUT && has_h5) {
        char why[LM_MAX_MESSAGE / 2];
        snprintf(why, sizeof why, "%s", lm_error());
        lm_fail(status, "%s (without this file the series begins anew)", why);
    } else if (!status) {
        status = join(p, restart, &csv, &h5, has_csv, has_h5, out);
    }
    out->keep_h5 |= keep;
    if (!status)
        say_gaps(out, p->count, restart, p->csv);
    lm_series_free_rows(&csv);
    lm_series_free_rows(&h5);
    return status;
}
