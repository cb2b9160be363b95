/* Case `reduce` of `larmor bench`: sums over elements of which few contribute, one element a thread. The sums are
 * integers, so every way must give the same. Blocks need not be multiples of a warp. */
#include "bench/bench.cuh"

#include "bench/device.h"
#include "bench/reduce.h"

namespace
{

typedef unsigned long long u64;

enum { WARP = 32, MOST_WARPS = 32 };

__global__ void draw_kernel(uint32_t *draw, uint64_t count)
{
    uint64_t k = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (k < count)
        draw[k] = lm_reduce_draw(k);
}

/* The threads of this warp that exist: the last warp of a block may have fewer than 32. */
struct warp {
    unsigned lane, live, mask;
};

__device__ __forceinline__ warp this_warp()
{
    warp w;
    w.lane = threadIdx.x % WARP;
    w.live = blockDim.x - (threadIdx.x - w.lane);
    w.live = w.live < WARP ? w.live : WARP;
    w.mask = w.live < WARP ? (1u << w.live) - 1 : 0xffffffffu;
    return w;
}

/* Sum over the warp in lane 0. Every thread of the warp takes part. A whole warp goes by a constant mask, for which the
 * compiler makes half the instructions. */
__device__ __forceinline__ u64 sum_in_warp(const warp &w, u64 v)
{
    if (w.live == WARP) {
        for (unsigned d = WARP / 2; d; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d);
        return v;
    }
    for (unsigned d = WARP / 2; d; d /= 2) {
        u64 other = __shfl_down_sync(w.mask, v, d);
        v += w.lane + d < w.live ? other : 0;
    }
    return v;
}

/* `atomics` counts them, where it is given. */
__device__ __forceinline__ void add(u64 *sum, u64 v, u64 *atomics)
{
    atomicAdd(sum, v);
    if (atomics)
        atomicAdd(atomics, 1ull);
}

template <int CHANNELS> __device__ __forceinline__ void by_thread(bool counts, const u64 *v, u64 *sums, u64 *atomics)
{
    for (int c = 0; c < CHANNELS; c++)
        if (counts)
            add(&sums[c], v[c], atomics);
}

template <int CHANNELS, bool SKIP>
__device__ __forceinline__ void by_warp(bool counts, const u64 *v, u64 *sums, u64 *atomics)
{
    warp w = this_warp();
    if (SKIP && !__any_sync(w.mask, counts)) /* the whole warp or none of it */
        return;
    for (int c = 0; c < CHANNELS; c++) {
        u64 sum = sum_in_warp(w, v[c]);
        if (w.lane == 0 && sum)
            add(&sums[c], sum, atomics);
    }
}

template <int CHANNELS, bool SKIP>
__device__ __forceinline__ void by_block(bool counts, const u64 *v, u64 *sums, u64 *atomics)
{
    __shared__ u64 of_warp[CHANNELS][MOST_WARPS];
    warp w = this_warp();
    unsigned warps = (blockDim.x + WARP - 1) / WARP, number = threadIdx.x / WARP;
    if (SKIP && !__syncthreads_or(counts)) /* the whole block or none of it */
        return;
    bool any = !SKIP || __any_sync(w.mask, counts);
    for (int c = 0; c < CHANNELS; c++) {
        u64 sum = any ? sum_in_warp(w, v[c]) : 0;
        if (w.lane == 0)
            of_warp[c][number] = sum;
    }
    __syncthreads();
    if (number > 0)
        return;
    for (int c = 0; c < CHANNELS; c++) {
        u64 sum = sum_in_warp(w, w.lane < warps ? of_warp[c][w.lane] : 0);
        if (w.lane == 0 && sum)
            add(&sums[c], sum, atomics);
    }
}

template <int METHOD, int CHANNELS>
__global__ void reduce_kernel(const uint32_t *draw, uint64_t count, uint64_t threshold, u64 *sums, u64 *atomics)
{
    uint64_t k = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    uint32_t mine = k < count ? draw[k] : 0;
    bool counts = k < count && mine < threshold;
    u64 v[CHANNELS];
    for (int c = 0; c < CHANNELS; c++)
        v[c] = counts ? (u64)lm_reduce_value(mine, c) : 0;
    if (METHOD == LM_REDUCE_THREAD)
        by_thread<CHANNELS>(counts, v, sums, atomics);
    else if (METHOD == LM_REDUCE_WARP || METHOD == LM_REDUCE_WARP_SKIP)
        by_warp<CHANNELS, METHOD == LM_REDUCE_WARP_SKIP>(counts, v, sums, atomics);
    else
        by_block<CHANNELS, METHOD == LM_REDUCE_BLOCK_SKIP>(counts, v, sums, atomics);
}

typedef void (*kernel)(const uint32_t *, uint64_t, uint64_t, u64 *, u64 *);

template <int CHANNELS> kernel kernel_of(int method)
{
    static const kernel list[] = {reduce_kernel<LM_REDUCE_THREAD, CHANNELS>, reduce_kernel<LM_REDUCE_WARP, CHANNELS>,
                                  reduce_kernel<LM_REDUCE_WARP_SKIP, CHANNELS>,
                                  reduce_kernel<LM_REDUCE_BLOCK, CHANNELS>,
                                  reduce_kernel<LM_REDUCE_BLOCK_SKIP, CHANNELS>};
    return list[method];
}

struct device_data {
    uint32_t *draw;
    uint64_t count;
    u64 *sums, *atomics;
};

void one_run(bench_device &d, const device_data &x, int repeats, struct lm_reduce_run *r)
{
    kernel run = r->channels == 1 ? kernel_of<1>(r->method) : kernel_of<LM_REDUCE_CHANNELS>(r->method);
    unsigned blocks = (unsigned)((x.count + (unsigned)r->block - 1) / (unsigned)r->block);
    uint64_t threshold = lm_reduce_threshold(r->rate);
    u64 atomics = 0;
    auto clear = [&] { d.check(cudaMemsetAsync(x.sums, 0, LM_REDUCE_CHANNELS * sizeof *x.sums), "sums"); };
    r->time = d.time(repeats, clear, [&] { run<<<blocks, r->block>>>(x.draw, x.count, threshold, x.sums, NULL); });
    clear();
    d.check(cudaMemset(x.atomics, 0, sizeof *x.atomics), "atomics");
    if (d.failed)
        return;
    run<<<blocks, r->block>>>(x.draw, x.count, threshold, x.sums, x.atomics);
    d.check(cudaGetLastError(), "reduction");
    d.check(cudaMemcpy(r->sum, x.sums, sizeof r->sum, cudaMemcpyDeviceToHost), "reduction");
    d.check(cudaMemcpy(&atomics, x.atomics, sizeof atomics, cudaMemcpyDeviceToHost), "reduction");
    r->atomics = (double)atomics;
}

} // namespace

int lm_cuda_bench_reduce(uint64_t count, int repeats, struct lm_reduce_run *run, int runs)
{
    bench_device d;
    device_data x;
    x.count = count;
    x.draw = (uint32_t *)d.allocate(count * sizeof *x.draw);
    x.sums = (u64 *)d.allocate(LM_REDUCE_CHANNELS * sizeof *x.sums);
    x.atomics = (u64 *)d.allocate(sizeof *x.atomics);
    if (!d.failed) {
        draw_kernel<<<(unsigned)((count + 255) / 256), 256>>>(x.draw, count);
        d.check(cudaGetLastError(), "drawing");
    }
    for (int k = 0; k < runs && !d.failed; k++)
        one_run(d, x, repeats, &run[k]);
    return d.failed;
}
