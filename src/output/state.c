#include "output/state.h"

#include <stdlib.h>

enum { PIECE = 1 << 16 }; /* particles in memory at a time */

int lm_output_b(struct lm_sim *sim, const struct lm_grid *g, double **b)
{
    int status = LM_OK;
    *b = malloc(3 * g->size * sizeof **b);
    if (!*b)
        return lm_fail(LM_FAILED, "not enough memory for an output");
    for (int d = 0; d < 3 && !status; d++) {
        status = lm_sim_get_array(sim, LM_B + d, *b + (size_t)d * g->size);
        lm_grid_wrap(g, *b + (size_t)d * g->size);
    }
    return status;
}

int lm_output_each_particle(struct lm_sim *sim, int species, lm_particle_visitor *each, void *context)
{
    struct lm_sim_status now;
    double *x = malloc(5 * PIECE * sizeof *x);
    int status = x ? LM_OK : lm_fail(LM_FAILED, "not enough memory for an output");
    lm_sim_status(sim, &now);
    const uint64_t count = now.species[species].count;
    for (uint64_t first = 0; first < count && !status; first += PIECE) {
        const uint64_t n = count - first < PIECE ? count - first : PIECE;
        double *y = x + PIECE, *vx = y + PIECE, *vy = vx + PIECE, *vz = vy + PIECE;
        status = lm_sim_get_particles(sim, species, first, n, x, y, vx, vy, vz);
        for (uint64_t k = 0; k < n && !status; k++)
            each(context, x[k], y[k], (double[]){vx[k], vy[k], vz[k]});
    }
    free(x);
    return status;
}
