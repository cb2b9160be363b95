/* Files of one state. `config` is the simulation's. */
#ifndef LARMOR_OUTPUT_OUTPUT_H
#define LARMOR_OUTPUT_OUTPUT_H

#include "checkpoint/checkpoint.h"
#include "larmor/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* src/output/meshes.c: openPMD files of the fields, on demand with the particles, and of [output.NAME] number k. */
int lm_output_fields(struct lm_sim *sim, const struct lm_config *config, int with_particles);
int lm_output_named(struct lm_sim *sim, const struct lm_config *config, int k);

/* A sample of [output.NAME] number k, which is a mean over time: the present state joins the sums. With `write`, for
 * the last sample, the file is written. The sums are empty after that and after a failure. */
int lm_output_mean(struct lm_sim *sim, const struct lm_config *config, int k, struct lm_checkpoint_sums *sums,
                   int write);

/* src/output/particles.c: openPMD files of the particles. */
int lm_output_particles(struct lm_sim *sim, const struct lm_config *config);

/* src/output/distribution.c: DIR/distributions/NAME_STEP.h5 of [distribution.NAME] number k. */
int lm_output_distribution(struct lm_sim *sim, const struct lm_config *config, int k);

/* What lm_output_fields writes, of all species: bits of enum lm_quantity. */
#define LM_FIELDS_OUTPUT                                                                                               \
    (1u << LM_Q_B | 1u << LM_Q_E | 1u << LM_Q_ION_CURRENT | 1u << LM_Q_CHARGE_DENSITY | 1u << LM_Q_ELECTRON_PRESSURE | \
     1u << LM_Q_DENSITY | 1u << LM_Q_BACKGROUNDS)

/* The number of arrays in a file with these quantities of these species (bits). */
int lm_output_meshes(const struct lm_config *config, unsigned wanted, unsigned of);

/* The number of arrays in the sums of such an output. */
int lm_output_sums(const struct lm_config *config, unsigned wanted, unsigned of);

/* src/output/hit_maps.c: DIR/maps/maps_STEP.h5, where the run has maps of what has hit sides and bodies. */
int lm_output_maps(struct lm_sim *sim, const struct lm_config *config);

#ifdef __cplusplus
}
#endif
#endif
