/* CUDA backend: one stage of the advection of a background field.
 *
 * A warp takes a piece of 31 columns and goes up its rows; warps do not wait for each other. Lane l forms the fluxes
 * through the right face of column l - 1 and through the upper face of it, so that each face is done once; its
 * neighbour's comes by a shuffle, the one of the row below is kept. Rows come by asynchronous copies into a ring in
 * shared memory, whose windows lie along the row and up the ring.
 */
#ifndef LARMOR_FLUID_ADVECT_CUH
#define LARMOR_FLUID_ADVECT_CUH

#include <cuda_pipeline.h>

#include "core/grid.cuh"
#include "larmor/physics/fluid/advect.h"

namespace
{

enum { PIECE_COLUMNS = LANES - 1, PIECE_WARPS = 2 };

/* Of a multiprocessor: as many as do without spilled registers. */
constexpr int blocks(int scheme, bool limited)
{
    return limited ? 8 : scheme == LM_WENO_MOST ? 10 : 12;
}

/* Pieces of one kind. */
struct pieces {
    const uint32_t *list; /* their numbers */
    unsigned count, blocks;
    int rows; /* of a piece */
};

struct stage {
    shape grid;
    int periodic_x, periodic_y;
    int across; /* pieces in a row of them */
    struct pieces beside, in_free;
    struct lm_advect by;
    struct lm_bounds bounds;
    const double *q0, *q, *vx, *vy, *source;
    const uint8_t *clearance;
    int sides[LM_SIDES];
    const double *inflow[LM_SIDES];
    double *to;
    struct lm_gpu_advected *found;
};

/* Adds a whole number to a wide sum. */
__device__ __forceinline__ void tally(lm_u64 *to, double whole)
{
    struct lm_wide k = {0, 0};
    lm_wide_add(&k, whole);
    atomicAdd(&to[0], (lm_u64)k.high);
    atomicAdd(&to[1], (lm_u64)k.low);
}

__device__ __forceinline__ int wrapped(int k, int n)
{
    return ((k % n) + n) % n;
}

/* The ring of a warp: rows of PITCH elements, both powers of two, so that an index wraps by a mask. */
template <int SCHEME> struct ring {
    enum {
        REACH = SCHEME > 1 ? SCHEME : 1,
        ROWS = REACH == 1   ? 4
               : REACH <= 3 ? 8
                            : 16,     /* above 2 REACH */
        AHEAD = ROWS - 2 * REACH - 1, /* rows on their way beyond those in use */
        COLUMNS = PIECE_COLUMNS + 2 * REACH,
        PITCH = 64,
        SIZE = ROWS * PITCH
    };
};

/* Units through a face. The cells across it are those at `at`, at + step, ... of the ring; before and behind: rooms of
 * the two on it. */
template <int SCHEME, bool SINGLE, bool LIMITED, bool BESIDE>
__device__ __forceinline__ double units(const stage &s, double u, double factor, double diffusion, int before,
                                        int behind, const double *cells, int at, int step)
{
    typedef ring<SCHEME> R;
    const struct lm_bounds *bounds = LIMITED ? &s.bounds : NULL;
    double value, w[LM_WENO_WINDOW];
    if (BESIDE && (!before || !behind))
        return 0.0;
    if (SCHEME == 0) {
        value = 0.5 * (cells[at & (R::SIZE - 1)] + cells[(at + step) & (R::SIZE - 1)]);
    } else {
        const int first = u > 0.0 ? at : at + (2 * R::REACH - 1) * step, next = u > 0.0 ? step : -step;
        LM_UNROLL
        for (int m = 0; m < 2 * R::REACH - 1; m++)
            w[m] = cells[(first + m * next) & (R::SIZE - 1)];
        value = BESIDE ? lm_weno_nested(SCHEME, u > 0.0 ? before : behind, SINGLE, bounds, w)
                       : lm_weno_between(SCHEME, SCHEME, SINGLE, bounds, w);
    }
    double k = lm_advective_flux(u, value, factor);
    if (diffusion > 0.0) {
        const int before_it = at + (R::REACH - 1) * step;
        const double pair[2] = {cells[before_it & (R::SIZE - 1)], cells[(before_it + step) & (R::SIZE - 1)]};
        k += lm_diffusive_flux(pair, diffusion);
    }
    return k;
}

/* Units through cell n of a side; `inside`: what is in the cell. */
__device__ __forceinline__ double on_side(const stage &s, int side, double u, int n, double inside, double factor)
{
    const double *inflow = s.inflow[side];
    return lm_side_flux(s.sides[side], u, side % 2 ? -u : u, inside, inflow ? inflow[n] : 0.0, factor);
}

/* A piece; `cells` is the warp's ring. */
template <int SCHEME, bool SINGLE, bool LIMITED, bool BESIDE>
__device__ __forceinline__ void advance(const stage &s, unsigned piece, int rows, double *cells)
{
    typedef ring<SCHEME> R;
    const int lane = (int)threadIdx.x;
    const int nx = s.grid.nx, ny = s.grid.ny;
    const int x0 = (int)(piece % (unsigned)s.across) * PIECE_COLUMNS, j0 = (int)(piece / (unsigned)s.across) * rows;
    const int j1 = j0 + rows < ny ? j0 + rows : ny, i = x0 - 1 + lane;
    const int own = lane > 0 && i < nx, column = i < nx ? i : nx - 1;

    /* Rows on their way into the ring. Beyond sides that are not periodic the opposite one's cells are as good as any.
     */
    int coming = j0 - R::REACH, coming_row = wrapped(coming, ny);
    const double *from = s.q + (size_t)(coming_row + LM_GHOST) * s.grid.stride + LM_GHOST;
    const int first = wrapped(x0 - R::REACH + lane, nx), second = wrapped(x0 - R::REACH + LANES + lane, nx);
    auto fetch = [&] {
        if (coming < j1 + R::REACH) {
            double *to = &cells[(coming * R::PITCH) & (R::SIZE - 1)];
            __pipeline_memcpy_async(&to[lane], &from[first], sizeof *to);
            if (lane < R::COLUMNS - LANES)
                __pipeline_memcpy_async(&to[LANES + lane], &from[second], sizeof *to);
        }
        __pipeline_commit();
        coming++;
        from += s.grid.stride;
        if (++coming_row == ny) {
            coming_row = 0;
            from -= (size_t)ny * s.grid.stride;
        }
    };
    for (int n = 0; n < 2 * R::REACH + R::AHEAD; n++)
        fetch();

    double below = 0.0;
    unsigned k = (unsigned)at(s.grid, column, j0 - 1);
    struct {
        double u, v, q0;
    } next;
    auto load = [&](unsigned n) -> decltype(next) { return {s.vx[n], s.vy[n], s.q0 != s.q ? s.q0[n] : 0.0}; };
    next = load(k); /* a row ahead */
    for (int j = j0 - 1; j < j1; j++, k += (unsigned)s.grid.stride) {
        const double u = next.u, v = next.v, old = next.q0;
        next = load(k + (unsigned)s.grid.stride);
        int mine = 0, right = 0, up = 0;
        if (BESIDE) {
            mine = s.clearance[k];
            right = s.clearance[k + 1];
            up = s.clearance[k + s.grid.stride];
        }
        __pipeline_wait_prior(R::AHEAD);
        __syncwarp();
        fetch(); /* in place of row j - REACH */

        const int here = j * R::PITCH + lane - 1 + R::REACH; /* the cell's place, but for the mask */
        const double q = cells[here & (R::SIZE - 1)];
        double above =
            units<SCHEME, SINGLE, LIMITED, BESIDE>(s, v, s.by.y, s.by.ky, lm_clearance_y(mine), lm_clearance_y(up),
                                                   cells, here - (R::REACH - 1) * R::PITCH, R::PITCH);
        if (BESIDE && !s.periodic_y && (j < 0 || j == ny - 1)) {
            const int high = j >= 0, inner = high ? here : here + R::PITCH;
            above = (high ? mine : up) && own
                        ? on_side(s, high ? LM_Y_MAX : LM_Y_MIN, v, column, cells[inner & (R::SIZE - 1)], s.by.y)
                        : 0.0;
            if (above != 0.0)
                tally(s.found->crossed[high ? LM_Y_MAX : LM_Y_MIN], above);
        }
        if (j >= j0) {
            double x = units<SCHEME, SINGLE, LIMITED, BESIDE>(s, u, s.by.x, s.by.kx, lm_clearance_x(mine),
                                                              lm_clearance_x(right), cells, here - (R::REACH - 1), 1);
            if (BESIDE && !s.periodic_x && (i < 0 || i == nx - 1)) {
                const int high = i >= 0, inner = high ? here : here + 1;
                x = (high ? mine : right)
                        ? on_side(s, high ? LM_X_MAX : LM_X_MIN, u, j, cells[inner & (R::SIZE - 1)], s.by.x)
                        : 0.0;
                if (x != 0.0)
                    tally(s.found->crossed[high ? LM_X_MAX : LM_X_MIN], x);
            }
            double gain = (left(x) - x) + (below - above);
            if (s.source)
                gain += lm_trunc(s.source[k] * s.by.source);
            if (own)
                s.to[k] = lm_advect_update(&s.by, s.q0 != s.q ? old : q, q, gain);
        }
        below = above;
    }
}

/* The pieces beside solids come first: they take longest. With bounds all pieces go the way of those. */
template <int SCHEME, bool SINGLE, bool LIMITED>
__global__ void __launch_bounds__(LANES *PIECE_WARPS, blocks(SCHEME, LIMITED)) stage_kernel(stage s)
{
    __shared__ double rings[PIECE_WARPS][ring<SCHEME>::SIZE];
    const bool beside = blockIdx.x < s.beside.blocks;
    const struct pieces &p = beside ? s.beside : s.in_free;
    const unsigned number = (blockIdx.x - (beside ? 0 : s.beside.blocks)) * PIECE_WARPS + threadIdx.y;
    if (number >= p.count)
        return; /* the whole warp */
    if (LIMITED || beside)
        advance<SCHEME, SINGLE, LIMITED, true>(s, p.list[number], p.rows, rings[threadIdx.y]);
    else
        advance<SCHEME, SINGLE, LIMITED, false>(s, p.list[number], p.rows, rings[threadIdx.y]);
}

} // namespace

#endif
