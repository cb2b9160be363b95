/* What the particle kernels share: a species' particles on the device, chunks and tiles. For one precision at a time.
 */
#ifndef LARMOR_PARTICLES_CUH
#define LARMOR_PARTICLES_CUH

#include "gpu.cuh"

#include "larmor/physics/tile.h"
#include "larmor/physics/wall.h"

namespace
{

enum { THREADS = LM_GPU_THREADS };

/* Neighbours in one load at most. As many elements follow the last particle in every array, so that the last load may
 * be whole. */
enum { GROUP_MAX = 4 };

struct arrays {
    lm_fix *x, *y;
    lm_real *u, *v, *w;
};

/* A species' particles and where its tiles are. */
struct population {
    arrays a;
    struct lm_tiling t;
    struct lm_sides sides;
    const uint32_t *tile_start;
    const struct lm_gpu_chunk *chunk;
    const uint32_t *chunks; /* how many there are */
    uint32_t *place;
    uint32_t *stray, *stray_tile; /* the list of strays: which particles, and their tiles */
};

static inline population population_of(const struct lm_gpu *g, int species)
{
    const struct lm_gpu_species *s = &g->species[species];
    population h = {{(lm_fix *)s->x, (lm_fix *)s->y, (lm_real *)s->u, (lm_real *)s->v, (lm_real *)s->w},
                    g->tiling,
                    g->base.setup.grid.sides,
                    s->tile_start,
                    s->chunk,
                    s->chunk_first + g->tiles,
                    s->place,
                    s->rank,
                    (uint32_t *)s->scratch};
    return h;
}

static inline unsigned particle_blocks(uint64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

/* The chunk of this block; empty for blocks beyond the last chunk. */
__device__ __forceinline__ struct lm_gpu_chunk chunk_of(const population &h)
{
    struct lm_gpu_chunk c = h.chunk[blockIdx.x];
    if (blockIdx.x >= *h.chunks)
        c.last = c.first;
    return c;
}

/* Where a block begins, so that each warp reads and writes whole, aligned segments of memory; it skips what is before
 * `first`. */
__device__ __forceinline__ uint32_t aligned(uint32_t first)
{
    return first & ~31u;
}

/* Home tile of the particle in place k. */
__device__ __forceinline__ int tile_of(const population &h, uint32_t k)
{
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

__device__ __forceinline__ struct lm_particle particle_at(const arrays &a, uint32_t k)
{
    struct lm_particle p = {a.x[k], a.y[k], a.u[k], a.v[k], a.w[k]};
    return p;
}

__device__ __forceinline__ void put_particle(const arrays &a, uint32_t k, const struct lm_particle &p)
{
    a.x[k] = p.x;
    a.y[k] = p.y;
    a.u[k] = p.u;
    a.v[k] = p.v;
    a.w[k] = p.w;
}

} // namespace

#endif
