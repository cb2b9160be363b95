/* Solid bodies in the fields: cells that Ohm's law takes nothing from. A pointer `solid` stands on a cell of an array
 * like the others, with ghosts; 0: plasma, or bits of enum lm_solid.
 */
#ifndef LARMOR_PHYSICS_FIELDS_SOLID_H
#define LARMOR_PHYSICS_FIELDS_SOLID_H

#include "larmor/physics/fields/fields.h"

enum lm_solid { LM_SOLID = 1, LM_SOLID_CONDUCTS = 2, LM_SOLID_ABSORBS = 4 };

/* The other cell that the node of E_`component` lies between, from the first one on. */
LM_HD int lm_across(int component, int s)
{
    return component == 0 ? 1 : component == 1 ? s : 0;
}

/* Whether the node of E_`component` touches a body. */
LM_HD int lm_touches_body(const uint8_t *solid, int component, int s)
{
    return (solid[0] | solid[lm_across(component, s)]) != 0;
}

/* E where a node touches a body; nodes in the plasma keep theirs. Inside, and along the surface, eta J with the body's
 * own eta, or 0 in a conductor. Through the surface the node stands for a way half of which is in the plasma. */
LM_HD void lm_body_field(const uint8_t *solid, struct lm_view force, struct lm_view j, struct lm_view given,
                         const struct lm_ohm *o, double total[3], double ideal[3])
{
    const double *const current[3] = {j.x, j.y, j.z}, *const pull[3] = {force.x, force.y, force.z};
    const double *const eta = given.z;
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        const int other = lm_across(d, j.s), here = solid[0], there = solid[other];
        if (!(here | there))
            continue;
        const double mean = here && there ? lm_interp_up(eta, other) : here ? eta[0] : eta[other];
        total[d] = (here | there) & LM_SOLID_CONDUCTS ? 0.0 : mean * current[d][0];
        if (!here || !there) {
            const int plasma = here ? other : 0;
            total[d] = 0.5 * (total[d] + lm_surface_field(pull[d][plasma], given.x[plasma], o));
        }
        ideal[d] = total[d];
    }
}

/* The current at the centre of a plasma cell from those on two opposite faces of it; on a body's surface it is as on a
 * wall (lm_on_wall): the one on the other face, or 0 where particles come back. */
LM_HD double lm_between(double low, double high, int solid_low, int solid_high)
{
    const double l = !solid_low ? low : (solid_low & LM_SOLID_ABSORBS) && !solid_high ? high : 0.0;
    const double h = !solid_high ? high : (solid_high & LM_SOLID_ABSORBS) && !solid_low ? low : 0.0;
    return 0.5 * (h + l);
}

/* lm_centred_moments among bodies. */
LM_HD void lm_moments_beside(const double *const raw[4], const uint8_t *solid, int s, double out[4])
{
    const int plasma = !solid[0];
    out[0] = plasma ? raw[0][0] : 0.0;
    /* cppcheck-suppress negativeIndex ; the pointers stand inside their arrays */
    out[1] = plasma ? lm_between(raw[1][-1], raw[1][0], solid[-1], solid[1]) : 0.0;
    out[2] = plasma ? lm_between(raw[2][-s], raw[2][0], solid[-s], solid[s]) : 0.0;
    out[3] = plasma ? raw[3][0] : 0.0;
}

/* lm_binomial of a moment: where a neighbour is a body, the cell's own value stands for it. In a body nothing changes.
 */
LM_HD double lm_binomial_beside(const double *a, const uint8_t *solid, int s)
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

/* lm_frequency; in a body, where only eta J is, that of diffusion. */
LM_HD double lm_frequency_beside(int solid, struct lm_vector b, struct lm_vector ji, double floored, double eta,
                                 double k2, const struct lm_ohm *o)
{
    return solid ? k2 * eta : lm_frequency(b, ji, floored, eta, k2, o);
}

#endif
