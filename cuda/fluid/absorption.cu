/* CUDA backend: entropy of the electrons that pass through surfaces. The body of the loop is in
 * larmor/physics/fluid/absorption.h.
 *
 * A thread takes a cell at a surface, and all read the entropy before any is put. Atomics are in the sums only, one a
 * warp. No rate of this file is recorded.
 */
#include "core/gpu.cuh"
#include "core/halo.cuh"

#include <cstdlib>

#include "larmor/physics/fluid/absorption.h"

namespace
{

__global__ void surface_kernel(const struct lm_surface_cell *cells, unsigned count, struct lm_flow_moments moments,
                               const double *entropy, struct lm_ohm o, int quantum, double dt, double *after,
                               lm_u64 *source, lm_u64 *energy)
{
    const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
    struct lm_surface_sums passed = {{0, 0}, {0, 0}};
    if (n < count) {
        const struct lm_surface_cell c = cells[n];
        after[n] = lm_surface_entropy(&moments, &c, entropy, dt, quantum, &o, &passed);
    }
    lm_warp_sum_wide(source, passed.entropy);
    lm_warp_sum_wide(energy, passed.energy);
}

__global__ void put_kernel(const struct lm_surface_cell *cells, unsigned count, const double *after, double *entropy)
{
    const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count)
        entropy[cells[n].k] = after[n];
}

} // namespace

int lm_gpu_pass_surfaces(struct lm_gpu *g, int quantum, double dt)
{
    enum { BLOCK = 128 };
    const int last = g->base.setup.background_count - 1;
    const unsigned count = g->advect.at_surface_count;
    double *entropy = g->array[LM_BACKGROUND + last];
    if (count > 0) {
        const unsigned blocks = (count + BLOCK - 1) / BLOCK;
        surface_kernel<<<blocks, BLOCK, 0, g->stream>>>(
            g->advect.at_surface, count, lm_gpu_flow_moments(g), entropy, g->base.setup.ohm, quantum, dt,
            g->advect.of_surface, g->control->background[last].source, g->control->through_surfaces);
        put_kernel<<<blocks, BLOCK, 0, g->stream>>>(g->advect.at_surface, count, g->advect.of_surface, entropy);
        LM_GPU_LAUNCHED(g, "electrons at surfaces");
    }
    if (g->base.setup.halo && g->base.setup.halo->has_surfaces)
        lm_gpu_halo_refresh(g, &entropy, 1);
    return g->failed;
}

int lm_gpu_list_surfaces(struct lm_gpu *g, const struct lm_bodies *bodies, const struct lm_opening *open)
{
    const struct lm_setup *s = &g->base.setup;
    const int sides = lm_surface_sides(s);
    const size_t count = lm_has_surfaces(s) ? lm_surface_cells(&s->grid, bodies, open, sides, NULL) : 0;
    if (count == 0 || g->failed)
        return g->failed;
    struct lm_surface_cell *cells = (struct lm_surface_cell *)malloc(count * sizeof *cells);
    g->advect.at_surface = (struct lm_surface_cell *)lm_gpu_allocate(g, count * sizeof *cells, "the cells at surfaces");
    g->advect.of_surface = (double *)lm_gpu_allocate(g, count * sizeof(double), "the cells at surfaces");
    if (!cells && !g->failed)
        g->failed = lm_fail(LM_FAILED, "not enough memory for the cells at surfaces");
    if (!g->failed) {
        g->advect.at_surface_count = (unsigned)lm_surface_cells(&s->grid, bodies, open, sides, cells);
        lm_gpu_check(
            g, cudaMemcpyAsync(g->advect.at_surface, cells, count * sizeof *cells, cudaMemcpyHostToDevice, g->stream),
            "the cells at surfaces");
        lm_gpu_check(g, cudaStreamSynchronize(g->stream), "the cells at surfaces");
    }
    free(cells);
    return g->failed;
}
