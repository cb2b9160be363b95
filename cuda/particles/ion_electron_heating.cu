/* CUDA backend: ions exchange heat with the electrons, for each precision, in three loops over the particles. The first
 * sums the moments of the ions in each cell. The second sums the energy that they request the electrons of the cell to
 * take. The third applies the exchange where the electrons can take or give that energy. A thread takes a particle.
 * Cells are read from global memory. Sums over the cells near the tile of a chunk are formed in shared memory. The
 * bodies of the loops are in larmor/physics/collisions/ion_electron_heating_particle.h.
 *
 * The exchange takes 7.1 ms in double and 6.0 ms in single precision, beside a step of 4.1 and 3.0 ms (2026-11-22,
 * commit 620b7f0, one H200). */
#include "particles/nearby.cuh"

#include "larmor/physics/collisions/ion_electron_heating_particle.h"

namespace
{

struct exchanger {
    struct lm_exchange with;
    const struct lm_heating_cell *cells; /* [cells_y][cells_x] */
    struct lm_tally_units units;
    struct lm_place place; /* of the arrays */
};

/* The number in the domain of cell number `cell` of the arrays, by which random numbers know it. */
__device__ __forceinline__ uint32_t domain_cell(const all_particles &h, const exchanger &e, uint32_t cell)
{
    const uint32_t width = (uint32_t)h.t.cells_x;
    return lm_domain_cell(&e.place, (int)(cell % width), (int)(cell / width));
}

/* Calls body(present, k, cell, p) in all threads alike. For a thread with a particle, `present` is true, k is the index
 * of the particle p and `cell` the number in the arrays of the cell in which it lies. */
template <class F> __device__ __forceinline__ void each_present(const all_particles &h, F body)
{
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        const bool present = mine && h.a.x[k] != LM_GONE;
        const struct lm_particle p = present ? particle_at(h.a, k) : lm_particle{};
        body(present, k, present ? lm_cell_of(&h.t, tile, p.x, p.y) : 0, p);
    });
}

/* COUNT sums in each cell near a tile. There are as many copies as let four blocks share a multiprocessor. */
template <int T, int COUNT, int LIMBS> struct near_sums {
    enum { COPIES = T == 8 ? 4 : 2, OF_CELL = COUNT * LIMBS * COPIES, SIZE = near_cells<T>::CELLS * OF_CELL };
    near_cells<T> cells;
    uint32_t limbs[SIZE];
};

/* Adds the values that parts(part, cell, p) finds for each particle to the sums FIRST to FIRST + COUNT - 1 of its cell.
 */
template <int T, int FIRST, int COUNT, int LIMBS, class F>
__device__ __forceinline__ void add_up(const all_particles &h, lm_u64 *sums, F parts)
{
    typedef near_sums<T, COUNT, LIMBS> S;
    __shared__ S store;
    const bool has_tile = blockIdx.x < h.blocks; /* else: what has entered since the last sort */
    if (has_tile) {
        const struct lm_gpu_chunk chunk = chunk_of(h);
        const int tile = (int)chunk.tile;
        if (chunk.first == chunk.last)
            return;
        each_near_cell<T>(h, tile % h.t.nx * T, tile / h.t.nx * T, [&](int k, int i, int j) {
            store.cells.number[k] = (uint32_t)j * (uint32_t)h.t.cells_x + (uint32_t)i;
        });
        for (int k = threadIdx.x; k < S::SIZE; k += blockDim.x)
            store.limbs[k] = 0;
        __syncthreads();
    }
    each_present(h, [&](bool present, uint32_t, uint32_t cell, const struct lm_particle &p) {
        int64_t part[COUNT];
        if (!present || !parts(part, cell, p))
            return;
        const bool near = has_tile && is_near<T>(p);
        uint32_t *const to = store.limbs + (near ? near_cell_of<T>(p) * S::OF_CELL : 0);
        LM_UNROLL
        for (int n = 0; n < COUNT; n++)
            if (near)
                add_limbs<LIMBS, S::COPIES>(to + n * LIMBS * S::COPIES, part[n]);
            else
                atomicAdd(&sums[(size_t)cell * LM_CELL_SUMS + FIRST + n], (lm_u64)part[n]);
    });
    if (!has_tile)
        return;
    __syncthreads();
    for (int k = threadIdx.x; k < near_cells<T>::CELLS * COUNT; k += blockDim.x) {
        const int64_t sum = sum_of_limbs<LIMBS, S::COPIES>(store.limbs + k * LIMBS * S::COPIES);
        if (sum)
            atomicAdd(&sums[(size_t)store.cells.number[k / COUNT] * LM_CELL_SUMS + FIRST + k % COUNT], (lm_u64)sum);
    }
}

template <int T> __global__ void sum_kernel(all_particles h, exchanger e, lm_u64 *sums)
{
    add_up<T, LM_SUM_NUMBER, LM_SUM_ENERGY, 2>(
        h, sums, [&](int64_t part[LM_SUM_ENERGY], uint32_t cell, const struct lm_particle &p) {
            lm_exchange_moments(&e.with, domain_cell(h, e, cell), &p, part);
            return true;
        });
}

template <int T> __global__ void request_kernel(all_particles h, exchanger e, lm_u64 *sums)
{
    add_up<T, LM_SUM_ENERGY, 1, 3>(h, sums, [&](int64_t part[1], uint32_t cell, const struct lm_particle &p) {
        const struct lm_heating_cell target = e.cells[cell];
        return lm_request_energy(&e.with, &target, domain_cell(h, e, cell), &e.units, &p, part) != 0;
    });
}

__global__ void apply_kernel(all_particles h, exchanger e, struct lm_tally *to)
{
    struct lm_tally mine = {0, {0, 0, 0}, 0};
    each_present(h, [&](bool present, uint32_t k, uint32_t cell, const struct lm_particle &p) {
        if (!present)
            return;
        const struct lm_heating_cell target = e.cells[cell];
        struct lm_particle after;
        if (!lm_apply_exchange(&e.with, &target, domain_cell(h, e, cell), &e.units, &p, &after, &mine))
            return;
        h.a.vx[k] = after.vx;
        h.a.vy[k] = after.vy;
        h.a.vz[k] = after.vz;
    });
    lm_u64 sum[TALLY_SUMS] = {(lm_u64)mine.number, (lm_u64)mine.v[0], (lm_u64)mine.v[1], (lm_u64)mine.v[2],
                              (lm_u64)mine.v2};
    lm_block_reduce<false>((lm_u64 *)to, sum);
}

} // namespace

int LM_P(lm_gpu_exchange_heat)(struct lm_backend *b, int species, const struct lm_exchange_pass *pass)
{
    lm_gpu_range range("exchange of heat");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    const all_particles h = particles_of(g, species);
    const exchanger e = {
        pass->with, g->exchange.cells, {lm_exp2i(pass->tally_v), lm_exp2i(pass->tally_v2)}, b->setup.grid.place};
    const unsigned blocks = all_blocks(s);
    const bool wide = b->setup.tile == 16;
    if (blocks > 0)
        (wide ? sum_kernel<16> : sum_kernel<8>)<<<blocks, THREADS, 0, g->stream>>>(h, e, g->exchange.sums);
    LM_GPU_LAUNCHED(g, "exchange of heat");
    lm_gpu_heating_cells(g, pass);
    if (blocks > 0)
        (wide ? request_kernel<16> : request_kernel<8>)<<<blocks, THREADS, 0, g->stream>>>(h, e, g->exchange.sums);
    LM_GPU_LAUNCHED(g, "exchange of heat");
    lm_gpu_heat_electrons(g, species, pass);
    if (blocks > 0)
        apply_kernel<<<blocks, THREADS, 0, g->stream>>>(h, e, &g->control->tallies[species].to_electrons);
    return LM_GPU_LAUNCHED(g, "exchange of heat");
}
