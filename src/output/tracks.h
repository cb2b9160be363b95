/* The orbits of the ions of [track.NAME]: DIR/tracks/NAME_STEP.h5 (output/records.h), one row for a sample. */
#ifndef LARMOR_OUTPUT_TRACKS_H
#define LARMOR_OUTPUT_TRACKS_H

#include "larmor/sim.h"

struct lm_tracks;

/* LM_FAILED: no memory. The caller frees with lm_tracks_free. */
int lm_tracks_new(struct lm_sim *sim, const struct lm_config *config, struct lm_tracks **out);
void lm_tracks_free(struct lm_tracks **t);

/* Samples the tracks whose cadence has the present step. A track that no ion fulfils is told of once, on stderr.
 * LM_FAILED: a file cannot be written. */
int lm_tracks_sample(struct lm_tracks *t);

/* Writes the samples that wait. */
int lm_tracks_flush(struct lm_tracks *t);

/* A restart in its own directory. The first function changes nothing. LM_BAD_INPUT: samples of a name are of other
 * ions, or a file is damaged. The second function removes samples that are later than the present step. */
int lm_tracks_check(struct lm_tracks *t);
int lm_tracks_go_on(struct lm_tracks *t);

/* The bytes that the samples of a track take in memory, and those of one sample, of a species of so many particles. */
double lm_tracks_memory(const struct lm_config *config, int k, double particles);
double lm_tracks_sample_bytes(const struct lm_config *config, int k, double particles);

#endif
