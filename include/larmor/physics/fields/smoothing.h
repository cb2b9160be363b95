/* The binomial filter, 1-2-1 in x and in y (Birdsall and Langdon 1985, appendix C). One pass goes over the moments and
 * over the E of the push, or as many as fields.smoothing says. */
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

/* lm_binomial of the force of the pressure on the faces that an axis crosses, where there are bodies. The force through
 * a face that touches a body is 0, as in the plane of a mirror, and stays as it is. In the lines of faces beside this
 * one's line, the value of this line stands for such a face, as beside a mirror that the line is along. */
LM_HD double lm_binomial_on_faces(const double *a, const uint8_t *solid, int axis, int s)
{
    double v[9];
    if (lm_touches_body(solid, axis, s))
        return a[0];
    LM_UNROLL
    for (int n = 0; n < 9; n++) {
        const int dx = n % 3 - 1, dy = n / 3 - 1, in_line = axis == 0 ? dx : dy * s, k = dy * s + dx;
        v[n] = lm_touches_body(solid + k, axis, s) ? a[in_line] : a[k];
    }
    return lm_binomial(v + 4, 3);
}

#endif
