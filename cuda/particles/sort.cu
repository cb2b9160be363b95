/* CUDA backend: loading, sorting, memory, upload and download of particles. Compiled for each precision.
 *
 * A sort by cell has four stages: the rank of each particle in its new cell (one atomic for all lanes of a warp that go
 * to the same cell), prefix sums, the list of the old slot for each new slot, and the move. The move gathers each array
 * in turn into the spare array and swaps the two, so that a sort needs no second set of particles.
 *
 * Rate of a whole step with a drift of 0.3 cells a step, which sorts often: 31.9e9 particle-steps/s (CIC, double
 * precision; one NVIDIA H200, 2026-11-21, commit 34d4a2f; docs/performance/results.md).
 */
#include "particles/stored.cuh"

#include <cstdlib>

#include "backend/load_profile.h"
#include "larmor/physics/particles/deposit.h"
#include "larmor/physics/particles/load.h"

namespace
{

enum { MOVE_THREADS = 512, MOVE_EACH = 8 };

/* Re-bases every particle to the tile it is in, and counts it there; keeps its cell and its rank in it. */
__global__ void rank_kernel(all_particles h, uint32_t *count, uint32_t *cell_of, uint32_t *rank)
{
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        uint32_t cell = NOWHERE;
        if (mine)
            cell_of[k] = cell = h.a.x[k] == LM_GONE ? NOWHERE : lm_rebase(&h.t, tile, &h.a.x[k], &h.a.y[k]);
        uint32_t r = next_rank(count, cell);
        if (mine)
            rank[k] = r;
    });
}

/* from[slot] = the particle that goes to this slot. */
__global__ void list_kernel(uint32_t *from, const uint32_t *cell_start, const uint32_t *cell_of, const uint32_t *rank,
                            uint64_t n)
{
    uint64_t k = blockIdx.x * (uint64_t)THREADS + threadIdx.x;
    if (k < n && cell_of[k] != NOWHERE)
        from[cell_start[cell_of[k]] + rank[k]] = (uint32_t)k;
}

/* A thread moves several particles, so that their loads overlap. A block reads from memory that lies close together,
 * and reads it once into the L1 cache. */
template <class V>
__global__ void __launch_bounds__(MOVE_THREADS) move_kernel(V *to, const V *array, const uint32_t *from, uint64_t n)
{
    uint64_t first = blockIdx.x * (uint64_t)(MOVE_EACH * MOVE_THREADS) + threadIdx.x;
    uint32_t slot[MOVE_EACH];
    V value[MOVE_EACH];
    LM_UNROLL
    for (int e = 0; e < MOVE_EACH; e++)
        slot[e] = from[min(first + e * MOVE_THREADS, n - 1)];
    LM_UNROLL
    for (int e = 0; e < MOVE_EACH; e++)
        value[e] = __ldg(&array[slot[e]]);
    LM_UNROLL
    for (int e = 0; e < MOVE_EACH; e++)
        if (first + e * MOVE_THREADS < n)
            to[first + e * MOVE_THREADS] = value[e];
}

/* Starts of the tiles, and how many chunks each has. */
__global__ void tile_kernel(const uint32_t *cell_start, uint32_t *tile_start, uint32_t area, uint32_t tiles,
                            uint32_t chunk, uint32_t *chunks)
{
    uint32_t t = blockIdx.x * THREADS + threadIdx.x;
    if (t > tiles)
        return;
    uint32_t start = cell_start[t * area], n = t < tiles ? cell_start[(t + 1) * area] - start : 0;
    tile_start[t] = start;
    chunks[t] = n / chunk + (n % chunk != 0);
}

__global__ void chunk_kernel(const uint32_t *chunk_first, const uint32_t *tile_start, struct lm_gpu_chunk *chunk,
                             uint32_t tiles)
{
    uint32_t t = blockIdx.x * THREADS + threadIdx.x;
    if (t >= tiles)
        return;
    uint64_t start = tile_start[t], count = tile_start[t + 1] - start;
    uint32_t k = chunk_first[t], chunks = chunk_first[t + 1] - k;
    for (uint32_t n = 0; n < chunks; n++)
        chunk[k + n] = {(uint32_t)(start + count * n / chunks), (uint32_t)(start + count * (n + 1) / chunks), t, 0};
}

/* Counts are in cell_count: starts of cells and tiles, and the list of chunks. */
int scan_cells(struct lm_gpu *g, struct lm_gpu_species *s)
{
    uint32_t tiles = (uint32_t)g->tiles;
    unsigned blocks = (tiles + THREADS) / THREADS;
    lm_gpu_scan(g, s->cell_count, s->cell_start, g->tile_cells + 1);
    tile_kernel<<<blocks, THREADS, 0, g->stream>>>(s->cell_start, s->tile_start,
                                                   (uint32_t)(g->tiling.size * g->tiling.size), tiles, s->chunk_size,
                                                   s->cell_count); /* counts are no longer needed */
    lm_gpu_scan(g, s->cell_count, s->chunk_first, tiles + 1);
    chunk_kernel<<<blocks, THREADS, 0, g->stream>>>(s->chunk_first, s->tile_start, s->chunk, tiles);
    return LM_GPU_LAUNCHED(g, "tiles");
}

int clear_counts(struct lm_gpu *g, struct lm_gpu_species *s)
{
    return lm_gpu_check(g, cudaMemsetAsync(s->cell_count, 0, (g->tile_cells + 1) * sizeof(uint32_t), g->stream),
                        "clearing counts");
}

/* Clears the elements that may be read after the last particle; lm_fix and lm_real have one size. */
void end_array(struct lm_gpu *g, void *array, uint64_t count)
{
    lm_gpu_check(g, cudaMemsetAsync((lm_real *)array + count, 0, GROUP_MAX * sizeof(lm_real), g->stream), "particles");
}

template <class V> void move_array(struct lm_gpu *g, struct lm_gpu_species *s, void **array)
{
    unsigned blocks = (unsigned)((s->count + MOVE_EACH * MOVE_THREADS - 1) / (MOVE_EACH * MOVE_THREADS));
    move_kernel<V><<<blocks, MOVE_THREADS, 0, g->stream>>>((V *)s->scratch, (const V *)*array, s->slot, s->count);
    void *t = s->scratch;
    s->scratch = *array;
    *array = t;
}

/* --- in and out --- */

/* LM_GPU_PIECE particles. */
stored piece_of(const struct lm_gpu *g)
{
    return stored_at(g->staging, LM_GPU_PIECE);
}

__global__ void get_kernel(all_particles h, uint64_t first, uint32_t count, stored to)
{
    uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= count)
        return;
    uint32_t k = (uint32_t)(first + n);
    int tile = tile_of(h, k);
    to.x[n] = lm_global(h.a.x[k], tile % h.t.nx, h.t.size, h.t.cells_x);
    to.y[n] = lm_global(h.a.y[k], tile / h.t.nx, h.t.size, h.t.cells_y);
    to.vx[n] = h.a.vx[k];
    to.vy[n] = h.a.vy[k];
    to.vz[n] = h.a.vz[k];
}

__device__ __forceinline__ uint32_t stored_cell(const struct lm_tiling &t, const stored &from, uint32_t n)
{
    return lm_tile_cell(&t, (int)(from.x[n] >> LM_FRACTION_BITS), (int)(from.y[n] >> LM_FRACTION_BITS));
}

__global__ void count_stored_kernel(struct lm_tiling t, stored from, uint32_t count, uint32_t *cell_count)
{
    uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n < count)
        atomicAdd(&cell_count[stored_cell(t, from, n)], 1u);
}

__global__ void place_stored_kernel(tile_particles h, const uint32_t *cell_start, uint32_t *rank, stored from,
                                    uint32_t count)
{
    uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= count)
        return;
    int home;
    uint32_t cell = stored_cell(h.t, from, n), k = cell_start[cell] + atomicAdd(&rank[cell], 1u);
    struct lm_particle p = {lm_local(from.x[n], h.t.size, &home), lm_local(from.y[n], h.t.size, &home), from.vx[n],
                            from.vy[n], from.vz[n]};
    put_particle(h.a, k, p);
}

/* cell_count: particles of each own cell; *total: their sum. */
__global__ void count_load_kernel(struct lm_profile profile, struct lm_tiling t, struct lm_grid g, uint32_t *cell_count,
                                  lm_u64 *total)
{
    int i = g.own.from_x + (int)(blockIdx.x * THREADS + threadIdx.x), j = g.own.from_y + (int)blockIdx.y;
    uint32_t n = 0;
    if (i < g.own.to_x) {
        size_t k = (size_t)(j + LM_GHOST) * g.stride + i + LM_GHOST;
        n = lm_cell_count(&profile, k, lm_domain_x(&g.place, i), lm_domain_y(&g.place, j),
                          lm_domain_cell(&g.place, i, j));
        cell_count[lm_tile_cell(&t, i, j)] = n;
    }
    lm_warp_sum(total, n);
}

/* A warp loads an own cell. */
__global__ void load_kernel(struct lm_profile profile, tile_particles h, const uint32_t *cell_start, struct lm_grid g)
{
    uint64_t warp = (blockIdx.x * (uint64_t)THREADS + threadIdx.x) / 32;
    const int width = g.own.to_x - g.own.from_x;
    if (warp >= (uint64_t)width * (uint64_t)(g.own.to_y - g.own.from_y))
        return;
    int i = g.own.from_x + (int)(warp % width), j = g.own.from_y + (int)(warp / width);
    size_t k = (size_t)(j + LM_GHOST) * g.stride + i + LM_GHOST;
    const uint32_t cell = lm_domain_cell(&g.place, i, j);
    uint32_t home = lm_tile_cell(&h.t, i, j), n = cell_start[home + 1] - cell_start[home];
    for (uint32_t r = threadIdx.x % 32; r < n; r += 32) {
        struct lm_particle p;
        lm_real v[3];
        lm_load_particle(&profile, k, g.stride, cell, r, n, &p.x, &p.y, v);
        p.x += (lm_fix)(i % h.t.size) * LM_ONE;
        p.y += (lm_fix)(j % h.t.size) * LM_ONE;
        p.vx = v[0], p.vy = v[1], p.vz = v[2];
        put_particle(h.a, cell_start[home] + r, p);
    }
}

/* The profile's arrays on the device, in one piece of memory. */
struct lm_profile upload_profile(struct lm_gpu *g, struct lm_profile p, double **store)
{
    size_t size = g->base.setup.grid.size, scales = p.quiet_scale ? 3 * (size_t)(p.quiet_high - p.quiet_low + 1) : 0,
           used = 0;
    *store = (double *)lm_gpu_allocate(g, (10 * size + scales) * sizeof(double), "loading profiles");
    const double **list[11] = {&p.density};
    for (int d = 0; d < 3; d++) {
        list[1 + d] = &p.drift[d];
        list[4 + d] = &p.temperature[d];
        list[7 + d] = &p.b[d];
    }
    list[10] = &p.quiet_scale;
    for (int k = 0; k < 11 && *store; k++) {
        size_t n = k == 10 ? scales : size;
        if (!*list[k])
            continue;
        lm_gpu_check(g, cudaMemcpyAsync(*store + used, *list[k], n * sizeof(double), cudaMemcpyHostToDevice, g->stream),
                     "upload of a profile");
        *list[k] = *store + used;
        used += n;
    }
    lm_gpu_wait(g, "upload of profiles");
    return p;
}

} // namespace

int LM_P(lm_gpu_sort)(struct lm_backend *b, int species)
{
    lm_gpu_range range("sort");
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    if (s->count == 0)
        return g->failed;
    uint32_t *cell_of = (uint32_t *)s->scratch; /* free until the arrays move */
    clear_counts(g, s);
    rank_kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(particles_of(g, species), s->cell_count, cell_of, s->rank);
    LM_GPU_LAUNCHED(g, "ranking particles");
    scan_cells(g, s);
    list_kernel<<<particle_blocks(s->count), THREADS, 0, g->stream>>>(s->slot, s->cell_start, cell_of, s->rank,
                                                                      s->count);
    LM_GPU_LAUNCHED(g, "placing particles");
    const bool fewer = s->gone > 0;
    s->count -= s->gone; /* their places are gone, too */
    s->sorted = s->count;
    s->gone = 0;
    if (s->count == 0)
        return g->failed;
    move_array<lm_fix>(g, s, &s->x);
    move_array<lm_fix>(g, s, &s->y);
    move_array<lm_real>(g, s, &s->vx);
    move_array<lm_real>(g, s, &s->vy);
    move_array<lm_real>(g, s, &s->vz);
    void *const moved[] = {s->x, s->y, s->vx, s->vy, s->vz};
    for (size_t k = 0; fewer && k < sizeof moved / sizeof *moved; k++)
        end_array(g, moved[k], s->count);
    return LM_GPU_LAUNCHED(g, "moving particles");
}

/* Particles in a chunk at most: as many as int32 sums allow, but enough chunks to fill the device. */
static uint32_t chunk_size(const struct lm_gpu *g, uint64_t count)
{
    uint64_t share = count / ((uint64_t)g->processors * 8) + 1;
    return (uint32_t)(share < 1024 ? 1024 : share > LM_CHUNK ? LM_CHUNK : share);
}

/* What a species needs before its particles can be counted. */
static int prepare_counts(struct lm_gpu *g, struct lm_gpu_species *s)
{
    s->tile_start = (uint32_t *)lm_gpu_allocate(g, (g->tiles + 1) * sizeof(uint32_t), "tiles");
    s->chunk_first = (uint32_t *)lm_gpu_allocate(g, (g->tiles + 1) * sizeof(uint32_t), "tiles");
    s->cell_count = (uint32_t *)lm_gpu_allocate(g, (g->tile_cells + 1) * sizeof(uint32_t), "tiles");
    s->cell_start = (uint32_t *)lm_gpu_allocate(g, (g->tile_cells + 1) * sizeof(uint32_t), "tiles");
    if (g->failed)
        return g->failed;
    lm_gpu_check(g, cudaMemsetAsync(s->tile_start, 0, (g->tiles + 1) * sizeof(uint32_t), g->stream), "tiles");
    lm_gpu_check(g, cudaMemsetAsync(s->chunk_first, 0, (g->tiles + 1) * sizeof(uint32_t), g->stream), "tiles");
    return clear_counts(g, s);
}

/* Of so many particles. */
static unsigned most_chunks(const struct lm_gpu *g, const struct lm_gpu_species *s, uint64_t count)
{
    return (unsigned)(g->tiles + count / s->chunk_size + 1);
}

int LM_P(lm_gpu_reserve)(struct lm_backend *b, int species, uint64_t count)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    if (count > LM_MAX_PARTICLES)
        return g->failed = lm_fail(LM_BAD_INPUT, "%llu particles; at most %llu fit one device",
                                   (unsigned long long)count, (unsigned long long)LM_MAX_PARTICLES);
    if (!s->cell_count)
        prepare_counts(g, s);
    const uint64_t capacity = g->halo ? count + count / 64 : count; /* more may soon come from other ranks */
    s->count = s->sorted = count;
    s->capacity = capacity;
    s->placing = 0;
    s->chunk_size = chunk_size(g, count);
    s->blocks = most_chunks(g, s, capacity);
    void **const list[] = {&s->x, &s->y, &s->vx, &s->vy, &s->vz, &s->scratch};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        lm_real *array = (lm_real *)lm_gpu_allocate(g, (capacity + GROUP_MAX) * sizeof *array, "particles");
        *list[k] = array;
        if (array)
            end_array(g, array, count);
    }
    s->slot = (uint32_t *)lm_gpu_allocate(g, (capacity + 1) * sizeof(uint32_t), "particles");
    s->rank = (uint32_t *)lm_gpu_allocate(g, (capacity + 1) * sizeof(uint32_t), "particles");
    s->chunk = (struct lm_gpu_chunk *)lm_gpu_allocate(g, s->blocks * sizeof *s->chunk, "tiles");
    if (s->chunk)
        lm_gpu_check(g, cudaMemsetAsync(s->chunk, 0, s->blocks * sizeof *s->chunk, g->stream), "tiles");
    return g->failed;
}

/* Replaces an array of `old` elements by one of `more`, the rest cleared; 0 when there is no memory for it, and the old
 * one stays. */
static int extend(struct lm_gpu *g, void **array, size_t old, size_t more, size_t element)
{
    char *to = (char *)lm_gpu_try_allocate(g, more * element, "particles that enter");
    if (!to)
        return 0;
    if (old > 0)
        lm_gpu_check(g, cudaMemcpyAsync(to, *array, old * element, cudaMemcpyDeviceToDevice, g->stream), "particles");
    lm_gpu_check(g, cudaMemsetAsync(to + old * element, 0, (more - old) * element, g->stream), "particles");
    lm_gpu_wait(g, "particles");
    lm_gpu_free(g, *array);
    *array = to;
    return 1;
}

/* Memory for `capacity` places; one array after the other, so that little more is needed than they take in the end. */
static int grow(struct lm_gpu *g, struct lm_gpu_species *s, uint64_t capacity)
{
    void **const arrays[] = {&s->x, &s->y, &s->vx, &s->vy, &s->vz};
    s->chunk_size = chunk_size(g, capacity); /* from the next sort on; the chunks until then are as many as before */
    const unsigned wanted = most_chunks(g, s, capacity), blocks = wanted > s->blocks ? wanted : s->blocks;
    int done = 1;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays && done; k++)
        done = extend(g, arrays[k], s->count, capacity + GROUP_MAX, sizeof(lm_real));
    done = done && extend(g, &s->scratch, 0, capacity + GROUP_MAX, sizeof(lm_real)) &&
           extend(g, (void **)&s->slot, 0, capacity + 1, sizeof *s->slot) &&
           extend(g, (void **)&s->rank, 0, capacity + 1, sizeof *s->rank) &&
           extend(g, (void **)&s->chunk, s->blocks, blocks, sizeof *s->chunk);
    if (!done)
        return LM_STOPPED;
    s->blocks = blocks;
    s->capacity = capacity;
    return g->failed;
}

/* Memory for so many tiles of particles behind the sorted ones, where there are none yet. */
static int reserve_homes(struct lm_gpu *g, struct lm_gpu_species *s, uint64_t count)
{
    if (count <= s->home_capacity)
        return LM_OK;
    if (!extend(g, (void **)&s->home, 0, count, sizeof *s->home))
        return LM_STOPPED;
    s->home_capacity = count;
    return LM_OK;
}

/* Slots for `more` particles behind those that there are. */
static int reserve_slots(struct lm_gpu *g, struct lm_gpu_species *s, uint64_t more)
{
    const uint64_t wanted = s->count + more;
    if (wanted <= s->capacity)
        return LM_OK;
    if (wanted > LM_MAX_PARTICLES)
        return lm_fail(LM_FAILED, "%llu particles of a species; at most %llu fit one device",
                       (unsigned long long)wanted, (unsigned long long)LM_MAX_PARTICLES);
    const uint64_t generous = wanted + wanted / 4, least = wanted + wanted / 64;
    if (generous < LM_MAX_PARTICLES && !grow(g, s, generous))
        return LM_OK;
    return grow(g, s, least < LM_MAX_PARTICLES ? least : LM_MAX_PARTICLES);
}

int LM_P(lm_gpu_reserve_more)(struct lm_backend *b, int species, uint64_t more)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    const bool is_full = s->count + more > s->capacity, is_long = s->count - s->sorted + more > s->home_capacity;
    if ((is_full && s->gone > 0) || (is_long && s->count > s->sorted))
        LM_P(lm_gpu_sort)(b, species);
    if (g->failed)
        return g->failed;
    const uint64_t behind = s->count - s->sorted + more;
    /* A sort comes no later than after 64 steps (src/sim/step.c). */
    const int status = behind > s->home_capacity ? reserve_homes(g, s, 64 * more) : LM_OK;
    return status ? status : reserve_slots(g, s, more);
}

int LM_P(lm_gpu_reserve_arrivals)(struct lm_backend *b, int species, uint64_t count)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    if (s->count - s->sorted + count > s->home_capacity && s->count > s->sorted)
        LM_P(lm_gpu_sort)(b, species);
    int status = g->failed;
    if (!status && s->count - s->sorted + count > s->home_capacity)
        status = reserve_homes(g, s, count + count / 4);
    return status ? status : reserve_slots(g, s, count);
}

int LM_P(lm_gpu_put_particles)(struct lm_backend *b, int species, enum lm_put_phase phase, uint64_t count,
                               struct lm_raw_particles from)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    stored p = piece_of(g);
    if (phase == LM_PLACE_PARTICLES && !s->placing) {
        scan_cells(g, s);
        clear_counts(g, s);
        s->placing = 1;
    }
    for (uint64_t first = 0; first < count && !g->failed; first += LM_GPU_PIECE) {
        size_t n = (size_t)(count - first < LM_GPU_PIECE ? count - first : LM_GPU_PIECE);
        const void *host[5] = {from.x + first, from.y + first, (const lm_real *)from.vx + first,
                               (const lm_real *)from.vy + first, (const lm_real *)from.vz + first};
        void *device[5] = {p.x, p.y, p.vx, p.vy, p.vz};
        for (int d = 0; d < 5; d++)
            lm_gpu_check(
                g, cudaMemcpyAsync(device[d], host[d], n * (d < 2 ? 8 : sizeof(lm_real)), cudaMemcpyDefault, g->stream),
                "upload of particles");
        if (phase == LM_PLACE_PARTICLES)
            place_stored_kernel<<<particle_blocks(n), THREADS, 0, g->stream>>>(particles_of(g, species), s->cell_start,
                                                                               s->cell_count, p, (uint32_t)n);
        else
            count_stored_kernel<<<particle_blocks(n), THREADS, 0, g->stream>>>(g->tiling, p, (uint32_t)n,
                                                                               s->cell_count);
        LM_GPU_LAUNCHED(g, "particles from a file");
        lm_gpu_wait(g, "particles from a file");
    }
    return g->failed;
}

int LM_P(lm_gpu_get_particles)(struct lm_backend *b, int species, uint64_t first, uint64_t count,
                               struct lm_raw_particles to)
{
    struct lm_gpu *g = lm_gpu_of(b);
    stored p = piece_of(g);
    for (uint64_t done = 0; done < count && !g->failed; done += LM_GPU_PIECE) {
        size_t n = (size_t)(count - done < LM_GPU_PIECE ? count - done : LM_GPU_PIECE);
        get_kernel<<<particle_blocks(n), THREADS, 0, g->stream>>>(particles_of(g, species), first + done, (uint32_t)n,
                                                                  p);
        LM_GPU_LAUNCHED(g, "particles to the host");
        void *host[5] = {to.x + done, to.y + done, (lm_real *)to.vx + done, (lm_real *)to.vy + done,
                         (lm_real *)to.vz + done};
        const void *device[5] = {p.x, p.y, p.vx, p.vy, p.vz};
        for (int d = 0; d < 5; d++)
            lm_gpu_check(g,
                         cudaMemcpyAsync(host[d], device[d], n * (d < 2 ? 8 : sizeof(lm_real)), cudaMemcpyDeviceToHost,
                                         g->stream),
                         "download of particles");
        lm_gpu_wait(g, "download of particles");
    }
    return g->failed;
}

int LM_P(lm_gpu_load)(struct lm_backend *b, int species, const struct lm_loading *from, uint64_t *count)
{
    lm_gpu_range range("load");
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    struct lm_profile profile;
    double *scale, *store;
    const struct lm_grid *grid = &b->setup.grid;
    int status = lm_profile_make(grid, from, species, &profile, &scale);
    if (status)
        return status;
    profile = upload_profile(g, profile, &store);
    free(scale);
    prepare_counts(g, s);
    const unsigned width = (unsigned)(grid->own.to_x - grid->own.from_x);
    dim3 blocks((width + THREADS - 1) / THREADS, (unsigned)(grid->own.to_y - grid->own.from_y));
    lm_gpu_reduce_begin(g);
    if (!g->failed)
        count_load_kernel<<<blocks, THREADS, 0, g->stream>>>(profile, g->tiling, *grid, s->cell_count,
                                                             &g->reduced->value[0]);
    LM_GPU_LAUNCHED(g, "counting particles");
    lm_gpu_reduce_end(g);
    if (!g->failed)
        LM_P(lm_gpu_reserve)(b, species, g->reduced_host->value[0]);
    if (!g->failed) {
        scan_cells(g, s);
        unsigned warps = particle_blocks((uint64_t)width * blocks.y * 32);
        load_kernel<<<warps, THREADS, 0, g->stream>>>(profile, particles_of(g, species), s->cell_start, *grid);
        LM_GPU_LAUNCHED(g, "loading particles");
    }
    lm_gpu_wait(g, "loading particles");
    lm_gpu_free(g, store);
    *count = s->count;
    return g->failed;
}
