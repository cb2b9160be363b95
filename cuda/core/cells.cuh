/* What kernels with a thread a cell share. */
#ifndef LARMOR_CORE_CELLS_CUH
#define LARMOR_CORE_CELLS_CUH

#include "core/grid.cuh"

namespace
{

enum { TX = 32, TY = 8, THREADS = TX * TY };

/* A thread a cell, with `beyond` more on each side. */
inline dim3 blocks_for(const struct lm_gpu *g, int beyond)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return dim3((unsigned)(grid->nx + 2 * beyond + TX - 1) / TX, (unsigned)(grid->ny + 2 * beyond + TY - 1) / TY);
}

struct cell {
    int i, j;
};

/* This thread's cell, and whether there is such a one. */
__device__ __forceinline__ bool my_cell(const shape &s, int beyond, cell &c)
{
    c.i = (int)(blockIdx.x * TX + threadIdx.x % TX) - beyond;
    c.j = (int)(blockIdx.y * TY + threadIdx.x / TX) - beyond;
    return c.i < s.nx + beyond && c.j < s.ny + beyond;
}

/* The electrons' entropy, where their pressure is evolved. */
inline double *entropy_of(const struct lm_gpu *g)
{
    return g->array[LM_BACKGROUND + g->base.setup.background_count - 1];
}

} // namespace

#endif
