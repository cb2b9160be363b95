/* CUDA backend: Ohm's law and what the ions feel, with the first pass of the filter and the maxima that the host waits
 * for.
 *
 * A warp goes up a strip of columns. In ohm_kernel asynchronous copies bring the rows ahead of it into a ring in shared
 * memory. The force of the pressure is found in a kernel of its own, which leaves ohm_kernel the registers for more
 * warps.
 */
#include "fields/electric.cuh"

#include <cuda_pipeline.h>

#include "core/cells.cuh"
#include "core/early.cuh"
#include "core/halo.cuh"

#include "larmor/physics/fields/pressure_gradient.h"
#include "larmor/physics/fields/smoothing.h"

namespace
{

enum { RING = 4 }; /* rows of what comes from memory */

/* Warps of ohm_kernel on a multiprocessor at a time: as many as the registers are enough for. */
template <bool HYPER, bool SMOOTH, pressure_part PRESSURE>
constexpr int strips_of = !SMOOTH                           ? 16
                          : HYPER || PRESSURE == AT_CENTRES ? 8
                                                            : 12;

/* The arrays that come from memory. */
enum {
    OHM_B,
    OHM_J = 3,
    OHM_BEFORE = 6,
    OHM_N = 9,
    OHM_PER_DENSITY,
    OHM_PRESSURE,
    OHM_ETA = OHM_PRESSURE + 2,
    OHM_INPUTS
};

struct ohm_arrays {
    const double *b, *ji, *density, *per_density;
    const double *ji_before;   /* unless NULL, the ion current is extrapolated from this one and `ji` */
    const double *pressure[2]; /* LM_PRESSURE_E, unless the electrons are cold */
    const double *eta;         /* NULL for 0 */
    double *field, *push;      /* three arrays; six: E and B */
    struct lm_gpu_control *control;
    struct lm_cells own;     /* the cells whose E counts in the maxima */
    struct lm_cells limited; /* the cells whose B counts in the maxima */
};

/* A row of the ring. A lane reads only what it has loaded itself. */
struct ohm_row {
    double at[OHM_INPUTS][LANES];
};

__device__ __forceinline__ void load_vector(ohm_row &to, int which, const double *from, const shape &s, unsigned k)
{
    for (int d = 0; d < 3; d++)
        __pipeline_memcpy_async(&to.at[which + d][threadIdx.x], from + d * s.pitch + k, sizeof(double));
}

__device__ __forceinline__ void load_row(ohm_row &to, const ohm_arrays &a, const shape &s, unsigned k)
{
    load_vector(to, OHM_B, a.b, s, k);
    load_vector(to, OHM_J, a.ji, s, k);
    if (a.ji_before)
        load_vector(to, OHM_BEFORE, a.ji_before, s, k);
    __pipeline_memcpy_async(&to.at[OHM_N][threadIdx.x], a.density + k, sizeof(double));
    __pipeline_memcpy_async(&to.at[OHM_PER_DENSITY][threadIdx.x], a.per_density + k, sizeof(double));
    for (int d = 0; d < 2 && a.pressure[0]; d++)
        __pipeline_memcpy_async(&to.at[OHM_PRESSURE + d][threadIdx.x], a.pressure[d] + k, sizeof(double));
    if (a.eta)
        __pipeline_memcpy_async(&to.at[OHM_ETA][threadIdx.x], a.eta + k, sizeof(double));
}

__device__ __forceinline__ struct lm_vector vector_of(const ohm_row &r, int which)
{
    return {r.at[which][threadIdx.x], r.at[which + 1][threadIdx.x], r.at[which + 2][threadIdx.x]};
}

/* The rest of what Ohm's law reads in this lane's cell of a row. */
__device__ __forceinline__ plasma plasma_at(const ohm_row &row, const ohm_arrays &a, struct lm_vector ji, double eta)
{
    if (a.ji_before) {
        const struct lm_vector before = vector_of(row, OHM_BEFORE);
        ji = {lm_extrapolate_half_step(ji.x, before.x), lm_extrapolate_half_step(ji.y, before.y),
              lm_extrapolate_half_step(ji.z, before.z)};
    }
    return {ji,
            row.at[OHM_PER_DENSITY][threadIdx.x],
            eta,
            right(eta),
            {row.at[OHM_PRESSURE][threadIdx.x], row.at[OHM_PRESSURE + 1][threadIdx.x]}};
}

/* What the ions feel in three rows, for the filter: the last one is that of row j - 1. */
template <bool SMOOTH, int COUNT> struct push_rows {
    double centre[COUNT][3], sides[COUNT][3]; /* by arrays and rows: the value, and the sum left and right of it */

    __device__ __forceinline__ void add(int d, double push)
    {
        centre[d][0] = centre[d][1];
        centre[d][1] = centre[d][2];
        centre[d][2] = push;
        sides[d][0] = sides[d][1];
        sides[d][1] = sides[d][2];
        sides[d][2] = SMOOTH ? left(push) + right(push) : 0.0;
    }

    /* One array, after the filter in the middle row; without it in the last one. */
    __device__ __forceinline__ double result(int d) const
    {
        return SMOOTH ? lm_binomial_rows(centre[d], sides[d]) : centre[d][2];
    }
};

__device__ __forceinline__ void reduce_maxima(const struct lm_field_maxima &m, struct lm_gpu_control *control)
{
    LM_UNROLL
    for (int d = 0; d < 3; d++)
        lm_warp_max(&control->push_e[d], m.e[d]);
    lm_warp_max(&control->frequency, m.frequency);
    lm_warp_max(&control->eta, m.eta);
    lm_warp_sum(&control->floored, m.floored);
    lm_warp_sum(&control->voids, m.voids);
}

/* Writes what the ions feel in a cell, and its images. */
template <int COUNT>
__device__ __forceinline__ void store_felt(const shape &s, double *to, int i, int j, const double (&v)[COUNT])
{
    each_image(s, i, j, [&](unsigned k) {
        LM_UNROLL
        for (int d = 0; d < COUNT; d++)
            to[d * s.pitch + k] = v[d];
    });
}

/* E, what the ions feel after at most one pass of the filter, and the maxima for lm_control. */
template <bool HYPER, bool SMOOTH, pressure_part PRESSURE>
__global__ void __launch_bounds__(LANES, strips_of<HYPER, SMOOTH, PRESSURE>)
    ohm_kernel(shape s, ohm_arrays a, struct lm_ohm o, double k2, int rows)
{
    await_last();
    allow_next();
    enum { BEFORE = HALO + SMOOTH, AFTER = 1 + SMOOTH }; /* lanes and rows that E and the filter cost */
    const int lane = threadIdx.x, i = blockIdx.x * (LANES - BEFORE - AFTER) + lane - BEFORE, column = lm_wrap(i, s.nx);
    const bool mine = lane >= BEFORE && lane < LANES - AFTER && i < s.nx;
    const int first = blockIdx.y * rows, last = min(first + rows, s.ny);
    __shared__ ohm_row ring[RING];
    int row = lm_wrap(first - BEFORE, s.ny);
    auto load = [&](int j) {
        if (j < last + AFTER)
            load_row(ring[(j - first + BEFORE) % RING], a, s, (unsigned)at(s, column, row));
        __pipeline_commit();
        row = row + 1 == s.ny ? 0 : row + 1;
    };
    for (int j = first - BEFORE; j < first - BEFORE + RING - 1; j++)
        load(j);
    electric_rows<HYPER, PRESSURE, true> electric = {};
    push_rows<SMOOTH, FELT_PRESSURE> smoothed = {};
    struct lm_field_maxima maxima = {};
    for (int j = first - BEFORE; j < last + AFTER; j++) {
        load(j + RING - 1);
        __pipeline_wait_prior(RING - 1);
        const ohm_row &here = ring[(j - first + BEFORE) % RING];
        const double density = here.at[OHM_N][lane], eta = a.eta ? here.at[OHM_ETA][lane] : 0.0;
        const struct lm_vector b = vector_of(here, OHM_B), ji = vector_of(here, OHM_J);
        const plasma electrons = plasma_at(here, a, ji, eta);
        double total[3];
        electric.advance(b, left(b.y), left(b.z), electrons, o, total);
        const double felt[FELT_PRESSURE] = {electric.push_e.x, electric.push_e.y, electric.push_e.z,
                                            electric.push_b.x, electric.push_b.y, electric.push_b.z};
        LM_UNROLL
        for (int d = 0; d < FELT_PRESSURE; d++)
            smoothed.add(d, felt[d]);
        if (!mine)
            continue;
        if (j >= first && j < last && is_in(a.limited, i, j))
            lm_limit_frequency(&maxima, 0, electric.b_centre, ji, density, electrons.per_density, eta, k2, &o);
        if (j > first && j <= last)
            store_vector(s, a.field, i, j - 1, {total[0], total[1], total[2]});
        if (j >= first + AFTER) {
            const bool counts = is_in(a.own, i, j - AFTER);
            double push[FELT_PRESSURE];
            LM_UNROLL
            for (int d = 0; d < FELT_PRESSURE; d++) {
                push[d] = smoothed.result(d);
                if (counts && d < FELT_B)
                    maxima.e[d] = lm_larger_size(maxima.e[d], push[d]);
            }
            store_felt(s, a.push, i, j - AFTER, push);
        }
    }
    reduce_maxima(maxima, a.control);
}

/* What the pressure on the faces follows from, where p follows from n (pressure_gradient.h). */
struct pressure_arrays {
    const double *n;
    double least;         /* of n */
    double *field, *push; /* two arrays each: LM_PRESSURE_E, and what the ions feel of it */
    struct lm_gpu_control *control;
    struct lm_cells own; /* the cells that the maxima are of */
};

/* A tile: the faces that the filter reads, and the cells beside these faces. A thread stores ROWS cells, TY apart. */
template <bool SMOOTH> struct pressure_tile {
    enum {
        ROWS = 2,
        HEIGHT = ROWS * TY,
        BEYOND = SMOOTH, /* faces on each side of the tile */
        FACES_X = TX + 2 * BEYOND,
        FACES = FACES_X * (HEIGHT + 2 * BEYOND),
        CELLS_X = FACES_X + 1,
        CELLS = CELLS_X * (HEIGHT + 2 * BEYOND + 1)
    };
    double cell[CELLS]; /* the density; lm_pressure_potential where gamma > 1 */
    double field[2][FACES];
};

/* For the tile whose first cell is (i, j). */
template <bool SMOOTH>
__device__ __forceinline__ void fill_tile(pressure_tile<SMOOTH> &t, const shape &s, const pressure_arrays &a,
                                          const struct lm_ohm &o, int i, int j)
{
    typedef pressure_tile<SMOOTH> tile;
    __syncthreads(); /* the tile before has been read */
    for (int m = (int)threadIdx.x; m < tile::CELLS; m += THREADS) {
        const int column = lm_wrap_seldom(i - tile::BEYOND + m % tile::CELLS_X, s.nx),
                  row = lm_wrap_seldom(j - tile::BEYOND + m / tile::CELLS_X, s.ny);
        const double n = a.n[at(s, column, row)];
        t.cell[m] = o.gamma > 1.0 ? lm_pressure_potential(n, a.least, &o) : n;
    }
    __syncthreads();
    for (int m = (int)threadIdx.x; m < tile::FACES; m += THREADS) {
        const int k = m / tile::FACES_X * tile::CELLS_X + m % tile::FACES_X;
        const double *const here = t.cell + k; /* n or h; p is not read */
        t.field[0][m] = lm_pressure_field(here, here, here, a.least, 1, o.inv_dx, &o);
        t.field[1][m] = lm_pressure_field(here, here, here, a.least, tile::CELLS_X, o.inv_dy, &o);
    }
    __syncthreads();
}

/* -grad p / n on the faces, what the ions feel of it after at most one pass of the filter, and its maxima. A block
 * takes several tiles, so that few atomics follow. */
template <bool SMOOTH> __global__ void pressure_kernel(shape s, pressure_arrays a, struct lm_ohm o)
{
    typedef pressure_tile<SMOOTH> tile;
    __shared__ tile t;
    lm_u64 most[2] = {0, 0};
    o.evolved = 0; /* and so the compiler leaves out what it needs */
    const int across = (s.nx + TX - 1) / TX, up = (s.ny + tile::HEIGHT - 1) / tile::HEIGHT;
    const int column = (int)threadIdx.x % TX, first = (int)threadIdx.x / TX;
    for (int number = blockIdx.x; number < across * up; number += gridDim.x) {
        const int x = number % across * TX, y = number / across * tile::HEIGHT, i = x + column;
        fill_tile<SMOOTH>(t, s, a, o, x, y);
        for (int row = first; row < tile::HEIGHT && i < s.nx && y + row < s.ny; row += TY) {
            const int j = y + row;
            double field[2], push[2];
            LM_UNROLL
            for (int d = 0; d < 2; d++) {
                const double *const here = t.field[d] + (row + tile::BEYOND) * tile::FACES_X + column + tile::BEYOND;
                field[d] = here[0];
                push[d] = SMOOTH ? lm_binomial(here, tile::FACES_X) : here[0];
                if (is_in(a.own, i, j))
                    most[d] = lm_larger_size(most[d], push[d]);
            }
            store_felt(s, a.field, i, j, field);
            store_felt(s, a.push, i, j, push);
        }
    }
    lm_block_reduce<true>(a.control->push_pressure, most);
}

struct ohm_variant {
    void (*kernel)(shape, ohm_arrays, struct lm_ohm, double, int);
    int strips;
};

template <bool HYPER, bool SMOOTH, pressure_part PRESSURE> ohm_variant variant()
{
    return {ohm_kernel<HYPER, SMOOTH, PRESSURE>, strips_of<HYPER, SMOOTH, PRESSURE>};
}

template <pressure_part PRESSURE> ohm_variant variant_for(bool hyper, bool smooth)
{
    return hyper ? (smooth ? variant<true, true, PRESSURE>() : variant<true, false, PRESSURE>())
                 : (smooth ? variant<false, true, PRESSURE>() : variant<false, false, PRESSURE>());
}

/* LM_PRESSURE_E, and what the ions feel of it after at most one pass of the filter, in two arrays from `push` on. */
int find_pressure_on_faces(struct lm_gpu *g, enum lm_array level, double *push, cudaStream_t stream)
{
    const struct lm_ohm *o = &g->base.setup.ohm;
    const pressure_arrays a = {g->array[level], lm_least_push_density(o), g->array[LM_PRESSURE_E], push,
                               g->control,      g->base.setup.grid.own};
    auto kernel = g->base.setup.smoothing > 0 ? pressure_kernel<true> : pressure_kernel<false>;
    kernel<<<reduction_blocks(g), THREADS, 0, stream>>>(shape_of(g), a, *o);
    return LM_GPU_LAUNCHED(g, "pressure in Ohm's law");
}

int find_evolved_pressure(struct lm_gpu *g, enum lm_array level)
{
    lm_gpu_evolved_pressure(g);
    return lm_gpu_pressure_field(g, g->array[level], lm_least_push_density(&g->base.setup.ohm), false);
}

} // namespace

int lm_gpu_begin_pressure(struct lm_gpu *g)
{
    if (g->found_pressure || g->general.used || !lm_has_pressure_on_faces(&g->base.setup.ohm) ||
        g->base.setup.smoothing > 1)
        return g->failed;
    g->found_pressure = 1;
    lm_gpu_begin_maxima(g);
    lm_gpu_fork(g);
    return find_pressure_on_faces(g, LM_N_NEW, g->array[LM_PUSH_PRESSURE], g->beside.stream);
}

int lm_gpu_ohm(struct lm_backend *b, enum lm_ohm_current current)
{
    lm_gpu_range range("ohm");
    struct lm_gpu *g = lm_gpu_of(b);
    if (g->general.used)
        return lm_gpu_general_ohm(g, current);
    const struct lm_ohm *o = &b->setup.ohm;
    const bool ahead = current != LM_OHM_OLD, hyper = o->eta_hyper > 0, smooth = b->setup.smoothing > 0,
               pressure = lm_has_pressure(o);
    const enum lm_array level = ahead ? LM_N_NEW : LM_N_OLD;
    const int passes_left = smooth ? b->setup.smoothing - 1 : 0;
    const bool surveyed = current == LM_OHM_MEAN && g->found_b;
    if (ahead && surveyed == g->found_b)
        lm_gpu_join(g);
    else
        lm_gpu_forget_beside(g);
    const bool found = g->found_pressure;
    const struct lm_cells none = {0, 0, 0, 0};
    const ohm_arrays a = {g->array[LM_B],
                          g->array[level + 1],
                          g->array[level],
                          g->array[LM_PER_DENSITY],
                          ahead ? g->array[LM_J_OLD] : NULL,
                          {pressure ? g->array[LM_PRESSURE_E] : NULL, g->array[LM_PRESSURE_E + 1]},
                          g->resistive ? g->array[LM_ETA] : NULL,
                          g->array[LM_E],
                          passes_left % 2 ? g->spare : g->array[LM_PUSH_E], /* so that the last pass ends there */
                          g->control,
                          b->setup.grid.own,
                          surveyed ? none : b->setup.grid.own};
    const ohm_variant chosen = !pressure    ? variant_for<NO_PRESSURE>(hyper, smooth)
                               : o->evolved ? variant_for<AT_CENTRES>(hyper, smooth)
                                            : variant_for<ON_FACES>(hyper, smooth);
    int rows;
    dim3 strips = cut_into_strips(g, LANES - HALO - 1 - 2 * smooth, chosen.strips, &rows);
    lm_gpu_begin_maxima(g);
    g->begun_maxima = g->found_pressure = 0;
    lm_gpu_find_per_density(g, level);
    if (pressure && o->evolved)
        find_evolved_pressure(g, level);
    else if (pressure && !found)
        find_pressure_on_faces(g, level, a.push + FELT_PRESSURE * g->pitch, g->stream);
    launch_early(g, lm_gpu_is_small(g), strips, LANES, 0, g->stream, chosen.kernel, shape_of(g), a, *o,
                 lm_largest_k2(&b->setup.grid, o->inv_dx, o->inv_dy), rows);
    LM_GPU_LAUNCHED(g, "Ohm's law");
    if (passes_left > 0)
        lm_gpu_smooth(g, g->array[LM_PUSH_E], lm_has_pressure_on_faces(o) ? FELT_ARRAYS : FELT_PRESSURE, passes_left);
    if (lm_halo_needs_moments(g->base.setup.halo))
        lm_gpu_halo_refresh(g, g->array + LM_PUSH_E, FELT_ARRAYS);
    return passes_left > 0 ? lm_gpu_level_maxima(g, level) : g->failed;
}
