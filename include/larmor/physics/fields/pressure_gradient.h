/* The part of E that the gradient of the electron pressure makes, -grad p / n, on the faces. It has no z component.
 *
 * Where p follows from n, grad p / n = grad h with the enthalpy h of an electron for a unit of charge (closure.h). The
 * difference of h between two cells has no curl but for round-off, so that B does not feel it. As h is the derivative
 * of the energy of the electrons, the ions get what the electrons lose when n changes.
 *
 * An evolved p has a curl where p and n have gradients in different directions: the battery of Biermann (1950, Z.
 * Naturforsch. A 5, 65). In Faraday's law the difference of p is divided by a mean of the densities of both cells, of
 * the family of Stolarsky (1975, Math. Mag. 48, 87), for which -grad p / n is a difference of h where p / n^gamma is
 * the same in both.
 *
 * The ions take the E of a p that follows from n from the faces (push.h): so they get what the electrons lose. An
 * evolved p lags behind the noise of n, and from the faces this lag would slow a drift. Its E is averaged to the
 * centres (ohm.h), where the ions deposit n, and is divided by the mean of n in both cells: the force on all ions of a
 * periodic box is then the sum of the differences of p, which is 0. The heat of mixing closes the energy
 * (larmor/physics/fluid/mixing_heat.h).
 *
 * This E turns no B on surfaces of bodies and on walls. There B turns by the difference of E before and behind the
 * surface, and the E of the pressure goes on in the sheath before it: the sheath has the potential that h has in the
 * plasma. Else the noise of p along a surface would make B there, and in the smaller cells the more.
 */
#ifndef LARMOR_PHYSICS_FIELDS_PRESSURE_GRADIENT_H
#define LARMOR_PHYSICS_FIELDS_PRESSURE_GRADIENT_H

#include "larmor/physics/fields/closure.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/numerics/operators.h"

/* Whether the pressure gives the ions or B anything. */
LM_HD int lm_has_pressure(const struct lm_ohm *o)
{
    return o->evolved || o->temperature != 0.0;
}

/* Whether the ions take the E of the pressure from the faces, and not at the centres. */
LM_HD int lm_has_pressure_on_faces(const struct lm_ohm *o)
{
    return !o->evolved && o->temperature != 0.0;
}

/* What the field between two cells needs of each of them where gamma > 1: h; or n^(gamma - 1) where p is evolved, for
 * lm_mean_density. A density n below `least` counts as `least`. */
LM_HD double lm_pressure_potential(double n, double least, const struct lm_ohm *o)
{
    const double counted = lm_max(n, least);
    return o->evolved ? lm_pow(counted, o->gamma - 1.0) : lm_enthalpy(counted, o);
}

/* (gamma - 1) / gamma (b^gamma - a^gamma) / (b^(gamma - 1) - a^(gamma - 1)) of densities a and b > 0, with their powers
 * gamma - 1; by a series where a and b are nearly equal. Between a and b. */
LM_HD double lm_mean_density(double a, double b, double power_a, double power_b, double gamma)
{
    const double mean = 0.5 * (a + b), half = 0.5 * (b - a), d = half * half / (mean * mean);
    const double g1 = gamma - 1.0, g2 = gamma - 2.0, g3 = gamma - 3.0, g4 = gamma - 4.0, g5 = gamma - 5.0;
    if (d < 4e-4)
        return mean * ((1.0 + d * (g1 * g2 / 6.0 + d * (g1 * g2 * g3 * g4 / 120.0))) /
                       (1.0 + d * (g2 * g3 / 6.0 + d * (g2 * g3 * g4 * g5 / 120.0))));
    return g1 / gamma * ((b * power_b - a * power_a) / (power_b - power_a));
}

/* The mean of two densities that divides an evolved pressure's force on the ions. */
LM_HD double lm_push_density(double a, double b, double least)
{
    return lm_mean(lm_max(a, least), lm_max(b, least));
}

/* -grad p / n along an axis as the ions feel it, on the face between the cell where the arrays stand and the next one,
 * s further; r = 1/dx or 1/dy. h, read where gamma > 1 and p is not evolved: lm_pressure_potential of n and `least`. p
 * is read where it is evolved. */
LM_HD double lm_pressure_field(const double *h, const double *p, const double *n, double least, int s, double r,
                               const struct lm_ohm *o)
{
    if (o->evolved)
        return lm_drop_up(p, s, r) / lm_push_density(n[0], n[s], least);
    return o->gamma == 1.0 ? o->temperature * lm_log_ratio(lm_max(n[0], least), lm_max(n[s], least)) * r
                           : lm_drop_up(h, s, r);
}

/* The same of an evolved p in Faraday's law; h: lm_pressure_potential of n and `least`. */
LM_HD double lm_battery_field(const double *h, const double *p, const double *n, double least, int s, double r,
                              const struct lm_ohm *o)
{
    return lm_drop_up(p, s, r) / lm_mean_density(lm_max(n[0], least), lm_max(n[s], least), h[0], h[s], o->gamma);
}

/* Whether the pressure turns B_z on the upper corner of cell (i, j): not on walls, and not where one of the four cells
 * is in a body. `clearance` is that of all cells, element 0 of the array (lm_stencil_clearance). */
LM_HD int lm_has_battery(const uint8_t *clearance, const struct lm_sides *sides, int nx, int ny, int stride, int i,
                         int j)
{
    if ((lm_has_walls(sides, 0) && (i == -1 || i == nx - 1)) || (lm_has_walls(sides, 1) && (j == -1 || j == ny - 1)))
        return 0;
    int sign = 1, free = 1;
    for (int of = 0; of < 4; of++) {
        const int x = lm_cell_inside(sides, 0, nx, 0, i + of % 2, &sign),
                  y = lm_cell_inside(sides, 1, ny, 0, j + of / 2, &sign);
        free = free && clearance[(long)(y + LM_GHOST) * stride + (x + LM_GHOST)] != 0;
    }
    return free;
}

/* The rate of B_z on the corner of a cell that follows from -grad p / n on x-faces and y-faces. */
LM_HD double lm_battery(const double *x, const double *y, int s, double inv_dx, double inv_dy)
{
    return lm_diff_up(x, s, inv_dy) - lm_diff_up(y, 1, inv_dx);
}

#endif
