/* What both backends derive from the setup to count the particles of a species. For sources that are compiled for each
 * precision. */
#ifndef LARMOR_BACKEND_COUNTING_H
#define LARMOR_BACKEND_COUNTING_H

#include "backend/backend.h"
#include "larmor/physics/particles/distribution.h"

/* `b`: the arrays of B, in the memory of the backend. */
static inline struct lm_counting lm_counting_of(const struct lm_setup *s, int species, const struct lm_bins *bins,
                                                const struct lm_tiling *tiling, double *const b[3])
{
    const struct lm_grid *g = &s->grid;
    struct lm_counting c;
    c.bins = *bins;
    c.outside = (int64_t)lm_bins_all(bins);
    c.needs_b = 0;
    for (int k = 0; k < bins->dimensions; k++) {
        c.axis[k] = lm_axis_bins_of(bins, k);
        c.needs_b |= lm_axis_needs_b(bins->axis[k]);
    }
    c.mass = s->species[species].mass;
    c.dx = g->dx;
    c.dy = g->dy;
    c.tiling = *tiling;
    c.sides = g->sides;
    c.place = g->place;
    for (int d = 0; d < 3; d++)
        c.b[d] = b[d];
    c.stride = g->stride;
    return c;
}

#endif
