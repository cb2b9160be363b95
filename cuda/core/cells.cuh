/* What kernels with one thread a cell share. */
#ifndef LARMOR_CORE_CELLS_CUH
#define LARMOR_CORE_CELLS_CUH

#include "core/grid.cuh"

namespace
{

enum { TX = 32, TY = 8, THREADS = TX * TY };

/* One thread a cell, with `beyond` more cells on each side. */
inline dim3 blocks_for(const struct lm_gpu *g, int beyond)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return dim3((unsigned)(grid->nx + 2 * beyond + TX - 1) / TX, (unsigned)(grid->ny + 2 * beyond + TY - 1) / TY);
}

/* Blocks of a loop over the elements of an array, ghost cells included, or over so many others. */
inline unsigned line_blocks(size_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

struct cell {
    int i, j;
};

/* The cell of this thread in the blocks of blocks_for, and whether there is such a cell: blocks at the upper ends have
 * more threads than cells. */
__device__ __forceinline__ bool my_cell(const shape &s, int beyond, cell &c)
{
    c.i = (int)(blockIdx.x * TX + threadIdx.x % TX) - beyond;
    c.j = (int)(blockIdx.y * TY + threadIdx.x / TX) - beyond;
    return c.i < s.nx + beyond && c.j < s.ny + beyond;
}

/* Calls body(i, j, k) for each of some cells, k its element, in the blocks of reduction_blocks: a thread takes many
 * cells, so that few atomics on one address follow. They come one after the other, at about one a nanosecond. */
template <class F> __device__ __forceinline__ void each_cell(const shape &s, const struct lm_cells &c, F body)
{
    const int across = (c.to_x - c.from_x + TX - 1) / TX, up = (c.to_y - c.from_y + TY - 1) / TY;
    for (int tile = blockIdx.x; tile < across * up; tile += gridDim.x) {
        const int i = c.from_x + tile % across * TX + (int)threadIdx.x % TX,
                  j = c.from_y + tile / across * TY + (int)threadIdx.x / TX;
        if (i < c.to_x && j < c.to_y)
            body(i, j, at(s, i, j));
    }
}

inline unsigned reduction_blocks(const struct lm_gpu *g)
{
    return (unsigned)g->processors * 4;
}

/* The electrons' entropy, where their pressure is evolved. */
inline double *entropy_of(const struct lm_gpu *g)
{
    return g->array[LM_BACKGROUND + g->base.setup.background_count - 1];
}

} // namespace

#endif
