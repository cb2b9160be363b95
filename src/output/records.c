#include "output/records.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY = 16 << 20 /* bytes of the rows that wait */, MOST_ROWS = 1 << 14 };

struct lm_records {
    const struct lm_config *config;
    struct lm_records_kind kind;
    int rows, most;
    int64_t *step;  /* [most] */
    double *values; /* [most][columns][width] */
};

static size_t row_size(const struct lm_records *r)
{
    return (size_t)r->kind.columns * r->kind.width;
}

static double *row_of(const struct lm_records *r, int row)
{
    return r->values + (size_t)row * row_size(r);
}

static int most_rows(int columns, size_t width)
{
    const size_t rows = MEMORY / ((size_t)columns * width * sizeof(double) + 1);
    return rows < 1 ? 1 : rows > MOST_ROWS ? MOST_ROWS : (int)rows;
}

double lm_records_memory(int columns, size_t width)
{
    return (double)most_rows(columns, width) * (8.0 + 8.0 * columns * (double)width);
}

int lm_records_new(const struct lm_config *config, const struct lm_records_kind *kind, struct lm_records **out)
{
    struct lm_records *r = *out = calloc(1, sizeof *r);
    if (!r)
        return lm_fail(LM_FAILED, "not enough memory for an output");
    r->config = config;
    r->kind = *kind;
    r->most = most_rows(kind->columns, kind->width);
    r->step = malloc((size_t)r->most * sizeof *r->step);
    r->values = malloc((size_t)r->most * row_size(r) * sizeof *r->values + 1);
    if (r->step && r->values)
        return LM_OK;
    lm_records_free(out);
    return lm_fail(LM_FAILED, "not enough memory for %s of %s", kind->folder, kind->name);
}

void lm_records_free(struct lm_records **r)
{
    if (!*r)
        return;
    free((*r)->step);
    free((*r)->values);
    free(*r);
    *r = NULL;
}

/* ---- writing ---- */

/* A column is gathered from the rows. */
static void write_column(struct lm_h5 *h, const struct lm_records *r, int column)
{
    const struct lm_records_column *c = &r->kind.column[column];
    const size_t width = r->kind.width;
    const hsize_t dims[2] = {(hsize_t)r->rows, width};
    double *values = malloc((size_t)r->rows * width * sizeof *values + 1);
    if (!values)
        lm_h5_wrong(h, "not enough memory for %s", c->name);
    hid_t data = lm_h5_make_dataset(h, h->file, c->name, H5T_NATIVE_DOUBLE, 2, dims, r->config->output.compress);
    for (int row = 0; values && row < r->rows; row++)
        memcpy(values + (size_t)row * width, row_of(r, row) + (size_t)column * width, width * sizeof *values);
    if (h->status == LM_OK && H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        lm_h5_error(h, "cannot write %s", c->name);
    lm_h5_put_text(h, data, "units", c->units);
    lm_h5_end(data);
    free(values);
}

static void write_all(struct lm_h5 *h, const struct lm_records *r)
{
    const hsize_t rows = (hsize_t)r->rows;
    r->kind.describe(h, r->kind.context);
    lm_h5_put_text(h, h->file, "software", "larmor " LM_VERSION);
    lm_h5_put_text(h, h->file, "name", r->kind.name);
    lm_h5_put_whole(h, h->file, "identity", (int64_t)r->kind.identity);
    lm_h5_put_real(h, h->file, "dt", r->config->run.dt);
    lm_h5_put_text(h, h->file, "time_units", "1/Omega_ci");
    hid_t data = lm_h5_make_dataset(h, h->file, "step", H5T_NATIVE_INT64, 1, &rows, 0);
    lm_h5_write_rows(h, data, H5T_NATIVE_INT64, 0, rows, r->step);
    lm_h5_end(data);
    for (int k = 0; k < r->kind.columns; k++)
        write_column(h, r, k);
}

int lm_records_flush(struct lm_records *r)
{
    char folder[LM_MAX_PATH], path[LM_MAX_PATH];
    struct lm_h5 h;
    if (r->rows == 0)
        return LM_OK;
    int status = lm_path(folder, "%s/%s", r->config->output.directory, r->kind.folder);
    if (!status)
        status = lm_path(path, "%s/%s_%08" PRId64 ".h5", folder, r->kind.name, r->step[r->rows - 1]);
    if (!status)
        status = lm_h5_directory(folder);
    if (!status)
        status = lm_h5_create(&h, path);
    if (status)
        return status;
    write_all(&h, r);
    status = lm_h5_finish(&h, 0);
    r->rows = status ? r->rows : 0;
    return status;
}

int lm_records_add(struct lm_records *r, int64_t step, double **row)
{
    const int status = r->rows == r->most ? lm_records_flush(r) : LM_OK;
    if (status)
        return status;
    r->step[r->rows] = step;
    *row = row_of(r, r->rows++);
    return LM_OK;
}

/* ---- going on ---- */

/* The step of a file NAME_DIGITS.h5, or -1. */
static int64_t step_of(const struct lm_records *r, const char *file)
{
    const size_t n = strlen(r->kind.name);
    if (strncmp(file, r->kind.name, n) || file[n] != '_')
        return -1;
    const size_t digits = strspn(file + n + 1, "0123456789");
    return digits < 8 || digits > 18 || strcmp(file + n + 1 + digits, ".h5") ? -1 : strtoll(file + n + 1, NULL, 10);
}

/* The rows of a file: their steps, which the caller frees, and how many there are. */
static int64_t *read_steps(struct lm_h5 *h, uint64_t *rows)
{
    *rows = lm_h5_length(h, h->file, "step");
    int64_t *steps = malloc((*rows + 1) * sizeof *steps);
    hid_t data = lm_h5_dataset(h, h->file, "step", H5T_NATIVE_INT64, 1, (hsize_t[]){*rows});
    if (!steps)
        lm_h5_wrong(h, "not enough memory");
    lm_h5_read_rows(h, data, H5T_NATIVE_INT64, 0, *rows, steps);
    lm_h5_end(data);
    return steps;
}

static void read_column(struct lm_h5 *h, struct lm_records *r, int column, uint64_t rows, double *work)
{
    const size_t width = r->kind.width;
    hid_t data = lm_h5_dataset(h, h->file, r->kind.column[column].name, H5T_NATIVE_DOUBLE, 2, (hsize_t[]){rows, width});
    if (h->status == LM_OK && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, work) < 0)
        lm_h5_error(h, "cannot read %s", r->kind.column[column].name);
    for (int row = 0; h->status == LM_OK && row < r->rows; row++)
        memcpy(row_of(r, row) + (size_t)column * width, work + (size_t)row * width, width * sizeof *work);
    lm_h5_end(data);
}

/* Takes back the rows of a file up to a step. */
static void take_back(struct lm_h5 *h, struct lm_records *r, int64_t step)
{
    uint64_t rows;
    int64_t *steps = read_steps(h, &rows);
    double *work = malloc((rows * r->kind.width + 1) * sizeof *work);
    if (!work)
        lm_h5_wrong(h, "not enough memory");
    for (uint64_t k = 0; h->status == LM_OK && k < rows && steps[k] <= step && r->rows < r->most; k++)
        r->step[r->rows++] = steps[k];
    for (int k = 0; k < r->kind.columns && r->rows > 0; k++)
        read_column(h, r, k, rows, work);
    free(steps);
    free(work);
}

/* A file whose last row is later than `step`. */
static int cut(struct lm_records *r, const char *path, int64_t step)
{
    struct lm_h5 h;
    if (lm_h5_open(&h, path) == LM_OK)
        take_back(&h, r, step);
    int status = lm_h5_finish(&h, 0);
    if (!status)
        status = lm_records_flush(r);
    r->rows = 0;
    if (!status && unlink(path) && errno != ENOENT)
        status = lm_fail(LM_FAILED, "%s: cannot be removed: %s", path, strerror(errno));
    return status;
}

/* Whether the rows of a file are of the same points or ions. Before these are known, all rows must be later. */
static int check_file(const struct lm_records *r, const char *path, int64_t step)
{
    struct lm_h5 h;
    uint64_t rows = 0;
    if (lm_h5_open(&h, path))
        return lm_h5_finish(&h, 0);
    int64_t *steps = read_steps(&h, &rows);
    const uint64_t identity = (uint64_t)lm_h5_get_whole(&h, h.file, "identity");
    const int is_same = r->kind.width > 0 && identity == r->kind.identity;
    if (h.status == LM_OK && !is_same && rows > 0 && (r->kind.width > 0 || steps[0] <= step))
        lm_h5_wrong(&h, "has samples of other points or ions");
    for (int k = 0; k < r->kind.columns && is_same; k++)
        lm_h5_end(
            lm_h5_dataset(&h, h.file, r->kind.column[k].name, H5T_NATIVE_DOUBLE, 2, (hsize_t[]){rows, r->kind.width}));
    free(steps);
    return lm_h5_finish(&h, 0);
}

/* Calls `visit` for each file of this name: its path, and the step of its last row. */
typedef int visitor(struct lm_records *r, const char *path, int64_t last, int64_t step);
static int visit_files(struct lm_records *r, int64_t step, visitor *visit)
{
    char folder[LM_MAX_PATH], path[LM_MAX_PATH];
    int status = lm_path(folder, "%s/%s", r->config->output.directory, r->kind.folder);
    DIR *d = status ? NULL : opendir(folder);
    for (struct dirent *e; d && !status && (e = readdir(d));) {
        const int64_t last = step_of(r, e->d_name);
        if (last < 0)
            continue;
        status = lm_path(path, "%s/%s", folder, e->d_name);
        if (!status)
            status = visit(r, path, last, step);
    }
    if (d)
        closedir(d);
    return status;
}

static int visit_to_check(struct lm_records *r, const char *path, int64_t last, int64_t step)
{
    (void)last;
    const int status = check_file(r, path, step);
    return status ? lm_fail_context(
                        status,
                        "[%s.%s] cannot go on with its samples: give the section another name, or move the file away",
                        strcmp(r->kind.folder, "tracks") ? "probe" : "track", r->kind.name)
                  : LM_OK;
}

static int visit_to_cut(struct lm_records *r, const char *path, int64_t last, int64_t step)
{
    return last > step ? cut(r, path, step) : LM_OK;
}

int lm_records_check(struct lm_records *r, int64_t step)
{
    return visit_files(r, step, visit_to_check);
}

int lm_records_go_on(struct lm_records *r, int64_t step)
{
    return visit_files(r, step, visit_to_cut);
}
