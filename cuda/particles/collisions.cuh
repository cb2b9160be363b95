/* Collisions within the particle pass: the gas around a tile in shared memory, and the sums of what collisions transfer
 * to the gas. The body for one particle is in larmor/physics/collisions/collide_particle.h. For one precision at a
 * time. */
#ifndef LARMOR_PARTICLES_COLLISIONS_CUH
#define LARMOR_PARTICLES_COLLISIONS_CUH

#include "particles/direct.cuh"
#include "particles/nearby.cuh"

#include "larmor/physics/collisions/collide_particle.h"

namespace
{

/* What an ion that survives transfers to the gas: three components of the momentum, and the energy. */
enum { ENERGY = LM_GAS_ENERGY - LM_GAS_MOMENTUM, TRANSFERS = LM_GAS_SUMS - LM_GAS_MOMENTUM };

/* The medium that the particles of a species collide with, and the sums that their collisions add to. */
struct collider {
    struct lm_collisions collisions;
    const double *gas[LM_GAS_FIELDS]; /* grid arrays with ghosts, from their first element */
    struct lm_tally_units units;
    lm_u64 *transfer;    /* [LM_GAS_SUMS][cells_y][cells_x]; NULL without a gas */
    int received;        /* how many of the TRANSFERS a background field receives */
    int slot[TRANSFERS]; /* the index of each among those that are received, or -1 */
    struct lm_tally *exchanged, *to_gas;
    bool stopping_only; /* lm_is_stopping_only with a table of stopping, and no field receives momentum */
};

/* The gas around a tile; its velocity only where it may move. */
template <int T, bool MOVES> struct gas_window {
    float density[window<T>::AREA];
    lm_real velocity[MOVES ? 2 * window<T>::AREA : 1];
};

/* Shared memory of a block, after that of the pass: the gas, and the transfers to it in the cells near the tile, for
 * those that a field receives. STOPPING_ONLY: the gas is at rest. */
template <int T, bool STOPPING_ONLY> struct collide_store {
    enum { LIMBS = 3, COPIES = 4 };
    lm_u64 exchanged[TALLY_SUMS];
    gas_window<T, !STOPPING_ONLY> gas;
    near_cells<T> cells;
    uint32_t domain_cell[near_cells<T>::CELLS]; /* the number of each of these cells in the domain */
    uint32_t limbs[1];                          /* [CELLS][received][LIMBS][COPIES] */

    static __host__ __device__ size_t bytes(int received)
    {
        return sizeof(collide_store) + sizeof(uint32_t) * near_cells<T>::CELLS * LIMBS * COPIES * received;
    }
};

template <int T, bool MOVES> __device__ __forceinline__ struct lm_gas_window window_in(const gas_window<T, MOVES> &w)
{
    enum { WIDTH = window<T>::WIDTH, ORIGIN = window<T>::ORIGIN };
    return {w.density + ORIGIN, MOVES ? w.velocity + ORIGIN : NULL, WIDTH, window<T>::AREA};
}

template <int T, bool MOVES>
__device__ __forceinline__ void fill_gas_window(gas_window<T, MOVES> &w, const tile_particles &h,
                                                const struct lm_footprint &p, const collider &c, int stride)
{
    each_place<T, true>(h, p, stride, [&](int k, size_t g) {
        w.density[k] = (float)c.gas[0][g];
        if (MOVES) {
            w.velocity[k] = (lm_real)c.gas[1][g];
            w.velocity[window<T>::AREA + k] = (lm_real)c.gas[2][g];
        }
    });
}

/* Clears the sums in the store and fills the rest of it. `place`: of the arrays. The caller synchronises. */
template <int T, bool STOPPING_ONLY>
__device__ __forceinline__ void begin_collisions(collide_store<T, STOPPING_ONLY> &store, const collider &c,
                                                 const tile_particles &h, const struct lm_place &place,
                                                 const struct lm_footprint &p, int stride)
{
    typedef collide_store<T, STOPPING_ONLY> G;
    for (int k = threadIdx.x; k < near_cells<T>::CELLS * G::LIMBS * G::COPIES * c.received; k += blockDim.x)
        store.limbs[k] = 0;
    if (threadIdx.x < TALLY_SUMS)
        store.exchanged[threadIdx.x] = 0;
    each_near_cell<T>(h, p.i + LM_WINDOW_LOW, p.j + LM_WINDOW_LOW, [&](int k, int i, int j) {
        store.cells.number[k] = (uint32_t)j * (uint32_t)h.t.cells_x + (uint32_t)i;
        store.domain_cell[k] = lm_domain_cell(&place, i, j);
    });
    if (c.collisions.gas >= 0)
        fill_gas_window(store.gas, h, p, c, stride);
}

/* What the particles of a thread have transferred to the gas, each number LM_SHIFT51 too large. */
struct gas_transfer {
    lm_u64 sum[TRANSFERS];
    uint32_t number;
};

/* A particle in that cell transfers to_gas. */
template <int T, bool STOPPING_ONLY>
__device__ __forceinline__ void add_transfer(collide_store<T, STOPPING_ONLY> &store, const collider &c, int cell,
                                             const struct lm_tally &to_gas, gas_transfer &all)
{
    typedef collide_store<T, STOPPING_ONLY> G;
    uint32_t *const of_cell = store.limbs + cell * c.received * G::LIMBS * G::COPIES;
    const int64_t part[TRANSFERS] = {to_gas.v[0], to_gas.v[1], to_gas.v[2], to_gas.v2};
    all.number++;
    LM_UNROLL
    for (int k = 0; k < TRANSFERS; k++) {
        all.sum[k] += (lm_u64)part[k] + LM_SHIFT51; /* which lm_tally_of_loss has subtracted: neither is computed */
        if ((k == ENERGY || !STOPPING_ONLY) && c.slot[k] >= 0)
            add_limbs<G::LIMBS, G::COPIES>(of_cell + c.slot[k] * G::LIMBS * G::COPIES, part[k]);
    }
}

/* Adds the sums of a block to the grid and to the tallies. */
template <int T, bool STOPPING_ONLY>
__device__ __forceinline__ void flush_gas_transfer(const collide_store<T, STOPPING_ONLY> &store, const collider &c,
                                                   size_t cells, const gas_transfer &all)
{
    typedef collide_store<T, STOPPING_ONLY> G;
    LM_UNROLL
    for (int what = 0; what < TRANSFERS; what++) {
        lm_u64 *const to = c.transfer + (LM_GAS_MOMENTUM + what) * cells;
        for (int k = threadIdx.x; k < near_cells<T>::CELLS && c.slot[what] >= 0; k += blockDim.x) {
            const int64_t sum =
                sum_of_limbs<G::LIMBS, G::COPIES>(store.limbs + (k * c.received + c.slot[what]) * G::LIMBS * G::COPIES);
            if (sum)
                atomicAdd(&to[store.cells.number[k]], (lm_u64)sum);
        }
        lm_warp_sum((lm_u64 *)(what < ENERGY ? &c.to_gas->v[what] : &c.to_gas->v2),
                    all.sum[what] - all.number * LM_SHIFT51);
    }
    if (threadIdx.x < TALLY_SUMS && store.exchanged[threadIdx.x])
        atomicAdd((lm_u64 *)c.exchanged + threadIdx.x, store.exchanged[threadIdx.x]);
}

/* Adds the tally of one thread to `sums`, for what is rare: without a sum over the warp. */
__device__ void add_rare_tally(lm_u64 *sums, const struct lm_tally &t)
{
    const int64_t part[TALLY_SUMS] = {t.number, t.v[0], t.v[1], t.v[2], t.v2};
    for (int k = 0; k < TALLY_SUMS; k++)
        if (part[k])
            atomicAdd(&sums[k], (lm_u64)part[k]);
}

/* The parameters of the collisions, with constants where the compiler can use them. */
template <bool STOPPING_ONLY>
__device__ __forceinline__ struct lm_collisions known_collisions(const struct lm_collisions &all)
{
    if (!STOPPING_ONLY)
        return all;
    struct lm_collisions known = lm_stopping_only(all);
    known.stops = known.scatters = 1; /* with a table ions stop; where the scattering power is 0 nothing scatters */
    __builtin_assume(known.stopping.rows > 0);
    return known;
}

/* The first part of the push and the collisions of a particle within the windows, by the parts of lm_collide_and_tally
 * that an ion needs that survives: the whole of it would make the kernel 1.5 % longer. `fields`: those at the particle.
 * Returns false for an ion that is lost: nothing has been added to any sum, and collide_stray does its collisions
 * again. */
template <int ORDER, int T, bool STOPPING_ONLY>
__device__ __forceinline__ bool collide_near(collide_store<T, STOPPING_ONLY> &store, const collider &c,
                                             const struct lm_local_fields &fields, lm_real kick, struct lm_particle &p,
                                             gas_transfer &all)
{
    const struct lm_collisions collisions = known_collisions<STOPPING_ONLY>(c.collisions);
    const int cell = near_cell_of<T>(p);
    const struct lm_collision_site site = {window_in(store.gas), fields, kick, p.x, p.y, store.domain_cell[cell]};
    struct lm_particle old;
    const struct lm_collision_outcome outcome = lm_collide_particle(ORDER, &collisions, &site, &p, &old);
    if (!outcome.survives)
        return false;
    if (collisions.gas >= 0)
        add_transfer(store, c, cell, lm_tally_of_survivor(&c.units, &old, &p), all);
    if (outcome.exchanged)
        add_rare_tally(store.exchanged, lm_tally_of_exchange(&c.units, &outcome, &p));
    return true;
}

/* The same for a particle of the list. Returns the channel that takes it out, or -1. is_tallied: collide_near has
 * already added its tallies; only the velocity is missing. `fields`: those at the particle. */
template <int ORDER>
__device__ int collide_stray(const tile_particles &h, const collider &c, const struct lm_place &place,
                             struct lm_stray &s, const struct lm_local_fields &fields, lm_real kick, int stride,
                             bool is_tallied)
{
    struct lm_stray_gas store;
    struct lm_collision_tallies tallies;
    const size_t cells = (size_t)h.t.cells_x * h.t.cells_y, cell = (size_t)s.j * h.t.cells_x + s.i;
    struct lm_collision_site site = {{}, fields, kick, s.p.x, s.p.y, lm_domain_cell(&place, s.i, s.j)};
    if (c.collisions.gas >= 0)
        site.gas = lm_stray_gas(&store, &s, c.gas, stride);
    const struct lm_collision_outcome outcome =
        lm_collide_and_tally(ORDER, &c.collisions, &c.units, &site, &s.p, &tallies);
    if (is_tallied)
        return outcome.channel;
    const struct lm_tally &to_gas = tallies.to_gas;
    const int64_t part[LM_GAS_SUMS] = {to_gas.number, to_gas.v[0], to_gas.v[1], to_gas.v[2], to_gas.v2};
    for (int k = 0; c.transfer && k < LM_GAS_SUMS; k++)
        if (part[k])
            atomicAdd(&c.transfer[k * cells + cell], (lm_u64)part[k]);
    if (c.transfer)
        add_rare_tally((lm_u64 *)c.to_gas, to_gas);
    if (outcome.exchanged)
        add_rare_tally((lm_u64 *)c.exchanged, tallies.exchanged);
    return outcome.channel;
}

static inline collider collider_of(const struct lm_gpu *g, int species, const struct lm_pass *pass, const pass_sinks &b)
{
    collider c = {};
    if (!pass->collisions)
        return c;
    const int gas = pass->collisions->gas;
    struct lm_collisions &collisions = c.collisions;
    collisions = *pass->collisions;
    collisions.stopping = lm_stopping_in_memory(collisions.stopping, g->species[species].stopping);
    c.units = b.units;
    c.exchanged = &b.tallies->exchanged;
    c.to_gas = &b.tallies->to_gas;
    c.transfer = gas >= 0 ? g->gas_transfer : NULL;
    for (int k = 0; k < TRANSFERS; k++)
        c.slot[k] = gas >= 0 && lm_has_receiver(&g->base.setup, LM_GAS_MOMENTUM + k) ? c.received++ : -1;
    c.stopping_only = lm_is_stopping_only(&collisions) && collisions.stopping.rows > 0;
    for (int k = 0; k < ENERGY; k++)
        c.stopping_only = c.stopping_only && c.slot[k] < 0;
    for (int d = 0; d < LM_GAS_FIELDS && gas >= 0; d++)
        c.gas[d] = g->array[lm_gas_array(gas, d)];
    return c;
}

} // namespace

#endif
