/* The step of an ion that a run follows (larmor/track.h): collisions, push, movement among surfaces. The parts are
 * those of the pass, on the direct path (stray.h), so the ion moves as the particle does whose copy it is. It leaves no
 * trace in any sum. */
#ifndef LARMOR_PHYSICS_PARTICLES_FOLLOW_H
#define LARMOR_PHYSICS_PARTICLES_FOLLOW_H

#include "larmor/physics/particles/stray.h"
#include "larmor/track.h"

/* What surrounds the ions, and the step that they take. Arrays begin at their first element, with ghost cells. */
struct lm_follow {
    const double *field[LM_WINDOW_FIELDS]; /* as for lm_stray_at */
    int stride;
    struct lm_tiling tiling;
    struct lm_place place;
    int takes_step; /* 0: the ions stay, and only learn the fields at their places. What follows is then not read */
    struct lm_step step;
    int open; /* there are surfaces */
    struct lm_surfaces surfaces;
    int collides;
    struct lm_collisions collisions;
    const double *gas[LM_GAS_FIELDS]; /* where collisions.gas >= 0 */
};

/* The first part of the push of the ion s->p in these fields, and its collisions. Returns the channel by which they
 * take it out, or -1. */
LM_HD int lm_follow_collisions(int order, const struct lm_follow *f, struct lm_stray *s,
                               const struct lm_local_fields *fields)
{
    struct lm_particle old;
    struct lm_stray_gas store;
    struct lm_gas_window gas = {0};
    if (f->collisions.gas >= 0)
        gas = lm_stray_gas(&store, s, f->gas, f->stride);
    const struct lm_collision_site site = {gas,    *fields, f->step.kick,
                                           s->p.x, s->p.y,  lm_domain_cell(&f->place, s->i, s->j)};
    const struct lm_collision_outcome outcome = lm_collide_particle(order, &f->collisions, &site, &s->p, &old);
    lm_restore_velocity(&outcome, &old, &s->p);
    return outcome.survives ? -1 : outcome.channel;
}

/* `order`: of the shape. The position of the ion is relative to the arrays. */
LM_HD void lm_follow_ion(int order, const struct lm_follow *f, struct lm_tracked *ion)
{
    struct lm_stray s;
    struct lm_stray_step m;
    struct lm_particle p;
    struct lm_local_fields fields = {{0}, {0}};
    int tile_x, tile_y;
    if (ion->channel >= 0)
        return;
    p.x = lm_local(ion->x, f->tiling.size, &tile_x);
    p.y = lm_local(ion->y, f->tiling.size, &tile_y);
    p.vx = (lm_real)ion->v[0];
    p.vy = (lm_real)ion->v[1];
    p.vz = (lm_real)ion->v[2];
    lm_stray_at(order, &s, &f->tiling, tile_y * f->tiling.nx + tile_x, &p, f->field, f->stride);
    const struct lm_window window = lm_stray_window(&s);
    lm_gather_fields(order, &window, s.p.x, s.p.y, fields.e, fields.b);
    for (int d = 0; d < 3; d++) {
        ion->e[d] = (double)fields.e[d];
        ion->b[d] = (double)fields.b[d];
    }
    if (!f->takes_step)
        return;
    ion->channel = f->collides ? lm_follow_collisions(order, f, &s, &fields) : -1;
    m.end.vx = s.p.vx, m.end.vy = s.p.vy, m.end.vz = s.p.vz;
    if (ion->channel < 0) {
        const struct lm_local_fields *const collided_in = f->collides ? &fields : NULL;
        lm_pass_stray(order, collided_in, &m, &s, &window, &f->step, f->open, &f->surfaces, &f->tiling);
        ion->channel = m.end.channel;
    }
    ion->v[0] = (double)m.end.vx;
    ion->v[1] = (double)m.end.vy;
    ion->v[2] = (double)m.end.vz;
    if (ion->channel >= 0)
        return;
    ion->x = (int64_t)m.end.i << LM_FRACTION_BITS | m.end.x;
    ion->y = (int64_t)m.end.j << LM_FRACTION_BITS | m.end.y;
    ion->moved[0] = (double)m.end.dx * (1.0 / (double)LM_ONE);
    ion->moved[1] = (double)m.end.dy * (1.0 / (double)LM_ONE);
}

#endif
