/* An ion exchanges heat with the electrons in its cell: larmor/physics/collisions/ion_electron_heating.h. */
#ifndef LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_PARTICLE_H
#define LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_PARTICLE_H

#include "larmor/physics/collisions/collide_particle.h"
#include "larmor/physics/collisions/ion_electron_heating.h"
#include "larmor/physics/particles/tile.h"

/* Number j nx + i of the cell of the domain that a particle of a tile is in. */
LM_HD uint32_t lm_cell_of(const struct lm_tiling *t, int tile, lm_fix x, lm_fix y)
{
    const int64_t gx = lm_global(x, tile % t->nx, t->size, t->cells_x);
    const int64_t gy = lm_global(y, tile / t->nx, t->size, t->cells_y);
    return (uint32_t)(gy >> LM_FRACTION_BITS) * (uint32_t)t->cells_x + (uint32_t)(gx >> LM_FRACTION_BITS);
}

/* The normal numbers of an ion in that cell. */
LM_HD void lm_exchange_noise(const struct lm_exchange *e, uint32_t cell, const struct lm_particle *p, float n[4])
{
    uint32_t r[4];
    const uint64_t identity = lm_identity(cell, p);
    lm_random_pair(e->keys[0], identity, r);
    lm_random_pair(e->keys[1], identity, r + 2);
    lm_normal_pair(r[0], r[1], n);
    lm_normal_pair(r[2], r[3], n + 2);
}

/* What it adds to the sums of its cell before LM_SUM_ENERGY: numbers of at most 34 bits and a sign. */
LM_HD void lm_exchange_parts(const struct lm_exchange *e, uint32_t cell, const struct lm_particle *p,
                             int64_t part[LM_SUM_ENERGY])
{
    const double v[3] = {(double)p->vx, (double)p->vy, (double)p->vz};
    float n[4];
    lm_exchange_noise(e, cell, p, n);
    part[LM_SUM_NUMBER] = 1;
    for (int d = 0; d < 3; d++) {
        part[LM_SUM_VELOCITY + d] = lm_round51_of(v[d], e->unit);
        part[LM_SUM_NOISE + d] = lm_round51_of((double)n[d], LM_NOISE_UNIT);
    }
}

/* p, in that cell, with its new velocity. The change is found in single precision. */
LM_HD struct lm_particle lm_exchange_heat(const struct lm_exchange *e, const struct lm_bath *b, uint32_t cell,
                                          const struct lm_particle *p)
{
    struct lm_particle after = *p;
    lm_real v[3] = {p->vx, p->vy, p->vz};
    float n[4];
    lm_exchange_noise(e, cell, p, n);
    for (int d = 0; d < 3; d++) {
        const float w = (float)(v[d] - (lm_real)b->u[d]);
        v[d] += (lm_real)lm_fmaf(-b->lost, w, b->thermal * (n[d] - b->noise[d]));
    }
    after.vx = v[0];
    after.vy = v[1];
    after.vz = v[2];
    return after;
}

/* What electrons get of it. */
LM_HD struct lm_tally lm_to_electrons(const struct lm_tally_units *units, const struct lm_particle *p,
                                      const struct lm_particle *after)
{
    const double old[3] = {(double)p->vx, (double)p->vy, (double)p->vz};
    const double now[3] = {(double)after->vx, (double)after->vy, (double)after->vz};
    return lm_tally_of_loss(units, old, now);
}

#endif
