/* What a run writes at its cadences, but for checkpoints. */
#ifndef LARMOR_RUN_DUE_H
#define LARMOR_RUN_DUE_H

#include "run/run_state.h"

/* Writes the row of the series and the files that are due at the present step, and takes the samples of outputs that
 * are means over time. The `last` step of a run also gets a row and maps. */
int lm_run_write_outputs(struct lm_run_state *r, int last);

#endif
