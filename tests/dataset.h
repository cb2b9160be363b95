/* Whole datasets of HDF5 files, read by HDF5 alone. */
#ifndef LARMOR_TESTS_DATASET_H
#define LARMOR_TESTS_DATASET_H

#include <check.h>
#include <hdf5.h>

/* Opens a file to be read. */
static inline hid_t open_h5(const char *path)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_msg(file >= 0, "%s cannot be opened", path);
    return file;
}

/* Reads a dataset, which has at most `room` values of `type`. Returns their number. */
static inline hsize_t read_dataset(hid_t file, const char *name, hid_t type, hsize_t room, void *out)
{
    const hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
    ck_assert_msg(data >= 0, "there is no dataset %s", name);
    const hid_t space = H5Dget_space(data);
    const hsize_t count = (hsize_t)H5Sget_simple_extent_npoints(space);
    ck_assert_uint_le(count, room);
    ck_assert_int_ge(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out), 0);
    H5Sclose(space);
    H5Dclose(data);
    return count;
}

#endif
