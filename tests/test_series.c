#include "larmor/series.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "scratch.h"
#include "suite.h"

enum { COLUMNS = 4 };

static const struct lm_series_column columns[COLUMNS] = {{"step", "", "number of the step", 1},
                                                         {"time", "1/Omega_ci", "time", 0},
                                                         {"energy", "B0^2/mu0", "total energy", 0},
                                                         {"count_protons", "", "particles", 1}};

static void row_at(int64_t step, double *row)
{
    row[0] = (double)step;
    row[1] = 0.1 * (double)step;
    row[2] = 1.0 / (3.0 + (double)step);
    row[3] = (double)(1000 - step);
}

static void append(struct lm_series *s, int64_t from, int64_t to)
{
    double row[COLUMNS];
    for (int64_t step = from; step <= to; step++) {
        row_at(step, row);
        ck_assert_msg(lm_series_append(s, row) == LM_OK, "%s", lm_error());
    }
}

static struct lm_series *open_series(const char *name, int64_t restart_step)
{
    struct lm_series *s;
    ck_assert_msg(lm_series_open(scratch_path(name), COLUMNS, columns, restart_step, &s) == LM_OK, "%s", lm_error());
    return s;
}

static void write_series(const char *name, int64_t from, int64_t to)
{
    struct lm_series *s = open_series(name, -1);
    append(s, from, to);
    ck_assert_int_eq(lm_series_last_step(s), to);
    ck_assert_int_eq(lm_series_close(&s), LM_OK);
    ck_assert_ptr_null(s);
}

/* Values of one column of series.h5, or the number -1 when it cannot be read. */
static int read_column(const char *path, const char *name, int most, double *out)
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
static void assert_h5(const char *path, int64_t from, int64_t to)
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
static void assert_csv(const char *path, int64_t from, int64_t to)
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

static void assert_both(const char *name, int64_t from, int64_t to)
{
    char path[LM_MAX_PATH];
    snprintf(path, sizeof path, "%s/%s/series.csv", scratch, name);
    assert_csv(path, from, to);
    snprintf(path, sizeof path, "%s/%s/series.h5", scratch, name);
    assert_h5(path, from, to);
    snprintf(path, sizeof path, "%s/%s/series.h5.part", scratch, name);
    ck_assert_int_ne(access(path, F_OK), 0);
}

static void write_text(const char *path, const char *mode, const char *text)
{
    FILE *out = fopen(path, mode);
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

START_TEST(both_files_hold_the_rows)
{
    write_series("deep/run", 0, 2500); /* more than one buffer of rows; the directories do not exist yet */
    assert_both("deep/run", 0, 2500);
}
END_TEST

START_TEST(columns_say_what_they_are)
{
    write_series("run", 0, 1);
    hid_t file = H5Fopen(scratch_path("run/series.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t data = H5Dopen2(file, "time", H5P_DEFAULT), units = H5Aopen(data, "units", H5P_DEFAULT);
    hid_t type = H5Aget_type(units), whole = H5Dopen2(file, "count_protons", H5P_DEFAULT);
    char text[64] = "";
    ck_assert_int_eq(H5Tis_variable_str(type), 0);
    H5Aread(units, type, text);
    ck_assert_str_eq(text, "1/Omega_ci");
    ck_assert_int_gt(H5Aexists(data, "description"), 0);
    hid_t stored = H5Dget_type(whole), list = H5Dget_create_plist(data);
    hsize_t chunk = 0;
    ck_assert(H5Tequal(stored, H5T_NATIVE_INT64));
    ck_assert_int_eq(H5Pget_chunk(list, 1, &chunk), 1);
    ck_assert_uint_eq(chunk, 4096);
    H5Fclose(file);
}
END_TEST

START_TEST(restart_cuts_the_rows_after_it)
{
    write_series("run", 0, 2000);
    struct lm_series *s = open_series("run", 1500);
    ck_assert_int_eq(lm_series_last_step(s), 1500);
    append(s, 1501, 1800);
    lm_series_close(&s);
    assert_both("run", 0, 1800);
}
END_TEST

START_TEST(restart_at_0_and_beyond_the_end)
{
    write_series("run", 0, 20);
    struct lm_series *s = open_series("run", 1000);
    ck_assert_int_eq(lm_series_last_step(s), 20);
    lm_series_close(&s);
    assert_both("run", 0, 20);
    s = open_series("run", 0);
    lm_series_close(&s);
    assert_both("run", 0, 0);
    s = open_series("run", -1); /* no restart: begins anew */
    lm_series_close(&s);
    assert_both("run", 1, 0);
}
END_TEST

START_TEST(restart_repairs_what_a_kill_left)
{
    write_series("run", 0, 40);
    write_text(scratch_path("run/series.csv"), "a", "41,4.1000000"); /* a torn row */
    write_text(scratch_path("run/series.h5"), "w", "torn as well");
    struct lm_series *s = open_series("run", 50);
    append(s, 41, 45);
    lm_series_close(&s);
    assert_both("run", 0, 45);
}
END_TEST

START_TEST(restart_makes_the_absent_file)
{
    write_series("run", 0, 1200);
    unlink(scratch_path("run/series.csv"));
    struct lm_series *s = open_series("run", 1100);
    append(s, 1101, 1110);
    lm_series_close(&s);
    assert_both("run", 0, 1110);
    unlink(scratch_path("run/series.h5"));
    s = open_series("run", 1105);
    lm_series_close(&s);
    assert_both("run", 0, 1105);
    s = open_series("elsewhere", 1105);
    append(s, 1106, 1107);
    lm_series_close(&s);
    assert_both("elsewhere", 1106, 1107);
}
END_TEST

/* Restarting with `count` columns `other` must be refused and leave the files as they are. */
static void assert_refused(int count, const struct lm_series_column *other, const char *message)
{
    struct lm_series *s;
    ck_assert_int_eq(lm_series_open(scratch_path("run"), count, other, 5, &s), LM_BAD_INPUT);
    ck_assert_ptr_null(s);
    assert_error_has(message);
}

START_TEST(restart_with_other_columns_is_refused)
{
    for (int with_csv = 1; with_csv >= 0; with_csv--) {
        struct lm_series_column other[COLUMNS + 1];
        memcpy(other, columns, sizeof columns);
        memcpy(&other[COLUMNS], &columns[2], sizeof columns[2]);
        strcpy(other[COLUMNS].name, "more");
        write_series("run", 0, 10);
        if (!with_csv)
            unlink(scratch_path("run/series.csv"));
        assert_refused(COLUMNS + 1, other, with_csv ? "more[B0^2/mu0]" : "has 4 columns, this run writes 5");
        assert_refused(COLUMNS - 1, columns, with_csv ? "count_protons" : "has 4 columns, this run writes 3");
        strcpy(other[2].name, "energies");
        assert_refused(COLUMNS, other, "energies");
        if (with_csv) {
            strcpy(other[2].name, "energy");
            strcpy(other[2].unit, "J");
            assert_refused(COLUMNS, other, "energy[J]");
            assert_both("run", 0, 10);
        }
        assert_h5(scratch_path("run/series.h5"), 0, 10);
    }
}
END_TEST

START_TEST(a_spoilt_row_is_refused)
{
    const char *rows[] = {"nonsense\n", "2,0.2,0.2\n", "2,0.2,0.2,998,5\n", "2,0.2,,998\n", "\n"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lm_series *s;
        write_series("run", 0, 1);
        write_text(scratch_path("run/series.csv"), "a", rows[i]);
        ck_assert_int_eq(lm_series_open(scratch_path("run"), COLUMNS, columns, 5, &s), LM_BAD_INPUT);
        assert_error_has("series.csv:4:");
    }
}
END_TEST

START_TEST(odd_numbers_survive)
{
    double row[COLUMNS] = {7.0, INFINITY, NAN, 9007199254740992.0}, value[2];
    struct lm_series *s = open_series("run", -1);
    ck_assert_int_eq(lm_series_append(s, row), LM_OK);
    lm_series_close(&s);
    s = open_series("run", 7);
    lm_series_close(&s);
    ck_assert_int_eq(read_column(scratch_path("run/series.h5"), "time", 2, value), 1);
    ck_assert(value[0] == INFINITY);
    read_column(scratch_path("run/series.h5"), "energy", 2, value);
    ck_assert(isnan(value[0]));
    read_column(scratch_path("run/series.h5"), "count_protons", 2, value);
    ck_assert(value[0] == 9007199254740992.0);
}
END_TEST

/* A child writes the first row, says so and waits; the parent reads in that moment and after a kill. */
START_TEST(readable_while_running_and_after_a_kill)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct lm_series *s = open_series("run", -1);
        append(s, 0, 0);
        append(s, 1, 5); /* these wait for the next flush */
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    assert_h5(scratch_path("run/series.h5"), 0, 0);
    assert_csv(scratch_path("run/series.csv"), 0, 5);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_h5(scratch_path("run/series.h5"), 0, 0);
    struct lm_series *s = open_series("run", 4); /* the rows that only the CSV has come back */
    lm_series_close(&s);
    assert_both("run", 0, 4);
}
END_TEST

START_TEST(rows_are_flushed_after_seconds)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct lm_series *s = open_series("run", -1);
        append(s, 0, 1);
        usleep(2100000);
        append(s, 2, 2);
        _exit(write(ready[1], "x", 1) == 1 ? 0 : 1); /* no close */
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    waitpid(child, NULL, 0);
    assert_h5(scratch_path("run/series.h5"), 0, 2);
}
END_TEST

START_TEST(a_full_disk_is_told)
{
    struct lm_series *s;
    ck_assert_int_eq(mkdir(scratch_path("run"), 0777), 0);
    ck_assert_int_eq(symlink("/dev/full", scratch_path("run/series.csv")), 0);
    ck_assert_int_eq(lm_series_open(scratch_path("run"), COLUMNS, columns, -1, &s), LM_FAILED);
    assert_error_has("series.csv: cannot write: No space left on device");
    ck_assert_int_ne(access(scratch_path("run/series.h5.part"), F_OK), 0);
    unlink(scratch_path("run/series.csv"));
    ck_assert_int_eq(symlink("/dev/full", scratch_path("run/series.h5.part")), 0);
    ck_assert_int_eq(lm_series_open(scratch_path("run"), COLUMNS, columns, -1, &s), LM_FAILED);
    assert_error_has("series.h5: cannot");
}
END_TEST

static void limit_file_size(rlim_t most)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

enum { WHOLE, FAILED_OPEN, FAILED_H5, FAILED_CSV, WRONG };

/* Writes a series with files of at most `most` bytes and tells where it failed. */
static int write_limited(rlim_t most)
{
    struct lm_series *s;
    double row[COLUMNS];
    limit_file_size(most);
    int status = lm_series_open(scratch_path("run"), COLUMNS, columns, -1, &s), opened = status == LM_OK;
    for (int64_t step = 0; status == LM_OK && step < 3500; step++) {
        row_at(step, row);
        status = lm_series_append(s, row);
    }
    int closed = opened ? lm_series_close(&s) : status;
    if (status == LM_OK && closed == LM_OK)
        return WHOLE;
    if (closed != LM_FAILED || !strstr(lm_error(), "File too large"))
        return WRONG;
    if (!opened)
        return FAILED_OPEN;
    return strstr(lm_error(), "series.csv") ? FAILED_CSV : FAILED_H5;
}

/* The limit hits at different places: while creating, in the CSV, in the HDF5 file. Each try is a
 * process of its own, since what HDF5 holds of a broken file stays allocated. */
START_TEST(a_write_error_is_told_wherever_it_comes)
{
    int seen[WRONG + 1] = {0};
    for (rlim_t most = 0; most < 300000; most += 4000) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            scratch_exit(write_limited(most));
        waitpid(child, &status, 0);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) < WRONG, "limit %ld: %x", (long)most, status);
        seen[WEXITSTATUS(status)]++;
        if (WEXITSTATUS(status) == WHOLE)
            assert_both("run", 0, 3499);
    }
    for (int kind = WHOLE; kind < WRONG; kind++)
        ck_assert_msg(seen[kind] > 0, "no case of kind %d", kind);
}
END_TEST

START_TEST(a_directory_that_cannot_be_is_told)
{
    struct lm_series *s;
    write_text(scratch_path("file"), "w", "x");
    ck_assert_int_eq(lm_series_open(scratch_path("file/run"), COLUMNS, columns, -1, &s), LM_FAILED);
    ck_assert_int_eq(lm_series_open(scratch_path("file"), COLUMNS, columns, -1, &s), LM_FAILED);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(lm_series_close(&s), LM_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("series");
    TCase *rows = tcase_create("series");
    tcase_set_timeout(rows, 60);
    tcase_add_checked_fixture(rows, scratch_make, scratch_remove);
    tcase_add_test(rows, both_files_hold_the_rows);
    tcase_add_test(rows, columns_say_what_they_are);
    tcase_add_test(rows, restart_cuts_the_rows_after_it);
    tcase_add_test(rows, restart_at_0_and_beyond_the_end);
    tcase_add_test(rows, restart_repairs_what_a_kill_left);
    tcase_add_test(rows, restart_makes_the_absent_file);
    tcase_add_test(rows, restart_with_other_columns_is_refused);
    tcase_add_test(rows, a_spoilt_row_is_refused);
    tcase_add_test(rows, odd_numbers_survive);
    tcase_add_test(rows, readable_while_running_and_after_a_kill);
    tcase_add_test(rows, rows_are_flushed_after_seconds);
    tcase_add_test(rows, a_full_disk_is_told);
    tcase_add_test(rows, a_write_error_is_told_wherever_it_comes);
    tcase_add_test(rows, a_directory_that_cannot_be_is_told);
    suite_add_tcase(suite, rows);
    return suite_run(suite);
}
