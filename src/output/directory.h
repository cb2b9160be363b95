/* The output directory: what may be written where. */
#ifndef LARMOR_OUTPUT_DIRECTORY_H
#define LARMOR_OUTPUT_DIRECTORY_H

#include <stdio.h>

/* Changes nothing. LM_BAD_INPUT: it cannot be made or written, it holds something other than a run, or a run that
 * nobody says is meant: `overwrite` does, and so does a `restart` (checkpoint, or NULL) from a file in it. What holds
 * nothing but files that a run writes is a run, however early that was killed. */
int lm_directory_check(const char *directory, int overwrite, const char *restart);

/* 1 when the file lies in the directory, at any depth. */
int lm_directory_holds(const char *directory, const char *file);

/* Makes it, parents included. */
int lm_directory_make(const char *directory);

/* Removes the files that an earlier run has left, and only those. */
int lm_directory_clear(const char *directory);

/* A file in it, written under another name first so that a half-written one never passes for it. That file is new: a
 * link of its name is removed, not followed. Returns the stream and the two names (LM_MAX_PATH), or NULL. */
FILE *lm_directory_begin(const char *directory, const char *name, char *path, char *part);

/* Closes it and gives it its name; removes it when `status` or that fails. */
int lm_directory_end(FILE *file, const char *path, const char *part, int status);

#endif
