/* J beyond open and radiating sides, which the Laplacian of the hyper-resistivity reads.
 *
 * B beyond such a side stays that of the start. Where a flow of the speed u brings another B, the two differ. If this
 * difference counted as a current, B would pile up before the side wherever eta_H > u d^3 (d: the size of a cell). So J
 * along the side is that of the last cell inside.
 */
#ifndef LARMOR_PHYSICS_FIELDS_SIDE_CURRENT_H
#define LARMOR_PHYSICS_FIELDS_SIDE_CURRENT_H

#include "larmor/physics/fields/external_current.h"
#include "larmor/physics/fields/field_boundaries.h"

/* For cell i beyond an open or a radiating side of an axis of n cells: the steps from it to the last cell inside. 0 for
 * cells inside and beyond other sides. */
LM_HD int lm_cells_inside(const struct lm_field_sides *s, int axis, int n, int i)
{
    const int kind = s->of[2 * axis + (i >= 0)], back = i < 0 ? -i : i < n ? 0 : n - 1 - i;
    return kind == LM_OPEN || kind == LM_RADIATING ? back : 0;
}

/* J of the plasma in cell (i, j) of nx x ny, on which the views stand, as the hyper-resistivity reads it. */
LM_HD struct lm_vector lm_current_in_cell(const struct lm_field_sides *s, int nx, int ny, int i, int j,
                                          struct lm_view b, struct lm_view external, double inv_dx, double inv_dy)
{
    const long x = lm_cells_inside(s, 0, nx, i), y = lm_cells_inside(s, 1, ny, j), of_b = y * b.s,
               of_external = y * external.s; /* their strides may differ */
    struct lm_vector current = lm_plasma_current(b, external, inv_dx, inv_dy);
    if (x == 0 && y == 0)
        return current;
    if (y != 0)
        current.x = lm_plasma_current(lm_view_at(b, of_b), lm_external_at(external, of_external), inv_dx, inv_dy).x;
    if (x != 0)
        current.y = lm_plasma_current(lm_view_at(b, x), lm_external_at(external, x), inv_dx, inv_dy).y;
    current.z = lm_plasma_current(lm_view_at(b, x + of_b), lm_external_at(external, x + of_external), inv_dx, inv_dy).z;
    return current;
}

#endif
