/* Files of one state. `config` is the simulation's. */
#ifndef LARMOR_OUTPUT_OUTPUT_H
#define LARMOR_OUTPUT_OUTPUT_H

#include "larmor/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* src/output/meshes.c: openPMD files of the fields, and of [output.NAME] number k. */
int lm_output_fields(struct lm_sim *sim, const struct lm_config *config);
int lm_output_named(struct lm_sim *sim, const struct lm_config *config, int k);

/* src/output/particles.c: openPMD files of the particles. */
int lm_output_particles(struct lm_sim *sim, const struct lm_config *config);

/* src/output/distribution.c: DIR/distributions/NAME_STEP.h5 of [distribution.NAME] number k. */
int lm_output_distribution(struct lm_sim *sim, const struct lm_config *config, int k);

/* src/output/hit_maps.c: DIR/maps/maps_STEP.h5, where the run has maps of what has hit sides and bodies. */
int lm_output_maps(struct lm_sim *sim, const struct lm_config *config);

#ifdef __cplusplus
}
#endif
#endif
