/* An ion exchanges heat with the electrons in its cell: larmor/physics/collisions/ion_electron_heating.h. */
#ifndef LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_PARTICLE_H
#define LARMOR_PHYSICS_COLLISIONS_ION_ELECTRON_HEATING_PARTICLE_H

#include "larmor/physics/collisions/collide_particle.h"
#include "larmor/physics/collisions/ion_electron_heating.h"
#include "larmor/physics/particles/tile.h"

/* The normal random numbers of an ion in cell number `cell` of the domain; the first three count. */
LM_HD void lm_exchange_noise(const struct lm_exchange *e, uint32_t cell, const struct lm_particle *p, float n[4])
{
    uint32_t r[4];
    const uint64_t identity = lm_identity(cell, p);
    lm_random_pair(e->keys[0], identity, r);
    lm_random_pair(e->keys[1], identity, r + 2);
    lm_normal_pair(r[0], r[1], n);
    lm_normal_pair(r[2], r[3], n + 2);
}

/* What an ion adds to the moments of its cell, the sums before LM_SUM_ENERGY: numbers of at most 34 bits and a sign. */
LM_HD void lm_exchange_moments(const struct lm_exchange *e, uint32_t cell, const struct lm_particle *p,
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

/* The ion p of that cell after the exchange, with its new velocity. The change is computed in single precision. */
LM_HD struct lm_particle lm_exchange_heat(const struct lm_exchange *e, const struct lm_heating_cell *b, uint32_t cell,
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

/* The momentum and energy that the electrons get from this change. */
LM_HD struct lm_tally lm_to_electrons(const struct lm_tally_units *units, const struct lm_particle *p,
                                      const struct lm_particle *after)
{
    const double old[3] = {(double)p->vx, (double)p->vy, (double)p->vz};
    const double now[3] = {(double)after->vx, (double)after->vy, (double)after->vz};
    return lm_tally_of_loss(units, old, now);
}

/* The energy that an ion requests its electrons to take. Returns 0 where there is no exchange. */
LM_HD int lm_request_energy(const struct lm_exchange *e, const struct lm_heating_cell *b, uint32_t cell,
                            const struct lm_tally_units *units, const struct lm_particle *p, int64_t *energy)
{
    if (b->kind == LM_HEATING_NONE)
        return 0;
    const struct lm_particle after = lm_exchange_heat(e, b, cell, p);
    *energy = lm_to_electrons(units, p, &after).v2;
    return 1;
}

/* Where the cell of an ion allows the exchange: *after is the ion with its new velocity, and *sum gains what the
 * electrons get. Elsewhere returns 0; an ion whose cell refuses the exchange counts in sum->number. */
LM_HD int lm_apply_exchange(const struct lm_exchange *e, const struct lm_heating_cell *b, uint32_t cell,
                            const struct lm_tally_units *units, const struct lm_particle *p, struct lm_particle *after,
                            struct lm_tally *sum)
{
    sum->number += b->kind == LM_HEATING_REFUSED;
    if (b->kind != LM_HEATING_ALLOWED)
        return 0;
    *after = lm_exchange_heat(e, b, cell, p);
    const struct lm_tally transferred = lm_to_electrons(units, p, after);
    lm_tally_add(sum, &transferred);
    return 1;
}

#endif
