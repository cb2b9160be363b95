/* Sums of integers over the particles of a chunk in the cells near its tile, in shared memory. For one precision at a
 * time.
 *
 * A sum is kept as LIMBS numbers of 17 bits, of which as many as particles are in a chunk fit 32 bits, each in COPIES
 * for lanes whose particles lie in one cell.
 */
#ifndef LARMOR_PARTICLES_NEARBY_CUH
#define LARMOR_PARTICLES_NEARBY_CUH

#include "particles/particles.cuh"

#include "larmor/physics/particles/deposit.h"

namespace
{

enum { LIMB_BITS = 17 };
static_assert(LM_CHUNK <= 1 << (31 - LIMB_BITS), "sums of limbs overflow");

/* Numbers in the arrays of the cells near a tile. */
template <int T> struct near_cells {
    enum { LOW = -LM_MARGIN, WIDTH = T + 2 * LM_MARGIN, CELLS = WIDTH * WIDTH };
    uint32_t number[CELLS];
};

/* Calls body(k, column, row) for each of these cells, a thread a cell: k is its number among them. (i, j): the first
 * cell of the tile. Of the cells beyond walls columns and rows mean nothing. */
template <int T, class F> __device__ __forceinline__ void each_near_cell(const tile_particles &h, int i, int j, F body)
{
    typedef near_cells<T> N;
    for (int k = threadIdx.x; k < N::CELLS; k += blockDim.x)
        body(k, lm_wrap(i + N::LOW + k % N::WIDTH, h.t.cells_x), lm_wrap(j + N::LOW + k / N::WIDTH, h.t.cells_y));
}

/* Which of these cells holds a particle. If none does, the result is another one of them or outside [0, CELLS). */
template <int T> __device__ __forceinline__ int near_cell_of(const struct lm_particle &p)
{
    typedef near_cells<T> N;
    const int i = (int)(p.x >> LM_FRACTION_BITS) - N::LOW, j = (int)(p.y >> LM_FRACTION_BITS) - N::LOW;
    return j * N::WIDTH + i;
}

/* Whether one of these cells holds a particle. */
template <int T> __device__ __forceinline__ bool is_near(const struct lm_particle &p)
{
    typedef near_cells<T> N;
    const int64_t i = (p.x >> LM_FRACTION_BITS) - N::LOW, j = (p.y >> LM_FRACTION_BITS) - N::LOW;
    return i >= 0 && i < N::WIDTH && j >= 0 && j < N::WIDTH;
}

/* Adds to a sum; `sum`: the first copy of its first limb. */
template <int LIMBS, int COPIES> __device__ __forceinline__ void add_limbs(uint32_t *sum, int64_t part)
{
    uint32_t *const to = sum + threadIdx.x % COPIES;
    LM_UNROLL
    for (int n = 0; n < LIMBS - 1; n++)
        atomicAdd(to + n * COPIES, (uint32_t)(part >> n * LIMB_BITS) & ((1u << LIMB_BITS) - 1));
    atomicAdd(to + (LIMBS - 1) * COPIES, (uint32_t)(part >> (LIMBS - 1) * LIMB_BITS));
}

template <int LIMBS, int COPIES> __device__ __forceinline__ int64_t sum_of_limbs(const uint32_t *sum)
{
    uint32_t limb[LIMBS] = {};
    LM_UNROLL
    for (int n = 0; n < LIMBS * COPIES; n++)
        limb[n / COPIES] += sum[n];
    int64_t all = (int64_t)(int32_t)limb[LIMBS - 1] << (LIMBS - 1) * LIMB_BITS;
    LM_UNROLL
    for (int n = 0; n < LIMBS - 1; n++)
        all += (int64_t)limb[n] << n * LIMB_BITS;
    return all;
}

} // namespace

#endif
