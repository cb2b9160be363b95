/* Energies in a cell, and sums over the grid in fixed point, which do not depend on the order of the cells. */
#ifndef LARMOR_PHYSICS_FIELDS_GRID_SUMS_H
#define LARMOR_PHYSICS_FIELDS_GRID_SUMS_H

#include "larmor/physics/fields/closure.h"
#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/numerics/bounds.h"

/* Thermal energy of the electrons in a cell, in a unit area; 0 in a body. `entropy` stands on the cell where the
 * pressure is evolved, of which `volume` is open; else it is NULL, and the energy follows from the density. */
LM_HD double lm_electron_energy_in_cell(int solid, const double *entropy, double volume, const double *density,
                                        const struct lm_ohm *o)
{
    if (solid)
        return 0.0;
    if (entropy)
        return lm_pressure_of(*entropy, o->gamma) / (o->gamma - 1.0) * volume;
    return lm_electron_energy(*density, o);
}

/* A sum over so many cells counts in units of 2^-exponent; `largest`: lm_size_bits of the largest term. */
LM_HD int lm_grid_sum_exponent(double cells, uint64_t largest)
{
    return lm_sum_exponent(cells, lm_speed_exponent(lm_from_bits(largest)));
}

/* A term of the sum, in these units; scale = 2^exponent. */
LM_HD int64_t lm_grid_sum_term(double v, double scale)
{
    return lm_round64(v * scale);
}

#endif
