/* The window of a tile: the fields around it in shared memory, the moments that its particles add there, and the list
 * of those too far from it. For one precision at a time. */
#ifndef LARMOR_PARTICLES_WINDOW_CUH
#define LARMOR_PARTICLES_WINDOW_CUH

#include "particles/particles.cuh"

#include "larmor/physics/particles/footprint.h"
#include "larmor/physics/particles/pass.h"

namespace
{

/* What the particles feel: E of the push, three arrays; B of the push, three, and behind them the force of the
 * pressure, two. There are `pitch` elements from one to the next. */
struct fields {
    const double *e, *b;
    size_t pitch;
    int stride;
    __host__ __device__ __forceinline__ const double *component(int d) const /* in the order of lm_window */
    {
        return d < 3 ? e + d * pitch : b + (d - 3) * pitch;
    }
};

/* As a species feels them. */
static inline fields fields_of(struct lm_gpu *g, int species)
{
    return {lm_gpu_push_field(g, species), g->array[LM_PUSH_B], g->pitch, g->base.setup.grid.stride};
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

/* The strays of a chunk: how many, and where they begin in the list of all strays. Their numbers in the chunk are in
 * h.slot. */
struct stray_list {
    uint32_t count, first;
};

/* A flag in the number of a stray, and later in the number of its tile: what its collisions exchange has been added to
 * the sums already; only its velocity is not stored. */
enum : uint32_t { COLLIDED = 1u << 31 };

template <bool WALLS> __device__ __forceinline__ struct lm_sides sides_of(const tile_particles &h)
{
    struct lm_sides periodic = {};
    return WALLS ? h.sides : periodic;
}

template <int T, bool WALLS>
__device__ __forceinline__ struct lm_footprint footprint_of(const tile_particles &h, uint32_t tile)
{
    const struct lm_sides sides = sides_of<WALLS>(h);
    struct lm_tiling t = h.t;
    t.size = T;
    return lm_footprint_of(&t, &sides, (int)tile, window<T>::WIDTH);
}

/* Calls body(k, i, j) for each node of a window, a thread a node: k is the number of the node in the window, (i, j) its
 * cell. The cell lies in the domain, except beyond walls. */
template <int T, class F>
__device__ __forceinline__ void each_node(const tile_particles &h, const struct lm_footprint &p, F body)
{
    enum { WIDTH = window<T>::WIDTH, AREA = window<T>::AREA };
    if (!p.is_out || p.at_wall)
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

/* Calls body(k, g) for each node of a window, a thread a node: g is its index in arrays of the grid. */
template <int T, bool WALLS, class F>
__device__ __forceinline__ void each_place(const tile_particles &h, const struct lm_footprint &p, int stride, F body)
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

/* The components of a window in a cell of the grid: as they are, and for the linear shape as lm_join_line makes them.
 * A cell at the end of an array has no neighbour there, so its load reads the array beside; no particle uses the
 * result. */
template <int ORDER>
__device__ __forceinline__ void felt_in_cell(const fields &f, size_t g, lm_real to[LM_WINDOW_FIELDS])
{
    LM_UNROLL
    for (int d = 0; d < LM_WINDOW_FIELDS; d++)
        to[d] = (lm_real)f.component(d)[g];
    LM_UNROLL
    for (int axis = 0; axis < 2 && ORDER == 1; axis++) {
        const size_t step = axis == 0 ? 1 : f.stride;
        const lm_real centre = to[LM_WINDOW_E + axis], face = to[LM_WINDOW_FACES + axis],
                      above = (lm_real)f.component(LM_WINDOW_E + axis)[g + step],
                      below = (lm_real)f.component(LM_WINDOW_FACES + axis)[g - step];
        to[LM_WINDOW_E + axis] = lm_on_centre(centre, below, face);
        to[LM_WINDOW_FACES + axis] = lm_on_face(face, centre, above);
    }
}

/* Copies the fields around a tile to shared memory. The caller synchronises. */
template <int ORDER, int T, bool WALLS>
__device__ __forceinline__ struct lm_window fill_window(window<T> &w, const tile_particles &h,
                                                        const struct lm_footprint &p, const fields &f)
{
    enum { WIDTH = window<T>::WIDTH, ROW = window<T>::ROW, FIELD = window<T>::FIELD };
    each_place<T, WALLS>(h, p, f.stride, [&](int k, size_t g) {
        lm_real *to = w.field + k / WIDTH * ROW + k % WIDTH;
        lm_real felt[LM_WINDOW_FIELDS];
        felt_in_cell<ORDER>(f, g, felt);
        LM_UNROLL
        for (int d = 0; d < LM_WINDOW_FIELDS; d++)
            to[d * FIELD] = felt[d];
    });
    return window_in(w);
}

/* Clears the sums and the number of strays of a block. The caller synchronises. */
template <class S> __device__ __forceinline__ void clear_store(S &store)
{
    int4 *quanta = (int4 *)store.quanta;
    for (int k = threadIdx.x; k < store.SUMS * store.COPIES / 4; k += blockDim.x)
        quanta[k] = make_int4(0, 0, 0, 0);
    if (threadIdx.x == 0)
        store.strays.count = 0;
}

/* Adds to node (i, j) of a moment. The node may lie beyond the domain. */
template <bool WALLS>
__device__ __forceinline__ void add_to_grid(lm_u64 *sums, const tile_particles &h, int moment, int i, int j,
                                            int64_t quanta)
{
    const struct lm_sides sides = sides_of<WALLS>(h);
    int sign = 1;
    i = lm_cell_inside(&sides, 0, h.t.cells_x, moment == LM_CURRENT_X, i, &sign);
    j = lm_cell_inside(&sides, 1, h.t.cells_y, moment == LM_CURRENT_Y, j, &sign);
    atomicAdd(&sums[((size_t)moment * h.t.cells_y + j) * h.t.cells_x + i], (lm_u64)(sign * quanta));
}

/* Adds up the copies of each node and adds the sum to the grid. One access reads four copies, and eight threads in a
 * row read from all banks. */
template <int T, class S>
__device__ __forceinline__ void flush_quanta(const S &store, const tile_particles &h, const struct lm_footprint &p,
                                             lm_u64 *sums)
{
    enum { COPIES = S::COPIES, FOURS = COPIES / 4, AREA = window<T>::AREA };
    size_t cells = (size_t)h.t.cells_x * h.t.cells_y;
    each_node<T>(h, p, [&](int k, int i, int j) {
        lm_u64 *to = sums + (size_t)j * h.t.cells_x + i;
        LM_UNROLL
        for (int d = 0; d < LM_MOMENTS; d++) {
            const int4 *copies = (const int4 *)store.quanta + (d * AREA + k) * FOURS;
            int32_t quanta = 0;
            LM_UNROLL
            for (int c = 0; c < FOURS; c++) {
                int4 v = copies[(c + k / (32 / COPIES)) % FOURS];
                quanta += v.x + v.y + v.z + v.w;
            }
            if (quanta && p.at_wall)
                add_to_grid<true>(sums, h, d, i, j, quanta);
            else if (quanta)
                atomicAdd(&to[d * cells], (lm_u64)(int64_t)quanta);
        }
    });
}

/* Adds the chunk's strays to the list of all; *strays: how many there are. All threads of the block take part, after
 * a barrier. */
__device__ __forceinline__ void list_strays(struct stray_list &list, const tile_particles &h, lm_u64 *strays)
{
    if (list.count == 0)
        return;
    const struct lm_gpu_chunk c = chunk_of(h);
    if (threadIdx.x == 0)
        list.first = (uint32_t)atomicAdd(strays, (lm_u64)list.count);
    __syncthreads();
    for (uint32_t n = threadIdx.x; n < list.count; n += blockDim.x) {
        const uint32_t stray = h.slot[c.first + n];
        h.stray[list.first + n] = c.first + (stray & ~COLLIDED);
        h.stray_tile[list.first + n] = c.tile | (stray & COLLIDED);
    }
}

} // namespace

#endif
