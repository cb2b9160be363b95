/* A small series, and what its two files must hold. */
#ifndef LARMOR_TESTS_SERIES_FILES_H
#define LARMOR_TESTS_SERIES_FILES_H

#include <hdf5.h>

#include "inside.h"
#include "output/series.h"
#include "scratch.h"

enum { COLUMNS = 4 };

static const struct lm_series_column columns[COLUMNS] = {{"step", "", "number of the step", 1},
                                                         {"time", "1/Omega_ci", "time", 0},
                                                         {"energy", "B0^2/mu0", "total energy", 0},
                                                         {"count_protons", "", "particles", 1}};

static inline void row_at(int64_t step, double *row)
{
    row[0] = (double)step;
    row[1] = 0.1 * (double)step;
    row[2] = 1.0 / (3.0 + (double)step);
    row[3] = (double)(1000 - step);
}

static inline void append(struct lm_series *s, int64_t from, int64_t to)
{
    double row[COLUMNS];
    for (int64_t step = from; step <= to; step++) {
        row_at(step, row);
        ck_assert_msg(lm_series_append(s, row) == LM_OK, "%s", lm_error());
    }
}

/* What the last opening said of old files. */
static char notes[4096];
static int64_t every = 1; /* steps between rows, as the checkpoint has them */

static inline int try_open(const char *name, int count, const struct lm_series_column *with, int64_t restart_step,
                           struct lm_series **out)
{
    struct lm_series_restart restart = {.step = restart_step, .every = every, .expected = 1};
    memset(notes, 0, sizeof notes);
    restart.notes = fmemopen(notes, sizeof notes, "w");
    int status = lm_series_open(scratch_path(name), count, with, restart_step < 0 ? NULL : &restart, out);
    fclose(restart.notes);
    return status;
}

static inline struct lm_series *open_series(const char *name, int64_t restart_step)
{
    struct lm_series *s;
    ck_assert_msg(try_open(name, COLUMNS, columns, restart_step, &s) == LM_OK, "%s", lm_error());
    return s;
}

/* Opens and closes a series, and it must have said just this; `run` stands for the path. */
static inline void goes_on(int64_t restart_step, const char *said)
{
    char expected[4096] = "", *at = expected;
    struct lm_series *s = open_series("run", restart_step);
    ck_assert_int_eq(lm_series_close(&s), LM_OK);
    for (const char *line = said; *line; line = strchr(line, '\n') + 1)
        at += snprintf(at, sizeof expected - (size_t)(at - expected), "%s/run/%.*s\n", scratch,
                       (int)strcspn(line, "\n"), line);
    ck_assert_str_eq(notes, expected);
}

static inline void write_series(const char *name, int64_t from, int64_t to)
{
    struct lm_series *s = open_series(name, -1);
    append(s, from, to);
    ck_assert_int_eq(lm_series_last_step(s), to);
    ck_assert_int_eq(lm_series_close(&s), LM_OK);
    ck_assert_ptr_null(s);
}

/* Values of one column of series.h5, or the number -1 when it cannot be read. */
static inline int read_column(const char *path, const char *name, int most, double *out)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return -1;
    hid_t data = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(data);
    hsize_t length = 0;
    H5Sget_simple_extent_dims(space, &length, NULL);
    int ok = (int)length <= most && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0;
    H5Sclose(space);
    H5Dclose(data);
    H5Fclose(file);
    return ok ? (int)length : -1;
}

/* series.h5 must hold exactly the rows from..to, bit for bit. */
static inline void assert_h5(const char *path, int64_t from, int64_t to)
{
    double values[4096], row[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        int n = read_column(path, columns[c].name, 4096, values);
        ck_assert_int_eq(n, to - from + 1);
        for (int r = 0; r < n; r++) {
            row_at(from + r, row);
            ck_assert_msg(values[r] == row[c], "%s row %d: %.17g", columns[c].name, r, values[r]);
        }
    }
}

/* series.csv must hold exactly the header and the rows from..to. */
static inline void assert_csv(const char *path, int64_t from, int64_t to)
{
    char line[512];
    double row[COLUMNS], read[COLUMNS];
    FILE *in = fopen(path, "r");
    ck_assert_ptr_nonnull(in);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, in));
    ck_assert_str_eq(line, "step,time[1/Omega_ci],energy[B0^2/mu0],count_protons\n");
    for (int64_t step = from; step <= to; step++) {
        long long whole[2];
        int end = 0;
        ck_assert_ptr_nonnull(fgets(line, sizeof line, in));
        ck_assert_int_eq(sscanf(line, "%lld,%lf,%lf,%lld\n%n", &whole[0], &read[1], &read[2], &whole[1], &end), 4);
        ck_assert_int_eq(end, (int)strlen(line));
        row_at(step, row);
        ck_assert_int_eq(whole[0], step);
        ck_assert(read[1] == row[1] && read[2] == row[2]);
        ck_assert_int_eq(whole[1], (long long)row[3]);
    }
    ck_assert_ptr_null(fgets(line, sizeof line, in));
    fclose(in);
}

static inline void assert_both(const char *name, int64_t from, int64_t to)
{
    char path[LM_MAX_PATH];
    snprintf(path, sizeof path, "%s/%s/series.csv", scratch, name);
    assert_csv(path, from, to);
    snprintf(path, sizeof path, "%s/%s/series.h5", scratch, name);
    assert_h5(path, from, to);
    snprintf(path, sizeof path, "%s/%s/series.h5.part", scratch, name);
    ck_assert_int_ne(access(path, F_OK), 0);
}

static inline void write_text(const char *path, const char *mode, const char *text)
{
    FILE *out = fopen(path, mode);
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

#endif
