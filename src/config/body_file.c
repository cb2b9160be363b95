/* Masks of bodies from files: PGM images (plain and raw) and HDF5 datasets. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/body_shape.h"
#include "base/h5.h"
#include "base/input.h"
#include "base/try.h"

/* ---- PGM ---- */

struct image {
    FILE *file;
    const char *path;
    int raw; /* P5, not P2 */
    long width, height, largest;
};

/* Reads the next number of a header or of a plain image, and the blank or comment right after it; -1: there is none. */
static long next_number(FILE *f)
{
    long value = 0;
    int c = getc(f);
    while (c == '#' || isspace(c)) {
        while (c == '#' && (c = getc(f)) != EOF && c != '\n')
            c = '#';
        c = getc(f);
    }
    if (!isdigit(c))
        return -1;
    for (; isdigit(c) && value < 100000000; c = getc(f))
        value = 10 * value + (c - '0');
    while (c == '#')
        c = (c = getc(f)) == '\n' || c == EOF ? c : '#';
    return c == EOF || isspace(c) ? value : -1;
}

static int read_head(struct image *p)
{
    static const char hdf5[] = "\x89HDF";
    char magic[4] = "";
    size_t n = fread(magic, 1, sizeof magic, p->file);
    if (n == sizeof magic && !memcmp(magic, hdf5, sizeof magic))
        return lm_fail(LM_BAD_INPUT, "%s: this is an HDF5 file: name the dataset in it with the key `dataset`",
                       p->path);
    if (n < 3 || magic[0] != 'P' || (magic[1] != '2' && magic[1] != '5') || !(isspace(magic[2]) || magic[2] == '#'))
        return lm_fail(LM_BAD_INPUT, "%s: not a PGM image: it begins with neither P2 nor P5", p->path);
    p->raw = magic[1] == '5';
    fseek(p->file, 2, SEEK_SET);
    p->width = next_number(p->file);
    p->height = next_number(p->file);
    p->largest = next_number(p->file);
    if (p->width < 1 || p->height < 1 || p->largest < 1 || p->largest > 65535)
        return lm_fail(LM_BAD_INPUT,
                       "%s: the head of the PGM image is damaged: width, height and a largest value of 1 "
                       "to 65535 expected",
                       p->path);
    return LM_OK;
}

/* A raw pixel has one byte, or two with the high one first where one byte cannot hold the largest value. -1: the file
 * ends. */
static long next_pixel(const struct image *p)
{
    if (!p->raw)
        return next_number(p->file);
    int high = p->largest > 255 ? getc(p->file) : 0, low = getc(p->file);
    return high == EOF || low == EOF ? -1 : 256L * high + low;
}

static int fail_pixel(const struct image *p, long done, long value)
{
    if (value < 0 && feof(p->file))
        return lm_fail(LM_BAD_INPUT, "%s: truncated: it ends after %ld of %ld pixels", p->path, done,
                       p->width * p->height);
    if (value < 0)
        return lm_fail(LM_BAD_INPUT, "%s: pixel %ld is no number", p->path, done + 1);
    return lm_fail(LM_BAD_INPUT, "%s: pixel %ld is %ld, above the image's largest value %ld", p->path, done + 1, value,
                   p->largest);
}

static int read_image(struct image *p, int nx, int ny, uint8_t *own)
{
    if (read_head(p))
        return LM_BAD_INPUT;
    if (p->width != nx || p->height != ny)
        return lm_fail(LM_BAD_INPUT, "%s: the image has %ld x %ld pixels, the grid %d x %d cells (nx x ny)", p->path,
                       p->width, p->height, nx, ny);
    for (long k = 0; k < p->width * p->height; k++) {
        long value = next_pixel(p), i = k % nx, j = ny - 1 - k / nx; /* the first row is the top */
        if (value < 0 || value > p->largest)
            return fail_pixel(p, k, value);
        own[j * nx + i] = value > 0;
    }
    return LM_OK;
}

static int read_pgm(const char *path, int nx, int ny, uint8_t *own)
{
    struct image p = {.path = path};
    LM_TRY(lm_input_open(path, &p.file));
    const int status = read_image(&p, nx, ny, own);
    fclose(p.file);
    return status;
}

/* ---- HDF5 ---- */

/* Python stores truth values as an enumeration. */
static int is_numeric(hid_t data)
{
    hid_t type = H5Dget_type(data);
    H5T_class_t class = H5Tget_class(type);
    H5Tclose(type);
    return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM;
}

static void check_dataset(struct lm_h5 *h, hid_t data, const char *name, int nx, int ny)
{
    hid_t space = H5Dget_space(data);
    hsize_t size[2] = {0, 0};
    if (!is_numeric(data))
        lm_h5_wrong(h, "the dataset %s is neither of integers nor of reals", name);
    else if (H5Sget_simple_extent_ndims(space) != 2 || H5Sget_simple_extent_dims(space, size, NULL) != 2)
        lm_h5_wrong(h, "the dataset %s is not two-dimensional, [ny][nx]", name);
    else if (size[0] != (hsize_t)ny || size[1] != (hsize_t)nx)
        lm_h5_wrong(h, "the dataset %s has %llu x %llu values, the grid %d x %d cells (ny x nx)", name,
                    (unsigned long long)size[0], (unsigned long long)size[1], ny, nx);
    H5Sclose(space);
}

/* Reads `count` rows as reals, whatever their type in the file. A value other than 0 never becomes 0. */
static void read_band(struct lm_h5 *h, hid_t data, int nx, int first, int count, double *band)
{
    hsize_t start[2] = {(hsize_t)first, 0}, size[2] = {(hsize_t)count, (hsize_t)nx};
    hid_t file_space = H5Dget_space(data), memory_space = H5Screate_simple(2, size, NULL);
    if (H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, size, NULL) < 0 ||
        H5Dread(data, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT, band) < 0)
        lm_h5_error(h, "truncated or damaged: the mask cannot be read");
    H5Sclose(file_space);
    H5Sclose(memory_space);
}

static void keep_band(struct lm_h5 *h, int nx, int first, int count, const double *band, uint8_t *own)
{
    for (int k = 0; k < nx * count && h->status == LM_OK; k++) {
        if (isnan(band[k]))
            lm_h5_wrong(h, "the mask is not a number in column %d, row %d", k % nx, first + k / nx);
        own[(size_t)first * (size_t)nx + (size_t)k] = band[k] != 0.0;
    }
}

static void read_bands(struct lm_h5 *h, hid_t data, int nx, int ny, uint8_t *own)
{
    enum { ROWS = 64 };
    double *band = malloc((size_t)nx * ROWS * sizeof *band);
    if (!band)
        h->status = lm_fail(LM_FAILED, "not enough memory");
    for (int j = 0; j < ny && h->status == LM_OK; j += ROWS) {
        int count = ny - j < ROWS ? ny - j : ROWS;
        read_band(h, data, nx, j, count, band);
        keep_band(h, nx, j, count, band, own);
    }
    free(band);
}

static int read_hdf5(const char *path, const char *name, int nx, int ny, uint8_t *own)
{
    struct lm_h5 h;
    if (lm_h5_open(&h, path))
        return lm_h5_finish(&h, 0);
    hid_t data = H5Dopen2(h.file, name, H5P_DEFAULT);
    if (data < 0)
        lm_h5_wrong(&h, "the dataset %s is missing", name);
    else
        check_dataset(&h, data, name, nx, ny);
    if (h.status == LM_OK)
        read_bands(&h, data, nx, ny, own);
    lm_h5_end(data);
    return lm_h5_finish(&h, 0);
}

int lm_body_read(const struct lm_body_config *b, int nx, int ny, uint8_t *own)
{
    return b->dataset[0] ? read_hdf5(b->file, b->dataset, nx, ny, own) : read_pgm(b->file, nx, ny, own);
}
