/* Collisions within the pass: the gas around a tile, and the sums of what particles give to it. For one precision at a
 * time. */
#ifndef LARMOR_PARTICLES_COLLISIONS_CUH
#define LARMOR_PARTICLES_COLLISIONS_CUH

#include "particles/direct.cuh"
#include "particles/nearby.cuh"

#include "larmor/physics/collisions/encounter.h"

namespace
{

/* What a gas is given of an ion that goes on: momentum and energy. */
enum { ENERGY = LM_GIVEN_ENERGY - LM_GIVEN_MOMENTUM, GIFTS = LM_GIVEN - LM_GIVEN_MOMENTUM };

/* What particles collide with, and where what they lose goes. */
struct collider {
    struct lm_collisions how;
    const double *gas[LM_GAS_FIELDS]; /* with ghosts, on the first element */
    struct lm_tally_units units;
    lm_u64 *given;   /* [LM_GIVEN][cells_y][cells_x] */
    int takers;      /* how many of these some field takes up */
    int slot[GIFTS]; /* and at which place among them: momentum and energy, -1 where none does */
    struct lm_tally *exchanged, *to_gas;
    bool plain; /* stopping by a table and scattering in a gas at rest, whose momentum nobody takes: no more */
};

/* The same of a gas; its velocity only where it may move. */
template <int T, bool MOVES> struct gas_window {
    float density[window<T>::AREA];
    lm_real velocity[MOVES ? 2 * window<T>::AREA : 1];
};

/* Beside it where particles collide: the gas, and what is given to it in the cells near the tile, if fields take it up.
 * PLAIN: it is at rest. */
template <int T, bool PLAIN> struct collide_store {
    enum { LIMBS = 3, COPIES = 4 };
    lm_u64 exchanged[TALLY_SUMS];
    gas_window<T, !PLAIN> gas;
    near_cells<T> cells;
    uint32_t limbs[1]; /* [CELLS][takers][LIMBS][COPIES] */

    static __host__ __device__ size_t bytes(int takers)
    {
        return sizeof(collide_store) + sizeof(uint32_t) * near_cells<T>::CELLS * LIMBS * COPIES * takers;
    }
};

template <int T, bool MOVES> __device__ __forceinline__ struct lm_gas_window window_in(const gas_window<T, MOVES> &w)
{
    enum { WIDTH = window<T>::WIDTH, ORIGIN = window<T>::ORIGIN };
    return {w.density + ORIGIN, MOVES ? w.velocity + ORIGIN : NULL, WIDTH, window<T>::AREA};
}

template <int T, bool MOVES>
__device__ __forceinline__ void fill_gas_window(gas_window<T, MOVES> &w, const population &h,
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

/* Makes the store for collisions ready. The caller synchronises. */
template <int T, bool PLAIN>
__device__ __forceinline__ void begin_collisions(collide_store<T, PLAIN> &store, const collider &c, const population &h,
                                                 const struct lm_footprint &p, int stride)
{
    typedef collide_store<T, PLAIN> G;
    for (int k = threadIdx.x; k < near_cells<T>::CELLS * G::LIMBS * G::COPIES * c.takers; k += blockDim.x)
        store.limbs[k] = 0;
    if (threadIdx.x < TALLY_SUMS)
        store.exchanged[threadIdx.x] = 0;
    fill_cells(store.cells, h, p.i + LM_WINDOW_LOW, p.j + LM_WINDOW_LOW);
    if (c.how.gas >= 0)
        fill_gas_window(store.gas, h, p, c, stride);
}

/* What a thread's particles have given to the gas, each LM_SHIFT51 too much. */
struct gifts {
    lm_u64 sum[GIFTS];
    uint32_t number;
};

/* A particle in that cell gives something: its velocity v has become `now`. */
template <int T, bool PLAIN>
__device__ __forceinline__ void give(collide_store<T, PLAIN> &store, const collider &c, int cell, const double v[3],
                                     const double now[3], gifts &all)
{
    typedef collide_store<T, PLAIN> G;
    uint32_t *const of_cell = store.limbs + cell * c.takers * G::LIMBS * G::COPIES;
    double given[GIFTS];
    lm_given_away(v, now, given);
    all.number++;
    LM_UNROLL
    for (int k = 0; k < GIFTS; k++) {
        const lm_u64 part = lm_shifted51_of(given[k], k < ENERGY ? c.units.v : c.units.v2);
        all.sum[k] += part;
        if ((k == ENERGY || !PLAIN) && c.slot[k] >= 0)
            add_limbs<G::LIMBS, G::COPIES>(of_cell + c.slot[k] * G::LIMBS * G::COPIES, (int64_t)(part - LM_SHIFT51));
    }
}

/* Adds all that to the grid and the tallies. */
template <int T, bool PLAIN>
__device__ __forceinline__ void flush_gifts(const collide_store<T, PLAIN> &store, const collider &c, size_t cells,
                                            const gifts &all)
{
    typedef collide_store<T, PLAIN> G;
    LM_UNROLL
    for (int what = 0; what < GIFTS; what++) {
        lm_u64 *const to = c.given + (LM_GIVEN_MOMENTUM + what) * cells;
        for (int k = threadIdx.x; k < near_cells<T>::CELLS && c.slot[what] >= 0; k += blockDim.x) {
            const int64_t sum =
                sum_of_limbs<G::LIMBS, G::COPIES>(store.limbs + (k * c.takers + c.slot[what]) * G::LIMBS * G::COPIES);
            if (sum)
                atomicAdd(&to[store.cells.number[k]], (lm_u64)sum);
        }
        lm_warp_sum((lm_u64 *)(what < ENERGY ? &c.to_gas->v[what] : &c.to_gas->v2),
                    all.sum[what] - all.number * LM_SHIFT51);
    }
    if (threadIdx.x < TALLY_SUMS && store.exchanged[threadIdx.x])
        atomicAdd((lm_u64 *)c.exchanged + threadIdx.x, store.exchanged[threadIdx.x]);
}

/* Adds a tally to `sums`, without the others of the warp: for what is rare. */
__device__ void tally_alone(lm_u64 *sums, const struct lm_tally &t)
{
    const int64_t part[TALLY_SUMS] = {t.number, t.v[0], t.v[1], t.v[2], t.v2};
    for (int k = 0; k < TALLY_SUMS; k++)
        if (part[k])
            atomicAdd(&sums[k], (lm_u64)part[k]);
}

/* What the compiler may know of collisions. */
template <bool PLAIN> __device__ __forceinline__ struct lm_collisions known(const struct lm_collisions &how)
{
    if (!PLAIN)
        return how;
    struct lm_collisions plain = lm_plain(how);
    plain.stops = plain.scatters = 1; /* a table says where; without any power nothing scatters */
    __builtin_assume(plain.stopping.rows > 0);
    return plain;
}

/* A particle within the windows collides; false: that takes it out, and nothing is booked. */
template <int ORDER, int T, bool PLAIN>
__device__ __forceinline__ bool collide(collide_store<T, PLAIN> &store, const collider &c,
                                        const struct lm_window &fields, struct lm_particle &p, gifts &all)
{
    const struct lm_particle old = p;
    const struct lm_collisions how = known<PLAIN>(c.how);
    const struct lm_gas_window gas = window_in(store.gas);
    const int cell = near_cell_of<T>(p);
    const struct lm_fate fate = lm_encounter(ORDER, &how, &gas, &fields, p.x, p.y, store.cells.number[cell], &p);
    if (!fate.goes_on)
        return false;
    if (how.gas >= 0) {
        const double before[3] = {(double)old.u, (double)old.v, (double)old.w},
                     now[3] = {(double)p.u, (double)p.v, (double)p.w};
        give(store, c, cell, before, now, all);
    }
    if (fate.exchanged)
        tally_alone(store.exchanged, lm_exchanged(&c.units, &fate, &p));
    return true;
}

/* Collisions of a particle of the list; the channel that takes it, or -1. `booked`: what it gives is. */
template <int ORDER>
__device__ int collide_stray(const population &h, const collider &c, struct lm_stray &s, const struct lm_window &win,
                             int stride, bool booked)
{
    struct lm_stray_gas store;
    struct lm_gas_window gas = {};
    const struct lm_particle old = s.p;
    const size_t cells = (size_t)h.t.cells_x * h.t.cells_y, cell = (size_t)s.j * h.t.cells_x + s.i;
    if (c.how.gas >= 0)
        gas = lm_stray_gas(&store, &s, c.gas, stride);
    const struct lm_fate fate = lm_encounter(ORDER, &c.how, &gas, &win, s.p.x, s.p.y, (uint32_t)cell, &s.p);
    lm_leave(&fate, &old, &s.p);
    if (booked)
        return fate.channel;
    const struct lm_tally to_gas = lm_to_gas(&c.units, &fate, &old, &s.p);
    const int64_t part[LM_GIVEN] = {to_gas.number, to_gas.v[0], to_gas.v[1], to_gas.v[2], to_gas.v2};
    for (int k = 0; c.given && k < LM_GIVEN; k++)
        if (part[k])
            atomicAdd(&c.given[k * cells + cell], (lm_u64)part[k]);
    if (c.given)
        tally_alone((lm_u64 *)c.to_gas, to_gas);
    if (fate.exchanged)
        tally_alone((lm_u64 *)c.exchanged, lm_exchanged(&c.units, &fate, &s.p));
    return fate.channel;
}

static inline collider collider_of(const struct lm_gpu *g, int species, const struct lm_pass *pass, const books &b)
{
    collider c = {};
    if (!pass->collisions)
        return c;
    const int gas = pass->collisions->gas;
    struct lm_collisions &how = c.how;
    how = *pass->collisions;
    how.stopping = lm_stopping_at_place(how.stopping, g->species[species].stopping);
    c.units = b.units;
    c.exchanged = &b.tallies->exchanged;
    c.to_gas = &b.tallies->to_gas;
    c.given = gas >= 0 ? g->given : NULL;
    for (int k = 0; k < GIFTS; k++)
        c.slot[k] = gas >= 0 && lm_is_taken(&g->base.setup, LM_GIVEN_MOMENTUM + k) ? c.takers++ : -1;
    c.plain = lm_is_plain(&how) && how.stopping.rows > 0;
    for (int k = 0; k < ENERGY; k++)
        c.plain = c.plain && c.slot[k] < 0;
    const int arrays[LM_GAS_FIELDS] = {LM_BACKGROUND, LM_BACKGROUND_X, LM_BACKGROUND_Y};
    for (int d = 0; d < LM_GAS_FIELDS && gas >= 0; d++)
        c.gas[d] = g->array[arrays[d] + gas];
    return c;
}

} // namespace

#endif
