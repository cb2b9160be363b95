/* CUDA backend: E in voids (larmor/physics/fields/void_field.h). One thread a cell; who writes a node also writes its
 * periodic images. Where no cell is void a thread reads densities only. Rate: not recorded.
 */
#include "core/cells.cuh"
#include "core/halo.cuh"

#include "larmor/physics/fields/void_field.h"

namespace
{

/* What the kernels need to know of the nodes. */
struct void_nodes {
    const double *per_density;
    const struct lm_body_node *node; /* NULL without bodies */
    int walls_x, walls_y;
};

void_nodes nodes_of(const struct lm_gpu *g)
{
    return {g->array[LM_PER_DENSITY], g->node, lm_field_walls(&g->sides, 0), lm_field_walls(&g->sides, 1)};
}

/* The cell of this thread, from -1 on where there are walls, and whether it may have nodes at a void. */
__device__ __forceinline__ bool my_nodes(const shape &s, const void_nodes &v, cell &c)
{
    return my_cell(s, 1, c) && c.i >= -v.walls_x && c.j >= -v.walls_y && c.i < s.nx && c.j < s.ny;
}

__device__ __forceinline__ bool is_void_node(const shape &s, const void_nodes &v, int component, size_t k)
{
    return lm_is_void_node(v.per_density + k, v.node ? v.node + 3 * k : NULL, component, s.stride);
}

__global__ void remember_kernel(const double *per_density, size_t size, double *was_void)
{
    const size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k < size)
        was_void[k] = per_density[k] == 0.0 ? 1.0 : 0.0;
}

/* No E_v on nodes that are at no void. */
__global__ void forget_kernel(shape s, void_nodes v, double *state)
{
    cell c;
    if (!my_nodes(s, v, c))
        return;
    const size_t k = at(s, c.i, c.j);
    for (int d = 0; d < 3; d++) {
        const double kept = is_void_node(s, v, d, k) ? state[d * s.pitch + k] : 0.0;
        each_periodic(s, v.walls_x, v.walls_y, c.i, c.j, [&](unsigned to) { state[d * s.pitch + to] = kept; });
    }
}

/* A stage: adds E_v to `e` and advances it. */
__global__ void advance_kernel(shape s, void_nodes v, const double *current, double *e, double *state, double *next,
                               double *sum, int stage, struct lm_rk4 rk, double speed2)
{
    cell c;
    if (!my_nodes(s, v, c))
        return;
    const size_t k = at(s, c.i, c.j);
    for (int d = 0; d < 3; d++) {
        const size_t m = d * s.pitch + k;
        if (!lm_is_own_e(d, c.i, c.j) || !is_void_node(s, v, d, k))
            continue;
        const double start = state[m], now = stage == 0 ? start : next[m], rate = lm_void_rate(speed2, current[m], now),
                     after = lm_rk4_sum(rk, 0, stage == 0 ? start : sum[m], rate), total = e[m] + now;
        each_periodic(s, v.walls_x, v.walls_y, c.i, c.j, [&](unsigned to) {
            e[d * s.pitch + to] = total;
            if (stage == 3)
                state[d * s.pitch + to] = after;
        });
        if (stage < 3) {
            next[m] = lm_rk4_next(rk, 0, start, rate);
            sum[m] = after;
        }
    }
}

} // namespace

int lm_gpu_begin_void_field(struct lm_gpu *g, int voids)
{
    const size_t size = g->base.setup.grid.size;
    for (int a = LM_VOID_E; a <= LM_VOID && !voids && g->used_void; a++)
        lm_gpu_check(g, cudaMemsetAsync(g->array[a], 0, size * sizeof(double), g->stream), "E in voids");
    g->used_void = voids;
    if (!voids)
        return g->failed;
    remember_kernel<<<line_blocks(size), THREADS, 0, g->stream>>>(g->array[LM_PER_DENSITY], size, g->array[LM_VOID]);
    lm_gpu_halo_refresh(g, g->array + LM_VOID, 1);
    forget_kernel<<<blocks_for(g, 1), THREADS, 0, g->stream>>>(shape_of(g), nodes_of(g), g->array[LM_VOID_E]);
    return LM_GPU_LAUNCHED(g, "voids");
}

int lm_gpu_advance_void_field(struct lm_gpu *g, int stage, double substep)
{
    /* Work arrays that nothing else uses in a step of B. */
    double *const next = g->raw, *const sum = g->spare + 4 * g->pitch;
    advance_kernel<<<blocks_for(g, 1), THREADS, 0, g->stream>>>(
        shape_of(g), nodes_of(g), g->general.curl, g->general.e, g->array[LM_VOID_E], next, sum, stage,
        lm_rk4_stage(stage, substep), lm_void_speed2(&g->base.setup.grid, substep));
    return LM_GPU_LAUNCHED(g, "E in voids");
}
