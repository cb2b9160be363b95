/* CUDA backend: loops over particles, compiled for each precision. The bodies are in larmor/physics/.
 *
 * A block takes one chunk of a tile (at most LM_CHUNK particles, so that int32 sums cannot overflow): it copies the
 * fields around the tile to shared memory in the particles' precision, streams the chunk once (coalesced; neighbouring
 * lanes in different cells), adds the integer moments with native int32 shared-memory atomics, and flushes them with
 * one 64-bit atomic a node. Particles too far from their tile go to a list and take the direct path in a second, small
 * kernel.
 */
#include "particles.cuh"

#include "larmor/physics/bounds.h"
#include "larmor/physics/deposit.h"
#include "larmor/physics/hash.h"
#include "larmor/physics/stray.h"

namespace
{

struct fields {
    const double *f[6]; /* E of the push, B: order of lm_window */
    int stride;
};

fields fields_of(const struct lm_gpu *g)
{
    fields f;
    for (int d = 0; d < 3; d++) {
        f.f[d] = g->array[LM_PUSH_E + d];
        f.f[3 + d] = g->array[LM_B + d];
    }
    f.stride = g->base.setup.grid.stride;
    return f;
}

struct lm_step step_of(const struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    const struct lm_setup *s = &g->base.setup;
    const struct lm_backend_species *p = &s->species[species];
    return lm_step_make(pass->kick_dt, pass->drift_dt, pass->move, pass->cap, p->charge / p->mass, s->ohm.rx,
                        s->ohm.ry);
}

template <int T> struct window {
    enum { WIDTH = T + LM_WINDOW_EXTRA, AREA = WIDTH * WIDTH, ORIGIN = LM_WINDOW_LOW * WIDTH + LM_WINDOW_LOW };
    lm_real field[6 * AREA];
};

template <int T> struct pass_store {
    window<T> win;
    int32_t parts[LM_MOMENTS * window<T>::AREA];
};

/* Copies the fields around a tile to shared memory. The caller synchronises. */
template <int T>
__device__ __forceinline__ struct lm_window fill_window(window<T> &w, const struct lm_tiling &t, int tile,
                                                        const fields &f)
{
    enum { WIDTH = window<T>::WIDTH, AREA = window<T>::AREA };
    int i0 = tile % t.nx * T - LM_WINDOW_LOW, j0 = tile / t.nx * T - LM_WINDOW_LOW;
    for (int k = threadIdx.x; k < AREA; k += THREADS) {
        size_t g = (size_t)(lm_wrap(j0 + k / WIDTH, t.cells_y) + LM_GHOST) * f.stride +
                   lm_wrap(i0 + k % WIDTH, t.cells_x) + LM_GHOST;
        for (int d = 0; d < 6; d++)
            w.field[d * AREA + k] = (lm_real)f.f[d][g];
    }
    struct lm_window win = {w.field + window<T>::ORIGIN, WIDTH, AREA};
    return win;
}

template <int ORDER, int T>
__global__ void __launch_bounds__(THREADS)
    pass_kernel(population h, fields f, struct lm_step step, lm_u64 *sums, lm_u64 *speed2_max, lm_u64 *strays)
{
    enum { WIDTH = window<T>::WIDTH, AREA = window<T>::AREA };
    __shared__ pass_store<T> store;
    int tile;
    uint32_t first, last;
    if (!chunk_of(h, &tile, &first, &last))
        return;
    struct lm_window win = fill_window<T>(store.win, h.t, tile, f);
    for (int k = threadIdx.x; k < LM_MOMENTS * AREA; k += THREADS)
        store.parts[k] = 0;
    __syncthreads();
    int32_t *origin = store.parts + window<T>::ORIGIN;
    lm_u64 speed2 = 0;
    for (uint32_t k = aligned(first) + threadIdx.x; k < last; k += THREADS) {
        if (k < first)
            continue;
        struct lm_particle p = particle_at(h.a, k);
        bool near = lm_in_window(p.x, p.y, T);
        lm_fix dx = 0, dy = 0;
        if (near) {
            lm_push(ORDER, &p, &win, &step, &dx, &dy);
            near = lm_in_window(p.x + (dx >> 1), p.y + (dy >> 1), T) &&
                   (!step.move || lm_in_window(p.x + dx, p.y + dy, T));
        }
        if (!near) {
            h.place[atomicAdd(strays, 1ull)] = k;
            continue;
        }
#define ADD(d, i, j, part) atomicAdd(&origin[(d)*AREA + (j)*WIDTH + (i)], part)
        LM_DEPOSIT_CURRENT(ORDER, lm_fix24(p.x + (dx >> 1)), lm_fix24(p.y + (dy >> 1)), p.u, p.v, p.w,
                           step.current_scale, ADD);
        if (step.move) {
            p.x += dx;
            p.y += dy;
        }
        LM_DEPOSIT_DENSITY(ORDER, lm_fix24(p.x), lm_fix24(p.y), ADD);
#undef ADD
        put_particle(h.a, k, p);
        lm_u64 bits = lm_bits(lm_speed2(&p));
        speed2 = bits > speed2 ? bits : speed2;
    }
    lm_warp_max(speed2_max, speed2);
    __syncthreads();
    int i0 = tile % h.t.nx * T - LM_WINDOW_LOW, j0 = tile / h.t.nx * T - LM_WINDOW_LOW;
    size_t cells = (size_t)h.t.cells_x * h.t.cells_y;
    for (int k = threadIdx.x; k < LM_MOMENTS * AREA; k += THREADS) {
        int32_t part = store.parts[k];
        int node = k % AREA;
        size_t g =
            (size_t)lm_wrap(j0 + node / WIDTH, h.t.cells_y) * h.t.cells_x + lm_wrap(i0 + node % WIDTH, h.t.cells_x);
        if (part)
            atomicAdd(&sums[k / AREA * cells + g], (lm_u64)(int64_t)part);
    }
}

/* The direct path: particles of the list, gathered from and deposited on the whole grid. */
template <int ORDER>
__global__ void stray_kernel(population h, fields f, struct lm_step step, lm_u64 *sums, lm_u64 *speed2_max,
                             const lm_u64 *strays)
{
    size_t cells = (size_t)h.t.cells_x * h.t.cells_y;
    lm_u64 speed2 = 0;
    for (lm_u64 n = blockIdx.x * (lm_u64)THREADS + threadIdx.x; n < *strays; n += (lm_u64)gridDim.x * THREADS) {
        uint32_t k = h.place[n];
        struct lm_particle p = particle_at(h.a, k);
        struct lm_stray s;
        lm_fix dx, dy;
        lm_stray_at(&s, &h.t, tile_of(h, k), &p, f.f, f.stride);
        struct lm_window win = lm_stray_window(&s);
        lm_push(ORDER, &s.p, &win, &step, &dx, &dy);
#define ADD(d, a, b, part)                                                                                             \
    do {                                                                                                               \
        int64_t add_ = part;                                                                                           \
        size_t g_ = (size_t)lm_wrap(s.j + (b), h.t.cells_y) * h.t.cells_x + lm_wrap(s.i + (a), h.t.cells_x);           \
        atomicAdd(&sums[(d)*cells + g_], (lm_u64)add_);                                                                \
    } while (0)
        LM_DEPOSIT_CURRENT(ORDER, lm_fix24(s.p.x + (dx >> 1)), lm_fix24(s.p.y + (dy >> 1)), s.p.u, s.p.v, s.p.w,
                           step.current_scale, ADD);
        lm_fix mx = step.move ? dx : 0, my = step.move ? dy : 0;
        LM_DEPOSIT_DENSITY(ORDER, lm_fix24(s.p.x + mx), lm_fix24(s.p.y + my), ADD);
#undef ADD
        p.x += mx;
        p.y += my;
        p.u = s.p.u, p.v = s.p.v, p.w = s.p.w;
        put_particle(h.a, k, p);
        lm_u64 bits = lm_bits(lm_speed2(&p));
        speed2 = bits > speed2 ? bits : speed2;
    }
    lm_warp_max(speed2_max, speed2);
}

template <int ORDER, int T>
__global__ void __launch_bounds__(THREADS)
    sums_kernel(population h, fields f, struct lm_step step, double one, double two, struct lm_gpu_sums *out)
{
    __shared__ window<T> store;
    int tile;
    uint32_t first, last;
    if (!chunk_of(h, &tile, &first, &last))
        return;
    struct lm_window near = fill_window<T>(store, h.t, tile, f);
    __syncthreads();
    int64_t sums[6] = {0, 0, 0, 0, 0, 0};
    for (uint32_t k = aligned(first) + threadIdx.x; k < last; k += THREADS) {
        if (k < first)
            continue;
        struct lm_particle p = particle_at(h.a, k);
        lm_fix dx, dy;
        if (lm_in_window(p.x, p.y, T)) {
            lm_push(ORDER, &p, &near, &step, &dx, &dy);
        } else {
            struct lm_stray s;
            lm_stray_at(&s, &h.t, tile, &p, f.f, f.stride);
            struct lm_window win = lm_stray_window(&s);
            lm_push(ORDER, &s.p, &win, &step, &dx, &dy);
            p = s.p;
        }
        lm_add_sums(sums, &p, one, two);
    }
    for (int d = 0; d < 6; d++)
        lm_warp_sum(&out->value[d], (lm_u64)sums[d]);
}

__global__ void speed_kernel(arrays a, uint64_t count, lm_u64 *speed2_max)
{
    lm_u64 speed2 = 0;
    for (uint64_t k = blockIdx.x * (uint64_t)THREADS + threadIdx.x; k < count; k += (uint64_t)gridDim.x * THREADS) {
        struct lm_particle p = {0, 0, a.u[k], a.v[k], a.w[k]};
        lm_u64 bits = lm_bits(lm_speed2(&p));
        speed2 = bits > speed2 ? bits : speed2;
    }
    lm_warp_max(speed2_max, speed2);
}

__global__ void hash_kernel(population h, int species, struct lm_gpu_sums *out)
{
    int tile;
    uint32_t first, last;
    if (!chunk_of(h, &tile, &first, &last))
        return;
    lm_u64 sum = 0;
    for (uint32_t k = aligned(first) + threadIdx.x; k < last; k += THREADS) {
        if (k < first)
            continue;
        struct lm_particle p = particle_at(h.a, k);
        sum += lm_hash_particle(species, lm_global(p.x, tile % h.t.nx, h.t.size, h.t.cells_x),
                                lm_global(p.y, tile / h.t.nx, h.t.size, h.t.cells_y), (double)p.u, (double)p.v,
                                (double)p.w);
    }
    lm_warp_sum(&out->value[0], sum);
}

} // namespace

int LM_P(lm_gpu_pass)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    lm_u64 *speed2 = &g->control->speed2[species], *strays = &g->control->strays[species];
    struct lm_step step = step_of(g, species, pass);
    population h = population_of(g, species);
    fields f = fields_of(g);
    lm_gpu_check(g, cudaMemsetAsync(speed2, 0, sizeof *speed2, g->stream), "pass");
    lm_gpu_check(g, cudaMemsetAsync(strays, 0, sizeof *strays, g->stream), "pass");
    if (s->count == 0)
        return g->failed;
    auto kernel = b->setup.shape == 1 ? (b->setup.tile == 8 ? pass_kernel<1, 8> : pass_kernel<1, 16>)
                                      : (b->setup.tile == 8 ? pass_kernel<2, 8> : pass_kernel<2, 16>);
    kernel<<<s->blocks, THREADS, 0, g->stream>>>(h, f, step, g->sums, speed2, strays);
    LM_GPU_LAUNCHED(g, "particle pass");
    auto direct = b->setup.shape == 1 ? stray_kernel<1> : stray_kernel<2>;
    direct<<<(unsigned)g->processors * 2, THREADS, 0, g->stream>>>(h, f, step, g->sums, speed2, strays);
    return LM_GPU_LAUNCHED(g, "pass of strays");
}

int LM_P(lm_gpu_survey_particles)(struct lm_backend *b, int species)
{
    struct lm_gpu *g = lm_gpu_of(b);
    lm_u64 *speed2 = &g->control->speed2[species];
    lm_gpu_check(g, cudaMemsetAsync(speed2, 0, sizeof *speed2, g->stream), "survey of particles");
    speed_kernel<<<(unsigned)g->processors * 8, THREADS, 0, g->stream>>>(population_of(g, species).a,
                                                                         g->species[species].count, speed2);
    return LM_GPU_LAUNCHED(g, "survey of particles");
}

int LM_P(lm_gpu_particle_sums)(struct lm_backend *b, int species, const struct lm_pass *half,
                               struct lm_particle_sums *out)
{
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    out->exponent_v = lm_sum_exponent((double)s->count, half->cap);
    out->exponent_v2 = lm_sum_exponent((double)s->count, 2 * half->cap);
    lm_gpu_reduce_begin(g);
    auto kernel = b->setup.shape == 1 ? (b->setup.tile == 8 ? sums_kernel<1, 8> : sums_kernel<1, 16>)
                                      : (b->setup.tile == 8 ? sums_kernel<2, 8> : sums_kernel<2, 16>);
    if (s->count > 0)
        kernel<<<s->blocks, THREADS, 0, g->stream>>>(population_of(g, species), fields_of(g), step_of(g, species, half),
                                                     lm_exp2i(out->exponent_v), lm_exp2i(out->exponent_v2), g->reduced);
    LM_GPU_LAUNCHED(g, "sums over particles");
    lm_gpu_reduce_end(g);
    for (int d = 0; d < 3; d++) {
        out->v[d] = (int64_t)g->reduced_host->value[d];
        out->v2[d] = (int64_t)g->reduced_host->value[3 + d];
    }
    return g->failed;
}

int LM_P(lm_gpu_hash_particles)(struct lm_gpu *g, int species)
{
    const struct lm_gpu_species *s = &g->species[species];
    if (s->count > 0)
        hash_kernel<<<s->blocks, THREADS, 0, g->stream>>>(population_of(g, species), species, g->reduced);
    return LM_GPU_LAUNCHED(g, "hash of particles");
}
