/* 1 - exp(-x) for x >= 0, without the cancellation at small x: there, the first two terms of its Taylor series. */
#ifndef LARMOR_PHYSICS_NUMERICS_ONE_MINUS_EXP_H
#define LARMOR_PHYSICS_NUMERICS_ONE_MINUS_EXP_H

#include "larmor/physics/numerics/elementary.h"

/* To single precision. */
LM_HD float lm_one_minus_expf(float x)
{
    return x < 1e-4f ? x * (1.0f - 0.5f * x) : (float)(1.0 - lm_exp(-(double)x));
}

/* To about 2e-11 of itself, largest at x = 1e-5. */
LM_HD double lm_one_minus_exp(double x)
{
    return x < 1e-5 ? x * (1.0 - 0.5 * x) : 1.0 - lm_exp(-x);
}

#endif
