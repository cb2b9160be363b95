/* The checkpoints of a directory: their order, and which of them are undamaged. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/parts.h"
#include "base/checksum.h"

/* Step of a file name checkpoint_DIGITS.h5, or -1. */
static int64_t step_of(const char *name)
{
    const char *prefix = "checkpoint_";
    size_t n = strlen(prefix), digits;
    if (strncmp(name, prefix, n) != 0)
        return -1;
    digits = strspn(name + n, "0123456789");
    if (digits == 0 || digits > 18 || strcmp(name + n + digits, ".h5") != 0)
        return -1;
    return strtoll(name + n, NULL, 10);
}

static int is_checkpoint(const struct dirent *entry)
{
    return step_of(entry->d_name) >= 0;
}

static int newest_first(const struct dirent **a, const struct dirent **b)
{
    int64_t x = step_of((*a)->d_name), y = step_of((*b)->d_name);
    return (x < y) - (x > y);
}

/* Checkpoints of later steps stay: they belong to an earlier run that went further. */
void lm_checkpoint_prune(const char *directory, int64_t step, int keep)
{
    struct dirent **entries;
    int n = scandir(directory, &entries, is_checkpoint, newest_first), kept = 1;
    for (int i = 0; i < n; i++) {
        char path[LM_MAX_PATH];
        int older = step_of(entries[i]->d_name) < step;
        if (older && kept >= keep && lm_path(path, "%s/%s", directory, entries[i]->d_name) == LM_OK)
            unlink(path);
        kept += older;
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* ---- which are sound ---- */

/* Describes the damage of a file, without its name and without advice; "": there is none. */
static void describe(const struct lm_checksum *sum, size_t size, char *out)
{
    *out = 0;
    if (sum->state == LM_CHECKSUM_WRONG)
        snprintf(out, size,
                 "is damaged: the checksum of its bytes is %016" PRIx64 ", that of the bytes written was %016" PRIx64,
                 sum->found, sum->stored);
    else if (sum->state == LM_CHECKSUM_CUT_SHORT)
        snprintf(out, size, "is %s: %" PRIu64 " bytes were written, %" PRIu64 " are there",
                 sum->size < sum->stored_size ? "truncated" : "damaged", sum->stored_size + LM_CHECKSUM_BLOCK,
                 sum->size + LM_CHECKSUM_BLOCK);
    else if (sum->state == LM_CHECKSUM_NO_BLOCK)
        snprintf(out, size, "is damaged in its first %d bytes, where its checksum is", LM_CHECKSUM_BLOCK);
}

static int is_sound(const char *path)
{
    struct lm_checksum sum;
    return lm_checksum_verify(path, &sum) == LM_OK && sum.state == LM_CHECKSUM_GOOD;
}

static void folder_of(const char *path, char *folder)
{
    const char *slash = strrchr(path, '/');
    snprintf(folder, LM_MAX_PATH, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

/* Finds the newest undamaged checkpoint of a folder before `step`. 0: there is none. `damaged` (or NULL) gets the
 * newest one that is not sound and newer than that, or "". */
static int find_sound(const char *folder, int64_t step, char *out, char *damaged)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_checkpoint, newest_first), found = 0;
    if (damaged)
        *damaged = 0;
    for (int i = 0; i < n; i++) {
        if (!found && step_of(entries[i]->d_name) < step &&
            lm_path(out, "%s/%s", folder, entries[i]->d_name) == LM_OK) {
            found = is_sound(out);
            if (!found && damaged && !*damaged)
                memcpy(damaged, out, LM_MAX_PATH);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return found;
}

int lm_checkpoint_newest(const char *directory, char *path, int64_t *step, char *damaged)
{
    char folder[LM_MAX_PATH];
    if (lm_path(folder, "%s/checkpoints", directory) || !find_sound(folder, INT64_MAX, path, damaged))
        return 0;
    *step = step_of(strrchr(path, '/') + 1);
    return 1;
}

static int refuse(const char *path, const char *what)
{
    char older[LM_MAX_PATH], folder[LM_MAX_PATH];
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    folder_of(path, folder);
    if (find_sound(folder, step_of(name) >= 0 ? step_of(name) : INT64_MAX, older, NULL))
        return lm_fail(LM_BAD_INPUT, "%s: %s; take the older checkpoint %s, which is sound", path, what, older);
    return lm_fail(LM_BAD_INPUT, "%s: %s; take another copy of it (no older checkpoint beside it is sound)", path,
                   what);
}

int lm_checkpoint_check_format(struct lm_h5 *h)
{
    char *format = lm_h5_has(h->file, "format") ? lm_h5_get_text(h, h->file, "format") : NULL;
    if (h->status == LM_OK && lm_h5_has(h->file, "openPMD"))
        lm_h5_wrong(h, "is an openPMD output and not a checkpoint; use a file of checkpoints/");
    else if (h->status == LM_OK && (!format || strcmp(format, "larmor-checkpoint") != 0))
        lm_h5_wrong(h, "is not a checkpoint of this program; use a file of checkpoints/");
    free(format);
    int64_t version = lm_h5_get_whole(h, h->file, "format_version");
    if (h->status == LM_OK && version != LM_CHECKPOINT_FORMAT)
        lm_h5_wrong(h, "has checkpoint format %" PRId64 ", this program reads %d; use the version that wrote it",
                    version, LM_CHECKPOINT_FORMAT);
    return h->status;
}

static int open_verified(struct lm_h5 *h, const char *path, struct lm_checksum *sum)
{
    char what[256];
    *h = (struct lm_h5){.file = -1, .status = lm_checksum_verify(path, sum)};
    if (h->status)
        return h->status;
    describe(sum, sizeof what, what);
    if (*what)
        return h->status = refuse(path, what);
    if (lm_h5_open(h, path) || lm_checkpoint_check_format(h))
        return h->status;
    if (sum->state == LM_CHECKSUM_NONE)
        lm_h5_wrong(h, "has lost its checksum: another program has rewritten it; use the file as Larmor wrote it");
    return h->status;
}

int lm_checkpoint_open(struct lm_h5 *h, const char *path)
{
    struct lm_checksum sum;
    return open_verified(h, path, &sum);
}

/* Prints a line where the file is undamaged. */
static int verify_file(const char *path, FILE *out)
{
    struct lm_checksum sum;
    struct lm_h5 h;
    if (open_verified(&h, path, &sum) == LM_OK) {
        const int64_t step = lm_h5_get_whole(&h, h.file, "step");
        fprintf(out, "%s: OK, step %" PRId64 ", %" PRIu64 " bytes, XXH3-64 %016" PRIx64 "\n", path, step,
                sum.size + LM_CHECKSUM_BLOCK, sum.found);
    }
    return lm_h5_finish(&h, 0);
}

static int verify_folder(const char *folder, FILE *out)
{
    struct dirent **entries;
    char path[LM_MAX_PATH];
    int n = scandir(folder, &entries, is_checkpoint, newest_first), wrong = 0;
    for (int i = n - 1; i >= 0; i--) { /* the oldest first */
        if (lm_path(path, "%s/%s", folder, entries[i]->d_name) || verify_file(path, out)) {
            fprintf(out, "%s\n", lm_error());
            wrong++;
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    if (n <= 0)
        return lm_fail(LM_BAD_INPUT, "%s: holds no checkpoints", folder);
    return wrong ? lm_fail(LM_BAD_INPUT, "%s: %d of %d checkpoints cannot be used", folder, wrong, n) : LM_OK;
}

int lm_checkpoint_verify(const char *path, FILE *out)
{
    char folder[LM_MAX_PATH];
    struct stat info;
    if (stat(path, &info) || !S_ISDIR(info.st_mode))
        return verify_file(path, out);
    if (lm_path(folder, "%s/checkpoints", path))
        return LM_BAD_INPUT;
    const int of_run = stat(folder, &info) == 0 && S_ISDIR(info.st_mode);
    return verify_folder(of_run ? folder : path, out);
}
