/* CUDA backend: entropy of the electrons that bodies absorb. The body of the loop is in
 * larmor/physics/fluid/absorption.h.
 *
 * A thread takes a cell at a surface. Atomics are in the sum of the source only, one a warp. No rate of this file is
 * recorded.
 */
#include "core/gpu.cuh"
#include "core/halo.cuh"

#include <cstdlib>

#include "larmor/physics/fluid/absorption.h"

namespace
{

__global__ void absorb_kernel(const struct lm_surface_cell *cells, unsigned count, struct lm_flow_moments moments,
                              struct lm_ohm o, int quantum, double dt, double *entropy, lm_u64 *source)
{
    const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
    struct lm_wide changed = {0, 0};
    if (n < count) {
        const struct lm_surface_cell c = cells[n];
        const double rate = lm_absorption_rate(&moments, &c, &o);
        entropy[c.k] = lm_absorb_entropy(entropy[c.k], rate, (double)c.volume, dt, quantum, &changed);
    }
    lm_warp_sum_wide(source, changed);
}

} // namespace

int lm_gpu_absorb_entropy(struct lm_gpu *g, int quantum, double dt)
{
    enum { BLOCK = 128 };
    const int last = g->base.setup.background_count - 1;
    const unsigned count = g->advect.absorbing_count;
    if (count > 0) {
        absorb_kernel<<<(count + BLOCK - 1) / BLOCK, BLOCK, 0, g->stream>>>(
            g->advect.absorbing, count, lm_gpu_flow_moments(g), g->base.setup.ohm, quantum, dt,
            g->array[LM_BACKGROUND + last], g->control->background[last].source);
        LM_GPU_LAUNCHED(g, "electrons that bodies absorb");
    }
    if (lm_any_body_absorbs(&g->base.setup.bodies))
        lm_gpu_halo_refresh(g, &g->array[LM_BACKGROUND + last], 1);
    return g->failed;
}

int lm_gpu_allocate_absorbing(struct lm_gpu *g, const struct lm_bodies *bodies, const struct lm_opening *open)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const size_t count = g->base.setup.ohm.evolved ? lm_surface_cells(grid, bodies, open, NULL) : 0;
    if (count == 0 || g->failed)
        return g->failed;
    struct lm_surface_cell *cells = (struct lm_surface_cell *)malloc(count * sizeof *cells);
    g->advect.absorbing = (struct lm_surface_cell *)lm_gpu_allocate(g, count * sizeof *cells, "the surfaces of bodies");
    if (!cells && !g->failed)
        g->failed = lm_fail(LM_FAILED, "not enough memory for the surfaces of bodies");
    if (!g->failed) {
        g->advect.absorbing_count = (unsigned)lm_surface_cells(grid, bodies, open, cells);
        lm_gpu_check(
            g, cudaMemcpyAsync(g->advect.absorbing, cells, count * sizeof *cells, cudaMemcpyHostToDevice, g->stream),
            "the surfaces of bodies");
        lm_gpu_check(g, cudaStreamSynchronize(g->stream), "the surfaces of bodies");
    }
    free(cells);
    return g->failed;
}
