/* Signals: a run ends in a checkpoint wherever it is, and what is restarted from there ends as a run without a break.
 *
 * LARMOR_KILLS=1000 tries so many random times in place of a few, LARMOR_KILLS_SEED other ones. */
#include "cli.h"

#include <time.h>

static const int asking[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
static const char *const called[] = {
    "interrupted (SIGINT)", "terminated (SIGTERM)", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU"};
enum { ASKING = sizeof asking / sizeof *asking };

/* A run has so long from a signal to its end, on a machine with twenty busy processes on two cores. That a step has
 * been given up is seen from the step in the message. */
static const double PROMPT = 30;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for(const char *name)
{
    for (int k = 0; k < 3000 && !cli_exists(name); k++)
        cli_sleep(0.01);
    ck_assert_msg(cli_exists(name), "%s does not appear", name);
}

static int is_alive(void)
{
    int status;
    return waitpid(cli.pid, &status, WNOHANG) == 0;
}

/* Sends it and waits for the end. */
static int signal_and_wait(int signal)
{
    const double before = seconds();
    kill(cli.pid, signal);
    const int code = cli_end();
    const double took = seconds() - before;
    ck_assert_msg(took < PROMPT, "%g s from the signal to the end", took);
    return code;
}

/* Step and path from "stopped at step N: WHY; go on with --restart PATH". */
static int stopped(const char *why, char *path)
{
    int step = -1;
    char *at = strstr(cli.err, "stopped at step "), *go_on = strstr(cli.err, "; go on with --restart ");
    ck_assert_msg(at && go_on && sscanf(at, "stopped at step %d", &step) == 1, "no such message: %s", cli.err);
    cli_has(at, why);
    ck_assert_int_eq(sscanf(go_on, "; go on with --restart %200s", path), 1);
    return step;
}

/* The file named in the message holds the state that run.json tells of. */
static int stopped_with_checkpoint(const char *why, char *path)
{
    const int step = stopped(why, path);
    char *json = cli_read("u/run.json");
    ck_assert_ptr_nonnull(json);
    cli_has(json, why);
    free(json);
    CLI(0, "fingerprint %s", path);
    cli_has(cli.out, cli_fingerprint("u"));
    return step;
}

START_TEST(between_steps)
{
    char path[256];
    cli_begin("run small.ini --quiet --output u --steps 100000000");
    wait_for("u/run.ini");
    cli_sleep(0.05);
    ck_assert_int_eq(signal_and_wait(asking[_i]), 3);
    int step = stopped_with_checkpoint(called[_i], path);
    CLI(0, "run small.ini --quiet --output u --restart %s --steps %d", path, step + 20);
    CLI(0, "run small.ini --quiet --output whole --steps %d", step + 20);
    ck_assert_str_eq(cli_fingerprint("u"), cli_fingerprint("whole"));
}
END_TEST

/* --- within steps that take minutes --- */

#define FIELD "[background.dye]\ninitial = 1 + x/lx\nvx = 0.1\n"

/* What makes them long from step `first` on, and what is given a restart in its place. */
static const struct {
    const char *file, *longer, *shorter;
    int first;
} long_steps[] = {{"", "fields.min_substeps=1000000 fields.max_substeps=1000000", "", 0},
                  {FIELD, "background.dye.vx=0.1+8e6*(t>0.1)", "background.dye.vx=0.1", 5},
                  {FIELD, "background.dye.diffusivity=1e6", "background.dye.diffusivity=0", 0},
                  {"[background.dye]\ninitial=1\nvelocity=electron\n", "background.dye.diffusivity=1e6",
                   "background.dye.diffusivity=0", 0},
                  {"", "electrons.closure=evolved electrons.conductivity=1e6",
                   "electrons.closure=evolved electrons.conductivity=0.01", 0},
                  {"[boundary]\nx_min = reflecting\nx_max = reflecting\n",
                   "fields.min_substeps=1000000 fields.max_substeps=1000000", "", 0}};
enum { LONG_STEPS = sizeof long_steps / sizeof *long_steps };

START_TEST(within_a_step)
{
    char path[256], text[2048], name[64];
    const char *longer = long_steps[_i].longer, *shorter = long_steps[_i].shorter;
    const int first = long_steps[_i].first;
    snprintf(text, sizeof text, "%s%s", cli_small, long_steps[_i].file);
    make_file("long.ini", text);
    cli_begin("run long.ini --quiet --output u --steps 20 %s", longer);
    snprintf(name, sizeof name, "u/checkpoints/checkpoint_%08d.h5", first);
    wait_for(name);
    cli_sleep(0.3);
    ck_assert_int_eq(signal_and_wait(asking[_i % ASKING]), 3);
    ck_assert_int_eq(stopped_with_checkpoint(called[_i % ASKING], path), first);
    CLI(0, "run long.ini --quiet --output v --restart %s --steps 10 %s", path, shorter);
    CLI(0, "run long.ini --quiet --output w --steps 10 %s", shorter);
    ck_assert_str_eq(cli_fingerprint("v"), cli_fingerprint("w"));
}
END_TEST

/* The first step of a restart: its checkpoint is there already. */
START_TEST(within_the_first_step_of_a_restart)
{
    char path[256];
    CLI(0, "run small.ini --quiet --output first output.checkpoint_every=10 --steps 10");
    cli_begin("run small.ini --quiet --output u --restart first/checkpoints/checkpoint_00000010.h5 "
              "fields.min_substeps=1000000 fields.max_substeps=1000000");
    wait_for("u/run.ini");
    cli_sleep(0.3);
    ck_assert_int_eq(signal_and_wait(SIGTERM), 3);
    ck_assert_int_eq(stopped_with_checkpoint("terminated (SIGTERM)", path), 10);
    ck_assert_str_eq(path, "first/checkpoints/checkpoint_00000010.h5");
    ck_assert(!cli_exists("u/checkpoints"));
}
END_TEST

START_TEST(wall_limit_within_a_step)
{
    char path[256];
    CLI(3, "run small.ini --quiet --output u fields.min_substeps=1000000 fields.max_substeps=1000000 "
           "output.wall_limit=00:00:01");
    ck_assert_int_eq(stopped_with_checkpoint("wall-time limit (output.wall_limit)", path), 0);
}
END_TEST

/* A limit that is over before the first step leaves time for one: a chain of restarts gets on. */
START_TEST(wall_limit_before_the_first_step)
{
    char path[256];
    cli_begin("run small.ini --quiet --output u output.wall_limit=00:00:01 species.protons.particles_per_cell=20000");
    cli_sleep(0.1);
    kill(cli.pid, SIGSTOP);
    cli_sleep(1.2);
    kill(cli.pid, SIGCONT);
    ck_assert_int_eq(cli_end(), 3);
    ck_assert_int_ge(stopped_with_checkpoint("wall-time limit (output.wall_limit)", path), 1);
}
END_TEST

static int count_checkpoints(void)
{
    int n = 0;
    for (int step = 0; step <= 40; step++) {
        char name[64];
        snprintf(name, sizeof name, "u/checkpoints/checkpoint_%08d.h5", step);
        n += cli_exists(name);
    }
    return n;
}

/* The checkpoint of a long step's beginning is one more than output.keep, and goes with the next one and at the end.
 * The first step of these is taken to be long; it takes a second. */
START_TEST(spare_checkpoints)
{
    cli_begin("run small.ini --quiet --output u fields.min_substeps=80000 fields.max_substeps=80000 --steps 1");
    wait_for("u/checkpoints/checkpoint_00000000.h5");
    ck_assert_int_eq(cli_end(), 0);
    ck_assert_int_eq(count_checkpoints(), 0);
    CLI(0, "run small.ini --quiet --output u fields.min_substeps=80000 fields.max_substeps=80000 --steps 2 --overwrite "
           "output.checkpoint_every=1 output.keep=1");
    ck_assert(cli_exists("u/checkpoints/checkpoint_00000002.h5"));
    ck_assert_int_eq(count_checkpoints(), 1);
}
END_TEST

/* Only the fourth step is taken to be long: the checkpoint of step 3 pushes out neither of those that are due. */
START_TEST(spare_between_others)
{
    char text[2048];
    snprintf(text, sizeof text, "%s" FIELD, cli_small);
    make_file("long.ini", text);
    cli_begin("run long.ini --quiet --output u background.dye.vx=0.1+5e6*(abs(t-0.07)<0.005) --steps 4 "
              "output.checkpoint_every=2 output.keep=2");
    wait_for("u/checkpoints/checkpoint_00000003.h5");
    ck_assert_int_eq(cli_end(), 0);
    ck_assert(cli_exists("u/checkpoints/checkpoint_00000002.h5") && cli_exists("u/checkpoints/checkpoint_00000004.h5"));
    ck_assert_int_eq(count_checkpoints(), 2);
}
END_TEST

/* --- a second signal --- */

/* In a step that cannot be given up, because its checkpoint cannot be written. */
static void begin_run_that_cannot_save(void)
{
    CLI(0, "run small.ini --quiet --output first --steps 10 output.checkpoint_every=10");
    mkdir(scratch_path("u"), 0777);
    CLI(0, "run small.ini --quiet --output u --steps 1");
    make_file("u/checkpoints", "");
    make_file("u/fields", "");
    cli_begin("run small.ini --output u --overwrite fields.min_substeps=1000000 fields.max_substeps=1000000 %s", "");
    cli_sleep(0.1);
    wait_for("u/run.ini");
    cli_sleep(0.5);
}

START_TEST(second_time)
{
    begin_run_that_cannot_save();
    kill(cli.pid, SIGINT);
    cli_sleep(0.1);
    kill(cli.pid, SIGINT); /* as launchers do: not meant */
    cli_sleep(0.5);
    ck_assert(is_alive());
    cli_sleep(0.6);
    ck_assert_int_eq(signal_and_wait(SIGINT), 128 + SIGINT);
    cli_has(cli.err, "a second time: ended at once; there is no checkpoint");
    cli_has(cli.err, "no checkpoint before a long step");
}
END_TEST

/* Batch systems announce SIGTERM by another signal; that one does not count. */
START_TEST(announced)
{
    begin_run_that_cannot_save();
    kill(cli.pid, SIGUSR1);
    cli_sleep(1.2);
    kill(cli.pid, SIGXCPU);
    kill(cli.pid, SIGTERM);
    cli_sleep(0.5);
    ck_assert(is_alive());
    cli_sleep(0.7);
    ck_assert_int_eq(signal_and_wait(SIGTERM), 128 + SIGTERM);
}
END_TEST

/* --- ignored at the start --- */

static void ignore_hup_and_int(void)
{
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
}

START_TEST(nohup)
{
    char path[256];
    cli.prepare = ignore_hup_and_int;
    cli_begin("run small.ini --quiet --output u --steps 100000000");
    wait_for("u/run.ini");
    kill(cli.pid, SIGHUP);
    kill(cli.pid, SIGINT);
    cli_sleep(0.3);
    ck_assert(is_alive());
    ck_assert_int_eq(signal_and_wait(SIGTERM), 3);
    stopped_with_checkpoint("terminated (SIGTERM)", path);
}
END_TEST

/* --- before anything is written --- */

START_TEST(while_preparing)
{
    for (int turn = 1; turn < 5; turn++) {
        cli_begin("run small.ini --quiet --output u species.protons.particles_per_cell=200000");
        cli_sleep(0.3 * turn);
        int code = signal_and_wait(asking[_i]);
        ck_assert_int_eq(code & ~128, asking[_i]);
        if (*cli.err)
            break; /* else it had not begun yet */
    }
    cli_has(cli.err, called[_i]);
    cli_has(cli.err, "while the run was being prepared: nothing has been written");
    ck_assert(!cli_exists("u"));
}
END_TEST

/* An expression that takes long. */
#define SLOW(x) "sin(cos(sin(cos(sin(cos(sin(cos(" x "))))))))"

/* Other commands end at once. */
START_TEST(other_commands)
{
    static const char *const commands[] = {
        "check small.ini grid.nx=4000 grid.ny=4000 fields.bz=" SLOW(SLOW(SLOW("x*y"))), "bench copy"};
    cli_begin("%s", commands[_i]);
    cli_sleep(0.2);
    ck_assert_int_eq(signal_and_wait(SIGINT), 128 + SIGINT);
}
END_TEST

/* --- any time --- */

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

#define ANY "output.series_every=1 output.fields_every=100"
static const struct {
    const char *more;
    double most; /* seconds in which the signal comes */
} any[] = {{"--steps 400 output.checkpoint_every=30", 0.25},
           {"--steps 400", 0.25},
           {"--steps 5 fields.min_substeps=10000 fields.max_substeps=10000", 0.5},
           {"--steps 2 fields.min_substeps=70000 fields.max_substeps=70000", 1.5},
           {"--steps 20 species.protons.particles_per_cell=4000", 1}};
enum { ANYS = sizeof any / sizeof *any };

static const char *whole[ANYS];

static int newest(char *path)
{
    for (int step = 400; step >= 0; step--) {
        snprintf(path, 256, "u/checkpoints/checkpoint_%08d.h5", step);
        if (cli_exists(path))
            return 1;
    }
    return 0;
}

static void remove_run(void)
{
    char path[512];
    char *const roots[] = {path, NULL};
    snprintf(path, sizeof path, "%s", scratch_path("u"));
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; tree && (e = fts_read(tree));)
        if (e->fts_info != FTS_D)
            remove(e->fts_path);
    if (tree)
        fts_close(tree);
}

/* A run that is cut at a random time by a random signal: what can be said of it is said in one of three ways. */
static void cut(int kind, int signal, double delay)
{
    char path[256] = "";
    cli_begin("run small.ini --quiet --output u " ANY " %s", any[kind].more);
    cli_sleep(delay);
    const int code = signal_and_wait(signal);
    if (code == 3) {
        stopped("(", path);
        CLI(0, "run small.ini --quiet --output u " ANY " %s --restart %s", any[kind].more, path);
    } else if (code != 0 && cli_exists("u/run.json")) {
        ck_assert_int_eq(code, 128 + signal); /* the run had ended, and the signal came before the exit */
    } else if (signal == SIGKILL && code != 0 && cli_exists("u")) {
        if (newest(path))
            CLI(0, "run small.ini --quiet --output u " ANY " %s --restart %s", any[kind].more, path);
        else
            CLI(0, "run small.ini --quiet --output u " ANY " %s --overwrite", any[kind].more);
    } else if (code != 0) {
        ck_assert_int_eq(code, 128 + signal);
        ck_assert(!cli_exists("u"));
        ck_assert_msg(!*cli.err || strstr(cli.err, "nothing has been written"), "%s", cli.err);
        return;
    }
    ck_assert_str_eq(cli_fingerprint("u"), whole[kind]);
}

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

START_TEST(any_time)
{
    const long count = number("LARMOR_KILLS", 15);
    static char prints[ANYS][32];
    random_state = (uint64_t)number("LARMOR_KILLS_SEED", 1);
    for (int k = 0; k < ANYS; k++) {
        CLI(0, "run small.ini --quiet --output whole%d " ANY " %s", k, any[k].more);
        char name[24];
        snprintf(name, sizeof name, "whole%d", k);
        snprintf(prints[k], sizeof prints[k], "%s", cli_fingerprint(name));
        whole[k] = prints[k];
    }
    for (long k = 0; k < count; k++) {
        const int kind = (int)draw(ANYS), which = (int)draw(ASKING + 1);
        cut(kind, which < ASKING ? asking[which] : SIGKILL, draw(1 << 20) * 0x1p-20 * any[kind].most);
        remove_run();
    }
}
END_TEST

static TCase *add_case(Suite *suite, const char *name, double timeout)
{
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, timeout);
    suite_add_tcase(suite, t);
    return t;
}

int main(void)
{
    Suite *suite = suite_create("cli_signals");
    TCase *t = add_case(suite, "steps", 60);
    tcase_add_loop_test(t, between_steps, 0, ASKING);
    tcase_add_test(t, nohup);
    t = add_case(suite, "within", 60);
    tcase_add_loop_test(t, within_a_step, 0, LONG_STEPS);
    tcase_add_test(t, within_the_first_step_of_a_restart);
    tcase_add_test(t, wall_limit_within_a_step);
    tcase_add_test(t, wall_limit_before_the_first_step);
    t = add_case(suite, "spare", 60);
    tcase_add_test(t, spare_checkpoints);
    tcase_add_test(t, spare_between_others);
    t = add_case(suite, "second", 60);
    tcase_add_test(t, second_time);
    tcase_add_test(t, announced);
    t = add_case(suite, "preparing", 60);
    tcase_add_loop_test(t, while_preparing, 0, ASKING);
    tcase_add_loop_test(t, other_commands, 0, 2);
    t = add_case(suite, "any", 60 + 10 * (double)number("LARMOR_KILLS", 15));
    tcase_add_test(t, any_time);
    return cli_main(suite);
}
