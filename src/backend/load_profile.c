#include "backend/load_profile.h"

#include <stdlib.h>

/* Factors that give a quiet set of n particles the exact temperature along each axis. */
static void quiet_scale(uint32_t n, double scale[3])
{
    double sum[3] = {0}, v[3], place[2];
    for (uint32_t r = 0; r < n; r++) {
        lm_quiet_point(r, n, v, place);
        for (int c = 0; c < 3; c++)
            sum[c] += v[c] * v[c];
    }
    for (int c = 0; c < 3; c++)
        scale[c] = sum[c] > 0 ? lm_sqrt((double)n / sum[c]) : 1.0;
}

int lm_profile_make(const struct lm_grid *g, const struct lm_loading *from, int species, struct lm_profile *profile,
                    double **scale)
{
    enum { LARGEST_SET = 4096 }; /* larger sets are close enough to their temperature, and the table stays small */
    *profile = (struct lm_profile){.density = from->density,
                                   .particles_per_cell = from->particles_per_cell,
                                   .start = from->start,
                                   .quiet_high = -1,
                                   .seed = from->seed,
                                   .species = species,
                                   .nx = (uint32_t)g->place.domain_nx};
    for (int c = 0; c < 3; c++) {
        profile->drift[c] = from->drift[c];
        profile->temperature[c] = from->temperature[c];
        profile->b[c] = from->b[c];
    }
    *scale = NULL;
    if (from->start != LM_QUIET)
        return LM_OK;
    double low = LARGEST_SET, high = 0;
    const int ny = from->density.array ? g->ny : 1, nx = from->density.array ? g->nx : 1;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            double n = from->particles_per_cell * lm_given_at(&from->density, lm_at(g, i, j));
            low = n < low ? n : low;
            high = n > high ? n : high;
        }
    profile->quiet_low = (int)low;
    profile->quiet_high = high + 1 < LARGEST_SET ? (int)high + 1 : LARGEST_SET;
    *scale = malloc(sizeof(double) * 3 * (size_t)(profile->quiet_high - profile->quiet_low + 1));
    if (!*scale)
        return lm_fail(LM_FAILED, "not enough memory to load species %d", species);
    for (int n = profile->quiet_low; n <= profile->quiet_high; n++)
        quiet_scale((uint32_t)n, *scale + 3 * (n - profile->quiet_low));
    profile->quiet_scale = *scale;
    return LM_OK;
}
