/* What limits the next step: the largest frequency of the fields (whistler, convection, diffusion), from which the
 * number of substeps of B follows, and the largest E of the push, which bounds the speed of the particles
 * (larmor/physics/numerics/bounds.h). */
#ifndef LARMOR_PHYSICS_FIELDS_TIME_STEP_LIMITS_H
#define LARMOR_PHYSICS_FIELDS_TIME_STEP_LIMITS_H

#include "larmor/physics/fields/closure.h"
#include "larmor/physics/fields/ohm.h"
#include "larmor/physics/fields/wall.h"

/* Largest eigenvalue of minus the grid's Laplacian, 4/dx^2 + 4/dy^2. Along an axis of one cell there are waves between
 * walls only. */
LM_HD double lm_largest_k2(const struct lm_grid *g, double inv_dx, double inv_dy)
{
    return 4.0 * ((lm_varies_along(g, 0) ? inv_dx * inv_dx : 0.0) + (lm_varies_along(g, 1) ? inv_dy * inv_dy : 0.0));
}

/* lm_ohm.substep_eta: it lets the substeps be two more at most, of a step dt. */
LM_HD double lm_substep_eta_of(const struct lm_grid *g, double dt)
{
    return 2.0 / (lm_largest_k2(g, 1.0 / g->dx, 1.0 / g->dy) * dt);
}

/* Largest frequency of the fields in a cell: whistler k^2 |B|/n, convection k |J_i|/n, diffusion eta k^2 + eta_H k^4,
 * with k2 = lm_largest_k2 and 1/n as lm_per_density (void.h) has it. The Runge-Kutta method (faraday.h) is stable up
 * to 2.78 / frequency. In a cell of few ions the first two count as no more than o->thin_frequency, which
 * fields.max_substeps resolves. So few ions never end a run for too many substeps. The substeps of such a cell are
 * stable, because its density counts as more in them (void.h). */
LM_HD double lm_frequency(struct lm_vector b, struct lm_vector ji, double per_density, double eta, double k2,
                          const struct lm_ohm *o)
{
    double bb = lm_sqrt(b.x * b.x + b.y * b.y + b.z * b.z);
    double uu = lm_sqrt(ji.x * ji.x + ji.y * ji.y + ji.z * ji.z);
    const double motional = (k2 * bb + lm_sqrt(k2) * uu) * per_density;
    const double counted = per_density * o->few > 1.0 && motional > o->thin_frequency ? o->thin_frequency : motional;
    return counted + k2 * (lm_substep_eta(eta, o) + k2 * o->eta_hyper);
}

/* The same where the cell may be in a body: there E is eta J, and B diffuses. */
LM_HD double lm_frequency_near_body(int solid, struct lm_vector b, struct lm_vector ji, double per_density, double eta,
                                    double k2, const struct lm_ohm *o)
{
    return solid ? k2 * lm_substep_eta(eta, o) : lm_frequency(b, ji, per_density, eta, k2, o);
}

/* Maxima over cells, as bits that lm_size_bits orders like the sizes; start from 0. */
struct lm_field_maxima {
    uint64_t e[3];        /* |E| of the push, by components, */
    uint64_t pressure[2]; /* and of what the pressure adds to it */
    uint64_t frequency;   /* of lm_frequency */
    uint64_t eta;         /* of the resistivity */
    uint64_t floored;     /* number of plasma cells with a density below the floor, */
    uint64_t voids;       /* and of those that are void */
};

LM_HD uint64_t lm_larger_size(uint64_t bits, double v)
{
    const uint64_t other = lm_size_bits(v);
    return other > bits ? other : bits;
}

/* A cell's frequency and resistivity, whether its density is below the floor, and whether it is void; `b` and `ji` at
 * the centre. `solid`: not 0 in a body. */
LM_HD void lm_limit_frequency(struct lm_field_maxima *m, int solid, struct lm_vector b, struct lm_vector ji,
                              double density, double per_density, double eta, double k2, const struct lm_ohm *o)
{
    m->frequency = lm_larger_size(m->frequency, lm_frequency_near_body(solid, b, ji, per_density, eta, k2, o));
    m->eta = lm_larger_size(m->eta, eta);
    m->floored += !solid && density < o->floor;
    m->voids += !solid && per_density == 0.0;
}

#endif
