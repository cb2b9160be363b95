/* openPMD files of particles. */
#include <math.h>
#include <stdlib.h>

#include "output/describe.h"
#include "output/output.h"
#include "output/particles.h"

enum { PIECE = 1 << 18 };

/* Particle k of the output is particle k count / kept of the species, so the output covers all tiles evenly. */
static uint64_t source_of(const struct lm_particle_reader *r, int species, uint64_t k)
{
    return (uint64_t)((unsigned __int128)k * r->count[species] / r->kept[species]);
}

static int read_particles(void *context, int species, uint64_t first, uint64_t count, double *x, double *y, double *vx,
                          double *vy, double *vz)
{
    const struct lm_particle_reader *r = context;
    double *const *p = r->piece, *const out[LM_PARTICLE_COLUMNS] = {x, y, vx, vy, vz};
    uint64_t begin = 0, end = 0; /* the piece holds the particles begin .. end - 1 */
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t from = source_of(r, species, first + k);
        if (from >= end) {
            begin = from;
            end = begin + PIECE < r->count[species] ? begin + PIECE : r->count[species];
            const int status = lm_sim_get_particles(r->sim, species, begin, end - begin, p[0], p[1], p[2], p[3], p[4]);
            if (status)
                return status;
        }
        for (int c = 0; c < LM_PARTICLE_COLUMNS; c++)
            out[c][k] = p[c][from - begin];
    }
    return LM_OK;
}

int lm_particle_reader_begin(struct lm_sim *sim, const struct lm_config *c, struct lm_particle_reader *r)
{
    struct lm_sim_status now;
    lm_sim_status(sim, &now);
    *r = (struct lm_particle_reader){.sim = sim};
    for (int s = 0; s < c->species_count; s++) {
        const uint64_t count = r->count[s] = now.species[s].count;
        const double kept = ceil((double)count * c->output.particles_fraction);
        r->kept[s] = kept < (double)count ? (uint64_t)kept : count;
        const double scale = r->kept[s] ? (double)count / (double)r->kept[s] : 1;
        r->species[s] = (struct lm_openpmd_species){.name = c->species[s].name,
                                                    .charge = c->species[s].charge,
                                                    .mass = c->species[s].mass,
                                                    .weight = now.species[s].weight * scale,
                                                    .count = r->kept[s]};
    }
    r->particles = (struct lm_openpmd_particles){c->species_count, r->species, read_particles, r};
    r->memory = malloc(LM_PARTICLE_COLUMNS * (size_t)PIECE * sizeof *r->memory);
    if (!r->memory)
        return lm_fail(LM_FAILED, "not enough memory for an output of particles");
    for (int k = 0; k < LM_PARTICLE_COLUMNS; k++)
        r->piece[k] = r->memory + (size_t)k * PIECE;
    return LM_OK;
}

void lm_particle_reader_end(struct lm_particle_reader *r)
{
    free(r->memory);
    r->memory = NULL;
}

int lm_output_particles(struct lm_sim *sim, const struct lm_config *c)
{
    struct lm_openpmd_run run;
    struct lm_particle_reader reader;
    char solver[LM_SOLVER_TEXT];
    lm_describe_run(c, &run, solver);
    int status = lm_particle_reader_begin(sim, c, &reader);
    if (!status)
        status = lm_openpmd_particles(&run, lm_sim_step_number(sim), lm_sim_time(sim), &reader.particles);
    lm_particle_reader_end(&reader);
    return status;
}
