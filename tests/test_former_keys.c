/* Former names of keys: they give the same configuration as the present ones, with a note, in files, on command lines,
 * in run.ini of an output directory and in checkpoints. */
#include <hdf5.h>

#include "base/checksum.h"
#include "base/text.h"
#include "cli.h"
#include "config/keys.h"

#define HEAD                                                                                                           \
    "[run]\ndt = 0.02\nsteps = 40\nthreads = 1\nbackend = cpu\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n"               \
    "[electrons]\nclosure = evolved\ntemperature = 0.5\n[fields]\nbx = 1\neta = 0.01\n"                                \
    "[boundary]\nx_min = reflecting\nx_max = reflecting\ny_min = reflecting\ny_max = reflecting\n"                     \
    "[background.q]\nkind = neutral_gas\ninitial = 1\n[species.p]\ntemperature = 0.5\nparticles_per_cell = 8\nstart "  \
    "= quiet\n"

/* Each key that has a former name has a meaning in one of them. */
static const char *const bases[] = {HEAD, HEAD "gas = q\n"};
enum { BASES = sizeof bases / sizeof *bases };

static struct lm_config config;

static void teardown(void)
{
    lm_config_free(&config);
}

/* A base with one more line after the header of the section. */
static const char *with_line(int base, const char *section, const char *line)
{
    static char text[2048];
    char header[64];
    snprintf(header, sizeof header, "[%s]\n", section);
    const char *at = strstr(bases[base], header);
    ck_assert_ptr_nonnull(at);
    at += strlen(header);
    snprintf(text, sizeof text, "%.*s%s\n%s", (int)(at - bases[base]), bases[base], line, at);
    return text;
}

static int read_text(const char *text, const char *override)
{
    lm_config_free(&config);
    return lm_config_read_text("case.ini", text, override ? 1 : 0, &override, &config);
}

/* All settings, to be freed. */
static char *echo(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_int_eq(lm_config_write(&config, out), LM_OK);
    fclose(out);
    return text;
}

static const char *example_of(const char *section)
{
    const struct lm_named *kind = lm_named_of(section);
    return !kind ? section : !strcmp(kind->kind, "species") ? "species.p" : "background.q";
}

/* A value that is not the default. */
static const char *value_of(const struct lm_key *key)
{
    const struct lm_choice *c = key->choices;
    if (!c)
        return "0.5";
    while (c[1].name)
        c++;
    return c->name;
}

static void same_as_present(int base, const struct lm_key *key)
{
    char line[128], expected[256], *present = echo();
    const char *section = example_of(key->section), *value = value_of(key);
    snprintf(line, sizeof line, "%s = %s", key->formerly, value);
    ck_assert_msg(!read_text(with_line(base, section, line), NULL), "%s", lm_error());
    char *former = echo();
    ck_assert_str_eq(former, present);
    snprintf(expected, sizeof expected, "note: %s.%s is now called %s\n", section, key->formerly, key->name);
    ck_assert_msg(config.notes && !strncmp(config.notes, "case.ini:", 9) && strstr(config.notes, expected), "%s",
                  config.notes);
    free(former);

    snprintf(line, sizeof line, "%s.%s=%s", section, key->formerly, value);
    ck_assert_msg(!read_text(bases[base], line), "%s", lm_error());
    former = echo();
    ck_assert_str_eq(former, present);
    snprintf(expected, sizeof expected, "command line: note: %s.%s is now called %s\n", section, key->formerly,
             key->name);
    ck_assert_str_eq(config.notes, expected);
    free(former);
    free(present);
}

START_TEST(every_former_name)
{
    const struct lm_key *key = &lm_keys[_i];
    char line[128];
    int found = 0;
    if (!key->formerly)
        return;
    ck_assert_msg(lm_keys_find(key->section, key->formerly) < 0, "%s is a present name too", key->formerly);
    for (int base = 0; base < BASES; base++) {
        ck_assert_msg(!read_text(bases[base], NULL), "%s", lm_error());
        char *plain = echo();
        snprintf(line, sizeof line, "%s = %s", key->name, value_of(key));
        if (!read_text(with_line(base, example_of(key->section), line), NULL)) {
            found = 1;
            ck_assert_ptr_null(config.notes);
            char *changed = echo();
            ck_assert_str_ne(plain, changed);
            free(changed);
            same_as_present(base, key);
        }
        free(plain);
    }
    ck_assert_msg(found, "%s: no base accepts it: %s", key->name, lm_error());
}
END_TEST

/* The lines count from 1; [species.p] is on line 25. */
START_TEST(both_names)
{
    static const char *const lines[] = {"slowing = 1\ndrag_rate = 2", "drag_rate = 2\nslowing = 1"};
    for (int k = 0; k < 2; k++) {
        char expected[128];
        snprintf(expected, sizeof expected,
                 "case.ini:%d: species.p.slowing: given twice, on line %d as drag_rate, which is its name now", 26 + k,
                 27 - k);
        ck_assert_int_eq(read_text(with_line(0, "species.p", lines[k]), NULL), LM_BAD_INPUT);
        ck_assert_str_eq(strstr(lm_error(), "case.ini:"), lm_error());
        ck_assert_msg(!strncmp(lm_error(), expected, strlen(expected)), "%s", lm_error());
    }
    static const char *const words[] = {"species.p.slowing=1", "run.dt=0.1", "species.p.drag_rate=2"};
    ck_assert_int_eq(lm_config_check_repeats(3, words), LM_BAD_INPUT);
    ck_assert_str_eq(lm_error(), "command line: species.p.drag_rate: given twice, as species.p.slowing=1 and as "
                                 "species.p.drag_rate=2: leave one out");
    ck_assert_int_eq(lm_config_check_repeats(2, words), LM_OK);
}
END_TEST

/* The command line replaces what the file says, whichever names both use. */
START_TEST(command_line_replaces_file)
{
    ck_assert_msg(!read_text(with_line(0, "species.p", "slowing = 1"), "species.p.drag_rate=2"), "%s", lm_error());
    ck_assert_double_eq(config.species[0].drag_rate, 2);
    ck_assert_msg(!read_text(with_line(0, "species.p", "drag_rate = 1"), "species.p.slowing=2"), "%s", lm_error());
    ck_assert_double_eq(config.species[0].drag_rate, 2);
}
END_TEST

/* A former name counts in its own section only, and suggestions are present names. */
START_TEST(unknown_names)
{
    static const struct {
        const char *section, *line, *message;
    } bad[] = {{"species.p", "drag_rat = 1", "species.p.drag_rat: unknown key, did you mean drag_rate?"},
               {"species.p", "slowng = 1", "species.p.slowng: unknown key"},
               {"species.p", "friction = on", "species.p.friction: unknown key"},
               {"species.p", "slowing = -1", "species.p.drag_rate: -1 is out of range (>= 0)"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char expected[128];
        snprintf(expected, sizeof expected, "case.ini:26: %s", bad[k].message);
        ck_assert_int_eq(read_text(with_line(0, bad[k].section, bad[k].line), NULL), LM_BAD_INPUT);
        ck_assert_str_eq(lm_error(), expected);
    }
}
END_TEST

/* A key that has been removed gives one message, which says what to do. [fields] is on line 14. */
START_TEST(removed_keys)
{
    static const char *const lines[] = {"vacuum = zero_e", "eta_vacuum = 0.3"}, *const words[] = {
                                                                                    "fields.vacuum=floor",
                                                                                    "fields.eta_vacuum=0"};
    for (int k = 0; k < 2; k++) {
        char expected[256];
        snprintf(expected, sizeof expected,
                 "fields.%.*s: the key has been removed, as the program treats voids by itself: leave it out. A "
                 "resistivity of thin plasma is fields.eta as an expression of n, such as n < 0.1 ? 1 : 0",
                 (int)strcspn(lines[k], " "), lines[k]);
        ck_assert_int_eq(read_text(with_line(0, "fields", lines[k]), NULL), LM_BAD_INPUT);
        ck_assert_str_eq(strstr(lm_error(), "case.ini:15: "), lm_error());
        ck_assert_str_eq(lm_error() + strlen("case.ini:15: "), expected);
        ck_assert_int_eq(read_text(bases[0], words[k]), LM_BAD_INPUT);
        ck_assert_str_eq(strstr(lm_error(), "command line: "), lm_error());
        ck_assert_str_eq(lm_error() + strlen("command line: "), expected);
    }
}
END_TEST

#define NOTE_IN_FILE "old.ini:26: note: species.p.slowing is now called drag_rate\n"
#define NOTE_ON_LINE "command line: note: fields.friction is now called electron_friction\n"

START_TEST(removed_key_on_command_line)
{
    make_file("now.ini", bases[0]);
    cli_refuses("run now.ini fields.eta_vacuum=0", "command line: fields.eta_vacuum: the key has been removed",
                "leave it out");
}
END_TEST

START_TEST(notes_of_commands)
{
    make_file("old.ini", with_line(0, "species.p", "slowing = 1"));
    CLI(0, "check old.ini fields.friction=off");
    ck_assert_str_eq(cli.err, NOTE_IN_FILE NOTE_ON_LINE);
    CLI(0, "run old.ini --quiet fields.friction=off");
    ck_assert_str_eq(cli.err, "");
    CLI(0, "run old.ini --overwrite --steps 1 fields.friction=off");
    ck_assert_ptr_eq(strstr(cli.err, NOTE_IN_FILE NOTE_ON_LINE), cli.err);
    ck_assert_int_eq(lm_text_mentions(cli.err, "note"), 2);
    char *settings = cli_read("old.out/run.ini");
    cli_has(settings, "\ndrag_rate = 1\n");
    cli_has(settings, "\nelectron_friction = off\n");
    ck_assert_ptr_null(strstr(settings, "slowing"));
    free(settings);
    CLI(0, "scan old.ini species.p.pitch_max=90,170 run.steps=1");
    ck_assert_int_eq(lm_text_mentions(cli.err, "note"), 2);
    cli_refuses("run old.ini --overwrite species.p.drag_rate=1 species.p.slowing=1",
                "species.p.drag_rate: given twice, as species.p.drag_rate=1 and as species.p.slowing=1", NULL);
}
END_TEST

/* Gives all keys their former names, as a text of an earlier program has them. To be freed. */
static char *in_former_names(const char *text)
{
    char *out = NULL, section[64] = "";
    size_t size = 0;
    int count = 0;
    FILE *f = open_memstream(&out, &size);
    for (const char *line = text; *line;) {
        const int n = (int)strcspn(line, "\n"), length = (int)strcspn(line, " =\n");
        if (*line == '[')
            snprintf(section, sizeof section, "%.*s", n - 2, line + 1);
        const struct lm_named *kind = lm_named_of(section);
        char name[64];
        snprintf(name, sizeof name, "%.*s", length, line);
        const int k = lm_keys_find(kind ? kind->section : section, name);
        const char *former = k >= 0 ? lm_keys[k].formerly : NULL;
        count += former != NULL;
        fprintf(f, "%s%.*s\n", former ? former : name, n - length, line + length);
        line += n + (line[n] == '\n');
    }
    fclose(f);
    ck_assert_int_gt(count, 8);
    return out;
}

/* Puts the settings of a checkpoint into former names. */
static void age_checkpoint(const char *path)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), a = H5Aopen(file, "configuration", H5P_DEFAULT);
    ck_assert(file >= 0 && a >= 0);
    hid_t type = H5Tcopy(H5Aget_type(a)), space = H5Aget_space(a);
    const size_t size = H5Tget_size(type);
    char *text = calloc(size + 1, 1);
    ck_assert(H5Aread(a, type, text) >= 0);
    char *former = in_former_names(text);
    H5Tset_size(type, strlen(former) + 1);
    H5Aclose(a);
    H5Adelete(file, "configuration");
    a = H5Acreate2(file, "configuration", type, space, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(a >= 0 && H5Awrite(a, type, former) >= 0);
    H5Aclose(a), H5Sclose(space), H5Tclose(type), H5Fclose(file);
    ck_assert_int_eq(lm_checksum_write(path), LM_OK);
    free(text), free(former);
}

/* A run of an earlier program: its settings are not different, and it goes on with the same bits. */
START_TEST(restart_of_an_old_run)
{
    make_file("now.ini", with_line(0, "species.p", "drag_rate = 0.3\nlost_above_pitch = 170"));
    CLI(0, "run now.ini --quiet --output whole output.checkpoint_every=20");
    char print[32];
    snprintf(print, sizeof print, "%s", cli_fingerprint("whole"));
    age_checkpoint(scratch_path("whole/checkpoints/checkpoint_00000020.h5"));
    CLI(0, "run now.ini --quiet --output new --restart whole/checkpoints/checkpoint_00000020.h5");
    ck_assert_str_eq(cli.err, "");
    ck_assert_str_eq(cli_fingerprint("new"), print);
    CLI(0, "run now.ini --quiet --output other --restart whole/checkpoints/checkpoint_00000020.h5 "
           "species.p.slowing=0.4");
    cli_has(cli.err, "other settings:\n  species.p.drag_rate: 0.3 -> 0.4\n");

    char *text = cli_read("whole/run.ini"), *former = in_former_names(text);
    make_file("whole/run.ini", former);
    free(text), free(former);
    CLI(0, "run now.ini --output whole --restart latest output.checkpoint_every=20");
    cli_has(cli.err, "whole: the run is complete, at step 40; nothing is left to do");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("former names of keys");
    TCase *t = tcase_create("configurations"), *runs = tcase_create("runs");
    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_loop_test(t, every_former_name, 0, lm_key_count);
    tcase_add_test(t, both_names);
    tcase_add_test(t, command_line_replaces_file);
    tcase_add_test(t, unknown_names);
    tcase_add_test(t, removed_keys);
    suite_add_tcase(suite, t);
    tcase_add_checked_fixture(runs, scratch_make, scratch_remove);
    tcase_set_timeout(runs, 60);
    tcase_add_test(runs, removed_key_on_command_line);
    tcase_add_test(runs, notes_of_commands);
    tcase_add_test(runs, restart_of_an_old_run);
    suite_add_tcase(suite, runs);
    return suite_run(suite);
}
