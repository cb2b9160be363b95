/* Electrons whose pressure is evolved. Their entropy density s = p^(1/gamma) obeys
 *
 *     ds/dt + div(s u_e) = ((gamma - 1)/gamma) s^(1 - gamma) Q
 *
 * A flow without heat Q therefore conserves the integral of s. s is a background field that the velocity of the
 * electrons carries (larmor/physics/fluid/advect.h). This header has the relation of p and s, and what heat does to
 * them; the heat itself is in joule_heating.h, conduction.h and mixing_heat.h. The energy density is p / (gamma - 1).
 */
#ifndef LARMOR_PHYSICS_FLUID_ELECTRONS_H
#define LARMOR_PHYSICS_FLUID_ELECTRONS_H

#include "larmor/physics/fluid/conduction.h"
#include "larmor/physics/fluid/joule_heating.h"
#include "larmor/physics/numerics/wide.h"

/* --- pressure and entropy --- */

LM_HD double lm_pressure_of(double entropy, double gamma)
{
    return lm_pow(entropy, gamma);
}

LM_HD double lm_entropy_of(double pressure, double gamma)
{
    return lm_pow(pressure, 1.0 / gamma);
}

/* The entropy s after its pressure p has gained `gain`. s is multiplied by a factor: without a gain it keeps its bits,
 * and a small gain is not rounded twice. */
LM_HD double lm_entropy_with(double s, double p, double gain, double gamma)
{
    const double after = p + gain;
    if (gain == 0.0)
        return s;
    if (!(after > 0.0))
        return after == after ? 0.0 : after;
    return p > 0.0 ? s * lm_entropy_of(1.0 + gain / p, gamma) : lm_entropy_of(after, gamma);
}

/* The nearest whole number; NaN if it does not fit an integer. */
LM_HD double lm_round_whole(double v)
{
    return lm_abs(v) < 0x1p62 ? (double)lm_round64(v) : lm_nan();
}

/* The content of a cell with lm_entropy_with (`p` is the pressure of s), in whole quanta of 2^-quantum; NaN if their
 * number does not fit an integer. `volume`: what is open of the cell. */
LM_HD double lm_heated_content(double s, double p, double gain, double volume, int quantum, double gamma)
{
    const double after = lm_entropy_with(s, p, gain, gamma);
    return lm_round_whole(after * volume * lm_exp2i(quantum));
}

/* Heat is summed up in units of 2^-exponent. With this exponent 2^LM_QUANTA_BITS quanta of s are, as a pressure, at
 * most 2^60 units. */
LM_HD int lm_heat_exponent(int quantum, double gamma)
{
    const double bits = gamma * (LM_QUANTA_BITS - quantum), whole = lm_trunc(bits);
    const int exponent = 60 - (int)(whole < bits ? whole + 1.0 : whole);
    return exponent < 1000 ? exponent : 1000;
}

/* --- heat of a cell --- */

/* What the pressure p of a cell gains in a time dt: from conduction and Joule heat together if its pressure after them
 * is given, else (`after` NULL) from Joule heat alone. */
LM_HD double lm_pressure_gain(double p, const double *after, double heat, double dt, double gamma)
{
    return after ? *after - p : (gamma - 1.0) * heat * dt;
}

/* The entropy of a cell after its pressure p, that of s, has gained `gain`. Adds the quanta of the change of its
 * content to *source. `volume`: what is open of the cell. */
LM_HD double lm_heat_cell(double s, double p, double gain, double volume, int quantum, double gamma,
                          struct lm_wide *source)
{
    const double after = lm_heated_content(s, p, gain, volume, quantum, gamma), unit = lm_exp2i(-quantum);
    const double before = (volume == 1.0 ? s : lm_content(s, volume, unit)) * lm_exp2i(quantum);
    lm_wide_add_sound(source, after - before);
    return volume == 1.0 ? after * unit : after * unit / volume;
}

/* Adds the Joule heat of a cell in a time dt to a sum in units of 2^-exponent (lm_heat_exponent). */
LM_HD void lm_count_heat(struct lm_wide *sum, double heat, double volume, double dt, int exponent)
{
    lm_wide_add_sound(sum, lm_round_whole(heat * volume * dt * lm_exp2i(exponent)));
}

/* Bits that order like densities, of the density of a cell that conducts heat; all bits set where none does. */
LM_HD uint64_t lm_conducting_density_bits(double n, uint8_t clearance, double floor)
{
    return clearance && n > floor ? lm_bits(n) : ~(uint64_t)0;
}

/* The cell of the domain whose values cell (i, j) has, where that lies beyond the sides: the periodic image, or the
 * mirror image. */
LM_HD void lm_image_cell(const struct lm_sides *sides, int nx, int ny, int *i, int *j)
{
    int sign = 1;
    *i = lm_cell_inside(sides, 0, nx, 0, *i, &sign);
    *j = lm_cell_inside(sides, 1, ny, 0, *j, &sign);
}

#endif
