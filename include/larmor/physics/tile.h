/* Tiles: where particles are kept, and the exact integer arithmetic of moving between them.
 *
 * A particle is stored with its home tile of T x T cells, in positions relative to that tile, and may stray from it until the
 * next sort. A window of fields serves particles within LM_MARGIN cells of the tile; others take the direct path.
 */
#ifndef LARMOR_PHYSICS_TILE_H
#define LARMOR_PHYSICS_TILE_H

#include "larmor/physics/push.h"

enum {
    LM_MARGIN = 1,
    LM_WINDOW_LOW = LM_MARGIN + 2,             /* nodes below the tile */
    LM_WINDOW_EXTRA = 2 * LM_MARGIN + 3,       /* window width = T + this */
    LM_PATCH = 4, LM_PATCH_LOW = 2,            /* nodes around a single cell, and how many of them below it */
    LM_LANES = 64                              /* strided order: neighbours in memory are this many lanes of cells apart */
};

struct lm_tiling {
    int size, nx, ny;   /* cells a side; tiles in x and y */
    int cells_x, cells_y;
};

/* i modulo n in [0, n) */
LM_HD int lm_wrap(int i, int n)
{
    int r = i % n;
    return r < 0 ? r + n : r;
}

LM_HD int lm_in_window(lm_fix x, lm_fix y, int size)
{
    lm_fix low = -LM_MARGIN * LM_ONE, high = (lm_fix)(size + LM_MARGIN) * LM_ONE;
    return (x >= low) & (x < high) & (y >= low) & (y < high);
}

/* Position relative to the domain in one axis, wrapped: [0, n) cells. `tile` is the home tile's number in this axis. */
LM_HD int64_t lm_global(lm_fix x, int tile, int size, int n)
{
    int64_t length = (int64_t)n << LM_FRACTION_BITS;
    int64_t g = (int64_t)x + (((int64_t)tile * size) << LM_FRACTION_BITS);
    g %= length;
    return g < 0 ? g + length : g;
}

/* Splits a position in the domain into home tile and the position relative to it. */
LM_HD lm_fix lm_local(int64_t g, int size, int *tile)
{
    *tile = (int)(g >> LM_FRACTION_BITS) / size;
    return (lm_fix)(g - (((int64_t)*tile * size) << LM_FRACTION_BITS));
}

/* Number of cell (i, j) in tile order: all cells of a tile stand together. */
LM_HD uint32_t lm_tile_cell(const struct lm_tiling *t, int i, int j)
{
    int tile = (j / t->size) * t->nx + i / t->size;
    return (uint32_t)tile * (uint32_t)(t->size * t->size) + (uint32_t)((j % t->size) * t->size + i % t->size);
}

/* Strided order: the q-th of n particles sorted by cell goes to this place, so that neighbours lie in different cells. */
LM_HD uint32_t lm_strided(uint32_t q, uint32_t n)
{
    uint32_t rows = (n + LM_LANES - 1) / LM_LANES;
    uint32_t full = n - LM_LANES * (rows - 1); /* lanes with `rows` particles; the others have one less */
    if (q < full * rows)
        return (q % rows) * LM_LANES + q / rows;
    q -= full * rows;
    return (q % (rows - 1)) * LM_LANES + full + q / (rows - 1);
}

#endif
