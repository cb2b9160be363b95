/* Moments of the ions on the grid: from the integers that the particles deposit (larmor/physics/particles/deposit.h) to
 * the charge density and the ion current at the centres, with their ghost cells. The four moments are density, J_x,
 * J_y and J_z.
 */
#ifndef LARMOR_PHYSICS_FIELDS_MOMENTS_H
#define LARMOR_PHYSICS_FIELDS_MOMENTS_H

#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/numerics/operators.h"

/* --- from integers to charge density and current --- */

/* The integer sums of a species in a cell as charge density and current; returns the number density. Densities are
 * deposited in units of 2^-16 particles, currents in units of 2^(cap - 16). */
LM_HD double lm_species_moments(const int64_t sums[4], double charge, double weight, int cap, double out[4])
{
    double number = weight * lm_exp2i(-16) * (double)sums[0], current = charge * weight * lm_exp2i(cap - 16);
    out[0] = charge * number;
    for (int d = 1; d < 4; d++)
        out[d] = current * (double)sums[d];
    return number;
}

/* A moment of all species so far: `add` of this species, `before` of those before it, which the first one overwrites.
 */
LM_HD double lm_add_moment(int first, double before, double add)
{
    return first ? add : before + add;
}

/* --- from faces to centres --- */

/* J_x, or J_y, as deposited on the faces that end a line of n cells at walls. `j` stands on the line's first cell,
 * whose lower face has index -1; `step` leads to the next cell. */
LM_HD void lm_fill_wall_current(const struct lm_sides *s, int axis, double *j, long step, int n)
{
    j[-step] = n > 1 ? lm_on_wall(s->of[2 * axis], j[0]) : 0.0;
    j[(n - 1) * step] = n > 1 ? lm_on_wall(s->of[2 * axis + 1], j[(n - 2) * step]) : 0.0;
}

/* Density and currents as deposited (J_x and J_y on faces), averaged to the centre. */
LM_HD void lm_centred_moments(const double *const raw[4], int s, double out[4])
{
    out[0] = raw[0][0];
    /* cppcheck-suppress negativeIndex ; the pointers stand inside their arrays */
    out[1] = lm_interp_down(raw[1], 1);
    out[2] = lm_interp_down(raw[2], s);
    out[3] = raw[3][0];
}

/* The current at the centre of a plasma cell from those on two opposite faces of it. A face on a body has the current
 * that it would have on a wall (lm_on_wall): that of the opposite face, or 0 where particles come back. */
LM_HD double lm_current_between(double low, double high, int solid_low, int solid_high)
{
    const double l = !solid_low ? low : (solid_low & LM_SOLID_ABSORBS) && !solid_high ? high : 0.0;
    const double h = !solid_high ? high : (solid_high & LM_SOLID_ABSORBS) && !solid_low ? low : 0.0;
    return 0.5 * (h + l);
}

/* lm_centred_moments where there are bodies; 0 inside them. */
LM_HD void lm_centred_moments_near_body(const double *const raw[4], const uint8_t *solid, int s, double out[4])
{
    const int plasma = !solid[0];
    out[0] = plasma ? raw[0][0] : 0.0;
    /* cppcheck-suppress negativeIndex ; the pointers stand inside their arrays */
    out[1] = plasma ? lm_current_between(raw[1][-1], raw[1][0], solid[-1], solid[1]) : 0.0;
    out[2] = plasma ? lm_current_between(raw[2][-s], raw[2][0], solid[-s], solid[s]) : 0.0;
    out[3] = plasma ? raw[3][0] : 0.0;
}

/* --- ghost cells --- */

/* The inner cell whose value, times `sign`, a ghost cell has. */
struct lm_moment_image {
    int i, j, sign;
};

/* Of cell (i, j), for a moment at the centres; `along` is the axis of a current's component, or -1: behind a wall that
 * turns particles back, the current through the wall has the opposite sign. */
LM_HD struct lm_moment_image lm_moment_image(const struct lm_sides *s, int nx, int ny, int along, int i, int j)
{
    struct lm_moment_image image;
    image.sign = 1;
    image.i = lm_node_inside(s, 0, nx, 0, along == 0, i, &image.sign);
    image.j = lm_node_inside(s, 1, ny, 0, along == 1, j, &image.sign);
    return image;
}

#endif
