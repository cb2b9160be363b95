/* CUDA backend: copies of arrays, and the closure of the electrons (larmor/physics/fields/closure.h). One thread an
 * element, ghost cells included.
 *
 * Rate of closure_kernel (NVIDIA H200, 2026-11-21, commit ea438fb, 1024 x 1024 cells; tests/gpu/profile.md): 7.7 us.
 */
#include "core/cells.cuh"

#include "larmor/physics/fields/closure.h"

namespace
{

__global__ void closure_kernel(double *floored, double *p, const double *n, const double *other, size_t size,
                               struct lm_ohm o)
{
    size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k >= size)
        return;
    double f = lm_floored_mean(n[k], other[k], &o);
    floored[k] = f;
    if (p)
        p[k] = lm_pressure(f, &o);
}

} // namespace

int lm_gpu_copy(struct lm_backend *b, enum lm_array to, enum lm_array from, int count)
{
    struct lm_gpu *g = lm_gpu_of(b);
    for (int k = 0; k < count; k++)
        lm_gpu_check(g,
                     cudaMemcpyAsync(g->array[to + k], g->array[from + k], b->setup.grid.size * sizeof(double),
                                     cudaMemcpyDeviceToDevice, g->stream),
                     "copy of an array");
    return g->failed;
}

/* `p` may be NULL. */
static int close_density(struct lm_gpu *g, int density, int other, double *p)
{
    const int evolved = g->base.setup.ohm.evolved;
    closure_kernel<<<line_blocks(g->base.setup.grid.size), THREADS, 0, g->stream>>>(
        g->array[LM_FLOORED], evolved ? NULL : p, g->array[density], g->array[other], g->base.setup.grid.size,
        g->base.setup.ohm);
    LM_GPU_LAUNCHED(g, "closure");
    return evolved ? lm_gpu_evolved_pressure(g) : g->failed;
}

int lm_gpu_closure(struct lm_backend *b, enum lm_array density, enum lm_array other)
{
    lm_gpu_range range("closure");
    struct lm_gpu *g = lm_gpu_of(b);
    return close_density(g, density, other,
                         b->setup.ohm.gamma == 1.0 && !g->general.used ? NULL : g->array[LM_PRESSURE]);
}

int lm_gpu_pressure(struct lm_gpu *g)
{
    return close_density(g, LM_N_OLD, LM_N_OLD, g->array[LM_PRESSURE]);
}
