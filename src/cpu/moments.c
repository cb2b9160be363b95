/* CPU backend: moments of the ions (larmor/physics/fields/moments.h). */
#include "larmor/physics/fields/moments.h"

#include "backend/field_boundaries.h"
#include "cpu/fields.h"

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
    for (size_t k = 0; k < g->size && c->solid; k++)
        if (c->solid[k])
            number[k] = 0.0;
    c->control.charge_quanta[species] = quanta;
    lm_fill_moment(g, number, -1);
    return LM_OK;
}

/* Currents as deposited, on the faces of walls. */
static void fill_wall_currents(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int j = 0; j < g->ny && lm_has_walls(&g->sides, 0); j++)
        lm_fill_wall_current(&g->sides, 0, c->raw[1] + lm_at(g, 0, j), 1, g->nx);
    for (int i = 0; i < g->nx && lm_has_walls(&g->sides, 1); i++)
        lm_fill_wall_current(&g->sides, 1, c->raw[2] + lm_at(g, i, 0), g->stride, g->ny);
}

/* Moments of row j at the centres. `solid` is NULL without bodies. */
static inline __attribute__((always_inline)) void centre_row(const struct lm_cpu *c, int j, const uint8_t *solid,
                                                             double *const out[4])
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int i = 0; i < g->nx; i++) {
        size_t k = lm_at(g, i, j);
        const double *const raw[4] = {c->raw[0] + k, c->raw[1] + k, c->raw[2] + k, c->raw[3] + k};
        double centred[4];
        if (solid)
            lm_centred_moments_near_body(raw, solid + k, g->stride, centred);
        else
            lm_centred_moments(raw, g->stride, centred);
        for (int d = 0; d < 4; d++)
            out[d][k] = centred[d];
    }
}

/* The moments in c->raw, at the centres and smoothed. */
static void centre(struct lm_cpu *c, double *const out[4])
{
    const struct lm_grid *g = &c->base.setup.grid;
    for (int d = 0; d < 4; d++)
        lm_grid_wrap(g, c->raw[d]);
    fill_wall_currents(c);
    LM_ROWS(c, 0, 0)
    {
        /* Two calls: without bodies the compiler makes vector instructions of it. */
        if (c->solid)
            centre_row(c, j, c->solid, out);
        else
            centre_row(c, j, NULL, out);
    }
    for (int d = 0; d < 4; d++) {
        lm_fill_moment(g, out[d], d - 1);
        lm_cpu_smooth_moment(c, out[d], d - 1);
    }
    if (lm_halo_needs_moments(c->base.setup.halo))
        lm_halo_refresh(c->base.setup.halo, out, 4);
}

int lm_cpu_moments(struct lm_backend *b)
{
    struct lm_cpu *c = lm_cpu_of(b);
    centre(c, c->array + LM_N_NEW);
    for (int k = 0; k < b->setup.friction_species; k++) {
        double *const *own = c->array + LM_SPECIES_NEW + 4 * lm_friction_species(&b->setup, k);
        for (int d = 0; d < 4; d++)
            lm_cpu_copy_array(c, c->raw[d], own[d]);
        centre(c, own);
    }
    return LM_OK;
}
