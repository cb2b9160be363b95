/* `larmor run --restart latest`. */
#ifndef LARMOR_RUN_LATEST_H
#define LARMOR_RUN_LATEST_H

#include "larmor/run.h"

/* Puts the newest sound checkpoint of the output directory in place of options->restart, or NULL where there is none;
 * `path` (LM_MAX_PATH bytes) holds its name. Returns 1 when the run is complete already. */
int lm_run_find_latest(const struct lm_config *config, struct lm_run_options *options, char *path);

#endif
