/* The kernels of the case `particles` of `larmor bench`, for one precision at a time.
 *
 * Every way runs the same bodies (lm_pass_near, LM_DEPOSIT_PASS) on the same particles; they differ in where the parts
 * are added and in the order of the particles within their tile. A block takes one chunk of a tile of 8 x 8 cells.
 */
#ifndef LARMOR_BENCH_PARTICLES_CUH
#define LARMOR_BENCH_PARTICLES_CUH

#include <cuda_runtime.h>

#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/particles/pass.h"

namespace
{

typedef unsigned long long u64;

enum {
    TILE = 8,
    WIDTH = TILE + LM_WINDOW_EXTRA,
    AREA = WIDTH * WIDTH,
    ORIGIN = LM_WINDOW_LOW * WIDTH + LM_WINDOW_LOW,
    NODES = LM_MOMENTS * AREA
};

enum stage { FUSED, PUSH, DEPOSIT };
enum order { RANDOM, STRIDED, SORTED, ORDERS };

struct arrays {
    lm_fix *x, *y;
    lm_real *vx, *vy, *vz;
};

/* What a kernel works on. Every tile holds `in_tile` particles. */
struct job {
    arrays a;
    int tiles, cells; /* a side */
    uint32_t in_tile, ppc, chunks, chunk;
    const double *field; /* [LM_WINDOW_FIELDS][cells][cells] */
    struct lm_step step;
    void *sums;   /* [4][cells][cells], u64 or double */
    u64 *flushed; /* counts additions to `sums` at the end of blocks, or NULL */
    u64 *strays;  /* particles outside of their window: there must be none */
};

/* --- where parts are added --- */

__device__ __forceinline__ int wrapped(int i, int n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

__device__ __forceinline__ size_t node_of(const job &h, int tile, int i, int j)
{
    int x = wrapped(tile % h.tiles * TILE + i, h.cells), y = wrapped(tile / h.tiles * TILE + j, h.cells);
    return (size_t)y * h.cells + x;
}

__device__ __forceinline__ void add_to_sum(void *sums, size_t k, int32_t part)
{
    atomicAdd((u64 *)sums + k, (u64)(int64_t)part);
}

__device__ __forceinline__ void add_to_sum(void *sums, size_t k, double part)
{
    atomicAdd((double *)sums + k, part);
}

__device__ __forceinline__ void add_to_sum(void *sums, size_t k, float part)
{
    atomicAdd((double *)sums + k, (double)part);
}

/* A double in global memory. */
struct in_global {
    enum { THREADS = 256, BYTES = 0, INTEGER = 0, GLOBAL = 1, SHARED = 0 };
    const job *h;
    int tile;

    __device__ void begin(const job &job_, int tile_, void *)
    {
        h = &job_;
        tile = tile_;
    }
    __device__ __forceinline__ void add(int d, int i, int j, int32_t part)
    {
        size_t cells = (size_t)h->cells * h->cells;
        atomicAdd((double *)h->sums + d * cells + node_of(*h, tile, i, j), (double)part);
    }
    __device__ void end()
    {
    }
};

/* A window in shared memory; with COPIES = 32 one of each node for every lane, so that the lanes of a warp never meet
 * in an address or a bank. */
template <class V, int COPIES, int BLOCK> struct in_shared {
    enum { THREADS = BLOCK, BYTES = NODES * COPIES * (int)sizeof(V), INTEGER = V(0.5) == V(0), GLOBAL = 0, SHARED = 1 };
    const job *h;
    int tile;
    V *parts, *origin;

    __device__ void begin(const job &job_, int tile_, void *store)
    {
        h = &job_;
        tile = tile_;
        parts = (V *)store;
        origin = parts + ORIGIN * COPIES + threadIdx.x % COPIES;
        for (int k = threadIdx.x; k < NODES * COPIES; k += THREADS)
            parts[k] = 0;
    }
    __device__ __forceinline__ void add(int d, int i, int j, int32_t part)
    {
        atomicAdd(&origin[(d * AREA + j * WIDTH + i) * COPIES], (V)part);
    }
    /* The copies are added in an order that differs from lane to lane, so that the lanes meet in no bank. */
    __device__ void end()
    {
        size_t cells = (size_t)h->cells * h->cells;
        for (int k = threadIdx.x; k < NODES; k += THREADS) {
            V sum = 0;
            for (int c = 0; c < COPIES; c++)
                sum += parts[k * COPIES + (c + threadIdx.x) % COPIES];
            if (sum == 0)
                continue;
            int node = k % AREA;
            size_t g = node_of(*h, tile, node % WIDTH - LM_WINDOW_LOW, node / WIDTH - LM_WINDOW_LOW);
            add_to_sum(h->sums, k / AREA * cells + g, sum);
            if (h->flushed)
                atomicAdd(h->flushed, 1ull);
        }
    }
};

struct nowhere {
    enum { THREADS = 256, BYTES = 0, INTEGER = 1, GLOBAL = 0, SHARED = 0 };
    __device__ void begin(const job &, int, void *)
    {
    }
    __device__ __forceinline__ void add(int, int, int, int32_t)
    {
    }
    __device__ void end()
    {
    }
};

/* --- the pass --- */

/* With the linear shape as lm_join_line makes it. */
template <int ORDER> __device__ __forceinline__ void fill_window(const job &h, int tile, lm_real *field)
{
    const size_t cells = (size_t)h.cells * h.cells;
    for (int k = threadIdx.x; k < AREA; k += blockDim.x) {
        const int i = k % WIDTH - LM_WINDOW_LOW, j = k / WIDTH - LM_WINDOW_LOW;
        const auto at = [&](int d, int x, int y) { return (lm_real)h.field[d * cells + node_of(h, tile, x, y)]; };
        for (int d = 0; d < LM_WINDOW_FIELDS; d++)
            field[d * AREA + k] = at(d, i, j);
        for (int axis = 0; axis < 2 && ORDER == 1; axis++) {
            const int e = LM_WINDOW_E + axis, f = LM_WINDOW_FACES + axis, x = axis == 0, y = axis == 1;
            field[e * AREA + k] = lm_on_centre(at(e, i, j), at(f, i - x, j - y), at(f, i, j));
            field[f * AREA + k] = lm_on_face(at(f, i, j), at(e, i, j), at(e, i + x, j + y));
        }
    }
}

template <int ORDER, int STAGE, class TARGET>
__device__ __forceinline__ bool one_particle(const job &h, const struct lm_window &win, TARGET &target,
                                             struct lm_particle &p)
{
    const struct lm_near near = {NULL, NULL, TILE, 0};
    struct lm_deposit_places at;
    if (!lm_in_window(ORDER, p.x, p.y, TILE))
        return false;
    if (STAGE == DEPOSIT) { /* the particle has been pushed and moved: its velocity says from where */
        const lm_fix dx = lm_round_product(p.vx, h.step.rx), dy = lm_round_product(p.vy, h.step.ry);
        at = {lm_fix24(p.x - dx + (dx >> 1)), lm_fix24(p.y - dy + (dy >> 1)), lm_fix24(p.x), lm_fix24(p.y)};
    } else {
        struct lm_step step = h.step;
        if (!TARGET::GLOBAL) /* known when the kernel is compiled; without gain there */
            step.move = 1;
        if (!lm_pass_near(ORDER, 1, NULL, &p, &win, &step, &near, &at))
            return false;
    }
#define ADD(d, i, j, part) target.add(d, i, j, part)
    if (STAGE != PUSH)
        LM_DEPOSIT_PASS(ORDER, at, p.vx, p.vy, p.vz, h.step.current_scale, ADD);
#undef ADD
    return true;
}

template <int ORDER, int STAGE, class TARGET> __global__ void __launch_bounds__(TARGET::THREADS) pass_kernel(job h)
{
    __shared__ lm_real field[STAGE == DEPOSIT ? 1 : LM_WINDOW_FIELDS * AREA];
    extern __shared__ u64 store[];
    TARGET target;
    int tile = (int)(blockIdx.x / h.chunks);
    uint32_t first = blockIdx.x % h.chunks * h.chunk, end = first + h.chunk;
    uint32_t start = (uint32_t)tile * h.in_tile, last = start + (end < h.in_tile ? end : h.in_tile);
    struct lm_window win = {field + ORIGIN, WIDTH, AREA};
    target.begin(h, tile, store);
    if (STAGE != DEPOSIT)
        fill_window<ORDER>(h, tile, field);
    __syncthreads();
    for (uint32_t k = start + first + threadIdx.x; k < last; k += TARGET::THREADS) {
        struct lm_particle p = {h.a.x[k], h.a.y[k], h.a.vx[k], h.a.vy[k], h.a.vz[k]};
        if (!one_particle<ORDER, STAGE>(h, win, target, p)) {
            atomicAdd(h.strays, 1ull);
            continue;
        }
        if (STAGE != DEPOSIT) {
            h.a.x[k] = p.x;
            h.a.y[k] = p.y;
            h.a.vx[k] = p.vx;
            h.a.vy[k] = p.vy;
            h.a.vz[k] = p.vz;
        }
    }
    __syncthreads();
    target.end();
}

/* --- particles --- */

/* Neighbours in memory lie in different 64ths of the tile: place of the q-th of n particles sorted by cell. */
__device__ uint32_t strided(uint32_t q, uint32_t n)
{
    const uint32_t lanes = 64;
    uint32_t rows = (n + lanes - 1) / lanes, full = n - lanes * (rows - 1);
    if (q < full * rows)
        return q % rows * lanes + q / rows;
    q -= full * rows;
    return q % (rows - 1) * lanes + full + q / (rows - 1);
}

/* A permutation of [0, n): one of the next power of two, followed until it comes back into the range. */
__device__ uint32_t shuffled(uint32_t q, uint32_t n, uint32_t key)
{
    int bits = 32 - __clz((int)(n - 1));
    uint32_t mask = bits < 32 ? (1u << bits) - 1 : ~0u;
    do {
        q = (q + key) * 0x9e3779b1u & mask;
        q ^= q >> (bits / 2 + 1);
        q = q * 0x85ebca6bu & mask;
        q ^= q >> (bits / 2 + 1);
    } while (q >= n);
    return q;
}

__device__ uint32_t place_of(int order, uint32_t q, uint32_t n, uint32_t tile)
{
    return order == SORTED ? q : order == STRIDED ? strided(q, n) : shuffled(q, n, tile * 0x27d4eb2fu);
}

/* A thermal plasma at rest, T = 0.5: `ppc` particles in every cell, anywhere in it. */
__global__ void load_kernel(job h, int order)
{
    uint64_t k = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (k >= (uint64_t)h.tiles * h.tiles * h.in_tile)
        return;
    uint32_t tile = (uint32_t)(k / h.in_tile), q = (uint32_t)(k % h.in_tile), cell = q / h.ppc, r = q % h.ppc;
    uint32_t number = tile * TILE * TILE + cell;
    struct lm_random place = lm_random_at(1, 0, LM_STREAM_POSITION, number, r);
    struct lm_random plane = lm_random_at(1, 0, LM_STREAM_VELOCITY, number, r);
    struct lm_random z = lm_random_at(1, 0, LM_STREAM_VELOCITY_Z, number, r);
    const double thermal = 0.70710678118654752;
    uint64_t to = (uint64_t)tile * h.in_tile + place_of(order, q, h.in_tile, tile);
    h.a.x[to] = (lm_fix)(cell % TILE) * LM_ONE + (lm_fix)(place.a >> (64 - LM_FRACTION_BITS));
    h.a.y[to] = (lm_fix)(cell / TILE) * LM_ONE + (lm_fix)(place.b >> (64 - LM_FRACTION_BITS));
    h.a.vx[to] = (lm_real)(thermal * lm_normal(lm_uniform(plane.a)));
    h.a.vy[to] = (lm_real)(thermal * lm_normal(lm_uniform(plane.b)));
    h.a.vz[to] = (lm_real)(thermal * lm_normal(lm_uniform(z.a)));
}

} // namespace

#endif
