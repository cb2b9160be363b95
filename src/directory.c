#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "larmor/base.h"

static int is_empty(const char *directory)
{
    DIR *d = opendir(directory);
    int entries = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        entries += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    if (d)
        closedir(d);
    return entries == 0;
}

int lm_directory_check(const char *directory, int overwrite, int restart)
{
    struct stat st;
    char path[LM_MAX_PATH];
    if (stat(directory, &st))
        return LM_OK;
    if (!S_ISDIR(st.st_mode))
        return lm_fail(LM_BAD_INPUT, "%s: the output directory is a file; choose another with --output or output.directory", directory);
    if (is_empty(directory))
        return LM_OK;
    if (!overwrite && !restart)
        return lm_fail(LM_BAD_INPUT, "%s: the output directory exists; choose another with --output, or use --overwrite", directory);
    int status = lm_path(path, "%s/run.ini", directory);
    if (status)
        return status;
    if (access(path, F_OK))
        return lm_fail(LM_BAD_INPUT, "%s: is not the output of a run (it has no run.ini); choose another directory with --output", directory);
    return LM_OK;
}

static int remove_matching(const char *directory, const char *below, const char *pattern)
{
    char folder[LM_MAX_PATH], path[LM_MAX_PATH];
    int status = lm_path(folder, "%s/%s", directory, below);
    DIR *d = status ? NULL : opendir(folder);
    for (struct dirent *e; d && !status && (e = readdir(d));)
        if (!fnmatch(pattern, e->d_name, 0)) {
            status = lm_path(path, "%s/%s", folder, e->d_name);
            if (!status && unlink(path))
                status = lm_fail(LM_FAILED, "%s: cannot be removed: %s", path, strerror(errno));
        }
    if (d)
        closedir(d);
    return status;
}

static int make_parents(const char *directory)
{
    char path[LM_MAX_PATH];
    int status = lm_path(path, "%s", directory);
    for (char *c = path + 1; !status && *c; c++)
        if (*c == '/') {
            *c = 0;
            if (mkdir(path, 0777) && errno != EEXIST)
                status = lm_fail(LM_FAILED, "%s: cannot be made: %s", path, strerror(errno));
            *c = '/';
        }
    if (!status && mkdir(path, 0777) && errno != EEXIST)
        status = lm_fail(LM_FAILED, "%s: cannot be made: %s", path, strerror(errno));
    return status;
}

int lm_directory_make(const char *directory, int clear)
{
    static const char *const files[][2] = {{".", "series.csv"},        {".", "series.h5"},         {".", "run.json"},
                                           {"fields", "data_*.h5*"},   {"particles", "data_*.h5*"},
                                           {"checkpoints", "checkpoint_*.h5*"}};
    int status = make_parents(directory);
    for (size_t k = 0; clear && !status && k < sizeof files / sizeof *files; k++)
        status = remove_matching(directory, files[k][0], files[k][1]);
    return status;
}
