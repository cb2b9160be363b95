/* The vector potential of a magnetic field of a file (data.NAME.magnetic_field). A run with a known potential writes
 * its fields, and other runs begin with its field on grids of their own. Their B must be that of the known potential.
 */
#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/output.h"
#include "scratch.h"
#include "sim/setup.h"
#include "sim_run.h"
#include "suite.h"

static const char *const walls = "x_min = reflecting\nx_max = reflecting\ny_min = reflecting\ny_max = reflecting\n";
static const char known[] =
    "az = 0.3*(y + oy) + 0.2*(x + ox) + 0.1*cos(k*(x + ox))*sin(2*k*(y + oy)) + 0.05*sin(3*k*(x + "
    "ox) + k*(y + oy))\n";
static const char other[] = "az = old_az\n[data.old]\nfile = out/fields/data_00000000.h5\n"
                            "magnetic_field = data/0/meshes/B\n";

/* A square box of nx x ny cells, whose lower left corner is at (o, o) of the box [0, 16]^2 of the potential. */
static struct lm_sim *box(int nx, int ny, double length, double o, int has_walls, const char *az, const char *more)
{
    char text[2048];
    snprintf(text, sizeof text,
             "[run]\nsteps = 1\ndt = 0.001\n[const]\nk = pi/8\nox = %g\noy = %g\n[grid]\nnx = %d\nny = %d\nlx = %g\nly "
             "= %g\n"
             "[species.p]\nparticles_per_cell = 1\n[boundary]\n%s[fields]\n%s%s",
             o, o, nx, ny, length, length, has_walls ? walls : "", az, more);
    return sim_new(text, NULL);
}

static void write_fields(int nx, int ny, int has_walls)
{
    struct lm_sim *sim = box(nx, ny, 16, 0, has_walls, known, "");
    struct lm_config *c = (struct lm_config *)sim->config;
    snprintf(c->output.directory, LM_MAX_PATH, "%s", scratch_path("out"));
    ck_assert_msg(!lm_output_fields(sim, c, 0), "%s", lm_error());
    sim_free(sim);
}

/* The largest difference of B_x and B_y between the two, over the cells. */
static double largest_difference(struct lm_sim *a, struct lm_sim *b)
{
    double worst = 0;
    for (int d = 0; d < 2; d++) {
        double *of_a = array_of(a, LM_B + d), *of_b = array_of(b, LM_B + d);
        for (int j = 0; j < a->grid.ny; j++)
            for (int i = 0; i < a->grid.nx; i++)
                worst = fmax(worst, fabs(of_a[lm_at(&a->grid, i, j)] - of_b[lm_at(&a->grid, i, j)]));
        free(of_a);
        free(of_b);
    }
    return worst;
}

/* The error of B on a grid of nx x ny cells, from the file. Both runs have passed the check of div B. */
static double error_of(int nx, int ny, double length, double o, int has_walls)
{
    char ends[128];
    snprintf(ends, sizeof ends, "from_x = %g\nto_x = %g\nfrom_y = %g\nto_y = %g\n", -o, 16 - o, -o, 16 - o);
    struct lm_sim *want = box(nx, ny, length, o, has_walls, known, ""),
                  *got = box(nx, ny, length, o, has_walls, other, o > 0 ? ends : "");
    const double error = largest_difference(want, got);
    sim_free(want);
    sim_free(got);
    return error;
}

/* On the same grid B is that of the file to round-off. The size of the potential is about 10. */
START_TEST(same_grid)
{
    write_fields(32, 24, _i);
    ck_assert_double_le(error_of(32, 24, 16, 0, _i), 1e-13);
}
END_TEST

/* A file in single precision. B_x < 1 is off by up to 2^-25. So B_y, which follows from up to 24 differences of B_x
 * along y on cells that are 4/3 as high as wide, is off by up to (2 24 4/3 + 1) 2^-25. */
START_TEST(single_precision)
{
    struct lm_sim *want = box(32, 24, 16, 0, 0, known, "[output.f]\nevery = 1\nquantities = B\nprecision = single\n");
    struct lm_config *c = (struct lm_config *)want->config;
    snprintf(c->output.directory, LM_MAX_PATH, "%s", scratch_path("out"));
    ck_assert_msg(!lm_output_named(want, c, 0), "%s", lm_error());
    struct lm_sim *got = box(32, 24, 16, 0, 0,
                             "az = old_az\n[data.old]\nfile = out/outputs/f_00000000.h5\n"
                             "magnetic_field = data/0/meshes/B\n",
                             "");
    const double error = largest_difference(want, got);
    ck_assert_double_le(error, 65 * 0x1p-25);
    ck_assert_double_gt(error, 0x1p-30); /* it is in single precision */
    sim_free(want);
    sim_free(got);
}
END_TEST

static const struct {
    double ratio, length, from;
    int has_walls;
} grids[] = {{1.5, 16, 0, 0}, {2, 16, 0, 0},   {0.75, 16, 0, 0}, {0.5, 16, 0, 0}, {1.5, 16, 0, 1},
             {2, 16, 0, 1},   {0.5, 16, 0, 1}, {1, 8, 5, 1},     {0.75, 8, 5, 1}, {0.75, 6, 0.25, 1}};

/* The error of cubic interpolation falls as the fourth power of the cells of the file, and that of its differences over
 * a cell as the third. Half the cells must make the error smaller by 2^2.5 at least; it also depends on where the cells
 * lie. The finer file has 3 * 32 cells on a wave. */
START_TEST(other_grids)
{
    double error[2];
    for (int k = 0; k < 2; k++) {
        const int n = 32 << k, to = (int)(n * grids[_i].ratio);
        write_fields(n, n, grids[_i].has_walls);
        error[k] = error_of(to, to, grids[_i].length, grids[_i].from, grids[_i].has_walls);
    }
    ck_assert_double_lt(error[0], 0.05);
    ck_assert_double_gt(error[0] / error[1], pow(2, 2.5));
}
END_TEST

/* One cell along an axis, and the mean field alone. */
START_TEST(one_dimension)
{
    static const char plane[] = "az = 0.3*y + 0.1*cos(k*x)\n", mean[] = "bx = 0.3\nby = -0.2\n";
    for (int k = 0; k < 2; k++) {
        struct lm_sim *from = box(32, k ? 5 : 1, 16, 0, 0, k ? mean : plane, "");
        struct lm_config *c = (struct lm_config *)from->config;
        snprintf(c->output.directory, LM_MAX_PATH, "%s", scratch_path("out"));
        ck_assert_msg(!lm_output_fields(from, c, 0), "%s", lm_error());
        sim_free(from);
        struct lm_sim *want = box(48, k ? 7 : 1, 16, 0, 0, k ? mean : plane, ""),
                      *got = box(48, k ? 7 : 1, 16, 0, 0, other, "");
        ck_assert_double_le(largest_difference(want, got), k ? 1e-13 : 1e-4);
        sim_free(want);
        sim_free(got);
    }
}
END_TEST

/* Group f of a.h5: x and y with 4 x 3 values, of which some are wrong. */
static void write_bad(void)
{
    static const double good[12] = {0}, steps[12] = {1}, column[12] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4},
                        hole[12] = {[5] = NAN}, endless[12] = {[11] = INFINITY};
    static const struct {
        const char *name;
        hsize_t size[2];
        const double *values;
    } sets[] = {{"good/x", {3, 4}, good},      {"good/y", {3, 4}, good},  {"source/x", {3, 4}, steps},
                {"source/y", {3, 4}, good},    {"slope/x", {3, 4}, good}, {"slope/y", {3, 4}, column},
                {"sizes/x", {3, 4}, good},     {"sizes/y", {4, 3}, good}, {"half/x", {3, 4}, good},
                {"hole/x", {3, 4}, hole},      {"hole/y", {3, 4}, good},  {"endless/x", {3, 4}, good},
                {"endless/y", {3, 4}, endless}};
    hid_t h = H5Fcreate(scratch_path("a.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t list = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(list, 1);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        hid_t space = H5Screate_simple(2, sets[k].size, NULL);
        hid_t data = H5Dcreate2(h, sets[k].name, H5T_NATIVE_DOUBLE, space, list, H5P_DEFAULT, H5P_DEFAULT);
        ck_assert_int_ge(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, sets[k].values), 0);
        H5Dclose(data);
        H5Sclose(space);
    }
    H5Pclose(list);
    H5Fclose(h);
}

#define FILE_A "file = a.h5\nmagnetic_field = "
static const struct {
    const char *data, *message; /* NULL: nothing is wrong */
} bad[] = {
    {FILE_A "good\n", NULL},
    {FILE_A "none\n", "the dataset none/x is missing"},
    {FILE_A "half\n", "the dataset half/y is missing"},
    {FILE_A "source\n", "source is not free of divergence, or not periodic as the domain is"},
    {FILE_A "slope\n", NULL}, /* B_y of x alone */
    {FILE_A "sizes\n", "the components x and y of sizes differ in size"},
    {FILE_A "hole\n", "a.h5: the dataset hole/x is not a finite number in column 1, row 1"},
    {FILE_A "endless\n", "a.h5: the dataset endless/y is not a finite number in column 3, row 2"},
    {FILE_A "good\ndataset = good/x\n", "data.a.magnetic_field: dataset is given as well"},
    {FILE_A "good\n[fields]\nbx = a\n", "fields.bx: unknown name \"a\" in \"a\"; there is a_az"},
    {"file = a.h5\n", "data.a.dataset: required and not given (or magnetic_field, or meshes)"},
    {FILE_A "good\n[const]\na_az = 1\n", "const.a_az: the name \"a_az\" is taken"},
    {FILE_A "good\n[spectrum.a]\nfrom_k = 0\nto_k = 1\namplitude = 0.1\n", "the name \"a_az\" is taken"},
    {"file = out/fields/data_00000000.h5\nmagnetic_field = data/0/meshes/E\n", "are not on the faces of cells"},
};

START_TEST(wrong_input)
{
    char text[1024];
    static struct lm_config config;
    write_fields(8, 8, 0);
    write_bad();
    snprintf(text, sizeof text,
             "[run]\ndt = 0.1\nsteps = 2\n[grid]\nnx = 8\nny = 3\nlx = 8\nly = 3\n[species.p]\n[data.a]\n%s",
             bad[_i].data);
    make_file("case.ini", text);
    const int status = lm_config_read(scratch_path("case.ini"), 0, NULL, &config);
    ck_assert_int_eq(status, bad[_i].message ? LM_BAD_INPUT : LM_OK);
    if (bad[_i].message)
        assert_error_has(bad[_i].message);
    lm_config_free(&config);
}
END_TEST

/* Starts that are refused for the divergence of B say what of the file causes it. The file has 16 x 16 d_i. */
static const struct {
    const char *b, *message;
    double length;
} unlike[] = {
    {"az = old_az\n", "[data.old] covers x = 0 to 16 and y = 0 to 16, and the domain is periodic over 8 and 8", 8},
    {"az = f\n[functions]\nf = old_az\n", "[data.old] covers x = 0 to 16 and y = 0 to 16", 8},
    {"bx = old_bx\nby = old_by\n",
     "Interpolated values of a file have a divergence: set data.NAME.magnetic_field and fields.az = NAME_az", 16},
    {"bx = sin(x)\n", "see that B is periodic", 16},
};

START_TEST(div_b_says_why)
{
    static const char data[] = "[data.old]\nfile = out/fields/data_00000000.h5\nmagnetic_field = data/0/meshes/B\n"
                               "[data.old_bx]\nfile = out/fields/data_00000000.h5\ndataset = data/0/meshes/B/x\n"
                               "[data.old_by]\nfile = out/fields/data_00000000.h5\ndataset = data/0/meshes/B/y\n";
    char text[2048];
    static struct lm_config config;
    write_fields(24, 24, 0);
    snprintf(text, sizeof text,
             "[run]\ndt = 0.1\nsteps = 2\n[grid]\nnx = 32\nny = 32\nlx = %g\nly = %g\n[species.p]\n%s[fields]\n%s",
             unlike[_i].length, unlike[_i].length, data, unlike[_i].b);
    make_file("case.ini", text);
    ck_assert_msg(!lm_config_read(scratch_path("case.ini"), 0, NULL, &config), "%s", lm_error());
    const struct lm_grid g = lm_config_grid(&config);
    double *store = malloc(3 * g.size * sizeof *store), *b[3] = {store, store + g.size, store + 2 * g.size};
    ck_assert_int_eq(lm_setup_b(&config, b), LM_BAD_INPUT);
    assert_error_has("div B is not zero");
    assert_error_has(unlike[_i].message);
    ck_assert(!strstr(lm_error(), "[data.old]") == !strstr(unlike[_i].message, "[data.old]"));
    free(store);
    lm_config_free(&config);
}
END_TEST

/* Potentials that do not fit together across periodic sides, by their keys and axes; NULL: these do. 8 x 8 d_i. */
static const struct {
    const char *text, *key, *axes;
} unfitting[] = {
    {"[fields]\naz = x*cos(k*y)\n", "fields.az", "x"},
    {"[fields]\naz = y*cos(k*x)\n", "fields.az", "y"},
    {"[fields]\naz = exp(-(x - 3)^2 - (y - 5)^2)\n", "fields.az", "x and y"},
    {"[fields]\naz = cos(k*x)\n[external]\naz = 1/((x + 1)^2 + (y + 1)^2)\n", "external.az", "x and y"},
    {"[fields]\naz = cos(k*x)*sin(k*y) + 0.2*x + y\n", NULL, NULL},
    {"[fields]\naz = x*cos(k*y)\n[boundary]\nx_min = reflecting\nx_max = reflecting\n", NULL, NULL},
    {"[fields]\naz = exp(-(x - 3)^2 - (y - 5)^2)\n[boundary]\ny_min = reflecting\ny_max = reflecting\n", "fields.az",
     "x"},
    {"[fields]\nbx = sin(x)\naz = cos(k*x)\n", "fields.bx, fields.by", NULL},
};

START_TEST(potential_across_periodic_sides)
{
    char text[1024];
    static struct lm_config config;
    snprintf(text, sizeof text,
             "[run]\ndt = 0.1\nsteps = 2\n[grid]\nnx = 16\nny = 12\nlx = 8\nly = 8\n[const]\nk = pi/4\n[species.p]\n%s",
             unfitting[_i].text);
    make_file("case.ini", text);
    ck_assert_msg(!lm_config_read(scratch_path("case.ini"), 0, NULL, &config), "%s", lm_error());
    const struct lm_grid g = lm_config_grid(&config);
    double *store = malloc(3 * g.size * sizeof *store), *b[3] = {store, store + g.size, store + 2 * g.size};
    ck_assert_int_eq(lm_setup_b(&config, b), unfitting[_i].key ? LM_BAD_INPUT : LM_OK);
    if (unfitting[_i].axes) {
        snprintf(text, sizeof text, "case.ini: %s: it is not periodic along %s, as", unfitting[_i].key,
                 unfitting[_i].axes);
        assert_error_has(text);
        snprintf(text, sizeof text, "or choose sides that are not periodic for %s", unfitting[_i].axes);
    } else {
        snprintf(text, sizeof text, "%s: div B is not zero", unfitting[_i].key);
    }
    if (unfitting[_i].key)
        assert_error_has(text);
    free(store);
    lm_config_free(&config);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("potential");
    TCase *t = tcase_create("potential");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, same_grid, 0, 2);
    tcase_add_test(t, single_precision);
    tcase_add_loop_test(t, other_grids, 0, sizeof grids / sizeof *grids);
    tcase_add_test(t, one_dimension);
    tcase_add_loop_test(t, potential_across_periodic_sides, 0, sizeof unfitting / sizeof *unfitting);
    tcase_add_loop_test(t, div_b_says_why, 0, sizeof unlike / sizeof *unlike);
    tcase_add_loop_test(t, wrong_input, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
