#define _GNU_SOURCE /* O_NOFOLLOW */
#include "output/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "larmor/base.h"
#include "output/lock.h"

/* The files that a run writes: the folder in the output directory, and the names. */
static const char *const written[][2] = {{".", "series.csv"},
                                         {".", "series.csv.part"},
                                         {".", "series.h5"},
                                         {".", "series.h5.old"},
                                         {".", "series.h5.part"},
                                         {".", "run.json"},
                                         {".", "run.json.part"},
                                         {".", "run.ini.part"},
                                         {".", "larmor.messages"},
                                         {".", "larmor.messages.part"},
                                         {"fields", "data_*.h5"},
                                         {"fields", "data_*.h5.part"},
                                         {"particles", "data_*.h5"},
                                         {"particles", "data_*.h5.part"},
                                         {"checkpoints", "checkpoint_*.h5"},
                                         {"checkpoints", "checkpoint_*.h5.part"},
                                         {"maps", "maps_*.h5"},
                                         {"maps", "maps_*.h5.part"},
                                         {"distributions", "*_*.h5"},
                                         {"distributions", "*_*.h5.part"},
                                         {"probes", "*_*.h5"},
                                         {"probes", "*_*.h5.part"},
                                         {"tracks", "*_*.h5"},
                                         {"tracks", "*_*.h5.part"},
                                         {"outputs", "*_*.h5"},
                                         {"outputs", "*_*.h5.part"}};
enum { WRITTEN = sizeof written / sizeof *written };

static int is_written(const char *folder, const char *name)
{
    for (size_t k = 0; k < WRITTEN; k++)
        if (!strcmp(folder, written[k][0]) && !fnmatch(written[k][1], name, 0))
            return 1;
    return 0;
}

/* ---- before anything is written ---- */

static int refuse(const char *directory, const char *why)
{
    return lm_fail(LM_BAD_INPUT, "%s: %s; choose another output directory with --output or output.directory", directory,
                   why);
}

/* 1 when the directory holds nothing, or only a lock file. */
static int is_empty(DIR *d)
{
    int entries = 0;
    rewinddir(d);
    for (struct dirent *e; (e = readdir(d));)
        entries += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strcmp(e->d_name, LM_LOCK_NAME);
    return entries == 0;
}

/* 1 when the file is empty or begins with `mark`. */
static int begins(const char *directory, const char *name, const char *mark)
{
    char path[LM_MAX_PATH], line[64] = "";
    struct stat st;
    if (lm_path(path, "%s/%s", directory, name) || lstat(path, &st) || !S_ISREG(st.st_mode))
        return 0;
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    const int is_empty = !fgets(line, sizeof line, f) && !ferror(f);
    fclose(f);
    return is_empty || !strncmp(line, mark, strlen(mark));
}

/* A run.ini may be the user's own. The one that a run writes begins with this mark (src/config/config.c). */
static int holds_run(const char *directory)
{
    char path[LM_MAX_PATH];
    return !lm_path(path, "%s/run.ini", directory) && !access(path, F_OK) &&
           begins(directory, "run.ini", "# All settings of a run");
}

static int is_folder(const char *name)
{
    for (size_t k = 0; k < WRITTEN; k++)
        if (!strcmp(name, written[k][0]))
            return 1;
    return 0;
}

/* 1 when a folder of the directory has only files that a run writes. A series.csv may be the user's own, so it must
 * begin as that of a run. */
static int has_only_written(const char *directory, const char *folder)
{
    char path[LM_MAX_PATH];
    DIR *d = lm_path(path, "%s/%s", directory, folder) ? NULL : opendir(path);
    int only = d != NULL;
    for (struct dirent *e; only && (e = readdir(d));) {
        const int top = !strcmp(folder, ".");
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || (top && !strcmp(e->d_name, LM_LOCK_NAME)))
            continue;
        if (top && !strcmp(e->d_name, "series.csv"))
            only = begins(directory, e->d_name, "step,");
        else if (top && is_folder(e->d_name))
            only = has_only_written(directory, e->d_name);
        else
            only = is_written(folder, e->d_name);
    }
    if (d)
        closedir(d);
    return only;
}

int lm_directory_holds(const char *directory, const char *file)
{
    char *outer = realpath(directory, NULL), *inner = realpath(file, NULL);
    size_t n = outer ? strlen(outer) : 0;
    int inside = outer && inner && !strncmp(inner, outer, n) && (inner[n] == '/' || n == 1);
    free(outer);
    free(inner);
    return inside;
}

/* Checks the nearest directory above that exists, because the output directory will be made there. */
static int check_above(const char *directory)
{
    char above[LM_MAX_PATH], why[LM_MAX_PATH + 64];
    struct stat st;
    if (lm_path(above, "%s", directory))
        return LM_BAD_INPUT;
    do {
        size_t n = strlen(above);
        while (n > 0 && above[n - 1] == '/')
            n--;
        while (n > 0 && above[n - 1] != '/')
            n--;
        above[n] = 0;
    } while (*above && strcmp(above, "/") && stat(above, &st) && errno == ENOENT);
    const char *parent = *above ? above : ".";
    int wrong = stat(parent, &st) ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (!wrong && !access(parent, W_OK | X_OK))
        return LM_OK;
    snprintf(why, sizeof why, "cannot be made in %s: %s", parent, strerror(wrong ? wrong : errno));
    return refuse(directory, why);
}

static int check_existing(const char *directory, int overwrite, const char *restart)
{
    DIR *d = opendir(directory);
    if (!d || access(directory, W_OK | X_OK)) {
        const char *why = strerror(errno);
        if (d)
            closedir(d);
        return refuse(directory, why);
    }
    int empty = is_empty(d);
    closedir(d);
    if (empty)
        return LM_OK;
    if (!holds_run(directory) && !has_only_written(directory, "."))
        return refuse(directory, "exists and is not the output of a run (it has other files, and no run.ini of a run)");
    if (overwrite || (restart && lm_directory_holds(directory, restart)))
        return LM_OK;
    if (restart)
        return refuse(directory, "holds another run than the checkpoint's, which --overwrite would replace");
    return refuse(directory, "holds a run already; --restart latest goes on with it if it has a checkpoint, and "
                             "--overwrite would replace it");
}

int lm_directory_check(const char *directory, int overwrite, const char *restart)
{
    struct stat st;
    if (lstat(directory, &st))
        return errno == ENOENT ? check_above(directory) : refuse(directory, strerror(errno));
    if (stat(directory, &st))
        return refuse(directory, "is a link that leads nowhere");
    if (!S_ISDIR(st.st_mode))
        return refuse(directory, "is a file, not a directory");
    return check_existing(directory, overwrite, restart);
}

/* ---- making and clearing ---- */

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

static int make_one(const char *path)
{
    if (mkdir(path, 0777) && errno != EEXIST)
        return lm_fail(LM_FAILED, "%s: cannot be made: %s", path, strerror(errno));
    return LM_OK;
}

int lm_directory_make(const char *directory)
{
    char path[LM_MAX_PATH];
    int status = lm_path(path, "%s", directory);
    for (char *c = path + 1; !status && *c; c++)
        if (*c == '/') {
            *c = 0;
            status = make_one(path);
            *c = '/';
        }
    if (status)
        return status;
    return make_one(path);
}

int lm_directory_clear(const char *directory)
{
    int status = LM_OK;
    for (size_t k = 0; !status && k < WRITTEN; k++)
        status = remove_matching(directory, written[k][0], written[k][1]);
    return status;
}

/* ---- small files ---- */

FILE *lm_directory_begin(const char *directory, const char *name, char *path, char *part)
{
    if (lm_path(path, "%s/%s", directory, name) || lm_path(part, "%s/%s.part", directory, name))
        return NULL;
    unlink(part); /* a killed run may have left it; it may also be a link to another file */
    const int descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (file)
        return file;
    lm_fail(LM_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}

int lm_directory_end(FILE *file, const char *path, const char *part, int status)
{
    if ((fflush(file) || ferror(file)) && !status)
        status = lm_fail(LM_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    if (fclose(file) && !status)
        status = lm_fail(LM_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    if (!status && rename(part, path))
        status = lm_fail(LM_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    if (status)
        unlink(part);
    return status;
}
