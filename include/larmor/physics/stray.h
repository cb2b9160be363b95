/* The direct path: a particle too far from its home tile gathers from the whole grid and is deposited on it. */
#ifndef LARMOR_PHYSICS_STRAY_H
#define LARMOR_PHYSICS_STRAY_H

#include "larmor/grid.h"
#include "larmor/physics/tile.h"
#include "larmor/physics/wall.h"

/* The particle's cell in the domain, its position within it, and the fields around it. */
struct lm_stray {
    int i, j;
    struct lm_particle p; /* position within the cell: [0, 1) */
    lm_real patch[6 * LM_PATCH * LM_PATCH];
};

/* `field`: E and B of the push, grid arrays with ghosts (larmor/grid.h), standing on the first element. */
LM_HD void lm_stray_at(struct lm_stray *s, const struct lm_tiling *t, int tile, const struct lm_particle *p,
                       const double *const field[6], int stride)
{
    int64_t x = lm_global(p->x, tile % t->nx, t->size, t->cells_x);
    int64_t y = lm_global(p->y, tile / t->nx, t->size, t->cells_y);
    s->i = (int)(x >> LM_FRACTION_BITS);
    s->j = (int)(y >> LM_FRACTION_BITS);
    s->p = *p;
    s->p.x = (lm_fix)(x & (LM_ONE - 1));
    s->p.y = (lm_fix)(y & (LM_ONE - 1));
    long corner = (long)(s->j + LM_GHOST - LM_PATCH_LOW) * stride + (s->i + LM_GHOST - LM_PATCH_LOW);
    for (int c = 0; c < 6; c++)
        for (int b = 0; b < LM_PATCH; b++)
            for (int a = 0; a < LM_PATCH; a++)
                s->patch[(c * LM_PATCH + b) * LM_PATCH + a] = (lm_real)field[c][corner + (long)b * stride + a];
}

LM_HD struct lm_window lm_stray_window(const struct lm_stray *s)
{
    struct lm_window w;
    w.origin = s->patch + LM_PATCH_LOW * LM_PATCH + LM_PATCH_LOW;
    w.width = LM_PATCH;
    w.area = LM_PATCH * LM_PATCH;
    return w;
}

/* Where a stray's current and density go, if anywhere, each in a cell of the domain. */
struct lm_stray_place {
    int inside, i, j;
    lm_fix x, y; /* in the cell */
    lm_real u, v, w;
};

struct lm_stray_step {
    struct lm_stray_place mid, end;
    lm_fix dx, dy; /* by which its position, relative to the home tile, changes */
    int side;      /* that absorbed it, or -1 */
};

LM_HD struct lm_stray_place lm_stray_place_at(const struct lm_stray *s, const struct lm_step_end *e)
{
    struct lm_stray_place p;
    p.inside = e->side < 0;
    p.i = (int)(e->x.end >> LM_FRACTION_BITS);
    p.j = (int)(e->y.end >> LM_FRACTION_BITS);
    p.x = (lm_fix)(e->x.end & (LM_ONE - 1));
    p.y = (lm_fix)(e->y.end & (LM_ONE - 1));
    p.u = e->x.flipped ? -s->p.u : s->p.u;
    p.v = e->y.flipped ? -s->p.v : s->p.v;
    p.w = s->p.w;
    return p;
}

/* s->p has been pushed and would move by (dx, dy); `move` as in struct lm_step. */
LM_HD struct lm_stray_step lm_stray_step_of(const struct lm_stray *s, lm_fix dx, lm_fix dy, int move,
                                            const struct lm_sides *sides, const struct lm_tiling *t)
{
    const int64_t x = (int64_t)s->i << LM_FRACTION_BITS | s->p.x, y = (int64_t)s->j << LM_FRACTION_BITS | s->p.y;
    const int64_t size_x = (int64_t)t->cells_x << LM_FRACTION_BITS, size_y = (int64_t)t->cells_y << LM_FRACTION_BITS;
    struct lm_step_end mid = lm_step_end_of(sides, x, y, dx >> 1, dy >> 1, size_x, size_y);
    struct lm_step_end end = lm_step_end_of(sides, x, y, move ? dx : 0, move ? dy : 0, size_x, size_y);
    struct lm_stray_step out;
    out.mid = lm_stray_place_at(s, &mid);
    out.end = lm_stray_place_at(s, &end);
    out.side = end.side;
    out.dx = lm_has_walls(sides, 0) ? (lm_fix)(end.x.end - x) : move ? dx : 0;
    out.dy = lm_has_walls(sides, 1) ? (lm_fix)(end.y.end - y) : move ? dy : 0;
    return out;
}

#endif
