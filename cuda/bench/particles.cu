/* Case `particles` of `larmor bench`: ways to write the particle pass, side by side, for each precision. */
#include "bench/particles.cuh"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "bench/bench.cuh"

#include "bench/device.h"

namespace
{

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

/* The numbers of threads are the fastest of 128, 256 and 512 on an H200. */
template <int ORDER> using one_copy = in_shared<int32_t, 1, LM_PRECISION == 64 && ORDER == 2 ? 128 : 256>;
typedef in_shared<int32_t, 32, 512> lane_copies;

enum { VARIANTS = 9, REFERENCE = 3, PUSH_ALONE = 6 };

template <int ORDER> void list_variants(variant list[VARIANTS])
{
    list[0] = make<ORDER, FUSED, in_global>("fp64, global");
    list[1] = make<ORDER, FUSED, in_shared<double, 1, 256>>("fp64, shared");
    list[2] = make<ORDER, FUSED, in_shared<float, 1, 256>>("fp32, shared");
    list[REFERENCE] = make<ORDER, FUSED, one_copy<ORDER>>("int32, shared");
    list[4] = make<ORDER, FUSED, lane_copies>("int32, shared, 32 copies");
    if constexpr (ORDER == 1)
        list[5] = make<ORDER, FUSED, in_shared<int32_t, 8, 256>>("int32, shared, 8 copies");
    else
        list[5] = make<ORDER, FUSED, in_shared<int32_t, 16, 320>>("int32, shared, 16 copies");
    list[PUSH_ALONE] = make<ORDER, PUSH, nowhere>("push alone");
    list[7] = make<ORDER, DEPOSIT, one_copy<ORDER>>("deposit alone, int32");
    list[8] = make<ORDER, DEPOSIT, lane_copies>("deposit alone, 32 copies");
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
    a.vx = (lm_real *)(a.y + count);
    a.vy = a.vx + count;
    a.vz = a.vy + count;
    return a;
}

/* Gentle waves: E and the force of the pressure a hundredth, B one with a tenth on top. */
void make_fields(measurement &m, double *field)
{
    int n = m.h.cells;
    size_t cells = (size_t)n * n;
    double *host = (double *)malloc(LM_WINDOW_FIELDS * cells * sizeof *host);
    if (!host) {
        m.d.failed = lm_fail(LM_FAILED, "not enough memory");
        return;
    }
    for (int c = 0; c < LM_WINDOW_FIELDS; c++)
        for (size_t k = 0; k < cells; k++) {
            double phase = 2 * LM_PI / n * ((double)(k % n) + (c + 1) * (double)(k / n));
            host[c * cells + k] =
                (c >= LM_WINDOW_B && c < LM_WINDOW_FACES ? 0.1 : 0.01) * std::sin(phase) + (c == LM_WINDOW_B + 2);
        }
    m.d.check(cudaMemcpy(field, host, LM_WINDOW_FIELDS * cells * sizeof *host, cudaMemcpyHostToDevice), "fields");
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
    h.chunks = (h.in_tile + LM_CHUNK - 1) / LM_CHUNK;
    h.chunk = (h.in_tile / h.chunks + 31 + (h.in_tile % h.chunks != 0)) & ~31u;
    h.step = lm_step_make(0.01, 0.01, 1, 3, 1.0, 4.0, 4.0); /* dt = 0.01, cells of 0.25, |v| < 8 */
    m.count = (uint64_t)cells * h.ppc;
    if (p->cells % TILE || m.count >= 1ull << 31)
        return lm_fail(LM_BAD_INPUT, "cells must be a multiple of %d a side, and particles fewer than 2^31", TILE);
    m.particle_bytes = m.count * 5 * sizeof(lm_real);
    m.sum_values = LM_MOMENTS * cells;
    m.work = m.d.allocate(m.particle_bytes);
    m.pristine = m.d.allocate(m.particle_bytes);
    h.sums = m.d.allocate(m.sum_values * sizeof(u64));
    double *field = (double *)m.d.allocate(LM_WINDOW_FIELDS * cells * sizeof *field);
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
        double off = std::fabs(sum - (double)m.reference[k]) / ((double)LM_CHARGE_QUANTA * m.h.ppc);
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
