/* `--restart latest`: a run goes on from what is left in its output directory. */
#ifndef LARMOR_RUN_LATEST_H
#define LARMOR_RUN_LATEST_H

#include "larmor/run.h"

/* Puts the newest sound checkpoint of the output directory in place of options->restart, or NULL where there is none;
 * `path` (LM_MAX_PATH bytes) holds its name. *complete = 1: there is nothing left to do. LM_BAD_INPUT: the directory
 * holds a complete run of other settings, and options->overwrite is 0; where it is 1, such a run is replaced, and an
 * unfinished one of other settings too. Keys that a state does not depend on may differ. */
int lm_run_find_latest(const struct lm_config *config, struct lm_run_options *options, char *path, int *complete);

#endif
