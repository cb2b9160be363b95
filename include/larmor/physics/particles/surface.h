/* What particles can meet, what it does to them, and what is kept of those it takes; independent of their precision. */
#ifndef LARMOR_PHYSICS_PARTICLES_SURFACE_H
#define LARMOR_PHYSICS_PARTICLES_SURFACE_H

#include "larmor/ledger.h"
#include "larmor/physics/numerics/rng.h"

/* For one species in one step. */
struct lm_surfaces {
    int of[LM_SURFACES];         /* enum lm_boundary of the sides, then of the bodies */
    double thermal[LM_SURFACES]; /* thermal speed of what a LM_THERMAL surface re-emits, v_A */
    const uint8_t *body;         /* [cells_y][cells_x]: k + 1 in body k; NULL without bodies */
    const uint8_t *beside;       /* likewise: 1 where it or one of the eight cells around is a body's */
    double cells_x, cells_y;     /* crossed in the step by a unit of velocity */
    uint64_t key;                /* of the step's random numbers */
    int species;
};

LM_HD int lm_is_open(const struct lm_surfaces *s)
{
    return s->of[LM_X_MIN] != LM_PERIODIC || s->of[LM_Y_MIN] != LM_PERIODIC || s->body;
}

/* Key of a step's random numbers. */
LM_HD uint64_t lm_step_key(uint64_t seed, int64_t step)
{
    uint64_t z = seed ^ ((uint64_t)step + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* The plasma beyond one cell of a side, along its inward normal and two tangents: y, z for sides in x; x, z for those
 * in y. Given the normal velocity the tangential ones are normal, with means that depend on it. */
struct lm_inflow_cell {
    double rate;      /* particles expected in a step */
    double drift[3];  /* v_A */
    double thermal;   /* of the normal velocity */
    double slope[2];  /* of the tangential means over the normal velocity */
    double spread[3]; /* first tangent; second one: along with the first, and on its own */
};

/* --- the ledger --- */

/* Factors that make fixed point of velocities and their squares: 2^exponent (struct lm_pass). */
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

/* --- maps: where, under which angle and how fast particles hit --- */

/* A hit: the surface, its face and the velocity there. Faces of a side are its cells; those of bodies are numbered
 * 4 cell + direction, with cell = j cells_x + i inside the body and direction the side of that cell (enum lm_side). */
struct lm_hit {
    int surface;
    uint32_t face;
    double normal2, speed2; /* squares of the velocity's part into the surface, and of all of it */
};

/* Bins of all maps, and the faces in their order: sides that are not periodic, then bodies. */
struct lm_map_bins {
    int angles, energies;            /* angles = 0: no maps */
    const double *cos2;              /* [angles]: squares of the cosines above which a bin ends, falling; last: 0 */
    const double *energy;            /* [energies + 1]: energies between the bins, rising */
    uint32_t first[LM_SURFACES + 1]; /* of each surface's faces in the list of all */
    const uint32_t *faces;           /* [first[LM_SURFACES]]: rising within a body */
};

/* One bin lies below the lowest energy and one above the highest. */
LM_HD uint32_t lm_map_energies(const struct lm_map_bins *b)
{
    return (uint32_t)b->energies + 2;
}

/* Counters in the maps of a species: [face][angle][energy]. */
LM_HD uint64_t lm_map_size(const struct lm_map_bins *b)
{
    return b->angles > 0 ? (uint64_t)b->first[LM_SURFACES] * (uint32_t)b->angles * lm_map_energies(b) : 0;
}

/* The counter of a hit by an ion of a mass. */
LM_HD uint64_t lm_map_bin(const struct lm_map_bins *b, const struct lm_hit *hit, double mass)
{
    uint32_t low = b->first[hit->surface], high = b->first[hit->surface + 1];
    if (hit->surface < LM_SIDES) {
        low += hit->face;
    } else {
        while (high - low > 1) {
            uint32_t middle = (low + high) / 2;
            if (b->faces[middle] <= hit->face)
                low = middle;
            else
                high = middle;
        }
    }
    int angle = 0, energy = 0;
    while (angle < b->angles - 1 && hit->normal2 < b->cos2[angle] * hit->speed2)
        angle++;
    while (energy <= b->energies && 0.5 * mass * hit->speed2 >= b->energy[energy])
        energy++;
    return ((uint64_t)low * (uint32_t)b->angles + (uint32_t)angle) * lm_map_energies(b) + (uint32_t)energy;
}

#endif
