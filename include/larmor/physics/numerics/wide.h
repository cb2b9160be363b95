/* Exact sums of whole numbers that exceed 64 bits. */
#ifndef LARMOR_PHYSICS_NUMERICS_WIDE_H
#define LARMOR_PHYSICS_NUMERICS_WIDE_H

#include "larmor/physics/numerics/portable.h"

/* The value of a sum is high 2^24 + low. Sums of such pairs are again such pairs, in any order. */
enum { LM_WIDE_BITS = 24 };
struct lm_wide {
    int64_t high, low;
};

/* Adds a whole number. */
LM_HD void lm_wide_add(struct lm_wide *to, double whole)
{
    const int64_t k = (int64_t)whole;
    to->high += k >> LM_WIDE_BITS;
    to->low += k & ((1 << LM_WIDE_BITS) - 1);
}

/* Adds another sum. */
LM_HD void lm_wide_merge(struct lm_wide *to, const struct lm_wide *from)
{
    to->high += from->high;
    to->low += from->low;
}

/* Adds a whole number; NaN counts as 0. */
LM_HD void lm_wide_add_sound(struct lm_wide *to, double whole)
{
    lm_wide_add(to, whole == whole ? whole : 0.0);
}

/* Sums of real numbers: a sum counts in units of 2^-LM_WIDE_REAL, towards 0. What is beyond 2^27 counts as that, so
 * that 2^16 terms fit, and NaN counts as 0. */
enum { LM_WIDE_REAL = 44 };
LM_HD void lm_wide_add_real(struct lm_wide *to, double v)
{
    const double sound = v == v ? lm_max(-134217728.0, lm_min(v, 134217728.0)) : 0.0,
                 scaled = sound * (double)(1 << (LM_WIDE_REAL - LM_WIDE_BITS));
    const int64_t high = (int64_t)scaled;
    to->high += high;
    to->low += (int64_t)((scaled - (double)high) * (double)(1 << LM_WIDE_BITS));
}

#endif
