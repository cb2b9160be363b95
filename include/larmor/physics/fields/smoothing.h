/* The binomial filter, 1-2-1 in x and in y (Birdsall and Langdon 1985, appendix C). One pass goes over the moments and
 * over the E of the push, or as many as fields.smoothing says. At a body (lm_touches_body) E is not
 * smoothed. */
#ifndef LARMOR_PHYSICS_FIELDS_SMOOTHING_H
#define LARMOR_PHYSICS_FIELDS_SMOOTHING_H

#include "larmor/physics/fields/solid.h"

/* One pass in a cell. `centre` has the values of the row below, of the cell's row and of the row above; `sides` has the
 * sums of their left and right neighbours. */
LM_HD double lm_binomial_rows(const double centre[3], const double sides[3])
{
    double corners = sides[0] + sides[2];
    double edges = sides[1] + (centre[0] + centre[2]);
    return 0.0625 * corners + (0.125 * edges + 0.25 * centre[1]);
}

LM_HD double lm_binomial(const double *a, int s)
{
    const double centre[3] = {a[-s], a[0], a[s]};
    const double sides[3] = {a[-s - 1] + a[-s + 1], a[-1] + a[1], a[s - 1] + a[s + 1]};
    return lm_binomial_rows(centre, sides);
}

/* lm_binomial of a moment where there are bodies: the cell's own value stands for a neighbour that is in a body. In a
 * body nothing changes. */
LM_HD double lm_binomial_near_body(const double *a, const uint8_t *solid, int s)
{
    double v[9];
    if (solid[0])
        return a[0];
    LM_UNROLL
    for (int n = 0; n < 9; n++) {
        const int k = (n / 3 - 1) * s + n % 3 - 1;
        v[n] = solid[k] ? a[0] : a[k];
    }
    return lm_binomial(v + 4, 3);
}

#endif
