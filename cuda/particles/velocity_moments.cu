/* CUDA backend: moments of the velocity (larmor/physics/particles/velocity_moments.h). Compiled for each precision.
 *
 * A thread takes a particle. Particles are sorted by cell first, so that most lanes of a warp have the same cell. The
 * warp goes through the different cells of its lanes, adds up what the lanes in one cell give to the nine nodes around
 * it, and adds each sum to the grid with one atomic. Four moments go at a time, in the sums of the next pass.
 *
 * Rate: 8.3e9 particles a second for density and velocity, with the way to the host (134e6 particles, CIC, double
 * precision; one NVIDIA H200, 2026-11-23, commit 5b24b1e; docs/performance/results.md).
 */
#include "particles/particles.cuh"

#include "larmor/physics/particles/velocity_moments.h"

namespace
{

enum { AT_ONCE = 4, NODES = LM_MOMENT_NODES * LM_MOMENT_NODES, SLOTS = 16 /* power of two >= NODES */ };

/* Up to AT_ONCE moments. */
struct wanted {
    int count, moment[AT_ONCE];
    double per_bound;
};

/* Each lane hands half of 2 HALF values to another lane and adds what it gets, until one value is left. The number of
 * values is known to the compiler, so that they stay in registers. */
template <int HALF> __device__ __forceinline__ void share_sums(int64_t (&v)[SLOTS])
{
    const bool upper = threadIdx.x & HALF;
    LM_UNROLL
    for (int k = 0; k < HALF; k++) {
        const int64_t mine = upper ? v[k + HALF] : v[k], other = upper ? v[k] : v[k + HALF];
        v[k] = mine + __shfl_xor_sync(0xffffffffu, other, HALF);
    }
    if constexpr (HALF > 1)
        share_sums<HALF / 2>(v);
}

/* Lane l gets the sum over the warp of v[l % SLOTS]. */
__device__ __forceinline__ int64_t sum_of_lane(int64_t (&v)[SLOTS])
{
    share_sums<SLOTS / 2>(v);
    return v[0] + __shfl_xor_sync(0xffffffffu, v[0], SLOTS);
}

/* A node of the 3 x 3 around a cell, for lanes below NODES. */
struct node {
    size_t index;
    int sign[2]; /* of moments that are odd in the velocity along an axis */
};

__device__ __forceinline__ node node_of_lane(const all_particles &h, uint32_t cell)
{
    const int lane = threadIdx.x % 32 < NODES ? threadIdx.x % 32 : 0;
    node n = {0, {1, 1}};
    const int i =
        lm_cell_inside(&h.sides, 0, h.t.cells_x, 1, (int)(cell % h.t.cells_x) - 1 + lane % LM_MOMENT_NODES, &n.sign[0]);
    const int j =
        lm_cell_inside(&h.sides, 1, h.t.cells_y, 1, (int)(cell / h.t.cells_x) - 1 + lane / LM_MOMENT_NODES, &n.sign[1]);
    n.index = (size_t)j * h.t.cells_x + i;
    return n;
}

/* Adds a moment of the lanes for which `in` is true to the nodes around their cell. */
__device__ __forceinline__ void add_moment(bool in, const double (&wx)[LM_MOMENT_NODES],
                                           const double (&wy)[LM_MOMENT_NODES], const double u[3], int moment,
                                           const node &to, lm_u64 *sums)
{
    const double product = lm_moment_product(moment, u);
    int64_t v[SLOTS];
    LM_UNROLL
    for (int k = 0; k < SLOTS; k++)
        v[k] = in && k < NODES
                   ? lm_moment_quanta(wx[k % LM_MOMENT_NODES], wy[k < NODES ? k / LM_MOMENT_NODES : 0], product)
                   : 0;
    int64_t sum = sum_of_lane(v);
    for (int axis = 0; axis < 2; axis++)
        sum = lm_moment_is_odd(moment, axis) ? to.sign[axis] * sum : sum;
    if (threadIdx.x % 32 < NODES && sum)
        atomicAdd(&sums[to.index], (lm_u64)sum);
}

template <int ORDER> __global__ void moments_kernel(all_particles h, const __grid_constant__ wanted w, lm_u64 *sums)
{
    const size_t cells = (size_t)h.t.cells_x * h.t.cells_y;
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        const bool present = mine && h.a.x[k] != LM_GONE;
        const struct lm_particle p = present ? particle_at(h.a, k) : lm_particle{};
        const uint32_t cell = present ? lm_cell_of(&h.t, tile, p.x, p.y) : 0;
        double wx[LM_MOMENT_NODES], wy[LM_MOMENT_NODES], u[3];
        lm_moment_weights(ORDER, p.x, wx);
        lm_moment_weights(ORDER, p.y, wy);
        lm_moment_velocity(&p, w.per_bound, u);
        for (unsigned left = __ballot_sync(0xffffffffu, present); left;) {
            const uint32_t now = __shfl_sync(0xffffffffu, cell, __ffs((int)left) - 1);
            const bool in = present && cell == now;
            const node to = node_of_lane(h, now);
            for (int n = 0; n < w.count; n++)
                add_moment(in, wx, wy, u, w.moment[n], to, sums + n * cells);
            left &= ~__ballot_sync(0xffffffffu, in);
        }
    });
}

/* The moments of a list from number `first` on. */
wanted wanted_of(const struct lm_moment_list *list, int first)
{
    wanted w = {list->count - first < AT_ONCE ? list->count - first : AT_ONCE, {}, lm_exp2i(-list->speed_exponent)};
    for (int n = 0; n < w.count; n++)
        w.moment[n] = list->moment[first + n];
    return w;
}

} // namespace

int LM_P(lm_gpu_velocity_moments)(struct lm_backend *b, int species, const struct lm_moment_list *list, int64_t *sums)
{
    lm_gpu_range range("moments of the velocity");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    LM_P(lm_gpu_sort)(b, species);
    const all_particles h = particles_of(g, species);
    auto kernel = b->setup.shape == LM_LINEAR ? moments_kernel<1> : moments_kernel<2>;
    for (int first = 0; first < list->count; first += AT_ONCE) {
        const wanted w = wanted_of(list, first);
        const size_t cells = b->setup.grid.cells, bytes = w.count * cells * sizeof *sums;
        lm_gpu_check(g, cudaMemsetAsync(g->spare_sums, 0, bytes, g->stream), "moments of the velocity");
        if (all_blocks(s) > 0 && s->count > 0)
            kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(h, w, g->spare_sums);
        LM_GPU_LAUNCHED(g, "moments of the velocity");
        lm_gpu_check(g, cudaMemcpyAsync(sums + first * cells, g->spare_sums, bytes, cudaMemcpyDeviceToHost, g->stream),
                     "moments of the velocity");
    }
    return lm_gpu_wait(g, "moments of the velocity");
}
