/* Moments of the ions on the grid: from the integers that the particles deposit (larmor/physics/particles/deposit.h) to
 * the charge density and the ion current, with their ghost cells. All are at the centres. The four moments are density,
 * J_x, J_y and J_z.
 */
#ifndef LARMOR_PHYSICS_FIELDS_MOMENTS_H
#define LARMOR_PHYSICS_FIELDS_MOMENTS_H

#include "larmor/physics/fields/wall.h"
#include "larmor/physics/numerics/portable.h"

/* --- from integers to charge density and current --- */

/* The integer sums of a species in a cell as charge density and current; returns the number density. Densities are
 * deposited in units of 2^-16 particles, currents in units of 2^(speed_exponent - 16). */
LM_HD double lm_species_moments(const int64_t sums[4], double charge, double weight, int speed_exponent, double out[4])
{
    double number = weight * lm_exp2i(-16) * (double)sums[0], current = charge * weight * lm_exp2i(speed_exponent - 16);
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

/* What a cell has of the moments of the particles: the `factor` of struct lm_obstacles corrects for the part of shapes
 * that is in bodies. Nothing is in a body. */
LM_HD double lm_moment_in_cell(float factor, double deposited)
{
    return factor == 0.0f ? 0.0 : (double)factor * deposited;
}

/* --- ghost cells --- */

/* The inner cell whose value, times `sign`, a ghost cell has. */
struct lm_moment_image {
    int i, j, sign;
};

/* Of cell (i, j); `along` is the axis of a current's component, or -1: behind a wall that
 * turns particles back, the current through the wall has the opposite sign. */
LM_HD struct lm_moment_image lm_moment_image(const struct lm_sides *s, int nx, int ny, int along, int i, int j)
{
    struct lm_moment_image image;
    image.sign = 1;
    image.i = lm_cell_inside(s, 0, nx, along == 0, i, &image.sign);
    image.j = lm_cell_inside(s, 1, ny, along == 1, j, &image.sign);
    return image;
}

#endif
