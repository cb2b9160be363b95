/* The oscillation of an evolved electron pressure p and B where the plasma is uneven.
 *
 * p makes B where the gradients of 1/n and p cross (pressure_gradient.h), and the current of B carries the entropy s =
 * p^(1/gamma) down the gradient of s/n (flow.h). A disturbance of the wave number k therefore has the frequency
 *
 *     omega^2 = gamma p / s (k . grad(1/n)) (k . grad(s/n)),
 *
 * of either sign, k being turned by 90 degrees. B and s advance by turns, which is stable for turns shorter than
 * 2 / omega. The noise of few particles in cells far smaller than d_i makes omega large in any plasma.
 */
#ifndef LARMOR_PHYSICS_FLUID_OSCILLATION_H
#define LARMOR_PHYSICS_FLUID_OSCILLATION_H

#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/fluid/flow.h"

/* A round of B and s is so short that the oscillation turns by no more than this. */
#define LM_LARGEST_OSCILLATION 1.0

/* The larger size of the differences of 1/n and s/n from the cell at k to the two beside it along an axis, over the
 * distance of the cells. Faces of bodies count 0, as p makes no B there. */
struct lm_steepness {
    double per_density, entropy;
};

LM_HD struct lm_steepness lm_steepness(const struct lm_flow_moments *m, const double *s, long k, const long beside[2],
                                       double r)
{
    const double here = 1.0 / m->counted[k];
    struct lm_steepness to = {0.0, 0.0};
    LM_UNROLL
    for (int end = 0; end < 2; end++) {
        const long b = beside[end];
        if (!m->clearance[b])
            continue;
        const double there = 1.0 / m->counted[b];
        to.per_density = lm_max(to.per_density, lm_abs(there - here) * r);
        to.entropy = lm_max(to.entropy, lm_abs(s[b] * there - s[k] * here) * r);
    }
    return to;
}

/* An upper bound of the angle by which the oscillation of the largest wave number turns in a step, in cell (i, j). It
 * is returned as bits, which order like sizes. 0 in bodies. `sides`, nx and ny are those of the grid of the arrays. */
LM_HD uint64_t lm_oscillation_bits(const struct lm_flow_moments *m, const double *s, const struct lm_sides *sides,
                                   int nx, int ny, int i, int j, const struct lm_ohm *o)
{
    const int stride = m->b.s;
    const long k = (long)(j + LM_GHOST) * stride + (i + LM_GHOST);
    double steep_n = 0.0, steep_s = 0.0;
    if (!m->clearance[k])
        return 0;
    LM_UNROLL
    for (int axis = 0; axis < 2; axis++) {
        long beside[2];
        LM_UNROLL
        for (int end = 0; end < 2; end++) {
            const int step = 2 * end - 1;
            int to_i = axis == 0 ? i + step : i, to_j = axis == 1 ? j + step : j;
            lm_image_cell(sides, nx, ny, &to_i, &to_j);
            beside[end] = (long)(to_j + LM_GHOST) * stride + (to_i + LM_GHOST);
        }
        const struct lm_steepness a = lm_steepness(m, s, k, beside, axis == 0 ? o->inv_dx : o->inv_dy);
        steep_n = steep_n + a.per_density * a.per_density;
        steep_s = steep_s + a.entropy * a.entropy;
    }
    return lm_size_bits(
        lm_sqrt(o->gamma * lm_pow(s[k], o->gamma - 1.0) * o->alfven_floor * lm_sqrt(steep_n * steep_s)));
}

#endif
