/* Standard descriptors that are closed or lead nowhere: the files stay good and the exit codes right. */
#include "cli.h"

#include <hdf5.h>

static int closed; /* bits that say which of stdin, stdout and stderr is closed */

static void close_some(void)
{
    for (int k = 0; k < 3; k++)
        if (closed & 1 << k)
            close(k);
}

/* Every row of the series can be read, and no message has been written into it. */
static void assert_series(const char *path, int rows)
{
    hsize_t length = 0;
    char *csv = cli_read("u/series.csv");
    hid_t file = H5Fopen(scratch_path(path), H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_msg(file >= 0, "%s cannot be read", path);
    hid_t data = H5Dopen2(file, "step", H5P_DEFAULT), space = H5Dget_space(data);
    H5Sget_simple_extent_dims(space, &length, NULL);
    H5Sclose(space);
    H5Dclose(data);
    H5Fclose(file);
    ck_assert_int_eq((int)length, rows);
    ck_assert_int_eq(cli_lines(csv), rows + 1);
    ck_assert_ptr_null(strstr(csv, "larmor"));
    ck_assert_ptr_null(strstr(csv, "particle-steps"));
    free(csv);
}

START_TEST(run)
{
    CLI(0, "run small.ini --output whole output.series_every=1");
    closed = _i;
    cli.prepare = close_some;
    CLI(0, "run small.ini --output u output.series_every=1 output.fields_every=20 output.checkpoint_every=20");
    cli.prepare = NULL;
    assert_series("u/series.h5", 41);
    ck_assert_str_eq(cli_fingerprint("u"), cli_fingerprint("whole"));
    CLI(0, "fingerprint u/checkpoints/checkpoint_00000040.h5");
    cli_has(cli.out, cli_fingerprint("whole"));
    CLI(0, "info u/fields/data_00000020.h5");
}
END_TEST

/* A command that cannot print its result must fail. */
START_TEST(nowhere_to_print)
{
    static const char *const commands[] = {"check small.ini",  "keys",     "--version", "--help",
                                           "fingerprint c.h5", "info c.h5"};
    CLI(0, "run small.ini --quiet --output u output.checkpoint_every=40");
    ck_assert_int_eq(rename(scratch_path("u/checkpoints/checkpoint_00000040.h5"), scratch_path("c.h5")), 0);
    cli.prepare = close_some;
    closed = 1;
    CLI(0, "%s", commands[_i]);
    ck_assert_int_gt(cli_lines(cli.out), 0);
    closed = 4;
    CLI(0, "%s", commands[_i]);
    for (closed = 2; closed < 8; closed += closed == 3 ? 3 : 1)
        CLI(1, "%s", commands[_i]);
    closed = 2;
    CLI(1, "%s", commands[_i]);
    ck_assert_int_eq(strncmp(cli.err, "larmor: ", 8), 0);
}
END_TEST

START_TEST(wrong_input)
{
    cli.prepare = close_some;
    for (closed = 1; closed < 8; closed++)
        CLI(2, "run absent.ini");
    ck_assert(!cli_exists("absent.out"));
}
END_TEST

static void closed_pipe(void)
{
    int ends[2];
    if (pipe(ends))
        _exit(126);
    close(ends[0]);
    dup2(ends[1], closed);
}

/* In `larmor run ... 2>&1 | head` the reader of the pipe ends early. The run goes on without its progress and
 * messages. */
START_TEST(nobody_reads)
{
    CLI(0, "run small.ini --quiet --output whole");
    cli.prepare = closed_pipe;
    closed = 1 + _i;
    CLI(0, "run small.ini --output u output.series_every=1");
    assert_series("u/series.h5", 41);
    ck_assert_str_eq(cli_fingerprint("u"), cli_fingerprint("whole"));
    CLI(2, "run small.ini --output u");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_descriptors");
    TCase *t = tcase_create("descriptors");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, run, 0, 8);
    tcase_add_loop_test(t, nowhere_to_print, 0, 6);
    tcase_add_test(t, wrong_input);
    tcase_add_loop_test(t, nobody_reads, 0, 2);
    suite_add_tcase(suite, t);
    return cli_main(suite);
}
