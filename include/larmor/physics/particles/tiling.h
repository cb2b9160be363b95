/* Tiles of T x T cells; independent of the particles' precision. Particles are sorted by cell in tile order. */
#ifndef LARMOR_PHYSICS_PARTICLES_TILING_H
#define LARMOR_PHYSICS_PARTICLES_TILING_H

#include "larmor/place.h"

#define LM_CHARGE_QUANTA                                                                                               \
    65536 /* integer quanta into which the charge of a particle is split (larmor/physics/particles/deposit.h) */

struct lm_tiling {
    int size, nx, ny;     /* cells a side; tiles in x and y */
    int cells_x, cells_y; /* of the arrays */
#ifndef __CUDACC__
    struct lm_place place; /* of the arrays in the domain */
#endif
};

LM_HD struct lm_tiling lm_tiling_make(int size, int cells_x, int cells_y, struct lm_place place)
{
    struct lm_tiling t;
    t.size = size;
    t.nx = (cells_x + size - 1) / size;
    t.ny = (cells_y + size - 1) / size;
    t.cells_x = cells_x;
    t.cells_y = cells_y;
#ifndef __CUDACC__
    t.place = place;
#else
    (void)place;
#endif
    return t;
}

/* A cell of the arrays as one of the domain (larmor/place.h). A GPU serves one rank alone, so that its arrays hold the
 * whole domain, and its kernels need no registers for this. */
LM_HD int lm_tiling_domain_x(const struct lm_tiling *t, int i)
{
#ifndef __CUDACC__
    return lm_domain_x(&t->place, i);
#else
    (void)t;
    return i;
#endif
}

LM_HD int lm_tiling_domain_y(const struct lm_tiling *t, int j)
{
#ifndef __CUDACC__
    return lm_domain_y(&t->place, j);
#else
    (void)t;
    return j;
#endif
}

LM_HD int lm_tiling_domain_along(const struct lm_tiling *t, int axis, int i)
{
    return axis == 0 ? lm_tiling_domain_x(t, i) : lm_tiling_domain_y(t, i);
}

/* The number of a cell in the domain. */
LM_HD uint32_t lm_tiling_domain_cell(const struct lm_tiling *t, int i, int j)
{
#ifndef __CUDACC__
    return lm_domain_cell(&t->place, i, j);
#else
    return (uint32_t)j * (uint32_t)t->cells_x + (uint32_t)i;
#endif
}

/* i modulo n in [0, n) */
LM_HD int lm_wrap(int i, int n)
{
    int r = i % n;
    return r < 0 ? r + n : r;
}

/* The same, faster where it is there already: a division takes long. */
LM_HD int lm_wrap_seldom(int i, int n)
{
    return (unsigned)i < (unsigned)n ? i : lm_wrap(i, n);
}

/* Number of cell (i, j) in tile order: all cells of a tile stand together. */
LM_HD uint32_t lm_tile_cell(const struct lm_tiling *t, int i, int j)
{
    int tile = (j / t->size) * t->nx + i / t->size;
    return (uint32_t)tile * (uint32_t)(t->size * t->size) + (uint32_t)((j % t->size) * t->size + i % t->size);
}

#endif
