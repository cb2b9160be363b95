/* The current of the plasma where coils, antennas and magnets carry some of the current that B shows: J = curl B -
 * J_ext. B is the whole field. A magnet's field B_0 that does not change is part of B, and its current curl B_0 is part
 * of J_ext, so that the plasma feels B_0 and does not carry its current. */
#ifndef LARMOR_PHYSICS_FIELDS_EXTERNAL_CURRENT_H
#define LARMOR_PHYSICS_FIELDS_EXTERNAL_CURRENT_H

#include "larmor/physics/fields/ohm.h"

/* J_ext as a view, on the nodes of J; s = 0: there is none. Pointers that are NULL do not move. */
LM_HD struct lm_view lm_external_at(struct lm_view external, long k)
{
    return external.s != 0 ? lm_view_at(external, k) : external;
}

/* J of the plasma in cell (i, j). */
LM_HD struct lm_vector lm_plasma_current(struct lm_view b, struct lm_view external, double inv_dx, double inv_dy)
{
    struct lm_vector j = lm_curl_b(b, inv_dx, inv_dy);
    if (external.s != 0) {
        j.x -= external.x[0];
        j.y -= external.y[0];
        j.z -= external.z[0];
    }
    return j;
}

/* J_i + J_ext in a cell: what the electrons carry of B besides the plasma's own J. For lm_frequency. */
LM_HD struct lm_vector lm_carried_current(struct lm_vector ji, struct lm_view external)
{
    if (external.s != 0) {
        ji.x += external.x[0];
        ji.y += external.y[0];
        ji.z += external.z[0];
    }
    return ji;
}

#endif
