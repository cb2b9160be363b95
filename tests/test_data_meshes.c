/* All meshes of an openPMD file by one section (data.NAME.meshes): the same start as with a section for each of them.
 */
#include "cli.h"

static const char fields[] = "[fields]\naz = old_az\nbz = twice/2\n[functions]\ntwice = 2*old_B_z\n"
                             "[species.protons]\nparticles_per_cell = 8\ndensity = old_n_protons\n"
                             "drift_x = old_u_protons_x\ntemperature = 0.5\n";
static const char finer[] = "[run]\nsteps = 5\ndt = 0.01\nthreads = 1\nbackend = cpu\n"
                            "[grid]\nnx = 24\nny = 16\nlx = 6\nly = 4\n";
static const char meshes[] = "[data.old]\nfile = old.out/outputs/last_00000040.h5\nmeshes = data/40/meshes\n";
#define FILE_OLD "file = old.out/outputs/last_00000040.h5\n"
static const char apart[] = "[data.old]\n" FILE_OLD "magnetic_field = data/40/meshes/B\n"
                            "[data.old_B_z]\n" FILE_OLD "dataset = data/40/meshes/B/z\n"
                            "[data.old_n_protons]\n" FILE_OLD "dataset = data/40/meshes/n_protons\n"
                            "[data.old_u_protons_x]\n" FILE_OLD "dataset = data/40/meshes/u_protons/x\n";

static void write_old(void)
{
    char text[2048];
    scratch_make();
    snprintf(text, sizeof text,
             "%sdrift_x = 0.1*cos(2*pi*(x/lx + y/ly))\n[output.last]\nevery = 40\nquantities = B, density, velocity\n",
             cli_small);
    make_file("old.ini", text);
    CLI(0, "run old.ini --quiet");
}

/* Runs `text` and returns the fingerprint of its last state, to be freed. */
static char *print_of(const char *name, const char *text)
{
    char file[64];
    if (text) {
        snprintf(file, sizeof file, "%s.ini", name);
        make_file(file, text);
        CLI(0, "run %s --quiet --output %s", file, name);
    }
    snprintf(file, sizeof file, "%s/run.json", name);
    char *json = cli_read(file), *at = strstr(json, "\"fingerprint\": ");
    ck_assert_ptr_nonnull(at);
    char *print = strndup(at, 34);
    free(json);
    return print;
}

START_TEST(same_start)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", finer, meshes, fields);
    char *one = print_of("one", text);
    snprintf(text, sizeof text, "%s%s%s", finer, apart, fields);
    char *each = print_of("each", text);
    ck_assert_str_eq(one, each);
    CLI(0, "run one/run.ini --quiet --output again"); /* the resolved settings */
    char *again = print_of("again", NULL);
    ck_assert_str_eq(one, again);
    free(one);
    free(each);
    free(again);
}
END_TEST

/* The ends of the array may be expressions. */
START_TEST(same_places)
{
    static const char density[] = "[species.protons]\nparticles_per_cell = 8\ndensity = old_n_protons\n",
                      places[] = "from_x = lx/3\nto_x = 2*lx/3\n";
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", finer, meshes, density);
    char *whole = print_of("whole", text);
    snprintf(text, sizeof text, "%s%s%s%s", finer, meshes, places, density);
    char *part = print_of("part", text);
    snprintf(text, sizeof text, "%s[data.old_n_protons]\n" FILE_OLD "dataset = data/40/meshes/n_protons\n%s%s", finer,
             places, density);
    char *apart_part = print_of("apart", text);
    ck_assert_str_eq(part, apart_part);
    ck_assert_str_ne(part, whole);
    free(whole);
    free(part);
    free(apart_part);
}
END_TEST

/* What no expression uses is not read. */
START_TEST(unused)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", cli_small, meshes);
    make_file("unused.ini", text);
    CLI(0, "check unused.ini");
    cli_has(cli.out, "meshes = data/40/meshes");
    ck_assert_ptr_null(strstr(cli.out, "old_"));
}
END_TEST

static const struct {
    const char *data, *more, *expected;
} bad[] = {
    {"[data.old]\n" FILE_OLD "meshes = data/41/meshes\n", "", "the group data/41/meshes is missing"},
    {"[data.old]\nfile = none.h5\nmeshes = data/40/meshes\n", "[fields]\neta = old_B_z\naz = old_az\n", "none.h5: "},
    {"[data.old]\nmeshes = data/40/meshes\n", "[fields]\neta = old_B_z\n", "data.old.file: required and not given"},
    {"[data.old]\n" FILE_OLD "meshes = data/40/meshes\ndataset = a\n", "", "give one of the three"},
    {"[data.old]\n" FILE_OLD "meshes = data/40/meshes\n", "[fields]\neta = old_bx + old_bx\n",
     "bad.ini:21: data.old.meshes: there is no mesh for old_bx; there are old_B_x, old_B_y, old_B_z, old_n_protons, "
     "old_u_protons_x, old_u_protons_y, old_u_protons_z, old_az"},
    {"[data.old]\n" FILE_OLD "meshes = data/40/meshes\n", "[fields]\neta = old\n", "unknown name \"old\""},
    {"[data.old]\n" FILE_OLD "meshes = data/40/meshes\n[data.old_B_x]\n" FILE_OLD "dataset = data/40/meshes/B/y\n",
     "[fields]\neta = old_B_x\n", "data.old_B_x.file: the name \"old_B_x\" is taken"},
};

START_TEST(wrong_input)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", cli_small, bad[_i].data, bad[_i].more);
    make_file("bad.ini", text);
    CLI(2, "check bad.ini");
    cli_has(cli.err, bad[_i].expected);
    ck_assert_int_eq(cli_lines(cli.err), 1);
}
END_TEST

/* Names of something else may begin like those of the meshes. */
START_TEST(other_names)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s[const]\nold_eta = 0.1\n[fields]\neta = old_eta*old_n_protons\n", cli_small,
             meshes);
    make_file("other.ini", text);
    CLI(0, "check other.ini");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("meshes of a file");
    TCase *t = tcase_create("meshes of a file");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, write_old, scratch_remove);
    tcase_add_test(t, same_start);
    tcase_add_test(t, same_places);
    tcase_add_test(t, unused);
    tcase_add_loop_test(t, wrong_input, 0, sizeof bad / sizeof *bad);
    tcase_add_test(t, other_names);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
