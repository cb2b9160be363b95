/* `larmor scan`: runs for all combinations of values, their table, and a scan that was interrupted. */
#include "cli.h"
#include <math.h>

/* Line `number` of a file, from 0, to be freed. */
static char *line_of(const char *file, int number)
{
    char *text = cli_read(file), *at = text;
    ck_assert_msg(text != NULL, "no %s", file);
    for (; number > 0; number--) {
        at = strchr(at, '\n');
        ck_assert_msg(at != NULL, "%s has too few lines", file);
        at++;
    }
    char *line = strndup(at, strcspn(at, "\n"));
    free(text);
    return line;
}

static void same_fingerprint(const char *run, const char *overrides)
{
    char directory[128];
    snprintf(directory, sizeof directory, "s/%s", run);
    CLI(0, "run small.ini --quiet --overwrite --output alone %s", overrides);
    char print[32];
    snprintf(print, sizeof print, "%s", cli_fingerprint("alone"));
    ck_assert_str_eq(cli_fingerprint(directory), print);
}

/* The cells of the row of a table are those of the last row of a series: whole numbers to the last digit, others to six
 * digits. */
static void same_values(const char *row, const char *series)
{
    const char *cell = row;
    for (int k = 0; k < 5; k++) /* run, two values, ended, fingerprint */
        cell = strchr(cell, ',') + 1;
    int cells = 0, fractions = 0;
    for (char *end, *exact; *cell && *cell != '\n';
         cell = *end ? end + 1 : end, series = *exact ? exact + 1 : exact, cells++) {
        const double value = strtod(cell, &end), wanted = strtod(series, &exact);
        const int whole = wanted == rint(wanted);
        fractions += !whole;
        ck_assert_msg(whole ? value == wanted : fabs(value - wanted) <= 5.01e-6 * fabs(wanted), "%.17g %.17g", value,
                      wanted);
        ck_assert_msg(end - cell <= 12, "%s has more digits than a reader wants", cell);
    }
    ck_assert_int_gt(cells, 10);
    ck_assert_int_gt(fractions, 3);
}

START_TEST(all_combinations)
{
    CLI(0, "scan small.ini --quiet --output s run.dt=0.01,0.02 fields.bx=1,max(1,2),0.5 fields.bz=0.1");
    static const char *const runs[] = {"0001_dt=0.01_bx=1", "0002_dt=0.01_bx=max_1_2_", "0003_dt=0.01_bx=0.5",
                                       "0004_dt=0.02_bx=1", "0005_dt=0.02_bx=max_1_2_", "0006_dt=0.02_bx=0.5"};
    static const char *const begin[] = {"0001_dt=0.01_bx=1,0.01,1,complete,",
                                        "0002_dt=0.01_bx=max_1_2_,0.01,\"max(1,2)\",", "0003_dt=0.01_bx=0.5,0.01,0.5,",
                                        "0004_dt=0.02_bx=1,0.02,1,complete,"};
    for (int k = 0; k < 4; k++) {
        char *line = line_of("s/table.csv", k + 1);
        ck_assert_msg(!strncmp(line, begin[k], strlen(begin[k])), "%s", line);
        char name[64];
        snprintf(name, sizeof name, "s/%s", runs[k]);
        cli_has(line, cli_fingerprint(name));
        free(line);
    }
    char *head = line_of("s/table.csv", 0), *series = line_of("s/0001_dt=0.01_bx=1/series.csv", 0);
    char *row = line_of("s/table.csv", 1), *last = line_of("s/0001_dt=0.01_bx=1/series.csv", 5);
    cli_has(head, "run,run.dt,fields.bx,ended,fingerprint,step,");
    cli_has(head, series);
    same_values(row, last);
    free(head), free(series), free(row), free(last);
    same_fingerprint(runs[4], "run.dt=0.02 fields.bx=2 fields.bz=0.1");
    same_fingerprint(runs[2], "run.dt=0.01 fields.bx=0.5 fields.bz=0.1");
}
END_TEST

/* A scan that a signal stops goes on: complete runs stay as they are, the one that was stopped ends as it would have.
 */
START_TEST(interrupted)
{
    CLI(0, "scan small.ini --quiet --output s run.seed=1,2,3 species.protons.start=random");
    char first[32], second[32];
    snprintf(first, sizeof first, "%s", cli_fingerprint("s/0001_seed=1"));
    snprintf(second, sizeof second, "%s", cli_fingerprint("s/0002_seed=2"));
    ck_assert_str_ne(first, second);
    ck_assert_int_eq(unlink(scratch_path("s/0002_seed=2/run.json")), 0);
    const uint64_t before = cli_snapshot();
    CLI(0, "scan small.ini --output s run.seed=1,2,3 species.protons.start=random");
    ck_assert_uint_ne(cli_snapshot(), before);
    cli_has(cli.err, "s/0001_seed=1: the run is complete, at step 40");
    ck_assert_str_eq(cli_fingerprint("s/0002_seed=2"), second);

    cli_begin("scan small.ini --quiet --output u run.seed=7,8 run.steps=100000000 output.checkpoint_every=1000");
    for (int k = 0; k < 1000 && !cli_exists("u/0001_seed=7/run.ini"); k++)
        cli_sleep(0.01);
    kill(cli.pid, SIGTERM);
    ck_assert_int_eq(cli_end(), 3);
    cli_has(cli.err, "the same command goes on with the scan");
    char *line = line_of("u/table.csv", 2);
    cli_has(line, "0002_seed=8,8,not complete");
    free(line);
}
END_TEST

/* Other settings in the file or on the command line are other runs: their results take the place of the old ones. Two
 * values whose directories have one name are two runs as well. */
START_TEST(other_settings)
{
    CLI(0, "scan small.ini --quiet --output s run.seed=1,2 output.checkpoint_every=20");
    char before[32];
    snprintf(before, sizeof before, "%s", cli_fingerprint("s/0001_seed=1"));
    CLI(0, "scan small.ini --quiet --output s run.seed=1,2 output.checkpoint_every=20 fields.bz=0.5");
    ck_assert_str_ne(cli_fingerprint("s/0001_seed=1"), before);
    same_fingerprint("0001_seed=1", "run.seed=1 fields.bz=0.5");
}
END_TEST

START_TEST(names_of_values)
{
    CLI(0, "scan small.ini --quiet --output s fields.bz=2*0.1,0.5");
    CLI(0, "scan small.ini --quiet --output s fields.bz=2/0.1,0.5");
    char *line = line_of("s/table.csv", 1);
    ck_assert_msg(!strncmp(line, "0001_bz=2_0.1,2/0.1,", 20), "%s", line);
    cli_has(line, cli_fingerprint("s/0001_bz=2_0.1"));
    free(line);
    same_fingerprint("0001_bz=2_0.1", "fields.bz=20");
}
END_TEST

START_TEST(wrong_input)
{
    cli_refuses("scan small.ini --output s run.dt=0.01", "no key has a list of values", NULL);
    cli_refuses("scan small.ini --output s run.dt=0.01,abc", "run 0002_dt=abc: command line: run.dt: unknown name",
                NULL);
    cli_refuses("scan small.ini --output s run.dx=1,2", "run.dx: unknown key", NULL);
    cli_refuses("scan small.ini run.dt=1,2 output.directory=here", "a scan names the directories of its runs", NULL);
    cli_refuses("scan small.ini run.dt=1,2 --output small.ini", "small.ini: is a file, not a directory", NULL);
    cli_refuses("scan", "which file? ", NULL);
    cli_refuses("scan nowhere.ini run.dt=1,2", "nowhere.ini: ", NULL);
}
END_TEST

/* A run that fails is told, and the others are done. */
START_TEST(a_run_fails)
{
    CLI(1, "scan small.ini --quiet --output s run.dt=0.02,5 fields.max_substeps=3");
    cli_has(cli.err, "larmor: run 0002_dt=5: ");
    cli_has(cli.err, "1 of 2 runs have failed; s/table.csv has the others");
    char *head = line_of("s/table.csv", 0), *good = line_of("s/table.csv", 1), *failed = line_of("s/table.csv", 2);
    int commas[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        for (const char *p = k == 0 ? head : k == 1 ? good : failed; *p; p++)
            commas[k] += *p == ',';
    ck_assert(commas[0] == commas[1] && commas[0] == commas[2]);
    cli_has(failed, "0002_dt=5,5,failed,,");
    free(head), free(good), free(failed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_scan");
    TCase *t = tcase_create("scan");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, all_combinations);
    tcase_add_test(t, interrupted);
    tcase_add_test(t, other_settings);
    tcase_add_test(t, names_of_values);
    tcase_add_test(t, wrong_input);
    tcase_add_test(t, a_run_fails);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
