/* What the kernels over the grid share: where cells are in memory. */
#ifndef LARMOR_GRID_CUH
#define LARMOR_GRID_CUH

#include "gpu.cuh"

namespace
{

struct shape {
    int nx, ny, stride;
    size_t pitch; /* from an array to the next one of its group */
};

inline shape shape_of(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return {grid->nx, grid->ny, grid->stride, g->pitch};
}

__device__ __forceinline__ size_t at(const shape &s, int i, int j)
{
    return (size_t)(j + LM_GHOST) * s.stride + (i + LM_GHOST);
}

/* Whether a cell has no image in the ghosts. */
__device__ __forceinline__ bool is_inner(const shape &s, int i, int j)
{
    return i >= LM_GHOST && i < s.nx - LM_GHOST && j >= LM_GHOST && j < s.ny - LM_GHOST;
}

/* Writes cell (i, j) of the domain and its periodic images in the ghosts. */
__device__ __forceinline__ void store(const shape &s, double *a, int i, int j, double value)
{
    if (is_inner(s, i, j)) {
        a[at(s, i, j)] = value;
        return;
    }
    for (int y = j - (j + LM_GHOST) / s.ny * s.ny; y < s.ny + LM_GHOST; y += s.ny)
        for (int x = i - (i + LM_GHOST) / s.nx * s.nx; x < s.nx + LM_GHOST; x += s.nx)
            a[at(s, x, y)] = value;
}

} // namespace

#endif
