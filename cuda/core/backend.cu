/* CUDA backend: device, memory, and the table of operations. */
#include "core/gpu.cuh"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_scan.cuh>

#include "backend/cuda.h"
#include "backend/field_boundaries.h"
#include "larmor/physics/collisions/ion_electron_heating.h"
#include "larmor/physics/numerics/hash.h"

int lm_gpu_check(struct lm_gpu *g, cudaError_t error, const char *what)
{
    if (error != cudaSuccess && !g->failed)
        g->failed = lm_fail(LM_FAILED, "GPU: %s: %s", what, cudaGetErrorString(error));
    return g->failed;
}

/* The host is ahead by this many calls at least and twice as many at most. */
enum { POLLS_AHEAD = 32 };

int lm_gpu_is_given_up(struct lm_gpu *g)
{
    if (g->polls++ % POLLS_AHEAD == 0) {
        cudaEvent_t event = g->queued[g->polls / POLLS_AHEAD % 2];
        lm_gpu_check(g, cudaEventSynchronize(event), "the step");
        lm_gpu_check(g, cudaEventRecord(event, g->stream), "the step");
    }
    return lm_stop_now();
}

void *lm_gpu_try_allocate(size_t bytes, const char *what)
{
    void *memory = NULL;
    double free_bytes, total;
    if (cudaMalloc(&memory, bytes) == cudaSuccess)
        return memory;
    cudaGetLastError();
    lm_cuda_memory(&free_bytes, &total);
    lm_fail(LM_FAILED,
            "the GPU's memory is full: %.3g GiB for %s, %.3g GiB of %.3g free; use fewer particles or cells, or single "
            "precision (particles.precision)",
            (double)bytes / 0x1p30, what, free_bytes / 0x1p30, total / 0x1p30);
    return NULL;
}

void *lm_gpu_allocate(struct lm_gpu *g, size_t bytes, const char *what)
{
    void *memory = g->failed ? NULL : lm_gpu_try_allocate(bytes, what);
    if (!memory)
        g->failed = LM_FAILED;
    return memory;
}

int lm_gpu_reduce_begin(struct lm_gpu *g)
{
    return lm_gpu_check(g, cudaMemsetAsync(g->reduced, 0, sizeof *g->reduced, g->stream), "reduction");
}

int lm_gpu_reduce_end(struct lm_gpu *g)
{
    lm_gpu_check(g, cudaMemcpyAsync(g->reduced_host, g->reduced, sizeof *g->reduced, cudaMemcpyDeviceToHost, g->stream),
                 "reduction");
    return lm_gpu_check(g, cudaStreamSynchronize(g->stream), "reduction");
}

int lm_gpu_scan(struct lm_gpu *g, const uint32_t *in, uint32_t *out, size_t count)
{
    return lm_gpu_check(g, cub::DeviceScan::ExclusiveSum(g->scan_work, g->scan_bytes, in, out, count, g->stream),
                        "prefix sum");
}

static void gpu_destroy(struct lm_backend *b)
{
    struct lm_gpu *g = lm_gpu_of(b);
    for (int k = 0; k < LM_MAX_SPECIES; k++) {
        struct lm_gpu_species *s = &g->species[k];
        void *all[] = {s->x,     s->y,    s->u,          s->v,          s->w,          s->scratch,
                       s->place, s->rank, s->tile_start, s->cell_count, s->cell_start, s->chunk_first,
                       s->chunk, s->home, s->map,        s->stopping};
        for (size_t m = 0; m < sizeof all / sizeof *all; m++)
            cudaFree(all[m]);
        for (int side = 0; side < LM_SIDES; side++)
            cudaFree(s->inflow[side]);
    }
    cudaFree(g->body);
    cudaFree(g->beside);
    cudaFree(g->tile_has_body);
    cudaFree((void *)g->maps.cos2);
    cudaFree((void *)g->maps.energy);
    cudaFree((void *)g->maps.faces);
    cudaFree(g->grid);
    cudaFree(g->solid);
    cudaFree(g->advect.clearance);
    cudaFree(g->advect.list);
    for (int k = 0; k < LM_MAX_BACKGROUNDS; k++)
        for (int side = 0; side < LM_SIDES; side++)
            cudaFree(g->advect.inflow[k][side]);
    cudaFree(g->given);
    cudaFree(g->exchange.temperature);
    cudaFree(g->exchange.cells);
    cudaFree(g->exchange.sums);
    cudaFree(g->sums);
    cudaFree(g->spare_sums);
    cudaFree(g->control);
    cudaFree(g->reduced);
    cudaFree(g->scan_work);
    cudaFree(g->staging);
    cudaFreeHost(g->control_host);
    cudaFreeHost(g->reduced_host);
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
    for (size_t k = 0; array == LM_ETA && k < b->setup.grid.size; k++)
        g->resistive |= host[k] != 0.0;
    lm_gpu_check(g, cudaMemcpyAsync(g->array[array], host, bytes, cudaMemcpyHostToDevice, g->stream),
                 "upload of an array");
    return lm_gpu_check(g, cudaStreamSynchronize(g->stream), "upload of an array");
}

static int gpu_get(struct lm_backend *b, enum lm_array array, double *host)
{
    struct lm_gpu *g = lm_gpu_of(b);
    size_t bytes = b->setup.grid.size * sizeof *host;
    if (array == LM_PRESSURE)
        lm_gpu_pressure(g);
    lm_gpu_check(g, cudaMemcpyAsync(host, g->array[array], bytes, cudaMemcpyDeviceToHost, g->stream),
                 "download of an array");
    return lm_gpu_check(g, cudaStreamSynchronize(g->stream), "download of an array");
}

static int gpu_swap_levels(struct lm_backend *b)
{
    struct lm_gpu *g = lm_gpu_of(b);
    for (int k = 0; k < 4; k++) {
        double *t = g->array[LM_N_OLD + k];
        g->array[LM_N_OLD + k] = g->array[LM_N_NEW + k];
        g->array[LM_N_NEW + k] = t;
    }
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
        to->least = from_ordered(~from->not_least);
        to->most = from_ordered(from->most);
        for (int side = 0; side < LM_SIDES; side++)
            to->crossed[side] = wide_of(from->crossed[side]);
        lm_gpu_check(g,
                     cudaMemsetAsync(g->control->background[f].crossed, 0,
                                     sizeof *from - offsetof(struct lm_gpu_advected, crossed), g->stream),
                     "sums of the background fields");
    }
    out->heat = wide_of(g->control_host->heat);
    if (g->base.setup.ohm.evolved)
        lm_gpu_check(g, cudaMemsetAsync(g->control->heat, 0, sizeof g->control->heat, g->stream), "sum of heat");
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
    if (lm_gpu_check(g, cudaStreamSynchronize(g->stream), "the step"))
        return g->failed;
    take_backgrounds(g, out);
    for (int s = 0; s < b->setup.species_count; s++) {
        out->speed2[s] = lm_from_bits(c->species[s].speed2);
        out->strays[s] = (int64_t)c->species[s].strays;
        out->parts[s] = (int64_t)c->species[s].parts;
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
    for (int d = 0; d < 3; d++)
        out->push_e[d] = lm_from_bits(c->push_e[d]);
    out->frequency = lm_from_bits(c->frequency);
    out->floored = (int64_t)c->floored;
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
    return lm_gpu_check(g, cudaStreamSynchronize(g->stream), "what enters");
}

static int gpu_get_map(struct lm_backend *b, int species, uint64_t *counters)
{
    struct lm_gpu *g = lm_gpu_of(b);
    lm_gpu_check(g,
                 cudaMemcpyAsync(counters, g->species[species].map, lm_map_size(&g->maps) * sizeof *counters,
                                 cudaMemcpyDeviceToHost, g->stream),
                 "maps of hits");
    return lm_gpu_check(g, cudaStreamSynchronize(g->stream), "maps of hits");
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
    lm_gpu_check(g, cudaStreamSynchronize(g->stream), "maps of hits");
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

static const struct lm_backend_ops operations = [] {
    struct lm_backend_ops o = {};
    o.name = "cuda";
    o.destroy = gpu_destroy;
    o.put = gpu_put;
    o.get = gpu_get;
    o.put_inflow = gpu_put_inflow;
    o.put_background_side = lm_gpu_put_background_side;
    o.get_map = gpu_get_map;
    o.put_map = gpu_put_map;
    o.control = gpu_control;
    o.collect = lm_gpu_collect;
    o.moments = lm_gpu_moments;
    o.swap_levels = gpu_swap_levels;
    o.copy = lm_gpu_copy;
    o.closure = lm_gpu_closure;
    o.advance_b = lm_gpu_advance_b;
    o.ohm = lm_gpu_ohm;
    o.field_maxima = lm_gpu_field_maxima;
    o.flow = lm_gpu_flow;
    o.flow_rates = lm_gpu_flow_rates;
    o.advect = lm_gpu_advect;
    o.transfer_to_gas = lm_gpu_transfer_to_gas;
    o.heat = lm_gpu_heat;
    o.least_density = lm_gpu_least_density;
    o.heat_exchange_limits = lm_gpu_heat_exchange_limits;
    o.grid_sums = lm_gpu_grid_sums;
    o.fingerprint = gpu_fingerprint;
    return o;
}();

/* Arrays of the background fields: how many; where they are, from `next` on; returns where they end. */
static int background_arrays(const struct lm_gpu *g)
{
    int count = 0;
    for (int f = 0; f < g->base.setup.background_count; f++) {
        const struct lm_background *b = &g->base.setup.background[f];
        count += 1 + (lm_has_own_flow(b) ? 2 : 0) + b->has_source;
    }
    return count;
}

static double *place_backgrounds(struct lm_gpu *g, double *next)
{
    for (int f = 0; f < g->base.setup.background_count; f++) {
        const struct lm_background *b = &g->base.setup.background[f];
        double *flow = lm_has_own_flow(b) ? next : g->advect.flow + (b->flow == LM_FLOW_ION ? 0 : 2) * g->pitch;
        next += lm_has_own_flow(b) ? 2 * g->pitch : 0;
        g->array[LM_BACKGROUND_X + f] = flow;
        g->array[LM_BACKGROUND_Y + f] = flow + g->pitch;
        g->array[LM_BACKGROUND + f] = next;
        g->array[LM_BACKGROUND_SOURCE + f] = b->has_source ? next + g->pitch : NULL;
        next += (1 + b->has_source) * g->pitch;
    }
    return next;
}

static int has_flows(const struct lm_setup *s)
{
    for (int f = 0; f < s->background_count; f++)
        if (!lm_has_own_flow(&s->background[f]))
            return 1;
    return 0;
}

/* All grid arrays in one piece of memory, g->pitch elements apart. */
static void allocate_grid(struct lm_gpu *g)
{
    struct {
        double **base;
        int arrays;
    } work[] = {{&g->advect.flow, has_flows(&g->base.setup) ? 4 : 0},
                {&g->advect.work, g->base.setup.background_count > 0 ? 2 : 0},
                {&g->raw, 4},
                {&g->spare, 4},
                {&g->next_b, 3},
                {&g->plain.curl, g->plain.used ? 3 : 0},
                {&g->plain.force, g->plain.used ? 3 : 0},
                {&g->plain.e, g->plain.used ? 3 : 0},
                {&g->plain.result, g->plain.used ? 3 : 0}};
    int species = g->base.setup.species_count, count = LM_SPECIES_N + species + background_arrays(g);
    count += LM_BORN_ARRAYS * g->base.setup.ionisation_count;
    for (size_t k = 0; k < sizeof work / sizeof *work; k++)
        count += work[k].arrays;
    g->pitch = (g->base.setup.grid.size + 31) / 32 * 32; /* whole segments of memory */
    size_t bytes = (size_t)count * g->pitch * sizeof(double);
    g->grid = (double *)lm_gpu_allocate(g, bytes, "the grid");
    if (g->failed)
        return;
    lm_gpu_check(g, cudaMemsetAsync(g->grid, 0, bytes, g->stream), "clearing the grid");
    double *next = g->grid;
    for (int k = 0; k < LM_SPECIES_N + species; k++, next += g->pitch)
        g->array[k] = next;
    for (size_t k = 0; k < sizeof work / sizeof *work; k++) {
        *work[k].base = work[k].arrays > 0 ? next : NULL;
        next += work[k].arrays * g->pitch;
    }
    next = place_backgrounds(g, next);
    for (int k = 0; k < LM_BORN_ARRAYS * g->base.setup.ionisation_count; k++, next += g->pitch)
        g->array[LM_BORN + k % LM_BORN_ARRAYS * LM_MAX_IONISATIONS + k / LM_BORN_ARRAYS] = next;
}

/* A copy on the device; NULL stays NULL. */
template <class V> static V *upload(struct lm_gpu *g, const V *from, size_t count, const char *what)
{
    V *to = from ? (V *)lm_gpu_allocate(g, (count + 1) * sizeof *to, what) : NULL;
    if (to)
        lm_gpu_check(g, cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyHostToDevice, g->stream), what);
    return to;
}

/* Bodies and maps, as the setup lends them. */
static void allocate_surfaces(struct lm_gpu *g)
{
    struct lm_setup *s = &g->base.setup;
    const struct lm_map_bins lent = s->maps;
    g->open = lm_setup_is_open(s);
    g->counted = g->open || s->ionisation_count > 0 || lm_any_exchanges(s);
    if (s->bodies.count > 0) {
        uint8_t *beside = (uint8_t *)malloc(s->grid.cells), *tile = (uint8_t *)malloc(g->tiles);
        if (beside && tile) {
            lm_surfaces_mark(s, beside, tile);
            g->body = upload(g, s->bodies.mask, s->grid.cells, "bodies");
            g->beside = upload(g, beside, s->grid.cells, "bodies");
            g->tile_has_body = upload(g, tile, g->tiles, "bodies");
            lm_gpu_check(g, cudaStreamSynchronize(g->stream), "bodies");
        } else {
            g->failed = lm_fail(LM_FAILED, "not enough memory for the bodies");
        }
        free(beside);
        free(tile);
    }
    g->maps = lent;
    g->maps.cos2 = upload(g, lent.cos2, (size_t)lent.angles, "maps of hits");
    g->maps.energy = upload(g, lent.energy, (size_t)lent.energies + 1, "maps of hits");
    g->maps.faces = upload(g, lent.faces, lent.first[LM_SURFACES], "maps of hits");
    const size_t bytes = lm_map_size(&lent) * sizeof(lm_u64);
    for (int k = 0; k < s->species_count && bytes > 0; k++) {
        g->species[k].map = (lm_u64 *)lm_gpu_allocate(g, bytes, "maps of hits");
        if (g->species[k].map)
            lm_gpu_check(g, cudaMemsetAsync(g->species[k].map, 0, bytes, g->stream), "maps of hits");
    }
    lm_gpu_check(g, cudaStreamSynchronize(g->stream), "maps of hits");
}

/* Tables of stopping, and room for what a gas is given. */
static void allocate_gas(struct lm_gpu *g)
{
    const struct lm_setup *s = &g->base.setup;
    const size_t bytes = LM_GAS_SUMS * s->grid.cells * sizeof(lm_u64);
    int any = 0;
    for (int k = 0; k < s->species_count; k++) {
        const struct lm_backend_species *p = &s->species[k];
        g->species[k].stopping =
            upload(g, (const char *)p->stopping.row, lm_stopping_bytes(&p->stopping), "tables of stopping");
        any |= p->has_gas;
    }
    g->given = any ? (lm_u64 *)lm_gpu_allocate(g, bytes, "what a gas is given") : NULL;
    if (g->given)
        lm_gpu_check(g, cudaMemsetAsync(g->given, 0, bytes, g->stream), "what a gas is given");
    lm_gpu_check(g, cudaStreamSynchronize(g->stream), "tables of stopping");
}

static void allocate_exchange(struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const size_t sums = grid->cells * LM_CELL_SUMS * sizeof *g->exchange.sums;
    if (!lm_any_exchanges(&g->base.setup))
        return;
    g->exchange.temperature = (double *)lm_gpu_allocate(g, grid->cells * sizeof(double), "the exchange of heat");
    g->exchange.cells = (struct lm_heating_cell *)lm_gpu_allocate(g, grid->cells * sizeof(struct lm_heating_cell),
                                                                  "the exchange of heat");
    g->exchange.sums = (lm_u64 *)lm_gpu_allocate(g, sums, "the exchange of heat");
    if (!g->failed)
        lm_gpu_check(g, cudaMemsetAsync(g->exchange.sums, 0, sums, g->stream), "the exchange of heat");
}

static void allocate_solid(struct lm_gpu *g, const struct lm_setup *setup)
{
    const size_t size = setup->grid.size;
    uint8_t *host = (uint8_t *)malloc(size);
    g->solid = (uint8_t *)lm_gpu_allocate(g, size, "the bodies");
    if (!host && !g->failed)
        g->failed = lm_fail(LM_FAILED, "not enough memory for the bodies");
    if (!g->failed) {
        lm_fill_solid(setup, host);
        lm_gpu_check(g, cudaMemcpyAsync(g->solid, host, size, cudaMemcpyHostToDevice, g->stream), "upload of bodies");
        lm_gpu_check(g, cudaStreamSynchronize(g->stream), "upload of bodies");
    }
    free(host);
}

static void allocate(struct lm_gpu *g)
{
    const struct lm_setup *s = &g->base.setup;
    allocate_surfaces(g);
    allocate_gas(g);
    allocate_exchange(g);
    allocate_grid(g);
    size_t sums = 4 * s->grid.cells * sizeof(lm_u64);
    g->sums = (lm_u64 *)lm_gpu_allocate(g, sums, "the integer moments");
    g->spare_sums = (lm_u64 *)lm_gpu_allocate(g, sums, "the integer moments");
    g->control = (struct lm_gpu_control *)lm_gpu_allocate(g, sizeof *g->control, "control values");
    g->reduced = (struct lm_gpu_sums *)lm_gpu_allocate(g, sizeof *g->reduced, "reductions");
    g->staging = lm_gpu_allocate(g, LM_GPU_PIECE * (size_t)40, "staging");
    lm_gpu_check(g,
                 cub::DeviceScan::ExclusiveSum(NULL, g->scan_bytes, (uint32_t *)NULL, (uint32_t *)NULL,
                                               g->tile_cells + 1, g->stream),
                 "prefix sums");
    g->scan_work = lm_gpu_allocate(g, g->scan_bytes, "prefix sums");
    if (g->failed)
        return;
    lm_gpu_check(g, cudaMemsetAsync(g->sums, 0, sums, g->stream), "clearing the moments");
    lm_gpu_check(g, cudaMemsetAsync(g->control, 0, sizeof *g->control, g->stream), "clearing control values");
    lm_gpu_check(g, cudaMallocHost((void **)&g->control_host, sizeof *g->control_host), "pinned memory");
    lm_gpu_check(g, cudaMallocHost((void **)&g->reduced_host, sizeof *g->reduced_host), "pinned memory");
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
    const struct lm_grid *grid = &setup->grid;
    g->tiling = {setup->tile, (grid->nx + setup->tile - 1) / setup->tile, (grid->ny + setup->tile - 1) / setup->tile,
                 grid->nx, grid->ny};
    g->tiles = (size_t)g->tiling.nx * g->tiling.ny;
    g->tile_cells = g->tiles * setup->tile * setup->tile;
    lm_gpu_check(g, cudaDeviceGetAttribute(&g->processors, cudaDevAttrMultiProcessorCount, 0), "device");
    int shared = 0;
    lm_gpu_check(g, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "device");
    g->shared_bytes = (size_t)shared;
    lm_gpu_check(g, cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), "stream");
    for (int k = 0; k < 2; k++)
        lm_gpu_check(g, cudaEventCreateWithFlags(&g->queued[k], cudaEventDisableTiming), "event");
    g->sides = lm_field_sides_of(setup);
    g->plain.used = lm_any_field_walls(&g->sides) || setup->bodies.count > 0 || setup->ohm.eta_vacuum > 0.0;
    allocate(g);
    lm_gpu_allocate_backgrounds(g);
    if (setup->bodies.count > 0)
        allocate_solid(g, setup);
    if (!g->failed)
        lm_gpu_check(g, cudaStreamSynchronize(g->stream), "start");
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
        error = cudaGetDeviceProperties(&p, 0);
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

void lm_cuda_memory(double *free_bytes, double *total_bytes)
{
    size_t free_size = 0, total = 0;
    if (cudaMemGetInfo(&free_size, &total) != cudaSuccess)
        cudaGetLastError(); /* both stay 0 */
    *free_bytes = (double)free_size;
    *total_bytes = (double)total;
}
