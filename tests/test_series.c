/* The time series as it is written: both files hold the rows, also after a kill and on a full disk. */
#include "series_files.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "suite.h"

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

/* A child process writes the first row, reports it and waits. The parent reads the files in that moment and after it
 * has killed the child. */
START_TEST(readable_while_running_and_after_a_kill)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct lm_series *s = open_series("run", -1);
        append(s, 0, 0);
        append(s, 1, 5); /* these rows wait for the next flush */
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
    struct lm_series *s = open_series("run", 4); /* the rows that only the CSV file has are restored */
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
        _exit(write(ready[1], "x", 1) == 1 ? 0 : 1); /* the series is not closed */
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
    ck_assert_int_eq(lm_series_open(scratch_path("run"), COLUMNS, columns, NULL, &s), LM_FAILED);
    assert_error_has("series.csv: cannot write: No space left on device");
    ck_assert_int_ne(access(scratch_path("run/series.h5.part"), F_OK), 0);
}
END_TEST

/* A link in place of a file that is being written is replaced. The file that it leads to stays as it is. */
START_TEST(links_are_not_followed)
{
    struct lm_series *s;
    ck_assert_int_eq(mkdir(scratch_path("run"), 0777), 0);
    make_file("elsewhere", "untouched");
    ck_assert_int_eq(symlink(scratch_path("elsewhere"), scratch_path("run/series.h5.part")), 0);
    ck_assert_int_eq(lm_series_open(scratch_path("run"), COLUMNS, columns, NULL, &s), LM_OK);
    append(s, 0, 1);
    ck_assert_int_eq(lm_series_close(&s), LM_OK);
    assert_h5(scratch_path("run/series.h5"), 0, 1);
    FILE *f = fopen(scratch_path("elsewhere"), "r");
    char text[32] = "";
    ck_assert(f && fgets(text, sizeof text, f));
    fclose(f);
    ck_assert_str_eq(text, "untouched");
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

/* Writes a series with files of at most `most` bytes. Returns where it failed. */
static int write_limited(rlim_t most)
{
    struct lm_series *s;
    double row[COLUMNS];
    limit_file_size(most);
    int status = lm_series_open(scratch_path("run"), COLUMNS, columns, NULL, &s), opened = status == LM_OK;
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

/* The limit is met at different places: when the files are created, in the CSV file, in the HDF5 file. Each attempt
 * runs in a process of its own, as HDF5 keeps memory of a broken file. */
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
    ck_assert_int_eq(lm_series_open(scratch_path("file/run"), COLUMNS, columns, NULL, &s), LM_FAILED);
    ck_assert_int_eq(lm_series_open(scratch_path("file"), COLUMNS, columns, NULL, &s), LM_FAILED);
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
    tcase_add_test(rows, readable_while_running_and_after_a_kill);
    tcase_add_test(rows, rows_are_flushed_after_seconds);
    tcase_add_test(rows, a_full_disk_is_told);
    tcase_add_test(rows, links_are_not_followed);
    tcase_add_test(rows, a_write_error_is_told_wherever_it_comes);
    tcase_add_test(rows, a_directory_that_cannot_be_is_told);
    suite_add_tcase(suite, rows);
    return suite_run(suite);
}
