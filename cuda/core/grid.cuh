/* What the kernels over the grid share: where cells are in memory, and strips of columns. */
#ifndef LARMOR_CORE_GRID_CUH
#define LARMOR_CORE_GRID_CUH

#include "core/gpu.cuh"
#include "larmor/physics/numerics/operators.h"

namespace
{

/* The arrays of what the ions feel: from LM_PUSH_E on. */
enum { FELT_B = LM_PUSH_B - LM_PUSH_E, FELT_PRESSURE = LM_PUSH_PRESSURE - LM_PUSH_E, FELT_ARRAYS = FELT_PRESSURE + 2 };

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

/* The three arrays of a vector, standing on element k. */
__device__ __forceinline__ struct lm_view view_of(const double *a, const shape &s, size_t k)
{
    return {a + k, a + s.pitch + k, a + 2 * s.pitch + k, s.stride};
}

/* The same for arguments of kernels, standing on element 0. */
inline struct lm_view view_of(const struct lm_gpu *g, const double *a)
{
    return {a, a + g->pitch, a + 2 * g->pitch, g->base.setup.grid.stride};
}

__device__ __forceinline__ struct lm_vector vector_at(const double *a, const shape &s, size_t k)
{
    return {a[k], a[s.pitch + k], a[2 * s.pitch + k]};
}

template <class INDEX>
__device__ __forceinline__ void put_vector(double *a, const shape &s, INDEX k, const struct lm_vector &v)
{
    a[k] = v.x;
    a[s.pitch + k] = v.y;
    a[2 * s.pitch + k] = v.z;
}

/* LM_EXTERNAL_J; s = 0 where there is none. */
inline struct lm_view external_of(const struct lm_gpu *g)
{
    const struct lm_view none = {NULL, NULL, NULL, 0};
    return g->base.setup.external_current ? view_of(g, g->array[LM_EXTERNAL_J]) : none;
}

/* Whether a cell has no image in the ghost cells. */
__device__ __forceinline__ bool is_inner(const shape &s, int i, int j)
{
    return i >= LM_GHOST && i < s.nx - LM_GHOST && j >= LM_GHOST && j < s.ny - LM_GHOST;
}

__device__ __forceinline__ bool is_in(const struct lm_cells &c, int i, int j)
{
    return i >= c.from_x && i < c.to_x && j >= c.from_y && j < c.to_y;
}

/* Calls body(k) for the element of a cell and of each of its periodic images in the ghost cells. */
template <class F> __device__ __forceinline__ void each_image(const shape &s, int i, int j, F body)
{
    if (is_inner(s, i, j)) {
        body((unsigned)at(s, i, j));
        return;
    }
    for (int y = j - (j + LM_GHOST) / s.ny * s.ny; y < s.ny + LM_GHOST; y += s.ny)
        for (int x = i - (i + LM_GHOST) / s.nx * s.nx; x < s.nx + LM_GHOST; x += s.nx)
            body((unsigned)at(s, x, y));
}

/* The same where an axis may have walls, beyond which there are no images. The cell may lie in the ghost cells there.
 */
template <class F>
__device__ __forceinline__ void each_periodic(const shape &s, int walls_x, int walls_y, int i, int j, F body)
{
    if (is_inner(s, i, j)) {
        body((unsigned)at(s, i, j));
        return;
    }
    const int period_x = walls_x ? s.nx + 2 * LM_GHOST : s.nx, period_y = walls_y ? s.ny + 2 * LM_GHOST : s.ny;
    for (int y = j - (j + LM_GHOST) / period_y * period_y; y < s.ny + LM_GHOST; y += period_y)
        for (int x = i - (i + LM_GHOST) / period_x * period_x; x < s.nx + LM_GHOST; x += period_x)
            body((unsigned)at(s, x, y));
}

/* Write a cell and its images. */
__device__ __forceinline__ void store(const shape &s, double *a, int i, int j, double value)
{
    each_image(s, i, j, [&](unsigned k) { a[k] = value; });
}

__device__ __forceinline__ void store_vector(const shape &s, double *a, int i, int j, const struct lm_vector &v)
{
    each_image(s, i, j, [&](unsigned k) { put_vector(a, s, k, v); });
}

/* --- strips ---
 *
 * A warp goes up a strip of 32 columns, one lane a column. A block is one warp: then the compiler knows that the lanes
 * stay together. */

enum { LANES = 32 };

/* The value that the lane to the left, or to the right, has. */
__device__ __forceinline__ double left(double v)
{
    return __shfl_up_sync(0xffffffffu, v, 1);
}

__device__ __forceinline__ double right(double v)
{
    return __shfl_down_sync(0xffffffffu, v, 1);
}

/* Cuts the domain into strips of `own` columns and *rows rows, and returns the grid of blocks. There are as many strips
 * as run at a time, `strips` a multiprocessor: more would only add rows of halo. Strips of fewer than four rows are
 * mostly halo, which does not matter in a small domain. */
inline dim3 cut_into_strips(const struct lm_gpu *g, int own, int strips, int *rows)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    int across = (grid->nx + own - 1) / own, up = g->processors * strips / across;
    up = up > 0 ? up : 1;
    *rows = (grid->ny + up - 1) / up;
    *rows = *rows < 4 && !lm_gpu_is_small(g) ? 4 : *rows;
    return dim3((unsigned)across, (unsigned)((grid->ny + *rows - 1) / *rows));
}

__device__ __forceinline__ void raise(lm_u64 &to, lm_u64 v)
{
    to = v > to ? v : to;
}

} // namespace

#endif
