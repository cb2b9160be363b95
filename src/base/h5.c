#include "base/provenance.h"
#include "base/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/checksum.h"

/* ---- errors ---- */

/* HDF5 reports a stack of errors. Upwards the first entry (n = 0) is the deepest one. Of a failed system call only the
 * words of the system are kept. */
static herr_t deepest(unsigned n, const H5E_error2_t *error, void *out)
{
    if (n > 0)
        return 0;
    const char *key = "error message = '";
    const char *at = error->desc ? strstr(error->desc, key) : NULL;
    if (at) {
        at += strlen(key);
        snprintf(out, 160, "%.*s", (int)strcspn(at, "'"), at);
    } else if (error->desc) {
        snprintf(out, 160, "%s", error->desc);
    }
    return 0;
}

void lm_h5_error(struct lm_h5 *h, const char *format, ...)
{
    if (h->status != LM_OK)
        return;
    char reason[160] = "", text[1024];
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, deepest, reason);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *open = reason[0] ? " (" : "", *close = reason[0] ? ")" : "";
    h->status = lm_fail(h->on_error, "%s: %s%s%s%s", h->path, text, open, reason, close);
}

const char *lm_h5_name(hid_t at, const char *name, char *out)
{
    char parent[LM_H5_NAME / 2] = "";
    if (H5Iget_name(at, parent, sizeof parent) <= 0 || strcmp(parent, "/") == 0)
        parent[0] = 0;
    snprintf(out, LM_H5_NAME, "%s%s%.200s", parent, parent[0] ? "/" : "", name);
    return out;
}

/* ---- files ---- */

#ifndef LM_LIBRARY
/* HDF5's clean-up at exit crashes (version 1.10) after a file that could not be written. The program closes all files
 * itself and does not need the clean-up. This call has to come before any other call of HDF5. The shared library does
 * not make it, because the files of the program that loads it may need the clean-up. */
__attribute__((constructor)) static void keep_hdf5_from_exit(void)
{
    H5dont_atexit();
}
#endif

int lm_h5_directory(const char *path)
{
    char part[LM_MAX_PATH];
    int status = lm_path(part, "%s", path);
    if (status != LM_OK)
        return status;
    for (char *p = part + 1; part[0] && *p; p++)
        if (*p == '/') {
            *p = 0;
            mkdir(part, 0777); /* it may exist; only the last call is checked */
            *p = '/';
        }
    struct stat info;
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
        return lm_fail(LM_FAILED, "%s: cannot create the directory: %s", path, strerror(errno));
    if (stat(part, &info) != 0 || !S_ISDIR(info.st_mode))
        return lm_fail(LM_FAILED, "%s: is not a directory", path);
    return LM_OK;
}

static int begin(struct lm_h5 *h, const char *path, int on_error)
{
    *h = (struct lm_h5){.file = -1, .on_error = on_error};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* HDF5 would print messages of its own */
    h->status = lm_path(h->path, "%s", path);
    return h->status;
}

/* The strong close degree closes all objects of a file, also after an error. The format of HDF5 1.8 allows large
 * attributes, and all common readers know it. There are no locks: a program may read the series while the run goes on,
 * and some network file systems have no locks. */
static hid_t access_list(void)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
    H5Pset_file_locking(list, 0, 1);
#endif
    return list;
}

/* An attribute must fit into the head of the file's root, which has room for 64 KiB. */
static void put_provenance(struct lm_h5 *h)
{
    static const char *const names[LM_PROVENANCES] = {"commit", "command", "settings"};
    enum { MOST = 50000 };
    char host[256] = "", created[64];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    lm_h5_put_text(h, h->file, "created", created);
    if (!gethostname(host, sizeof host - 1) && *host)
        lm_h5_put_text(h, h->file, "machine", host);
    for (int k = 0; k < LM_PROVENANCES; k++) {
        const char *text = lm_provenance_get(k);
        if (text && *text)
            lm_h5_put_text(h, h->file, names[k], strlen(text) < MOST ? text : "too long; see run.ini");
    }
}

static int create(struct lm_h5 *h, const char *path, int with_checksum)
{
    if (begin(h, path, LM_FAILED) != LM_OK)
        return h->status;
    h->status = lm_path(h->part, "%s.part", path);
    if (h->status != LM_OK)
        return h->status;
    h->has_checksum = with_checksum;
    hid_t access = access_list(), list = H5Pcreate(H5P_FILE_CREATE);
    if (with_checksum)
        H5Pset_userblock(list, LM_CHECKSUM_BLOCK);
    unlink(h->part); /* a killed run may have left it; it may also be a link to another file */
    h->file = H5Fcreate(h->part, H5F_ACC_EXCL, list, access);
    if (h->file < 0) {
        lm_h5_error(h, "cannot create the file");
        unlink(h->part); /* a full disk leaves an empty file */
    }
    H5Pclose(list);
    H5Pclose(access);
    put_provenance(h);
    return h->status;
}

int lm_h5_create(struct lm_h5 *h, const char *path)
{
    return create(h, path, 0);
}

int lm_h5_create_with_checksum(struct lm_h5 *h, const char *path)
{
    return create(h, path, 1);
}

static int is_regular(struct lm_h5 *h)
{
    struct stat info;
    if (stat(h->path, &info) != 0)
        lm_h5_wrong(h, "%s", errno == ENOENT ? "no such file" : strerror(errno));
    else if (S_ISDIR(info.st_mode))
        lm_h5_wrong(h, "is a directory; name a file in it");
    else if (!S_ISREG(info.st_mode))
        lm_h5_wrong(h, "is not a regular file");
    else if (info.st_size == 0)
        lm_h5_wrong(h, "is empty");
    else if (access(h->path, R_OK) != 0)
        lm_h5_wrong(h, "cannot be read: %s", strerror(errno));
    return h->status == LM_OK;
}

int lm_h5_open(struct lm_h5 *h, const char *path)
{
    if (begin(h, path, LM_BAD_INPUT) != LM_OK || !is_regular(h))
        return h->status;
    if (H5Fis_hdf5(h->path) <= 0) {
        lm_h5_wrong(h, "is not an HDF5 file");
        return h->status;
    }
    hid_t access = access_list();
    h->file = H5Fopen(h->path, H5F_ACC_RDONLY, access);
    if (h->file < 0)
        lm_h5_error(h, "is truncated or damaged; use another file");
    H5Pclose(access);
    return h->status;
}

static void flush(struct lm_h5 *h)
{
    if (h->status == LM_OK && H5Fflush(h->file, H5F_SCOPE_GLOBAL) < 0)
        lm_h5_error(h, "cannot write");
}

static void rename_part(struct lm_h5 *h)
{
    if (h->status == LM_OK && rename(h->part, h->path) != 0)
        lm_h5_wrong(h, "cannot rename %s to it: %s", h->part, strerror(errno));
    if (h->status == LM_OK)
        h->part[0] = 0;
}

int lm_h5_publish(struct lm_h5 *h)
{
    flush(h);
    rename_part(h);
    return h->status;
}

static void sync_path(struct lm_h5 *h, const char *path)
{
    if (h->status != LM_OK)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    /* EINVAL, EROFS: the file system cannot synchronise this file or directory. */
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL && errno != EROFS))
        lm_h5_wrong(h, "cannot write to the disk: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
}

static void sync_directory(struct lm_h5 *h)
{
    char directory[LM_MAX_PATH] = ".";
    const char *slash = strrchr(h->path, '/');
    if (slash)
        snprintf(directory, sizeof directory, "%.*s", (int)(slash - h->path) + 1, h->path);
    sync_path(h, directory);
}

int lm_h5_finish(struct lm_h5 *h, int sync)
{
    int written = h->part[0] != 0;
    if (written)
        flush(h);
    if (h->file >= 0 && H5Fclose(h->file) < 0)
        lm_h5_error(h, "cannot close the file");
    h->file = -1;
    if (!written)
        return h->status;
    if (h->has_checksum && h->status == LM_OK)
        h->status = lm_checksum_write(h->part);
    if (sync)
        sync_path(h, h->part);
    rename_part(h);
    if (h->part[0])
        unlink(h->part);
    else if (sync)
        sync_directory(h);
    return h->status;
}

/* ---- groups and datasets ---- */

hid_t lm_h5_make_group(struct lm_h5 *h, hid_t at, const char *name)
{
    if (h->status != LM_OK)
        return -1;
    hid_t group = H5Gcreate2(at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        lm_h5_error(h, "cannot write the group %s", name);
    return group;
}

hid_t lm_h5_group(struct lm_h5 *h, hid_t at, const char *name)
{
    char full[LM_H5_NAME];
    if (h->status != LM_OK)
        return -1;
    hid_t group = H5Lexists(at, name, H5P_DEFAULT) > 0 ? H5Gopen2(at, name, H5P_DEFAULT) : -1;
    if (group < 0)
        lm_h5_wrong(h, "the group %s is missing", lm_h5_name(at, name, full));
    return group;
}

void lm_h5_end(hid_t id)
{
    if (id >= 0)
        H5Oclose(id);
}

/* A chunk has whole rows of the first dimension and at most 131072 values, or one row. A chunk of 8-byte numbers then
 * fits into HDF5's cache of 1 MiB, and pieces of 2^20 numbers begin and end with chunks: none is compressed twice. */
static void set_gzip(hid_t list, int rank, const hsize_t *dims, int gzip)
{
    hsize_t chunk[LM_H5_RANK], row = 1;
    for (int d = 1; d < rank; d++)
        row *= chunk[d] = dims[d];
    const hsize_t rows = row < 131072 ? 131072 / row : 1;
    chunk[0] = dims[0] < rows ? dims[0] : rows;
    H5Pset_chunk(list, rank, chunk);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, (unsigned)gzip);
}

hid_t lm_h5_make_dataset(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int rank, const hsize_t *dims,
                         int gzip)
{
    if (h->status != LM_OK)
        return -1;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, dims, NULL);
    H5Pset_fill_time(list, H5D_FILL_TIME_NEVER); /* every element is written */
    const hssize_t values = H5Sget_simple_extent_npoints(space);
    if (gzip > 0 && values > 0) /* a chunk has at least one value */
        set_gzip(list, rank, dims, gzip);
    hid_t data = H5Dcreate2(at, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (data < 0)
        lm_h5_error(h, "cannot write the dataset %s", name);
    H5Sclose(space);
    H5Pclose(list);
    return data;
}

static int has_type(hid_t data, hid_t type)
{
    hid_t stored = H5Dget_type(data);
    H5T_class_t class = H5Tget_class(stored);
    int fits = class == H5Tget_class(type) && H5Tget_size(stored) == H5Tget_size(type) &&
               (class != H5T_INTEGER || H5Tget_sign(stored) == H5Tget_sign(type));
    H5Tclose(stored);
    return fits;
}

static int has_shape(hid_t data, int rank, const hsize_t *dims)
{
    hsize_t stored[LM_H5_RANK] = {0};
    hid_t space = H5Dget_space(data);
    int fits = H5Sget_simple_extent_ndims(space) == rank && H5Sget_simple_extent_dims(space, stored, NULL) == rank;
    H5Sclose(space);
    for (int i = 0; fits && i < rank; i++)
        fits = stored[i] == dims[i];
    return fits;
}

hid_t lm_h5_dataset(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int rank, const hsize_t *dims)
{
    char full[LM_H5_NAME];
    if (h->status != LM_OK)
        return -1;
    hid_t data = H5Lexists(at, name, H5P_DEFAULT) > 0 ? H5Dopen2(at, name, H5P_DEFAULT) : -1;
    if (data < 0)
        lm_h5_wrong(h, "the dataset %s is missing", lm_h5_name(at, name, full));
    else if (!has_type(data, type))
        lm_h5_wrong(h, "the dataset %s has a wrong type", lm_h5_name(at, name, full));
    else if (!has_shape(data, rank, dims))
        lm_h5_wrong(h, "the dataset %s has a wrong shape", lm_h5_name(at, name, full));
    if (h->status == LM_OK)
        return data;
    lm_h5_end(data);
    return -1;
}

hsize_t lm_h5_length(struct lm_h5 *h, hid_t at, const char *name)
{
    hsize_t length = 0;
    char full[LM_H5_NAME];
    if (h->status != LM_OK)
        return 0;
    hid_t data = H5Lexists(at, name, H5P_DEFAULT) > 0 ? H5Dopen2(at, name, H5P_DEFAULT) : -1;
    hid_t space = data >= 0 ? H5Dget_space(data) : -1;
    if (space < 0 || H5Sget_simple_extent_ndims(space) != 1)
        lm_h5_wrong(h, "the dataset %s is missing or not a list", lm_h5_name(at, name, full));
    else
        H5Sget_simple_extent_dims(space, &length, NULL);
    if (space >= 0)
        H5Sclose(space);
    lm_h5_end(data);
    return length;
}

/* Writes (`from`) or reads (`to`) a piece of a 1-D dataset; the other pointer is NULL. */
static void move_rows(struct lm_h5 *h, hid_t data, hid_t type, uint64_t first, uint64_t count, const void *from,
                      void *to)
{
    if (h->status != LM_OK || count == 0)
        return;
    hsize_t start = first, n = count;
    hid_t file_space = H5Dget_space(data), memory_space = H5Screate_simple(1, &n, NULL);
    herr_t result = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &n, NULL);
    if (result >= 0 && from)
        result = H5Dwrite(data, type, memory_space, file_space, H5P_DEFAULT, from);
    else if (result >= 0)
        result = H5Dread(data, type, memory_space, file_space, H5P_DEFAULT, to);
    if (result < 0)
        lm_h5_error(h, "cannot %s the data", from ? "write" : "read");
    H5Sclose(file_space);
    H5Sclose(memory_space);
}

void lm_h5_write_rows(struct lm_h5 *h, hid_t data, hid_t type, uint64_t first, uint64_t count, const void *values)
{
    move_rows(h, data, type, first, count, values, NULL);
}

void lm_h5_read_rows(struct lm_h5 *h, hid_t data, hid_t type, uint64_t first, uint64_t count, void *values)
{
    move_rows(h, data, type, first, count, NULL, values);
}

int lm_h5_link_count(struct lm_h5 *h, hid_t group)
{
    H5G_info_t info;
    if (h->status != LM_OK)
        return 0;
    if (H5Gget_info(group, &info) >= 0 && info.nlinks <= INT_MAX)
        return (int)info.nlinks;
    lm_h5_error(h, "cannot list a group; the file is damaged");
    return 0;
}

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *out)
{
    struct lm_h5_links *links = out;
    (void)group;
    (void)info;
    if (strlen(name) >= LM_H5_LINK || !*name)
        return -1;
    void *more = realloc(links->name, (size_t)(links->count + 1) * sizeof *links->name);
    if (!more)
        return -1;
    links->name = more;
    snprintf(links->name[links->count++], LM_H5_LINK, "%s", name);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The links are read in the order of the file and sorted here. HDF5 1.10 frees memory that it has not allocated where
 * it cannot sort a damaged group. */
struct lm_h5_links lm_h5_links(struct lm_h5 *h, hid_t group)
{
    struct lm_h5_links links = {.count = 0};
    const int expected = lm_h5_link_count(h, group);
    if (h->status == LM_OK && H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_link, &links) < 0)
        lm_h5_error(h, "cannot read the names of a group; the file is damaged");
    if (h->status == LM_OK && links.count != expected)
        lm_h5_wrong(h, "a group has %d names instead of %d; the file is damaged", links.count, expected);
    if (h->status == LM_OK && links.count > 0)
        qsort(links.name, (size_t)links.count, sizeof *links.name, by_name);
    if (h->status == LM_OK)
        return links;
    free(links.name);
    return (struct lm_h5_links){.count = 0};
}
