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
 * work can change. Below the floor, where no work is done on them, it goes on as a straight line. */
LM_HD double lm_electron_energy(double n, const struct lm_ohm *o)
{
    const double floored = lm_floored(n, o);
    double energy;
    if (o->temperature == 0.0)
        return 0.0;
    energy = o->gamma == 1.0 ? o->temperature * floored * lm_log(floored) : lm_pressure(floored, o) / (o->gamma - 1.0);
    return n < o->floor ? energy - (o->floor - n) * lm_enthalpy(floored, o) : energy;
}

/* The floored density half way between two time levels (the same twice: of that level). */
LM_HD double lm_floored_mean(double n, double other, const struct lm_ohm *o)
{
    return lm_floored(lm_mean(n, other), o);
}

#endif
