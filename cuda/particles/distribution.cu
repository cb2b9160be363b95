/* CUDA backend: distributions (larmor/physics/particles/distribution.h). Compiled for each precision.
 *
 * A thread takes a particle. Where there are few bins, a block counts in its shared memory first and adds what it has
 * to the counters of all blocks; else each particle is one atomic there. */
#include "particles/particles.cuh"

#include "backend/counting.h"

namespace
{

enum { MOST_IN_BLOCK = 4096 /* bins */ };

/* `counts`: of all blocks. IN_BLOCK: there are at most MOST_IN_BLOCK bins. */
template <bool IN_BLOCK>
__global__ void count_kernel(all_particles h, const __grid_constant__ struct lm_counting around, lm_u64 *counts)
{
    __shared__ uint32_t of_block[IN_BLOCK ? MOST_IN_BLOCK : 1];
    const uint32_t bins = (uint32_t)around.outside;
    lm_u64 outside = 0;
    for (uint32_t k = threadIdx.x; IN_BLOCK && k < bins; k += THREADS)
        of_block[k] = 0;
    __syncthreads();
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        if (!mine)
            return;
        const struct lm_particle p = particle_at(h.a, k);
        const int64_t to = lm_counter_of(&around, tile, &p);
        if (to == around.outside)
            outside++;
        else if (to >= 0 && IN_BLOCK)
            atomicAdd(&of_block[to], 1u);
        else if (to >= 0)
            atomicAdd(&counts[to], 1ull);
    });
    lm_warp_sum(&counts[bins], outside);
    __syncthreads();
    for (uint32_t k = threadIdx.x; IN_BLOCK && k < bins; k += THREADS)
        if (of_block[k] > 0)
            atomicAdd(&counts[k], (lm_u64)of_block[k]);
}

} // namespace

int LM_P(lm_gpu_distribution)(struct lm_backend *b, int species, const struct lm_bins *bins, uint64_t *counts)
{
    lm_gpu_range range("distribution");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    const struct lm_counting around = lm_counting_of(&b->setup, species, bins, &g->tiling, &g->array[LM_B]);
    const size_t bytes = lm_bins_counters(bins) * sizeof *counts;
    lm_u64 *device = (lm_u64 *)lm_gpu_try_allocate(g, bytes, "the counters of a distribution");
    if (!device)
        return LM_FAILED;
    lm_gpu_check(g, cudaMemsetAsync(device, 0, bytes, g->stream), "distribution");
    auto kernel = around.outside <= MOST_IN_BLOCK ? count_kernel<true> : count_kernel<false>;
    if (all_blocks(s) > 0 && s->count > 0)
        kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(particles_of(g, species), around, device);
    LM_GPU_LAUNCHED(g, "distribution");
    lm_gpu_check(g, cudaMemcpyAsync(counts, device, bytes, cudaMemcpyDeviceToHost, g->stream), "distribution");
    lm_gpu_wait(g, "distribution");
    lm_gpu_free(g, device);
    return g->failed;
}
