/* openPMD files of particles. */
#include <math.h>
#include <stdlib.h>

#include "output/describe.h"
#include "output/openpmd.h"
#include "output/output.h"

enum { PIECE = 1 << 18, COMPONENTS = 5 };

/* Reads all particles in pieces and keeps some of them. */
struct reader {
    struct lm_sim *sim;
    uint64_t count[LM_MAX_SPECIES], kept[LM_MAX_SPECIES];
    double *piece[COMPONENTS]; /* x, y, v_x, v_y, v_z, PIECE of each */
};

/* Particle k of the output is particle k count / kept of the species, so the output covers all tiles evenly. */
static uint64_t source_of(const struct reader *r, int species, uint64_t k)
{
    return (uint64_t)((unsigned __int128)k * r->count[species] / r->kept[species]);
}

static int read_particles(void *context, int species, uint64_t first, uint64_t count, double *x, double *y, double *vx,
                          double *vy, double *vz)
{
    const struct reader *r = context;
    double *const *p = r->piece, *const out[COMPONENTS] = {x, y, vx, vy, vz};
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
        for (int c = 0; c < COMPONENTS; c++)
            out[c][k] = p[c][from - begin];
    }
    return LM_OK;
}

int lm_output_particles(struct lm_sim *sim, const struct lm_config *c)
{
    struct lm_openpmd_species list[LM_MAX_SPECIES];
    struct lm_openpmd_run run;
    struct lm_sim_status now;
    struct reader r = {.sim = sim};
    char solver[LM_SOLVER_TEXT];
    lm_describe_run(c, &run, solver);
    lm_sim_status(sim, &now);
    for (int s = 0; s < c->species_count; s++) {
        const uint64_t count = r.count[s] = now.species[s].count;
        const double kept = ceil((double)count * c->output.particles_fraction);
        r.kept[s] = kept < (double)count ? (uint64_t)kept : count;
        const double scale = r.kept[s] ? (double)count / (double)r.kept[s] : 1;
        list[s] = (struct lm_openpmd_species){.name = c->species[s].name,
                                              .charge = c->species[s].charge,
                                              .mass = c->species[s].mass,
                                              .weight = now.species[s].weight * scale,
                                              .count = r.kept[s]};
    }
    double *store = malloc(COMPONENTS * (size_t)PIECE * sizeof *store);
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory for an output of particles");
    for (int k = 0; k < COMPONENTS; k++)
        r.piece[k] = store + (size_t)k * PIECE;
    const int status = lm_openpmd_particles(&run, now.step, now.time, c->species_count, list, read_particles, &r);
    free(store);
    return status;
}
