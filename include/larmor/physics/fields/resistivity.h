/* A resistivity that depends on the plasma: an expression of x, y, t and the local n, T_e, |J| and |B|. */
#ifndef LARMOR_PHYSICS_FIELDS_RESISTIVITY_H
#define LARMOR_PHYSICS_FIELDS_RESISTIVITY_H

#include "larmor/grid.h"
#include "larmor/physics/fields/ohm.h"
#include "larmor/physics/numerics/program.h"

/* The electrons in arrays of one stride: floored density and pressure at the centres. */
struct lm_electron_view {
    const double *n, *p;
};

/* At the centre of the cell with index (i, j) of the arrays, where the views and the electrons stand. n is floored, and
 * J is the current of the plasma. `given` is a resistivity that is added. Values of the expression below 0 count as 0.
 */
LM_HD double lm_local_eta(const struct lm_program *p, const struct lm_grid *g, int i, int j, double t,
                          struct lm_electron_view electrons, struct lm_view current, struct lm_view b, double given)
{
    const struct lm_vector centre = lm_b_centre(b);
    const double jx = lm_interp_down(current.x, 1), jy = lm_interp_down(current.y, current.s), jz = current.z[0];
    double variable[LM_PROGRAM_VARIABLES];
    variable[LM_VAR_X] = (lm_domain_x(&g->place, i) + 0.5) * g->dx;
    variable[LM_VAR_Y] = (lm_domain_y(&g->place, j) + 0.5) * g->dy;
    variable[LM_VAR_T] = t;
    variable[LM_VAR_N] = electrons.n[0];
    variable[LM_VAR_TE] = electrons.p[0] / electrons.n[0];
    variable[LM_VAR_J] = lm_sqrt(jx * jx + jy * jy + jz * jz);
    variable[LM_VAR_B] = lm_sqrt(centre.x * centre.x + centre.y * centre.y + centre.z * centre.z);
    return given + lm_max(0.0, lm_program_value(p, variable));
}

#endif
