/* A checksum of all bytes of an HDF5 file. It stands in the user block of the file: the first 512 bytes, which HDF5
 * reserves and never reads. The checksum covers data, attributes and the records of HDF5 itself, so that damage is
 * found before HDF5 reads anything.
 *
 * The block is the text "larmor checksum 1\nXXH3-64 HASH of SIZE bytes from 512\n", filled up with zeros. HASH has 16
 * hexadecimal digits. It is the hash of the SIZE bytes from byte 512 to the end of the file.
 */
#ifndef LARMOR_BASE_CHECKSUM_H
#define LARMOR_BASE_CHECKSUM_H

#include <stdint.h>

enum { LM_CHECKSUM_BLOCK = 512 };

enum lm_checksum_state {
    LM_CHECKSUM_NONE,      /* the file has no checksum, or there is no regular file of this name */
    LM_CHECKSUM_GOOD,      /* the file is as it was written */
    LM_CHECKSUM_NO_BLOCK,  /* the block itself is damaged */
    LM_CHECKSUM_CUT_SHORT, /* the file has another length than when it was written */
    LM_CHECKSUM_WRONG      /* the bytes behind the block have another hash */
};

struct lm_checksum {
    enum lm_checksum_state state;
    uint64_t stored, found;     /* hash in the block, hash of the present bytes (GOOD and WRONG only) */
    uint64_t stored_size, size; /* bytes behind the block: when the file was written, now */
};

/* Fills the block of a complete file. LM_FAILED: it cannot be read or written. */
int lm_checksum_write(const char *path);

/* Reads the file once and compares. LM_BAD_INPUT: the file cannot be read. A file that is absent or not a regular file
 * has the state NONE; the function that opens the file reports that. */
int lm_checksum_verify(const char *path, struct lm_checksum *out);

/* 1 when the file has a block, damaged or not. It reads the block only. */
int lm_checksum_is_there(const char *path);

#endif
