/* The direct path of strays: a particle too far from its home tile gathers from the whole grid and is deposited on it.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_STRAY_H
#define LARMOR_PHYSICS_PARTICLES_STRAY_H

#include "larmor/grid.h"
#include "larmor/physics/collisions/collide_particle.h"
#include "larmor/physics/particles/flight.h"
#include "larmor/physics/particles/tile.h"

/* The particle's cell in the arrays, its position within it, and the fields around it. */
struct lm_stray {
    int i, j;
    struct lm_particle p; /* position within the cell: [0, 1) */
    lm_real patch[LM_WINDOW_FIELDS * LM_PATCH * LM_PATCH];
};

LM_HD long lm_stray_corner(const struct lm_stray *s, int stride)
{
    return (long)(s->j + LM_GHOST - LM_PATCH_LOW) * stride + (s->i + LM_GHOST - LM_PATCH_LOW);
}

/* Finds the cell and copies the fields around it, as in struct lm_window. `field`: the components, grid arrays with
 * ghost cells (larmor/grid.h), from their first element. `order`: of the shape. */
LM_HD void lm_stray_at(int order, struct lm_stray *s, const struct lm_tiling *t, int tile, const struct lm_particle *p,
                       const double *const *field, int stride)
{
    int64_t x = lm_global(p->x, tile % t->nx, t->size, t->cells_x);
    int64_t y = lm_global(p->y, tile / t->nx, t->size, t->cells_y);
    s->i = (int)(x >> LM_FRACTION_BITS);
    s->j = (int)(y >> LM_FRACTION_BITS);
    s->p = *p;
    s->p.x = (lm_fix)(x & (LM_ONE - 1));
    s->p.y = (lm_fix)(y & (LM_ONE - 1));
    const long corner = lm_stray_corner(s, stride);
    for (int c = 0; c < LM_WINDOW_FIELDS; c++)
        for (int b = 0; b < LM_PATCH; b++)
            for (int a = 0; a < LM_PATCH; a++)
                s->patch[(c * LM_PATCH + b) * LM_PATCH + a] = (lm_real)field[c][corner + (long)b * stride + a];
    if (order == 1)
        lm_join_window(s->patch, LM_PATCH, 1, LM_PATCH * LM_PATCH);
}

LM_HD struct lm_window lm_stray_window(const struct lm_stray *s)
{
    struct lm_window w;
    w.origin = s->patch + LM_PATCH_LOW * LM_PATCH + LM_PATCH_LOW;
    w.width = LM_PATCH;
    w.area = LM_PATCH * LM_PATCH;
    return w;
}

/* The gas around it: `gas` as `field` above. */
struct lm_stray_gas {
    float density[LM_PATCH * LM_PATCH];
    lm_real velocity[2 * LM_PATCH * LM_PATCH];
};

LM_HD struct lm_gas_window lm_stray_gas(struct lm_stray_gas *to, const struct lm_stray *s,
                                        const double *const gas[LM_GAS_FIELDS], int stride)
{
    enum { ORIGIN = LM_PATCH_LOW * LM_PATCH + LM_PATCH_LOW, AREA = LM_PATCH * LM_PATCH };
    const long corner = lm_stray_corner(s, stride);
    for (int b = 0; b < LM_PATCH; b++)
        for (int a = 0; a < LM_PATCH; a++) {
            const long from = corner + (long)b * stride + a;
            const int k = b * LM_PATCH + a;
            to->density[k] = (float)gas[0][from];
            to->velocity[k] = (lm_real)gas[1][from];
            to->velocity[AREA + k] = (lm_real)gas[2][from];
        }
    const struct lm_gas_window w = {to->density + ORIGIN, to->velocity + ORIGIN, LM_PATCH, AREA};
    return w;
}

/* Where a stray deposits its current (mid) and its density (end). It deposits nothing where channel >= 0: there it has
 * left before. */
struct lm_stray_step {
    struct lm_flight mid, end;
};

/* Moves s->p, which has been pushed, by (dx, dy) among surfaces. `move`: as in struct lm_step. `open`: there are any
 * surfaces. */
LM_HD void lm_stray_move(struct lm_stray_step *out, const struct lm_stray *s, lm_fix dx, lm_fix dy, int move, int open,
                         const struct lm_surfaces *surfaces, const struct lm_tiling *t)
{
    struct lm_flight *const mid = &out->mid, *const end = &out->end;
    mid->i = end->i = s->i;
    mid->j = end->j = s->j;
    mid->x = end->x = s->p.x;
    mid->y = end->y = s->p.y;
    mid->vx = end->vx = s->p.vx;
    mid->vy = end->vy = s->p.vy;
    mid->vz = end->vz = s->p.vz;
    if (!open) {
        lm_move_periodic(mid, t, dx >> 1, dy >> 1);
        lm_move_periodic(end, t, move ? dx : 0, move ? dy : 0);
        return;
    }
    const uint64_t identity =
        lm_hash_particle(surfaces->species, (int64_t)lm_domain_x(&surfaces->place, s->i) << LM_FRACTION_BITS | s->p.x,
                         (int64_t)lm_domain_y(&surfaces->place, s->j) << LM_FRACTION_BITS | s->p.y, (double)s->p.vx,
                         (double)s->p.vy, (double)s->p.vz);
    lm_move_with_surfaces(mid, surfaces, t, dx >> 1, dy >> 1, 0.5, identity);
    if (!move && mid->channel >= 0 && surfaces->of[mid->channel] == LM_INFLOW)
        mid->channel = -1; /* as many were here half a step ago as have left since: the current is the same */
    lm_move_with_surfaces(end, surfaces, t, move ? dx : 0, move ? dy : 0, 1.0, identity);
}

/* The pass of one particle on the direct path: push, movement among surfaces. collided_in: as in lm_pass_near.
 * `window`: lm_stray_window. */
LM_HD void lm_pass_stray(int order, const struct lm_local_fields *collided_in, struct lm_stray_step *out,
                         struct lm_stray *s, const struct lm_window *window, const struct lm_step *step, int open,
                         const struct lm_surfaces *surfaces, const struct lm_tiling *t)
{
    lm_fix dx, dy;
    if (collided_in)
        lm_push_rest(&s->p, collided_in, step, &dx, &dy);
    else
        lm_push(order, &s->p, window, step, &dx, &dy);
    lm_stray_move(out, s, dx, dy, step->move, open, surfaces, t);
}

/* What is stored of it: p, as it was before, at the end of its flight, relative to the same home tile; or the mark of a
 * particle that has left. */
LM_HD struct lm_particle lm_stray_stored(const struct lm_particle *p, const struct lm_flight *end)
{
    struct lm_particle to = {LM_GONE, p->y, 0, 0, 0};
    if (end->channel < 0) {
        to.x = p->x + end->dx;
        to.y = p->y + end->dy;
        to.vx = end->vx;
        to.vy = end->vy;
        to.vz = end->vz;
    }
    return to;
}

/* |v|^2 at the end of a flight, as lm_speed2_bits gives it. */
LM_HD uint64_t lm_flight_speed2_bits(const struct lm_flight *f)
{
    const struct lm_particle p = {0, 0, f->vx, f->vy, f->vz};
    return lm_speed2_bits(&p);
}

#endif
