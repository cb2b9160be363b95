/* CUDA backend: sums, maxima and hashes over particles. Compiled for each precision.
 *
 * Sums of v and v^2 half a step later: a block takes a chunk, as in the pass (pass.cu), and a thread a group of
 * neighbours. Sums are integers, so their order has no effect.
 *
 * Rate of a whole step with a row of the time series every 10 steps: 37.4e9 particle-steps/s (CIC, double precision;
 * one NVIDIA H200, 2026-11-21, commit 34d4a2f; docs/performance/results.md). */
#include "particles/direct.cuh"

#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/numerics/hash.h"

namespace
{

/* A block of the sums: its threads, how many blocks share a multiprocessor, and how many neighbours (a group) a thread
 * loads at once. The loads are one group ahead. */
template <int ORDER> struct sums_block;
#if LM_PRECISION == 32
template <> struct sums_block<1> {
    enum { THREADS = 128, BLOCKS = 8, GROUP = 2 };
};
template <> struct sums_block<2> {
    enum { THREADS = 128, BLOCKS = 7, GROUP = 2 };
};
#else
template <> struct sums_block<1> {
    enum { THREADS = 128, BLOCKS = 5, GROUP = 2 };
};
template <> struct sums_block<2> {
    enum { THREADS = 128, BLOCKS = 6, GROUP = 1 };
};
#endif

/* N values in one load. */
template <class V, int N> struct alignas(N * sizeof(V)) row {
    V at[N];
};

template <int N> struct group {
    row<lm_fix, N> x, y;
    row<lm_real, N> vx, vy, vz;
};

template <class V, int N> __device__ __forceinline__ row<V, N> row_at(const V *from, uint32_t k)
{
    return *(const row<V, N> *)(from + k);
}

/* Particles k to k + N - 1; k must be a multiple of N. */
template <int N> __device__ __forceinline__ group<N> group_at(const arrays &a, uint32_t k)
{
    return {row_at<lm_fix, N>(a.x, k), row_at<lm_fix, N>(a.y, k), row_at<lm_real, N>(a.vx, k),
            row_at<lm_real, N>(a.vy, k), row_at<lm_real, N>(a.vz, k)};
}

enum { STRAYS = 6 }; /* value of lm_gpu_sums after the six sums: length of the list */

/* The units of the sums: 1/scale_v for v and 1/scale_v2 for v^2. add_rounded needs terms of at most 2^51 units:
 * `small`. The fewer the particles, the finer the units; where they are too fine, all particles take the direct path.
 */
struct units {
    double scale_v, scale_v2, shift_v, shift_v2; /* shifts: 3 2^51 units */
    bool small;
};

units units_of(const struct lm_particle_sums *sums, uint64_t count)
{
    const double v = lm_exp2i(sums->exponent_v), v2 = lm_exp2i(sums->exponent_v2);
    return {v, v2, 0x1.8p52 / v, 0x1.8p52 / v2, lm_sum_exponent((double)count, 0) <= 51};
}

/* lm_add_sums without a conversion to integers. A term with its shift added is rounded to the unit, and the unit is its
 * last bit. The sums hold the bits of the shifts, too; the host subtracts these. The square of a float is exact in
 * double, so the fma gives the same rounding. */
__device__ __forceinline__ void add_rounded(lm_u64 sums[6], const struct lm_particle &p, const units &in)
{
    const double v[3] = {(double)p.vx, (double)p.vy, (double)p.vz};
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        sums[d] += lm_bits(v[d] + in.shift_v);
        sums[3 + d] += lm_bits(LM_PRECISION == 32 ? lm_fma(v[d], v[d], in.shift_v2) : v[d] * v[d] + in.shift_v2);
    }
}

template <int ORDER, int T>
__global__ void __launch_bounds__(sums_block<ORDER>::THREADS, sums_block<ORDER>::BLOCKS)
    sums_kernel(tile_particles h, fields f, struct lm_step step, units in, struct lm_gpu_sums *out)
{
    enum { GROUP = sums_block<ORDER>::GROUP, STRIDE = sums_block<ORDER>::THREADS * GROUP };
    static_assert(GROUP <= GROUP_MAX, "reads beyond the arrays");
    __shared__ window<T> store;
    __shared__ struct stray_list strays;
    const struct lm_gpu_chunk c = chunk_of(h);
    if (c.first == c.last)
        return;
    if (threadIdx.x == 0)
        strays.count = 0;
    const uint32_t count = c.last - c.first, served = in.small ? count : 0, last = (c.last - 1) / GROUP * GROUP;
    uint32_t k = aligned(c.first) + threadIdx.x * GROUP;
    group<GROUP> next = group_at<GROUP>(h.a, min(k, last));
    struct lm_window near = fill_window<ORDER, T, true>(store, h, footprint_of<T, true>(h, c.tile), f);
    __syncthreads();
    lm_u64 sums[6] = {0, 0, 0, 0, 0, 0};
    lm_fix dx, dy;
    for (; k < c.last; k += STRIDE) {
        const group<GROUP> now = next;
        next = group_at<GROUP>(h.a, min(k + STRIDE, last));
        LM_UNROLL
        for (int n = 0; n < GROUP; n++) {
            struct lm_particle p = {now.x.at[n], now.y.at[n], now.vx.at[n], now.vy.at[n], now.vz.at[n]};
            const uint32_t number = k + n - c.first; /* huge before the first */
            if (number < served && lm_in_window(ORDER, p.x, p.y, T)) {
                lm_push(ORDER, &p, &near, &step, &dx, &dy);
                add_rounded(sums, p, in);
            } else if (number < count) {
                h.slot[c.first + atomicAdd(&strays.count, 1u)] = number;
            }
        }
    }
    __syncthreads();
    list_strays(strays, h, &out->value[STRAYS]);
    lm_block_reduce<false>(out->value, sums);
}

/* The same for the particles in the list of strays. */
template <int ORDER>
__global__ void stray_sums_kernel(tile_particles h, fields f, struct lm_step step, units in, struct lm_gpu_sums *out)
{
    int64_t sums[6] = {0, 0, 0, 0, 0, 0};
    for (lm_u64 n = blockIdx.x * (lm_u64)THREADS + threadIdx.x; n < out->value[STRAYS];
         n += gridDim.x * (lm_u64)THREADS) {
        struct lm_stray s;
        lm_fix dx, dy;
        const struct lm_particle p = particle_at(h.a, h.stray[n]);
        if (p.x != LM_GONE) {
            struct lm_window win = patch_of(ORDER, f, h.t, (int)h.stray_tile[n], p, s);
            lm_push(ORDER, &s.p, &win, &step, &dx, &dy);
            lm_add_sums(0, sums, &s.p, in.scale_v, in.scale_v2);
        }
        for (int d = 0; d < 6; d++)
            sums[d] += (int64_t)lm_bits(d < 3 ? in.shift_v : in.shift_v2);
    }
    for (int d = 0; d < 6; d++)
        lm_warp_sum(&out->value[d], (lm_u64)sums[d]);
}

__global__ void speed_kernel(arrays a, uint64_t count, lm_u64 *speed2_max)
{
    lm_u64 speed2 = 0;
    for (uint64_t k = blockIdx.x * (uint64_t)THREADS + threadIdx.x; k < count; k += (uint64_t)gridDim.x * THREADS) {
        struct lm_particle p = {0, 0, a.vx[k], a.vy[k], a.vz[k]};
        raise(speed2, lm_speed2_bits(&p));
    }
    lm_warp_max(speed2_max, speed2);
}

__global__ void hash_kernel(all_particles h, struct lm_place place, int species, struct lm_gpu_sums *out)
{
    lm_u64 sum = 0;
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        if (!mine)
            return;
        const struct lm_particle p = particle_at(h.a, k);
        sum += lm_hash_stored(&h.t, &place, species, tile, &p);
    });
    lm_warp_sum(&out->value[0], sum);
}

template <int ORDER, int T> int launch_sums(struct lm_gpu *g, int species, const struct lm_pass *half, const units &in)
{
    const all_particles h = particles_of(g, species);
    const fields f = fields_of(g, species);
    const struct lm_step step = lm_step_of(&g->base.setup, species, half);
    list_entered(g, h, &g->reduced->value[STRAYS], g->stream);
    sums_kernel<ORDER, T>
        <<<g->species[species].blocks, sums_block<ORDER>::THREADS, 0, g->stream>>>(h, f, step, in, g->reduced);
    LM_GPU_LAUNCHED(g, "sums over particles");
    stray_sums_kernel<ORDER><<<(unsigned)g->processors * 3, THREADS, 0, g->stream>>>(h, f, step, in, g->reduced);
    return LM_GPU_LAUNCHED(g, "sums over strays");
}

} // namespace

int LM_P(lm_gpu_particle_maxima)(struct lm_backend *b, int species)
{
    struct lm_gpu *g = lm_gpu_of(b);
    lm_u64 *speed2 = &g->control->species[species].speed2;
    lm_gpu_check(g, cudaMemsetAsync(speed2, 0, sizeof *speed2, g->stream), "survey of particles");
    speed_kernel<<<(unsigned)g->processors * 8, THREADS, 0, g->stream>>>(particles_of(g, species).a,
                                                                         g->species[species].count, speed2);
    return LM_GPU_LAUNCHED(g, "survey of particles");
}

int LM_P(lm_gpu_particle_sums)(struct lm_backend *b, int species, const struct lm_pass *half, uint64_t present,
                               struct lm_particle_sums *out)
{
    lm_gpu_range range("particle sums");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    out->exponent_v = lm_sum_exponent((double)present, half->speed_exponent);
    out->exponent_v2 = lm_sum_exponent((double)present, 2 * half->speed_exponent);
    const units in = units_of(out, present);
    lm_gpu_reduce_begin(g);
    if (s->count > 0) {
        if (b->setup.shape == LM_LINEAR)
            b->setup.tile == 8 ? launch_sums<1, 8>(g, species, half, in) : launch_sums<1, 16>(g, species, half, in);
        else
            b->setup.tile == 8 ? launch_sums<2, 8>(g, species, half, in) : launch_sums<2, 16>(g, species, half, in);
    }
    lm_gpu_reduce_end(g);
    for (int d = 0; d < 3; d++) {
        out->v[d] = (int64_t)(g->reduced_host->value[d] - s->count * lm_bits(in.shift_v));
        out->v2[d] = (int64_t)(g->reduced_host->value[3 + d] - s->count * lm_bits(in.shift_v2));
    }
    return g->failed;
}

int LM_P(lm_gpu_hash_particles)(struct lm_gpu *g, int species)
{
    const struct lm_gpu_species *s = &g->species[species];
    if (s->count > 0)
        hash_kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(particles_of(g, species), g->base.setup.grid.place,
                                                              species, g->reduced);
    return LM_GPU_LAUNCHED(g, "hash of particles");
}
