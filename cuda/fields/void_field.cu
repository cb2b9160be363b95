/* CUDA backend: E in voids (larmor/physics/fields/void_field.h). One thread a cell; who writes a node also writes its
 * periodic images. Where no cell is void a thread reads densities only. Rate: these kernels alone
 * are not recorded. A whole run with a void is in docs/performance/results.md.
 */
#include "core/cells.cuh"
#include "core/halo.cuh"

#include "larmor/physics/fields/void_field.h"

namespace
{

/* The cell of this thread in blocks_for(g, LM_GHOST), and whether it is in the domain or up to `beyond` cells beyond
 * walls, `after` cells beyond upper ones. */
__device__ __forceinline__ bool my_nodes(const shape &s, const struct lm_field_sides &sides, int beyond, int after,
                                         cell &c)
{
    const int x = lm_field_walls(&sides, 0), y = lm_field_walls(&sides, 1);
    return my_cell(s, LM_GHOST, c) && c.i >= -x * beyond && c.j >= -y * beyond && c.i < s.nx + x * after &&
           c.j < s.ny + y * after;
}

__global__ void remember_kernel(const double *per_density, size_t size, double *was_void)
{
    const size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k < size)
        was_void[k] = per_density[k] == 0.0 ? 1.0 : 0.0;
}

/* No E_v on nodes that are at no void, neither in the state nor where substeps put it. */
__global__ void forget_kernel(shape s, struct lm_void_nodes v, double *state, double *next)
{
    cell c;
    if (!my_nodes(s, v.sides, 1, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    for (int d = 0; d < 3; d++) {
        const double kept = lm_is_void_node(&v, d, (long)k) ? state[d * s.pitch + k] : 0.0;
        each_periodic(s, lm_field_walls(&v.sides, 0), lm_field_walls(&v.sides, 1), c.i, c.j,
                      [&](unsigned to) { state[d * s.pitch + to] = next[d * s.pitch + to] = kept; });
    }
}

/* Adds E_v to E, beyond walls, too. */
__global__ void add_kernel(shape s, struct lm_void_nodes v, const double *from, double *e)
{
    cell c;
    if (!my_nodes(s, v.sides, LM_GHOST, LM_GHOST, c))
        return;
    const size_t k = at(s, c.i, c.j);
    for (int d = 0; d < 3; d++) {
        const double all = e[d * s.pitch + k] + lm_void_e(&v, from + d * s.pitch, d, c.i, c.j);
        each_periodic(s, lm_field_walls(&v.sides, 0), lm_field_walls(&v.sides, 1), c.i, c.j,
                      [&](unsigned to) { e[d * s.pitch + to] = all; });
    }
}

__global__ void advance_kernel(shape s, struct lm_void_nodes v, const double *current, double *state, double *next,
                               double *sum, int stage, struct lm_rk4 rk, double speed2)
{
    cell c;
    if (!my_nodes(s, v.sides, 1, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    for (int d = 0; d < 3; d++) {
        const size_t m = d * s.pitch + k;
        if (!lm_is_own_e(d, c.i, c.j) || !lm_is_void_node(&v, d, (long)k))
            continue;
        const double start = state[m],
                     rate = lm_void_rate(speed2 * lm_void_open_part(&v, d, (long)k), current[m],
                                         stage == 0 ? start : next[m]),
                     after = lm_rk4_sum(rk, 0, stage == 0 ? start : sum[m], rate);
        if (stage < 3) {
            next[m] = lm_rk4_next(rk, 0, start, rate);
            sum[m] = after;
        } else {
            each_periodic(s, lm_field_walls(&v.sides, 0), lm_field_walls(&v.sides, 1), c.i, c.j,
                          [&](unsigned to) { state[d * s.pitch + to] = after; });
        }
    }
}

} // namespace

struct lm_void_nodes lm_gpu_void_nodes(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return {g->array[LM_PER_DENSITY], g->node, g->sides, grid->nx, grid->ny, grid->stride};
}

int lm_gpu_begin_void_field(struct lm_gpu *g, const struct lm_b_step *step)
{
    const size_t size = g->base.setup.grid.size;
    for (int a = LM_VOID_E; a <= LM_VOID && !step->voids && g->used_void; a++)
        lm_gpu_check(g, cudaMemsetAsync(g->array[a], 0, size * sizeof(double), g->stream), "E in voids");
    g->used_void = step->voids;
    if (!step->voids)
        return g->failed;
    if (!step->keeps_void) {
        remember_kernel<<<line_blocks(size), THREADS, 0, g->stream>>>(g->array[LM_PER_DENSITY], size,
                                                                      g->array[LM_VOID]);
        lm_gpu_halo_refresh(g, g->array + LM_VOID, 1);
    }
    if (!g->general.next_void) {
        const size_t bytes = 3 * g->pitch * sizeof(double);
        g->general.next_void = (double *)lm_gpu_allocate(g, bytes, "E in voids");
        if (g->failed)
            return g->failed;
        lm_gpu_check(g, cudaMemsetAsync(g->general.next_void, 0, bytes, g->stream), "E in voids");
    }
    forget_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(shape_of(g), lm_gpu_void_nodes(g),
                                                                      g->array[LM_VOID_E], g->general.next_void);
    return LM_GPU_LAUNCHED(g, "voids");
}

int lm_gpu_advance_void_field(struct lm_gpu *g, int stage, double substep)
{
    /* Work arrays that nothing else uses in a step of B. */
    double *const next = g->raw, *const sum = g->spare + 4 * g->pitch;
    double *const state = g->array[LM_VOID_E];
    const dim3 blocks = blocks_for(g, LM_GHOST);
    add_kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), lm_gpu_void_nodes(g), stage == 0 ? state : next,
                                                  g->general.e);
    advance_kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), lm_gpu_void_nodes(g), g->general.curl, state, next,
                                                      sum, stage, lm_rk4_stage(stage, substep),
                                                      lm_void_speed2(&g->base.setup.grid, substep));
    return LM_GPU_LAUNCHED(g, "E in voids");
}
