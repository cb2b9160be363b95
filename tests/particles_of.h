/* The particles of a simulation, read from the backend. */
#ifndef LARMOR_TESTS_PARTICLES_OF_H
#define LARMOR_TESTS_PARTICLES_OF_H

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define LM_PRECISION 64
#include "larmor/physics/particles/real.h"
#include "inside.h"

/* All particles of a species, as they are at the end of a step; double precision only. */
struct particles {
    uint64_t count;
    struct lm_raw_particles raw;
};

static inline struct particles particles_of(struct lm_sim *sim, int species)
{
    struct particles p = {sim->count[species], {0}};
    const size_t size = (p.count + 1) * sizeof(double);
    ck_assert_int_eq(lm_sim_compact(sim), LM_OK);
    p.raw = (struct lm_raw_particles){malloc(size), malloc(size), malloc(size), malloc(size), malloc(size)};
    ck_assert_int_eq(sim->backend->particles->get(sim->backend, species, 0, p.count, p.raw), LM_OK);
    return p;
}

static inline void particles_free(struct particles *p)
{
    free(p->raw.x);
    free(p->raw.y);
    free(p->raw.vx);
    free(p->raw.vy);
    free(p->raw.vz);
}

/* The coordinate of particle k in cells. */
static inline double place(const int64_t *at, uint64_t k)
{
    return ldexp((double)at[k], -LM_FRACTION_BITS);
}

/* A component of the velocity of particle k, in double precision. */
static inline double velocity(const void *of, uint64_t k)
{
    return ((const double *)of)[k];
}

#endif
