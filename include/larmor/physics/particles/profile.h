/* The profiles from which a species is loaded, and the sets of a quiet start. Independent of the precision of the
 * particles. */
#ifndef LARMOR_PHYSICS_PARTICLES_PROFILE_H
#define LARMOR_PHYSICS_PARTICLES_PROFILE_H

#include "larmor/particles.h"
#include "larmor/physics/numerics/rng.h"

/* What is given at the centres of the cells: one number for all, or an array with ghosts (larmor/grid.h), standing on
 * the first array element. */
struct lm_given {
    const double *array;
    double everywhere; /* where `array` is NULL */
};

LM_HD double lm_given_at(const struct lm_given *a, size_t k)
{
    return a->array ? a->array[k] : a->everywhere;
}

/* Profiles of a species. */
struct lm_profile {
    struct lm_given density, drift[3];
    struct lm_given temperature[3]; /* T/m: squares of the thermal speeds */
    const double *b[3];             /* direction of B at centres, for field-aligned temperatures; else NULL */
    const double *quiet_scale;      /* [3 (n - quiet_low)]: factors for a set of n particles */
    int quiet_low, quiet_high;
    double particles_per_cell;
    int start; /* enum lm_start */
    uint64_t seed;
    int species;
    uint32_t nx; /* cells of the domain along x */
};

LM_HD double lm_fraction(double x)
{
    return x - (double)(int64_t)x;
}

/* Number r of n in a quiet set: thermal velocity in units of the thermal speed (not yet scaled), place in the cell in
 * [0, 1). */
LM_HD void lm_quiet_point(uint32_t r, uint32_t n, double v[3], double place[2])
{
    uint32_t pair = r / 2, pairs = (n + 1) / 2;
    double h = (double)(pair + 1);
    place[0] = lm_fraction(0.5 + h * 0.8566748838545029);
    place[1] = lm_fraction(0.5 + h * 0.7338918566271260);
    if (r == n - 1 && (n & 1u)) { /* a single one is at rest */
        v[0] = v[1] = v[2] = 0.0;
        return;
    }
    double sign = r & 1u ? -1.0 : 1.0;
    v[0] = sign * lm_normal(0.5 + 0.5 * ((double)pair + 0.5) / (double)pairs);
    v[1] = sign * lm_normal(lm_fraction(0.5 + h * 0.6287067210378087));
    v[2] = sign * lm_normal(lm_fraction(0.5 + h * 0.5385972572236101));
}

#endif
