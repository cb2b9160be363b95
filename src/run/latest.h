/* What a run has left in its output directory: `larmor run --restart latest` and `larmor scan` go on from there. */
#ifndef LARMOR_RUN_LATEST_H
#define LARMOR_RUN_LATEST_H

#include "larmor/run.h"

enum lm_left {
    LM_LEFT_NOTHING,    /* or nothing that can be read */
    LM_LEFT_UNFINISHED, /* a run of these settings that has not come to its end */
    LM_LEFT_COMPLETE,   /* a run of these settings to this step */
    LM_LEFT_OTHER       /* a run of other settings, or one that went further */
};

/* What the directory holds. Keys that a state does not depend on may differ. */
enum lm_left lm_run_left(const struct lm_config *config);

/* Puts the newest sound checkpoint of the output directory in place of options->restart, or NULL where there is none;
 * `path` (LM_MAX_PATH bytes) holds its name. *complete = 1: there is nothing left to do. LM_BAD_INPUT: the directory
 * holds a complete run of other settings, and options->overwrite is 0. */
int lm_run_find_latest(const struct lm_config *config, struct lm_run_options *options, char *path, int *complete);

#endif
