/* Case `particles` of `larmor bench`: ways to write the particle pass, side by side, for each precision.
 *
 * Every way runs the same bodies (lm_push, LM_DEPOSIT_*) on the same particles; they differ in where the parts are
 * added and in the order of the particles within their tile. A block takes one chunk of a tile of 8 x 8 cells.
 */
#include "bench.cuh"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "larmor/bench_cuda.h"
#include "larmor/physics/deposit.h"
#include "larmor/physics/rng.h"
#include "larmor/physics/tile.h"

namespace
{

typedef unsigned long long u64;

enum {
    TILE = 8,
    WIDTH = TILE + LM_WINDOW_EXTRA,
    AREA = WIDTH * WIDTH,
    ORIGIN = LM_WINDOW_LOW * WIDTH + LM_WINDOW_LOW,
    NODES = LM_MOMENTS * AREA,
    MOST_IN_CHUNK = 1 << 14 /* parts of at most 2^16 + 1 each fit an int32 */
};

enum stage { FUSED, PUSH, DEPOSIT };
enum order { RANDOM, STRIDED, SORTED, ORDERS };

struct arrays {
    lm_fix *x, *y;
    lm_real *u, *v, *w;
};

/* What a kernel works on. Every tile holds `in_tile` particles. */
struct job {
    arrays a;
    int tiles, cells; /* a side */
    uint32_t in_tile, ppc, chunks, chunk;
    const double *field; /* [6][cells][cells] */
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

__device__ __forceinline__ void fill_window(const job &h, int tile, lm_real *field)
{
    size_t cells = (size_t)h.cells * h.cells;
    for (int k = threadIdx.x; k < AREA; k += blockDim.x) {
        size_t g = node_of(h, tile, k % WIDTH - LM_WINDOW_LOW, k / WIDTH - LM_WINDOW_LOW);
        for (int d = 0; d < 6; d++)
            field[d * AREA + k] = (lm_real)h.field[d * cells + g];
    }
}

template <int ORDER, int STAGE, class TARGET>
__device__ __forceinline__ bool one_particle(const job &h, const struct lm_window &win, TARGET &target,
                                             struct lm_particle &p)
{
    lm_fix dx, dy;
    if (!lm_in_window(p.x, p.y, TILE))
        return false;
    if (STAGE == DEPOSIT) { /* the particle has been pushed: p.x - dx is where it was */
        dx = lm_round_fix(p.u * h.step.rx);
        dy = lm_round_fix(p.v * h.step.ry);
        p.x -= dx;
        p.y -= dy;
    } else {
        lm_push(ORDER, &p, &win, &h.step, &dx, &dy);
    }
    if (!lm_in_window(p.x + dx, p.y + dy, TILE) || !lm_in_window(p.x + (dx >> 1), p.y + (dy >> 1), TILE))
        return false;
#define ADD(d, i, j, part) target.add(d, i, j, part)
    if (STAGE != PUSH)
        LM_DEPOSIT_CURRENT(ORDER, lm_fix24(p.x + (dx >> 1)), lm_fix24(p.y + (dy >> 1)), p.u, p.v, p.w,
                           h.step.current_scale, ADD);
    p.x += dx;
    p.y += dy;
    if (STAGE != PUSH)
        LM_DEPOSIT_DENSITY(ORDER, lm_fix24(p.x), lm_fix24(p.y), ADD);
#undef ADD
    return true;
}

template <int ORDER, int STAGE, class TARGET> __global__ void __launch_bounds__(TARGET::THREADS) pass_kernel(job h)
{
    __shared__ lm_real field[STAGE == DEPOSIT ? 1 : 6 * AREA];
    extern __shared__ u64 store[];
    TARGET target;
    int tile = (int)(blockIdx.x / h.chunks);
    uint32_t first = blockIdx.x % h.chunks * h.chunk, end = first + h.chunk;
    uint32_t start = (uint32_t)tile * h.in_tile, last = start + (end < h.in_tile ? end : h.in_tile);
    struct lm_window win = {field + ORIGIN, WIDTH, AREA};
    target.begin(h, tile, store);
    if (STAGE != DEPOSIT)
        fill_window(h, tile, field);
    __syncthreads();
    for (uint32_t k = start + first + threadIdx.x; k < last; k += TARGET::THREADS) {
        struct lm_particle p = {h.a.x[k], h.a.y[k], h.a.u[k], h.a.v[k], h.a.w[k]};
        if (!one_particle<ORDER, STAGE>(h, win, target, p)) {
            atomicAdd(h.strays, 1ull);
            continue;
        }
        if (STAGE != DEPOSIT) {
            h.a.x[k] = p.x;
            h.a.y[k] = p.y;
            h.a.u[k] = p.u;
            h.a.v[k] = p.v;
            h.a.w[k] = p.w;
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
    h.a.u[to] = (lm_real)(thermal * lm_normal(lm_uniform(plane.a)));
    h.a.v[to] = (lm_real)(thermal * lm_normal(lm_uniform(plane.b)));
    h.a.w[to] = (lm_real)(thermal * lm_normal(lm_uniform(z.a)));
}

/* --- the variants --- */

struct variant {
    const char *name;
    void (*kernel)(job);
    int stage, threads, bytes, integer;
    int global_atomics, shared_atomics; /* by a particle, without what a block adds at its end */
};

template <int ORDER, int STAGE, class TARGET> variant make(const char *name)
{
    const int parts = STAGE == PUSH ? 0 : LM_MOMENTS * (ORDER + 1) * (ORDER + 1);
    return {name,
            pass_kernel<ORDER, STAGE, TARGET>,
            STAGE,
            TARGET::THREADS,
            TARGET::BYTES,
            TARGET::INTEGER,
            TARGET::GLOBAL * parts,
            TARGET::SHARED * parts};
}

typedef in_shared<int32_t, 1, 256> one_copy;
typedef in_shared<int32_t, 32, 512> lane_copies;

enum { VARIANTS = 8, REFERENCE = 3, PUSH_ALONE = 5 };

template <int ORDER> void list_variants(variant list[VARIANTS])
{
    list[0] = make<ORDER, FUSED, in_global>("fp64, global");
    list[1] = make<ORDER, FUSED, in_shared<double, 1, 256>>("fp64, shared");
    list[2] = make<ORDER, FUSED, in_shared<float, 1, 256>>("fp32, shared");
    list[REFERENCE] = make<ORDER, FUSED, one_copy>("int32, shared");
    list[4] = make<ORDER, FUSED, lane_copies>("int32, shared, 32 copies");
    list[PUSH_ALONE] = make<ORDER, PUSH, nowhere>("push alone");
    list[6] = make<ORDER, DEPOSIT, one_copy>("deposit alone, int32");
    list[7] = make<ORDER, DEPOSIT, lane_copies>("deposit alone, 32 copies");
}

/* --- measuring --- */

/* Everything of one call. */
struct measurement {
    bench_device d;
    job h;
    variant list[VARIANTS];
    uint64_t count;
    size_t particle_bytes, sum_values;
    void *work, *pristine; /* x, y, u, v, w in a row; pristine is not pushed */
    u64 *counters;         /* flushed, strays */
    int64_t *reference, *here;
};

arrays arrays_in(void *memory, uint64_t count)
{
    arrays a;
    a.x = (lm_fix *)memory;
    a.y = a.x + count;
    a.u = (lm_real *)(a.y + count);
    a.v = a.u + count;
    a.w = a.v + count;
    return a;
}

/* Gentle waves: E a hundredth, B one with a tenth on top. */
void make_fields(measurement &m, double *field)
{
    int n = m.h.cells;
    size_t cells = (size_t)n * n;
    double *host = (double *)malloc(6 * cells * sizeof *host);
    if (!host) {
        m.d.failed = lm_fail(LM_FAILED, "not enough memory");
        return;
    }
    for (int c = 0; c < 6; c++)
        for (size_t k = 0; k < cells; k++) {
            double phase = 2 * LM_PI / n * ((double)(k % n) + (c + 1) * (double)(k / n));
            host[c * cells + k] = (c < 3 ? 0.01 : 0.1) * std::sin(phase) + (c == 5);
        }
    m.d.check(cudaMemcpy(field, host, 6 * cells * sizeof *host, cudaMemcpyHostToDevice), "fields");
    free(host);
}

int prepare(measurement &m, const struct lm_particle_problem *p)
{
    job &h = m.h;
    size_t cells = (size_t)p->cells * p->cells;
    memset(&h, 0, sizeof h);
    h.cells = p->cells;
    h.tiles = p->cells / TILE;
    h.ppc = (uint32_t)p->particles_per_cell;
    h.in_tile = h.ppc * TILE * TILE;
    h.chunks = (h.in_tile + MOST_IN_CHUNK - 1) / MOST_IN_CHUNK;
    h.chunk = (h.in_tile / h.chunks + 31 + (h.in_tile % h.chunks != 0)) & ~31u;
    h.step = lm_step_make(0.01, 0.01, 1, 3, 1.0, 4.0, 4.0); /* dt = 0.01, cells of 0.25, |v| < 8 */
    m.count = (uint64_t)cells * h.ppc;
    if (p->cells % TILE || m.count > UINT32_MAX)
        return lm_fail(LM_BAD_INPUT, "cells must be a multiple of %d a side, and particles fewer than 2^32", TILE);
    m.particle_bytes = m.count * 5 * sizeof(lm_real);
    m.sum_values = LM_MOMENTS * cells;
    m.work = m.d.allocate(m.particle_bytes);
    m.pristine = m.d.allocate(m.particle_bytes);
    h.sums = m.d.allocate(m.sum_values * sizeof(u64));
    double *field = (double *)m.d.allocate(6 * cells * sizeof *field);
    m.counters = (u64 *)m.d.allocate(2 * sizeof *m.counters);
    m.reference = (int64_t *)malloc(m.sum_values * sizeof *m.reference);
    m.here = (int64_t *)malloc(m.sum_values * sizeof *m.here);
    if (!m.d.failed && !(m.reference && m.here))
        m.d.failed = lm_fail(LM_FAILED, "not enough memory");
    if (m.d.failed)
        return m.d.failed;
    make_fields(m, field);
    h.field = field;
    h.strays = m.counters + 1;
    h.a = arrays_in(m.work, m.count);
    if (p->shape == 1)
        list_variants<1>(m.list);
    else
        list_variants<2>(m.list);
    return m.d.failed;
}

void load(measurement &m, int order)
{
    job h = m.h;
    h.a = arrays_in(m.pristine, m.count);
    load_kernel<<<(unsigned)((m.count + 255) / 256), 256>>>(h, order);
    m.d.check(cudaGetLastError(), "loading");
    m.d.check(cudaMemset(m.counters, 0, 2 * sizeof *m.counters), "loading");
}

void launch(measurement &m, const variant &v, const job &h)
{
    unsigned blocks = (unsigned)(h.tiles * h.tiles) * h.chunks;
    v.kernel<<<blocks, v.threads, (size_t)v.bytes>>>(h);
    m.d.check(cudaGetLastError(), v.name);
}

/* The state that a variant starts from: fresh particles, pushed ones for a deposit alone; no sums. */
void restore(measurement &m, const variant &v)
{
    m.d.check(cudaMemcpyAsync(m.work, m.pristine, m.particle_bytes, cudaMemcpyDeviceToDevice), "particles");
    m.d.check(cudaMemsetAsync(m.h.sums, 0, m.sum_values * sizeof(u64)), "sums");
    if (v.stage == DEPOSIT)
        launch(m, m.list[PUSH_ALONE], m.h);
}

/* Once more and untimed, with the counters on; the sums go to `to`. */
void run_checked(measurement &m, const variant &v, int64_t *to, u64 counters[2])
{
    job h = m.h;
    h.flushed = m.counters;
    m.d.check(cudaMemset(m.counters, 0, 2 * sizeof *m.counters), "counters");
    restore(m, v);
    launch(m, v, h);
    m.d.check(cudaMemcpy(to, m.h.sums, m.sum_values * sizeof *to, cudaMemcpyDeviceToHost), "sums");
    m.d.check(cudaMemcpy(counters, m.counters, 2 * sizeof *counters, cudaMemcpyDeviceToHost), "counters");
    if (!m.d.failed && counters[1])
        m.d.failed = lm_fail(LM_FAILED, "%s: %llu particles left their windows", v.name, counters[1]);
}

/* Compares m.here with the reference. `difference`: largest, in parts of the particles of one cell. */
int verdict(const measurement &m, const variant &v, double *difference)
{
    *difference = 0;
    if (v.stage == PUSH)
        return LM_SUMS_UNCHECKED;
    if (v.integer)
        return memcmp(m.here, m.reference, m.sum_values * sizeof *m.here) ? LM_SUMS_DIFFERENT : LM_SUMS_EQUAL;
    for (size_t k = 0; k < m.sum_values; k++) {
        double sum;
        memcpy(&sum, &m.here[k], sizeof sum);
        double off = std::fabs(sum - (double)m.reference[k]) / ((double)LM_PARTS * m.h.ppc);
        if (!(off <= *difference))
            *difference = off;
    }
    return *difference == 0 ? LM_SUMS_EQUAL : *difference <= LM_PARTICLE_TOLERANCE ? LM_SUMS_WITHIN : LM_SUMS_DIFFERENT;
}

/* What the compiler and the device make of a kernel. */
void describe(measurement &m, const variant &v, struct lm_particle_row *row)
{
    cudaFuncAttributes f;
    int blocks = 0, most = 0;
    memset(&f, 0, sizeof f);
    m.d.check(cudaFuncGetAttributes(&f, (const void *)v.kernel), v.name);
    m.d.check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, v.kernel, v.threads, (size_t)v.bytes), v.name);
    m.d.check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, 0), v.name);
    row->threads = v.threads;
    row->registers = f.numRegs;
    row->spill = (double)f.localSizeBytes;
    row->shared_static = (double)f.sharedSizeBytes;
    row->shared_dynamic = v.bytes;
    row->occupancy = most ? (double)(blocks * v.threads) / most : 0;
}

/* More than 48 KiB of shared memory has to be asked for. */
void allow_shared_memory(measurement &m)
{
    for (int k = 0; k < VARIANTS; k++) {
        const void *kernel = (const void *)m.list[k].kernel;
        if (m.list[k].bytes < 32768)
            continue;
        m.d.check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, m.list[k].bytes),
                  m.list[k].name);
        m.d.check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                       cudaSharedmemCarveoutMaxShared),
                  m.list[k].name);
    }
}

void measure(measurement &m, const variant &v, int order, int repeats, struct lm_particle_row *row)
{
    static const char *const orders[ORDERS] = {"random", "strided", "sorted"};
    u64 counters[2] = {0, 0};
    memset(row, 0, sizeof *row);
    row->variant = v.name;
    row->order = orders[order];
    row->bytes = (v.stage == DEPOSIT ? 5.0 : 10.0) * sizeof(lm_real);
    describe(m, v, row);
    row->time = m.d.time(
        repeats, [&] { restore(m, v); }, [&] { launch(m, v, m.h); });
    run_checked(m, v, m.here, counters);
    if (m.d.failed)
        return;
    row->global_atomics = v.global_atomics + (double)counters[0] / (double)m.count;
    row->shared_atomics = v.shared_atomics;
    row->sums = verdict(m, v, &row->difference);
}

} // namespace

int LM_P(lm_cuda_bench_particles)(const struct lm_particle_problem *problem, struct lm_particle_row *rows, int *count)
{
    measurement m = {};
    u64 ignored[2];
    *count = 0;
    int status = prepare(m, problem);
    if (!status) {
        allow_shared_memory(m);
        load(m, SORTED);
        run_checked(m, m.list[REFERENCE], m.reference, ignored);
    }
    for (int order = 0; order < ORDERS && !status && !m.d.failed; order++) {
        load(m, order);
        for (int k = 0; k < VARIANTS && !m.d.failed; k++)
            measure(m, m.list[k], order, problem->repeats, &rows[(*count)++]);
    }
    free(m.reference);
    free(m.here);
    return status ? status : m.d.failed;
}
