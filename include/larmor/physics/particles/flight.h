/* Where a particle ends after a straight step among walls and bodies.
 *
 * The step is followed from cell to cell in integers. Positions are cells << LM_FRACTION_BITS. A reflection at the face
 * F takes x to 2 F - 1 - x, so no position lies on a wall. Even a particle that crosses several box lengths in a step
 * is handled exactly.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_FLIGHT_H
#define LARMOR_PHYSICS_PARTICLES_FLIGHT_H

#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/particles/real.h"
#include "larmor/physics/particles/surface.h"
#include "larmor/physics/particles/tiling.h"

enum {
    LM_MAX_HITS = 8, /* hits of one particle in one step that are kept for the maps */
    LM_MAX_LEGS = 16 /* after this number of re-emissions in one step the particle stays at the surface */
};

struct lm_flight {
    int i, j;           /* cell of the arrays */
    lm_fix x, y;        /* position in the cell */
    lm_fix dx, dy;      /* displacement, not wrapped */
    lm_real vx, vy, vz; /* velocity */
    int channel;        /* enum lm_channel by which the particle has left, or -1 */
    int hits;
    struct lm_hit hit[LM_MAX_HITS];
};

/* A number that tells a particle, before its flight, from the others of its species in this step. */
LM_HD uint64_t lm_flight_identity(const struct lm_flight *f, const struct lm_surfaces *s)
{
    return lm_hash_particle(s->species, (int64_t)lm_domain_x(&s->place, f->i) << LM_FRACTION_BITS | f->x,
                            (int64_t)lm_domain_y(&s->place, f->j) << LM_FRACTION_BITS | f->y, (double)f->vx,
                            (double)f->vy, (double)f->vz);
}

/* One axis of a straight leg of the flight. Positions are relative to cell `frame`. */
struct lm_leg {
    int64_t from, by;
    int64_t way, ahead; /* |by|, and the part of it up to the next face */
    int step;           /* direction of motion now: +1 or -1 */
    int cell, frame;
    int sign;       /* reflections have turned a position x into */
    int64_t offset; /* sign x + offset */
};

LM_HD int64_t lm_leg_face(const struct lm_leg *a, int cell)
{
    return (int64_t)(cell - a->frame) * (int64_t)LM_ONE;
}

LM_HD void lm_leg_start(struct lm_leg *a, int64_t from, int64_t by)
{
    a->from = from;
    a->by = by;
    a->step = by > 0 ? 1 : -1;
    a->way = by > 0 ? by : -by;
    a->ahead = by > 0 ? lm_leg_face(a, a->cell + 1) - from : from - lm_leg_face(a, a->cell) + 1;
    a->sign = 1;
    a->offset = 0;
}

LM_HD int64_t lm_leg_at(const struct lm_leg *a, int64_t by)
{
    return a->sign * (a->from + by) + a->offset;
}

/* Whether the leg reaches a face; if both axes do, which one is first. */
LM_HD int lm_leg_crosses(const struct lm_leg *a)
{
    return a->ahead <= a->way;
}

LM_HD int lm_leg_is_first(const struct lm_leg *a, const struct lm_leg *b)
{
    return (double)a->ahead * (double)b->way <= (double)b->ahead * (double)a->way;
}

LM_HD void lm_leg_turn(struct lm_leg *a)
{
    int64_t face = lm_leg_face(a, a->step > 0 ? a->cell + 1 : a->cell);
    a->sign = -a->sign;
    a->offset = 2 * face - 1 - a->offset;
    a->step = -a->step;
    a->ahead += (int64_t)LM_ONE;
}

/* The surface behind the next face along `axis`, or -1; *next: the cell there. */
LM_HD int lm_surface_ahead(const struct lm_surfaces *s, const struct lm_tiling *t, const struct lm_leg leg[2], int axis,
                           int *next)
{
    const struct lm_leg *a = &leg[axis];
    const int cells = axis ? t->cells_y : t->cells_x, side = 2 * axis + (a->step > 0);
    *next = a->cell + a->step;
    if (*next < 0 || *next >= cells) {
        if (s->of[side] != LM_PERIODIC)
            return side;
        *next = *next < 0 ? cells - 1 : 0;
    }
    if (!s->body)
        return -1;
    const int i = axis ? leg[0].cell : *next, j = axis ? *next : leg[1].cell;
    const int body = s->body[(size_t)j * (size_t)t->cells_x + (size_t)i];
    return body ? LM_SIDES + body - 1 : -1;
}

LM_HD void lm_add_hit(struct lm_flight *f, const struct lm_place *place, const struct lm_leg leg[2], int axis,
                      int surface, int next)
{
    f->hits += f->hits < LM_MAX_HITS; /* of more, the last one is kept: that may be the one that takes it */
    struct lm_hit *h = &f->hit[f->hits - 1];
    const int i = axis ? leg[0].cell : next, j = axis ? next : leg[1].cell;
    const int direction = 2 * axis + (leg[axis].step < 0); /* the body's face looks back */
    const double u = (double)f->vx, v = (double)f->vy, w = (double)f->vz;
    h->surface = surface;
    h->face = surface < LM_SIDES ? (uint32_t)lm_domain_along(place, !axis, leg[!axis].cell)
                                 : 4 * lm_domain_cell(place, i, j) + (uint32_t)direction;
    h->normal2 = axis ? v * v : u * u;
    h->speed2 = u * u + v * v + w * w;
}

/* Draws a velocity from the flux of a Maxwellian at rest. `inward`: sign of the component along `axis`. */
LM_HD void lm_re_emit(struct lm_flight *f, const struct lm_surfaces *s, int surface, int axis, int inward, int leg,
                      uint64_t identity)
{
    const int who = s->species | leg << 8;
    const uint32_t low = (uint32_t)identity, high = (uint32_t)(identity >> 32);
    struct lm_random a = lm_random_at(s->key, who, LM_STREAM_WALL, low, high);
    struct lm_random b = lm_random_at(s->key, who, LM_STREAM_WALL_ALONG, low, high);
    const double thermal = s->thermal[surface];
    const lm_real normal = (lm_real)(inward * (thermal * lm_sqrt(-2.0 * lm_log(lm_uniform(a.a)))));
    const lm_real along = (lm_real)(thermal * lm_normal(lm_uniform(b.a)));
    f->vx = axis ? along : normal;
    f->vy = axis ? normal : along;
    f->vz = (lm_real)(thermal * lm_normal(lm_uniform(b.b)));
}

/* Starts the next leg at the surface, with the new velocity, for the part of the step that is left. */
LM_HD void lm_next_leg(const struct lm_flight *f, const struct lm_surfaces *s, struct lm_leg leg[2], int axis,
                       double part)
{
    struct lm_leg *a = &leg[axis], *b = &leg[!axis];
    const double done = (double)a->ahead / (double)a->way;
    int64_t at = lm_leg_at(b, (b->by > 0 ? 1 : -1) * lm_round64(done * (double)b->way));
    const int64_t low = lm_leg_face(b, b->cell), high = lm_leg_face(b, b->cell + 1) - 1;
    at = at < low ? low : at > high ? high : at;
    const double by[2] = {(double)f->vx * s->cells_x * part, (double)f->vy * s->cells_y * part};
    lm_leg_start(a, a->step > 0 ? lm_leg_face(a, a->cell + 1) - 1 : lm_leg_face(a, a->cell),
                 lm_round64(by[axis] * (double)LM_ONE));
    lm_leg_start(b, at, lm_round64(by[!axis] * (double)LM_ONE));
}

/* Moves from the position of `f` by (dx, dy), which takes `part` of the step. `identity`: lm_flight_identity, for its
 * random numbers. */
LM_HD void lm_move_with_surfaces(struct lm_flight *f, const struct lm_surfaces *s, const struct lm_tiling *t, lm_fix dx,
                                 lm_fix dy, double part, uint64_t identity)
{
    struct lm_leg leg[2];
    leg[0].cell = leg[0].frame = f->i;
    leg[1].cell = leg[1].frame = f->j;
    lm_leg_start(&leg[0], f->x, dx);
    lm_leg_start(&leg[1], f->y, dy);
    f->channel = -1;
    f->hits = 0;
    for (int legs = 0;;) {
        const int x = lm_leg_crosses(&leg[0]), y = lm_leg_crosses(&leg[1]);
        if (!x && !y)
            break;
        const int axis = x && y ? !lm_leg_is_first(&leg[0], &leg[1]) : y;
        struct lm_leg *a = &leg[axis];
        int next;
        const int surface = lm_surface_ahead(s, t, leg, axis, &next);
        if (surface < 0) {
            a->frame += next - (a->cell + a->step);
            a->cell = next;
            a->ahead += (int64_t)LM_ONE;
            continue;
        }
        lm_add_hit(f, &s->place, leg, axis, surface, next);
        if (s->of[surface] == LM_REFLECTING) {
            lm_leg_turn(a);
            f->vx = axis ? f->vx : -f->vx;
            f->vy = axis ? -f->vy : f->vy;
        } else if (s->of[surface] == LM_THERMAL) {
            part *= 1.0 - (double)a->ahead / (double)a->way;
            lm_re_emit(f, s, surface, axis, -a->step, legs, identity);
            lm_next_leg(f, s, leg, axis, ++legs < LM_MAX_LEGS ? part : 0.0);
        } else {
            f->channel = surface;
            return;
        }
    }
    const int64_t end_x = lm_leg_at(&leg[0], leg[0].by), end_y = lm_leg_at(&leg[1], leg[1].by);
    f->dx = (lm_fix)(end_x - f->x);
    f->dy = (lm_fix)(end_y - f->y);
    f->i = leg[0].frame + (int)(end_x >> LM_FRACTION_BITS);
    f->j = leg[1].frame + (int)(end_y >> LM_FRACTION_BITS);
    f->x = (lm_fix)(end_x & (int64_t)(LM_ONE - 1));
    f->y = (lm_fix)(end_y & (int64_t)(LM_ONE - 1));
}

/* The same in a periodic domain without bodies. */
LM_HD void lm_move_periodic(struct lm_flight *f, const struct lm_tiling *t, lm_fix dx, lm_fix dy)
{
    const int64_t end_x = (int64_t)f->x + dx, end_y = (int64_t)f->y + dy;
    f->channel = -1;
    f->hits = 0;
    f->dx = dx;
    f->dy = dy;
    f->i = lm_wrap(f->i + (int)(end_x >> LM_FRACTION_BITS), t->cells_x);
    f->j = lm_wrap(f->j + (int)(end_y >> LM_FRACTION_BITS), t->cells_y);
    f->x = (lm_fix)(end_x & (int64_t)(LM_ONE - 1));
    f->y = (lm_fix)(end_y & (int64_t)(LM_ONE - 1));
}

#endif
