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

#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/time_step_limits.h"

/* nu, Omega_ci. */
#define LM_VOID_DAMPING 1.0

/* The wave of the largest wave number turns by this in a substep. The Runge-Kutta method is stable up to 2.78; the rest
 * is for whistlers of the plasma beside, with which the wave is coupled. */
#define LM_VOID_TURN 2.0

/* A step of B has so many substeps at least where there is a void. */
enum { LM_VOID_SUBSTEPS = 16 };

/* c^2 in substeps of this length. */
LM_HD double lm_void_speed2(const struct lm_grid *g, double substep)
{
    return LM_VOID_TURN * LM_VOID_TURN / (lm_largest_k2(g, 1.0 / g->dx, 1.0 / g->dy) * (substep * substep));
}

/* Whether the node of E_`component` has a part E_v. per_density (lm_per_density, void.h) stands on its cell, and `node`
 * on the nodes of this cell; NULL without bodies. */
LM_HD int lm_is_void_node(const double *per_density, const struct lm_body_node *node, int component, int s)
{
    const int kind = node != NULL ? node[component].kind : LM_NODE_PLASMA;
    return (per_density[0] == 0.0 || per_density[lm_across(component, s)] == 0.0) && kind != LM_NODE_INSULATES &&
           kind != LM_NODE_CONDUCTS;
}

/* dE_v/dt. */
LM_HD double lm_void_rate(double speed2, double current, double e)
{
    return speed2 * current - LM_VOID_DAMPING * e;
}

#endif
