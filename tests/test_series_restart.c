/* Restarts go on with the rows that either file of a series has, and report rows that are missing or differ. */
#include "inside.h"
#include "series_files.h"

#include <math.h>

#include "larmor/physics/numerics/hash.h"
#include "suite.h"

/* HDF5 leaks memory of a damaged file. That is no leak of Larmor. The sanitizer's library calls this function, so it
 * must be visible there. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

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
    s = open_series("run", -1); /* without a restart the series begins anew */
    lm_series_close(&s);
    assert_both("run", 1, 0);
}
END_TEST

START_TEST(restart_repairs_what_a_kill_left)
{
    write_series("run", 0, 40);
    write_text(scratch_path("run/series.csv"), "a", "41,4.1000000"); /* an incomplete row */
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
    ck_assert_int_eq(try_open("run", count, other, 5, &s), LM_BAD_INPUT);
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
        ck_assert_int_eq(try_open("run", COLUMNS, columns, 5, &s), LM_BAD_INPUT);
        assert_error_has("series.csv:4:");
    }
}
END_TEST

/* --- rows that only one of the files has --- */

/* Leaves the header and the rows of these steps in series.csv. */
static void keep_lines(int (*stays)(int64_t step))
{
    char line[512];
    FILE *in = fopen(scratch_path("run/series.csv"), "r"), *out = fopen(scratch_path("run/other"), "w");
    ck_assert(in && out);
    for (int first = 1; fgets(line, sizeof line, in); first = 0)
        if (first || stays(strtol(line, NULL, 10)))
            fputs(line, out);
    fclose(in);
    fclose(out);
    ck_assert_int_eq(rename(scratch_path("run/other"), scratch_path("run/series.csv")), 0);
}

static int before_31(int64_t step)
{
    return step < 31;
}

static int not_in_the_middle(int64_t step)
{
    return step < 11 || step > 19;
}

static int not_the_first(int64_t step)
{
    return step > 4;
}

static int none(int64_t step)
{
    (void)step;
    return 0;
}

START_TEST(rows_that_series_csv_misses_come_from_series_h5)
{
    write_series("run", 0, 2000);
    keep_lines(before_31);
    assert_restart(1990, "series.csv: misses 1960 rows of steps 31 to 1990: they are taken from series.h5\n");
    assert_both("run", 0, 1990);
    keep_lines(not_in_the_middle);
    assert_restart(1990, "series.csv: misses 9 rows of steps 11 to 19: they are taken from series.h5\n");
    assert_both("run", 0, 1990);
    keep_lines(not_the_first);
    assert_restart(1980, "series.csv: misses 5 rows of steps 0 to 4: they are taken from series.h5\n");
    assert_both("run", 0, 1980);
    keep_lines(none);
    assert_restart(1980, "series.csv: misses 1981 rows of steps 0 to 1980: they are taken from series.h5\n");
    assert_both("run", 0, 1980);
    assert_restart(1980, "");
    assert_both("run", 0, 1980);
}
END_TEST

START_TEST(rows_that_series_h5_misses_come_from_series_csv)
{
    write_series("run", 0, 20);
    ck_assert_int_eq(rename(scratch_path("run/series.h5"), scratch_path("run/short.h5")), 0);
    struct lm_series *s = open_series("run", 20);
    append(s, 21, 40);
    lm_series_close(&s);
    ck_assert_int_eq(rename(scratch_path("run/short.h5"), scratch_path("run/series.h5")), 0);
    assert_restart(35, "series.h5: misses 15 rows of steps 21 to 35: they are taken from series.csv\n");
    assert_both("run", 0, 35);
}
END_TEST

/* Each file has rows that the other one lacks. */
START_TEST(rows_come_from_both_files)
{
    write_series("run", 0, 20);
    ck_assert_int_eq(rename(scratch_path("run/series.h5"), scratch_path("run/short.h5")), 0);
    struct lm_series *s = open_series("run", 20);
    append(s, 21, 40);
    lm_series_close(&s);
    keep_lines(not_in_the_middle);
    ck_assert_int_eq(rename(scratch_path("run/short.h5"), scratch_path("run/series.h5")), 0);
    assert_restart(40, "series.csv: misses 9 rows of steps 11 to 19: they are taken from series.h5\n"
                       "series.h5: misses 20 rows of steps 21 to 40: they are taken from series.csv\n");
    assert_both("run", 0, 40);
}
END_TEST

START_TEST(one_file_alone_is_said)
{
    write_series("run", 0, 20);
    unlink(scratch_path("run/series.csv"));
    assert_restart(18, "series.csv: is missing or empty: its 19 rows are taken from series.h5\n");
    assert_both("run", 0, 18);
    write_text(scratch_path("run/series.csv"), "w", ""); /* the run was killed before the header was written */
    assert_restart(17, "series.csv: is missing or empty: its 18 rows are taken from series.h5\n");
    write_text(scratch_path("run/series.csv"), "w", "step,time[1/Om");
    assert_restart(16, "series.csv: is missing or empty: its 17 rows are taken from series.h5\n");
    unlink(scratch_path("run/series.h5"));
    assert_restart(15, "series.h5: is missing or empty: its 16 rows are taken from series.csv\n");
    assert_both("run", 0, 15);
    unlink(scratch_path("run/series.h5"));
    unlink(scratch_path("run/series.csv"));
    assert_restart(15, "series.csv: is missing, and so is series.h5: the series begins anew after step 15\n");
    assert_both("run", 1, 0);
}
END_TEST

START_TEST(a_damaged_series_h5_is_replaced_and_kept)
{
    char expected[2048];
    write_series("run", 0, 20);
    write_text(scratch_path("run/series.h5"), "w", "no HDF5");
    assert_restart(20, "series.h5: is not an HDF5 file: the rows are taken from series.csv, and the file is kept as "
                       "series.h5.old\n");
    assert_both("run", 0, 20);
    FILE *old = fopen(scratch_path("run/series.h5.old"), "r");
    ck_assert_ptr_nonnull(old);
    ck_assert_ptr_nonnull(fgets(expected, sizeof expected, old));
    ck_assert_str_eq(expected, "no HDF5");
    fclose(old);
    ck_assert_int_eq(truncate(scratch_path("run/series.h5"), 3000), 0);
    struct lm_series *s = open_series("run", 20);
    lm_series_close(&s);
    ck_assert_ptr_nonnull(strstr(notes, "series.h5: is truncated or damaged"));
    assert_both("run", 0, 20);
    unlink(scratch_path("run/series.csv")); /* then there are no rows to go on with */
    ck_assert_int_eq(truncate(scratch_path("run/series.h5"), 3000), 0);
    ck_assert_int_eq(try_open("run", COLUMNS, columns, 20, &s), LM_BAD_INPUT);
    assert_error_has("series.h5: is truncated or damaged");
    assert_error_has("(without this file the series begins anew)");
}
END_TEST

START_TEST(unlike_rows_are_said_and_both_kept)
{
    double values[64];
    write_series("run", 0, 20);
    ck_assert_int_eq(rename(scratch_path("run/series.csv"), scratch_path("run/keep.csv")), 0);
    struct lm_series *s = open_series("run", -1);
    append(s, 0, 6);
    double row[COLUMNS];
    for (int64_t step = 7; step <= 20; step++) {
        row_at(step, row);
        row[2] += step == 9 || step == 12 ? 1e-16 : 0;
        ck_assert_int_eq(lm_series_append(s, row), LM_OK);
    }
    lm_series_close(&s);
    ck_assert_int_eq(rename(scratch_path("run/keep.csv"), scratch_path("run/series.csv")), 0);
    assert_restart(
        19, "series.h5: differs from series.csv in 2 rows of steps 9 to 12, first in the column energy: those of "
            "series.csv are taken, and the file is kept as series.h5.old\n");
    assert_both("run", 0, 19);
    ck_assert_int_eq(read_column(scratch_path("run/series.h5.old"), "energy", 64, values), 21);
    ck_assert(values[9] == 1.0 / 12 + 1e-16 && values[9] != 1.0 / 12);
}
END_TEST

static size_t read_all(const char *path, unsigned char *bytes, size_t most)
{
    FILE *in = fopen(path, "rb");
    ck_assert_ptr_nonnull(in);
    size_t n = fread(bytes, 1, most, in);
    fclose(in);
    return n;
}

/* Any bit of series.h5 is flipped. Afterwards both files have the rows of series.csv, and damage that matters is
 * reported. */
START_TEST(flipped_bits_of_series_h5_change_nothing)
{
    enum { MOST = 1 << 18, FLIPS = 300 };
    unsigned char *bytes = malloc(MOST), *csv = malloc(MOST);
    int said = 0;
    write_series("run", 0, 20);
    const size_t size = read_all(scratch_path("run/series.h5"), bytes, MOST);
    const size_t length = read_all(scratch_path("run/series.csv"), csv, MOST);
    for (uint64_t k = 0; k < FLIPS; k++) {
        const size_t near = k % 2 ? size : 6144, bit = (size_t)(lm_mix(k) % (8 * (near < size ? near : size)));
        FILE *out = fopen(scratch_path("run/series.h5"), "wb");
        bytes[bit / 8] = (unsigned char)(bytes[bit / 8] ^ (1 << bit % 8));
        fwrite(bytes, 1, size, out);
        bytes[bit / 8] = (unsigned char)(bytes[bit / 8] ^ (1 << bit % 8));
        fclose(out);
        out = fopen(scratch_path("run/series.csv"), "wb");
        fwrite(csv, 1, length, out);
        fclose(out);
        struct lm_series *s = open_series("run", 20);
        lm_series_close(&s);
        said += notes[0] != 0;
        assert_both("run", 0, 20);
    }
    ck_assert_int_gt(said, FLIPS / 10);
    free(bytes);
    free(csv);
}
END_TEST

START_TEST(repeated_rows_are_left_out_and_said)
{
    write_series("run", 0, 20);
    write_text(
        scratch_path("run/series.csv"), "a",
        "4,4.0000000000000000e-01,0.0000000000000000e+00,7\n5,4.0000000000000000e-01,0.0000000000000000e+00,7\n");
    assert_restart(20, "series.csv: repeats 2 rows of steps 4 to 5: the first of each is kept\n");
    assert_both("run", 0, 20);
}
END_TEST

/* A series with a row for every tenth step, from which the rows of steps 200 to 230 are removed in both files. */
START_TEST(rows_that_neither_file_has_are_said)
{
    struct lm_series *s = open_series("run", -1);
    for (int64_t step = 0; step <= 400; step += 10)
        if (step < 200 || step > 230)
            append(s, step, step);
    lm_series_close(&s);
    every = 10;
    assert_restart(405, "series.csv: has no rows between steps 190 and 240, nor has series.h5\n");
    assert_restart(430, "series.csv: has no rows between steps 190 and 240, nor has series.h5\n"
                        "series.csv: has no rows after step 400, nor has series.h5; the restart is at step 430\n");
}
END_TEST

/* Different intervals in different parts of a run, and rows at the ends of parts, are no gaps. */
START_TEST(another_interval_is_no_gap)
{
    struct lm_series *s = open_series("run", -1);
    for (int64_t step = 0; step <= 1000; step += 100)
        append(s, step, step);
    append(s, 1005, 1005);
    for (int64_t step = 1010; step <= 1200; step += 10)
        append(s, step, step);
    for (int64_t step = 1300; step <= 1600; step += 100)
        append(s, step, step);
    lm_series_close(&s);
    every = 100;
    assert_restart(1650, "");
    every = 10;
    assert_restart(1209, "");
    every = 0;
    assert_restart(1009, "");
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

int main(void)
{
    Suite *suite = suite_create("series at a restart");
    TCase *rows = tcase_create("series at a restart");
    tcase_set_timeout(rows, 60);
    tcase_add_checked_fixture(rows, scratch_make, scratch_remove);
    tcase_add_test(rows, restart_cuts_the_rows_after_it);
    tcase_add_test(rows, restart_at_0_and_beyond_the_end);
    tcase_add_test(rows, restart_repairs_what_a_kill_left);
    tcase_add_test(rows, restart_makes_the_absent_file);
    tcase_add_test(rows, restart_with_other_columns_is_refused);
    tcase_add_test(rows, a_spoilt_row_is_refused);
    tcase_add_test(rows, rows_that_series_csv_misses_come_from_series_h5);
    tcase_add_test(rows, rows_that_series_h5_misses_come_from_series_csv);
    tcase_add_test(rows, rows_come_from_both_files);
    tcase_add_test(rows, one_file_alone_is_said);
    tcase_add_test(rows, a_damaged_series_h5_is_replaced_and_kept);
    tcase_add_test(rows, unlike_rows_are_said_and_both_kept);
    tcase_add_test(rows, flipped_bits_of_series_h5_change_nothing);
    tcase_add_test(rows, repeated_rows_are_left_out_and_said);
    tcase_add_test(rows, rows_that_neither_file_has_are_said);
    tcase_add_test(rows, another_interval_is_no_gap);
    tcase_add_test(rows, odd_numbers_survive);
    suite_add_tcase(suite, rows);
    return suite_run(suite);
}
