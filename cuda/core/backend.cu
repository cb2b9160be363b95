/* CUDA backend: the device and the table of operations. */
#include "core/gpu.cuh"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_scan.cuh>

#include "backend/cuda.h"
#include "backend/field_boundaries.h"
#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/collisions/ion_electron_heating.h"
#include "larmor/physics/numerics/hash.h"
#include "core/early.cuh"
#include "core/halo.cuh"

int lm_gpu_check(struct lm_gpu *g, cudaError_t error, const char *what)
{
    if (error != cudaSuccess && !g->failed)
        g->failed = lm_fail(LM_FAILED, "GPU: %s: %s", what, cudaGetErrorString(error));
    return g->failed;
}

/* Many ranks: waits until `query` no longer says that work is under way. The core is kept, as it is by the functions of
 * CUDA that wait. */
template <class F> static int wait_until(struct lm_gpu *g, const char *what, F query)
{
    const double begin = lm_clock();
    cudaError_t error = query();
    for (unsigned n = 1; error == cudaErrorNotReady; n++, error = query())
        if (n % 4096 == 0)
            lm_ranks_check_wait(begin);
    return lm_gpu_check(g, error, what);
}

int lm_gpu_wait(struct lm_gpu *g, const char *what)
{
    if (g->halo)
        return wait_until(g, what, [g] { return cudaStreamQuery(g->stream); });
    return lm_gpu_check(g, cudaStreamSynchronize(g->stream), what);
}

static int wait_for_event(struct lm_gpu *g, cudaEvent_t event, const char *what)
{
    if (g->halo)
        return wait_until(g, what, [event] { return cudaEventQuery(event); });
    return lm_gpu_check(g, cudaEventSynchronize(event), what);
}

/* The host is ahead by this many calls at least and twice as many at most. */
enum { POLLS_AHEAD = 32 };

int lm_gpu_is_given_up(struct lm_gpu *g)
{
    const bool waits = g->polls++ % POLLS_AHEAD == 0;
    if (waits) {
        cudaEvent_t event = g->queued[g->polls / POLLS_AHEAD % 2];
        wait_for_event(g, event, "the step");
        lm_gpu_check(g, cudaEventRecord(event, g->stream), "the step");
    }
    return (waits || !g->halo) && lm_stop_now(); /* many ranks have to agree, which takes longer */
}

int lm_gpu_reduce_begin(struct lm_gpu *g)
{
    return lm_gpu_check(g, cudaMemsetAsync(g->reduced, 0, sizeof *g->reduced, g->stream), "reduction");
}

int lm_gpu_reduce_end(struct lm_gpu *g)
{
    lm_gpu_check(g, cudaMemcpyAsync(g->reduced_host, g->reduced, sizeof *g->reduced, cudaMemcpyDeviceToHost, g->stream),
                 "reduction");
    return lm_gpu_wait(g, "reduction");
}

int lm_gpu_scan(struct lm_gpu *g, const uint32_t *in, uint32_t *out, size_t count)
{
    return lm_gpu_check(g, cub::DeviceScan::ExclusiveSum(g->scan_work, g->scan_bytes, in, out, count, g->stream),
                        "prefix sum");
}

__global__ void empty_kernel()
{
}

bool lm_gpu_can_begin_early(void)
{
    static const bool can = [] {
        cudaFuncAttributes code = {};
        return cudaFuncGetAttributes(&code, empty_kernel) == cudaSuccess && code.ptxVersion >= 90;
    }();
    return can;
}

static void begin_streams(struct lm_gpu *g)
{
    int least = 0, greatest = 0;
    lm_gpu_check(g, cudaDeviceGetStreamPriorityRange(&least, &greatest), "streams");
    lm_gpu_check(g, cudaStreamCreateWithPriority(&g->stream, cudaStreamNonBlocking, (least + greatest) / 2), "stream");
    lm_gpu_check(g, cudaStreamCreateWithPriority(&g->beside.stream, cudaStreamNonBlocking, least), "stream");
    lm_gpu_check(g, cudaEventCreateWithFlags(&g->beside.fork, cudaEventDisableTiming), "event");
    lm_gpu_check(g, cudaEventCreateWithFlags(&g->beside.done, cudaEventDisableTiming), "event");
}

static void end_beside(struct lm_gpu *g)
{
    if (g->beside.fork)
        cudaEventDestroy(g->beside.fork);
    if (g->beside.done)
        cudaEventDestroy(g->beside.done);
    if (g->beside.stream)
        cudaStreamDestroy(g->beside.stream);
}

int lm_gpu_fork(struct lm_gpu *g)
{
    g->beside.is_open = 1;
    lm_gpu_check(g, cudaEventRecord(g->beside.fork, g->stream), "a fork of streams");
    return lm_gpu_check(g, cudaStreamWaitEvent(g->beside.stream, g->beside.fork, 0), "a fork of streams");
}

int lm_gpu_join(struct lm_gpu *g)
{
    if (!g->beside.is_open)
        return g->failed;
    g->beside.is_open = 0;
    lm_gpu_check(g, cudaEventRecord(g->beside.done, g->beside.stream), "a join of streams");
    return lm_gpu_check(g, cudaStreamWaitEvent(g->stream, g->beside.done, 0), "a join of streams");
}

static void gpu_destroy(struct lm_backend *b)
{
    struct lm_gpu *g = lm_gpu_of(b);
    lm_gpu_halo_end(g);
    lm_gpu_free_strips(g);
    lm_gpu_free_all(g);
    cudaFreeHost(g->control_host);
    cudaFreeHost(g->reduced_host);
    end_beside(g);
    for (int k = 0; k < 2; k++)
        if (g->queued[k])
            cudaEventDestroy(g->queued[k]);
    if (g->stream)
        cudaStreamDestroy(g->stream);
    free(g);
}

static int gpu_put(struct lm_backend *b, enum lm_array array, const double *host)
{
    struct lm_gpu *g = lm_gpu_of(b);
    size_t bytes = b->setup.grid.size * sizeof *host;
    lm_gpu_forget_beside(g);
    g->used_void |= array >= LM_VOID_E && array <= LM_VOID;
    for (size_t k = 0; array == LM_ETA && k < b->setup.grid.size; k++)
        g->resistive |= host[k] != 0.0;
    lm_gpu_check(g, cudaMemcpyAsync(g->array[array], host, bytes, cudaMemcpyHostToDevice, g->stream),
                 "upload of an array");
    return lm_gpu_wait(g, "upload of an array");
}

__global__ void fill_kernel(double *array, size_t size, double value)
{
    const size_t k = blockIdx.x * (size_t)LM_GPU_THREADS + threadIdx.x;
    if (k < size)
        array[k] = value;
}

static int gpu_fill(struct lm_backend *b, enum lm_array array, double value)
{
    struct lm_gpu *g = lm_gpu_of(b);
    const size_t size = b->setup.grid.size;
    lm_gpu_forget_beside(g);
    g->used_void |= array >= LM_VOID_E && array <= LM_VOID;
    g->resistive |= array == LM_ETA && value != 0.0;
    fill_kernel<<<(unsigned)((size + LM_GPU_THREADS - 1) / LM_GPU_THREADS), LM_GPU_THREADS, 0, g->stream>>>(
        g->array[array], size, value);
    LM_GPU_LAUNCHED(g, "filling an array");
    return g->failed;
}

static int gpu_get(struct lm_backend *b, enum lm_array array, double *host)
{
    struct lm_gpu *g = lm_gpu_of(b);
    size_t bytes = b->setup.grid.size * sizeof *host;
    const bool is_field = array == LM_PRESSURE_E || array == LM_PRESSURE_E + 1;
    lm_gpu_join(g);
    if (is_field)
        g->found_pressure = 0;
    if (array == LM_PRESSURE || is_field)
        lm_gpu_pressure(g);
    if (is_field)
        lm_gpu_pressure_field(g, g->array[LM_N_OLD], lm_least_push_density(&b->setup.ohm), false);
    lm_gpu_check(g, cudaMemcpyAsync(host, g->array[array], bytes, cudaMemcpyDeviceToHost, g->stream),
                 "download of an array");
    return lm_gpu_wait(g, "download of an array");
}

static int gpu_swap_levels(struct lm_backend *b)
{
    struct lm_gpu *g = lm_gpu_of(b);
    lm_swap_levels_of(&b->setup, g->array);
    return g->failed;
}

static int gpu_swap(struct lm_backend *b, enum lm_array one, enum lm_array other)
{
    struct lm_gpu *g = lm_gpu_of(b);
    lm_swap_arrays(g->array + one, g->array + other, 3);
    return g->failed;
}

static struct lm_wide wide_of(const lm_u64 sum[2])
{
    return {(int64_t)sum[0], (int64_t)sum[1]};
}

static double from_ordered(lm_u64 bits)
{
    return lm_from_bits(bits >> 63 ? bits & 0x7fffffffffffffffull : ~bits);
}

/* What the fields' advection has found, which then begins anew to add up. */
static void take_backgrounds(struct lm_gpu *g, struct lm_control *out)
{
    for (int f = 0; f < g->base.setup.background_count; f++) {
        const struct lm_gpu_advected *from = &g->control_host->background[f];
        struct lm_advected *to = &out->background[f];
        to->total = wide_of(from->total);
        to->source = wide_of(from->source);
        to->least = from_ordered(~from->extremes[0]);
        to->most = from_ordered(from->extremes[1]);
        for (int side = 0; side < LM_SIDES; side++)
            to->crossed[side] = wide_of(from->crossed[side]);
        lm_gpu_check(g,
                     cudaMemsetAsync(g->control->background[f].crossed, 0,
                                     sizeof *from - offsetof(struct lm_gpu_advected, crossed), g->stream),
                     "sums of the background fields");
    }
    out->heat = wide_of(g->control_host->heat);
    out->through_surfaces = wide_of(g->control_host->through_surfaces);
    if (g->base.setup.ohm.evolved)
        lm_gpu_check(g,
                     cudaMemsetAsync(g->control->heat, 0, sizeof g->control->heat + sizeof g->control->through_surfaces,
                                     g->stream),
                     "sums of the energy of electrons");
}

static int gpu_control(struct lm_backend *b, struct lm_control *out)
{
    lm_gpu_range range("control");
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_control *c = g->control_host;
    const size_t head = offsetof(struct lm_gpu_control, tallies);
    const size_t tallies = g->counted ? (size_t)b->setup.species_count * sizeof *c->tallies : 0;
    lm_gpu_check(g, cudaMemcpyAsync(c, g->control, head + tallies, cudaMemcpyDeviceToHost, g->stream),
                 "control values");
    if (b->setup.background_count > 0)
        lm_gpu_check(g,
                     cudaMemcpyAsync(c->background, g->control->background,
                                     sizeof *c - offsetof(struct lm_gpu_control, background), cudaMemcpyDeviceToHost,
                                     g->stream),
                     "sums of the background fields");
    if (lm_gpu_wait(g, "the step"))
        return g->failed;
    lm_gpu_halo_count_time(g);
    take_backgrounds(g, out);
    for (int s = 0; s < b->setup.species_count; s++) {
        out->speed2[s] = lm_from_bits(c->species[s].speed2);
        out->strays[s] = (int64_t)(c->species[s].strays + c->species[s].edge_strays);
        out->charge_quanta[s] = (int64_t)c->species[s].charge_quanta;
        for (int d = 0; d < 3; d++)
            out->friction_e[s][d] = lm_from_bits(c->friction_e[s][d]);
        if (!g->counted)
            continue;
        memcpy(out->lost[s], c->tallies[s].lost, sizeof out->lost[s]);
        memcpy(out->injected[s], c->tallies[s].injected, sizeof out->injected[s]);
        out->exchanged[s] = c->tallies[s].exchanged;
        out->to_gas[s] = c->tallies[s].to_gas;
        out->to_electrons[s] = c->tallies[s].to_electrons;
        g->species[s].gone += c->tallies[s].gone;
        g->species[s].count += c->tallies[s].arrived;
    }
    if (g->counted)
        lm_gpu_check(g, cudaMemsetAsync(g->control->tallies, 0, tallies, g->stream), "tallies");
    for (int side = 0; side < LM_SIDES; side++)
        for (int k = 0; k < LM_SIDE_SUMS; k++)
            out->side[side][k] = wide_of(c->side[side][k]);
    for (int d = 0; d < 3; d++)
        out->push_e[d] = lm_from_bits(c->push_e[d]);
    for (int d = 0; d < 2; d++)
        out->push_pressure[d] = lm_from_bits(c->push_pressure[d]);
    out->frequency = lm_from_bits(c->frequency);
    out->eta = lm_from_bits(c->eta);
    out->floored = (int64_t)c->floored;
    out->voids = (int64_t)c->voids;
    return LM_OK;
}

static size_t cells_of(const struct lm_gpu *g, int side)
{
    return (size_t)(side < LM_Y_MIN ? g->base.setup.grid.ny : g->base.setup.grid.nx);
}

static int gpu_put_inflow(struct lm_backend *b, int species, enum lm_side side, const struct lm_inflow_cell *cells)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_inflow_cell **to = &g->species[species].inflow[side];
    const size_t bytes = cells_of(g, side) * sizeof *cells;
    if (!*to)
        *to = (struct lm_inflow_cell *)lm_gpu_allocate(g, bytes, "what enters");
    if (*to)
        lm_gpu_check(g, cudaMemcpyAsync(*to, cells, bytes, cudaMemcpyHostToDevice, g->stream), "what enters");
    return lm_gpu_wait(g, "what enters");
}

static int gpu_get_map(struct lm_backend *b, int species, uint64_t *counters)
{
    struct lm_gpu *g = lm_gpu_of(b);
    lm_gpu_check(g,
                 cudaMemcpyAsync(counters, g->species[species].map, lm_map_size(&g->maps) * sizeof *counters,
                                 cudaMemcpyDeviceToHost, g->stream),
                 "maps of hits");
    return lm_gpu_wait(g, "maps of hits");
}

static int gpu_put_map(struct lm_backend *b, int species, const uint64_t *counters)
{
    struct lm_gpu *g = lm_gpu_of(b);
    const size_t size = lm_map_size(&g->maps);
    uint64_t *sum = (uint64_t *)malloc(size * sizeof *sum + 1);
    if (!sum)
        return lm_fail(LM_FAILED, "not enough memory for maps of hits");
    int status = gpu_get_map(b, species, sum);
    for (size_t k = 0; k < size && !status; k++)
        sum[k] += counters[k];
    if (!status)
        lm_gpu_check(
            g, cudaMemcpyAsync(g->species[species].map, sum, size * sizeof *sum, cudaMemcpyHostToDevice, g->stream),
            "maps of hits");
    lm_gpu_wait(g, "maps of hits");
    free(sum);
    return g->failed;
}

static int gpu_fingerprint(struct lm_backend *b, int64_t step, uint64_t *out)
{
    lm_gpu_range range("fingerprint");
    struct lm_gpu *g = lm_gpu_of(b);
    lm_gpu_reduce_begin(g);
    lm_gpu_hash_fields(g);
    for (int s = 0; s < b->setup.species_count; s++)
        g->particles->hash(g, s);
    lm_gpu_reduce_end(g);
    *out = lm_hash_step(step) + g->reduced_host->value[0];
    return g->failed;
}

static int gpu_ping(struct lm_backend *b, int peer, size_t bytes, int count)
{
    struct lm_gpu *g = lm_gpu_of(b);
    char *const out = (char *)lm_gpu_halo_buffer(g, 2 * bytes);
    const struct lm_message send = {peer, bytes, out}, receive = {peer, bytes, out + bytes};
    for (int k = 0; k < count && !g->failed; k++)
        lm_gpu_transport_exchange(g, &send, 1, &receive, 1, g->stream);
    return lm_gpu_wait(g, "ping");
}

static const struct lm_backend_ops operations = [] {
    struct lm_backend_ops o = {};
    o.name = "cuda";
    o.destroy = gpu_destroy;
    o.put = gpu_put;
    o.fill = gpu_fill;
    o.get = gpu_get;
    o.depart = lm_gpu_depart;
    o.arrive = lm_gpu_arrive;
    o.values = lm_gpu_values;
    o.put_inflow = gpu_put_inflow;
    o.put_background_side = lm_gpu_put_background_side;
    o.get_map = gpu_get_map;
    o.put_map = gpu_put_map;
    o.get_strip = lm_gpu_get_strip;
    o.put_strip = lm_gpu_put_strip;
    o.control = gpu_control;
    o.collect = lm_gpu_collect;
    o.moments = lm_gpu_moments;
    o.swap_levels = gpu_swap_levels;
    o.swap = gpu_swap;
    o.copy = lm_gpu_copy;
    o.drive = lm_gpu_drive;
    o.resistivity = lm_gpu_resistivity;
    o.closure = lm_gpu_closure;
    o.advance_b = lm_gpu_advance_b;
    o.relax_b = lm_gpu_relax_b;
    o.ohm = lm_gpu_ohm;
    o.field_maxima = lm_gpu_field_maxima;
    o.side_energy = lm_gpu_side_energy;
    o.flow = lm_gpu_flow;
    o.flow_rates = lm_gpu_flow_rates;
    o.advect = lm_gpu_advect;
    o.survey_background = lm_gpu_survey_background;
    o.transfer_to_gas = lm_gpu_transfer_to_gas;
    o.heat = lm_gpu_heat;
    o.least_density = lm_gpu_least_density;
    o.heat_exchange_limits = lm_gpu_heat_exchange_limits;
    o.grid_sums = lm_gpu_grid_sums;
    o.fingerprint = gpu_fingerprint;
    o.ping = gpu_ping;
    return o;
}();

/* The ranks of a machine take its GPUs in turn. */
static int use_device(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 || cudaSetDevice(lm_rank_here() % count) != cudaSuccess)
        return lm_fail(LM_FAILED, "GPU: %s", cudaGetErrorString(cudaGetLastError()));
    return LM_OK;
}

int lm_cuda_create(const struct lm_setup *setup, struct lm_backend **out)
{
    struct lm_gpu *g = (struct lm_gpu *)calloc(1, sizeof *g);
    *out = NULL;
    if (!g)
        return lm_fail(LM_FAILED, "not enough memory");
    g->particles = setup->precision == 64 ? &lm_gpu_particles_f64 : &lm_gpu_particles_f32;
    g->base.ops = &operations;
    g->base.particles = &g->particles->ops;
    g->base.setup = *setup;
    g->base.most_stray_cells = setup->halo ? (double)LM_HALO_REACH : (double)LM_MAX_STRAY_CELLS;
    const int status = use_device();
    if (status && setup->halo) /* the others count on this rank */
        lm_ranks_abort(status, lm_error());
    if (status || (setup->halo && lm_gpu_transport_begin(setup->gpu_exchange, setup->spares_links))) {
        free(g);
        return status ? status : LM_BAD_INPUT;
    }
    const struct lm_grid *grid = &setup->grid;
    g->tiling = lm_tiling_make(setup->tile, grid->nx, grid->ny);
    g->tiles = (size_t)g->tiling.nx * g->tiling.ny;
    g->tile_cells = g->tiles * setup->tile * setup->tile;
    lm_gpu_check(g, cudaDeviceGetAttribute(&g->processors, cudaDevAttrMultiProcessorCount, 0), "device");
    int shared = 0;
    lm_gpu_check(g, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "device");
    g->shared_bytes = (size_t)shared;
    begin_streams(g);
    for (int k = 0; k < 2; k++)
        lm_gpu_check(g, cudaEventCreateWithFlags(&g->queued[k], cudaEventDisableTiming), "event");
    g->sides = lm_field_sides_of(setup);
    g->general.used = lm_is_general(setup);
    lm_gpu_allocate_all(g, setup);
    lm_gpu_allocate_backgrounds(g, &setup->bodies);
    lm_gpu_make_strips(g);
    lm_gpu_halo_begin(g);
    if (!g->failed)
        lm_gpu_wait(g, "start");
    if (g->failed) {
        gpu_destroy(&g->base);
        return LM_FAILED;
    }
    *out = &g->base;
    return LM_OK;
}

int lm_cuda_describe(char *line, size_t size)
{
    int count = 0;
    struct cudaDeviceProp p;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        error = cudaGetDeviceProperties(&p, lm_rank_here() % count);
    if (error != cudaSuccess || count == 0) {
        cudaGetLastError();
        snprintf(line, size, "no usable GPU (%s)", error != cudaSuccess ? cudaGetErrorString(error) : "none found");
        return 0;
    }
    if (p.major < 8) {
        snprintf(line, size, "%s has compute capability %d.%d; 8.0 or later is needed", p.name, p.major, p.minor);
        return 0;
    }
    snprintf(line, size, "%s, %.0f GiB, compute capability %d.%d", p.name, (double)p.totalGlobalMem / 0x1p30, p.major,
             p.minor);
    return 1;
}

int lm_cuda_count(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

const char *lm_cuda_exchange(void)
{
    return lm_gpu_transport();
}

void lm_cuda_memory(double *free_bytes, double *total_bytes)
{
    size_t free_size = 0, total = 0;
    if (cudaMemGetInfo(&free_size, &total) != cudaSuccess)
        cudaGetLastError(); /* both stay 0 */
    *free_bytes = (double)free_size;
    *total_bytes = (double)total;
}
