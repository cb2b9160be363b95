/* Solid bodies in the fields. A pointer `solid` stands on a cell of an array like the others, with ghost cells. Its
 * elements are 0 in plasma, or bits of enum lm_solid. Ohm's law in the plasma never reads a value inside a body.
 * Moments and smoothing at bodies are in moments.h and smoothing.h.
 */
#ifndef LARMOR_PHYSICS_FIELDS_SOLID_H
#define LARMOR_PHYSICS_FIELDS_SOLID_H

#include "larmor/physics/fields/ohm.h"

enum lm_solid { LM_SOLID = 1, LM_SOLID_CONDUCTS = 2 };

/* The node of E_`component` lies between its own cell and this other one (E_z at the centre: the same cell). */
LM_HD int lm_across(int component, int s)
{
    return component == 0 ? 1 : component == 1 ? s : 0;
}

/* Whether the node of E_`component` touches a body. */
LM_HD int lm_touches_body(const uint8_t *solid, int component, int s)
{
    return (solid[0] | solid[lm_across(component, s)]) != 0;
}

/* Replaces E at nodes that touch a body; E at nodes in the plasma stays. Inside a body and along its surface E is eta J
 * with the body's own eta, or 0 in a conductor. A node on the surface, for E through it, stands for a path of which one
 * half is in the body and one half in the plasma. The resistive part that ions feel beside the surface has nothing of
 * such a node. */
LM_HD void lm_body_field(const uint8_t *solid, struct lm_ohm_view v, double total[3], double resistive[3])
{
    const double *const j[3] = {v.j.x, v.j.y, v.j.z}, *const eta = v.eta;
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        const int other = lm_across(d, v.j.s), here = solid[0], there = solid[other];
        if (!(here | there))
            continue;
        const double mean = here && there ? lm_interp_up(eta, other) : here ? eta[0] : eta[other];
        total[d] = (here | there) & LM_SOLID_CONDUCTS ? 0.0 : mean * j[d][0];
        resistive[d] = here && there ? total[d] : 0.0;
        if (!here || !there)
            total[d] = 0.5 * (total[d] + lm_surface_field(d, here ? other : 0, v));
    }
}

#endif
