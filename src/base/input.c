#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "larmor/base.h"

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a pipe (FIFO)";
    if (S_ISSOCK(mode))
        return "a socket";
    return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "something else";
}

static int refuse(int fd, const char *path, const struct stat *info)
{
    if (fd >= 0)
        close(fd);
    return lm_fail(LM_BAD_INPUT, "%s: not a regular file but %s; name a file", path, kind_of(info->st_mode));
}

int lm_input_open(const char *path, FILE **out)
{
    struct stat info;
    *out = NULL;
    /* O_NONBLOCK: without it, opening a pipe that has no writer waits for ever. A socket cannot be opened (ENXIO). */
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && errno == ENXIO && !stat(path, &info))
        return refuse(fd, path, &info);
    if (fd < 0)
        return lm_fail(LM_BAD_INPUT, "%s: %s", path, strerror(errno));
    if (!fstat(fd, &info) && !S_ISREG(info.st_mode))
        return refuse(fd, path, &info);
    *out = fdopen(fd, "rb");
    if (*out)
        return LM_OK;
    const int status = lm_fail(LM_BAD_INPUT, "%s: %s", path, strerror(errno));
    close(fd);
    return status;
}
