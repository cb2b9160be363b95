/* E in voids: waves of a vacuum.
 *
 * On nodes of E of which a cell is void (void.h), E has a part E_v beside that of Ohm's law, with
 *
 *     dE_v/dt = c^2 J - nu E_v,  J = curl B - J_ext
 *
 * in the stages of the Runge-Kutta method for B (faraday.h). It is Ampere's law with the displacement current. E_v is a
 * field of the state, and is 0 on all other nodes: a node that is no longer at a void forgets it. Waves cross the void
 * and are reflected by the plasma, and what the damping leaves is curl B = 0, the field of a vacuum (Hewett 1980, J.
 * Comput. Phys. 38, 378). The sum of B^2 and E_v^2/c^2 falls by the damping alone. So the void answers within the step,
 * and takes no more energy from the plasma than the damping does.
 *
 * The true c is far too large for the steps. Here c is as large as the substeps of B let it be, and a step has some
 * substeps at least, so that c is also larger than the speeds in the plasma.
 */
#ifndef LARMOR_PHYSICS_FIELDS_VOID_FIELD_H
#define LARMOR_PHYSICS_FIELDS_VOID_FIELD_H

#include "larmor/physics/fields/field_boundaries.h"
#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/time_step_limits.h"

/* nu, Omega_ci. */
#define LM_VOID_DAMPING 1.0

/* The wave of the largest wave number turns by V, this, in a substep. It is coupled with the whistlers of the plasma
 * beside, which turn by W, 2 at most with the default fields.substep_safety. Both make a turn of
 * W / 2 + (W^2 / 4 + V^2)^(1/2) at most, 2.72. The Runge-Kutta method is stable up to 2.78. */
#define LM_VOID_TURN 1.4

/* A step of B has so many substeps at least where there is a void. */
enum { LM_VOID_SUBSTEPS = 16 };

/* c^2 in substeps of this length. */
LM_HD double lm_void_speed2(const struct lm_grid *g, double substep)
{
    return LM_VOID_TURN * LM_VOID_TURN / (lm_largest_k2(g, 1.0 / g->dx, 1.0 / g->dy) * (substep * substep));
}

/* The nodes of arrays of one stride. */
struct lm_void_nodes {
    const double *per_density;       /* lm_per_density, void.h */
    const struct lm_body_node *node; /* NULL without bodies */
    struct lm_field_sides sides;
    int nx, ny, s;
};

/* Whether the node of E_`component` of the cell at k has a part E_v. */
LM_HD int lm_is_void_node(const struct lm_void_nodes *v, int component, long k)
{
    const int kind = v->node != NULL ? v->node[3 * k + component].kind : LM_NODE_PLASMA;
    return (v->per_density[k] == 0.0 || v->per_density[k + lm_across(component, v->s)] == 0.0) &&
           kind != LM_NODE_INSULATES && kind != LM_NODE_CONDUCTS;
}

/* What E_`component` of cell (i, j) has of E_v, also beyond walls. Beyond conducting ones it is odd, and where E is
 * prescribed it is 0. Else it is a constant; open sides act after it (open_side.h). `e` is an array of E_v. */
LM_HD double lm_void_e(const struct lm_void_nodes *v, const double *e, int component, int i, int j)
{
    int sign = 1;
    const int x = lm_inside_node(&v->sides, 0, v->nx, component == 0, i, &sign),
              y = lm_inside_node(&v->sides, 1, v->ny, component == 1, j, &sign);
    const long k = (long)(y + LM_GHOST) * v->s + (x + LM_GHOST);
    return lm_is_void_node(v, component, k) ? sign * e[k] : 0.0;
}

/* The open part of a node's edge (solid.h). */
LM_HD double lm_void_open_part(const struct lm_void_nodes *v, int component, long k)
{
    return v->node != NULL && component < 2 ? lm_open_part(v->node + 3 * k + component) : 1.0;
}

/* dE_v/dt. */
LM_HD double lm_void_rate(double speed2, double current, double e)
{
    return speed2 * current - LM_VOID_DAMPING * e;
}

#endif
