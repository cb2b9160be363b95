/* A whole run with its files, and a restart from a checkpoint in its middle: both files have every row of the time
 * series once, and it is that of the reference. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../inside.h"
#include "compare_run.h"

static int is_due(const struct lm_config *c, int64_t step)
{
    return step % c->output.series_every == 0 || step == c->run.steps;
}

static int64_t next_due(const struct lm_config *c, int64_t step)
{
    while (step <= c->run.steps && !is_due(c, step))
        step++;
    return step;
}

/* Reads the values of a line, separated by commas; returns their number. */
static int read_values(char *line, double *row, int most)
{
    int count = 0;
    for (char *word = strtok(line, ","); word && count < most; word = strtok(NULL, ","))
        row[count++] = strtod(word, NULL);
    return count;
}

/* The value as a file stores it: all NaN are the same there. */
static void forget_nan(const double *want, double *row, int count)
{
    for (int c = 0; c < count; c++)
        if (isnan(row[c]) && isnan(want[c]))
            row[c] = want[c];
}

/* Compares the rows after the header, in order. Returns 1 when they differ from the trace. */
static int compare_lines(const struct compare_trace *t, const struct lm_config *c, FILE *f, struct compare_result *r)
{
    char *line = NULL;
    size_t size = 0;
    double row[LM_ROW_MAX + 1];
    int64_t due = 0;
    int differs = getline(&line, &size, f) < 0;
    while (!differs && getline(&line, &size, f) >= 0) {
        if (read_values(line, row, LM_ROW_MAX + 1) != t->column_count || due > c->run.steps || row[0] != (double)due) {
            differs = compare_differs(r, due, "series.csv: a row of step %g where that of %lld is due\n", row[0],
                                      (long long)due);
            break;
        }
        forget_nan(compare_row(t, due), row, t->column_count);
        differs = compare_rows(t, due, row, r);
        due = next_due(c, due + 1);
    }
    free(line);
    if (!differs && due <= c->run.steps)
        differs = compare_differs(r, due, "series.csv: the row of step %lld is missing\n", (long long)due);
    return differs;
}

static int compare_csv(const struct compare_trace *t, const struct lm_config *c, struct compare_result *r)
{
    char path[LM_MAX_PATH];
    FILE *f = lm_path(path, "%s/series.csv", c->output.directory) ? NULL : fopen(path, "r");
    if (!f)
        return compare_differs(r, -1, "series.csv cannot be read\n");
    const int differs = compare_lines(t, c, f, r);
    fclose(f);
    return differs;
}

/* Reads a column of series.h5; returns the number of values, or -1. */
static int64_t read_column(hid_t file, const char *name, double *values, int64_t most)
{
    const hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = data >= 0 ? H5Dget_space(data) : -1;
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (count >= 0 && count <= most && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        count = -1;
    H5Sclose(space);
    H5Dclose(data);
    return count;
}

static int compare_column(const struct compare_trace *t, const struct lm_config *c, int column, int64_t count,
                          double *values, struct compare_result *r)
{
    const char *name = t->columns[column].name;
    int64_t due = 0, k = 0;
    for (; due <= c->run.steps; due = next_due(c, due + 1), k++) {
        const double want = compare_row(t, due)[column];
        if (k < count)
            forget_nan(&want, &values[k], 1);
        if (k < count && column + 1 < t->column_count && values[k] != want && !isnan(want))
            return compare_differs(r, due, "series.h5: %s is %.17g, reference %.17g\n", name, values[k], want);
    }
    if (k != count)
        return compare_differs(r, -1, "series.h5: %s has %lld rows, not %lld\n", name, (long long)count, (long long)k);
    return 0;
}

static int compare_h5(const struct compare_trace *t, const struct lm_config *c, struct compare_result *r)
{
    char path[LM_MAX_PATH];
    const int64_t most = 2 * c->run.steps + 4;
    double *values = calloc((size_t)most, sizeof *values);
    const hid_t file =
        !values || lm_path(path, "%s/series.h5", c->output.directory) ? -1 : H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    int differs = file < 0 ? compare_differs(r, -1, "series.h5 cannot be read\n") : 0;
    for (int column = 0; column < t->column_count && !differs; column++) {
        const int64_t count = read_column(file, t->columns[column].name, values, most);
        differs = compare_column(t, c, column, count, values, r);
    }
    if (file >= 0)
        H5Fclose(file);
    free(values);
    return differs;
}

static int compare_last(const struct compare_trace *t, const struct lm_config *c, struct compare_result *r)
{
    char path[LM_MAX_PATH];
    uint64_t print = 0;
    if (lm_path(path, "%s/checkpoints/checkpoint_%08lld.h5", c->output.directory, (long long)c->run.steps) ||
        lm_checkpoint_fingerprint(path, &print))
        return compare_differs(r, c->run.steps, "the last checkpoint: %s\n", lm_error());
    return print == t->prints[c->run.steps]
               ? 0
               : compare_differs(r, c->run.steps, "the last checkpoint is another state\n");
}

static int run_once(const struct compare_trace *t, const struct lm_config *c, const char *restart,
                    struct compare_result *r)
{
    const struct lm_run_options options = {.restart = restart, .quiet = 1, .silent = 1};
    char why[64] = "the run";
    if (restart)
        snprintf(why, sizeof why, "the run from a checkpoint");
    const int status = lm_run(c, &options);
    if (status)
        return compare_differs(r, -1, "%s ends with %d: %s\n", why, status, lm_error());
    if (!compare_csv(t, c, r) && !compare_h5(t, c, r) && !compare_last(t, c, r))
        return 0;
    compare_says(r, "in %s\n", why);
    return 1;
}

int compare_series(const struct compare_trace *t, const struct compare_way *way, int64_t middle,
                   struct compare_result *r)
{
    struct lm_config *c = compare_config(t, &way->before);
    /* a run does not end with a state that is not finite */
    const int64_t steps = t->steps - ((t->stopped[0] && t->in_check) || !t->is_finite);
    char path[LM_MAX_PATH];
    int differs = 0;
    if (c && steps >= 2) {
        c->run.steps = steps;
        c->run.t_end = (double)steps * c->run.dt;
        c->output.series_every = c->output.series_every > 0 ? c->output.series_every : 1;
        c->output.checkpoint_every = middle > 0 && middle < steps ? middle : 1;
        c->output.keep = 1000;
        differs = lm_path(path, "%s/checkpoints/checkpoint_%08lld.h5", c->output.directory,
                          (long long)c->output.checkpoint_every) ||
                  run_once(t, c, NULL, r) || run_once(t, c, path, r);
    }
    free(c);
    return differs;
}
