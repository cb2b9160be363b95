/* Where a particle ends after a straight step among walls and bodies.
 *
 * The step is followed from cell to cell in integers. Positions are cells << LM_FRACTION_BITS. A reflection at the face
 * F takes x to 2 F - 1 - x, so no position lies on a wall. Even a particle that crosses several box lengths in a step
 * is handled exactly.
 *
 * In a cell that the surface of a body cuts (struct lm_obstacles) the leg hits the line if its last place in the cell
 * is beyond it. A particle goes on from there with the velocity that it has then. Its new place is in the plasma: next
 * to the line, or where the leg was before. No place of a particle is ever in a body, whatever is rounded.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_FLIGHT_H
#define LARMOR_PHYSICS_PARTICLES_FLIGHT_H

#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/particles/cut_cell.h"
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

/* The cut of a cell; NULL: no surface cuts it. */
LM_HD const struct lm_body_cut *lm_cut_at(const struct lm_surfaces *s, const struct lm_tiling *t, int i, int j)
{
    const size_t cell = (size_t)j * (size_t)t->cells_x + (size_t)i;
    return s->body && (s->body[cell] & LM_CUT) ? s->cut + cell : (const struct lm_body_cut *)0;
}

/* Where the leg is when `done` of it is, within the cell that it is in now. */
LM_HD void lm_leg_place(const struct lm_leg leg[2], double done, lm_fix at[2])
{
    for (int axis = 0; axis < 2; axis++) {
        const struct lm_leg *a = &leg[axis];
        const int64_t by = lm_round64(done * (double)a->way), low = lm_leg_face(a, a->cell);
        const int64_t x = lm_leg_at(a, a->by > 0 ? by : -by) - low;
        at[axis] = (lm_fix)(x < 0 ? 0 : x < LM_ONE ? x : LM_ONE - 1);
    }
}

/* How much of the leg is done at the next face along `axis`; axis -1: at its end. */
LM_HD double lm_leg_done(const struct lm_leg leg[2], int axis)
{
    return axis < 0 ? 1.0 : (double)leg[axis].ahead / (double)leg[axis].way;
}

/* The last place of the leg in the cell: before the next face along `axis`, or its end. */
LM_HD void lm_leg_last(const struct lm_leg leg[2], int axis, lm_fix at[2])
{
    lm_leg_place(leg, lm_leg_done(leg, axis), at);
    if (axis >= 0)
        at[axis] = leg[axis].step > 0 ? LM_ONE - 1 : 0;
}

/* The surface behind the next face along `axis`, or -1; *next: the cell there. Into a cut cell the way is free where
 * the place behind the face is in its plasma. This place, in the next cell, goes to entry. */
LM_HD int lm_surface_ahead(const struct lm_surfaces *s, const struct lm_tiling *t, const struct lm_leg leg[2], int axis,
                           int *next, lm_fix entry[2])
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
    if (body & LM_CUT) {
        lm_leg_last(leg, axis, entry);
        entry[axis] = a->step > 0 ? 0 : LM_ONE - 1;
        if (!lm_cut_is_solid(lm_cut_at(s, t, i, j), entry[0], entry[1]))
            return -1;
    }
    return body ? LM_SIDES + (body & ~LM_CUT) - 1 : -1;
}

/* `normal`: the velocity normal to the surface. */
LM_HD void lm_count_hit(struct lm_flight *f, int surface, uint32_t face, double normal)
{
    f->hits += f->hits < LM_MAX_HITS; /* of more, the last one is kept: that may be the one that takes it */
    struct lm_hit *h = &f->hit[f->hits - 1];
    const double u = (double)f->vx, v = (double)f->vy, w = (double)f->vz;
    h->surface = surface;
    h->face = face;
    h->normal2 = normal * normal;
    h->speed2 = u * u + v * v + w * w;
}

LM_HD void lm_add_hit(struct lm_flight *f, const struct lm_surfaces *s, const struct lm_tiling *t,
                      const struct lm_leg leg[2], int axis, int surface, int next)
{
    const int i = axis ? leg[0].cell : next, j = axis ? next : leg[1].cell;
    uint32_t face = (uint32_t)lm_domain_along(&s->place, !axis, leg[!axis].cell);
    if (surface >= LM_SIDES) {
        const struct lm_body_cut *cut = lm_cut_at(s, t, i, j);
        const int back = 2 * axis + (leg[axis].step < 0); /* the body's face looks back */
        face = 4 * lm_domain_cell(&s->place, i, j) + (uint32_t)(cut ? lm_cut_direction(cut) : back);
    }
    lm_count_hit(f, surface, face, axis ? (double)f->vy : (double)f->vx);
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

/* Starts the next leg at a place of the cell, with the velocity as it is, for the part of the step that is left. */
LM_HD void lm_leave_place(const struct lm_flight *f, const struct lm_surfaces *s, struct lm_leg leg[2],
                          const lm_fix at[2], double part)
{
    const double by[2] = {(double)f->vx * s->cells_x * part, (double)f->vy * s->cells_y * part};
    for (int axis = 0; axis < 2; axis++)
        lm_leg_start(&leg[axis], lm_leg_face(&leg[axis], leg[axis].cell) + at[axis],
                     lm_round64(by[axis] * (double)LM_ONE));
}

/* --- the line in a cut cell --- */

/* How much of the leg is done where it meets the line. Its last place in the cell, `end`, is beyond the line. */
LM_HD double lm_cut_done(const struct lm_cut_line *l, const struct lm_leg leg[2], int axis, const lm_fix end[2])
{
    const double done = lm_leg_done(leg, axis), depth = (double)lm_cut_depth(l, end[0], end[1]);
    const double x = (double)(leg[0].step * leg[0].way), y = (double)(leg[1].step * leg[1].way);
    const double slope = (l->a * x + l->b * y) * (1.0 / ((int64_t)1 << LM_CUT_REST)); /* of the depth over the leg */
    return slope * done > depth ? done - depth / slope : 0.0;
}

/* The place in the plasma where the leg meets the line when `done` of it is. `from`: a place of the leg before. */
LM_HD void lm_cut_meet(const struct lm_cut_line *l, const struct lm_leg leg[2], double done, const lm_fix from[2],
                       lm_fix at[2])
{
    const int a = l->a < 0 ? -l->a : l->a, b = l->b < 0 ? -l->b : l->b, axis = b > a;
    const lm_fix back = (axis ? l->b : l->a) > 0 ? -(lm_fix)1 : (lm_fix)1;
    lm_leg_place(leg, done, at);
    for (int n = 0; n < 3; n++) { /* a rounded place can be beyond the line by a unit or two */
        if (lm_cut_depth(l, at[0], at[1]) < 0)
            return;
        const lm_fix x = at[axis] + back * ((lm_fix)1 << (LM_CUT_REST + n));
        at[axis] = x < 0 ? 0 : x < LM_ONE ? x : LM_ONE - 1;
    }
    if (lm_cut_depth(l, at[0], at[1]) >= 0)
        at[0] = from[0], at[1] = from[1];
}

/* The unit normal of the line, into the body. Cells need not be square. */
LM_HD void lm_cut_normal(const struct lm_cut_line *l, const struct lm_surfaces *s, double normal[2])
{
    const double x = l->a * lm_abs(s->cells_x), y = l->b * lm_abs(s->cells_y), size = lm_sqrt(x * x + y * y);
    normal[0] = x / size;
    normal[1] = y / size;
}

/* The velocity after a hit on the line: mirrored if the way goes into the body, or drawn. */
LM_HD void lm_cut_turn(struct lm_flight *f, const struct lm_surfaces *s, int surface, const double normal[2], int leg,
                       uint64_t identity)
{
    const double x = normal[0], y = normal[1];
    if (s->of[surface] == LM_THERMAL) {
        lm_re_emit(f, s, surface, 0, 1, leg, identity);
        const double out = (double)f->vx, along = (double)f->vy;
        f->vx = (lm_real)(along * y - out * x);
        f->vy = (lm_real)(-along * x - out * y);
        return;
    }
    const double into = (double)f->vx * x + (double)f->vy * y;
    if (into * s->cells_x <= 0.0)
        return;
    f->vx = (lm_real)((double)f->vx - 2.0 * into * x);
    f->vy = (lm_real)((double)f->vy - 2.0 * into * y);
}

/* The leg ends at the line. Returns 1 if the particle goes on, with the next leg. */
LM_HD int lm_cut_hit(struct lm_flight *f, const struct lm_surfaces *s, const struct lm_tiling *t, struct lm_leg leg[2],
                     int axis, const lm_fix end[2], lm_fix from[2], double *part, int *legs, uint64_t identity)
{
    const int i = leg[0].cell, j = leg[1].cell;
    const struct lm_body_cut *cut = lm_cut_at(s, t, i, j);
    const struct lm_cut_line l = lm_cut_line_of(cut);
    const int surface = LM_SIDES + (s->body[(size_t)j * (size_t)t->cells_x + (size_t)i] & ~LM_CUT) - 1;
    const double done = lm_cut_done(&l, leg, axis, end);
    double normal[2];
    lm_fix at[2];
    lm_cut_normal(&l, s, normal);
    lm_count_hit(f, surface, 4 * lm_domain_cell(&s->place, i, j) + (uint32_t)lm_cut_direction(cut),
                 (double)f->vx * normal[0] + (double)f->vy * normal[1]);
    if (s->of[surface] != LM_REFLECTING && s->of[surface] != LM_THERMAL) {
        f->channel = surface;
        return 0;
    }
    lm_cut_turn(f, s, surface, normal, *legs, identity);
    lm_cut_meet(&l, leg, done, from, at);
    *part *= 1.0 - done;
    lm_leave_place(f, s, leg, at, ++*legs < LM_MAX_LEGS ? *part : 0.0);
    from[0] = at[0], from[1] = at[1];
    return 1;
}

/* --- the whole way --- */

/* Starts the next leg at the face along `axis`, with the new velocity, for the part of the step that is left. */
LM_HD void lm_next_leg(const struct lm_flight *f, const struct lm_surfaces *s, struct lm_leg leg[2], int axis,
                       double part)
{
    lm_fix at[2];
    lm_leg_last(leg, axis, at);
    lm_leave_place(f, s, leg, at, part);
}

/* The leg ends at the face along `axis`, at a surface. Returns 1 if the particle goes on. */
LM_HD int lm_face_hit(struct lm_flight *f, const struct lm_surfaces *s, struct lm_leg leg[2], int axis, int surface,
                      double *part, int *legs, uint64_t identity)
{
    struct lm_leg *a = &leg[axis];
    if (s->of[surface] == LM_REFLECTING) {
        lm_leg_turn(a);
        f->vx = axis ? f->vx : -f->vx;
        f->vy = axis ? -f->vy : f->vy;
    } else if (s->of[surface] == LM_THERMAL) {
        *part *= 1.0 - (double)a->ahead / (double)a->way;
        lm_re_emit(f, s, surface, axis, -a->step, *legs, identity);
        lm_next_leg(f, s, leg, axis, ++*legs < LM_MAX_LEGS ? *part : 0.0);
    } else {
        f->channel = surface;
        return 0;
    }
    return 1;
}

/* Moves from the position of `f` by (dx, dy), which takes `part` of the step. `identity`: lm_flight_identity, for its
 * random numbers. */
LM_HD void lm_move_with_surfaces(struct lm_flight *f, const struct lm_surfaces *s, const struct lm_tiling *t, lm_fix dx,
                                 lm_fix dy, double part, uint64_t identity)
{
    struct lm_leg leg[2];
    lm_fix from[2] = {f->x, f->y}, end[2]; /* in a cut cell: a place of the leg that is in the plasma; the last place */
    leg[0].cell = leg[0].frame = f->i;
    leg[1].cell = leg[1].frame = f->j;
    lm_leg_start(&leg[0], f->x, dx);
    lm_leg_start(&leg[1], f->y, dy);
    f->channel = -1;
    f->hits = 0;
    for (int legs = 0;;) {
        const int x = lm_leg_crosses(&leg[0]), y = lm_leg_crosses(&leg[1]);
        const int axis = !x && !y ? -1 : x && y ? !lm_leg_is_first(&leg[0], &leg[1]) : y;
        const struct lm_body_cut *cut = lm_cut_at(s, t, leg[0].cell, leg[1].cell);
        if (cut && legs < LM_MAX_LEGS) {
            lm_leg_last(leg, axis, end);
            if (lm_cut_is_solid(cut, end[0], end[1])) {
                if (!lm_cut_hit(f, s, t, leg, axis, end, from, &part, &legs, identity))
                    return;
                continue;
            }
            from[0] = end[0], from[1] = end[1];
        }
        if (axis < 0)
            break;
        struct lm_leg *a = &leg[axis];
        int next;
        const int surface = lm_surface_ahead(s, t, leg, axis, &next, from);
        if (surface < 0) {
            a->frame += next - (a->cell + a->step);
            a->cell = next;
            a->ahead += (int64_t)LM_ONE;
            continue;
        }
        lm_add_hit(f, s, t, leg, axis, surface, next);
        if (cut)
            from[0] = end[0], from[1] = end[1];
        if (!lm_face_hit(f, s, leg, axis, surface, &part, &legs, identity))
            return;
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
