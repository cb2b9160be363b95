/* The output directory: whether a run may write there, and the files in it. */
#ifndef LARMOR_OUTPUT_DIRECTORY_H
#define LARMOR_OUTPUT_DIRECTORY_H

#include <stdio.h>

/* Checks the directory and changes nothing. LM_BAD_INPUT: it cannot be made or written, it holds something other than a
 * run, or it holds a run that the user has not allowed to be replaced. The user allows that by `overwrite`, or by a
 * `restart` (checkpoint, or NULL) from a file in the directory. A directory that holds nothing but files that a run
 * writes counts as a run, however early that run was killed. */
int lm_directory_check(const char *directory, int overwrite, const char *restart);

/* 1 when the file lies in the directory, at any depth. */
int lm_directory_holds(const char *directory, const char *file);

/* Makes the directory, parents included. */
int lm_directory_make(const char *directory);

/* Removes the files that an earlier run has left, and only those. */
int lm_directory_clear(const char *directory);

/* Creates a file in the directory under the name NAME.part, so that a half-written file never has the final name. A
 * link of that name is removed and not followed. Returns the stream and the two paths (LM_MAX_PATH bytes each), or
 * NULL. */
FILE *lm_directory_begin(const char *directory, const char *name, char *path, char *part);

/* Closes the file and renames it to its final name. Where `status` is an error, or closing fails, the file is removed.
 */
int lm_directory_end(FILE *file, const char *path, const char *part, int status);

#endif
