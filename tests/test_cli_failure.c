/* Runs that cannot go on: exit code 1, one message, and the good files on the disk stay good. */
#define _GNU_SOURCE /* unshare */
#include "cli.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

/* Numbers of the checkpoints in a directory, at most 64, in order; -1 ends them. No other file may be there. */
static int *checkpoints(const char *directory)
{
    static int found[65];
    char name[128], expected[64];
    int n = 0;
    struct dirent **list;
    snprintf(name, sizeof name, "%s/checkpoints", directory);
    int all = scandir(scratch_path(name), &list, NULL, alphasort);
    for (int k = 0; k < all; k++) {
        const char *entry = list[k]->d_name;
        if (entry[0] != '.') {
            ck_assert_msg(sscanf(entry, "checkpoint_%d", &found[n]) == 1, "a stray file: %s", entry);
            snprintf(expected, sizeof expected, "checkpoint_%08d.h5", found[n]);
            ck_assert_str_eq(entry, expected);
            n += n < 64;
        }
        free(list[k]);
    }
    if (all >= 0)
        free(list);
    found[n] = -1;
    return found;
}

/* All checkpoints must be complete, each with a fingerprint. A run must go on from the last one, or from the one
 * `back` before it. */
static void all_good(const char *directory, int back, const char *overrides)
{
    const int *step = checkpoints(directory);
    ck_assert_int_ge(step[back], 0);
    for (; *step >= 0; step++) {
        CLI(0, "fingerprint %s/checkpoints/checkpoint_%08d.h5", directory, *step);
        CLI(0, "info %s/checkpoints/checkpoint_%08d.h5", directory, *step);
    }
    CLI(0, "run small.ini --quiet --output after --restart %s/checkpoints/checkpoint_%08d.h5 --steps %d %s", directory,
        step[-1 - back], step[-1 - back] + 5, overrides);
}

static void message_has_place_and_cause(void)
{
    cli_has(cli.err, "larmor: step ");
    cli_has(cli.err, "(from t = ");
    cli_has(cli.err, "largest |B| ");
    cli_has(cli.err, " at x = ");
    cli_has(cli.err, ", y = ");
    cli_has(cli.err, "Likely cause: ");
}

/* A constant E accelerates the ions until one of them could cross more cells in a step than the tiles allow. */
START_TEST(too_fast)
{
    CLI(1, "run small.ini --quiet --output u fields.solver=none fields.ex=5 run.dt=0.1 --steps 1000 "
           "output.checkpoint_every=20 output.keep=1");
    message_has_place_and_cause();
    cli_has(cli.err, "of species protons could cross");
    cli_has(cli.err, "the last good state is in u/checkpoints/checkpoint_000000");
    const int *step = checkpoints("u");
    ck_assert_msg(step[0] % 20 == 0 && step[1] > step[0] && step[2] == -1, "the one before must stay");
    ck_assert(!cli_exists("u/run.json"));
    all_good("u", 1, "fields.solver=none run.dt=0.1");
}
END_TEST

/* The frequency of the fastest wave of the grid grows a little in this run. The limit is set to what the first steps
 * need. */
START_TEST(too_many_substeps)
{
    CLI(1, "run small.ini --quiet --output none fields.substep_safety=0.02 fields.max_substeps=1");
    message_has_place_and_cause();
    int needed = 0;
    char *at = strstr(cli.err, "the fields need ");
    ck_assert(at && sscanf(at, "the fields need %d substeps", &needed) == 1);
    ck_assert_msg(!cli_exists("none"), "nothing is there to keep");
    CLI(1, "run small.ini --quiet --output u fields.substep_safety=0.02 fields.max_substeps=%d --steps 1000", needed);
    message_has_place_and_cause();
    cli_has(cli.err, "fields.max_substeps too small");
    all_good("u", 0, "fields.substep_safety=0.02");
    CLI(1,
        "run small.ini --quiet --output u fields.substep_safety=0.02 fields.max_substeps=1 --restart "
        "u/checkpoints/checkpoint_%08d.h5 --steps 1000",
        checkpoints("u")[0]);
    message_has_place_and_cause();
}
END_TEST

START_TEST(too_much_resistivity)
{
    char text[sizeof cli_small + 200];
    CLI(1, "run small.ini --quiet --output none electrons.closure=evolved fields.eta=1000");
    message_has_place_and_cause();
    cli_has(cli.err, "with evolved electrons the substeps have all of it");
    ck_assert(!cli_exists("none"));
    snprintf(text, sizeof text,
             "%s[body.disk]\nshape = disk\nx = 0.5*lx\ny = 0.5*ly\nradius = 0.2*lx\n"
             "fields = resistive\nresistivity = 1000\n",
             cli_small);
    make_file("body.ini", text);
    CLI(0, "run body.ini --quiet --output body electrons.closure=evolved");
}
END_TEST

/* All ions leave some cells in one step, and a division by the density there gives infinity. */
START_TEST(not_finite)
{
    CLI(1,
        "run small.ini --quiet --output u output.checkpoint_every=1 output.fields_every=1 fields.density_floor=1e-310 "
        "fields.smoothing=0 fields.bx=0 fields.bz=0 electrons.temperature=0 species.protons.temperature=0 "
        "species.protons.particles_per_cell=1 species.protons.start=quiet species.protons.drift_x=(3-x)/0.1 --steps %d",
        1 + 4 * _i);
    message_has_place_and_cause();
    cli_has(cli.err, "a field is not finite");
    cli_has(cli.err, "no checkpoint of step 1 could be written: ");
    ck_assert_int_eq(checkpoints("u")[0], -1);
    ck_assert(cli_exists("u/fields/data_00000000.h5") && !cli_exists("u/fields/data_00000001.h5"));
    ck_assert(!cli_exists("u/run.json"));
}
END_TEST

/* A resistivity that depends on the plasma has no value, or far too large a one, from the start. `check` finds it, too.
 */
START_TEST(resistivity)
{
    static const struct {
        const char *eta, *largest, *cause;
    } odd[] = {
        {"fields.eta=sqrt(-n)", "; largest resistivity nan at x = 0.", "an expression of fields.eta or species."},
        {"fields.eta=n*1e308*1e10", "; largest resistivity inf at x = 0.", "an expression of fields.eta or species."},
        {"species.protons.eta=0*log(-n)", "; largest resistivity nan at x = 0.",
         "an expression of fields.eta or species."},
        {"fields.eta=1e200*n", "; largest resistivity 1",
         "run.dt too large for the cells, or fields.eta or species.NAME.eta too large"}};
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        for (int check = 0; check < 2; check++) {
            CLI(1, "%s small.ini %s %s", check ? "check" : "run", check ? "" : "--quiet --output none", odd[k].eta);
            message_has_place_and_cause();
            cli_has(cli.err, odd[k].largest);
            cli_has(strstr(cli.err, "Likely cause: "), odd[k].cause);
            ck_assert(!cli_exists("none"));
        }
}
END_TEST

/* A source grows without bounds. The run finds this before the step and keeps the state at its beginning. */
START_TEST(source_without_bounds)
{
    char text[2048];
    snprintf(text, sizeof text, "%s[background.gas]\ninitial = 1\nvx = 0.1\nsource = exp(1000*t)\n", cli_small);
    make_file("small.ini", text);
    CLI(1, "run small.ini --quiet --output u");
    cli_has(cli.err, "step 18 (from t = 0.34) cannot be taken: the background field gas or what it is given reaches ");
    cli_has(cli.err, "the last good state is in u/checkpoints/checkpoint_00000017.h5");
    CLI(1, "run small.ini --quiet --output v --restart u/checkpoints/checkpoint_00000017.h5");
    cli_has(cli.err, "nothing has been written");
    ck_assert(!cli_exists("v"));
}
END_TEST

/* A problem that is found within a step destroys the state. The message names the last good checkpoint. */
START_TEST(lost_within_a_step)
{
    CLI(0, "run small.ini --quiet --output u electrons.closure=evolved electrons.conductivity=0.01 --steps 10 "
           "output.checkpoint_every=10");
    CLI(1, "run small.ini --quiet --output v electrons.closure=evolved electrons.conductivity=1e12 --restart "
           "u/checkpoints/checkpoint_00000010.h5");
    cli_has(cli.err, "step 11 (from t = 0.2) cannot be taken: the electrons' heat conduction needs ");
    cli_has(cli.err, "the state has been lost within the step; no checkpoint has been written since "
                     "u/checkpoints/checkpoint_00000010.h5");
    CLI(1, "run small.ini --quiet --output w electrons.closure=evolved electrons.conductivity=1e12");
    cli_has(cli.err, "the state has been lost within the step; the last checkpoint is "
                     "w/checkpoints/checkpoint_00000000.h5");
    CLI(0, "fingerprint w/checkpoints/checkpoint_00000000.h5");
}
END_TEST

/* larmor.messages has what a run without progress says on stderr: warnings, changed settings and the failure. A run
 * that says nothing leaves no such file, also where an earlier run has left one. */
START_TEST(messages_in_a_file)
{
    CLI(0, "run small.ini --quiet --output u electrons.closure=evolved --steps 10 output.checkpoint_every=10");
    ck_assert_msg(!*cli.err && !cli_exists("u/larmor.messages"), "%s", cli.err);
    CLI(1, "run small.ini --quiet --output v electrons.closure=evolved electrons.conductivity=1e12 "
           "--restart u/checkpoints/checkpoint_00000010.h5");
    cli_has(cli.err, "the run goes on with other settings:\n  electrons.");
    cli_has(cli.err, "the state has been lost within the step");
    char *file = cli_read("v/larmor.messages");
    ck_assert_str_eq(file, cli.err);
    free(file);
    CLI(0, "run small.ini --quiet --output v --overwrite --steps 1");
    ck_assert(!cli_exists("v/larmor.messages"));
    CLI(0, "run small.ini --quiet --output w run.dt=0.21 fields.bx=1 --steps 1");
    cli_has(cli.err, "larmor: warning: ");
    file = cli_read("w/larmor.messages");
    ck_assert_str_eq(file, cli.err);
    free(file);
}
END_TEST

static void no_leak_check(void)
{
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* HDF5 leaks memory of what it could not write */
}

static void one_message(const char *reason)
{
    cli_has(cli.err, reason);
    ck_assert_msg(!strncmp(cli.err, "larmor: disk/", 13) && !strstr(cli.err + 1, "larmor: "), "not one message: %s",
                  cli.err);
}

/* Half-written files have a temporary name or none. */
static void nothing_half_written(const char *directory)
{
    static const char *const names[] = {"run.json", "run.json.part", "run.ini.part", "series.h5.part"};
    char path[128];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[k]);
        ck_assert_msg(!cli_exists(path), "%s is there", path);
    }
}

/* Mounts a small disk that only this process sees. Returns 0 when that is not permitted. */
static int small_disk(int kilobytes)
{
    char size[32];
    snprintf(size, sizeof size, "size=%dk", kilobytes);
    ck_assert_int_eq(mkdir(scratch_path("disk"), 0777), 0);
    if (!unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
        !mount("tmpfs", scratch_path("disk"), "tmpfs", 0, size))
        return 1;
    fprintf(stderr, "skipped: full disk of %d kB (no right to mount one)\n", kilobytes);
    return 0;
}

START_TEST(full_disk)
{
    static const int kilobytes[] = {4, 40, 400, 1000, 1100, 1200, 1300, 1400};
    if (!small_disk(kilobytes[_i]))
        return;
    cli.prepare = no_leak_check;
    CLI(1, "run small.ini --quiet --output disk/u output.checkpoint_every=5 output.keep=100 output.fields_every=5 "
           "output.particles_every=5");
    one_message("No space left on device");
    nothing_half_written("disk/u");
    if (checkpoints("disk/u")[0] >= 0)
        all_good("disk/u", 0, "");
    ck_assert(kilobytes[_i] < 1100 || cli_exists("after/run.json"));
    umount2(scratch_path("disk"), MNT_DETACH);
}
END_TEST

/* The files of an earlier run are still complete. */
START_TEST(full_disk_at_a_restart)
{
    if (!small_disk(1500))
        return;
    cli.prepare = no_leak_check;
    CLI(0, "run small.ini --quiet --output disk/u output.checkpoint_every=10 output.keep=2 --steps 20");
    FILE *filler = fopen(scratch_path("disk/filler"), "wb");
    for (int k = 0; k < 1500 && filler; k++)
        fprintf(filler, "%1023d\n", k);
    if (filler)
        fclose(filler);
    CLI(1, "run small.ini --quiet --output disk/u output.checkpoint_every=10 output.keep=2 --restart "
           "disk/u/checkpoints/checkpoint_00000010.h5");
    one_message("No space left on device");
    nothing_half_written("disk/u");
    ck_assert(checkpoints("disk/u")[0] == 10 && checkpoints("disk/u")[1] == 20);
    all_good("disk/u", 0, "");
    umount2(scratch_path("disk"), MNT_DETACH);
}
END_TEST

/* The disk has one page less than the run needs, so its last file, run.json, does not fit. During the run the lock
 * takes space too. */
START_TEST(full_disk_at_the_end)
{
    struct statvfs disk;
    char size[32];
    if (!small_disk(4000))
        return;
    cli.prepare = no_leak_check;
    CLI(0, "run small.ini --quiet --output disk/u");
    ck_assert_int_eq(statvfs(scratch_path("disk"), &disk), 0);
    snprintf(size, sizeof size, "size=%lu", (unsigned long)((disk.f_blocks - disk.f_bfree) * disk.f_frsize));
    umount2(scratch_path("disk"), MNT_DETACH);
    ck_assert_int_eq(mount("tmpfs", scratch_path("disk"), "tmpfs", 0, size), 0);
    CLI(1, "run small.ini --quiet --output disk/u");
    one_message("disk/u/run.json: cannot be written: No space left on device");
    nothing_half_written("disk/u");
    umount2(scratch_path("disk"), MNT_DETACH);
}
END_TEST

static void small_files(void)
{
    struct rlimit limit = {1 << 20, 1 << 20};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    no_leak_check();
}

/* A full disk without special rights: no file may be larger than 1 MiB, and the checkpoints would be larger. */
START_TEST(file_size_limit)
{
    cli.prepare = small_files;
    CLI(1, "run small.ini --quiet --output disk/u output.checkpoint_every=10 species.protons.particles_per_cell=300");
    one_message("File too large");
    cli_has(cli.err, "no checkpoint of step 10 could be written");
    nothing_half_written("disk/u");
    ck_assert_int_eq(checkpoints("disk/u")[0], -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_failure");
    TCase *t = tcase_create("failures");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, too_fast);
    tcase_add_test(t, too_many_substeps);
    tcase_add_test(t, too_much_resistivity);
    tcase_add_loop_test(t, not_finite, 0, 2);
    tcase_add_test(t, resistivity);
    tcase_add_test(t, source_without_bounds);
    tcase_add_test(t, lost_within_a_step);
    tcase_add_test(t, messages_in_a_file);
    tcase_add_loop_test(t, full_disk, 0, 8);
    tcase_add_test(t, full_disk_at_a_restart);
    tcase_add_test(t, full_disk_at_the_end);
    tcase_add_test(t, file_size_limit);
    suite_add_tcase(suite, t);
    return cli_main(suite);
}
