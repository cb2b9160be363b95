/* What a run samples often: probes (output/probes.h) and tracks (output/tracks.h), taken together. */
#ifndef LARMOR_OUTPUT_SAMPLES_H
#define LARMOR_OUTPUT_SAMPLES_H

#include "output/probes.h"
#include "output/tracks.h"

struct lm_samples {
    struct lm_probes *probes;
    struct lm_tracks *tracks;
};

/* LM_FAILED: no memory. The caller frees with lm_samples_free, also after a failure. */
int lm_samples_make(struct lm_sim *sim, const struct lm_config *config, struct lm_samples *out);
void lm_samples_free(struct lm_samples *s);

/* As of probes and tracks. */
int lm_samples_take(struct lm_samples *s);
int lm_samples_flush(struct lm_samples *s);
int lm_samples_check(struct lm_samples *s);
int lm_samples_go_on(struct lm_samples *s);

#endif
