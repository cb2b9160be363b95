/* The direct path: a particle too far from its home tile gathers from the whole grid and is deposited on it. */
#ifndef LARMOR_PHYSICS_STRAY_H
#define LARMOR_PHYSICS_STRAY_H

#include "larmor/grid.h"
#include "larmor/physics/tile.h"

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

#endif
