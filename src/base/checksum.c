#include "base/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL /* compiles the hash in this file, with the vector instructions of this processor */
#include <xxhash.h>

#include "larmor/base.h"

enum { PIECE = 1 << 20 };

static const char mark[] = "larmor checksum ";
static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

static void make_block(uint64_t hash, uint64_t size, char block[LM_CHECKSUM_BLOCK])
{
    memset(block, 0, LM_CHECKSUM_BLOCK);
    snprintf(block, LM_CHECKSUM_BLOCK, "%s1\nXXH3-64 %016" PRIx64 " of %" PRIu64 " bytes from %d\n", mark, hash, size,
             LM_CHECKSUM_BLOCK);
}

/* Reads up to n bytes. Returns the number of bytes read, which is smaller at the end of the file; -1: an error. */
static ssize_t read_at(int fd, char *out, size_t n, uint64_t at)
{
    size_t done = 0;
    while (done < n) {
        ssize_t more = pread(fd, out + done, n - done, (off_t)(at + done));
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return -1;
        if (more == 0)
            break;
        done += (size_t)more;
    }
    return (ssize_t)done;
}

/* Hashes all bytes behind the block. 0: done; -1: errno says what went wrong. */
static int hash_file(int fd, uint64_t *hash, uint64_t *size)
{
    char *piece = malloc(PIECE);
    XXH3_state_t state;
    ssize_t n = piece ? 1 : -1;
    XXH3_64bits_reset(&state);
    *size = 0;
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    while (n > 0) {
        n = read_at(fd, piece, PIECE, LM_CHECKSUM_BLOCK + *size);
        if (n > 0) {
            XXH3_64bits_update(&state, piece, (size_t)n);
            *size += (uint64_t)n;
        }
    }
    *hash = XXH3_64bits_digest(&state);
    free(piece);
    return n < 0 ? -1 : 0;
}

static int write_block(int fd)
{
    char block[LM_CHECKSUM_BLOCK];
    uint64_t hash, size;
    if (hash_file(fd, &hash, &size))
        return -1;
    make_block(hash, size, block);
    return pwrite(fd, block, sizeof block, 0) == sizeof block ? 0 : -1;
}

int lm_checksum_write(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int failed = fd < 0 || write_block(fd), why = errno;
    if (fd >= 0 && close(fd) && !failed) {
        failed = 1;
        why = errno;
    }
    return failed ? lm_fail(LM_FAILED, "%s: cannot write the checksum: %s", path, strerror(why)) : LM_OK;
}

/* Recognises a damaged block by what is left of such a file: the mark, or an HDF5 part that begins at byte 512. */
static enum lm_checksum_state judge_block(const char *block, size_t n, int fd, struct lm_checksum *out)
{
    char same[LM_CHECKSUM_BLOCK], behind[sizeof hdf5];
    const int marked = n >= strlen(mark) && !memcmp(block, mark, strlen(mark));
    if (n == LM_CHECKSUM_BLOCK && marked &&
        sscanf(block + strlen(mark), "1 XXH3-64 %16" SCNx64 " of %20" SCNu64, &out->stored, &out->stored_size) == 2) {
        make_block(out->stored, out->stored_size, same);
        return memcmp(block, same, sizeof same) ? LM_CHECKSUM_NO_BLOCK : LM_CHECKSUM_GOOD;
    }
    const int is_behind =
        read_at(fd, behind, sizeof behind, LM_CHECKSUM_BLOCK) == sizeof behind && !memcmp(behind, hdf5, sizeof hdf5);
    const int at_start = n >= sizeof hdf5 && !memcmp(block, hdf5, sizeof hdf5);
    return marked || (is_behind && !at_start) ? LM_CHECKSUM_NO_BLOCK : LM_CHECKSUM_NONE;
}

/* Reads the block only. -1: it cannot be read, and errno says why. */
static int read_block(int fd, struct lm_checksum *out)
{
    char block[LM_CHECKSUM_BLOCK + 1];
    ssize_t n = read_at(fd, block, LM_CHECKSUM_BLOCK, 0);
    if (n < 0)
        return -1;
    block[n] = 0;
    out->state = judge_block(block, (size_t)n, fd, out);
    return 0;
}

static int judge(int fd, uint64_t length, struct lm_checksum *out)
{
    if (read_block(fd, out))
        return -1;
    if (out->state != LM_CHECKSUM_GOOD)
        return 0;
    out->size = length - LM_CHECKSUM_BLOCK;
    if (out->size != out->stored_size) {
        out->state = LM_CHECKSUM_CUT_SHORT;
        return 0;
    }
    if (hash_file(fd, &out->found, &out->size))
        return -1;
    if (out->found != out->stored || out->size != out->stored_size)
        out->state = LM_CHECKSUM_WRONG;
    return 0;
}

/* Opens a regular file; -1: it is absent, of another kind, or cannot be opened. With O_NONBLOCK a pipe does not wait
 * for its writer. */
static int open_regular(const char *path, uint64_t *length)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        *length = (uint64_t)info.st_size;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

int lm_checksum_verify(const char *path, struct lm_checksum *out)
{
    uint64_t length;
    *out = (struct lm_checksum){.state = LM_CHECKSUM_NONE};
    int fd = open_regular(path, &length);
    if (fd < 0)
        return LM_OK;
    int failed = judge(fd, length, out), why = errno;
    close(fd);
    return failed ? lm_fail(LM_BAD_INPUT, "%s: cannot be read: %s", path, strerror(why)) : LM_OK;
}

int lm_checksum_is_there(const char *path)
{
    uint64_t length;
    struct lm_checksum sum = {.state = LM_CHECKSUM_NONE};
    int fd = open_regular(path, &length);
    if (fd < 0)
        return 0;
    int failed = read_block(fd, &sum);
    close(fd);
    return !failed && sum.state != LM_CHECKSUM_NONE;
}
