/* Surfaces (sides and bodies) as particles see them, and tallies of the particles that have left. Independent of the
 * precision of the particles. */
#ifndef LARMOR_PHYSICS_PARTICLES_SURFACE_H
#define LARMOR_PHYSICS_PARTICLES_SURFACE_H

#include "larmor/body.h"
#include "larmor/ledger.h"
#include "larmor/place.h"
#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/particles/hit_map.h"

/* The surfaces for one species in one step. */
struct lm_surfaces {
    int of[LM_SURFACES];           /* enum lm_boundary of the sides, then of the bodies */
    double thermal[LM_SURFACES];   /* thermal speed of particles that a LM_THERMAL surface re-emits, v_A */
    const uint8_t *body;           /* [cells_y][cells_x]: lm_obstacles.of; NULL without bodies */
    const struct lm_body_cut *cut; /* the same: of cut cells */
    const uint8_t *near_body;      /* the same: 1 where the cell or one of its eight neighbours meets a body */
    double cells_x, cells_y;       /* cells that a unit of velocity crosses in the step */
    uint64_t key;                  /* of the random numbers of the step */
    int species;
    struct lm_place place; /* of the arrays in the domain */
};

/* Key of the random numbers of a step. */
LM_HD uint64_t lm_step_key(uint64_t seed, int64_t step)
{
    uint64_t z = seed ^ ((uint64_t)step + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* --- the ledger --- */

/* Factors from velocities and their squares to fixed point: 2^exponent (struct lm_pass). */
struct lm_tally_units {
    double v, v2;
};

LM_HD struct lm_tally lm_tally_of(const struct lm_tally_units *units, double u, double v, double w)
{
    struct lm_tally t;
    t.number = 1;
    t.v[0] = lm_round64(u * units->v);
    t.v[1] = lm_round64(v * units->v);
    t.v[2] = lm_round64(w * units->v);
    t.v2 = lm_round64((u * u + v * v + w * w) * units->v2);
    return t;
}

LM_HD void lm_tally_add(struct lm_tally *to, const struct lm_tally *t)
{
    to->number += t->number;
    for (int d = 0; d < 3; d++)
        to->v[d] += t->v[d];
    to->v2 += t->v2;
}

#endif
