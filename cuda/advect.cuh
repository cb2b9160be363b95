/* CUDA backend: one stage of the advection of a background field.
 *
 * A warp takes a piece of 31 columns and goes up its rows; warps do not wait for each other. Lane l forms the fluxes
 * through the right face of column l - 1 and through the upper face of it, so that each face is done once; its
 * neighbour's comes by a shuffle, the one of the row below is kept. Rows come by asynchronous copies into a ring in
 * shared memory, whose windows lie along the row and up the ring.
 */
#ifndef LARMOR_ADVECT_CUH
#define LARMOR_ADVECT_CUH

#include <cuda_pipeline.h>

#include "grid.cuh"
#include "larmor/physics/advect.h"

namespace
{

enum { PIECE_COLUMNS = LANES - 1, PIECE_WARPS = 2 };

struct stage {
    shape grid;
    int periodic_x, periodic_y;
    int across, rows;     /* pieces in a row of them; rows of a piece */
    const uint32_t *list; /* numbers of the pieces, or NULL: all */
    unsigned pieces;
    struct lm_advect by;
    struct lm_bounds bounds;
    const double *q0, *q, *vx, *vy, *source;
    const uint8_t *room;
    int sides[LM_SIDES];
    const double *inflow[LM_SIDES];
    double *to;
    struct lm_gpu_advected *found;
    int last; /* the field as it is then is surveyed */
};

/* Bits that order like all numbers do. */
__device__ __forceinline__ lm_u64 ordered(double x)
{
    lm_u64 b = (lm_u64)__double_as_longlong(x);
    return b >> 63 ? ~b : b | 0x8000000000000000ull;
}

struct wide {
    long long high, low;

    __device__ __forceinline__ void add(double whole)
    {
        long long k = (long long)whole;
        high += k >> LM_WIDE_BITS;
        low += k & ((1 << LM_WIDE_BITS) - 1);
    }

    __device__ __forceinline__ void give(lm_u64 *to) const
    {
        lm_warp_sum(&to[0], (lm_u64)high);
        lm_warp_sum(&to[1], (lm_u64)low);
    }
};

__device__ __forceinline__ int inside(int k, int n, int periodic)
{
    return periodic ? ((k % n) + n) % n : k < 0 ? 0 : k >= n ? n - 1 : k;
}

template <int SCHEME> struct ring {
    enum {
        REACH = SCHEME > 1 ? SCHEME : 1,
        ROWS = REACH == 1   ? 4
               : REACH <= 3 ? 8
                            : 16,     /* a power of two, above 2 REACH */
        AHEAD = ROWS - 2 * REACH - 1, /* rows on their way beyond those in use */
        COLUMNS = PIECE_COLUMNS + 2 * REACH
    };
};

/* The window of the cell upwind of a face, through `cell(m)`, m from before the face to behind it. */
template <int REACH, class F> __device__ __forceinline__ void window(double u, double *w, F cell)
{
    const int first = u > 0.0 ? 0 : 2 * REACH - 1, step = u > 0.0 ? 1 : -1;
    LM_UNROLL
    for (int m = 0; m < 2 * REACH - 1; m++)
        w[m] = cell(first + m * step);
}

/* What comes through a face: `cell(m)` as above, before and behind the rooms of the two cells on it. */
template <int SCHEME, bool SINGLE, bool LIMITED, bool BESIDE, class F>
__device__ __forceinline__ double units(const stage &s, double u, double factor, double diffusion, int before,
                                        int behind, F cell)
{
    constexpr int REACH = ring<SCHEME>::REACH;
    const struct lm_bounds *bounds = LIMITED ? &s.bounds : NULL;
    double value, w[LM_WENO_WINDOW];
    if (BESIDE && (!before || !behind))
        return 0.0;
    if (SCHEME == 0) {
        value = 0.5 * (cell(0) + cell(1));
    } else {
        window<REACH>(u, w, cell);
        value = BESIDE ? lm_weno_nested(SCHEME, u > 0.0 ? before : behind, SINGLE, bounds, w)
                       : lm_weno_between(SCHEME, SCHEME, SINGLE, bounds, w);
    }
    double k = lm_carried(u, value, factor);
    if (diffusion > 0.0)
        k += lm_diffused(cell(REACH - 1), cell(REACH), diffusion);
    return k;
}

template <int SCHEME, bool SINGLE, bool LIMITED, bool BESIDE>
__global__ void __launch_bounds__(LANES *PIECE_WARPS) stage_kernel(stage s)
{
    typedef ring<SCHEME> R;
    __shared__ double rings[PIECE_WARPS][R::ROWS][R::COLUMNS];
    const int lane = (int)threadIdx.x;
    unsigned piece = blockIdx.x * PIECE_WARPS + threadIdx.y;
    if (piece >= s.pieces)
        return; /* the whole warp */
    if (s.list)
        piece = s.list[piece];
    double(*const row)[R::COLUMNS] = rings[threadIdx.y];
    const int nx = s.grid.nx, ny = s.grid.ny;
    const int x0 = (int)(piece % (unsigned)s.across) * PIECE_COLUMNS, j0 = (int)(piece / (unsigned)s.across) * s.rows;
    const int j1 = j0 + s.rows < ny ? j0 + s.rows : ny, i = x0 - 1 + lane;
    const int own = lane > 0 && i < nx, column = i < nx ? i : nx - 1;
    const int first = inside(x0 - R::REACH + lane, nx, s.periodic_x) + LM_GHOST;
    const int second = inside(x0 - R::REACH + LANES + lane, nx, s.periodic_x) + LM_GHOST;

    auto fetch = [&](int j) {
        if (j < j1 + R::REACH) {
            const double *from = s.q + (size_t)(inside(j, ny, s.periodic_y) + LM_GHOST) * s.grid.stride;
            double *to = row[j & (R::ROWS - 1)];
            __pipeline_memcpy_async(&to[lane], &from[first], sizeof *to);
            if (LANES + lane < R::COLUMNS)
                __pipeline_memcpy_async(&to[LANES + lane], &from[second], sizeof *to);
        }
        __pipeline_commit();
    };
    for (int j = j0 - R::REACH; j <= j0 - 1 + R::REACH + R::AHEAD; j++)
        fetch(j);

    wide total = {0, 0}, given = {0, 0}, x_min = {0, 0}, x_max = {0, 0}, y_min = {0, 0}, y_max = {0, 0};
    lm_u64 least = ~0ull, most = 0;
    const double per_quantum = 1.0 / s.by.unit;
    double below = 0.0;
    for (int j = j0 - 1; j < j1; j++) {
        const size_t k = at(s.grid, column, j);
        const double u = s.vx[k], v = s.vy[k];
        const double old = s.q0 != s.q ? s.q0[k] : 0.0;
        int mine = 0, right = 0, up = 0;
        if (BESIDE) {
            mine = s.room[k];
            right = s.room[k + 1];
            up = s.room[k + s.grid.stride];
        }
        __pipeline_wait_prior(R::AHEAD);
        __syncwarp();
        fetch(j + 1 + R::REACH + R::AHEAD); /* takes the place of row j - REACH */

        const int middle = lane - 1 + R::REACH;
        auto upwards = [&](int m) { return row[(j - R::REACH + 1 + m) & (R::ROWS - 1)][middle]; };
        double above =
            units<SCHEME, SINGLE, LIMITED, BESIDE>(s, v, s.by.y, s.by.ky, lm_room_y(mine), lm_room_y(up), upwards);
        if (BESIDE && !s.periodic_y && (j < 0 || j == ny - 1)) {
            const int high = j >= 0;
            const double *inflow = s.inflow[high ? LM_Y_MAX : LM_Y_MIN];
            above = (high ? mine : up) && own ? lm_side_units(s.sides[high ? LM_Y_MAX : LM_Y_MIN], v, high ? -v : v,
                                                              row[(high ? j : 0) & (R::ROWS - 1)][middle],
                                                              inflow ? inflow[column] : 0.0, s.by.y)
                                              : 0.0;
            if (high)
                y_max.add(above);
            else
                y_min.add(above);
        }
        if (j >= j0) {
            const double *across = row[j & (R::ROWS - 1)] + lane;
            auto along = [&](int m) { return across[m]; };
            double x =
                units<SCHEME, SINGLE, LIMITED, BESIDE>(s, u, s.by.x, s.by.kx, lm_room_x(mine), lm_room_x(right), along);
            if (BESIDE && !s.periodic_x && (i < 0 || i == nx - 1)) {
                const int high = i >= 0;
                const double *inflow = s.inflow[high ? LM_X_MAX : LM_X_MIN];
                x = (high ? mine : right)
                        ? lm_side_units(s.sides[high ? LM_X_MAX : LM_X_MIN], u, high ? -u : u,
                                        across[high ? R::REACH - 1 : R::REACH], inflow ? inflow[j] : 0.0, s.by.x)
                        : 0.0;
                if (high)
                    x_max.add(x);
                else
                    x_min.add(x);
            }
            double gain = (left(x) - x) + (below - above);
            const double q = across[R::REACH - 1];
            if (s.source) {
                const double from_source = lm_whole(s.source[k] * s.by.source);
                gain += from_source;
                if (own)
                    given.add(from_source);
            }
            const double next = lm_advect_update(&s.by, s.q0 != s.q ? old : q, q, gain);
            if (own)
                s.to[k] = next;
            if (s.last && own) {
                total.add(next * per_quantum);
                if (!BESIDE || mine) {
                    const lm_u64 bits = ordered(next);
                    least = bits < least ? bits : least;
                    most = bits > most ? bits : most;
                }
            }
        }
        below = above;
    }
    if (s.last) {
        total.give(s.found->total);
        lm_warp_max(&s.found->most, most);
        lm_warp_max(&s.found->not_least, ~least);
    }
    if (s.source)
        given.give(s.found->source);
    if (BESIDE && !s.periodic_x) {
        x_min.give(s.found->crossed[LM_X_MIN]);
        x_max.give(s.found->crossed[LM_X_MAX]);
    }
    if (BESIDE && !s.periodic_y) {
        y_min.give(s.found->crossed[LM_Y_MIN]);
        y_max.give(s.found->crossed[LM_Y_MAX]);
    }
}

} // namespace

#endif
