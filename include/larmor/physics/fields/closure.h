/* The closure of the electron fluid: the density floor, and the pressure and energy that follow from the density.
 * An evolved pressure is in larmor/physics/fluid/electrons.h. */
#ifndef LARMOR_PHYSICS_FIELDS_CLOSURE_H
#define LARMOR_PHYSICS_FIELDS_CLOSURE_H

#include "larmor/physics/fields/ohm_terms.h"
#include "larmor/physics/numerics/elementary.h"

/* A quantity half way between two time levels. */
LM_HD double lm_mean(double a, double b)
{
    return 0.5 * a + 0.5 * b;
}

LM_HD double lm_floored(double n, const struct lm_ohm *o)
{
    return lm_max(n, o->floor);
}

/* The electrons have pressure below the density floor, too: it gives the ions of a thin plasma what the electrons lose
 * as these ions spread. Densities below this share of the floor count as this share. */
#define LM_LEAST_PRESSURE_SHARE 0.02

/* The same of an evolved pressure, which the ions carry there (larmor/physics/fluid/flow.h). A particle may pass
 * through a cell within a step without being there at the beginning or at the end of it: with a smaller share its
 * velocity would be too large. */
#define LM_LEAST_ENTROPY_SHARE 0.1

/* The smallest density by which the force of the pressure on the ions is divided. The velocity of the ions that carries
 * an evolved pressure is divided by the same. */
LM_HD double lm_least_push_density(const struct lm_ohm *o)
{
    return (o->evolved ? LM_LEAST_ENTROPY_SHARE : LM_LEAST_PRESSURE_SHARE) * o->floor;
}

/* p_e = T n^gamma of a floored density. */
LM_HD double lm_pressure(double floored, const struct lm_ohm *o)
{
    return o->temperature * (o->gamma == 1.0 ? floored : lm_pow(floored, o->gamma));
}

/* The enthalpy of an electron for a unit of charge, of a floored density: the derivative of the energy
 * (lm_electron_energy). */
LM_HD double lm_enthalpy(double floored, const struct lm_ohm *o)
{
    if (o->gamma == 1.0)
        return o->temperature * (lm_log(floored) + 1.0);
    return o->gamma / (o->gamma - 1.0) * (o->temperature * lm_pow(floored, o->gamma - 1.0));
}

/* Thermal energy of the electrons in a unit area: p / (gamma - 1); for isothermal electrons T n ln n, the part that
 * work can change. Below the least density of the push, where no work is done on them, it goes on as a straight line.
 */
LM_HD double lm_electron_energy(double n, const struct lm_ohm *o)
{
    const double least = lm_least_push_density(o), counted = lm_max(n, least);
    double energy;
    if (o->temperature == 0.0)
        return 0.0;
    energy = o->gamma == 1.0 ? o->temperature * counted * lm_log(counted) : lm_pressure(counted, o) / (o->gamma - 1.0);
    return n < least ? energy - (least - n) * lm_enthalpy(counted, o) : energy;
}

/* The floored density half way between two time levels (the same twice: of that level). */
LM_HD double lm_floored_mean(double n, double other, const struct lm_ohm *o)
{
    return lm_floored(lm_mean(n, other), o);
}

#endif
