/* CUDA backend: ions exchange heat with the electrons, for each precision. Three times over the particles: first their
 * sums in each cell; then what they would give to its electrons; then, where these can take or give that, they do. A
 * thread a particle; cells from global memory; sums near a chunk's tile in shared memory. */
#include "particles/nearby.cuh"

#include "larmor/physics/collisions/ion_electron_heating_particle.h"

namespace
{

struct exchanger {
    struct lm_exchange with;
    const struct lm_bath *bath; /* [cells_y][cells_x] */
    struct lm_tally_units units;
};

/* Calls body(present, k, cell, p) in all threads alike: for a particle that is there, its place, and the cell of the
 * domain it is in. */
template <class F> __device__ __forceinline__ void each_present(const all_particles &h, F body)
{
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        const bool present = mine && h.a.x[k] != LM_GONE;
        const struct lm_particle p = present ? particle_at(h.a, k) : lm_particle{};
        body(present, k, present ? lm_cell_of(&h.t, tile, p.x, p.y) : 0, p);
    });
}

/* Room for COUNT sums in each cell near a tile; as many copies as still let four blocks share a multiprocessor. */
template <int T, int COUNT, int LIMBS> struct near_sums {
    enum { COPIES = T == 8 ? 4 : 2, OF_CELL = COUNT * LIMBS * COPIES, SIZE = near_cells<T>::CELLS * OF_CELL };
    near_cells<T> cells;
    uint32_t limbs[SIZE];
};

/* Adds what parts(part, cell, p) gives of each particle to sums FIRST to FIRST + COUNT - 1 of its cell. */
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
        fill_cells(store.cells, h, tile % h.t.nx * T, tile / h.t.nx * T);
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
            lm_exchange_parts(&e.with, cell, &p, part);
            return true;
        });
}

template <int T> __global__ void ask_kernel(all_particles h, exchanger e, lm_u64 *sums)
{
    add_up<T, LM_SUM_ENERGY, 1, 3>(h, sums, [&](int64_t part[1], uint32_t cell, const struct lm_particle &p) {
        const struct lm_bath bath = e.bath[cell];
        if (bath.kind == LM_BATH_NONE)
            return false;
        const struct lm_particle after = lm_exchange_heat(&e.with, &bath, cell, &p);
        part[0] = lm_to_electrons(&e.units, &p, &after).v2;
        return true;
    });
}

__global__ void give_kernel(all_particles h, exchanger e, struct lm_tally *to)
{
    lm_u64 sum[TALLY_SUMS] = {0, 0, 0, 0, 0};
    each_present(h, [&](bool present, uint32_t k, uint32_t cell, const struct lm_particle &p) {
        if (!present)
            return;
        const struct lm_bath bath = e.bath[cell];
        sum[0] += bath.kind == LM_BATH_REFUSES;
        if (bath.kind != LM_BATH_OPEN)
            return;
        const struct lm_particle after = lm_exchange_heat(&e.with, &bath, cell, &p);
        const struct lm_tally given = lm_to_electrons(&e.units, &p, &after);
        for (int d = 0; d < 3; d++)
            sum[1 + d] += (lm_u64)given.v[d];
        sum[4] += (lm_u64)given.v2;
        h.a.vx[k] = after.vx;
        h.a.vy[k] = after.vy;
        h.a.vz[k] = after.vz;
    });
    lm_block_reduce<false>((lm_u64 *)to, sum);
}

} // namespace

int LM_P(lm_gpu_exchange)(struct lm_backend *b, int species, const struct lm_exchange_pass *pass)
{
    lm_gpu_range range("exchange of heat");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    const all_particles h = particles_of(g, species);
    const exchanger e = {pass->with, g->exchange.bath, {lm_exp2i(pass->tally_v), lm_exp2i(pass->tally_v2)}};
    const unsigned blocks = all_blocks(s);
    const bool wide = b->setup.tile == 16;
    if (blocks > 0)
        (wide ? sum_kernel<16> : sum_kernel<8>)<<<blocks, THREADS, 0, g->stream>>>(h, e, g->exchange.sums);
    LM_GPU_LAUNCHED(g, "exchange of heat");
    lm_gpu_baths(g, pass);
    if (blocks > 0)
        (wide ? ask_kernel<16> : ask_kernel<8>)<<<blocks, THREADS, 0, g->stream>>>(h, e, g->exchange.sums);
    LM_GPU_LAUNCHED(g, "exchange of heat");
    lm_gpu_settle_exchange(g, species, pass);
    if (blocks > 0)
        give_kernel<<<blocks, THREADS, 0, g->stream>>>(h, e, &g->control->tallies[species].to_electrons);
    return LM_GPU_LAUNCHED(g, "exchange of heat");
}
