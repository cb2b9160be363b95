/* The output directory: what may be written where. */
#ifndef LARMOR_DIRECTORY_H
#define LARMOR_DIRECTORY_H

/* LM_BAD_INPUT: it exists and neither `overwrite` nor `restart` says that is meant, or it holds something other than a run. */
int lm_directory_check(const char *directory, int overwrite, int restart);

/* Makes it, parents included; with `clear`, removes the files an earlier run left (and only those). */
int lm_directory_make(const char *directory, int clear);

#endif
