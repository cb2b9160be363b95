/* Two runs in one directory, and the files that a killed run leaves there. */
#include "cli.h"

#include <sys/resource.h>

#define ENDLESS "run small.ini --quiet --steps 100000000 --output u output.checkpoint_every=500 output.keep=1000"

static void wait_for(const char *name)
{
    for (int k = 0; k < 2000 && !cli_exists(name); k++)
        cli_sleep(0.01);
    ck_assert_msg(cli_exists(name), "%s does not appear", name);
}

/* Starts a run in directory u that does not end by itself. Returns its process; its output is discarded. */
static pid_t begin_endless(void)
{
    cli_begin(ENDLESS);
    wait_for("u/checkpoints/checkpoint_00000500.h5");
    for (int k = 0; k < 2; k++)
        fclose(cli.files[k]);
    return cli.pid;
}

static void end(pid_t process, int signal)
{
    int status;
    kill(process, signal);
    ck_assert_int_eq(waitpid(process, &status, 0), process);
}

START_TEST(second_run)
{
    static const char *const more[] = {"", "--overwrite", "--restart c.h5 --overwrite",
                                       "--restart u/checkpoints/checkpoint_00000500.h5 --steps 600"};
    char expected[64], host[64] = "";
    CLI(0, "run small.ini --quiet --output first output.checkpoint_every=20 --steps 20");
    ck_assert_int_eq(rename(scratch_path("first/checkpoints/checkpoint_00000020.h5"), scratch_path("c.h5")), 0);
    ck_assert(!cli_exists("first/larmor.lock"));
    pid_t other = begin_endless();
    CLI(2, "run small.ini --quiet --output u %s", more[_i]);
    snprintf(expected, sizeof expected, "u: another run is writing there (process %d on ", (int)other);
    cli_has(cli.err, expected);
    gethostname(host, sizeof host - 1);
    cli_has(cli.err, host);
    cli_has(cli.err, " since 20");
    cli_has(cli.err, "--output");
    end(other, SIGKILL);
    ck_assert(cli_exists("u/larmor.lock"));
    CLI(0, "run small.ini --quiet --output u --overwrite");
    ck_assert(!cli_exists("u/larmor.lock"));
    CLI(0, "run small.ini --quiet --output whole");
    ck_assert_str_eq(cli_fingerprint("u"), cli_fingerprint("whole"));
}
END_TEST

/* A run in another directory may start, also from a checkpoint of the first run. */
START_TEST(beside)
{
    pid_t other = begin_endless();
    CLI(0, "run small.ini --quiet --output v --restart u/checkpoints/checkpoint_00000500.h5 --steps 600");
    end(other, SIGKILL);
}
END_TEST

/* Of several runs that start at the same time in one directory, exactly one runs. */
START_TEST(at_the_same_time)
{
    for (int turn = 0; turn < 20; turn++) {
        struct cli first;
        char directory[16];
        snprintf(directory, sizeof directory, "u%d", turn);
        cli_begin("run small.ini --quiet --steps 200 --output %s", directory);
        first = cli;
        cli_begin("run small.ini --quiet --steps 200 --output %s", directory);
        struct cli second = cli;
        cli = first;
        int a = cli_end();
        cli = second;
        int b = cli_end();
        ck_assert_msg((a == 0 && b == 2) || (a == 2 && b == 0), "exit codes %d, %d", a, b);
        cli_fingerprint(directory);
    }
}
END_TEST

/* A run with a long preparation finds that another run has used the directory in the meantime. */
START_TEST(meanwhile)
{
    cli_begin("run small.ini --quiet --output u species.protons.particles_per_cell=60000 --steps 1");
    struct cli slow = cli;
    char print[32];
    cli_sleep(0.2);
    kill(slow.pid, SIGSTOP);
    CLI(0, "run small.ini --quiet --output u");
    kill(slow.pid, SIGCONT);
    snprintf(print, sizeof print, "%s", cli_fingerprint("u"));
    cli = slow;
    ck_assert_int_eq(cli_end(), 2);
    cli_has(cli.err, "u: holds a run already");
    ck_assert_str_eq(cli_fingerprint("u"), print);
}
END_TEST

/* --- runs that are killed early --- */

static int any_checkpoint(char *name, size_t size)
{
    for (int step = 400; step >= 0; step -= 10) {
        snprintf(name, size, "u/checkpoints/checkpoint_%08d.h5", step);
        if (cli_exists(name))
            return 1;
    }
    return 0;
}

/* Removes a directory; a run that has ended leaves neither a lock nor half-written files. */
static void remove_tree(const char *name)
{
    char path[512];
    char *const roots[] = {path, NULL};
    snprintf(path, sizeof path, "%s", scratch_path(name));
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; (e = fts_read(tree));) {
        ck_assert_msg(!strstr(e->fts_name, ".part") && !strstr(e->fts_name, ".lock"), "%s stays", e->fts_name);
        if (e->fts_info != FTS_D)
            remove(e->fts_path);
    }
    fts_close(tree);
}

/* However early a run is killed, the next one can start in its directory, without any message when the killed run had
 * not begun. */
START_TEST(killed_early)
{
    char name[64];
    CLI(0, "run small.ini --quiet --output whole");
    for (int k = 0; k < 40; k++) {
        cli_begin("run small.ini --quiet --output u output.checkpoint_every=10 output.fields_every=1 --steps 400");
        cli_sleep(0.0015 * k);
        kill(cli.pid, SIGKILL);
        cli_end();
        if (any_checkpoint(name, sizeof name))
            CLI(0, "fingerprint %s", name);
        CLI(0, "run small.ini --quiet --output u --overwrite");
        ck_assert_str_eq(cli_fingerprint("u"), cli_fingerprint("whole"));
        remove_tree("u");
    }
}
END_TEST

static rlim_t most;

static void limit_files(void)
{
    struct rlimit limit = {most, most};
    setrlimit(RLIMIT_FSIZE, &limit); /* SIGXFSZ keeps its default action: the program itself has to ignore it */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

/* The same with a disk that is full, or nearly full, from the beginning. */
START_TEST(full_from_the_beginning)
{
    static const rlim_t sizes[] = {0, 10, 100, 300, 1000, 3000, 10000, 100000, 600000};
    most = sizes[_i];
    cli.prepare = limit_files;
    CLI(1, "run small.ini --quiet --output u output.checkpoint_every=10 output.fields_every=1");
    if (most >= 1000) { /* the limit also holds for the file that takes the messages */
        cli_has(cli.err, "File too large");
        cli_has(cli.err, "there is no checkpoint");
    }
    cli.prepare = NULL;
    CLI(0, "run small.ini --quiet --output u --overwrite");
    CLI(0, "run small.ini --quiet --output whole");
    ck_assert_str_eq(cli_fingerprint("u"), cli_fingerprint("whole"));
}
END_TEST

/* Files that only look like those of a run are not touched. */
START_TEST(not_a_run)
{
    static const char *const names[] = {"series.csv", "run.ini", "notes.part", "fields/mine.h5", "larmor.lock/x"};
    char name[64], *left;
    snprintf(name, sizeof name, "u/%s", names[_i]);
    mkdir(scratch_path("u"), 0777);
    if (_i >= 3)
        mkdir(scratch_path(_i == 3 ? "u/fields" : "u/larmor.lock"), 0777);
    make_file(name, "mine\n");
    cli_refuses("run small.ini --output u --overwrite", _i < 4 ? "is not the output of a run" : "larmor.lock", NULL);
    left = cli_read(name);
    ck_assert_str_eq(left, "mine\n");
    free(left);
}
END_TEST

/* Links in the place of files that are being written are not followed. */
START_TEST(links)
{
    static const char *const names[] = {"run.ini.part", "run.json.part", "series.h5.part",
                                        "checkpoints/checkpoint_00000040.h5.part", "fields/data_00000000.h5.part"};
    char *left;
    CLI(0, "run small.ini --quiet --output u output.checkpoint_every=20 --steps 20");
    mkdir(scratch_path("u/fields"), 0777);
    make_file("mine", "mine\n");
    for (int k = 0; k < 5; k++) {
        char name[64];
        snprintf(name, sizeof name, "u/%s", names[k]);
        ck_assert_int_eq(symlink(scratch_path("mine"), scratch_path(name)), 0);
    }
    CLI(0, "run small.ini --quiet --output u output.checkpoint_every=20 output.fields_every=%d %s", _i ? 40 : 20,
        _i ? "--overwrite" : "--restart u/checkpoints/checkpoint_00000020.h5");
    left = cli_read("mine");
    ck_assert_str_eq(left, "mine\n");
    free(left);
    CLI(0, "run small.ini --quiet --output whole");
    ck_assert_str_eq(cli_fingerprint("u"), cli_fingerprint("whole"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_lock");
    TCase *t = tcase_create("lock");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, second_run, 0, 4);
    tcase_add_test(t, beside);
    tcase_add_test(t, at_the_same_time);
    tcase_add_test(t, meanwhile);
    suite_add_tcase(suite, t);
    t = tcase_create("early");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, killed_early);
    tcase_add_loop_test(t, full_from_the_beginning, 0, 9);
    tcase_add_loop_test(t, not_a_run, 0, 5);
    tcase_add_loop_test(t, links, 0, 2);
    suite_add_tcase(suite, t);
    return cli_main(suite);
}
