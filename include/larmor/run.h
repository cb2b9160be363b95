/* `larmor run`: a simulation from a configuration to its output directory. */
#ifndef LARMOR_RUN_H
#define LARMOR_RUN_H

#include "larmor/config.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lm_run_options {
    const char *restart; /* a checkpoint, "latest" (the newest sound one of the output directory, if any), or NULL */
    int overwrite;       /* replace what an earlier run left in the output directory */
    int quiet;           /* no progress */
    int silent;          /* no warnings either, nor what a restart changes: for programs that run many */
};

/* Runs to the end. Returns LM_OK, LM_STOPPED, LM_FAILED (a checkpoint of the last good state has been written where
 * possible; lm_error() says where) or LM_BAD_INPUT (nothing has been written). */
int lm_run(const struct lm_config *config, const struct lm_run_options *options);

/* `larmor check`: resolved settings, memory, limits with their margins, advice. Runs nothing. LM_BEYOND: a run could
 * begin and is beyond a limit. Where a run could not begin it has that run's status and message; what a run refuses as
 * wrong input prints nothing. */
int lm_check(const struct lm_config *config, FILE *out);

/* Takes steps of the run in memory for about a second and prints how long all of them will take. A run with very little
 * work for a GPU also takes some on both backends, as lm_run does. Writes no file.
 * LM_FAILED, LM_BAD_INPUT: as in lm_sim_begin and lm_sim_step. */
int lm_check_time(const struct lm_config *config, FILE *out);

/* Version, git state, compiler and backends, as in --version. */
void lm_version_print(FILE *out);
const char *lm_version_software(void);
const char *lm_version_commit(void); /* as git describes it */

#ifdef __cplusplus
}
#endif
#endif
