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

#include "larmor/physics/numerics/portable.h"

/* A step in which B adds to the mean. The first one is a whole step of an even number of substeps, of which the second
 * half counts; the next one is the forecast, with half as many. */
enum lm_b_mean { LM_NO_MEAN, LM_MEAN_BEGINS, LM_MEAN_ENDS };

/* The weight of B after substep 0, ..., substeps - 1, by the trapezoidal rule; 0: it does not count. */
LM_HD double lm_mean_weight(enum lm_b_mean mean, int substep, int substeps)
{
    if (mean == LM_NO_MEAN || (mean == LM_MEAN_BEGINS && substep + 1 < substeps / 2))
        return 0.0;
    const double whole = mean == LM_MEAN_BEGINS ? 1.0 / substeps : 0.5 / substeps;
    const int is_end = mean == LM_MEAN_BEGINS ? substep + 1 == substeps / 2 : substep + 1 == substeps;
    return is_end ? 0.5 * whole : whole;
}

/* The mean with B added. `is_first`: what `mean` was before does not count. */
LM_HD double lm_add_to_mean(int is_first, double mean, double weight, double b)
{
    return is_first ? weight * b : mean + weight * b;
}

/* Whether the value after this substep is the first one of the mean. */
LM_HD int lm_mean_is_new(enum lm_b_mean mean, int substep, int substeps)
{
    return mean == LM_MEAN_BEGINS && substep + 1 == substeps / 2;
}

#endif
