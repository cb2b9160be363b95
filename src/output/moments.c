#include "output/moments.h"

#include <math.h>
#include <stdlib.h>

#include "larmor/physics/fields/moments.h"

/* From quanta to n0 v_A^p. */
static void scale(const struct lm_grid *g, const struct lm_moment_list *list, const int64_t *sums, double weight,
                  const float *factor, double *const out[LM_MOMENT_COUNT])
{
    for (int n = 0; n < list->count; n++, sums += g->cells) {
        const int m = list->moment[n], exponent = list->speed_exponent * lm_moment_power(m) - LM_MOMENT_BITS;
        const double unit = ldexp(weight / (g->dx * g->dy), exponent);
        for (size_t k = 0; k < g->cells; k++)
            out[m][k] = factor ? lm_moment_in_cell(factor[k], (double)sums[k] * unit) : (double)sums[k] * unit;
    }
}

static struct lm_moment_list list_of(const struct lm_sim_status *now, int species, double *const out[LM_MOMENT_COUNT])
{
    struct lm_moment_list list = {.count = 0};
    frexp(now->species[species].fastest, &list.speed_exponent);
    for (int m = 0; m < LM_MOMENT_COUNT; m++)
        if (out[m])
            list.moment[list.count++] = m;
    return list;
}

int lm_moments_collect(struct lm_sim *sim, const struct lm_config *config, int species,
                       double *const out[LM_MOMENT_COUNT])
{
    const struct lm_grid grid = lm_config_grid(config);
    struct lm_sim_status now;
    lm_sim_status(sim, &now);
    const struct lm_moment_list list = list_of(&now, species, out);
    int64_t *sums = malloc(((size_t)list.count * grid.cells + 1) * sizeof *sums);
    int status = LM_OK;
    if (!sums)
        status = lm_fail(LM_FAILED, "not enough memory for moments of %s", config->species[species].name);
    if (!status)
        status = lm_sim_velocity_moments(sim, species, &list, sums);
    if (!status)
        scale(&grid, &list, sums, now.species[species].weight, lm_sim_obstacles(sim).factor, out);
    free(sums);
    return status;
}
