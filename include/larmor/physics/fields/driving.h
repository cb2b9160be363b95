/* What drives the plasma from outside, as expressions of place and time: the current of coils and antennas
 * (external_current.h), E beyond sides, and forces on ions. An ion of charge Z feels a force F like the E-field F/Z, so
 * that the push needs no term for it; electrons do not feel it. */
#ifndef LARMOR_PHYSICS_FIELDS_DRIVING_H
#define LARMOR_PHYSICS_FIELDS_DRIVING_H

#include "larmor/physics/fields/field_boundaries.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/numerics/operators.h"
#include "larmor/physics/numerics/program.h"

/* --- values of expressions --- */

/* At `offset` from the centre of the cell with index (i, j) of the arrays, also beyond walls. Where the expression is
 * not finite beyond a wall, its value at the wall counts. */
LM_HD double lm_driven_value(const struct lm_program *p, const struct lm_grid *g, struct lm_cell_offset offset, int i,
                             int j, double t)
{
    int x = lm_domain_x(&g->place, i), y = lm_domain_y(&g->place, j);
    double variable[LM_PROGRAM_VARIABLES] = {0.0}, v = 0.0;
    variable[LM_VAR_T] = t;
    for (int at_wall = 0; at_wall < 2; at_wall++) {
        variable[LM_VAR_X] = (x + 0.5 + offset.x) * g->dx;
        variable[LM_VAR_Y] = (y + 0.5 + offset.y) * g->dy;
        v = lm_program_value(p, variable);
        if (v - v == 0.0)
            break;
        x = lm_nearest_cell(x, g->place.domain_nx);
        y = lm_nearest_cell(y, g->place.domain_ny);
    }
    return v;
}

/* --- E beyond sides --- */

/* Where E lives, by component: the same places as J. */
LM_HD struct lm_cell_offset lm_place_of_e(int component)
{
    struct lm_cell_offset o;
    o.x = component == 0 ? 0.5 : 0.0;
    o.y = component == 1 ? 0.5 : 0.0;
    return o;
}

/* Where the E of the push lives, which all components share. */
LM_HD struct lm_cell_offset lm_place_of_push(void)
{
    return lm_place_of_e(2);
}

/* Whether E_`component` of cell (i, j) is the configuration's: it lies beyond a side LM_INFLOW_E and not beyond a side
 * LM_FIELDS_INFLOW, where it is -u x B. */
LM_HD int lm_is_given_e(const struct lm_field_sides *s, int component, int i, int j, int nx, int ny)
{
    const int beyond[LM_SIDES] = {i < -(component == 0), i >= nx, j < -(component == 1), j >= ny};
    int given = 0, inflow = 0;
    LM_UNROLL
    for (int side = 0; side < LM_SIDES; side++) {
        given |= beyond[side] && s->of[side] == LM_INFLOW_E;
        inflow |= beyond[side] && s->of[side] == LM_FIELDS_INFLOW;
    }
    return given && !inflow;
}

/* Whether the E of the push of cell (i, j) is the configuration's: all sides beyond which the cell lies are
 * LM_INFLOW_E. Behind such a side that turns ions back it is the mirror image (lm_line_end_of). Beyond another side,
 * too, it follows from the cells inside that side. */
LM_HD int lm_is_given_push(const struct lm_field_sides *s, int i, int j, int nx, int ny)
{
    const int side_x = i < 0 ? LM_X_MIN : LM_X_MAX, side_y = j < 0 ? LM_Y_MIN : LM_Y_MAX;
    const int beyond_x = lm_field_walls(s, 0) && (i < 0 || i >= nx),
              beyond_y = lm_field_walls(s, 1) && (j < 0 || j >= ny);
    return (beyond_x || beyond_y) && (!beyond_x || (s->of[side_x] == LM_INFLOW_E && !s->turns_back[side_x])) &&
           (!beyond_y || (s->of[side_y] == LM_INFLOW_E && !s->turns_back[side_y]));
}

/* --- forces on ions --- */

/* F/Z of a component for an ion of charge Z at the centre. */
LM_HD double lm_force_field(const struct lm_program *force, const struct lm_grid *g, int i, int j, double t,
                            double charge)
{
    return lm_driven_value(force, g, lm_place_of_push(), i, j, t) / charge;
}

/* What the ions of a species feel as E: what all ions feel, and their own part of friction with electrons
 * (electron_friction.h) and of a force. */
LM_HD double lm_own_push(double all, double friction, const struct lm_program *force, const struct lm_grid *g, int i,
                         int j, double t, double charge)
{
    return all + friction + lm_force_field(force, g, i, j, t, charge);
}

#endif
