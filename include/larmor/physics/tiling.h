/* Tiles of T x T cells and the order of particles in them; independent of the particles' precision. */
#ifndef LARMOR_PHYSICS_TILING_H
#define LARMOR_PHYSICS_TILING_H

#include "larmor/physics/portable.h"

enum { LM_LANES = 64 }; /* strided order: neighbours in memory are in different 64ths of a tile */

struct lm_tiling {
    int size, nx, ny; /* cells a side; tiles in x and y */
    int cells_x, cells_y;
};

/* i modulo n in [0, n) */
LM_HD int lm_wrap(int i, int n)
{
    int r = i % n;
    return r < 0 ? r + n : r;
}

/* Number of cell (i, j) in tile order: all cells of a tile stand together. */
LM_HD uint32_t lm_tile_cell(const struct lm_tiling *t, int i, int j)
{
    int tile = (j / t->size) * t->nx + i / t->size;
    return (uint32_t)tile * (uint32_t)(t->size * t->size) + (uint32_t)((j % t->size) * t->size + i % t->size);
}

/* Strided order: the q-th of n particles sorted by cell goes to this place, so that neighbours lie in different cells.
 */
LM_HD uint32_t lm_strided(uint32_t q, uint32_t n)
{
    uint32_t rows = (n + LM_LANES - 1) / LM_LANES;
    uint32_t full = n - LM_LANES * (rows - 1); /* lanes with `rows` particles; the others have one less */
    if (q < full * rows)
        return (q % rows) * LM_LANES + q / rows;
    q -= full * rows;
    return (q % (rows - 1)) * LM_LANES + full + q / (rows - 1);
}

/* Where each tile and each of its cells begins in the arrays of a species. */
struct lm_starts {
    const uint32_t *cell, *tile;
    int size; /* of a tile */
};

/* Place of the particle with number `rank` in tile cell `cell`. */
LM_HD uint32_t lm_place_of(const struct lm_starts *s, uint32_t cell, uint32_t rank)
{
    uint32_t tile = cell / (uint32_t)(s->size * s->size), start = s->tile[tile];
    return start + lm_strided(s->cell[cell] + rank - start, s->tile[tile + 1] - start);
}

#endif
