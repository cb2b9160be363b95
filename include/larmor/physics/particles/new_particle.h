/* The first step of a new particle, which has entered through a side or has been born: it moves during the rest of the
 * step, without a push. */
#ifndef LARMOR_PHYSICS_PARTICLES_NEW_PARTICLE_H
#define LARMOR_PHYSICS_PARTICLES_NEW_PARTICLE_H

#include "larmor/physics/particles/flight.h"
#include "larmor/physics/particles/push.h"

/* Moves along the velocity during `part` of the step. */
LM_HD void lm_move_partial(struct lm_flight *f, const struct lm_surfaces *s, const struct lm_tiling *t, double part)
{
    const uint64_t identity = lm_flight_identity(f, s);
    const lm_fix dx = (lm_fix)lm_round64((double)f->vx * s->cells_x * part * (double)LM_ONE);
    const lm_fix dy = (lm_fix)lm_round64((double)f->vy * s->cells_y * part * (double)LM_ONE);
    lm_move_with_surfaces(f, s, t, dx, dy, part, identity);
}

/* Where a particle that starts at `start` with `part` of the step left is half way through the step. Returns 0, and
 * leaves *mid as it is, if the particle starts later: then it deposits no current. */
LM_HD int lm_new_half_way(struct lm_flight *mid, const struct lm_flight *start, const struct lm_surfaces *s,
                          const struct lm_tiling *t, double part)
{
    if (!(part > 0.5))
        return 0;
    *mid = *start;
    lm_move_partial(mid, s, t, part - 0.5);
    return 1;
}

/* The particle at the end of its flight, relative to the tile it is in; *home: the number of this tile. */
LM_HD struct lm_particle lm_new_particle(const struct lm_flight *f, const struct lm_tiling *t, uint32_t *home)
{
    const struct lm_particle p = {(lm_fix)(f->i % t->size) * LM_ONE + f->x, (lm_fix)(f->j % t->size) * LM_ONE + f->y,
                                  f->vx, f->vy, f->vz};
    *home = (uint32_t)(f->j / t->size * t->nx + f->i / t->size);
    return p;
}

#endif
