#include "base/h5.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes: writing ---- */

static void put(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int n, const void *values)
{
    hsize_t dims = (hsize_t)n;
    hid_t space = n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &dims, NULL);
    hid_t a = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (a < 0 || H5Awrite(a, type, values) < 0)
        lm_h5_error(h, "cannot write the attribute %s", name);
    if (a >= 0)
        H5Aclose(a);
    H5Sclose(space);
}

void lm_h5_put(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int n, const void *values)
{
    if (h->status == LM_OK)
        put(h, at, name, type, n, values);
}

void lm_h5_put_real(struct lm_h5 *h, hid_t at, const char *name, double value)
{
    lm_h5_put(h, at, name, H5T_NATIVE_DOUBLE, 0, &value);
}

void lm_h5_put_whole(struct lm_h5 *h, hid_t at, const char *name, int64_t value)
{
    lm_h5_put(h, at, name, H5T_NATIVE_INT64, 0, &value);
}

static hid_t text_type(size_t length)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, length > 0 ? length : 1);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

void lm_h5_put_text(struct lm_h5 *h, hid_t at, const char *name, const char *text)
{
    if (h->status != LM_OK)
        return;
    hid_t type = text_type(strlen(text));
    put(h, at, name, type, 0, text);
    H5Tclose(type);
}

void lm_h5_put_texts(struct lm_h5 *h, hid_t at, const char *name, int n, const char *const *texts)
{
    if (h->status != LM_OK)
        return;
    size_t width = 1;
    for (int i = 0; i < n; i++)
        width = strlen(texts[i]) > width ? strlen(texts[i]) : width;
    char *block = calloc(n > 0 ? (size_t)n : 1, width);
    if (!block) {
        lm_h5_wrong(h, "no memory for the attribute %s", name);
        return;
    }
    for (int i = 0; i < n; i++)
        memcpy(block + (size_t)i * width, texts[i], strlen(texts[i]));
    hid_t type = text_type(width);
    put(h, at, name, type, n, block);
    H5Tclose(type);
    free(block);
}

/* ---- attributes: reading ---- */

int lm_h5_has(hid_t at, const char *name)
{
    return at >= 0 && H5Aexists(at, name) > 0;
}

/* Opens an attribute of this class with n values (n = 0: a scalar). -1: an error. */
static hid_t open_attribute(struct lm_h5 *h, hid_t at, const char *name, H5T_class_t class, int n)
{
    char full[LM_H5_NAME];
    if (h->status != LM_OK)
        return -1;
    if (!lm_h5_has(at, name)) {
        lm_h5_wrong(h, "the attribute %s is missing", lm_h5_name(at, name, full));
        return -1;
    }
    hid_t a = H5Aopen(at, name, H5P_DEFAULT);
    if (a < 0) {
        lm_h5_error(h, "cannot read the attribute %s", name);
        return -1;
    }
    hid_t type = H5Aget_type(a), space = H5Aget_space(a);
    int fits = H5Tget_class(type) == class && (class != H5T_STRING || H5Tis_variable_str(type) == 0);
    int rank = H5Sget_simple_extent_ndims(space);
    hssize_t extent = H5Sget_simple_extent_npoints(space);
    if (!fits || rank != (n > 0) || extent != (n > 0 ? n : 1))
        lm_h5_wrong(h, "the attribute %s has a wrong type or length", lm_h5_name(at, name, full));
    H5Tclose(type);
    H5Sclose(space);
    if (h->status == LM_OK)
        return a;
    H5Aclose(a);
    return -1;
}

void lm_h5_get(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int n, void *out)
{
    memset(out, 0, H5Tget_size(type) * (n > 0 ? (size_t)n : 1));
    hid_t a = open_attribute(h, at, name, H5Tget_class(type), n);
    if (a < 0)
        return;
    if (H5Aread(a, type, out) < 0)
        lm_h5_error(h, "cannot read the attribute %s", name);
    H5Aclose(a);
}

double lm_h5_get_real(struct lm_h5 *h, hid_t at, const char *name)
{
    double value;
    lm_h5_get(h, at, name, H5T_NATIVE_DOUBLE, 0, &value);
    return value;
}

int64_t lm_h5_get_whole(struct lm_h5 *h, hid_t at, const char *name)
{
    int64_t value;
    lm_h5_get(h, at, name, H5T_NATIVE_INT64, 0, &value);
    return value;
}

/* Reads n texts as they are stored: blocks of *width bytes without a final 0. One 0 follows after the last block. */
static char *read_texts(struct lm_h5 *h, hid_t at, const char *name, int n, size_t *width)
{
    hid_t a = open_attribute(h, at, name, H5T_STRING, n);
    if (a < 0)
        return NULL;
    hid_t stored = H5Aget_type(a);
    *width = H5Tget_size(stored);
    hid_t type = text_type(*width); /* HDF5 converts from the stored padding */
    char *block = calloc(*width * (n > 0 ? (size_t)n : 1) + 1, 1);
    if (!block)
        lm_h5_wrong(h, "no memory for the attribute %s", name);
    else if (H5Tset_cset(type, H5Tget_cset(stored)) < 0 || H5Aread(a, type, block) < 0)
        lm_h5_error(h, "cannot read the attribute %s", name);
    H5Tclose(type);
    H5Tclose(stored);
    H5Aclose(a);
    if (h->status == LM_OK)
        return block;
    free(block);
    return NULL;
}

char *lm_h5_get_text(struct lm_h5 *h, hid_t at, const char *name)
{
    size_t width;
    return read_texts(h, at, name, 0, &width);
}

void lm_h5_get_texts(struct lm_h5 *h, hid_t at, const char *name, int n, size_t width, char *out)
{
    memset(out, 0, (size_t)n * width);
    size_t stored = 0;
    char *block = n > 0 ? read_texts(h, at, name, n, &stored) : NULL;
    for (int i = 0; block && i < n; i++) {
        size_t length = strnlen(block + (size_t)i * stored, stored);
        if (length >= width || length == 0)
            lm_h5_wrong(h, "the attribute %s holds an empty or too long name", name);
        else
            memcpy(out + (size_t)i * width, block + (size_t)i * stored, length);
    }
    free(block);
}
