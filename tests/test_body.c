/* Bodies as cells: areas, overlaps, periodic sides and walls, masks from files, and every error in their description.
 */
#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/config.h"
#include "require.h"
#include "scratch.h"
#include "suite.h"

static struct lm_config config;
static uint8_t *mask;

static void setup(void)
{
    scratch_make();
}

static void teardown(void)
{
    free(mask);
    mask = NULL;
    lm_config_free(&config);
    scratch_remove();
}

/* A domain of 8 x 4 d_i. What a test adds begins on line 10. */
static int read_bodies(int nx, int ny, const char *text)
{
    static char all[4096];
    int n =
        snprintf(all, sizeof all,
                 "[run]\ndt = 0.1\nsteps = 1\n[grid]\nnx = %d\nny = %d\nlx = 8\nly = 4\n[species.p]\n%s", nx, ny, text);
    ck_assert_int_lt(n, (int)sizeof all);
    lm_config_free(&config);
    free(mask);
    mask = calloc((size_t)nx * (size_t)ny, 1);
    return lm_config_read_text(scratch_path("case.ini"), all, 0, NULL, &config);
}

/* Fills `mask` with the cells of the bodies in `text`. */
static void cut(int nx, int ny, const char *text)
{
    ck_assert_msg(read_bodies(nx, ny, text) == LM_OK, "%s", lm_error());
    memset(mask, 99, (size_t)nx * (size_t)ny);
    ck_assert_msg(lm_body_mask(&config, mask) == LM_OK, "%s", lm_error());
}

static void assert_rejects(const char *text, int line, const char *expected)
{
    char want[2 * LM_MAX_PATH];
    ck_assert_msg(read_bodies(8, 4, text) == LM_BAD_INPUT, "accepted: %s", text);
    snprintf(want, sizeof want, "case.ini:%d: %s", line, expected);
    assert_error_has(want);
    ck_assert_msg(!strchr(lm_error(), '\n'), "more than one problem:\n%s", lm_error());
}

/* The area of a body in d_i^2. */
static double area(int body)
{
    size_t count = 0, cells = (size_t)config.grid.nx * (size_t)config.grid.ny;
    for (size_t k = 0; k < cells; k++)
        count += mask[k] == body + 1;
    return (double)count * (32.0 / (double)cells);
}

static uint8_t at(int i, int j)
{
    return mask[(size_t)j * (size_t)config.grid.nx + (size_t)i];
}

#define WALLS "[boundary]\nx_min = absorbing\nx_max = absorbing\ny_min = absorbing\ny_max = absorbing\n"
#define DISK(name, x, y, r) "[body." name "]\nshape = disk\nx = " x "\ny = " y "\nradius = " r "\n"
#define BOX(name, x, y, w, h) "[body." name "]\nshape = box\nx = " x "\ny = " y "\nwidth = " w "\nheight = " h "\n"
#define POLYGON(name, points) "[body." name "]\nshape = polygon\npoints = " points "\n"
#define IMAGE(name) "[body.m]\nshape = mask\nfile = " name "\n"

static const double pi = 3.14159265358979323846;

/* Areas of shapes. Boxes are exact; the area of a disk or polygon on cells of 1/64 is off by a fraction of the cells
 * on its edge. A shape that is cut off by a wall loses the part beyond it; a shape across a periodic side keeps its
 * area. */
static const struct {
    const char *text;
    double area, tolerance;
} shapes[] = {
    {DISK("a", "4", "2", "1.5"), pi * 2.25, 0.01},
    {DISK("a", "4.003", "1.994", "1.5"), pi * 2.25, 0.01},
    {DISK("a", "0", "0", "1.5"), pi * 2.25, 0.01},
    {DISK("a", "8", "4", "1.5"), pi * 2.25, 0.01},
    {DISK("a", "-16", "36", "1.5"), pi * 2.25, 0.01},
    {WALLS DISK("a", "0", "2", "1.5"), pi * 2.25 / 2, 0.01},
    {WALLS DISK("a", "8", "4", "1.5"), pi * 2.25 / 4, 0.01},
    {"[boundary]\nx_min = absorbing\nx_max = absorbing\n" DISK("a", "0", "0", "1.5"), pi * 2.25 / 2, 0.01},
    {"[boundary]\ny_min = absorbing\ny_max = absorbing\n" DISK("a", "0", "0", "1.5"), pi * 2.25 / 2, 0.01},
    {WALLS DISK("a", "4", "-1", "2"), 4 * acos(0.5) - sqrt(3), 0.01},
    {BOX("a", "4", "2", "3", "1"), 3, 1e-12},
    {BOX("a", "7.5", "0.25", "3", "1"), 3, 1e-12},
    {WALLS BOX("a", "7.5", "0.25", "3", "1"), 2 * 0.75, 1e-12},
    {BOX("a", "1", "1", "100", "1"), 8, 1e-12},
    {POLYGON("a", "1 1, 4 1, 4 3"), 3, 0.03},
    {POLYGON("a", "4 3,4 1,1 1,1 1.5"), 3.75, 0.03},
    {POLYGON("a", "0.5 0.5, 3.5 0.5, 3.5 3.5, 0.5 3.5, 0.5 0.5, 1.5 1.5, 1.5 2.5, 2.5 2.5, 2.5 1.5, 1.5 1.5"), 8,
     1e-12},                                                  /* a hole */
    {POLYGON("a", "1 1, 3 3, 3 1, 1 3"), 2, 0.03},            /* crosses itself */
    {POLYGON("a", "-1 -1, 1 -1, 1 1, -1 1"), 4, 1e-12},       /* over a corner */
    {POLYGON("a", "7 1, 9 1, 9 2, 7 2"), 2, 1e-12},           /* over a side */
    {WALLS POLYGON("a", "-1 -1, 1 -1, 1 1, -1 1"), 1, 1e-12}, /* cut off */
    {WALLS POLYGON("a", "-1e9 1, 1e9 1, 1e9 2, -1e9 2"), 8, 1e-12},
};

START_TEST(test_areas)
{
    cut(512, 256, shapes[_i].text);
    ck_assert_double_eq_tol(area(0), shapes[_i].area, shapes[_i].tolerance);
    for (size_t k = 0; k < 512 * 256; k++)
        require(mask[k] <= 1);
}
END_TEST

/* The cells of a shape are those whose centre is inside, also where a shape crosses a periodic side. */
START_TEST(test_cells)
{
    cut(32, 16, DISK("a", "7.6", "0.3", "1.1"));
    for (int j = 0; j < 16; j++)
        for (int i = 0; i < 32; i++) {
            int inside = 0;
            for (int n = -1; n <= 1; n++)
                for (int m = -1; m <= 1; m++)
                    inside |= hypot((i + 0.5) / 4 - 7.6 + 8 * n, (j + 0.5) / 4 - 0.3 + 4 * m) <= 1.1;
            require(at(i, j) == inside);
        }
    cut(8, 4, POLYGON("a", "1 0, 3 0, 3 2, 2 2, 2 1, 1 1"));
    static const char *const rows[4] = {".##.....", "..#.....", "........", "........"};
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 8; i++)
            ck_assert_int_eq(at(i, j), rows[j][i] == '#');
}
END_TEST

/* Where bodies overlap, the cell belongs to the last one, whatever shapes they have. */
START_TEST(test_overlap)
{
    cut(64, 32, BOX("a", "3", "2", "4", "2") BOX("b", "5", "2", "4", "2") BOX("c", "4", "2", "1", "1"));
    ck_assert_double_eq_tol(area(0), 8 - 4, 1e-12);
    ck_assert_double_eq_tol(area(1), 8 - 1, 1e-12);
    ck_assert_double_eq_tol(area(2), 1, 1e-12);
    ck_assert_int_eq(at(8 * 3, 16), 2);
    ck_assert_int_eq(at(8 * 4, 16), 3);
    ck_assert_int_eq(at(0, 0), 0);
    cut(64, 32, BOX("b", "5", "2", "4", "2") BOX("a", "3", "2", "4", "2"));
    ck_assert_double_eq_tol(area(0), 4, 1e-12);
    ck_assert_double_eq_tol(area(1), 8, 1e-12);
}
END_TEST

START_TEST(test_no_bodies)
{
    cut(8, 4, "");
    for (int k = 0; k < 32; k++)
        ck_assert_int_eq(mask[k], 0);
}
END_TEST

/* --- masks --- */

/* The rows of the pattern, from the top down as in an image. */
static const char *const pattern[4] = {"#......#", ".##.....", "..##....", "......##"};

static void assert_pattern(void)
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 8; i++)
            ck_assert_msg(at(i, j) == (pattern[3 - j][i] == '#'), "cell %d, %d", i, j);
}

/* The pattern as an image: `solid` in the body; P5 with two bytes a pixel where `largest` needs them. */
static void make_image(const char *name, const char *head, int raw, int largest, int solid)
{
    FILE *out = fopen(scratch_path(name), "wb");
    fputs(head, out);
    for (int k = 0; k < 32; k++) {
        int value = pattern[k / 8][k % 8] == '#' ? solid : 0;
        if (!raw)
            fprintf(out, "%d%s", value, k % 8 == 7 ? "\n" : " ");
        else if (largest > 255)
            fprintf(out, "%c%c", value >> 8, value & 255);
        else
            fputc(value, out);
    }
    fclose(out);
}

static const struct {
    const char *head;
    int raw, largest, solid;
} images[] = {
    {"P2\n8 4\n255\n", 0, 255, 255},
    {"P2 8 4 1 ", 0, 1, 1},
    {"P2\n# made by hand # twice\n8 # wide\n#\n4\n65535\n# pixels\n", 0, 65535, 40000},
    {"P5\n8 4\n255\n", 1, 255, 10},
    {"P5\n8 4\n255\n", 1, 255, '#'},
    {"P5\n# 3 3\n8 4\n#\n# 4\n7\n", 1, 7, 3},
    {"P5 8 4 65535\n", 1, 65535, 256}, /* low byte 0 */
    {"P5 8 4 256 ", 1, 256, 1},        /* high byte 0 */
    {"P5#8\n 8 4 255#\n", 1, 255, 255},
};

START_TEST(test_images)
{
    make_image("m.pgm", images[_i].head, images[_i].raw, images[_i].largest, images[_i].solid);
    cut(8, 4, IMAGE("m.pgm"));
    assert_pattern();
    ck_assert_int_eq(config.body[0].file[0], '/'); /* the echo elsewhere finds the same file */
}
END_TEST

static void make_hdf5(const char *name, hid_t type, const hsize_t *dims, const void *values)
{
    hid_t file = H5Fcreate(scratch_path(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(dims[1] ? 2 : 1, dims, NULL);
    hid_t data = H5Dcreate2(group, "solid", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(data);
    H5Sclose(space);
    H5Gclose(group);
    H5Fclose(file);
}

#define DATASET "dataset = g/solid\n"
static const hsize_t size[2] = {4, 8};

START_TEST(test_hdf5)
{
    uint8_t bytes[32];
    uint64_t words[32];
    int16_t shorts[32];
    float reals[32];
    double doubles[32];
    for (int k = 0; k < 32; k++) {
        int solid = pattern[3 - k / 8][k % 8] == '#';
        bytes[k] = (uint8_t)(solid ? 255 : 0);
        words[k] = solid ? UINT64_MAX : 0;
        shorts[k] = (int16_t)(solid ? -1 : 0);
        reals[k] = solid ? 0.25f : -0.0f;
        doubles[k] = solid ? 1e-300 : 0.0;
    }
    /* as h5py stores truth values */
    int8_t truth[32], no = 0, yes = 1;
    hid_t bool_type = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(bool_type, "FALSE", &no);
    H5Tenum_insert(bool_type, "TRUE", &yes);
    for (int k = 0; k < 32; k++)
        truth[k] = bytes[k] > 0;
    const struct {
        hid_t type;
        const void *values;
    } kinds[] = {
        {H5T_NATIVE_UINT8, bytes},  {H5T_STD_U64BE, words}, /* all ones or all zeros: the byte order does not matter */
        {H5T_NATIVE_INT16, shorts}, {H5T_NATIVE_FLOAT, reals}, {H5T_NATIVE_DOUBLE, doubles}, {bool_type, truth}};
    for (int k = 0; k < 6; k++) {
        make_hdf5("m.h5", kinds[k].type, size, kinds[k].values);
        cut(8, 4, IMAGE("m.h5") DATASET);
        assert_pattern();
    }
    H5Tclose(bool_type);
}
END_TEST

/* The image has more rows than are read at a time. */
START_TEST(test_tall_hdf5)
{
    static uint8_t values[200 * 8];
    const hsize_t tall[2] = {200, 8};
    for (int k = 0; k < 200 * 8; k++)
        values[k] = (uint8_t)(k * k % 3 == 1);
    make_hdf5("tall.h5", H5T_NATIVE_UINT8, tall, values);
    cut(8, 200, IMAGE("tall.h5") DATASET);
    ck_assert_mem_eq(mask, values, sizeof values);
}
END_TEST

/* An absolute path stays as it is. Another path is relative to the directory of the configuration. */
START_TEST(test_paths)
{
    char text[2 * LM_MAX_PATH];
    make_image("m.pgm", "P2 8 4 9 ", 0, 9, 9);
    snprintf(text, sizeof text, IMAGE("%s"), scratch_path("m.pgm"));
    cut(8, 4, text);
    assert_pattern();
    ck_assert_str_eq(config.body[0].file, scratch_path("m.pgm"));
    cut(8, 4, IMAGE("./m.pgm"));
    assert_pattern();
    char name[800] = "";
    memset(name, 'd', 795);
    snprintf(text, sizeof text, IMAGE("%s"), name);
    assert_rejects(text, 12, "body.m.file: the whole path /");
    assert_error_has("longer than 800 bytes");

    /* a path that the echo in run.ini could not hold */
    ck_assert_int_eq(mkdir(scratch_path("a #b"), 0777), 0);
    lm_config_free(&config);
    ck_assert_int_eq(lm_config_read_text(scratch_path("a #b/case.ini"), IMAGE("m.pgm"), 0, NULL, &config),
                     LM_BAD_INPUT);
    assert_error_has("case.ini:3: body.m.file: the whole path /");
    assert_error_has("a #b/m.pgm: # or ; would begin a comment");
}
END_TEST

/* --- errors --- */

static const struct {
    const char *text;
    int line;
    const char *message;
} bad[] = {
    {DISK("a", "4", "2", "0.1"), 14, "body.a.radius: no cell's centre is in the body; cells are 1 x 1 d_i"},
    {BOX("a", "4", "2", "0.1", "9"), 14, "body.a.width: no cell's centre is in the body"},
    {WALLS DISK("a", "-2", "2", "1.5"), 19, "body.a.radius: no cell's centre is in the body"},
    {POLYGON("a", "4 2, 4.1 2, 4 2.1"), 12, "body.a.points: no cell's centre is in the body"},
    {DISK("a", "4", "2", "9"), 14, "body.a.radius: the bodies leave no cell for the plasma"},
    {BOX("a", "2", "2", "4", "4") BOX("b", "6", "2", "4", "4"), 20,
     "body.b.width: the bodies leave no cell for the plasma"},
    {DISK("a", "4", "2", "1") BOX("b", "4", "2", "4", "4"), 14, "body.a.radius: later bodies cover all of its cells"},
    {POLYGON("a", "1 1, 2 2"), 12, "body.a.points: \"1 1, 2 2\": a polygon has three points or more, not 2"},
    {POLYGON("a", "1 1, 2 2, 3"), 12, "body.a.points: \"1 1, 2 2, 3\": two numbers and a comma expected at \"3\""},
    {POLYGON("a", "1 1, 2 2, 3 1,"), 12, "body.a.points: \"1 1, 2 2, 3 1,\": two numbers and a comma expected at \"\""},
    {POLYGON("a", "1 1 2 2, 3 1"), 12, "body.a.points: \"1 1 2 2, 3 1\": two numbers and a comma expected at \"1 1 2"},
    {POLYGON("a", "1,1, 2 2, 3 1"), 12, "body.a.points: \"1,1, 2 2, 3 1\": two numbers and a comma expected at \"1,1"},
    {POLYGON("a", "1 1, 2 nan, 3 1"), 12,
     "body.a.points: \"1 1, 2 nan, 3 1\": two numbers and a comma expected at \"2"},
    {POLYGON("a", "1 1, 2 1e999, 3 1"), 12, "body.a.points: \"1 1, 2 1e999, 3 1\": two numbers and a comma expected"},
    {POLYGON("a", "1 1, 2 2x, 3 1"), 12, "body.a.points: \"1 1, 2 2x, 3 1\": two numbers and a comma expected at \"2"},
    {POLYGON("a", "1 1, 17 1, 17 2"), 12,
     "body.a.points: the point 17 1 is more than a length of the periodic domain outside"},
};

START_TEST(test_bad_bodies)
{
    assert_rejects(bad[_i].text, bad[_i].line, bad[_i].message);
}
END_TEST

static const struct {
    const char *bytes, *message;
} bad_images[] = {
    {"", "not a PGM image: it begins with neither P2 nor P5"},
    {"P6\n8 4\n255\n", "not a PGM image: it begins with neither P2 nor P5"},
    {"P25 8 4 1 ", "not a PGM image"},
    {"\x89HDF\r\n", "this is an HDF5 file: name the dataset in it with the key `dataset`"},
    {"P2\n8\n", "the head of the PGM image is damaged"},
    {"P2\n8 x 255\n", "the head of the PGM image is damaged"},
    {"P2\n8 4 0\n", "the head of the PGM image is damaged"},
    {"P5\n8 4 65536\n", "the head of the PGM image is damaged"},
    {"P2\n-8 4 255\n", "the head of the PGM image is damaged"},
    {"P2\n4 8 1\n", "the image has 4 x 8 pixels, the grid 8 x 4 cells (nx x ny)"},
    {"P2\n8 4 1\n0 1 0 1", "truncated: it ends after 4 of 32 pixels"},
    {"P2\n8 4 1\n0 1 0 1 ", "truncated: it ends after 4 of 32 pixels"},
    {"P2\n8 4 1\n0 1 x", "pixel 3 is no number"},
    {"P2\n8 4 1\n0 1 2 ", "pixel 3 is 2, above the image's largest value 1"},
    {"P5\n8 4 1\n\1\2", "pixel 2 is 2, above the image's largest value 1"},
    {"P5\n8 4 9\n\1\2\3", "truncated: it ends after 3 of 32 pixels"},
    {"P5\n8 4 999\n\1\2\3", "truncated: it ends after 1 of 32 pixels"},
};

START_TEST(test_bad_images)
{
    make_file("m.pgm", bad_images[_i].bytes);
    assert_rejects(IMAGE("m.pgm"), 12, "body.m.file: /");
    assert_error_has("m.pgm: ");
    assert_error_has(bad_images[_i].message);
}
END_TEST

START_TEST(test_bad_files)
{
    assert_rejects(IMAGE("none.pgm"), 12, "body.m.file: /");
    assert_error_has("none.pgm: No such file");
    assert_rejects(IMAGE("."), 12, "body.m.file: /");
    assert_error_has("not a regular file");
    assert_rejects(IMAGE("none.h5") DATASET, 12, "body.m.file: /");
    assert_error_has("none.h5: no such file");
    make_image("m.pgm", "P2 8 4 9 ", 0, 9, 9);
    assert_rejects(IMAGE("m.pgm") DATASET, 12, "body.m.file: /");
    assert_error_has("m.pgm: is not an HDF5 file");

    double values[32] = {1, [13] = NAN};
    static const hsize_t turned[2] = {8, 4}, flat[2] = {32, 0};
    make_hdf5("m.h5", H5T_NATIVE_DOUBLE, size, values);
    assert_rejects(IMAGE("m.h5") DATASET, 12, "body.m.file: /");
    assert_error_has("m.h5: the mask is not a number in column 5, row 1");
    assert_rejects(IMAGE("m.h5") "dataset = fluid\n", 12, "body.m.file: /");
    assert_error_has("m.h5: the dataset fluid is missing");
    assert_rejects(IMAGE("m.h5") "dataset = g\n", 12, "body.m.file: /");
    assert_error_has("m.h5: the dataset g is missing");
    assert_rejects(IMAGE("m.h5"), 12, "body.m.file: /");
    assert_error_has("this is an HDF5 file: name the dataset");
    make_hdf5("m.h5", H5T_NATIVE_DOUBLE, turned, values);
    assert_rejects(IMAGE("m.h5") DATASET, 12, "body.m.file: /");
    assert_error_has("the dataset g/solid has 8 x 4 values, the grid 4 x 8 cells (ny x nx)");
    make_hdf5("m.h5", H5T_NATIVE_DOUBLE, flat, values);
    assert_rejects(IMAGE("m.h5") DATASET, 12, "body.m.file: /");
    assert_error_has("the dataset g/solid is not two-dimensional, [ny][nx]");
    hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 8);
    make_hdf5("m.h5", text, size, values);
    H5Tclose(text);
    assert_rejects(IMAGE("m.h5") DATASET, 12, "body.m.file: /");
    assert_error_has("the dataset g/solid is neither of integers nor of reals");
    ck_assert_int_eq(truncate(scratch_path("m.h5"), 900), 0);
    assert_rejects(IMAGE("m.h5") DATASET, 12, "body.m.file: /");
    assert_error_has("m.h5: is truncated or damaged");
}
END_TEST

/* A file that changes after the configuration was read: the message still says file, section and key. */
START_TEST(test_mask_alone)
{
    make_image("m.pgm", "P2 8 4 9 ", 0, 9, 9);
    cut(8, 4, DISK("a", "1", "1", "1") IMAGE("m.pgm"));
    make_file("m.pgm", "P2 7 4 1 ");
    ck_assert_int_eq(lm_body_mask(&config, mask), LM_BAD_INPUT);
    assert_error_has("case.ini: body.m.file: /");
    assert_error_has("the image has 7 x 4 pixels");
}
END_TEST

#define LOOP(tc, test, table) tcase_add_loop_test(tc, test, 0, sizeof table / sizeof *table)

int main(void)
{
    Suite *suite = suite_create("body");
    TCase *tc = tcase_create("body");
    tcase_add_checked_fixture(tc, setup, teardown);
    LOOP(tc, test_areas, shapes);
    tcase_add_test(tc, test_cells);
    tcase_add_test(tc, test_overlap);
    tcase_add_test(tc, test_no_bodies);
    LOOP(tc, test_images, images);
    tcase_add_test(tc, test_hdf5);
    tcase_add_test(tc, test_tall_hdf5);
    tcase_add_test(tc, test_paths);
    LOOP(tc, test_bad_bodies, bad);
    LOOP(tc, test_bad_images, bad_images);
    tcase_add_test(tc, test_bad_files);
    tcase_add_test(tc, test_mask_alone);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
