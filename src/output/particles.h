/* The particles of a simulation as a file of them wants them. */
#ifndef LARMOR_OUTPUT_PARTICLES_H
#define LARMOR_OUTPUT_PARTICLES_H

#include "larmor/sim.h"
#include "output/openpmd.h"

enum { LM_PARTICLE_COLUMNS = 5 }; /* x, y, v_x, v_y, v_z */

/* Reads all particles in pieces and keeps some of them (output.particles_fraction). */
struct lm_particle_reader {
    struct lm_sim *sim;
    uint64_t count[LM_MAX_SPECIES], kept[LM_MAX_SPECIES];
    double *memory, *piece[LM_PARTICLE_COLUMNS];
    struct lm_openpmd_species species[LM_MAX_SPECIES];
    struct lm_openpmd_particles particles; /* with the reader as context: it must not move */
};

/* LM_FAILED: no memory. The caller frees with lm_particle_reader_end in any case. */
int lm_particle_reader_begin(struct lm_sim *sim, const struct lm_config *config, struct lm_particle_reader *r);
void lm_particle_reader_end(struct lm_particle_reader *r);

#endif
