/* Private helpers over HDF5's C API, for the modules that write and read files.
 *
 * A file is a struct lm_h5 with a sticky status: after the first error every function does nothing, lm_error() holds
 * that first error, and a sequence of calls needs one check at its end. Identifiers these functions return are then
 * negative, which they accept.
 *
 * Text is stored as fixed-length ASCII (variable-length strings break readers); numbers in native byte order.
 */
#ifndef LARMOR_BASE_H5_H
#define LARMOR_BASE_H5_H

#include <hdf5.h>

#include "larmor/base.h"

struct lm_h5 {
    hid_t file;             /* negative: not open */
    int status;             /* enum lm_status */
    int on_error;           /* what an error makes of it: LM_FAILED while writing, LM_BAD_INPUT while reading */
    char path[LM_MAX_PATH]; /* the final name, used in messages */
    char part[LM_MAX_PATH]; /* the name while being written; "" otherwise */
    int has_checksum;       /* the complete file gets a checksum (base/checksum.h) */
};

/* Records an error with the path in front and HDF5's reason behind; call it right after the HDF5 call that failed. */
void lm_h5_error(struct lm_h5 *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for what is wrong by our own rules: no stale reason of HDF5 behind it. */
#define lm_h5_wrong(h, ...) (H5Eclear2(H5E_DEFAULT), lm_h5_error(h, __VA_ARGS__))

/* Path inside the file of `name` in the group `at`, for messages, into out[LM_H5_NAME]; returns out. */
enum { LM_H5_NAME = 512 };
const char *lm_h5_name(hid_t at, const char *name, char *out);

/* mkdir -p. LM_FAILED when it cannot be. */
int lm_h5_directory(const char *path);

/* Creates PATH.part, without file locks so that others may read while it grows. */
int lm_h5_create(struct lm_h5 *h, const char *path);

/* The same, and lm_h5_finish puts a checksum of all bytes in front (checksum.h). */
int lm_h5_create_with_checksum(struct lm_h5 *h, const char *path);

/* Opens for reading. LM_BAD_INPUT: absent, a directory, not HDF5, truncated. */
int lm_h5_open(struct lm_h5 *h, const char *path);

/* Flushes and gives the file its final name; it stays open. */
int lm_h5_publish(struct lm_h5 *h);

/* Closes in any case. Written and without error: flushed, with `sync` on the disk, renamed to its final name; after an
 * error PATH.part is removed. Returns the status; errors of closing included. */
int lm_h5_finish(struct lm_h5 *h, int sync);

/* Attributes. Arrays have n >= 1 values; a scalar has n = 0 and is one value. */
void lm_h5_put_text(struct lm_h5 *h, hid_t at, const char *name, const char *text);
void lm_h5_put_texts(struct lm_h5 *h, hid_t at, const char *name, int n, const char *const *texts);
void lm_h5_put(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int n, const void *values);
void lm_h5_put_real(struct lm_h5 *h, hid_t at, const char *name, double value);
void lm_h5_put_whole(struct lm_h5 *h, hid_t at, const char *name, int64_t value);

int lm_h5_has(hid_t at, const char *name);
/* `type` is the memory type; the stored class must be the same and the extent n. `out` is zeroed on an error. */
void lm_h5_get(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int n, void *out);
double lm_h5_get_real(struct lm_h5 *h, hid_t at, const char *name);
int64_t lm_h5_get_whole(struct lm_h5 *h, hid_t at, const char *name);
/* A copy that the caller frees; NULL on an error. */
char *lm_h5_get_text(struct lm_h5 *h, hid_t at, const char *name);
/* n texts of less than `width` bytes into out[n][width]. */
void lm_h5_get_texts(struct lm_h5 *h, hid_t at, const char *name, int n, size_t width, char *out);

enum { LM_H5_RANK = 3 };

/* Groups and datasets; the caller closes with lm_h5_end. */
hid_t lm_h5_make_group(struct lm_h5 *h, hid_t at, const char *name);
hid_t lm_h5_group(struct lm_h5 *h, hid_t at, const char *name);
void lm_h5_end(hid_t id);

/* Up to LM_H5_RANK dimensions. gzip 0: contiguous; else chunked with shuffle. */
hid_t lm_h5_make_dataset(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int rank, const hsize_t *dims,
                         int gzip);
/* Opens a dataset that must have this type (class, size, sign) and shape. */
hid_t lm_h5_dataset(struct lm_h5 *h, hid_t at, const char *name, hid_t type, int rank, const hsize_t *dims);
/* Length of a 1-D dataset. */
hsize_t lm_h5_length(struct lm_h5 *h, hid_t at, const char *name);

/* Elements first .. first + count - 1 of a 1-D dataset; count 0 does nothing. */
void lm_h5_write_rows(struct lm_h5 *h, hid_t data, hid_t type, uint64_t first, uint64_t count, const void *values);
void lm_h5_read_rows(struct lm_h5 *h, hid_t data, hid_t type, uint64_t first, uint64_t count, void *values);

/* How many links a group has. One that cannot be read is an error (and 0). */
int lm_h5_link_count(struct lm_h5 *h, hid_t group);

enum { LM_H5_LINK = 256 }; /* bytes of a name, with the final 0 */
struct lm_h5_links {
    int count;
    char (*name)[LM_H5_LINK]; /* in alphabetical order; the caller frees */
};
/* Nothing where the group cannot be read, which is an error. */
struct lm_h5_links lm_h5_links(struct lm_h5 *h, hid_t group);

#endif
