/* CUDA backend: heat of mixing of the electrons. The bodies of the loops are in larmor/physics/fluid/mixing_heat.h and
 * face_value.h.
 *
 * A thread takes a cell and its upper faces. What needs the power of a number is found once in a cell and goes to its
 * faces through shared memory. Atomics are in the sum of the source only.
 */
#include "core/cells.cuh"
#include "core/halo.cuh"

#include "larmor/physics/fluid/face_value.h"
#include "larmor/physics/fluid/mixing_heat.h"
#include "larmor/physics/fields/wall.h"

namespace
{

struct mixing {
    shape grid;
    struct lm_sides sides;
    struct lm_ohm ohm;
    struct lm_bounds bounds;
    struct lm_cells own;
    const uint8_t *clearance;
    const struct lm_opening *open; /* NULL: no cell is cut */
    struct lm_flow_moments moments;
    const double *u[2], *work[2]; /* velocities on the faces */
    double *s, *share[2];
    double dt, half;
    int quantum;
};

/* Whether the upper face of the cell lies inside the domain, and between cells of plasma. */
__device__ __forceinline__ bool mixes(const mixing &m, int axis, cell c)
{
    const size_t k = at(m.grid, c.i, c.j), next = k + (axis == 0 ? 1 : m.grid.stride);
    const enum lm_face_place place = lm_face_place(axis == 0 ? c.i : c.j, axis == 0 ? m.grid.nx : m.grid.ny,
                                                   m.sides.of[axis == 0 ? LM_X_MIN : LM_Y_MIN] == LM_PERIODIC);
    return place == LM_FACE_INSIDE && m.clearance[k] && m.clearance[next];
}

/* The cell of this thread, of those that have upper faces. */
__device__ __forceinline__ bool my_faces(const shape &s, cell &c)
{
    return my_cell(s, 1, c) && c.i < s.nx && c.j < s.ny;
}

/* The cells of a block and those behind their upper faces. */
enum { TILE_X = TX + 1, TILE_Y = TY + 1, TILE_CELLS = TILE_X * TILE_Y };

/* Calls body(cell, m) for the cells of the tile that there are, m their number; and waits for all threads. */
template <class F> __device__ __forceinline__ void each_of_tile(const shape &s, F body)
{
    for (int m = (int)threadIdx.x; m < TILE_CELLS; m += THREADS) {
        const cell c = {(int)blockIdx.x * TX - 1 + m % TILE_X, (int)blockIdx.y * TY - 1 + m / TILE_X};
        if (c.i <= s.nx && c.j <= s.ny)
            body(c, m);
    }
    __syncthreads();
}

/* The number of this thread's cell in the tile. */
__device__ __forceinline__ int my_place()
{
    return (int)threadIdx.x / TX * TILE_X + (int)threadIdx.x % TX;
}

/* The densities that divide the forces on the ions and on B, and the potential of the latter. */
struct dividing {
    double push, b, b_potential;

    __device__ __forceinline__ void find(const mixing &m, size_t k)
    {
        push = lm_middle_density(&m.moments, (long)k);
        b = m.moments.counted[k];
        b_potential = lm_pressure_potential(b, m.ohm.floor, &m.ohm);
    }
};

__global__ void work_kernel(mixing m, double *x, double *y)
{
    __shared__ dividing tile[TILE_CELLS];
    each_of_tile(m.grid, [&](cell c, int n) { tile[n].find(m, at(m.grid, c.i, c.j)); });
    cell c;
    if (!my_faces(m.grid, c))
        return;
    const size_t k = at(m.grid, c.i, c.j);
    const dividing &here = tile[my_place()];
    for (int axis = 0; axis < 2; axis++) {
        double u = 0.0;
        if (mixes(m, axis, c)) {
            const dividing &next = tile[my_place() + (axis == 0 ? 1 : (int)TILE_X)];
            const double push = lm_push_density(here.push, next.push, lm_least_push_density(&m.ohm)),
                         b = lm_mean_density(here.b, next.b, here.b_potential, next.b_potential, m.ohm.gamma);
            u = m.open && lm_is_passage(&m.moments.passage[k], &m.open[k], axis)
                    ? lm_work_velocity_past_bodies(&m.moments, axis, (long)k, &m.ohm)
                    : lm_work_velocity_of(&m.moments, axis, (long)k, push, b, &m.ohm);
        }
        (axis == 0 ? x : y)[k] = u;
    }
}

/* The element of the cell whose values cell (i, j) has. */
__device__ __forceinline__ size_t image(const mixing &m, int i, int j)
{
    lm_image_cell(&m.sides, m.grid.nx, m.grid.ny, &i, &j);
    return at(m.grid, i, j);
}

__device__ __forceinline__ struct lm_mixing_cell cell_at(const mixing &m, int i, int j)
{
    const size_t k = image(m, i, j);
    return lm_mixing_cell(m.s[k], m.moments.counted[k], m.half, &m.ohm);
}

/* The value on the upper face of a cell. */
template <int SCHEME, bool SINGLE>
__device__ __forceinline__ double value_on_face(const mixing &m, int axis, cell c, double u)
{
    enum { REACH = SCHEME > 1 ? SCHEME : 1 };
    const int x = axis == 0, y = axis == 1;
    const size_t k = at(m.grid, c.i, c.j), k_next = at(m.grid, c.i + x, c.j + y);
    const uint8_t here = m.clearance[k], next = m.clearance[k_next];
    double across[2 * REACH];
    const int before = x ? c.i : c.j, cells = x ? m.grid.nx : m.grid.ny;
    if (before >= REACH - 1 && before < cells - REACH && c.i >= 0 && c.j >= 0) {
        LM_UNROLL
        for (int n = 0; n < 2 * REACH; n++)
            across[n] = m.s[(long)k + (n + 1 - REACH) * (x ? 1 : m.grid.stride)];
    } else {
        LM_UNROLL
        for (int n = 0; n < 2 * REACH; n++)
            across[n] = m.s[image(m, c.i + x * (n + 1 - REACH), c.j + y * (n + 1 - REACH))];
    }
    return lm_face_value_near_body(
        SCHEME, SINGLE, &m.bounds, across, u, x ? lm_clearance_x(here) : lm_clearance_y(here),
        x ? lm_clearance_x(next) : lm_clearance_y(next), lm_volume_at(m.open, (long)(u > 0.0 ? k : k_next)) != 1.0);
}

template <int SCHEME, bool SINGLE> __global__ void share_kernel(mixing m)
{
    __shared__ struct lm_mixing_cell tile[TILE_CELLS];
    each_of_tile(m.grid, [&](cell c, int n) { tile[n] = cell_at(m, c.i, c.j); });
    cell c;
    if (!my_faces(m.grid, c))
        return;
    const size_t k = at(m.grid, c.i, c.j);
    const struct lm_mixing_cell &here = tile[my_place()];
    for (int axis = 0; axis < 2; axis++) {
        double share = 0.0;
        if (mixes(m, axis, c)) {
            const double u = m.u[axis][k], value = value_on_face<SCHEME, SINGLE>(m, axis, c, u);
            const struct lm_mixing_cell &next = tile[my_place() + (axis == 0 ? 1 : (int)TILE_X)];
            const double heat =
                lm_mixing_heat(&here, &next, value, u, m.work[axis][k], axis == 0 ? m.ohm.inv_dx : m.ohm.inv_dy);
            share = lm_mixing_share(heat * lm_opening_at(m.open, axis, (long)k), &here, &next);
        }
        m.share[axis][k] = share;
    }
}

/* In own cells. */
__global__ void mix_kernel(mixing m, lm_u64 *source)
{
    struct lm_wide changed = {0, 0};
    each_cell(m.grid, m.own, [&](int i, int j, size_t k) {
        const double *const x = m.share[0] + k, *const y = m.share[1] + k;
        const struct lm_mixing_cell here = cell_at(m, i, j);
        m.s[k] = lm_mix_cell(&here, x[-1], x[0], y[-m.grid.stride], y[0], lm_volume_at(m.open, (long)k), m.dt,
                             m.quantum, m.ohm.gamma, &changed);
    });
    lm_block_sum_wide(source, changed);
}

typedef void (*share_function)(mixing);

share_function kernel_of(const struct lm_background *f)
{
    switch (f->scheme) {
    case LM_UPWIND:
        return share_kernel<LM_UPWIND, false>;
    case LM_WENO3:
        return f->single ? share_kernel<LM_WENO3, true> : share_kernel<LM_WENO3, false>;
    case LM_WENO5:
        return f->single ? share_kernel<LM_WENO5, true> : share_kernel<LM_WENO5, false>;
    case LM_WENO7:
        return f->single ? share_kernel<LM_WENO7, true> : share_kernel<LM_WENO7, false>;
    default:
        return f->single ? share_kernel<LM_WENO9, true> : share_kernel<LM_WENO9, false>;
    }
}

/* U is in the first two arrays of g->spare, the shares are in the work arrays of the advection. */
mixing mixing_of(const struct lm_gpu *g, int quantum, double dt, double half)
{
    const int last = g->base.setup.background_count - 1;
    const struct lm_background *f = &g->base.setup.background[last];
    double *work = g->spare, *share = g->advect.work;
    return {shape_of(g),
            g->base.setup.grid.sides,
            g->base.setup.ohm,
            {f->least, f->most},
            g->base.setup.grid.own,
            g->advect.clearance,
            g->advect.open,
            lm_gpu_flow_moments(g),
            {g->array[LM_BACKGROUND_X + last], g->array[LM_BACKGROUND_Y + last]},
            {work, work + g->pitch},
            entropy_of(g),
            {share, share + g->pitch},
            dt,
            half,
            quantum};
}

} // namespace

int lm_gpu_work_velocities(struct lm_gpu *g)
{
    work_kernel<<<blocks_for(g, 1), THREADS, 0, g->stream>>>(mixing_of(g, 0, 0.0, 0.0), g->spare, g->spare + g->pitch);
    return LM_GPU_LAUNCHED(g, "work of the electrons");
}

int lm_gpu_mix(struct lm_gpu *g, int quantum, double dt, double half)
{
    const int last = g->base.setup.background_count - 1;
    const mixing m = mixing_of(g, quantum, dt, half);
    kernel_of(&g->base.setup.background[last])<<<blocks_for(g, 1), THREADS, 0, g->stream>>>(m);
    LM_GPU_LAUNCHED(g, "heat of mixing");
    mix_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(m, g->control->background[last].source);
    LM_GPU_LAUNCHED(g, "heat of mixing");
    lm_gpu_halo_refresh(g, &g->array[LM_BACKGROUND + last], 1);
    return g->failed;
}
