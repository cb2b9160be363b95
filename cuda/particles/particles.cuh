/* What the particle kernels share: the particles of a species on the device, chunks and tiles. For one precision at a
 * time. */
#ifndef LARMOR_PARTICLES_PARTICLES_CUH
#define LARMOR_PARTICLES_PARTICLES_CUH

#include "core/gpu.cuh"

#include "larmor/physics/particles/tile.h"
#include "larmor/physics/fields/wall.h"

namespace
{

enum { THREADS = LM_GPU_THREADS };

enum { TALLY_SUMS = sizeof(struct lm_tally) / sizeof(lm_u64) }; /* struct lm_tally as so many integers in a row */

/* The most neighbours that one load reads. So many elements follow the last particle in every array, so that the last
 * load may read a whole group. */
enum { GROUP_MAX = 4 };

struct arrays {
    lm_fix *x, *y;
    lm_real *vx, *vy, *vz;
};

/* The particles of a species in their tiles. */
struct tile_particles {
    arrays a;
    struct lm_tiling t;
    struct lm_sides sides;
    const uint32_t *tile_start;
    const struct lm_gpu_chunk *chunk;
    const uint32_t *chunks; /* how many there are */
    uint32_t *slot;
    uint32_t *stray, *stray_tile; /* the list of strays: which particles, and their tiles */
};

/* The same, with the particles that have entered since the last sort. They are apart to save registers in the pass. */
struct all_particles : tile_particles {
    const uint32_t *home; /* tiles of the `entered` particles behind the `sorted` ones */
    uint32_t sorted, entered;
    uint32_t blocks; /* for the sorted ones */
};

static inline all_particles particles_of(const struct lm_gpu *g, int species)
{
    const struct lm_gpu_species *s = &g->species[species];
    tile_particles h = {{(lm_fix *)s->x, (lm_fix *)s->y, (lm_real *)s->vx, (lm_real *)s->vy, (lm_real *)s->vz},
                        g->tiling,
                        g->base.setup.grid.sides,
                        s->tile_start,
                        s->chunk,
                        s->chunk_first + g->tiles,
                        s->slot,
                        s->rank,
                        (uint32_t *)s->scratch};
    return {h, s->home, (uint32_t)s->sorted, (uint32_t)(s->count - s->sorted), s->blocks};
}

static inline unsigned particle_blocks(uint64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

/* The chunk of this block; empty for blocks beyond the last chunk. */
__device__ __forceinline__ struct lm_gpu_chunk chunk_of(const tile_particles &h)
{
    struct lm_gpu_chunk c = h.chunk[blockIdx.x];
    if (blockIdx.x >= *h.chunks)
        c.last = c.first;
    return c;
}

/* Where the loop of a block begins, so that each warp reads and writes whole, aligned segments of memory. The loop
 * skips the slots before `first`. */
__device__ __forceinline__ uint32_t aligned(uint32_t first)
{
    return first & ~31u;
}

/* Blocks for each_particle. */
static inline unsigned all_blocks(const struct lm_gpu_species *s)
{
    return s->blocks + particle_blocks(s->count - s->sorted);
}

/* Calls body(mine, k, tile) in all threads alike. If `mine` is true, k is the slot of a particle and `tile` its home
 * tile. */
template <class F> __device__ __forceinline__ void each_particle(const all_particles &h, F body)
{
    if (blockIdx.x < h.blocks) {
        const struct lm_gpu_chunk c = chunk_of(h);
        for (uint32_t block = aligned(c.first); block < c.last; block += THREADS) {
            const uint32_t k = block + threadIdx.x;
            body(k >= c.first && k < c.last, k, (int)c.tile);
        }
        return;
    }
    const uint32_t n = (blockIdx.x - h.blocks) * THREADS + threadIdx.x;
    body(n < h.entered, h.sorted + n, n < h.entered ? (int)h.home[n] : 0);
}

/* Home tile of the particle in slot k. */
__device__ __forceinline__ int tile_of(const all_particles &h, uint32_t k)
{
    if (k >= h.sorted)
        return (int)h.home[k - h.sorted];
    int low = 0, high = h.t.nx * h.t.ny;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (h.tile_start[middle] <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

__device__ __forceinline__ void raise(lm_u64 &to, lm_u64 v)
{
    to = v > to ? v : to;
}

__device__ __forceinline__ struct lm_particle particle_at(const arrays &a, uint32_t k)
{
    struct lm_particle p = {a.x[k], a.y[k], a.vx[k], a.vy[k], a.vz[k]};
    return p;
}

__device__ __forceinline__ void put_particle(const arrays &a, uint32_t k, const struct lm_particle &p)
{
    a.x[k] = p.x;
    a.y[k] = p.y;
    a.vx[k] = p.vx;
    a.vy[k] = p.vy;
    a.vz[k] = p.vz;
}

} // namespace

/* The operations of struct lm_particle_ops, for one precision. */
int LM_P(lm_gpu_load)(struct lm_backend *b, int species, const struct lm_loading *from, uint64_t *count);
int LM_P(lm_gpu_reserve)(struct lm_backend *b, int species, uint64_t count);
int LM_P(lm_gpu_put_particles)(struct lm_backend *b, int species, enum lm_put_phase phase, uint64_t count,
                               struct lm_raw_particles from);
int LM_P(lm_gpu_get_particles)(struct lm_backend *b, int species, uint64_t first, uint64_t count,
                               struct lm_raw_particles to);
int LM_P(lm_gpu_sort)(struct lm_backend *b, int species);
int LM_P(lm_gpu_reserve_more)(struct lm_backend *b, int species, uint64_t more);
int LM_P(lm_gpu_migrate)(struct lm_backend *b, int species, uint64_t *gone, uint64_t *come);
int LM_P(lm_gpu_may_depart)(struct lm_backend *b, const struct lm_partition *to);
int LM_P(lm_gpu_depart)(struct lm_backend *b, int species, const struct lm_partition *to, struct lm_parcel **out,
                        uint64_t *count);
int LM_P(lm_gpu_arrive)(struct lm_backend *b, int species, struct lm_parcel *parcel);
int LM_P(lm_gpu_exchange_heat)(struct lm_backend *b, int species, const struct lm_exchange_pass *pass);
int LM_P(lm_gpu_follow)(struct lm_backend *b, int species, const struct lm_pass *pass, uint64_t count,
                        struct lm_tracked *ions);
int LM_P(lm_gpu_pass)(struct lm_backend *b, int species, const struct lm_pass *pass);
int LM_P(lm_gpu_enter)(struct lm_backend *b, int species, const struct lm_pass *pass);
int LM_P(lm_gpu_ionise)(struct lm_backend *b, int source, const struct lm_pass *pass, int quantum);
int LM_P(lm_gpu_particle_maxima)(struct lm_backend *b, int species);
int LM_P(lm_gpu_particle_sums)(struct lm_backend *b, int species, const struct lm_pass *half, uint64_t present,
                               struct lm_particle_sums *out);
int LM_P(lm_gpu_velocity_moments)(struct lm_backend *b, int species, const struct lm_moment_list *list, int64_t *sums);
int LM_P(lm_gpu_distribution)(struct lm_backend *b, int species, const struct lm_bins *bins, uint64_t *counts);

/* Memory for the counts and starts of a species' cells and tiles, with counts of 0. */
int LM_P(lm_gpu_prepare_counts)(struct lm_gpu *g, struct lm_gpu_species *s);
int LM_P(lm_gpu_clear_counts)(struct lm_gpu *g, struct lm_gpu_species *s);

/* From the counts of the cells: the starts of cells and tiles, and the list of chunks. The counts are lost. */
int LM_P(lm_gpu_list_cells)(struct lm_gpu *g, struct lm_gpu_species *s);

/* Clears the elements that may be read after the last of `count` particles; lm_fix and lm_real have one size. */
void LM_P(lm_gpu_end_array)(struct lm_gpu *g, void *array, uint64_t count);

/* Slots for particles that come from other ranks before the next sort. */
int LM_P(lm_gpu_reserve_arrivals)(struct lm_backend *b, int species, uint64_t count);

/* Adds the hash of a species to reduced->value[0]. */
int LM_P(lm_gpu_hash_particles)(struct lm_gpu *g, int species);

#endif
