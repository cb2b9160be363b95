/* Fields and particles as one openPMD series (output.particles_with_fields). */
#include "cli.h"

#include "dataset.h"

#define TOGETHER " output.fields_every=10 output.particles_every=20 output.particles_with_fields=on"
#define APART " output.fields_every=10 output.particles_every=20"

enum { ROOM = 1024 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* `order`: 0 where particles may have another order. */
static void same_values(const char *a, const char *b, int step, const char *name, int order)
{
    const char *const files[2] = {a, b};
    char path[128];
    hsize_t count[2];
    double values[2][ROOM];
    snprintf(path, sizeof path, "/data/%d/%s", step, name);
    for (int k = 0; k < 2; k++) {
        const hid_t file = open_h5(scratch_path(files[k]));
        count[k] = read_dataset(file, path, H5T_NATIVE_DOUBLE, ROOM, values[k]);
        H5Fclose(file);
        if (!order)
            qsort(values[k], count[k], sizeof **values, by_value);
    }
    ck_assert_uint_eq(count[0], count[1]);
    ck_assert_uint_gt(count[0], 90);
    ck_assert_mem_eq(values[0], values[1], count[0] * sizeof **values);
}

/* One thread gives the particles the same order in both runs. */
START_TEST(the_same_values_in_one_file)
{
    CLI(0, "run small.ini --quiet --output one" TOGETHER);
    CLI(0, "run small.ini --quiet --output two" APART);
    ck_assert_str_eq(cli_fingerprint("one"), cli_fingerprint("two"));
    ck_assert(!cli_exists("one/particles"));
    for (int step = 0; step <= 40; step += 20) {
        char one[64], fields[64], particles[64];
        snprintf(one, sizeof one, "one/fields/data_%08d.h5", step);
        snprintf(fields, sizeof fields, "two/fields/data_%08d.h5", step);
        snprintf(particles, sizeof particles, "two/particles/data_%08d.h5", step);
        same_values(one, fields, step, "meshes/B/z", 1);
        same_values(one, fields, step, "meshes/n_protons", 1);
        same_values(one, particles, step, "particles/protons/position/x", 1);
        same_values(one, particles, step, "particles/protons/momentum/z", 1);
    }
    CLI(0, "info one/fields/data_00000020.h5");
    cli_has(cli.out, "mesh       B: x, y, z");
    cli_has(cli.out, "species    protons: 768 particles");
    CLI(0, "info one/fields/data_00000010.h5");
    cli_has(cli.out, "mesh       B: x, y, z");
    ck_assert_ptr_null(strstr(cli.out, "species"));
}
END_TEST

/* What an earlier part of the run has written in the other layout stays, and the run goes on to the same end. */
START_TEST(a_restart_changes_the_layout)
{
    static const char *const layouts[2] = {APART, TOGETHER};
    CLI(0, "run small.ini --quiet --output whole" TOGETHER);
    CLI(0, "run small.ini --quiet --output part --steps 30 output.checkpoint_every=10%s", layouts[_i]);
    CLI(0, "run small.ini --quiet --output part --restart latest%s", layouts[1 - _i]);
    ck_assert_str_eq(cli.err, "");
    ck_assert_str_eq(cli_fingerprint("whole"), cli_fingerprint("part"));
    same_values("whole/fields/data_00000020.h5",
                _i ? "part/fields/data_00000020.h5" : "part/particles/data_00000020.h5", 20,
                "particles/protons/momentum/x", 0);
    same_values("whole/fields/data_00000040.h5",
                _i ? "part/particles/data_00000040.h5" : "part/fields/data_00000040.h5", 40,
                "particles/protons/momentum/x", 0);
    same_values("whole/fields/data_00000040.h5", "part/fields/data_00000040.h5", 40, "meshes/E/x", 1);
}
END_TEST

START_TEST(check_counts_files)
{
    CLI(0, "check small.ini" TOGETHER);
    cli_has(cli.out, "fields: 5 files");
    cli_has(cli.out, "particles in the files of fields: 3 files");
}
END_TEST

static const char *const bad[] = {
    "output.particles_every=20",
    "output.particles_every=20 output.fields_every=40",
    "output.particles_every=20 output.fields_every=15",
};

START_TEST(particles_need_fields)
{
    CLI(2, "run small.ini --output out output.particles_with_fields=on %s", bad[_i]);
    cli_has(cli.err, "particles_with_fields: on needs fields at each step that has particles: make particles_every a "
                     "multiple of fields_every");
    ck_assert_int_eq(cli_lines(cli.err), 1);
    ck_assert(!cli_exists("out"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("one series");
    TCase *t = tcase_create("one series");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_add_test(t, the_same_values_in_one_file);
    tcase_add_loop_test(t, a_restart_changes_the_layout, 0, 2);
    tcase_add_test(t, check_counts_files);
    tcase_add_loop_test(t, particles_need_fields, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
