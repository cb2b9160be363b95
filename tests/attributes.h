/* Asserts on attributes of HDF5 files, by HDF5 alone: type, extent and value. */
#ifndef LARMOR_TESTS_ATTRIBUTES_H
#define LARMOR_TESTS_ATTRIBUTES_H

#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <string.h>

/* A fixed-length scalar string. */
static inline const char *text(hid_t file, const char *object, const char *name)
{
    static char out[256];
    memset(out, 0, sizeof out);
    hid_t a = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_msg(a >= 0, "no attribute %s of %s", name, object);
    hid_t type = H5Aget_type(a), space = H5Aget_space(a);
    ck_assert_int_eq(H5Tget_class(type), H5T_STRING);
    ck_assert_int_eq(H5Tis_variable_str(type), 0);
    ck_assert_int_eq(H5Tget_cset(type), H5T_CSET_ASCII);
    ck_assert_int_eq(H5Sget_simple_extent_type(space), H5S_SCALAR);
    ck_assert_uint_lt(H5Tget_size(type), sizeof out);
    H5Aread(a, type, out);
    H5Aclose(a);
    return out;
}

static inline void assert_text(hid_t file, const char *object, const char *name, const char *expected)
{
    ck_assert_str_eq(text(file, object, name), expected);
}

static inline void assert_texts(hid_t file, const char *object, const char *name, int n, const char *const *expected)
{
    char out[8 * 64] = "";
    hid_t a = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT), type = H5Aget_type(a);
    size_t width = H5Tget_size(type);
    ck_assert_int_eq(H5Sget_simple_extent_npoints(H5Aget_space(a)), n);
    ck_assert_int_eq(H5Tis_variable_str(type), 0);
    ck_assert_uint_le(width * (size_t)n, sizeof out);
    H5Aread(a, type, out);
    for (int k = 0; k < n; k++) {
        char one[65] = "";
        memcpy(one, out + width * (size_t)k, width);
        ck_assert_str_eq(one, expected[k]);
    }
}

/* n = 0 stands for a scalar dataspace, which is not an array of one element. */
static inline void assert_reals(hid_t file, const char *object, const char *name, int n, const double *expected)
{
    double out[8];
    hid_t a = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_msg(a >= 0, "no attribute %s of %s", name, object);
    hid_t space = H5Aget_space(a), type = H5Aget_type(a);
    ck_assert_msg(H5Tequal(type, H5T_NATIVE_DOUBLE) > 0, "%s is no double", name);
    ck_assert_int_eq(H5Sget_simple_extent_ndims(space), n > 0);
    ck_assert_int_eq(H5Sget_simple_extent_npoints(space), n > 0 ? n : 1);
    H5Aread(a, type, out);
    for (int k = 0; k < (n > 0 ? n : 1); k++)
        ck_assert_msg(fabs(out[k] - expected[k]) <= 1e-12 * fabs(expected[k]), "%s %s[%d]: %.17g, not %.17g", object,
                      name, k, out[k], expected[k]);
}

static inline void assert_real(hid_t file, const char *object, const char *name, double expected)
{
    assert_reals(file, object, name, 0, &expected);
}

static inline void assert_whole(hid_t file, const char *object, const char *name, hid_t expected_type, int rank,
                                uint64_t expected)
{
    uint64_t out = 0;
    hid_t a = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_msg(a >= 0, "no attribute %s of %s", name, object);
    ck_assert_msg(H5Tequal(H5Aget_type(a), expected_type) > 0, "%s has another type", name);
    ck_assert_int_eq(H5Sget_simple_extent_ndims(H5Aget_space(a)), rank);
    H5Aread(a, H5T_NATIVE_UINT64, &out);
    ck_assert_uint_eq(out, expected);
}

#endif
