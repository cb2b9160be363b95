#include "files.h"

#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/base.h"
#include "larmor/physics/numerics/hash.h"

static const char *const tables[] = {
    "# source = two columns\n# energy = normalized\n# stopping = normalized\n0 0.2\n0.1 0.9\n0.3 1.2\n1 0.8\n3 0.4\n",
    "# source = three columns\n# energy = normalized\n# stopping = normalized\n# scattering = normalized\n"
    "0 0.2 0.05\n0.1 0.9 0.03\n0.3 1.2 0.02\n1 0.8 0.01\n3 0.4 0.004\n10 0.15 0.0012\n",
    "# source = physical units\n# energy = keV\n# stopping = 1e-15 eV cm2\n1 2.1\n3 4\n10 6.4\n100 3\n",
};

static int write_table(const char *path, int number)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return 0;
    fputs(tables[number % 3], f);
    return fclose(f) == 0;
}

/* A mask of patches of a few cells that belong to the body, and of others that do not. */
static int is_body(int i, int j, int number)
{
    return lm_mix((uint64_t)(unsigned)(number + 16 * (i / 3) + 65536 * (j / 2))) % 4 == 0;
}

static int write_pgm(const char *path, int nx, int ny, int number)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return 0;
    fprintf(f, "P2\n%d %d\n255\n", nx, ny);
    for (int j = ny - 1; j >= 0; j--)
        for (int i = 0; i < nx; i++)
            fprintf(f, "%d%c", is_body(i, j, number) ? 255 : 0, i + 1 < nx ? ' ' : '\n');
    return fclose(f) == 0;
}

static int write_dataset(hid_t file, const char *name, int nx, int ny, const double *mask)
{
    const hsize_t size[2] = {(hsize_t)ny, (hsize_t)nx};
    const hid_t space = H5Screate_simple(2, size, NULL);
    const hid_t data = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const int good = data >= 0 && H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, mask) >= 0;
    H5Dclose(data);
    H5Sclose(space);
    return good;
}

static int write_h5(const char *path, int nx, int ny, int number)
{
    double *mask = malloc((size_t)nx * (size_t)ny * sizeof *mask);
    const hid_t file = mask ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) : -1;
    int good = file >= 0;
    for (int other = 0; good && other < 2; other++) {
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                mask[j * nx + i] = is_body(i, j, number + 4 * other);
        good = write_dataset(file, other ? "half" : "mask", nx, ny, mask);
    }
    if (file >= 0)
        H5Fclose(file);
    free(mask);
    return good;
}

static int write_named(const char *name, const char *directory)
{
    int nx, ny, number, end = 0;
    char path[LM_MAX_PATH];
    if (lm_path(path, "%s/%s", directory, name))
        return 0;
    if (sscanf(name, "stopping_%d.tx%*1[t]%n", &number, &end) == 1 && end)
        return write_table(path, number);
    if (sscanf(name, "mask_%dx%d_%d.pg%*1[m]%n", &nx, &ny, &number, &end) == 3 && end)
        return write_pgm(path, nx, ny, number);
    if (sscanf(name, "mask_%dx%d_%d.h%*1[5]%n", &nx, &ny, &number, &end) == 3 && end)
        return write_h5(path, nx, ny, number);
    return 1;
}

int files_write(const struct draft *d, const char *directory)
{
    int good = 1;
    for (int k = 0; k < d->count && good; k++)
        if (!strcmp(d->entry[k].key, "file") || !strcmp(d->entry[k].key, "stopping_table"))
            good = write_named(d->entry[k].value, directory);
    return good;
}

void files_resize(struct draft *d)
{
    const char *nx = draft_get(d, "grid", "nx"), *ny = draft_get(d, "grid", "ny");
    for (int k = 0; nx && ny && k < d->count; k++) {
        char tail[DRAFT_NAME], *value = d->entry[k].value;
        int a, b;
        if (sscanf(value, "mask_%dx%d_%49s", &a, &b, tail) == 3)
            snprintf(value, DRAFT_VALUE, "mask_%.20sx%.20s_%s", nx, ny, tail);
    }
}
