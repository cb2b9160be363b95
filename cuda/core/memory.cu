/* CUDA backend: device memory, which the backend owns from its allocation to the end. */
#include "core/gpu.cuh"

#include <cstdlib>
#include <cub/device/device_scan.cuh>

#include "backend/cuda.h"
#include "backend/field_boundaries.h"
#include "larmor/physics/collisions/ion_electron_heating.h"

/* --- one piece --- */

/* Adds a piece to the list of all that is allocated. Returns 0 when the host has no memory for the list. */
static int own(struct lm_gpu *g, void *memory)
{
    void **list = (void **)realloc(g->owned, (g->owned_count + 1) * sizeof *list);
    if (!list)
        return 0;
    g->owned = list;
    g->owned[g->owned_count++] = memory;
    return 1;
}

void *lm_gpu_try_allocate(struct lm_gpu *g, size_t bytes, const char *what)
{
    void *memory = NULL;
    double free_bytes, total;
    if (cudaMalloc(&memory, bytes) == cudaSuccess) {
        if (own(g, memory))
            return memory;
        cudaFree(memory);
        lm_fail(LM_FAILED, "not enough memory for %s", what);
        return NULL;
    }
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
    void *memory = g->failed ? NULL : lm_gpu_try_allocate(g, bytes, what);
    if (!memory)
        g->failed = LM_FAILED;
    return memory;
}

void lm_gpu_free(struct lm_gpu *g, void *memory)
{
    size_t k = 0;
    while (k < g->owned_count && g->owned[k] != memory)
        k++;
    if (k == g->owned_count)
        return;
    g->owned[k] = g->owned[--g->owned_count];
    cudaFree(memory);
}

void lm_gpu_free_all(struct lm_gpu *g)
{
    for (size_t k = 0; k < g->owned_count; k++)
        cudaFree(g->owned[k]);
    free(g->owned);
    g->owned = NULL;
    g->owned_count = 0;
}

/* --- what a backend needs from its start --- */

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

static double *place_in_row(struct lm_gpu *g, int first, int count, double *next)
{
    for (int k = 0; k < count; k++, next += g->pitch)
        g->array[first + k] = next;
    return next;
}

static double *place_friction(struct lm_gpu *g, double *next)
{
    for (int k = 0; k < g->base.setup.friction_species; k++) {
        const int species = lm_friction_species(&g->base.setup, k);
        next = place_in_row(g, LM_SPECIES_OLD + 4 * species, 4, next);
        next = place_in_row(g, LM_SPECIES_NEW + 4 * species, 4, next);
        next = place_in_row(g, LM_FRICTION_E + 3 * species, 3, next);
    }
    return g->base.setup.friction_species > 0 ? place_in_row(g, LM_FRICTION_FORCE, 3, next) : next;
}

/* All grid arrays in one piece of memory, g->pitch elements apart. */
static void allocate_grid(struct lm_gpu *g)
{
    struct {
        double **base;
        int arrays;
    } work[] = {{&g->advect.flow, has_flows(&g->base.setup) ? 4 : 0},
                {&g->advect.counted, g->base.setup.ohm.evolved ? 1 : 0},
                {&g->advect.work, g->base.setup.background_count > 0 ? 2 : 0},
                {&g->raw, 4},
                {&g->spare, 8},
                {&g->next_b, 3},
                {&g->general.curl, g->general.used ? 3 : 0},
                {&g->general.motional, g->general.used ? 4 : 0},
                {&g->general.e, g->general.used ? 3 : 0},
                {&g->general.result, g->general.used ? 3 : 0}};
    int species = g->base.setup.species_count, count = LM_SPECIES_N + species + background_arrays(g);
    const int forces = 3 * g->base.setup.pushed_species; /* arrays of E with what only one species feels */
    /* LM_MAGNET_J and LM_EXTERNAL_J, in a row, and LM_GIVEN_ETA behind them. */
    const int external = g->base.setup.external_current ? 6 : 0, local_eta = g->base.setup.local_eta ? 1 : 0;
    count += lm_friction_arrays(&g->base.setup) + external + local_eta + forces;
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
    next = place_friction(g, next);
    for (int k = 0; k < species && forces > 0; k++) {
        g->species[k].push = lm_has_own_push(&g->base.setup, k) ? next : NULL;
        next += g->species[k].push ? 3 * g->pitch : 0;
    }
    for (int k = 0; k < external; k++, next += g->pitch)
        g->array[LM_MAGNET_J + k] = next;
    g->array[LM_GIVEN_ETA] = local_eta ? next : NULL;
    next += local_eta * g->pitch;
    for (int k = 0; k < LM_BORN_ARRAYS * g->base.setup.ionisation_count; k++, next += g->pitch)
        g->array[LM_BORN + k % LM_BORN_ARRAYS * LM_MAX_IONISATIONS + k / LM_BORN_ARRAYS] = next;
}

int lm_gpu_allocate_general(struct lm_gpu *g)
{
    double **const base[] = {&g->general.curl, &g->general.e, &g->general.result, &g->general.motional};
    const size_t bytes = 3 * g->pitch * sizeof(double);
    for (int k = 0; k < 4 && !g->general.motional && !g->failed; k++) {
        const size_t all = k < 3 ? bytes : bytes + g->pitch * sizeof(double);
        *base[k] = (double *)lm_gpu_allocate(g, all, "E in voids");
        if (!g->failed)
            lm_gpu_check(g, cudaMemsetAsync(*base[k], 0, all, g->stream), "E in voids");
    }
    return g->failed;
}

/* A copy on the device; NULL stays NULL. */
template <class V> static V *upload(struct lm_gpu *g, const V *from, size_t count, const char *what)
{
    V *to = from ? (V *)lm_gpu_allocate(g, (count + 1) * sizeof *to, what) : NULL;
    if (to)
        lm_gpu_check(g, cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyHostToDevice, g->stream), what);
    return to;
}

/* Bodies, driving and maps, as the setup lends them. */
static void allocate_surfaces(struct lm_gpu *g)
{
    struct lm_setup *s = &g->base.setup;
    const struct lm_map_bins lent = s->maps;
    g->open = lm_setup_is_open(s);
    g->counted = g->open || s->ionisation_count > 0 || lm_any_exchanges(s);
    if (s->bodies.count > 0) {
        uint8_t *near_body = (uint8_t *)malloc(s->grid.cells), *tile = (uint8_t *)malloc(g->tiles);
        float *factor = (float *)malloc(s->grid.cells * sizeof *factor);
        if (near_body && tile && factor) {
            lm_surfaces_mark(s, near_body, tile);
            lm_surfaces_factors(s, factor);
            g->body = upload(g, lm_obstacles_of(&s->bodies), s->grid.cells, "bodies");
            g->cut = upload(g, s->bodies.obstacles.cut, s->grid.cells, "bodies");
            g->factor = upload(g, factor, s->grid.cells, "bodies");
            g->near_body = upload(g, near_body, s->grid.cells, "bodies");
            g->tile_has_body = upload(g, tile, g->tiles, "bodies");
            lm_gpu_check(g, cudaStreamSynchronize(g->stream), "bodies");
        } else {
            g->failed = lm_fail(LM_FAILED, "not enough memory for the bodies");
        }
        free(near_body);
        free(tile);
        free(factor);
    }
    g->driving = upload(g, s->driving, 1, "driving");
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

/* Tables of stopping, and the sums of what collisions transfer to a gas. */
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
    g->gas_transfer = any ? (lm_u64 *)lm_gpu_allocate(g, bytes, "what collisions transfer to a gas") : NULL;
    if (g->gas_transfer)
        lm_gpu_check(g, cudaMemsetAsync(g->gas_transfer, 0, bytes, g->stream), "what collisions transfer to a gas");
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

static void upload_filled(struct lm_gpu *g, void *to, const void *host, size_t bytes)
{
    lm_gpu_check(g, cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, g->stream), "upload of bodies");
    lm_gpu_check(g, cudaStreamSynchronize(g->stream), "upload of bodies");
}

static void allocate_solid(struct lm_gpu *g, const struct lm_setup *setup)
{
    const size_t size = setup->grid.size, bytes = 3 * size * sizeof(struct lm_body_node);
    uint8_t *host = (uint8_t *)malloc(size);
    struct lm_body_node *node = (struct lm_body_node *)malloc(bytes);
    g->solid = (uint8_t *)lm_gpu_allocate(g, size, "the bodies");
    g->node = (struct lm_body_node *)lm_gpu_allocate(g, bytes, "the bodies");
    if (!(host && node) && !g->failed)
        g->failed = lm_fail(LM_FAILED, "not enough memory for the bodies");
    if (!g->failed)
        g->failed = lm_fill_nodes(setup, node);
    if (!g->failed) {
        lm_fill_solid(setup, host);
        upload_filled(g, g->solid, host, size);
        upload_filled(g, g->node, node, bytes);
    }
    g->base.setup.bodies.node = NULL; /* it was lent */
    g->base.setup.bodies.obstacles = {};
    free(host);
    free(node);
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
    g->staging = lm_gpu_allocate(g, LM_GPU_STAGING, "staging");
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

void lm_gpu_allocate_all(struct lm_gpu *g, const struct lm_setup *setup)
{
    allocate(g);
    if (setup->bodies.count > 0)
        allocate_solid(g, setup);
}
