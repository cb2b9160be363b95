/* Helpers over HDF5's C API for the modules that write and read files.
 *
 * A file is a struct lm_h5 with a sticky status. After the first error every function does nothing, and lm_error()
 * keeps the message of that first error. So a sequence of calls needs one check, at its end. After an error the
 * functions return negative identifiers, and they accept negative identifiers as arguments.
 *
 * Text is stored as fixed-length ASCII, because variable-length strings break some readers. Numbers are stored in
 * native byte order.
 */
#ifndef LARMOR_BASE_H5_H
#define LARMOR_BASE_H5_H

#include <hdf5.h>

#include "larmor/base.h"

struct lm_h5 {
    hid_t file;             /* negative: not open */
    int status;             /* enum lm_status */
    int on_error;           /* the status after an error: LM_FAILED while writing, LM_BAD_INPUT while reading */
    char path[LM_MAX_PATH]; /* the final name, used in messages */
    char part[LM_MAX_PATH]; /* the name while the file is written; "" otherwise */
    int has_checksum;       /* the complete file gets a checksum (base/checksum.h) */
};

/* Records an error. The message has the path first and HDF5's reason last. Call it right after the HDF5 call that
 * failed. */
void lm_h5_error(struct lm_h5 *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for an error that HDF5 has not reported; the message has no reason of HDF5. */
#define lm_h5_wrong(h, ...) (H5Eclear2(H5E_DEFAULT), lm_h5_error(h, __VA_ARGS__))

/* Writes the path inside the file of `name` in the group `at` to out[LM_H5_NAME], for messages. Returns out. */
enum { LM_H5_NAME = 512 };
const char *lm_h5_name(hid_t at, const char *name, char *out);

/* Makes a directory and all directories above it. LM_FAILED: it cannot be made. */
int lm_h5_directory(const char *path);

/* Creates PATH.part, with the attributes of base/provenance.h. There are no file locks, so that other programs may read
 * the file while it grows. */
int lm_h5_create(struct lm_h5 *h, const char *path);

/* The same; lm_h5_finish writes a checksum of all bytes into the user block (base/checksum.h). */
int lm_h5_create_with_checksum(struct lm_h5 *h, const char *path);

/* Opens a file for reading. LM_BAD_INPUT: it is absent, a directory, not HDF5, or truncated. */
int lm_h5_open(struct lm_h5 *h, const char *path);

/* Flushes the file and renames it to its final name; it stays open. */
int lm_h5_publish(struct lm_h5 *h);

/* Closes the file in any case. A file that was written without an error is flushed, with `sync` forced to the disk, and
 * renamed to its final name. After an error PATH.part is removed. Returns the status, which includes errors of closing.
 */
int lm_h5_finish(struct lm_h5 *h, int sync);

/* Attributes. An array has n >= 1 values; n = 0 means a scalar, which is one value. */
void lm_h5_put_text(struct lm_h5 *h, hid_t at, const char *name, const char *text);
void lm_h5_put_texts(struct lm_h5 *h, hid_t at, const char *name, int n, const char *const *texts);
void lm_h5_put(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int n, const void *values);
void lm_h5_put_real(struct lm_h5 *h, hid_t at, const char *name, double value);
void lm_h5_put_whole(struct lm_h5 *h, hid_t at, const char *name, int64_t value);

int lm_h5_has(hid_t at, const char *name);
/* `type` is the type in memory. The stored attribute must have the same class and the extent n. After an error `out` is
 * zero. */
void lm_h5_get(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int n, void *out);
double lm_h5_get_real(struct lm_h5 *h, hid_t at, const char *name);
int64_t lm_h5_get_whole(struct lm_h5 *h, hid_t at, const char *name);
/* Returns a copy that the caller frees; NULL: an error. */
char *lm_h5_get_text(struct lm_h5 *h, hid_t at, const char *name);
/* Reads n texts of less than `width` bytes into out[n][width]. */
void lm_h5_get_texts(struct lm_h5 *h, hid_t at, const char *name, int n, size_t width, char *out);

enum { LM_H5_RANK = 3 };

/* Groups and datasets. The caller closes each with lm_h5_end. */
hid_t lm_h5_make_group(struct lm_h5 *h, hid_t at, const char *name);
hid_t lm_h5_group(struct lm_h5 *h, hid_t at, const char *name);
void lm_h5_end(hid_t id);

/* Creates a dataset of up to LM_H5_RANK dimensions. With gzip = 0, or without rows, it is contiguous; else it has
 * chunks and the shuffle filter. */
hid_t lm_h5_make_dataset(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int rank, const hsize_t *dims,
                         int gzip);
/* Opens a dataset. It must have this type (class, size, sign) and this shape. */
hid_t lm_h5_dataset(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int rank, const hsize_t *dims);
/* The length of a 1-D dataset. */
hsize_t lm_h5_length(struct lm_h5 *h, hid_t at, const char *name);

/* The elements first .. first + count - 1 of a 1-D dataset. With count = 0 nothing happens. */
void lm_h5_write_rows(struct lm_h5 *h, hid_t data, hid_t type, uint64_t first, uint64_t count, const void *values);
void lm_h5_read_rows(struct lm_h5 *h, hid_t data, hid_t type, uint64_t first, uint64_t count, void *values);

/* The number of links in a group. Where the group cannot be read, that is an error, and the number is 0. */
int lm_h5_link_count(struct lm_h5 *h, hid_t group);

enum { LM_H5_LINK = 256 }; /* bytes of a name, the final 0 included */
struct lm_h5_links {
    int count;
    char (*name)[LM_H5_LINK]; /* in alphabetical order; the caller frees it */
};
/* The links of a group. Where the group cannot be read, that is an error, and the list is empty. */
struct lm_h5_links lm_h5_links(struct lm_h5 *h, hid_t group);

#endif
