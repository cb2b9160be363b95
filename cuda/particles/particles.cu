/* CUDA backend: loops over particles, compiled for each precision. The bodies are in larmor/physics/.
 *
 * A block takes one chunk of a tile (at most LM_CHUNK particles, so that int32 sums cannot overflow): it copies the
 * fields around the tile to shared memory in the particles' precision, streams the chunk once (coalesced, sorted by
 * cell: lanes that read the same nodes share one access; the next particle is loaded ahead), adds the integer moments
 * with native int32 shared-memory atomics into several copies, and flushes them with one 64-bit atomic a node.
 * Particles too far from their tile go to a list and take the direct path in a second, small kernel.
 */
#include "particles/nearby.cuh"

#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/collisions/encounter.h"
#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/particles/inflow.h"
#include "larmor/physics/particles/ionise.h"
#include "larmor/physics/particles/stray.h"

namespace
{

/* What a gas is given of an ion that goes on: momentum and energy. */
enum { ENERGY = LM_GIVEN_ENERGY - LM_GIVEN_MOMENTUM, GIFTS = LM_GIVEN - LM_GIVEN_MOMENTUM };

/* The E of the push and B, three arrays each, `pitch` apart. */
struct fields {
    const double *e, *b;
    size_t pitch;
    int stride;
    __device__ __forceinline__ const double *component(int d) const /* in the order of lm_window */
    {
        return d < 3 ? e + d * pitch : b + (d - 3) * pitch;
    }
};

fields fields_of(const struct lm_gpu *g)
{
    return {g->array[LM_PUSH_E], g->array[LM_B], g->pitch, g->base.setup.grid.stride};
}

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

/* The kernels come in kinds: for periodic domains, which know of no walls; with walls and bodies; with collisions too.
 */
enum kind { PERIODIC, OPEN, COLLIDING };

struct lm_step step_of(const struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    const struct lm_setup *s = &g->base.setup;
    const struct lm_backend_species *p = &s->species[species];
    return lm_step_make(pass->kick_dt, pass->drift_dt, pass->move, pass->cap, p->charge / p->mass, s->ohm.inv_dx,
                        s->ohm.inv_dy);
}

/* Nodes around a tile, and the fields there. Rows of doubles are padded so that particles of neighbouring cells read
 * from different banks. */
template <int T> struct window {
    enum { WIDTH = T + LM_WINDOW_EXTRA, AREA = WIDTH * WIDTH, ORIGIN = LM_WINDOW_LOW * WIDTH + LM_WINDOW_LOW };
    enum {
        ROW = LM_PRECISION == 32 ? WIDTH : WIDTH + 6,
        FIELD = ROW * WIDTH,
        FIELD_ORIGIN = LM_WINDOW_LOW * ROW + LM_WINDOW_LOW
    };
    lm_real field[LM_WINDOW_FIELDS * FIELD];
};

/* The same of a gas; its velocity only where it may move. */
template <int T, bool MOVES> struct gas_window {
    float density[window<T>::AREA];
    lm_real velocity[MOVES ? 2 * window<T>::AREA : 1];
};

/* A block of the pass: its threads, how many blocks share a multiprocessor, and how many copies of the moments it
 * keeps. Lane l of a warp adds to copy l % COPIES, in banks of its own, so that lanes whose particles lie in one cell
 * do not wait for each other so often; more copies leave room for fewer blocks. Chosen on an H200 among some twenty. */
template <int ORDER, int T> struct pass_block;
#if LM_PRECISION == 32
template <> struct pass_block<1, 8> {
    enum { THREADS = 256, BLOCKS = 5, COPIES = 8, COLLIDING_BLOCKS = 4 };
};
template <> struct pass_block<2, 8> {
    enum { THREADS = 320, BLOCKS = 4, COPIES = 16, COLLIDING_BLOCKS = 2 };
};
template <> struct pass_block<1, 16> {
    enum { THREADS = 256, BLOCKS = 3, COPIES = 8, COLLIDING_BLOCKS = 2 };
};
template <> struct pass_block<2, 16> {
    enum { THREADS = 320, BLOCKS = 3, COPIES = 8, COLLIDING_BLOCKS = 2 };
};
#else
template <> struct pass_block<1, 8> {
    enum { THREADS = 192, BLOCKS = 4, COPIES = 8, COLLIDING_BLOCKS = 4 };
};
template <> struct pass_block<2, 8> {
    enum { THREADS = 192, BLOCKS = 3, COPIES = 16, COLLIDING_BLOCKS = 3 };
};
template <> struct pass_block<1, 16> {
    enum { THREADS = 192, BLOCKS = 3, COPIES = 4, COLLIDING_BLOCKS = 2 };
};
template <> struct pass_block<2, 16> {
    enum { THREADS = 256, BLOCKS = 2, COPIES = 8, COLLIDING_BLOCKS = 1 };
};
#endif

/* A chunk's strays, their numbers in it in h.place: how many, and where they begin in the list of all. */
struct stray_list {
    uint32_t count, first;
};

/* Beside a stray's number, then beside its tile: its collisions are done and booked, but for its velocity. */
enum : uint32_t { COLLIDED = 1u << 31 };

/* Shared memory of a block of the pass. */
template <int ORDER, int T> struct pass_store {
    enum { COPIES = pass_block<ORDER, T>::COPIES, PARTS = LM_MOMENTS * window<T>::AREA };
    int32_t parts[PARTS * COPIES];
    window<T> win;
    struct stray_list strays;
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

template <bool WALLS> __device__ __forceinline__ struct lm_sides sides_of(const population &h)
{
    struct lm_sides periodic = {};
    return WALLS ? h.sides : periodic;
}

/* Where a tile's window lies: its first node, and whether it sticks out of the domain, or beyond a wall. */
struct footprint {
    int i, j;
    bool out, at_wall;
};

template <int T, bool WALLS> __device__ __forceinline__ footprint footprint_of(const population &h, uint32_t tile)
{
    enum { WIDTH = window<T>::WIDTH };
    const int i = (int)tile % h.t.nx * T - LM_WINDOW_LOW, j = (int)tile / h.t.nx * T - LM_WINDOW_LOW;
    const bool out_x = i < 0 || i + WIDTH > h.t.cells_x, out_y = j < 0 || j + WIDTH > h.t.cells_y;
    return {i, j, out_x || out_y,
            WALLS && ((out_x && lm_has_walls(&h.sides, 0)) || (out_y && lm_has_walls(&h.sides, 1)))};
}

/* Calls body(k, i, j) for the nodes of a window, a thread each: k their number in the window, (i, j) their cell, which
 * lies in the domain but where there are walls. */
template <int T, class F> __device__ __forceinline__ void each_node(const population &h, const footprint &p, F body)
{
    enum { WIDTH = window<T>::WIDTH, AREA = window<T>::AREA };
    if (!p.out || p.at_wall)
        for (int k = threadIdx.x; k < AREA; k += blockDim.x)
            body(k, p.i + k % WIDTH, p.j + k / WIDTH);
    else
        for (int k = threadIdx.x; k < AREA; k += blockDim.x)
            body(k, lm_wrap(p.i + k % WIDTH, h.t.cells_x), lm_wrap(p.j + k / WIDTH, h.t.cells_y));
}

template <int T> __device__ __forceinline__ struct lm_window window_in(const window<T> &w)
{
    struct lm_window win = {w.field + window<T>::FIELD_ORIGIN, window<T>::ROW, window<T>::FIELD};
    return win;
}

/* Calls body(k, g) for the nodes of a window, a thread each: g their place in arrays of the grid. */
template <int T, bool WALLS, class F>
__device__ __forceinline__ void each_place(const population &h, const footprint &p, int stride, F body)
{
    const struct lm_sides sides = sides_of<WALLS>(h);
    each_node<T>(h, p, [&](int k, int i, int j) {
        if (p.at_wall) {
            i = lm_field_cell(&sides, 0, h.t.cells_x, i);
            j = lm_field_cell(&sides, 1, h.t.cells_y, j);
        }
        body(k, (size_t)(j + LM_GHOST) * stride + i + LM_GHOST);
    });
}

/* Copies the fields around a tile to shared memory. The caller synchronises. */
template <int T, bool WALLS>
__device__ __forceinline__ struct lm_window fill_window(window<T> &w, const population &h, const footprint &p,
                                                        const fields &f)
{
    enum { WIDTH = window<T>::WIDTH, ROW = window<T>::ROW, FIELD = window<T>::FIELD };
    each_place<T, WALLS>(h, p, f.stride, [&](int k, size_t g) {
        lm_real *to = w.field + k / WIDTH * ROW + k % WIDTH;
        LM_UNROLL
        for (int d = 0; d < LM_WINDOW_FIELDS; d++)
            to[d * FIELD] = (lm_real)f.component(d)[g];
    });
    return window_in(w);
}

template <int T, bool MOVES> __device__ __forceinline__ struct lm_gas_window window_in(const gas_window<T, MOVES> &w)
{
    enum { WIDTH = window<T>::WIDTH, ORIGIN = window<T>::ORIGIN };
    return {w.density + ORIGIN, MOVES ? w.velocity + ORIGIN : NULL, WIDTH, window<T>::AREA};
}

template <int T, bool MOVES>
__device__ __forceinline__ void fill_gas_window(gas_window<T, MOVES> &w, const population &h, const footprint &p,
                                                const collider &c, int stride)
{
    each_place<T, true>(h, p, stride, [&](int k, size_t g) {
        w.density[k] = (float)c.gas[0][g];
        if (MOVES) {
            w.velocity[k] = (lm_real)c.gas[1][g];
            w.velocity[window<T>::AREA + k] = (lm_real)c.gas[2][g];
        }
    });
}

template <class S> __device__ __forceinline__ void clear_parts(S &store)
{
    int4 *parts = (int4 *)store.parts;
    for (int k = threadIdx.x; k < store.PARTS * store.COPIES / 4; k += blockDim.x)
        parts[k] = make_int4(0, 0, 0, 0);
}

/* Adds to node (i, j), which may lie beyond the domain, of a moment. */
template <bool WALLS>
__device__ __forceinline__ void add_to_grid(lm_u64 *sums, const population &h, int moment, int i, int j, int64_t part)
{
    const struct lm_sides sides = sides_of<WALLS>(h);
    int sign = 1, x = moment == LM_CURRENT_X, y = moment == LM_CURRENT_Y;
    i = lm_node_inside(&sides, 0, h.t.cells_x, x, x, i, &sign);
    j = lm_node_inside(&sides, 1, h.t.cells_y, y, y, j, &sign);
    if (i >= 0 && j >= 0)
        atomicAdd(&sums[((size_t)moment * h.t.cells_y + j) * h.t.cells_x + i], (lm_u64)(sign * part));
}

/* Adds up the copies of each node, four in one access and so that eight threads in a row read from all banks, and adds
 * that to the grid. */
template <int T, class S>
__device__ __forceinline__ void flush_parts(const S &store, const population &h, const footprint &p, lm_u64 *sums)
{
    enum { COPIES = S::COPIES, FOURS = COPIES / 4, AREA = window<T>::AREA };
    size_t cells = (size_t)h.t.cells_x * h.t.cells_y;
    each_node<T>(h, p, [&](int k, int i, int j) {
        lm_u64 *to = sums + (size_t)j * h.t.cells_x + i;
        LM_UNROLL
        for (int d = 0; d < LM_MOMENTS; d++) {
            const int4 *copies = (const int4 *)store.parts + (d * AREA + k) * FOURS;
            int32_t part = 0;
            LM_UNROLL
            for (int c = 0; c < FOURS; c++) {
                int4 v = copies[(c + k / (32 / COPIES)) % FOURS];
                part += v.x + v.y + v.z + v.w;
            }
            if (part && p.at_wall)
                add_to_grid<true>(sums, h, d, i, j, part);
            else if (part)
                atomicAdd(&to[d * cells], (lm_u64)(int64_t)part);
        }
    });
}

/* Adds the chunk's strays to the list of all; *strays: how many there are. All threads of the block take part, after a
 * barrier. */
__device__ __forceinline__ void list_strays(struct stray_list &list, const population &h, lm_u64 *strays)
{
    if (list.count == 0)
        return;
    const struct lm_gpu_chunk c = chunk_of(h);
    if (threadIdx.x == 0)
        list.first = (uint32_t)atomicAdd(strays, (lm_u64)list.count);
    __syncthreads();
    for (uint32_t n = threadIdx.x; n < list.count; n += blockDim.x) {
        const uint32_t stray = h.place[c.first + n];
        h.stray[list.first + n] = c.first + (stray & ~COLLIDED);
        h.stray_tile[list.first + n] = c.tile | (stray & COLLIDED);
    }
}

/* What a pass knows of surfaces and collisions: nothing in a periodic domain. */
template <enum kind KIND> struct met {
    struct lm_surfaces surfaces;
    const uint8_t *tile_has_body; /* NULL without bodies */
};
template <> struct met<PERIODIC> {
};
template <> struct met<COLLIDING> : met<OPEN> {
    struct collider collider;
};

__device__ __forceinline__ bool has_body(const met<OPEN> &around, uint32_t tile)
{
    return around.tile_has_body && around.tile_has_body[tile];
}

__device__ __forceinline__ bool has_body(const met<PERIODIC> &, uint32_t)
{
    return false;
}

__device__ __forceinline__ const struct lm_surfaces *surfaces_of(const met<OPEN> &around)
{
    return &around.surfaces;
}

__device__ __forceinline__ const struct lm_surfaces *surfaces_of(const met<PERIODIC> &)
{
    return NULL;
}

/* Makes the store for collisions ready. The caller synchronises. */
template <int T, bool PLAIN>
__device__ __forceinline__ void begin_collisions(collide_store<T, PLAIN> &store, const collider &c, const population &h,
                                                 const footprint &p, int stride)
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

/* One chunk: the body of the kernels below. */
template <int ORDER, int T, enum kind KIND, bool PLAIN = true>
__device__ __forceinline__ void pass_chunk(const population &h, const fields &f, const struct lm_step &step,
                                           lm_u64 *sums, lm_u64 *speed2_max, lm_u64 *strays, const met<KIND> &around)
{
    enum { WIDTH = window<T>::WIDTH, AREA = window<T>::AREA, COPIES = pass_block<ORDER, T>::COPIES };
    enum { STRIDE = pass_block<ORDER, T>::THREADS };
    constexpr bool WALLS = KIND != PERIODIC, COLLIDES = KIND == COLLIDING;
    extern __shared__ int4 shared[];
    pass_store<ORDER, T> &store = *(pass_store<ORDER, T> *)shared;
    collide_store<T, PLAIN> &beside = *(collide_store<T, PLAIN> *)(&store + 1); /* where they collide */
    const struct lm_gpu_chunk c = chunk_of(h);
    if (c.first == c.last)
        return;
    uint32_t k = aligned(c.first) + threadIdx.x;
    struct lm_particle next = particle_at(h.a, min(k, c.last - 1));
    const footprint foot = footprint_of<T, WALLS>(h, c.tile);
    const bool is_free = !foot.at_wall && !has_body(around, c.tile);
    struct lm_window win = fill_window<T, WALLS>(store.win, h, foot, f);
    clear_parts(store);
    if (threadIdx.x == 0)
        store.strays.count = 0;
    if constexpr (COLLIDES)
        begin_collisions(beside, around.collider, h, foot, f.stride);
    __syncthreads();
    unsigned copy = threadIdx.x % COPIES;
    asm("" : "+r"(copy)); /* or the compiler makes an OR of the addition below, and addresses cost twice as much */
    int32_t *origin = store.parts + window<T>::ORIGIN * COPIES + copy;
    lm_ufix speed2 = 0;
    gifts all = {};
    const auto stray = [&](uint32_t number) { h.place[c.first + atomicAdd(&store.strays.count, 1u)] = number; };
    for (; k < c.last; k += STRIDE) {
        struct lm_particle p = next;
        next = particle_at(h.a, min(k + STRIDE, c.last - 1));
        if (k < c.first)
            continue;
        if (!lm_in_window(ORDER, p.x, p.y, T)) {
            stray(k - c.first);
            continue;
        }
        if constexpr (COLLIDES)
            if (!collide<ORDER>(beside, around.collider, win, p, all)) {
                stray(k - c.first);
                continue;
            }
        lm_fix dx, dy;
        lm_push(ORDER, &p, &win, &step, &dx, &dy);
        bool near = lm_in_window(ORDER, p.x + dx, p.y + dy, T); /* and so is every place between the two */
        if constexpr (WALLS)
            near = near && (is_free || lm_is_free(&around.surfaces, &h.t, (int)c.tile, p.x, p.y, dx, dy));
        if (!near) {
            stray((k - c.first) | (COLLIDES ? COLLIDED : 0));
            continue;
        }
#define ADD(d, i, j, part) atomicAdd(&origin[((d)*AREA + (j)*WIDTH + (i)) * COPIES], part)
        LM_DEPOSIT_CURRENT(ORDER, lm_fix24(p.x + (dx >> 1)), lm_fix24(p.y + (dy >> 1)), p.u, p.v, p.w,
                           step.current_scale, ADD);
        if (step.move) {
            p.x += dx;
            p.y += dy;
        }
        LM_DEPOSIT_DENSITY(ORDER, lm_fix24(p.x), lm_fix24(p.y), ADD);
#undef ADD
        put_particle(h.a, k, p);
        lm_ufix bits = lm_real_bits(lm_speed2(&p));
        speed2 = bits > speed2 ? bits : speed2;
    }
    lm_warp_max(speed2_max, lm_bits((double)lm_real_from_bits(speed2)));
    __syncthreads();
    flush_parts<T>(store, h, footprint_of<T, WALLS>(h, c.tile), sums);
    if constexpr (COLLIDES)
        flush_gifts(beside, around.collider, (size_t)h.t.cells_x * h.t.cells_y, all);
    list_strays(store.strays, h, strays);
}

template <int ORDER, int T, enum kind KIND>
__global__ void __launch_bounds__(pass_block<ORDER, T>::THREADS, pass_block<ORDER, T>::BLOCKS - (KIND == OPEN))
    pass_kernel(population h, fields f, struct lm_step step, lm_u64 *sums, lm_u64 *speed2_max, lm_u64 *strays,
                const __grid_constant__ met<KIND> around)
{
    pass_chunk<ORDER, T, KIND>(h, f, step, sums, speed2_max, strays, around);
}

/* With collisions it takes more registers, and more still with all kinds of them. */
template <int ORDER, int T, bool PLAIN>
__global__ void __launch_bounds__(pass_block<ORDER, T>::THREADS, PLAIN
                                                                     ? pass_block<ORDER, T>::COLLIDING_BLOCKS
                                                                     : (pass_block<ORDER, T>::COLLIDING_BLOCKS + 1) / 2)
    collide_kernel(population h, fields f, struct lm_step step, lm_u64 *sums, lm_u64 *speed2_max, lm_u64 *strays,
                   const __grid_constant__ met<COLLIDING> around)
{
    pass_chunk<ORDER, T, COLLIDING, PLAIN>(h, f, step, sums, speed2_max, strays, around);
}

/* The fields around a stray. */
__device__ __forceinline__ struct lm_window patch_of(const fields &f, const struct lm_tiling &t, int tile,
                                                     const struct lm_particle &p, struct lm_stray &s)
{
    const double *component[LM_WINDOW_FIELDS];
    LM_UNROLL
    for (int d = 0; d < LM_WINDOW_FIELDS; d++)
        component[d] = f.component(d);
    lm_stray_at(&s, &t, tile, &p, component, f.stride);
    return lm_stray_window(&s);
}

/* Those that have entered since the last sort begin the list of strays. */
__global__ void list_entered_kernel(everyone h, lm_u64 *strays)
{
    const uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n == 0)
        *strays = h.entered;
    if (n >= h.entered)
        return;
    h.stray[n] = h.sorted + n;
    h.stray_tile[n] = h.home[n];
}

/* What the direct path leaves behind. */
struct books {
    lm_u64 *sums; /* of moments */
    struct lm_gpu_pass_control *control;
    struct lm_gpu_tallies *tallies;
    struct lm_tally_units units;
    struct lm_map_bins bins;
    lm_u64 *map; /* or NULL */
    double mass;
};

books books_of(struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    return {g->sums,
            &g->control->species[species],
            &g->control->tallies[species],
            {lm_exp2i(pass->tally_v), lm_exp2i(pass->tally_v2)},
            g->maps,
            pass->move ? g->species[species].map : NULL,
            g->base.setup.species[species].mass};
}

/* Adds the tallies of a warp's lanes for which `mine`. All lanes must take part. */
__device__ __forceinline__ void book(struct lm_tally *to, bool mine, const struct lm_tally &t)
{
    lm_warp_sum((lm_u64 *)&to->number, mine ? (lm_u64)t.number : 0);
    for (int d = 0; d < 3; d++)
        lm_warp_sum((lm_u64 *)&to->v[d], mine ? (lm_u64)t.v[d] : 0);
    lm_warp_sum((lm_u64 *)&to->v2, mine ? (lm_u64)t.v2 : 0);
}

/* Books the lanes that have left through a channel >= 0: a channel at a time. All lanes must take part. */
__device__ void book_lost(const books &b, int channel, const struct lm_tally &t)
{
    unsigned left = __ballot_sync(0xffffffffu, channel >= 0);
    while (left) {
        const int now = __shfl_sync(0xffffffffu, channel, __ffs(left) - 1);
        const bool mine = channel == now;
        book(&b.tallies->lost[now], mine, t);
        left &= ~__ballot_sync(0xffffffffu, mine);
    }
}

__device__ void book_hits(const books &b, const struct lm_flight &f)
{
    for (int n = 0; b.map && n < f.hits; n++)
        atomicAdd(&b.map[lm_map_bin(&b.bins, &f.hit[n], b.mass)], 1ull);
}

template <int ORDER, bool WALLS>
__device__ void add_current(const population &h, const books &b, const struct lm_step &step, const struct lm_flight &f)
{
#define ADD(d, a, c, part) add_to_grid<WALLS>(b.sums, h, d, f.i + (a), f.j + (c), part)
    if (f.channel < 0)
        LM_DEPOSIT_CURRENT(ORDER, lm_fix24(f.x), lm_fix24(f.y), f.u, f.v, f.w, step.current_scale, ADD);
#undef ADD
}

template <int ORDER, bool WALLS>
__device__ void add_density(const population &h, const books &b, const struct lm_flight &f)
{
#define ADD(d, a, c, part) add_to_grid<WALLS>(b.sums, h, d, f.i + (a), f.j + (c), part)
    LM_DEPOSIT_DENSITY(ORDER, lm_fix24(f.x), lm_fix24(f.y), ADD);
#undef ADD
}

__device__ __forceinline__ lm_u64 speed_of(const struct lm_flight &f)
{
    struct lm_particle p = {0, 0, f.u, f.v, f.w};
    return lm_bits((double)lm_speed2(&p));
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

/* One particle of the list; the flight it has made, with a channel if it has left in it or before. */
template <int ORDER, enum kind KIND>
__device__ bool pass_stray(const population &h, const fields &f, const struct lm_step &step, const books &b,
                           const met<KIND> &around, lm_u64 n, struct lm_stray_step &m)
{
    constexpr bool WALLS = KIND != PERIODIC;
    const uint32_t k = h.stray[n];
    const int tile = (int)(h.stray_tile[n] & ~COLLIDED);
    const struct lm_particle p = particle_at(h.a, k);
    if (WALLS && p.x == LM_GONE)
        return false;
    struct lm_stray s;
    lm_fix dx, dy;
    struct lm_window win = patch_of(f, h.t, tile, p, s);
    if constexpr (KIND == COLLIDING) {
        m.end.channel = collide_stray<ORDER>(h, around.collider, s, win, f.stride, h.stray_tile[n] & COLLIDED);
        if (m.end.channel >= 0) {
            m.end.hits = 0;
            m.end.u = s.p.u;
            m.end.v = s.p.v;
            m.end.w = s.p.w;
            put_particle(h.a, k, {LM_GONE, p.y, 0, 0, 0});
            return true;
        }
    }
    lm_push(ORDER, &s.p, &win, &step, &dx, &dy);
    lm_stray_move(&m, &s, dx, dy, step.move, WALLS, surfaces_of(around), &h.t);
    add_current<ORDER, WALLS>(h, b, step, m.mid);
    if (WALLS && m.end.channel >= 0) {
        put_particle(h.a, k, {LM_GONE, p.y, 0, 0, 0});
        return true;
    }
    add_density<ORDER, WALLS>(h, b, m.end);
    put_particle(h.a, k, {p.x + m.end.dx, p.y + m.end.dy, m.end.u, m.end.v, m.end.w});
    return true;
}

/* The direct path: particles of the list, gathered from and deposited on the whole grid. */
template <int ORDER, enum kind KIND>
__global__ void stray_kernel(population h, fields f, struct lm_step step, books b,
                             const __grid_constant__ met<KIND> around)
{
    const lm_u64 count = b.control->strays;
    lm_u64 speed2 = 0;
    for (lm_u64 first = blockIdx.x * (lm_u64)THREADS; first < count; first += (lm_u64)gridDim.x * THREADS) {
        const lm_u64 n = first + threadIdx.x;
        struct lm_stray_step m;
        const bool flies = n < count && pass_stray<ORDER, KIND>(h, f, step, b, around, n, m);
        if (flies && m.end.channel < 0)
            raise(speed2, speed_of(m.end));
        if (KIND == PERIODIC)
            continue;
        const int channel = flies ? m.end.channel : -1;
        struct lm_tally t = {};
        if (flies)
            book_hits(b, m.end);
        if (channel >= 0)
            t = lm_tally_of(&b.units, (double)m.end.u, (double)m.end.v, (double)m.end.w);
        lm_warp_sum(&b.tallies->gone, channel >= 0);
        book_lost(b, channel, t);
    }
    lm_warp_max(&b.control->speed2, speed2);
}

/* Where new particles go: places after `first`, which are free, and their tiles. */
struct nursery {
    uint32_t *home;
    uint32_t first;
    int way; /* enum lm_entrance by which they come */
};

/* A place for each lane that `stays` at the end of its flight. All lanes must take part. */
__device__ void append(const everyone &h, const books &b, const nursery &to, bool stays, const struct lm_flight &f)
{
    const int lane = threadIdx.x % 32;
    const unsigned all = __ballot_sync(0xffffffffu, stays);
    uint32_t at = 0;
    if (lane == 0 && all)
        at = (uint32_t)atomicAdd(&b.tallies->arrived, (lm_u64)__popc(all));
    at = __shfl_sync(0xffffffffu, at, 0) + __popc(all & ((1u << lane) - 1));
    if (!stays)
        return;
    to.home[to.first - h.sorted + at] = (uint32_t)(f.j / h.t.size * h.t.nx + f.i / h.t.size);
    put_particle(h.a, to.first + at,
                 {(lm_fix)(f.i % h.t.size) * LM_ONE + f.x, (lm_fix)(f.j % h.t.size) * LM_ONE + f.y, f.u, f.v, f.w});
}

/* Those of a warp's lanes that `begin` at f with `part` of the step left. All lanes must take part. */
template <int ORDER>
__device__ void begin_flights(const everyone &h, const struct lm_step &step, const books &b,
                              const struct lm_surfaces &surfaces, const nursery &to, bool begins, struct lm_flight &f,
                              double part, lm_u64 &speed2)
{
    struct lm_tally t = {};
    int channel = -1;
    bool stays = false;
    if (begins)
        t = lm_tally_of(&b.units, (double)f.u, (double)f.v, (double)f.w);
    book(&b.tallies->injected[to.way], begins, t);
    if (begins) {
        struct lm_flight mid = f;
        if (part > 0.5) { /* it was there half way through the step */
            lm_fly_on(&mid, &surfaces, &h.t, part - 0.5);
            add_current<ORDER, true>(h, b, step, mid);
        }
        lm_fly_on(&f, &surfaces, &h.t, part);
        book_hits(b, f);
        channel = f.channel;
        stays = channel < 0;
    }
    if (stays) {
        add_density<ORDER, true>(h, b, f);
        raise(speed2, speed_of(f));
    }
    if (channel >= 0)
        t = lm_tally_of(&b.units, (double)f.u, (double)f.v, (double)f.w);
    book_lost(b, channel, t);
    append(h, b, to, stays, f);
}

/* Who enters through a side, a warp for each of its cells. */
template <int ORDER>
__global__ void enter_kernel(everyone h, struct lm_step step, books b, struct lm_surfaces surfaces, nursery to,
                             const struct lm_inflow_cell *from, int side, int cells, uint64_t seed, int64_t number)
{
    const int cell = (int)((blockIdx.x * THREADS + threadIdx.x) / 32), lane = threadIdx.x % 32;
    const uint32_t n = cell < cells ? lm_inflow_count(&from[cell], seed, surfaces.species, side, cell, number) : 0;
    lm_u64 speed2 = 0;
    for (uint32_t base = 0; base < n; base += 32) { /* n is the same in all lanes */
        const uint32_t r = base + lane;
        struct lm_flight f;
        double part = 0.0;
        if (r < n)
            part = lm_enter(&f, &from[cell], &h.t, side, cell, r, n, surfaces.key, surfaces.species);
        begin_flights<ORDER>(h, step, b, surfaces, to, r < n, f, part, speed2);
    }
    lm_warp_max(&b.control->speed2, speed2);
}

/* The sum over the lanes before this one and itself. */
__device__ __forceinline__ uint32_t sum_up_to(uint32_t n)
{
    const int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t before = __shfl_up_sync(0xffffffffu, n, d);
        n += lane >= d ? before : 0;
    }
    return n;
}

/* The lane whose share of all holds number m: the first one up to which there are more. */
__device__ __forceinline__ int lane_of(uint32_t up_to, uint32_t m)
{
    int lane = 0;
    for (int d = 16; d; d /= 2)
        lane += __shfl_sync(0xffffffffu, up_to, lane + d - 1) <= m ? d : 0;
    return lane;
}

/* Who is born, a thread for each cell; a warp shares those of its cells. `taken`: from the gas, as its source. */
template <int ORDER>
__global__ void ionise_kernel(everyone h, struct lm_step step, books b, struct lm_surfaces surfaces, nursery to,
                              struct lm_ionise from, int stride, lm_u64 *taken)
{
    const uint32_t cell = blockIdx.x * THREADS + threadIdx.x, cells = (uint32_t)h.t.cells_x * (uint32_t)h.t.cells_y;
    const uint32_t width = (uint32_t)h.t.cells_x, first = cell - threadIdx.x % 32;
    const size_t k = ((size_t)(cell / width) + LM_GHOST) * stride + cell % width + LM_GHOST;
    const uint32_t n = cell < cells ? lm_ionise_count(&from, k, cell) : 0;
    const uint32_t up_to = sum_up_to(n), all = __shfl_sync(0xffffffffu, up_to, 31);
    lm_u64 speed2 = 0;
    for (uint32_t base = 0; base < all; base += 32) {
        const uint32_t m = base + threadIdx.x % 32;
        const int lane = lane_of(up_to, m);
        const uint32_t of = __shfl_sync(0xffffffffu, n, lane % 32), end = __shfl_sync(0xffffffffu, up_to, lane % 32);
        struct lm_flight f;
        double part = 0.0;
        if (m < all) {
            const uint32_t c = first + (uint32_t)lane;
            const int i = (int)(c % width), j = (int)(c / width);
            part =
                lm_ionise_one(&f, &from, ((size_t)j + LM_GHOST) * stride + i + LM_GHOST, i, j, c, m - (end - of), of);
        }
        begin_flights<ORDER>(h, step, b, surfaces, to, m < all, f, part, speed2);
    }
    lm_warp_max(&b.control->speed2, speed2);
    if (!from.gas)
        return;
    struct lm_wide sum = {0, 0};
    if (n > 0)
        lm_wide_add(&sum, -lm_ionise_take(&from, k, n));
    lm_warp_sum_wide(taken, sum);
}

/* A block of the sums: its threads, how many blocks share a multiprocessor, and how many neighbours a thread loads at
 * once, which it does a group ahead. */
template <int ORDER> struct sums_block;
#if LM_PRECISION == 32
template <> struct sums_block<1> {
    enum { THREADS = 128, BLOCKS = 8, GROUP = 2 };
};
template <> struct sums_block<2> {
    enum { THREADS = 128, BLOCKS = 7, GROUP = 2 };
};
#else
template <> struct sums_block<1> {
    enum { THREADS = 128, BLOCKS = 5, GROUP = 2 };
};
template <> struct sums_block<2> {
    enum { THREADS = 128, BLOCKS = 6, GROUP = 1 };
};
#endif

/* N values in one load. */
template <class V, int N> struct alignas(N * sizeof(V)) row {
    V at[N];
};

template <int N> struct group {
    row<lm_fix, N> x, y;
    row<lm_real, N> u, v, w;
};

template <class V, int N> __device__ __forceinline__ row<V, N> row_at(const V *from, uint32_t k)
{
    return *(const row<V, N> *)(from + k);
}

/* Particles k to k + N - 1; k is a multiple of N. */
template <int N> __device__ __forceinline__ group<N> group_at(const arrays &a, uint32_t k)
{
    return {row_at<lm_fix, N>(a.x, k), row_at<lm_fix, N>(a.y, k), row_at<lm_real, N>(a.u, k),
            row_at<lm_real, N>(a.v, k), row_at<lm_real, N>(a.w, k)};
}

enum { STRAYS = 6 }; /* value of lm_gpu_sums after the six sums: length of the list */

/* What the sums are rounded to: units of 1/one and 1/two. add_rounded needs terms of at most 2^51 units: `small`. If
 * not (few particles have finer units), all take the direct path. */
struct units {
    double one, two, shift_one, shift_two; /* shifts: 3 2^51 units */
    bool small;
};

units units_of(const struct lm_particle_sums *sums, uint64_t count)
{
    double one = lm_exp2i(sums->exponent_v), two = lm_exp2i(sums->exponent_v2);
    return {one, two, 0x1.8p52 / one, 0x1.8p52 / two, lm_sum_exponent((double)count, 0) <= 51};
}

/* lm_add_sums, and the bits of the shifts, which the host takes off again. A term with its shift added is rounded to
 * the unit, and this is the last bit. The square of a float is exact in double: its fma rounds no more and no less. */
__device__ __forceinline__ void add_rounded(lm_u64 sums[6], const struct lm_particle &p, const units &in)
{
    const double v[3] = {(double)p.u, (double)p.v, (double)p.w};
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        sums[d] += lm_bits(v[d] + in.shift_one);
        sums[3 + d] += lm_bits(LM_PRECISION == 32 ? lm_fma(v[d], v[d], in.shift_two) : v[d] * v[d] + in.shift_two);
    }
}

template <int ORDER, int T>
__global__ void __launch_bounds__(sums_block<ORDER>::THREADS, sums_block<ORDER>::BLOCKS)
    sums_kernel(population h, fields f, struct lm_step step, units in, struct lm_gpu_sums *out)
{
    enum { GROUP = sums_block<ORDER>::GROUP, STRIDE = sums_block<ORDER>::THREADS * GROUP };
    static_assert(GROUP <= GROUP_MAX, "reads beyond the arrays");
    __shared__ window<T> store;
    __shared__ struct stray_list strays;
    const struct lm_gpu_chunk c = chunk_of(h);
    if (c.first == c.last)
        return;
    if (threadIdx.x == 0)
        strays.count = 0;
    const uint32_t count = c.last - c.first, served = in.small ? count : 0, last = (c.last - 1) / GROUP * GROUP;
    uint32_t k = aligned(c.first) + threadIdx.x * GROUP;
    group<GROUP> next = group_at<GROUP>(h.a, min(k, last));
    struct lm_window near = fill_window<T, true>(store, h, footprint_of<T, true>(h, c.tile), f);
    __syncthreads();
    lm_u64 sums[6] = {0, 0, 0, 0, 0, 0};
    lm_fix dx, dy;
    for (; k < c.last; k += STRIDE) {
        const group<GROUP> now = next;
        next = group_at<GROUP>(h.a, min(k + STRIDE, last));
        LM_UNROLL
        for (int n = 0; n < GROUP; n++) {
            struct lm_particle p = {now.x.at[n], now.y.at[n], now.u.at[n], now.v.at[n], now.w.at[n]};
            const uint32_t number = k + n - c.first; /* huge before the first */
            if (number < served && lm_in_window(ORDER, p.x, p.y, T)) {
                lm_push(ORDER, &p, &near, &step, &dx, &dy);
                add_rounded(sums, p, in);
            } else if (number < count) {
                h.place[c.first + atomicAdd(&strays.count, 1u)] = number;
            }
        }
    }
    __syncthreads();
    list_strays(strays, h, &out->value[STRAYS]);
    lm_block_reduce<false>(out->value, sums);
}

/* The same for the particles of the list. */
template <int ORDER>
__global__ void stray_sums_kernel(population h, fields f, struct lm_step step, units in, struct lm_gpu_sums *out)
{
    int64_t sums[6] = {0, 0, 0, 0, 0, 0};
    for (lm_u64 n = blockIdx.x * (lm_u64)THREADS + threadIdx.x; n < out->value[STRAYS];
         n += gridDim.x * (lm_u64)THREADS) {
        struct lm_stray s;
        lm_fix dx, dy;
        const struct lm_particle p = particle_at(h.a, h.stray[n]);
        if (p.x != LM_GONE) {
            struct lm_window win = patch_of(f, h.t, (int)h.stray_tile[n], p, s);
            lm_push(ORDER, &s.p, &win, &step, &dx, &dy);
            lm_add_sums(sums, &s.p, in.one, in.two);
        }
        for (int d = 0; d < 6; d++)
            sums[d] += (int64_t)lm_bits(d < 3 ? in.shift_one : in.shift_two);
    }
    for (int d = 0; d < 6; d++)
        lm_warp_sum(&out->value[d], (lm_u64)sums[d]);
}

__global__ void speed_kernel(arrays a, uint64_t count, lm_u64 *speed2_max)
{
    lm_u64 speed2 = 0;
    for (uint64_t k = blockIdx.x * (uint64_t)THREADS + threadIdx.x; k < count; k += (uint64_t)gridDim.x * THREADS) {
        struct lm_particle p = {0, 0, a.u[k], a.v[k], a.w[k]};
        lm_u64 bits = lm_bits((double)lm_speed2(&p));
        speed2 = bits > speed2 ? bits : speed2;
    }
    lm_warp_max(speed2_max, speed2);
}

__global__ void hash_kernel(everyone h, int species, struct lm_gpu_sums *out)
{
    lm_u64 sum = 0;
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        if (!mine || h.a.x[k] == LM_GONE)
            return;
        struct lm_particle p = particle_at(h.a, k);
        sum += lm_hash_particle(species, lm_global(p.x, tile % h.t.nx, h.t.size, h.t.cells_x),
                                lm_global(p.y, tile / h.t.nx, h.t.size, h.t.cells_y), (double)p.u, (double)p.v,
                                (double)p.w);
    });
    lm_warp_sum(&out->value[0], sum);
}

/* Begins the list of strays of a pass or a sum; their number, *strays, is 0. */
int list_entered(struct lm_gpu *g, const everyone &h, lm_u64 *strays)
{
    if (h.entered == 0)
        return g->failed;
    list_entered_kernel<<<particle_blocks(h.entered), THREADS, 0, g->stream>>>(h, strays);
    return LM_GPU_LAUNCHED(g, "listing what has entered");
}

/* A pass, ready to be launched. */
struct pass_call {
    everyone h;
    fields f;
    struct lm_step step;
    books b;
    struct lm_surfaces surfaces;
    struct collider collider;
};

pass_call call_of(struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    const books b = books_of(g, species, pass);
    pass_call c = {population_of(g, species),
                   fields_of(g),
                   step_of(g, species, pass),
                   b,
                   lm_surfaces_make(&g->base.setup, species, pass, g->body, g->beside),
                   {}};
    if (!pass->collisions)
        return c;
    const int gas = pass->collisions->gas;
    struct lm_collisions &how = c.collider.how;
    how = *pass->collisions;
    how.stopping = lm_stopping_at_place(how.stopping, g->species[species].stopping);
    c.collider.units = b.units;
    c.collider.exchanged = &b.tallies->exchanged;
    c.collider.to_gas = &b.tallies->to_gas;
    c.collider.given = gas >= 0 ? g->given : NULL;
    for (int k = 0; k < GIFTS; k++)
        c.collider.slot[k] = gas >= 0 && lm_is_taken(&g->base.setup, LM_GIVEN_MOMENTUM + k) ? c.collider.takers++ : -1;
    c.collider.plain = lm_is_plain(&how) && how.stopping.rows > 0;
    for (int k = 0; k < ENERGY; k++)
        c.collider.plain = c.collider.plain && c.collider.slot[k] < 0;
    const int arrays[LM_GAS_FIELDS] = {LM_BACKGROUND, LM_BACKGROUND_X, LM_BACKGROUND_Y};
    for (int d = 0; d < LM_GAS_FIELDS && gas >= 0; d++)
        c.collider.gas[d] = g->array[arrays[d] + gas];
    return c;
}

template <enum kind KIND> met<KIND> around_of(const struct lm_gpu *g, const pass_call &c)
{
    met<KIND> around;
    if constexpr (KIND != PERIODIC) {
        around.surfaces = c.surfaces;
        around.tile_has_body = g->tile_has_body;
    }
    if constexpr (KIND == COLLIDING)
        around.collider = c.collider;
    return around;
}

template <int ORDER, int T, enum kind KIND, bool PLAIN> auto kernel_of()
{
    if constexpr (KIND == COLLIDING)
        return collide_kernel<ORDER, T, PLAIN>;
    else
        return pass_kernel<ORDER, T, KIND>;
}

template <int ORDER, int T, enum kind KIND, bool PLAIN = true>
int launch_pass(struct lm_gpu *g, const struct lm_gpu_species *s, const pass_call &c)
{
    const auto beside = collide_store<T, PLAIN>::bytes; /* where they collide */
    const size_t own = sizeof(pass_store<ORDER, T>), most = KIND == COLLIDING ? beside(GIFTS) : 0;
    const size_t bytes = own + (KIND == COLLIDING ? beside(c.collider.takers) : 0);
    auto kernel = kernel_of<ORDER, T, KIND, PLAIN>();
    static const cudaError_t allowed = /* asked once, not in every step */
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)(own + most < g->shared_bytes ? own + most : g->shared_bytes));
    lm_gpu_check(g, allowed, "shared memory of the pass");
    const met<KIND> around = around_of<KIND>(g, c);
    kernel<<<s->blocks, pass_block<ORDER, T>::THREADS, bytes, g->stream>>>(
        c.h, c.f, c.step, c.b.sums, &c.b.control->speed2, &c.b.control->strays, around);
    LM_GPU_LAUNCHED(g, "particle pass");
    stray_kernel<ORDER, KIND><<<(unsigned)g->processors * 3, THREADS, 0, g->stream>>>(c.h, c.f, c.step, c.b, around);
    return LM_GPU_LAUNCHED(g, "pass of strays");
}

template <int ORDER, enum kind KIND, bool PLAIN = true>
int launch_tiles(struct lm_gpu *g, const struct lm_gpu_species *s, const pass_call &c)
{
    return g->base.setup.tile == 8 ? launch_pass<ORDER, 8, KIND, PLAIN>(g, s, c)
                                   : launch_pass<ORDER, 16, KIND, PLAIN>(g, s, c);
}

template <int ORDER>
int launch_kind(struct lm_gpu *g, const struct lm_gpu_species *s, const pass_call &c, bool collides)
{
    return collides && c.collider.plain ? launch_tiles<ORDER, COLLIDING>(g, s, c)
           : collides                   ? launch_tiles<ORDER, COLLIDING, false>(g, s, c)
           : g->open || s->collides     ? launch_tiles<ORDER, OPEN>(g, s, c)
                                        : launch_tiles<ORDER, PERIODIC>(g, s, c);
}

template <int ORDER, int T> int launch_sums(struct lm_gpu *g, int species, const struct lm_pass *half, const units &in)
{
    const everyone h = population_of(g, species);
    const fields f = fields_of(g);
    const struct lm_step step = step_of(g, species, half);
    list_entered(g, h, &g->reduced->value[STRAYS]);
    sums_kernel<ORDER, T>
        <<<g->species[species].blocks, sums_block<ORDER>::THREADS, 0, g->stream>>>(h, f, step, in, g->reduced);
    LM_GPU_LAUNCHED(g, "sums over particles");
    stray_sums_kernel<ORDER><<<(unsigned)g->processors * 3, THREADS, 0, g->stream>>>(h, f, step, in, g->reduced);
    return LM_GPU_LAUNCHED(g, "sums over strays");
}

} // namespace

int LM_P(lm_gpu_pass)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    lm_gpu_range range("pass");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    const pass_call c = call_of(g, species, pass);
    const bool collides = pass->collisions != NULL;
    g->counted |= collides;
    g->species[species].collides |= collides;
    lm_gpu_check(g, cudaMemsetAsync(c.b.control, 0, sizeof *c.b.control, g->stream), "pass");
    if (s->count == 0)
        return g->failed;
    if (c.collider.gas[0])
        lm_gpu_fill_gas(g, pass->collisions->gas);
    list_entered(g, c.h, &c.b.control->strays);
    return b->setup.shape == 1 ? launch_kind<1>(g, s, c, collides) : launch_kind<2>(g, s, c, collides);
}

int LM_P(lm_gpu_enter)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    lm_gpu_range range("enter");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    const pass_call c = call_of(g, species, pass);
    nursery to = {s->home, (uint32_t)s->count, 0};
    for (int side = 0; side < LM_SIDES; side++) {
        const int cells = side < LM_Y_MIN ? b->setup.grid.ny : b->setup.grid.nx;
        if (!s->inflow[side])
            continue;
        auto kernel = b->setup.shape == 1 ? enter_kernel<1> : enter_kernel<2>;
        to.way = side;
        kernel<<<particle_blocks((uint64_t)cells * 32), THREADS, 0, g->stream>>>(
            c.h, c.step, c.b, c.surfaces, to, s->inflow[side], side, cells, b->setup.seed, pass->step);
        LM_GPU_LAUNCHED(g, "what enters");
    }
    return g->failed;
}

int LM_P(lm_gpu_ionise)(struct lm_backend *b, int source, const struct lm_pass *pass, int quantum)
{
    lm_gpu_range range("ionise");
    struct lm_gpu *g = lm_gpu_of(b);
    const int species = b->setup.ionisation[source].species, gas = b->setup.ionisation[source].gas;
    const struct lm_gpu_species *s = &g->species[species];
    const pass_call c = call_of(g, species, pass);
    const nursery to = {s->home, (uint32_t)s->count, LM_IONISED};
    struct lm_ionise from = {};
    from.expected = g->array[LM_BORN + source];
    from.thermal = g->array[LM_BORN_THERMAL + source];
    for (int d = 0; d < 3; d++)
        from.drift[d] = g->array[LM_BORN_DRIFT + d * LM_MAX_IONISATIONS + source];
    from.gas = gas < 0 ? NULL : g->array[LM_BACKGROUND + gas];
    from.unit = lm_exp2i(-quantum);
    from.quanta = lm_ionise_quanta(b->setup.species[species].weight, quantum);
    from.key = c.surfaces.key;
    from.source = source;
    auto kernel = b->setup.shape == 1 ? ionise_kernel<1> : ionise_kernel<2>;
    kernel<<<particle_blocks(b->setup.grid.cells), THREADS, 0, g->stream>>>(
        c.h, c.step, c.b, c.surfaces, to, from, b->setup.grid.stride, g->control->background[gas < 0 ? 0 : gas].source);
    return LM_GPU_LAUNCHED(g, "ionisation");
}

int LM_P(lm_gpu_survey_particles)(struct lm_backend *b, int species)
{
    struct lm_gpu *g = lm_gpu_of(b);
    lm_u64 *speed2 = &g->control->species[species].speed2;
    lm_gpu_check(g, cudaMemsetAsync(speed2, 0, sizeof *speed2, g->stream), "survey of particles");
    speed_kernel<<<(unsigned)g->processors * 8, THREADS, 0, g->stream>>>(population_of(g, species).a,
                                                                         g->species[species].count, speed2);
    return LM_GPU_LAUNCHED(g, "survey of particles");
}

int LM_P(lm_gpu_particle_sums)(struct lm_backend *b, int species, const struct lm_pass *half,
                               struct lm_particle_sums *out)
{
    lm_gpu_range range("particle sums");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    const uint64_t present = s->count - s->gone;
    out->exponent_v = lm_sum_exponent((double)present, half->cap);
    out->exponent_v2 = lm_sum_exponent((double)present, 2 * half->cap);
    const units in = units_of(out, present);
    lm_gpu_reduce_begin(g);
    if (s->count > 0) {
        if (b->setup.shape == 1)
            b->setup.tile == 8 ? launch_sums<1, 8>(g, species, half, in) : launch_sums<1, 16>(g, species, half, in);
        else
            b->setup.tile == 8 ? launch_sums<2, 8>(g, species, half, in) : launch_sums<2, 16>(g, species, half, in);
    }
    lm_gpu_reduce_end(g);
    for (int d = 0; d < 3; d++) {
        out->v[d] = (int64_t)(g->reduced_host->value[d] - s->count * lm_bits(in.shift_one));
        out->v2[d] = (int64_t)(g->reduced_host->value[3 + d] - s->count * lm_bits(in.shift_two));
    }
    return g->failed;
}

int LM_P(lm_gpu_hash_particles)(struct lm_gpu *g, int species)
{
    const struct lm_gpu_species *s = &g->species[species];
    if (s->count > 0)
        hash_kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(population_of(g, species), species, g->reduced);
    return LM_GPU_LAUNCHED(g, "hash of particles");
}
