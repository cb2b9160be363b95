/* CPU backend: moments of the ions (larmor/physics/fields/moments.h). */
#include "larmor/physics/fields/moments.h"

#include "backend/field_boundaries.h"
#include "cpu/fields.h"
#include "cpu/strips.h"

/* Moments as deposited in row j. `factor` is that of struct lm_obstacles, or NULL. */
static inline __attribute__((always_inline)) void take_row(const struct lm_cpu *c, int j, const float *factor,
                                                           const double *from, double *to)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int i = 0; i < g->nx; i++) {
        const size_t k = lm_at(g, i, j);
        to[k] = factor ? lm_moment_in_cell(factor[(size_t)j * (size_t)g->nx + (size_t)i], from[k]) : from[k];
    }
}

/* Adds the integer sums of a species to those of all species, as charge density and current, and clears them. */
int lm_cpu_collect(struct lm_backend *b, int species, int speed_exponent, int first)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_grid *g = &b->setup.grid;
    const struct lm_backend_species *s = &b->setup.species[species];
    double *number = c->array[LM_SPECIES_N + species];
    int64_t quanta = 0;
    double *const *own = c->array + LM_SPECIES_NEW + 4 * species; /* NULL without friction */
    lm_halo_add(b->setup.halo, c->sums, 4, 1);
#pragma omp parallel for num_threads(c->grid_threads) reduction(+ : quanta)
    for (int j = 0; j < g->ny; j++) {
        const int64_t *density = c->sums[0] + (size_t)j * (size_t)g->nx;
        for (int i = g->own.from_x; i < g->own.to_x && j >= g->own.from_y && j < g->own.to_y; i++)
            quanta += density[i];
        for (int i = 0; i < g->nx; i++) {
            size_t k = lm_at(g, i, j), m = (size_t)j * (size_t)g->nx + (size_t)i;
            const int64_t sums[4] = {c->sums[0][m], c->sums[1][m], c->sums[2][m], c->sums[3][m]};
            double add[4];
            number[k] = lm_species_moments(sums, s->charge, s->weight, speed_exponent, add);
            for (int d = 0; d < 4; d++) {
                c->raw[d][k] = lm_add_moment(first, c->raw[d][k], add[d]);
                c->sums[d][m] = 0;
                if (own[d])
                    own[d][k] = add[d];
            }
        }
    }
    if (c->factor) {
        LM_ROWS(c, 0, 0)
        take_row(c, j, c->factor, number, number);
    }
    c->control.charge_quanta[species] = quanta;
    lm_fill_moment(g, number, -1);
    return LM_OK;
}

/* The moments in c->raw, smoothed and with ghost cells. */
static void finish(struct lm_cpu *c, double *const out[4], int of_all)
{
    for (int d = 0; d < 4; d++) {
        LM_ROWS(c, 0, 0)
        take_row(c, j, c->factor, c->raw[d], out[d]);
        lm_fill_moment(&c->base.setup.grid, out[d], d - 1);
        if (of_all)
            lm_cpu_add_strip_moments(c, out[d], d);
        lm_cpu_smooth_moment(c, out[d], d - 1);
        if (of_all && c->base.setup.smoothing == 0)
            lm_fill_moment(&c->base.setup.grid, out[d], d - 1);
    }
    if (lm_halo_needs_moments(c->base.setup.halo))
        lm_halo_refresh(c->base.setup.halo, out, 4);
}

int lm_cpu_moments(struct lm_backend *b)
{
    struct lm_cpu *c = lm_cpu_of(b);
    finish(c, c->array + LM_N_NEW, 1);
    for (int k = 0; k < b->setup.friction_species; k++) {
        double *const *own = c->array + LM_SPECIES_NEW + 4 * lm_friction_species(&b->setup, k);
        for (int d = 0; d < 4; d++)
            lm_cpu_copy_array(c, c->raw[d], own[d]);
        finish(c, own, 0);
    }
    return LM_OK;
}
