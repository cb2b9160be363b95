/* A checksum of all bytes of an HDF5 file, in its user block: 512 bytes before the HDF5 part that HDF5 reserves, keeps
 * and never reads. It covers data, attributes and HDF5's own records alike, so that damage is noticed before HDF5 reads
 * anything of it.
 *
 * The block is the text "larmor checksum 1\nXXH3-64 HASH of SIZE bytes from 512\n" and zeros; HASH (16 hexadecimal
 * digits) is that of the SIZE bytes behind the block, to the end of the file.
 */
#ifndef LARMOR_BASE_CHECKSUM_H
#define LARMOR_BASE_CHECKSUM_H

#include <stdint.h>

enum { LM_CHECKSUM_BLOCK = 512 };

enum lm_checksum_state {
    LM_CHECKSUM_NONE,      /* the file was written without one, or is no such file at all */
    LM_CHECKSUM_GOOD,      /* the file is as it was written */
    LM_CHECKSUM_NO_BLOCK,  /* the block itself is damaged */
    LM_CHECKSUM_CUT_SHORT, /* the file has another length than when it was written */
    LM_CHECKSUM_WRONG      /* the bytes behind the block have another hash */
};

struct lm_checksum {
    enum lm_checksum_state state;
    uint64_t stored, found;     /* hashes: in the block, of the bytes there are (GOOD and WRONG only) */
    uint64_t stored_size, size; /* bytes behind the block: as written, as they are */
};

/* Fills the block of a complete file. LM_FAILED: it cannot be read or written. */
int lm_checksum_write(const char *path);

/* Reads the file once and says how it is. LM_BAD_INPUT: a regular file that cannot be read. What is absent or no
 * regular file has the state NONE: whoever opens it has the message. */
int lm_checksum_verify(const char *path, struct lm_checksum *out);

/* 1 when there is a block, or what is left of one; reads no more than that. */
int lm_checksum_is_there(const char *path);

#endif
