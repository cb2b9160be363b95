/* Values at the points of [probe.NAME]: DIR/probes/NAME_STEP.h5 (output/records.h), one row for a sample. */
#ifndef LARMOR_OUTPUT_PROBES_H
#define LARMOR_OUTPUT_PROBES_H

#include "larmor/sim.h"

struct lm_probes;

/* LM_FAILED: no memory. The caller frees with lm_probes_free. */
int lm_probes_new(struct lm_sim *sim, const struct lm_config *config, struct lm_probes **out);
void lm_probes_free(struct lm_probes **p);

/* Samples the probes whose cadence has the present step. LM_FAILED: a file cannot be written. */
int lm_probes_sample(struct lm_probes *p);

/* Writes the samples that wait. */
int lm_probes_flush(struct lm_probes *p);

/* A restart in its own directory. The first function changes nothing. LM_BAD_INPUT: samples of a name are of other
 * points or quantities, or a file is damaged. The second function removes samples that are later than the present step.
 */
int lm_probes_check(struct lm_probes *p);
int lm_probes_go_on(struct lm_probes *p);

/* The bytes that a probe takes in memory, and those of one sample. */
double lm_probes_memory(const struct lm_config *config, int k);
double lm_probes_sample_bytes(const struct lm_config *config, int k);

#endif
