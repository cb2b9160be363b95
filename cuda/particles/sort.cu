/* CUDA backend: sorting of particles by cell. Compiled for each precision.
 *
 * A sort by cell has four stages: the rank of each particle in its new cell (one atomic for all lanes of a warp that go
 * to the same cell), prefix sums, the list of the old slot for each new slot, and the move. The move gathers each array
 * in turn into the spare array and swaps the two, so that a sort needs no second set of particles.
 *
 * Rate of a whole step with a drift of 0.3 cells a step, which sorts often: 31.9e9 particle-steps/s (CIC, double
 * precision; one NVIDIA H200, 2026-11-21, commit 34d4a2f; docs/performance/results.md).
 */
#include "particles/stored.cuh"

#include "core/halo.cuh"

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

/* The tile at a place of the order; NULL: tiles are in the order of their numbers. */
__device__ __forceinline__ uint32_t tile_at(const uint32_t *order, uint32_t place)
{
    return order ? order[place] : place;
}

/* Starts of the tiles, and how many chunks each has. */
__global__ void tile_kernel(const uint32_t *cell_start, uint32_t *tile_start, uint32_t area, uint32_t tiles,
                            uint32_t chunk, const uint32_t *order, uint32_t *chunks)
{
    uint32_t place = blockIdx.x * THREADS + threadIdx.x;
    if (place > tiles)
        return;
    uint32_t t = place < tiles ? tile_at(order, place) : tiles;
    uint32_t start = cell_start[t * area], n = t < tiles ? cell_start[(t + 1) * area] - start : 0;
    tile_start[t] = start;
    chunks[place] = n / chunk + (n % chunk != 0);
}

__global__ void chunk_kernel(const uint32_t *chunk_first, const uint32_t *tile_start, const uint32_t *order,
                             struct lm_gpu_chunk *chunk, uint32_t tiles, uint32_t edge, uint32_t *edge_particles)
{
    uint32_t place = blockIdx.x * THREADS + threadIdx.x;
    if (place >= tiles)
        return;
    const uint32_t t = tile_at(order, place);
    uint64_t start = tile_start[t], count = tile_start[t + 1] - start;
    if (place < edge)
        atomicAdd(edge_particles, (uint32_t)count);
    uint32_t k = chunk_first[place], chunks = chunk_first[place + 1] - k;
    for (uint32_t n = 0; n < chunks; n++)
        chunk[k + n] = {(uint32_t)(start + count * n / chunks), (uint32_t)(start + count * (n + 1) / chunks), t, 0};
}

template <class V> void move_array(struct lm_gpu *g, struct lm_gpu_species *s, void **array)
{
    unsigned blocks = (unsigned)((s->count + MOVE_EACH * MOVE_THREADS - 1) / (MOVE_EACH * MOVE_THREADS));
    move_kernel<V><<<blocks, MOVE_THREADS, 0, g->stream>>>((V *)s->scratch, (const V *)*array, s->slot, s->count);
    void *t = s->scratch;
    s->scratch = *array;
    *array = t;
}

} // namespace

/* Tells the host what has been listed. */
static int get_listed(struct lm_gpu *g, struct lm_gpu_species *s, uint32_t edge)
{
    const struct {
        uint32_t *to;
        const uint32_t *from;
    } copies[] = {{&s->listed.chunks, s->chunk_first + g->tiles},
                  {&s->listed.edge_chunks, s->chunk_first + edge},
                  {&s->listed.edge_particles, s->edge_particles}};
    for (const auto &c : copies)
        lm_gpu_check(g, cudaMemcpyAsync(c.to, c.from, sizeof *c.to, cudaMemcpyDeviceToHost, g->stream), "tiles");
    return lm_gpu_wait(g, "tiles");
}

int LM_P(lm_gpu_list_cells)(struct lm_gpu *g, struct lm_gpu_species *s)
{
    const struct lm_gpu_tile_order *edge_first = lm_gpu_halo_tiles(g);
    const uint32_t *order = edge_first ? edge_first->tile : NULL, edge = edge_first ? edge_first->edge : 0;
    uint32_t tiles = (uint32_t)g->tiles;
    unsigned blocks = (tiles + THREADS) / THREADS;
    lm_gpu_scan(g, s->cell_count, s->cell_start, g->tile_cells + 1);
    tile_kernel<<<blocks, THREADS, 0, g->stream>>>(s->cell_start, s->tile_start,
                                                   (uint32_t)(g->tiling.size * g->tiling.size), tiles, s->chunk_size,
                                                   order, s->cell_count); /* counts are no longer needed */
    lm_gpu_scan(g, s->cell_count, s->chunk_first, tiles + 1);
    if (edge_first)
        lm_gpu_check(g, cudaMemsetAsync(s->edge_particles, 0, sizeof *s->edge_particles, g->stream), "tiles");
    chunk_kernel<<<blocks, THREADS, 0, g->stream>>>(s->chunk_first, s->tile_start, order, s->chunk, tiles, edge,
                                                    s->edge_particles);
    LM_GPU_LAUNCHED(g, "tiles");
    return edge_first ? get_listed(g, s, edge) : g->failed;
}

int LM_P(lm_gpu_sort)(struct lm_backend *b, int species)
{
    lm_gpu_range range("sort");
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    if (s->count == 0)
        return g->failed;
    uint32_t *cell_of = (uint32_t *)s->scratch; /* free until the arrays move */
    LM_P(lm_gpu_clear_counts)(g, s);
    rank_kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(particles_of(g, species), s->cell_count, cell_of, s->rank);
    LM_GPU_LAUNCHED(g, "ranking particles");
    LM_P(lm_gpu_list_cells)(g, s);
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
        LM_P(lm_gpu_end_array)(g, moved[k], s->count);
    return LM_GPU_LAUNCHED(g, "moving particles");
}
