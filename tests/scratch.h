/* A directory for a test's files, removed at the end; kept when LARMOR_TEST_KEEP is set. */
#ifndef LARMOR_TESTS_SCRATCH_H
#define LARMOR_TESTS_SCRATCH_H

#include <sys/types.h>
#include <sys/stat.h>
#include <fts.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "larmor/base.h"

static char scratch[LM_MAX_PATH / 2];

static void scratch_make(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/larmor-test-XXXXXX", parent && parent[0] ? parent : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(scratch));
}

static void scratch_remove(void)
{
    char *const roots[] = {scratch, NULL};
    if (getenv("LARMOR_TEST_KEEP")) {
        fprintf(stderr, "kept: %s\n", scratch);
        return;
    }
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; tree && (entry = fts_read(tree)) != NULL;)
        if (entry->fts_info != FTS_D)
            remove(entry->fts_path);
    if (tree)
        fts_close(tree);
}

/* The path of a file in the directory. It stays valid until the fourth call after this one. */
static inline const char *scratch_path(const char *name)
{
    static char paths[4][LM_MAX_PATH];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, LM_MAX_PATH, "%s/%s", scratch, name);
    return path;
}

/* Makes a file with this text. */
static inline void make_file(const char *name, const char *text)
{
    FILE *out = fopen(scratch_path(name), "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

/* Ends a child process with exit handlers, as the clean-up of HDF5 is part of the test. HDF5 leaks memory of a file
 * that it could not write; that is no leak of Larmor, so a leak checker must not see it. */
static inline void scratch_exit(int code)
{
#ifdef __SANITIZE_ADDRESS__
    _exit(code);
#else
    exit(code);
#endif
}

/* lm_error() must contain `text`. */
static inline void assert_error_has(const char *text)
{
    ck_assert_msg(strstr(lm_error(), text) != NULL, "the message lacks '%s': %s", text, lm_error());
}

#endif
