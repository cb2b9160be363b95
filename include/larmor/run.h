/* `larmor run`: a simulation from a configuration to its output directory. */
#ifndef LARMOR_RUN_H
#define LARMOR_RUN_H

#include "larmor/config.h"
#include "output/series.h"
#include "larmor/sim.h"

struct lm_run_options {
    const char *restart; /* checkpoint, or NULL */
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

/* Version, git state, compiler and backends, as in --version. */
void lm_version_print(FILE *out);
const char *lm_version_software(void);
const char *lm_version_commit(void); /* as git describes it */

/* src/output/output.c: files of one state. */
int lm_output_fields(struct lm_sim *sim);
int lm_output_particles(struct lm_sim *sim);

/* src/output/hit_maps.c: DIR/maps/maps_STEP.h5, where the run has maps of what has hit sides and bodies. */
int lm_output_maps(struct lm_sim *sim);

struct lm_references { /* what the drift columns are relative to */
    double energy, momentum[3];
};
int lm_output_checkpoint(struct lm_sim *sim, const struct lm_references *references, char *path);
/* The same with a `keep` of its own in place of output.keep. */
int lm_output_checkpoint_keeping(struct lm_sim *sim, const struct lm_references *references, int keep, char *path);

/* src/output/series_columns.c: the columns of the time series, to be freed, and the row of a state. LM_BAD_INPUT: names
 * of species, bodies and background fields that give two columns one name. `rate`: particle-steps/s since the last row.
 */
int lm_row_columns(const struct lm_config *config, int *count, struct lm_series_column **columns);
int lm_row_fill(struct lm_sim *sim, const struct lm_references *references, double rate, double *row);
int lm_row_references(struct lm_sim *sim, struct lm_references *out);
enum { LM_ROW_MAX = 26 + (9 + LM_LEDGER_VALUES * LM_ACCOUNTS) * LM_MAX_SPECIES + (6 + LM_SIDES) * LM_MAX_BACKGROUNDS };

#endif
