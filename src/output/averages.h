/* Outputs that are means over time: [output.NAME] with `average`.
 *
 * The mean at step n, a multiple of `every`, has a sample of each of the steps n - average + average_every, ...,
 * n - average_every, n. The samples of all steps are added up in the order of time, so the sums have the same bits
 * wherever a run is interrupted: a checkpoint between two samples holds them. */
#ifndef LARMOR_OUTPUT_AVERAGES_H
#define LARMOR_OUTPUT_AVERAGES_H

#include <stdio.h>

#include "checkpoint/checkpoint.h"
#include "larmor/sim.h"

struct lm_averages {
    struct lm_checkpoint_sums sums[LM_MAX_OUTPUTS]; /* of output number k; values = NULL: it is no mean */
    int64_t left_out[LM_MAX_OUTPUTS];               /* the step of an output whose first samples are not there; or 0 */
};

/* The bytes of all sums. */
double lm_averages_bytes(const struct lm_config *config);

/* Empty sums. LM_FAILED: there is no memory for them. The caller frees in any case. */
int lm_averages_make(const struct lm_config *config, struct lm_averages *out);
void lm_averages_free(struct lm_averages *averages);

/* The sums as they were at the step of a checkpoint. Where it does not hold them, the next output is left out. */
int lm_averages_restore(struct lm_averages *averages, const struct lm_config *config, const char *checkpoint,
                        int64_t step);

/* Prints a warning for each output that is left out. */
void lm_averages_tell(const struct lm_averages *averages, const struct lm_config *config, const char *checkpoint,
                      FILE *out);

/* Takes the samples that are due at the present step, but for those of outputs of this step. */
int lm_averages_sample(struct lm_averages *averages, struct lm_sim *sim, const struct lm_config *config);

/* Takes the last sample of output number k and writes the file, at the step of the output. */
int lm_averages_write(struct lm_averages *averages, struct lm_sim *sim, const struct lm_config *config, int k);

#endif
