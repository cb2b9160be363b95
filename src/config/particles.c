/* The number of particles of a species that is given where the species is. */
#include <math.h>
#include <stdlib.h>

#include "base/expr.h"
#include "config/reader.h"

/* Points along an axis of n cells: all cells, or as many as fit a survey. */
static int points_along(int n)
{
    return n < LM_SURVEYED_SIDE ? n : LM_SURVEYED_SIDE;
}

/* The mean of the density over the particles, sum n^2 / sum n over the middles of cells. The points and their order are
 * the same on every machine. LM_BAD_INPUT: the density cannot be evaluated, which has been reported. */
static int mean_density(const struct lm_config *c, const char *density, double *mean)
{
    const int nx = points_along(c->grid.nx), ny = points_along(c->grid.ny);
    double *x = malloc(3 * (size_t)nx * sizeof *x), *y = x + nx, *n = y + nx, sum = 0, squares = 0;
    int status = x ? LM_OK : lm_fail(LM_FAILED, "out of memory");
    for (int j = 0; j < ny && !status; j++) {
        for (int i = 0; i < nx; i++) {
            x[i] = (i + 0.5) * c->grid.lx / nx;
            y[i] = (j + 0.5) * c->grid.ly / ny;
        }
        status = lm_expr_at(c->names, density, (size_t)nx, x, y, 0, n);
        for (int i = 0; i < nx && !status; i++) {
            sum += n[i];
            squares += n[i] * n[i];
        }
    }
    free(x);
    *mean = sum > 0 ? squares / sum : 0;
    return status;
}

int lm_config_resolve_particles(struct lm_config_reader *r)
{
    struct lm_config *c = r->config;
    const int number = lm_keys_find(LM_SPECIES_SECTION, "mean_particles_per_cell");
    const struct lm_key *key = &lm_keys[lm_keys_find(LM_SPECIES_SECTION, "particles_per_cell")];
    for (int s = 0; s < c->species_count; s++) {
        struct lm_species_config *of = &c->species[s];
        const int line = r->named_key_line[LM_SPECIES][s][number];
        double mean;
        if (!line || isinf(of->mean_particles_per_cell) || r->unusable_values || r->problems.count > 0)
            continue;
        const int status = mean_density(c, of->density, &mean);
        if (status == LM_FAILED)
            return status;
        if (status || !(mean > 0))
            lm_problems_add(&r->problems, line, "species.%s.mean_particles_per_cell: %s", of->name,
                            status ? lm_error() : "the density is 0 everywhere");
        else if (lm_key_set_number(key, of, "the number at density 1", of->mean_particles_per_cell / mean))
            lm_problems_add(&r->problems, line, "species.%s.mean_particles_per_cell: %s", of->name, lm_error());
        of->mean_particles_per_cell = INFINITY;
    }
    return LM_OK;
}
