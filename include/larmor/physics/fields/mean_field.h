/* The magnetic field that ions feel where whistlers turn within a step.
 *
 * The fields take substeps and the ions do not. A whistler of a few cells may turn several times in a step. An ion that
 * felt it at whole steps only would feel a field at rest or one that turns slowly, and would give it energy that it
 * does not lose again. In the substeps the whistler feels the ions all the time: their current stays for a whole step.
 * So what the ions feel has to be a mean over a step, too, around n + 1: from n + 1/2 to n + 3/2. The second half of it
 * is a forecast: after B^{n+1} is known, B goes on for half a step with the ion current extrapolated to n + 1, and
 * returns. The mean is of second order, as the mean of a smooth field over a step is.
 *
 * Particle codes that take substeps of particles average the currents in the same way (orbit averaging: Cohen, Brengle,
 * Conley and Freis 1980, J. Comput. Phys. 38, 45). Measured: docs/physics/accuracy.md, "Short whistlers".
 */
#ifndef LARMOR_PHYSICS_FIELDS_MEAN_FIELD_H
#define LARMOR_PHYSICS_FIELDS_MEAN_FIELD_H

#include "larmor/physics/fields/void.h"

/* A step in which B adds to the mean. The first one is a whole step, of which the second half counts; the next one is
 * the forecast. */
enum lm_b_mean { LM_NO_MEAN, LM_MEAN_BEGINS, LM_MEAN_ENDS };

/* The largest product of frequency and substep in the forecast, if fields.substep_safety has the value `safety`. As
 * nothing but its mean stays, the substeps may be longer than those of the step. */
LM_HD double lm_forecast_safety(double safety)
{
    return lm_min(1.25 * safety, LM_LARGEST_TURN);
}

/* The weight of B after substep 0, ..., substeps - 1 by the trapezoidal rule, in units of a step; 0: it does not count.
 * `forecast`: the number of substeps of the forecast, which is `substeps` in the forecast itself. A step with a mean
 * has at least two substeps, because the fastest whistler turns by more than LM_LARGEST_TURN in it. Where their number
 * is odd, B in the middle of the step is halfway between two of these values. */
LM_HD double lm_mean_weight(enum lm_b_mean mean, int substep, int substeps, int forecast)
{
    const double of_step = 1.0 / substeps, of_forecast = 0.5 / forecast;
    const int done = substep + 1;
    double weight;
    if (mean == LM_NO_MEAN || (mean == LM_MEAN_BEGINS && done < substeps / 2))
        return 0.0;
    if (mean == LM_MEAN_ENDS)
        return done == substeps ? 0.5 * of_forecast : of_forecast;
    if (done == substeps / 2)
        return substeps % 2 ? 0.125 * of_step : 0.5 * of_step;
    weight = done == substeps ? 0.5 * of_step + 0.5 * of_forecast : of_step;
    return substeps % 2 && done == substeps / 2 + 1 ? weight - 0.125 * of_step : weight;
}

/* The part of the mean that a value of B is. The mean is the sum of the parts, each added as it is known. */
LM_HD double lm_part_of_mean(double weight, double b)
{
    return weight * b;
}

/* Whether the value after this substep is the first one of the mean. */
LM_HD int lm_mean_is_new(enum lm_b_mean mean, int substep, int substeps)
{
    return mean == LM_MEAN_BEGINS && substep + 1 == substeps / 2;
}

#endif
