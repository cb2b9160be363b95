/* Tiles of particles, and the exact integer arithmetic of moving between them.
 *
 * A particle is stored with its home tile of T x T cells. Its position is relative to this tile. It may leave the tile,
 * and gets a new home tile in the next sort. A window of fields serves the particles within LM_MARGIN cells of the
 * tile; the others (strays) take the direct path (stray.h).
 */
#ifndef LARMOR_PHYSICS_PARTICLES_TILE_H
#define LARMOR_PHYSICS_PARTICLES_TILE_H

#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/particles/push.h"
#include "larmor/physics/particles/surface.h"
#include "larmor/physics/particles/tiling.h"
#include "larmor/grid.h"

enum {
    LM_MARGIN = 2,
    LM_WINDOW_LOW = LM_MARGIN + 1,       /* nodes below the tile */
    LM_WINDOW_EXTRA = 2 * LM_MARGIN + 2, /* window width = T + this */
    LM_PATCH = 4,
    LM_PATCH_LOW = 2 /* nodes around a single cell, and how many of them below it */
};

/* Whether the window holds all nodes of a particle at (x, y). The stencil of TSC reaches half a cell further on the low
 * side than that of CIC. */
LM_HD int lm_in_window(int order, lm_fix x, lm_fix y, int size)
{
    lm_ufix low = (lm_ufix)(order == 1 ? -LM_MARGIN * LM_ONE : LM_HALF - LM_MARGIN * LM_ONE);
    lm_ufix span = (lm_ufix)(size + LM_MARGIN) * LM_ONE - low; /* unsigned: below `low` wraps beyond it */
    return ((lm_ufix)x - low < span) & ((lm_ufix)y - low < span);
}

/* Whether the way of a particle from (x, y), relative to tile number `tile`, by (dx, dy) is free of surfaces. The test
 * is on the safe side: near bodies it returns 0 also for some ways that are free. */
LM_HD int lm_is_free(const struct lm_surfaces *s, const struct lm_tiling *t, int tile, lm_fix x, lm_fix y, lm_fix dx,
                     lm_fix dy)
{
    const int left = tile % t->nx * t->size, low = tile / t->nx * t->size;
    const int i = (int)((x + dx) >> LM_FRACTION_BITS) + left, j = (int)((y + dy) >> LM_FRACTION_BITS) + low;
    int free = (s->of[LM_X_MIN] == LM_PERIODIC || (unsigned)i < (unsigned)t->cells_x) &
               (s->of[LM_Y_MIN] == LM_PERIODIC || (unsigned)j < (unsigned)t->cells_y);
    if (s->near_body) {
        const int a = lm_wrap((int)(x >> LM_FRACTION_BITS) + left, t->cells_x),
                  b = lm_wrap((int)(y >> LM_FRACTION_BITS) + low, t->cells_y);
        const lm_ufix far = (lm_ufix)(dx + LM_ONE) | (lm_ufix)(dy + LM_ONE); /* both in [0, 2) cells */
        free &= !s->near_body[(size_t)b * (size_t)t->cells_x + (size_t)a] & (far <= 2 * (lm_ufix)LM_ONE - 1);
    }
    return free;
}

/* The same for all particles of a tile that stand in its window, in a form of which compilers make vector instructions.
 * A way is free that ends within `span` from `low` along both axes, if it is short enough and does not begin near a
 * body. */
struct lm_free_ways {
    lm_fix low[2];
    lm_ufix span[2], farthest;
    const int32_t *near_body; /* lm_surfaces.near_body in the cells that begin with the nodes of the window */
    int width;                /* of the window */
};

LM_HD struct lm_free_ways lm_free_ways_of(const struct lm_surfaces *s, const struct lm_tiling *t, int tile,
                                          const int32_t *near_body, int width)
{
    struct lm_free_ways w;
    for (int axis = 0; axis < 2; axis++) {
        const int first = (axis ? tile / t->nx : tile % t->nx) * t->size,
                  end = (axis ? t->cells_y : t->cells_x) - first, is_periodic = s->of[2 * axis] == LM_PERIODIC,
                  far = t->size + LM_WINDOW_LOW;
        const int from = is_periodic || -first < -LM_WINDOW_LOW ? -LM_WINDOW_LOW : -first,
                  to = is_periodic || end > far ? far : end;
        w.low[axis] = from * LM_ONE;
        w.span[axis] = (lm_ufix)(to - from) * (lm_ufix)LM_ONE;
    }
    w.farthest = s->near_body ? 2 * (lm_ufix)LM_ONE - 1 : ~(lm_ufix)0;
    w.near_body = near_body;
    w.width = width;
    return w;
}

LM_HD int lm_is_free_way(const struct lm_free_ways *w, lm_fix x, lm_fix y, lm_fix dx, lm_fix dy)
{
    const int i = (int)(x >> LM_FRACTION_BITS) + LM_WINDOW_LOW, j = (int)(y >> LM_FRACTION_BITS) + LM_WINDOW_LOW;
    const lm_ufix far = (lm_ufix)(dx + LM_ONE) | (lm_ufix)(dy + LM_ONE); /* both in [0, 2) cells near bodies */
    return ((lm_ufix)(x + dx - w->low[0]) < w->span[0]) & ((lm_ufix)(y + dy - w->low[1]) < w->span[1]) &
           (far <= w->farthest) & (w->near_body[j * w->width + i] == 0);
}

/* Position relative to the arrays in one axis, wrapped: [0, n) cells. `tile` is the home tile's number in this axis. */
LM_HD int64_t lm_global(lm_fix x, int tile, int size, int n)
{
    int cell = lm_wrap_seldom((int)(x >> LM_FRACTION_BITS) + tile * size, n);
    return (int64_t)cell << LM_FRACTION_BITS | (int64_t)(x & (LM_ONE - 1));
}

/* The number j nx + i of the cell of the arrays in which a particle of a tile lies. */
LM_HD uint32_t lm_cell_of(const struct lm_tiling *t, int tile, lm_fix x, lm_fix y)
{
    const int64_t gx = lm_global(x, tile % t->nx, t->size, t->cells_x);
    const int64_t gy = lm_global(y, tile / t->nx, t->size, t->cells_y);
    return (uint32_t)(gy >> LM_FRACTION_BITS) * (uint32_t)t->cells_x + (uint32_t)(gx >> LM_FRACTION_BITS);
}

/* A position relative to the arrays as one relative to the domain. */
LM_HD int64_t lm_domain_position(const struct lm_place *place, int axis, int64_t x)
{
    const int cell = (int)(x >> LM_FRACTION_BITS);
    return x + (int64_t)(lm_domain_along(place, axis, cell) - cell) * LM_ONE;
}

/* The hash of a stored particle for the fingerprint (larmor/physics/numerics/hash.h); 0 of one that has left. */
LM_HD uint64_t lm_hash_stored(const struct lm_tiling *t, const struct lm_place *place, int species, int tile,
                              const struct lm_particle *p)
{
    if (p->x == LM_GONE)
        return 0;
    const int64_t x = lm_global(p->x, tile % t->nx, t->size, t->cells_x);
    const int64_t y = lm_global(p->y, tile / t->nx, t->size, t->cells_y);
    return lm_hash_particle(species, lm_domain_position(place, 0, x), lm_domain_position(place, 1, y), (double)p->vx,
                            (double)p->vy, (double)p->vz);
}

/* Splits a position relative to the arrays into home tile and the position relative to it. */
LM_HD lm_fix lm_local(int64_t g, int size, int *tile)
{
    *tile = (int)(g >> LM_FRACTION_BITS) / size;
    return (lm_fix)(g - (((int64_t)*tile * size) << LM_FRACTION_BITS));
}

/* Re-bases a particle from its home tile to the tile it is in; returns its cell in tile order. */
LM_HD uint32_t lm_rebase(const struct lm_tiling *t, int home, lm_fix *x, lm_fix *y)
{
    int64_t gx = lm_global(*x, home % t->nx, t->size, t->cells_x);
    int64_t gy = lm_global(*y, home / t->nx, t->size, t->cells_y);
    int tile;
    *x = lm_local(gx, t->size, &tile);
    *y = lm_local(gy, t->size, &tile);
    return lm_tile_cell(t, (int)(gx >> LM_FRACTION_BITS), (int)(gy >> LM_FRACTION_BITS));
}

#endif
