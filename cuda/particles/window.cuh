/* The window of a tile: the fields around it in shared memory, the moments that its particles add there, and the list
 * of those too far from it. For one precision at a time. */
#ifndef LARMOR_PARTICLES_WINDOW_CUH
#define LARMOR_PARTICLES_WINDOW_CUH

#include "particles/particles.cuh"

#include "larmor/physics/particles/deposit.h"

namespace
{

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

static inline fields fields_of(const struct lm_gpu *g)
{
    return {g->array[LM_PUSH_E], g->array[LM_B], g->pitch, g->base.setup.grid.stride};
}

static inline struct lm_step step_of(const struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    const struct lm_setup *s = &g->base.setup;
    const struct lm_backend_species *p = &s->species[species];
    return lm_step_make(pass->kick_dt, pass->drift_dt, pass->move, pass->cap, p->charge / p->mass, s->ohm.rx,
                        s->ohm.ry);
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

/* A chunk's strays, their numbers in it in h.place: how many, and where they begin in the list of all. */
struct stray_list {
    uint32_t count, first;
};

/* Beside a stray's number, then beside its tile: its collisions are done and booked, but for its velocity. */
enum : uint32_t { COLLIDED = 1u << 31 };

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

} // namespace

#endif
