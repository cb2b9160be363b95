#define _GNU_SOURCE /* F_OFD_SETLK */
#include "output/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "larmor/base.h"

static int path_of(const char *directory, char path[LM_MAX_PATH])
{
    return lm_path(path, "%s/%s", directory, LM_LOCK_NAME);
}

/* The message quotes the first line of the file: "process 17 on host x since ...". The holder may not have written it
 * yet.
 */
static int refuse(const char *directory, int file)
{
    char who[256] = "";
    const ssize_t n = pread(file, who, sizeof who - 1, 0);
    who[n > 0 ? (size_t)n : 0] = 0;
    who[strcspn(who, "\r\n")] = 0;
    for (char *c = who; *c; c++)
        *c = *c < ' ' || *c > '~' ? '?' : *c;
    return lm_fail(LM_BAD_INPUT,
                   "%s: another run is writing there (%s); wait for its end, or choose another output directory with "
                   "--output or output.directory",
                   directory, *who ? who : "it has just begun");
}

static int fail_file(const char *path)
{
    return lm_fail(LM_FAILED, "%s: cannot be written: %s", path, strerror(errno));
}

enum { HELD, TAKEN, NO_LOCKS };

static int lock_file(int file)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (!fcntl(file, F_OFD_SETLK, &whole))
        return HELD;
    return errno == EAGAIN || errno == EACCES ? TAKEN : NO_LOCKS;
}

/* 1 when the path still names the opened file. A run that ends removes its lock file. */
static int is_current(int file, const char *path)
{
    struct stat named, open;
    return !lstat(path, &named) && !fstat(file, &open) && named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

static void warn_of_no_locks(const char *path)
{
    fprintf(stderr, "larmor: warning: %s: the file system has no locks (%s): nothing keeps a second run away\n", path,
            strerror(errno));
}

/* Opens and locks the file. With O_CREAT in `flags` the file is created; without it and without a file, no lock is held
 * and the status is LM_OK. */
static int acquire(struct lm_lock *lock, const char *directory, const char *path, int flags)
{
    for (;;) {
        const int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0666);
        if (file < 0)
            return errno == ENOENT && !flags ? LM_OK : fail_file(path);
        const int result = lock_file(file);
        if (result == NO_LOCKS && !lock->silent)
            warn_of_no_locks(path);
        if (result != TAKEN && is_current(file, path)) {
            lock->file = file;
            return lm_path(lock->directory, "%s", directory);
        }
        const int status = result == TAKEN ? refuse(directory, file) : LM_OK;
        close(file);
        if (status)
            return status;
    }
}

int lm_lock_existing(struct lm_lock *lock, const char *directory)
{
    char path[LM_MAX_PATH];
    struct stat st;
    const int status = path_of(directory, path);
    if (status || lstat(path, &st))
        return status;
    return acquire(lock, directory, path, 0) ? LM_BAD_INPUT : LM_OK;
}

static int write_holder(int file, const char *path)
{
    char host[128] = "", when[64] = "", text[256];
    const time_t now = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&now, &utc));
    const int n = snprintf(text, sizeof text, "process %ld on %s since %s\n", (long)getpid(), host, when);
    if (ftruncate(file, 0) || pwrite(file, text, (size_t)n, 0) != n)
        return fail_file(path);
    return LM_OK;
}

int lm_lock_take(struct lm_lock *lock, const char *directory)
{
    char path[LM_MAX_PATH];
    int status = path_of(directory, path);
    if (!status && lock->file < 0)
        status = acquire(lock, directory, path, O_CREAT);
    if (status)
        return status;
    lock->made = 1;
    return write_holder(lock->file, path);
}

void lm_lock_release(struct lm_lock *lock)
{
    char path[LM_MAX_PATH];
    if (lock->file < 0)
        return;
    if (lock->made && !path_of(lock->directory, path))
        unlink(path); /* while the lock is held, so that another run sees that the file is gone (is_current) */
    close(lock->file);
    *lock = (struct lm_lock)LM_LOCK_NONE;
}
