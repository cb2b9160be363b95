/* Particles in the stored form (struct lm_raw_particles) on the device, and their places in lists. For one precision at
 * a time. */
#ifndef LARMOR_PARTICLES_STORED_CUH
#define LARMOR_PARTICLES_STORED_CUH

#include "particles/particles.cuh"

namespace
{

struct stored {
    int64_t *x, *y;
    lm_real *vx, *vy, *vz;
};

/* The columns of `count` particles in one piece of memory. */
__host__ __device__ inline stored stored_at(void *memory, uint64_t count)
{
    stored p;
    p.x = (int64_t *)memory;
    p.y = p.x + count;
    p.vx = (lm_real *)(p.y + count);
    p.vy = p.vx + count;
    p.vz = p.vy + count;
    return p;
}

enum : uint32_t { NOWHERE = 0xffffffffu };

/* Adds one to count[of] for each lane; returns the value before this lane's. Lanes with the same `of` act as one. All
 * lanes must take part; those with NOWHERE do not count. */
__device__ __forceinline__ uint32_t next_rank(uint32_t *count, uint32_t of)
{
    unsigned alike = __match_any_sync(0xffffffffu, of), lane = threadIdx.x % 32;
    int leader = __ffs(alike) - 1;
    uint32_t base = 0;
    if ((int)lane == leader && of != NOWHERE)
        base = atomicAdd(&count[of], (uint32_t)__popc(alike));
    return __shfl_sync(0xffffffffu, base, leader) + (uint32_t)__popc(alike & ((1u << lane) - 1));
}

} // namespace

#endif
