/* [data.NAME]: arrays of HDF5 files as functions, by hand and from the output of a run. */
#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "inside.h"
#include "output/output.h"
#include "scratch.h"
#include "sim_run.h"
#include "suite.h"

static struct lm_config config;

/* values[ny][nx], as single or double precision. */
static void write_array(const char *file, int nx, int ny, const double *values, hid_t type)
{
    const hsize_t size[2] = {(hsize_t)ny, (hsize_t)nx};
    hid_t h = H5Fcreate(scratch_path(file), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t data = H5Dcreate2(h, "values", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(h);
}

/* A domain of 8 x 3 d_i; `more` begins in [data.a]. */
static int read_with(const char *more)
{
    char text[2048];
    snprintf(text, sizeof text,
             "[run]\ndt = 0.1\nsteps = 2\n[grid]\nnx = 8\nny = 3\nlx = 8\nly = 3\n[species.p]\nparticles_per_cell = 1\n"
             "[data.a]\n%s",
             more);
    make_file("case.ini", text);
    lm_config_free(&config);
    return lm_config_read(scratch_path("case.ini"), 0, NULL, &config);
}

static double value_at(const char *text, double x, double y)
{
    double v = NAN;
    ck_assert_msg(!lm_expr_at(config.names, text, 1, &x, &y, 0, &v), "%s", lm_error());
    return v;
}

static const double rows[12] = {1, 2, 4, 8, 10, 20, 40, 80, 100, 200, 400, 800}; /* [3][4] */
#define FILE_A "file = a.h5\ndataset = values\n"

/* Cells of 2 x 1 d_i; values at their centres x = 1, 3, 5, 7 and y = 0.5, 1.5, 2.5. */
START_TEST(interpolation)
{
    write_array("a.h5", 4, 3, rows, _i ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT);
    ck_assert_msg(!read_with(FILE_A), "%s", lm_error());
    for (int k = 0; k < 12; k++)
        ck_assert_double_eq(value_at("a", 1 + 2 * (k % 4), 0.5 + k / 4), rows[k]);
    ck_assert_double_eq_tol(value_at("2*a + x", 2, 0.5), 2 * 1.5 + 2, 1e-14);
    ck_assert_double_eq_tol(value_at("a", 1, 1), 5.5, 1e-14);
    ck_assert_double_eq_tol(value_at("a", 3.5, 1.75), 0.75 * (0.75 * 20 + 0.25 * 40) + 0.25 * (0.75 * 200 + 0.25 * 400),
                            1e-12);
    /* periodic: between the last value and the first one */
    ck_assert_double_eq_tol(value_at("a", 7.5, 0.5), 0.75 * 8 + 0.25 * 1, 1e-14);
    ck_assert_double_eq_tol(value_at("a", 0, 1.5), 45, 1e-13);
    ck_assert_double_eq_tol(value_at("a", 3, 2.75), 0.75 * 200 + 0.25 * 2, 1e-12);
    /* walls: the last value */
    ck_assert_int_eq(read_with(FILE_A "[boundary]\nx_min = reflecting\nx_max = reflecting\n"), LM_OK);
    ck_assert_double_eq(value_at("a", 7.5, 0.5), 8);
    ck_assert_double_eq(value_at("a", 0, 1.5), 10);
    /* a part of the domain: cells of 1 x 0.5 d_i from (2, 1) on, and nothing goes on periodically */
    ck_assert_int_eq(read_with(FILE_A "from_x = lx/4\nto_x = 6\nfrom_y = 1\nto_y = 2.5\n"), LM_OK);
    ck_assert_double_eq(value_at("a", 2.5, 1.25), 1);
    ck_assert_double_eq(value_at("a", 5.5, 2.25), 800);
    ck_assert_double_eq(value_at("a", 7.9, 2.9), 800);
    ck_assert_double_eq(value_at("a", 0, 0), 1);
}
END_TEST

/* Data stand in functions and initial values, and a run can be made of them. */
START_TEST(in_a_run)
{
    write_array("a.h5", 4, 3, rows, H5T_NATIVE_DOUBLE);
    const char text[] =
        "[run]\nsteps = 1\ndt = 0.001\n[grid]\nnx = 8\nny = 3\nlx = 8\nly = 3\n[fields]\nbz = 1 + f(0.001)\n"
        "[data.a]\nfile = a.h5\ndataset = values\n[functions]\nf(s) = s*a\n"
        "[species.p]\nparticles_per_cell = 2\ndensity = f(0.01) + 1\n";
    struct lm_sim *sim = sim_new(text, NULL);
    double *b = array_of(sim, LM_B + 2);
    for (int k = 0; k < 24; k++) { /* at the corners x = 1, 2, ..., y = 1, 2, 3 */
        const int i = k % 8, j = k / 8;
        const double left = rows[4 * j + i / 2], right = rows[4 * j + (i / 2 + 1) % 4];
        const double up = rows[4 * ((j + 1) % 3) + i / 2], corner = rows[4 * ((j + 1) % 3) + (i / 2 + 1) % 4];
        const double want = i % 2 ? 0.25 * (left + right + up + corner) : 0.5 * (left + up);
        ck_assert_double_eq_tol(b[lm_at(&sim->grid, i, j)], 1 + 0.001 * want, 1e-12);
    }
    free(b);
    sim_free(sim);
}
END_TEST

/* The fields of a run, as they stand in its output, are exactly those of the run on the same grid. */
START_TEST(from_a_run)
{
    static const char text[] = "[run]\nsteps = 1\ndt = 0.01\n[grid]\nnx = 8\nny = 3\nlx = 8\nly = 3\n"
                               "[fields]\nbx = 1\naz = 0.1*cos(2*pi*x/lx)*cos(2*pi*y/ly)\nbz = sin(2*pi*x/lx)\n"
                               "[species.p]\nparticles_per_cell = 9\ndensity = 1 + 0.5*cos(2*pi*y/ly)\n";
    struct lm_sim *sim = sim_new(text, NULL);
    snprintf(((struct lm_config *)sim->config)->output.directory, LM_MAX_PATH, "%s", scratch_path("out"));
    ck_assert_int_eq(lm_output_fields(sim, sim->config, 0), LM_OK);
    static const struct {
        const char *dataset;
        int array;
        struct lm_cell_offset offset;
    } meshes[] = {{"data/0/meshes/B/x", LM_B, {0, 0.5}},
                  {"data/0/meshes/B/y", LM_B + 1, {0.5, 0}},
                  {"data/0/meshes/B/z", LM_B + 2, {0.5, 0.5}},
                  {"data/0/meshes/n_p", LM_SPECIES_N, {0, 0}}};
    for (size_t m = 0; m < sizeof meshes / sizeof *meshes; m++) {
        char more[256];
        snprintf(more, sizeof more, "file = out/fields/data_00000000.h5\ndataset = %s\n", meshes[m].dataset);
        ck_assert_msg(!read_with(more), "%s", lm_error());
        double *want = array_of(sim, meshes[m].array), *got = calloc(sim->grid.size, sizeof *got);
        ck_assert_int_eq(lm_expr_fill(config.names, "a", &sim->grid, meshes[m].offset, got), LM_OK);
        for (int k = 0; k < 24; k++)
            ck_assert_double_eq(got[lm_at(&sim->grid, k % 8, k / 8)], want[lm_at(&sim->grid, k % 8, k / 8)]);
        free(want);
        free(got);
    }
    sim_free(sim);
}
END_TEST

static const struct {
    const char *more, *message;
} bad[] = {
    {"file = b.h5\ndataset = values\n", "case.ini:12: data.a.file: "},
    {"file = b.h5\ndataset = values\n", "no such file"},
    {"file = a.h5\ndataset = other\n", "the dataset other is missing"},
    {"file = case.ini\ndataset = values\n", "is not an HDF5 file"},
    {"file = a.h5\n", "data.a.dataset: required and not given"},
    {FILE_A "from_x = 5\nto_x = 4\n", "from_x is not below to_x"},
    {FILE_A "[data.dx]\n" FILE_A, "data.dx.file: the name \"dx\" is taken"},
    {FILE_A "[data.sin]\n" FILE_A, "data.sin.file: the name \"sin\" is taken"},
    {FILE_A "[const]\na = 1\n", "const.a: the name \"a\" is taken"},
    {FILE_A "[const]\nb = a\n", "const.b: a depends on x, which cannot be used in a number"},
    {FILE_A "[fields]\nbz = aa\n", "did you mean a?"},
};

START_TEST(wrong_input)
{
    write_array("a.h5", 4, 3, rows, H5T_NATIVE_DOUBLE);
    ck_assert_int_eq(read_with(bad[_i].more), LM_BAD_INPUT);
    assert_error_has(bad[_i].message);
}
END_TEST

/* A value that is not a number is one only where it is used. */
START_TEST(not_a_number)
{
    double values[12];
    memcpy(values, rows, sizeof values);
    values[5] = NAN; /* at x = 3, y = 1.5 */
    write_array("a.h5", 4, 3, values, H5T_NATIVE_DOUBLE);
    ck_assert_int_eq(read_with(FILE_A), LM_OK);
    ck_assert_double_eq(value_at("a", 5, 1.5), 40);
    ck_assert_int_eq(read_with(FILE_A "[fields]\neta = a\n"), LM_BAD_INPUT);
    assert_error_has("fields.eta: \"a\" is not a number at x = ");
}
END_TEST

static void teardown(void)
{
    lm_config_free(&config);
    scratch_remove();
}

int main(void)
{
    Suite *suite = suite_create("data");
    TCase *t = tcase_create("data");
    tcase_add_checked_fixture(t, scratch_make, teardown);
    tcase_add_loop_test(t, interpolation, 0, 2);
    tcase_add_test(t, in_a_run);
    tcase_add_test(t, from_a_run);
    tcase_add_loop_test(t, wrong_input, 0, sizeof bad / sizeof *bad);
    tcase_add_test(t, not_a_number);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
