/* Tiles of T x T cells; independent of the particles' precision. Particles are sorted by cell in tile order. */
#ifndef LARMOR_PHYSICS_PARTICLES_TILING_H
#define LARMOR_PHYSICS_PARTICLES_TILING_H

#include "larmor/physics/numerics/cell_index.h"

#define LM_CHARGE_QUANTA                                                                                               \
    65536 /* integer quanta into which the charge of a particle is split (larmor/physics/particles/deposit.h) */

struct lm_tiling {
    int size, nx, ny;     /* cells a side; tiles in x and y */
    int cells_x, cells_y; /* of the arrays */
};

LM_HD struct lm_tiling lm_tiling_make(int size, int cells_x, int cells_y)
{
    struct lm_tiling t;
    t.size = size;
    t.nx = (cells_x + size - 1) / size;
    t.ny = (cells_y + size - 1) / size;
    t.cells_x = cells_x;
    t.cells_y = cells_y;
    return t;
}

/* Number of cell (i, j) in tile order: all cells of a tile stand together. */
LM_HD uint32_t lm_tile_cell(const struct lm_tiling *t, int i, int j)
{
    int tile = (j / t->size) * t->nx + i / t->size;
    return (uint32_t)tile * (uint32_t)(t->size * t->size) + (uint32_t)((j % t->size) * t->size + i % t->size);
}

#endif
