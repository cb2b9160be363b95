/* CUDA backend: one stage of the advection of a background field.
 *
 * A warp takes a piece of 31 columns and goes up its rows. Warps do not wait for each other. Lane l computes the fluxes
 * through the right face of column l - 1 and through the upper face of that column, so that each face is computed once.
 * The flux through the left face comes from the neighbouring lane by a shuffle, the one through the lower face is kept
 * from the row below. Rows come by asynchronous copies into a ring in shared memory. The WENO windows lie along a row
 * and up the ring.
 *
 * Rates of `larmor bench advect`, 4096 x 4096 cells, double precision, one H200, in 10^9 cells and right-hand sides a
 * second (2026-11-21, commit d79fa87): WENO5 67.4, WENO7 47.5, WENO9 33.7; past a body 98 % of these.
 */
#ifndef LARMOR_FLUID_ADVECT_CUH
#define LARMOR_FLUID_ADVECT_CUH

#include <cuda_pipeline.h>

#include "core/grid.cuh"
#include "larmor/physics/fluid/advect.h"
#include "larmor/physics/fluid/face_value.h"

namespace
{

enum { PIECE_COLUMNS = LANES - 1, PIECE_WARPS = 2 };

/* Blocks of a multiprocessor: as many as need no spilled registers. */
constexpr int blocks(int scheme, bool limited)
{
    return limited ? 8 : scheme == LM_WENO_MOST ? 10 : 12;
}

/* The pieces of one kind. */
struct pieces {
    const uint32_t *list; /* their numbers */
    unsigned count, blocks;
    int rows; /* of a piece */
};

struct stage {
    shape grid;
    int periodic_x, periodic_y;
    int across; /* pieces side by side in x */
    struct pieces near_body, in_free;
    struct lm_advect by;
    struct lm_bounds bounds;
    const double *q0, *q, *vx, *vy, *source;
    const uint8_t *clearance;      /* lm_stencil_clearance */
    const struct lm_opening *open; /* lm_openings_fill; read by kernels with CUT only */
    int sides[LM_SIDES];           /* enum lm_background_side */
    struct lm_cells own;           /* what crosses a side before these cells is counted */
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

/* The ring of a warp has ROWS rows of PITCH elements. Both are powers of two, so that an index wraps by a mask. */
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

/* The rows of a piece on their way into the ring. Beyond a side that is not periodic the ring has the cells of the
 * opposite side; no flux uses them. */
template <int SCHEME> struct row_copies {
    typedef ring<SCHEME> R;
    int coming;         /* the next row to copy */
    const double *from; /* the row of the domain that it is an image of, and the number of that */
    int row;
    int first, second; /* the columns of the domain that this lane copies */

    __device__ __forceinline__ void begin(const stage &s, int x0, int j0, int lane)
    {
        coming = j0 - R::REACH;
        row = wrapped(coming, s.grid.ny);
        from = s.q + (size_t)(row + LM_GHOST) * s.grid.stride + LM_GHOST;
        first = wrapped(x0 - R::REACH + lane, s.grid.nx);
        second = wrapped(x0 - R::REACH + LANES + lane, s.grid.nx);
    }

    /* Starts the copy of the next row, of those before `end`. */
    __device__ __forceinline__ void fetch(const stage &s, int end, int lane, double *cells)
    {
        if (coming < end) {
            double *to = &cells[(coming * R::PITCH) & (R::SIZE - 1)];
            __pipeline_memcpy_async(&to[lane], &from[first], sizeof *to);
            if (lane < R::COLUMNS - LANES)
                __pipeline_memcpy_async(&to[LANES + lane], &from[second], sizeof *to);
        }
        __pipeline_commit();
        coming++;
        from += s.grid.stride;
        if (++row == s.grid.ny) {
            row = 0;
            from -= (size_t)s.grid.ny * s.grid.stride;
        }
    }
};

/* What is open of the cells at k and `next` and of the face between them: with CUT from the arrays, else all. */
template <bool CUT> struct open_face {
    bool before, behind; /* whether a body cuts the cell */
    double length;
    __device__ __forceinline__ open_face(const stage &s, int axis, unsigned k, unsigned next)
        : before(CUT && s.open[k].volume != 1.0f), behind(CUT && s.open[next].volume != 1.0f),
          length(CUT ? lm_opening_at(s.open, axis, (long)k) : 1.0)
    {
    }
    __device__ __forceinline__ double of(double factor) const
    {
        return CUT ? factor * length : factor;
    }
};

/* The flux through a face in units of the stage. The cells across it are those at `at`, at + step, ... of the ring.
 * `before` and `behind` are the clearances of the two cells of the face. */
template <int SCHEME, bool SINGLE, bool LIMITED, bool NEAR_BODY, bool CUT>
__device__ __forceinline__ double face_flux(const stage &s, double u, double factor, double diffusion, int before,
                                            int behind, const open_face<CUT> &open, const double *cells, int at,
                                            int step)
{
    typedef ring<SCHEME> R;
    const struct lm_bounds *bounds = LIMITED ? &s.bounds : NULL;
    double value, w[LM_WENO_WINDOW];
    if (NEAR_BODY && (!before || !behind))
        return 0.0;
    if (SCHEME == 0) {
        value = 0.5 * (cells[at & (R::SIZE - 1)] + cells[(at + step) & (R::SIZE - 1)]);
    } else {
        const int first = u > 0.0 ? at : at + (2 * R::REACH - 1) * step, next = u > 0.0 ? step : -step;
        LM_UNROLL
        for (int m = 0; m < 2 * R::REACH - 1; m++)
            w[m] = cells[(first + m * next) & (R::SIZE - 1)];
        if (CUT && lm_is_beside_body(SCHEME, u > 0.0 ? open.before : open.behind, u > 0.0 ? before : behind,
                                     u > 0.0 ? behind : before))
            value = lm_value_beside_body(w[R::REACH - 1], cells[(first + R::REACH * next) & (R::SIZE - 1)],
                                         cells[(first + (R::REACH + 1) * next) & (R::SIZE - 1)], bounds);
        else
            value = NEAR_BODY ? lm_weno_nested(SCHEME, u > 0.0 ? before : behind, SINGLE, bounds, w)
                              : lm_weno_between(SCHEME, SCHEME, SINGLE, bounds, w);
    }
    double flux = lm_advective_flux(u, value, open.of(factor));
    if (diffusion > 0.0) {
        const int low = at + (R::REACH - 1) * step;
        const double pair[2] = {cells[low & (R::SIZE - 1)], cells[(low + step) & (R::SIZE - 1)]};
        flux += lm_diffusive_flux(pair, open.of(diffusion));
    }
    return flux;
}

/* The flux through cell n of a side. `inside` is the field in that cell. */
__device__ __forceinline__ double side_flux(const stage &s, int side, double u, int n, double inside, double factor)
{
    const double *inflow = s.inflow[side];
    return lm_side_flux(s.sides[side], inflow, side, u, n, inside, factor);
}

/* The flux through a face on the side LOW or, with `high`, on the side HIGH of an axis, and counts it. Nothing passes
 * unless the cell (i, j) inside is `open`; it is at `inner` in the ring but for the mask, and number n of the side. */
template <int SCHEME, int LOW, int HIGH>
__device__ __forceinline__ double counted_side_flux(const stage &s, int high, double u, int n, int i, int j, bool open,
                                                    const double *cells, int inner, double factor)
{
    const double flux =
        open ? side_flux(s, high ? HIGH : LOW, u, n, cells[inner & (ring<SCHEME>::SIZE - 1)], factor) : 0.0;
    if (flux != 0.0 && is_in(s.own, i, j))
        tally(s.found->crossed[high ? HIGH : LOW], flux);
    return flux;
}

/* What a lane loads of a row: velocities on the right and on the upper face, and q0 where it is not q. */
struct lane_row {
    double u, v, q0;
};

__device__ __forceinline__ lane_row load_row(const stage &s, unsigned k)
{
    return {s.vx[k], s.vy[k], s.q0 != s.q ? s.q0[k] : 0.0};
}

/* Advances a piece. `cells` is the warp's ring. */
template <int SCHEME, bool SINGLE, bool LIMITED, bool NEAR_BODY, bool CUT>
__device__ __forceinline__ void advance(const stage &s, unsigned number, int rows, double *cells)
{
    typedef ring<SCHEME> R;
    const int lane = (int)threadIdx.x;
    const int nx = s.grid.nx, ny = s.grid.ny;
    const int x0 = (int)(number % (unsigned)s.across) * PIECE_COLUMNS, j0 = (int)(number / (unsigned)s.across) * rows;
    const int j1 = j0 + rows < ny ? j0 + rows : ny, i = x0 - 1 + lane;
    const int own = lane > 0 && i < nx, column = i < nx ? i : nx - 1;

    row_copies<SCHEME> copies;
    copies.begin(s, x0, j0, lane);
    for (int n = 0; n < 2 * R::REACH + R::AHEAD; n++)
        copies.fetch(s, j1 + R::REACH, lane, cells);

    double below = 0.0;
    unsigned k = (unsigned)at(s.grid, column, j0 - 1);
    lane_row next = load_row(s, k); /* a row ahead */
    for (int j = j0 - 1; j < j1; j++, k += (unsigned)s.grid.stride) {
        const double u = next.u, v = next.v, old = next.q0;
        next = load_row(s, k + (unsigned)s.grid.stride);
        int mine = 0, right = 0, up = 0;
        if (NEAR_BODY) {
            mine = s.clearance[k];
            right = s.clearance[k + 1];
            up = s.clearance[k + s.grid.stride];
        }
        __pipeline_wait_prior(R::AHEAD);
        __syncwarp();
        copies.fetch(s, j1 + R::REACH, lane, cells); /* in place of row j - REACH */

        const int here = j * R::PITCH + lane - 1 + R::REACH; /* the cell's place, but for the mask */
        const double q = cells[here & (R::SIZE - 1)];
        const open_face<CUT> upper(s, 1, k, k + (unsigned)s.grid.stride), beside(s, 0, k, k + 1);
        double above = face_flux<SCHEME, SINGLE, LIMITED, NEAR_BODY, CUT>(s, v, s.by.y, s.by.ky, lm_clearance_y(mine),
                                                                          lm_clearance_y(up), upper, cells,
                                                                          here - (R::REACH - 1) * R::PITCH, R::PITCH);
        if (NEAR_BODY && !s.periodic_y && (j < 0 || j == ny - 1)) {
            const int high = j >= 0, inner = high ? here : here + R::PITCH;
            above = counted_side_flux<SCHEME, LM_Y_MIN, LM_Y_MAX>(
                s, high, v, column, i, high ? j : 0, (high ? mine : up) && own, cells, inner, upper.of(s.by.y));
        }
        if (j >= j0) {
            double x = face_flux<SCHEME, SINGLE, LIMITED, NEAR_BODY, CUT>(s, u, s.by.x, s.by.kx, lm_clearance_x(mine),
                                                                          lm_clearance_x(right), beside, cells,
                                                                          here - (R::REACH - 1), 1);
            if (NEAR_BODY && !s.periodic_x && (i < 0 || i == nx - 1)) {
                const int high = i >= 0, inner = high ? here : here + 1;
                x = counted_side_flux<SCHEME, LM_X_MIN, LM_X_MAX>(s, high, u, j, high ? i : 0, j, high ? mine : right,
                                                                  cells, inner, beside.of(s.by.x));
            }
            double gain = lm_net_inflow(left(x), x, below, above);
            if (s.source)
                gain += lm_source_units(&s.by, s.source[k], CUT ? lm_volume_at(s.open, (long)k) : 1.0);
            if (own && CUT)
                s.to[k] = lm_advect_update_cut(&s.by, s.q0 != s.q ? old : q, q, gain, lm_volume_at(s.open, (long)k));
            else if (own)
                s.to[k] = lm_advect_update(&s.by, s.q0 != s.q ? old : q, q, gain);
        }
        below = above;
    }
}

/* The pieces near bodies come first, because they take longest. With bounds all pieces are treated as near bodies. CUT:
 * bodies cut cells. */
template <int SCHEME, bool SINGLE, bool LIMITED, bool CUT>
__global__ void __launch_bounds__(LANES *PIECE_WARPS, blocks(SCHEME, LIMITED)) stage_kernel(stage s)
{
    __shared__ double rings[PIECE_WARPS][ring<SCHEME>::SIZE];
    const bool near_body = blockIdx.x < s.near_body.blocks;
    const struct pieces &p = near_body ? s.near_body : s.in_free;
    const unsigned number = (blockIdx.x - (near_body ? 0 : s.near_body.blocks)) * PIECE_WARPS + threadIdx.y;
    if (number >= p.count)
        return; /* the whole warp */
    if (LIMITED || near_body)
        advance<SCHEME, SINGLE, LIMITED, true, CUT>(s, p.list[number], p.rows, rings[threadIdx.y]);
    else
        advance<SCHEME, SINGLE, LIMITED, false, false>(s, p.list[number], p.rows, rings[threadIdx.y]);
}

} // namespace

#endif
