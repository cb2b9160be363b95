/* CUDA backend: a stage of the Runge-Kutta method for B where fields end at walls, meet bodies or have voids, in one
 * kernel. A block takes a tile of the domain. It brings B of the tile and of some cells around it to shared memory, and
 * does there what walls.cu and void_field.cu do in one kernel each: J, the motional field, E, E beyond walls, and B
 * after the stage. Beyond radiating sides E comes from strips.cu, whose kernel begins before that of the stage. A stage
 * reads B and E_v of neighbours from other arrays than it writes, so the order of the tiles does not matter. Its rate
 * is in docs/performance/results.md.
 */
#include "fields/plain.cuh"
#include "fields/tile.cuh"

#include <cuda_pipeline.h>

#include "core/early.cuh"

#include "larmor/physics/fields/fields.h"

namespace
{

/* Ohm's law reads so many columns and rows before and after a tile. */
typedef tile_of<STAGE_TILE_X, STAGE_TILE_Y, 2, 3> tile;

/* Threads of a block: the second where each block has a multiprocessor of its own. Then a thread has one cell. */
enum { MANY_TILES = THREADS, FEW_TILES = 512 };

enum { WIDTH = tile::WIDTH, SIZE = tile::SIZE };

/* The arrays of a tile in shared memory. */
enum {
    OF_B,
    OF_J = 3,
    OF_MOTIONAL = 6,
    OF_SLIP = 9,
    OF_ETA,
    OF_PER_DENSITY,
    OF_ION_CURRENT,
    OF_E = OF_ION_CURRENT, /* later, in the same place */
    TILE_ARRAYS = OF_E + 3,
    NODES = 3 * (tile::X + 1) * (tile::Y + 1)
};

/* What a tile has in shared memory. */
struct tile_memory {
    double of[TILE_ARRAYS * SIZE];
    uint8_t solid[SIZE];  /* cells of bodies */
    uint16_t node[NODES]; /* nodes of E at bodies: component times SIZE, and the element of the cell */
    unsigned nodes_at_bodies;
};

struct stage_problem {
    domain d;
    struct lm_ohm o;
    struct lm_rk4 rk;
    int number;
    bool is_first; /* of a step of B */
    const double *b, *ji, *eta;
    const double *battery, *given_e; /* NULL: there is none; E beyond sides where it is prescribed */
    const double *state;
    double *next, *sum; /* `next`: of the last stage, the result */
    struct {
        const double *e; /* E_v of this stage; NULL: there are no voids */
        const double *state;
        double *next, *sum, speed2;
        struct lm_void_nodes nodes[2]; /* away from bodies, and beside them */
    } voids;
    const double *strip_e; /* E on and beyond radiating sides; NULL: there are none */
    struct lm_open_sides open;
    open_order order;
    const uint8_t *marks;      /* of each tile */
    const uint8_t *is_left;    /* of each tile: whether the kernel takes it; NULL: it takes all */
    const uint8_t *is_covered; /* where is_left is: of each tile, whether others take the last stage */
};

/* Whether a tile and all that it reads lie in the domain, where no cell has an image. The stage of such a tile is that
 * of a domain without sides. Functions with INSIDE are for these tiles and do not ask where sides are. */
__device__ __forceinline__ bool is_inside(const domain &d, const tile &t)
{
    enum { BEYOND = LM_GHOST > (int)tile::AFTER ? (int)LM_GHOST : (int)tile::AFTER };
    return t.x >= BEYOND && t.y >= BEYOND && t.x + tile::X + BEYOND <= d.s.nx && t.y + tile::Y + BEYOND <= d.s.ny;
}

template <bool INSIDE> __device__ __forceinline__ size_t cell(const domain &d, int i, int j)
{
    return INSIDE ? at(d.s, i, j) : element(d, i, j);
}

/* The marks of all tiles. */
__global__ void mark_kernel(domain d, const double *per_density, uint8_t *marks)
{
    const tile t(d, THREADS);
    enum { HAS_PLASMA = ALL_VOID };
    int found = 0;
    t.each<tile::BEFORE, tile::AFTER>([&](int i, int j, int) {
        const size_t k = element(d, i, j);
        found |= per_density[k] == 0.0 ? HAS_VOID : HAS_PLASMA;
        for (int c = 0; c < 3 && d.node; c++)
            found |= d.node[3 * k + c].kind != LM_NODE_PLASMA || d.node[3 * k + c].more != 0 ? HAS_BODY : 0;
    });
    const int has_void = __syncthreads_or(found & HAS_VOID), has_body = __syncthreads_or(found & HAS_BODY),
              has_plasma = __syncthreads_or(found & HAS_PLASMA);
    if (threadIdx.x == 0)
        marks[t.number()] =
            (has_void ? HAS_VOID : 0) | (has_body ? HAS_BODY : 0) | (has_plasma || has_body ? 0 : ALL_VOID);
}

/* Lets a value come from memory to the cache of the GPU. */
__device__ __forceinline__ void prefetch(const double *p)
{
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}

/* How many nodes of a tile are beyond the walls of an axis; or less than 0. The last cell inside has number n - 1. */
__device__ __forceinline__ int nodes_below(const domain &d, const tile &t, int axis)
{
    const bool walls = axis == 0 ? d.walls_x : d.walls_y;
    return walls ? min(-(axis == 0 ? t.x : t.y), LM_GHOST) : -1;
}

__device__ __forceinline__ int nodes_above(const domain &d, const tile &t, int axis)
{
    const bool walls = axis == 0 ? d.walls_x : d.walls_y;
    const int beyond = axis == 0 ? t.x + tile::X - d.s.nx + 1 : t.y + tile::Y - d.s.ny + 1;
    return walls ? min(beyond, LM_GHOST) : -1;
}

/* Cell 0 of an axis, in the line that is number `line` of the tile; and the last cell. */
__device__ __forceinline__ double *first_inside(const tile &t, int axis, int line, double *e)
{
    return axis == 0 ? e + (tile::BEFORE + line) * WIDTH + tile::BEFORE - t.x
                     : e + (tile::BEFORE - t.y) * WIDTH + tile::BEFORE + line;
}

__device__ __forceinline__ double *last_inside(const domain &d, const tile &t, int axis, int line, double *e)
{
    return first_inside(t, axis, line, e) + (axis == 0 ? d.s.nx - 1 : (d.s.ny - 1) * WIDTH);
}

enum { MOST_LINES = tile::X + 1 };

__device__ __forceinline__ int lines_across(int axis)
{
    return axis == 0 ? tile::Y + 1 : tile::X + 1;
}

/* E of a tile beyond the walls of an axis, as lm_fill_line. */
__device__ __forceinline__ void fill_walls(const domain &d, const tile &t, int axis, double *e)
{
    const int below = nodes_below(d, t, axis), above = nodes_above(d, t, axis);
    const int step = axis == 0 ? 1 : WIDTH, n = axis == 0 ? d.s.nx : d.s.ny;
    if (below <= 0 && above <= 0)
        return;
    for (int q = (int)threadIdx.x; q < 3 * MOST_LINES; q += t.threads) {
        const int component = q / MOST_LINES, line = q % MOST_LINES;
        if (line >= lines_across(axis))
            continue;
        const struct lm_line_end low = lm_line_end_of(&d.sides, 2 * axis, component, LM_FILL_FARADAY),
                                 high = lm_line_end_of(&d.sides, 2 * axis + 1, component, LM_FILL_FARADAY);
        double *const of = e + component * SIZE;
        if (below > 0)
            lm_fill_beyond(first_inside(t, axis, line, of) - (low.on_wall ? step : 0), step, n, low,
                           below - low.on_wall);
        if (above > 0)
            lm_fill_beyond(last_inside(d, t, axis, line, of), -step, n, high, above);
    }
    __syncthreads();
}

/* Whether E of a component comes from a strip in cell (i, j): beyond a radiating side, and through it. */
__device__ __forceinline__ bool is_of_strip(const domain &d, int component, int i, int j)
{
    const int *const of = d.sides.of;
    return (of[LM_X_MIN] == LM_RADIATING && i < 0) || (of[LM_Y_MIN] == LM_RADIATING && j < 0) ||
           (of[LM_X_MAX] == LM_RADIATING && i >= d.s.nx - (component == 0)) ||
           (of[LM_Y_MAX] == LM_RADIATING && j >= d.s.ny - (component == 1));
}

/* E of a tile on and beyond radiating sides. All before this runs beside the kernel of the strips. */
__device__ __forceinline__ void fill_from_strips(const stage_problem &a, const tile &t, double *e)
{
    await_last();
    t.each<0, 1>([&](int i, int j, int m) {
        for (int c = 0; c < 3; c++)
            if (is_of_strip(a.d, c, i, j))
                e[c * SIZE + m] = a.strip_e[c * a.d.s.pitch + element(a.d, i, j)];
    });
    __syncthreads();
}

/* E of a tile on and beyond open sides. */
__device__ __forceinline__ void fill_open_sides(const stage_problem &a, const tile &t, double *e)
{
    const domain &d = a.d;
    if (nodes_below(d, t, 0) <= 0 && nodes_above(d, t, 0) < 0 && nodes_below(d, t, 1) <= 0 && nodes_above(d, t, 1) < 0)
        return;
    for (int k = 0; k < a.order.count; k++) {
        const open_components &which = a.order.of[k];
        for (int q = (int)threadIdx.x; q < which.count * MOST_LINES; q += t.threads) {
            const int axis = which.axis[q / MOST_LINES], component = which.component[q / MOST_LINES],
                      line = q % MOST_LINES, step = axis == 0 ? 1 : WIDTH;
            const int below = nodes_below(d, t, axis), above = nodes_above(d, t, axis),
                      across = (axis == 0 ? t.y : t.x) + line;
            double *const of = e + component * SIZE;
            if (line >= lines_across(axis))
                continue;
            if (below > 0)
                lm_fill_open_side(&a.open, axis, component, 0, across, first_inside(t, axis, line, of), -step, below);
            if (above >= 0)
                lm_fill_open_side(&a.open, axis, component, 1, across, last_inside(d, t, axis, line, of), step, above);
        }
        __syncthreads();
    }
}

/* Whether Ohm's law gives some of E in a cell. */
__device__ __forceinline__ bool has_own_e(const domain &d, int i, int j)
{
    return i >= -d.walls_x && j >= -d.walls_y && (i < d.s.nx || !d.walls_x) && (j < d.s.ny || !d.walls_y);
}

/* E beyond sides where it is prescribed. Through an open side beside, the first stage of a step has made it 0. */
__device__ __forceinline__ double prescribed_e(const stage_problem &a, int component, int i, int j)
{
    const domain &d = a.d;
    if (!a.is_first && lm_is_open_face(&d.sides, component, i, j, d.s.nx, d.s.ny))
        return 0.0;
    return a.given_e[component * d.s.pitch + element(d, i, j)];
}

/* What Ohm's law reads in the tile. */
__device__ __forceinline__ struct lm_ohm_view ohm_view_of_tile(const double *of, int m)
{
    return {tile::view(of + OF_MOTIONAL * SIZE, m),
            tile::view(of + OF_B * SIZE, m),
            tile::view(of + OF_J * SIZE, m),
            of + OF_SLIP * SIZE + m,
            of + OF_ETA * SIZE + m,
            {NULL, NULL}};
}

/* J of the plasma in a cell of the tile; `b` stands on it. */
template <bool INSIDE>
__device__ __forceinline__ struct lm_vector current_in_cell(const stage_problem &a, int i, int j, struct lm_view b)
{
    const domain &d = a.d;
    const struct lm_view external = external_at(d, d.external ? cell<INSIDE>(d, i, j) : 0);
    if constexpr (INSIDE)
        return lm_plasma_current(b, external, a.o.inv_dx, a.o.inv_dy);
    return lm_current_in_cell(&d.sides, d.s.nx, d.s.ny, i, j, b, external, a.o.inv_dx, a.o.inv_dy);
}

/* E of Ohm's law in a cell, without bodies and voids. */
template <bool INSIDE>
__device__ __forceinline__ void ohms_law(const stage_problem &a, const double *of, int i, int j, int m, double total[3])
{
    const domain &d = a.d;
    const struct lm_ohm_view v = ohm_view_of_tile(of, m);
    double part[3];
    lm_electric_field(v, &a.o, total, part);
    if constexpr (INSIDE)
        return;
    if (d.walls_x && (i < 0 || i == d.s.nx - 1))
        lm_wall_field(0, i < 0 ? 1 : 0, v, &a.o, total, part);
    if (d.walls_y && (j < 0 || j == d.s.ny - 1))
        lm_wall_field(1, j < 0 ? WIDTH : 0, v, &a.o, total, part);
}

/* E of the tile at bodies. Threads share its nodes there, because these take long. */
__device__ __forceinline__ void meet_bodies(const stage_problem &a, const tile &t, tile_memory &memory)
{
    const domain &d = a.d;
    double *const of = memory.of;
    t.each<0, 1>([&](int i, int j, int m) {
        const struct lm_body_node *const node = d.node + 3 * element(d, i, j);
        for (int c = 0; c < 3 && has_own_e(d, i, j); c++)
            if (node[c].kind != LM_NODE_PLASMA && lm_is_own_e(c, i, j))
                memory.node[atomicAdd(&memory.nodes_at_bodies, 1u)] = (uint16_t)(c * SIZE + m);
    });
    __syncthreads();
    for (unsigned n = threadIdx.x; n < memory.nodes_at_bodies; n += (unsigned)t.threads) {
        const int c = memory.node[n] / SIZE, m = memory.node[n] % SIZE;
        const size_t k = element(d, t.x + m % WIDTH - tile::BEFORE, t.y + m / WIDTH - tile::BEFORE);
        double *const e = of + (OF_E + c) * SIZE + m, total = *e, part;
        lm_body_node_field(c, {memory.solid + m, d.node + 3 * k, of + OF_PER_DENSITY * SIZE + m},
                           ohm_view_of_tile(of, m), &a.o, &total, &part);
        *e = total;
    }
}

/* E_v of a node of cell (i, j) after the stage. `current`: J there; `open`: the open part of its edge. */
__device__ __forceinline__ void advance_void_node(const stage_problem &a, int i, int j, int component, double current,
                                                  double open)
{
    const domain &d = a.d;
    const size_t m = component * d.s.pitch + at(d.s, i, j);
    const double start = a.voids.state[m], rate = lm_void_rate(a.voids.speed2 * open, current, a.voids.e[m]),
                 after = lm_rk4_sum(a.rk, 0, a.number == 0 ? start : a.voids.sum[m], rate);
    if (a.number < 3) {
        a.voids.next[m] = lm_rk4_next(a.rk, 0, start, rate);
        a.voids.sum[m] = after;
    } else {
        each_periodic(d.s, d.walls_x, d.walls_y, i, j,
                      [&](unsigned to) { a.voids.next[component * d.s.pitch + to] = after; });
    }
}

/* The nodes of E as the arrays of a tile away from bodies have them. */
__device__ __forceinline__ struct lm_void_nodes nodes_of_tile(const stage_problem &a, const double *of)
{
    return {of + OF_PER_DENSITY * SIZE, NULL, a.d.sides, a.d.s.nx, a.d.s.ny, WIDTH};
}

/* Whether a node of cell (i, j) has a part E_v. The cell's element of the tile is m. */
__device__ __forceinline__ bool is_void_node(const stage_problem &a, const double *of, int i, int j, int m,
                                             int component, bool has_body)
{
    const struct lm_void_nodes here = nodes_of_tile(a, of);
    return has_body ? lm_is_void_node(&a.voids.nodes[1], component, (long)at(a.d.s, i, j))
                    : lm_is_void_node(&here, component, m);
}

/* What E of cell (i, j) has of E_v, also beyond walls. */
template <bool INSIDE>
__device__ __forceinline__ double void_e(const stage_problem &a, const double *of, int i, int j, int m, int component,
                                         bool has_body)
{
    const shape &s = a.d.s;
    const double *const from = a.voids.e + component * s.pitch;
    if constexpr (INSIDE)
        return is_void_node(a, of, i, j, m, component, has_body) ? from[at(s, i, j)] : 0.0;
    return lm_void_e(&a.voids.nodes[has_body], from, component, cell_along(i, s.nx, a.d.walls_x),
                     cell_along(j, s.ny, a.d.walls_y));
}

/* E_v of a cell after the stage. */
template <bool INSIDE>
__device__ __forceinline__ void advance_void(const stage_problem &a, const double *of, int i, int j, int m,
                                             bool has_body)
{
    LM_UNROLL
    for (int c = 0; c < 3; c++)
        if ((INSIDE || lm_is_own_e(c, i, j)) && is_void_node(a, of, i, j, m, c, has_body))
            advance_void_node(a, i, j, c, of[(OF_J + c) * SIZE + m],
                              has_body ? lm_void_open_part(&a.voids.nodes[1], c, (long)at(a.d.s, i, j)) : 1.0);
}

/* B of a cell after the stage. */
template <bool INSIDE>
__device__ __forceinline__ void advance_b(const stage_problem &a, int i, int j, struct lm_view e, bool has_body)
{
    const domain &d = a.d;
    const shape &s = d.s;
    const size_t k = at(s, i, j);
    const struct lm_vector v = lm_faraday(e, a.o.inv_dx, a.o.inv_dy);
    const double z = lm_corner_rate(has_body ? d.node + 3 * k : NULL, v.z);
    const double rate[3] = {v.x, v.y, a.battery ? z + a.battery[k] : z};
    LM_UNROLL
    for (int c = 0; c < 3; c++) {
        const bool held = !INSIDE && lm_is_held(&d.sides, c, i, j, s.nx, s.ny);
        double *const sum = a.sum + c * s.pitch + k;
        const double start = a.state[c * s.pitch + k],
                     after = lm_rk4_sum(a.rk, held, a.number == 0 ? start : *sum, rate[c]);
        if (a.number < 3)
            *sum = after;
        const double b = a.number == 3 ? after : lm_rk4_next(a.rk, held, start, rate[c]);
        double *const to = a.next + c * s.pitch;
        if constexpr (INSIDE)
            to[k] = b;
        else
            each_periodic(s, d.walls_x, d.walls_y, i, j, [&](size_t image) { to[image] = b; });
    }
}

/* Brings to shared memory what Ohm's law reads. */
template <bool INSIDE>
__device__ __forceinline__ void load(const stage_problem &a, const tile &t, tile_memory &memory, bool has_body)
{
    const size_t pitch = a.d.s.pitch;
    const auto bring = [&](int array, int m, const double *from) {
        __pipeline_memcpy_async(memory.of + array * SIZE + m, from, sizeof(double));
    };
    if (threadIdx.x == 0)
        memory.nodes_at_bodies = 0;
    t.each<tile::BEFORE, tile::AFTER>([&](int i, int j, int m) {
        const size_t k = cell<INSIDE>(a.d, i, j);
        LM_UNROLL
        for (int c = 0; c < 3; c++) {
            bring(OF_B + c, m, a.b + c * pitch + k);
            bring(OF_ION_CURRENT + c, m, a.ji + c * pitch + k);
        }
        bring(OF_ETA, m, a.eta + k);
        bring(OF_PER_DENSITY, m, a.d.per_density + k);
        if (has_body)
            memory.solid[m] = a.d.solid[k];
    });
    __pipeline_commit();
}

/* Brings near what the end of a stage reads of a cell. */
__device__ __forceinline__ void expect(const stage_problem &a, size_t k, bool has_void)
{
    LM_UNROLL
    for (int c = 0; c < 3; c++, k += a.d.s.pitch) {
        prefetch(a.state + k);
        if (a.number > 0)
            prefetch(a.sum + k);
        if (has_void) {
            prefetch(a.voids.e + k);
            prefetch(a.voids.state + k);
            if (a.number > 0)
                prefetch(a.voids.sum + k);
        }
    }
}

/* The stage in a tile inside that has nothing but void. */
__device__ __forceinline__ void advance_all_void(const stage_problem &a, const tile &t, tile_memory &memory)
{
    double *const of = memory.of, *const e = of + OF_E * SIZE;
    const size_t pitch = a.d.s.pitch;
    const auto bring = [&](int array, int m, const double *from) {
        __pipeline_memcpy_async(of + array * SIZE + m, from, sizeof(double));
    };
    t.each<tile::BEFORE, tile::AFTER>([&](int i, int j, int m) {
        const size_t k = at(a.d.s, i, j);
        LM_UNROLL
        for (int c = 0; c < 3; c++) {
            bring(OF_B + c, m, a.b + c * pitch + k);
            bring(OF_E + c, m, a.voids.e + c * pitch + k);
        }
        bring(OF_ETA, m, a.eta + k);
    });
    __pipeline_commit();
    t.each_own([&](int i, int j, int) { expect(a, at(a.d.s, i, j), true); });
    __pipeline_wait_prior(0);
    __syncthreads();
    t.each<1, 2>([&](int i, int j, int m) {
        tile::put(of + OF_J * SIZE, m, current_in_cell<true>(a, i, j, tile::view(of + OF_B * SIZE, m)));
    });
    __syncthreads();
    t.each<0, 1>([&](int, int, int m) {
        double resistive[3];
        lm_resistive_field(tile::view(of + OF_J * SIZE, m), of + OF_ETA * SIZE + m, WIDTH, &a.o, resistive);
        LM_UNROLL
        for (int c = 0; c < 3; c++)
            e[c * SIZE + m] += resistive[c];
    });
    __syncthreads();
    t.each_own([&](int i, int j, int m) {
        LM_UNROLL
        for (int c = 0; c < 3; c++)
            advance_void_node(a, i, j, c, of[(OF_J + c) * SIZE + m], 1.0);
        advance_b<true>(a, i, j, tile::view(e, m), false);
    });
}

/* The stage in a tile. */
template <bool INSIDE>
__device__ __forceinline__ void advance(const stage_problem &a, const tile &t, tile_memory &memory)
{
    double *const of = memory.of, *const e = of + OF_E * SIZE;
    const domain &d = a.d;
    const shape &s = d.s;
    const int marks = a.marks[t.number()];
    /* A void that has come since the last survey has no E_v yet. */
    const bool has_body = marks & HAS_BODY, has_void = a.voids.e && marks & HAS_VOID,
               has_walls = !INSIDE && (d.walls_x || d.walls_y),
               is_late = !INSIDE || has_body; /* E_v comes after E at walls and bodies */

    if (INSIDE && has_void && marks & ALL_VOID)
        return advance_all_void(a, t, memory);
    load<INSIDE>(a, t, memory, has_body);
    t.each_own([&](int i, int j, int) { expect(a, cell<INSIDE>(d, i, j), has_void); });
    __pipeline_wait_prior(0);
    __syncthreads();
    t.each<1, 2>([&](int i, int j, int m) {
        tile::put(of + OF_J * SIZE, m, current_in_cell<INSIDE>(a, i, j, tile::view(of + OF_B * SIZE, m)));
    });
    __syncthreads();
    t.each<0, 2>([&](int, int, int m) {
        const double *const ji = of + OF_ION_CURRENT * SIZE + m;
        const struct lm_motional f = lm_motional_field(tile::view(of + OF_J * SIZE, m), tile::view(of + OF_B * SIZE, m),
                                                       {ji[0], ji[SIZE], ji[2 * SIZE]}, of[OF_PER_DENSITY * SIZE + m]);
        tile::put(of + OF_MOTIONAL * SIZE, m, f.field);
        of[OF_SLIP * SIZE + m] = f.slip;
    });
    __syncthreads();
    t.each<0, 1>([&](int i, int j, int m) {
        double total[3];
        const bool own = INSIDE || has_own_e(d, i, j);
        if (own)
            ohms_law<INSIDE>(a, of, i, j, m, total);
        LM_UNROLL
        for (int c = 0; c < 3; c++) {
            if (a.voids.e && !is_late)
                total[c] += has_void ? void_e<INSIDE>(a, of, i, j, m, c, false) : 0.0;
            if (INSIDE || (own && lm_is_own_e(c, i, j)))
                e[c * SIZE + m] = total[c];
            else if (a.given_e)
                e[c * SIZE + m] = prescribed_e(a, c, i, j);
        }
    });
    if (has_body || has_walls)
        __syncthreads();
    if (has_body) {
        meet_bodies(a, t, memory);
        __syncthreads();
    }
    if (has_walls) {
        fill_walls(d, t, 0, e);
        fill_walls(d, t, 1, e);
        if (a.strip_e)
            fill_from_strips(a, t, e);
    }
    if (a.voids.e && is_late)
        t.each<0, 1>([&](int i, int j, int m) {
            LM_UNROLL
            for (int c = 0; c < 3; c++)
                e[c * SIZE + m] += has_void ? void_e<INSIDE>(a, of, i, j, m, c, has_body) : 0.0;
        });
    __syncthreads();
    if constexpr (!INSIDE)
        fill_open_sides(a, t, e);
    t.each_own([&](int i, int j, int m) {
        if (has_void && (INSIDE || (i >= -d.walls_x && j >= -d.walls_y && i < s.nx && j < s.ny)))
            advance_void<INSIDE>(a, of, i, j, m, has_body);
        if (INSIDE || (i < s.nx + (d.walls_x ? LM_GHOST - 1 : 0) && j < s.ny + (d.walls_y ? LM_GHOST - 1 : 0)))
            advance_b<INSIDE>(a, i, j, tile::view(e, m), has_body);
    });
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK, BLOCK == (int)MANY_TILES ? 4 : 1)
    stage_kernel(const __grid_constant__ stage_problem a)
{
    extern __shared__ double shared[];
    tile_memory &memory = *(tile_memory *)shared;
    const tile t(a.d, BLOCK);
    if (a.is_left && (!a.is_left[t.number()] || (a.number == 3 && a.is_covered[t.number()])))
        return;
    if (is_inside(a.d, t))
        advance<true>(a, t, memory);
    else
        advance<false>(a, t, memory);
}

} // namespace

/* The plain blocks of a step of B, with their arrays behind the marks of `tiles` tiles. */
static struct lm_gpu_plain plain_of(const struct lm_gpu *g, size_t tiles, bool voids)
{
    struct lm_gpu_plain p = lm_gpu_plain_of(g);
    uint8_t *const marks = g->general.marks;
    if (p.plasma.across + p.voids.across == 0)
        return p;
    p.is_left = marks + tiles;
    p.is_covered = marks + 2 * tiles;
    p.plasma.is_plain = marks + 3 * tiles;
    p.voids.is_plain = p.plasma.is_plain + (size_t)p.plasma.across * p.plasma.up;
    if (!voids)
        p.voids.across = 0;
    return p;
}

bool lm_gpu_has_whole_stages(const struct lm_gpu *g)
{
    return lm_gpu_strips_are_periodic(g) && !g->base.setup.local_eta && g->base.setup.friction_species == 0;
}

int lm_gpu_begin_stages(struct lm_gpu *g, bool voids)
{
    const dim3 tiles = tile::blocks(g);
    const size_t count = (size_t)tiles.x * tiles.y;
    if (!g->general.marks) {
        const struct lm_gpu_plain all = lm_gpu_plain_of(g);
        const size_t blocks = (size_t)all.plasma.across * all.plasma.up + (size_t)all.voids.across * all.voids.up;
        g->general.marks = (uint8_t *)lm_gpu_allocate(g, 3 * count + blocks, "tiles of the fields");
    }
    if (g->failed)
        return g->failed;
    mark_kernel<<<tiles, THREADS, 0, g->stream>>>(domain_of(g), g->array[LM_PER_DENSITY], g->general.marks);
    /* No stage stores the last ghost cells beyond walls. */
    if (lm_field_walls(&g->sides, 0) || lm_field_walls(&g->sides, 1)) {
        const size_t pitch = g->pitch * sizeof(double);
        lm_gpu_check(g,
                     cudaMemcpy2DAsync(g->next_b, pitch, g->array[LM_B], pitch,
                                       g->base.setup.grid.size * sizeof(double), 3, cudaMemcpyDeviceToDevice,
                                       g->stream),
                     "B beyond walls");
    }
    LM_GPU_LAUNCHED(g, "tiles of the fields");
    const struct lm_gpu_plain p = plain_of(g, count, voids);
    return p.is_left ? lm_gpu_find_plain(g, &p, g->general.marks, tiles) : g->failed;
}

/* Begins a substep of B in plain parts, beside the kernels that follow in the stream. */
static void fork_plain(struct lm_gpu *g, const struct lm_gpu_plain *p, enum lm_array ion_current, const double *battery,
                       double substep)
{
    lm_gpu_fork(g);
    if (p->plasma.across > 0)
        lm_gpu_advance_plain(g, &p->plasma, ion_current, battery, substep);
    if (p->voids.across > 0)
        lm_gpu_advance_void_blocks(g, &p->voids, battery, substep);
}

/* What a substep of B has put elsewhere becomes the state. */
static void take_next(struct lm_gpu *g, bool voids)
{
    double *const b = g->array[LM_B], *const void_e = g->array[LM_VOID_E];
    for (int d = 0; d < 3; d++) {
        g->array[LM_B + d] = g->next_b + d * g->pitch;
        if (voids)
            g->array[LM_VOID_E + d] = g->general.next_void + d * g->pitch;
    }
    g->next_b = b;
    if (voids)
        g->general.next_void = void_e;
}

/* Starts the kernel of a stage. After a kernel of strips it begins beside that one, where its code can wait for it
 * (fill_from_strips). So no kernel may come between both in the stream, and the strips must read nothing that a stage
 * writes: B and E_v of the next stage, and the sums. Tiles at radiating sides always wait, so that the next kernel of
 * strips, which begins when this stage has ended, meets the end of the one before. */
static void launch_stage(struct lm_gpu *g, const stage_problem &a, dim3 tiles, int threads,
                         void (*kernel)(const stage_problem))
{
    launch_early(g, a.strip_e != NULL, tiles, (unsigned)threads, sizeof(tile_memory), g->stream, kernel, a);
}

int lm_gpu_advance_stages(struct lm_gpu *g, enum lm_array ion_current, const double *battery, double substep,
                          bool is_first, bool voids)
{
    const dim3 tiles = tile::blocks(g);
    const bool few = tiles.x * tiles.y <= (unsigned)g->processors;
    auto *const kernel = few ? stage_kernel<FEW_TILES> : stage_kernel<MANY_TILES>;
    lm_gpu_check(g, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(tile_memory)),
                 "shared memory of a stage of B");
    /* B and E_v of stages 0 to 3, and after them. Those in between go to work arrays that nothing else uses in a step
     * of B. */
    double *const b[5] = {g->array[LM_B], g->general.motional, g->general.curl, g->general.motional, g->next_b};
    double *const void_e[5] = {g->array[LM_VOID_E], g->raw, g->general.e, g->raw, g->general.next_void};
    const struct lm_void_nodes nodes = lm_gpu_void_nodes(g);
    stage_problem a = {domain_of(g), g->base.setup.ohm};
    a.ji = g->array[ion_current];
    a.eta = g->array[LM_ETA];
    a.battery = battery;
    a.given_e = lm_any_prescribed_e(&g->sides) ? g->array[LM_E] : NULL;
    double *const strip_e = g->strips ? g->spare : NULL; /* three work arrays that nothing else uses in a step of B */
    a.strip_e = strip_e;
    a.state = b[0];
    a.sum = g->general.result;
    a.voids = {NULL,          void_e[0], NULL, g->spare + 4 * g->pitch, lm_void_speed2(&g->base.setup.grid, substep),
               {nodes, nodes}};
    a.voids.nodes[0].node = NULL;
    a.order = open_order_of(g);
    a.marks = g->general.marks;
    const struct lm_gpu_plain plain = plain_of(g, (size_t)tiles.x * tiles.y, voids);
    a.is_left = plain.is_left;
    a.is_covered = plain.is_covered;
    if (plain.is_left)
        fork_plain(g, &plain, ion_current, battery, substep);
    for (a.number = 0; a.number < 4; a.number++) {
        a.is_first = is_first && a.number == 0;
        a.rk = lm_rk4_stage(a.number, substep);
        a.b = b[a.number];
        a.next = b[a.number + 1];
        a.open = open_sides_of(g, substep, a.ji, a.b);
        a.voids.e = voids ? void_e[a.number] : NULL;
        a.voids.next = void_e[a.number + 1];
        if (strip_e)
            lm_gpu_advance_strips(g, a.number, a.b, a.ji, strip_e, substep);
        launch_stage(g, a, tiles, few ? FEW_TILES : MANY_TILES, kernel);
    }
    lm_gpu_join(g); /* plain parts, and the mean of B, which reads where the next substep writes */
    take_next(g, voids);
    return LM_GPU_LAUNCHED(g, "a substep of B");
}
