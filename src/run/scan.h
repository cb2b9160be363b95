/* `larmor scan`: one run for each combination of the values of some keys, and one table of their results. */
#ifndef LARMOR_RUN_SCAN_H
#define LARMOR_RUN_SCAN_H

#include "larmor/run.h"

/* Among `words` ("section.key=value"), those whose value has commas outside of parentheses list the values of a key:
 * "run.dt=0.01,0.02". The others hold for all runs. The runs go one after the other, the last list fastest, each into a
 * directory of its own in `directory` (NULL: FILE.scan for FILE.ini), which gets table.csv: the values, how each run
 * ended and the last row of its time series. A scan that was interrupted
 * goes on where it was: complete runs of the same settings are not repeated, others go on from their newest checkpoint,
 * or begin again. LM_BAD_INPUT: no word lists values, or the
 * configuration of a run is wrong; nothing has been written. LM_STOPPED: a signal. LM_FAILED: a run has failed; the
 * others have been done. */
int lm_scan(const char *file, int count, const char *const *words, const char *directory, int quiet);

#endif
