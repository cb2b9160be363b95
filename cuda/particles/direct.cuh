/* The direct path: particles gathered from and deposited on the whole grid, and what they leave behind. For one
 * precision at a time. */
#ifndef LARMOR_PARTICLES_DIRECT_CUH
#define LARMOR_PARTICLES_DIRECT_CUH

#include "particles/window.cuh"

#include "backend/particle_pass.h"
#include "larmor/physics/particles/stray.h"

namespace
{

/* The fields around a stray. */
__device__ __forceinline__ struct lm_window patch_of(int order, const fields &f, const struct lm_tiling &t, int tile,
                                                     const struct lm_particle &p, struct lm_stray &s)
{
    const double *component[LM_WINDOW_FIELDS];
    LM_UNROLL
    for (int d = 0; d < LM_WINDOW_FIELDS; d++)
        component[d] = f.component(d);
    lm_stray_at(order, &s, &t, tile, &p, component, f.stride);
    return lm_stray_window(&s);
}

/* Particles that have entered since the last sort are the first ones in the list of strays. */
__global__ void list_entered_kernel(all_particles h, lm_u64 *strays)
{
    const uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n == 0)
        *strays = h.entered;
    if (n >= h.entered)
        return;
    h.stray[n] = h.sorted + n;
    h.stray_tile[n] = h.home[n];
}

/* Where the direct path adds its results: moments, maxima, tallies of the ledger, maps of hits. */
struct pass_sinks {
    lm_u64 *sums; /* of moments */
    struct lm_gpu_pass_control *control;
    struct lm_gpu_tallies *tallies;
    struct lm_tally_units units;
    struct lm_map_bins bins;
    lm_u64 *map; /* or NULL */
    double mass;
};

static inline pass_sinks sinks_of(struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    return {g->sums,
            &g->control->species[species],
            &g->control->tallies[species],
            lm_tally_units_of(pass),
            g->maps,
            pass->move ? g->species[species].map : NULL,
            g->base.setup.species[species].mass};
}

/* Adds the tallies of the lanes of a warp for which `mine` is true. All lanes must take part. */
__device__ __forceinline__ void book(struct lm_tally *to, bool mine, const struct lm_tally &t)
{
    lm_warp_sum((lm_u64 *)&to->number, mine ? (lm_u64)t.number : 0);
    for (int d = 0; d < 3; d++)
        lm_warp_sum((lm_u64 *)&to->v[d], mine ? (lm_u64)t.v[d] : 0);
    lm_warp_sum((lm_u64 *)&to->v2, mine ? (lm_u64)t.v2 : 0);
}

/* Adds the tallies of the lanes whose particle has left through a channel >= 0, one channel at a time. All lanes must
 * take part. */
__device__ void book_lost(const pass_sinks &b, int channel, const struct lm_tally &t)
{
    unsigned left = __ballot_sync(0xffffffffu, channel >= 0);
    while (left) {
        const int now = __shfl_sync(0xffffffffu, channel, __ffs(left) - 1);
        const bool mine = channel == now;
        book(&b.tallies->lost[now], mine, t);
        left &= ~__ballot_sync(0xffffffffu, mine);
    }
}

__device__ void book_hits(const pass_sinks &b, const struct lm_flight &f)
{
    for (int n = 0; b.map && n < f.hits; n++)
        atomicAdd(&b.map[lm_map_bin(&b.bins, &f.hit[n], b.mass)], 1ull);
}

template <int ORDER, bool WALLS>
__device__ void add_current(const tile_particles &h, const pass_sinks &b, const struct lm_step &step,
                            const struct lm_flight &f)
{
#define ADD(d, a, c, part) add_to_grid<WALLS>(b.sums, h, d, f.i + (a), f.j + (c), part)
    if (f.channel < 0)
        LM_DEPOSIT_CURRENT(ORDER, lm_fix24(f.x), lm_fix24(f.y), f.vx, f.vy, f.vz, step.current_scale, ADD);
#undef ADD
}

template <int ORDER, bool WALLS>
__device__ void add_density(const tile_particles &h, const pass_sinks &b, const struct lm_flight &f)
{
#define ADD(d, a, c, part) add_to_grid<WALLS>(b.sums, h, d, f.i + (a), f.j + (c), part)
    LM_DEPOSIT_DENSITY(ORDER, lm_fix24(f.x), lm_fix24(f.y), ADD);
#undef ADD
}

/* Begins the list of strays of a pass or of a sum. Before, their number, *strays, is 0. */
static inline int list_entered(struct lm_gpu *g, const all_particles &h, lm_u64 *strays, cudaStream_t stream)
{
    if (h.entered == 0)
        return g->failed;
    list_entered_kernel<<<particle_blocks(h.entered), THREADS, 0, stream>>>(h, strays);
    return LM_GPU_LAUNCHED(g, "listing what has entered");
}

/* What the kernels on the direct path are launched with. */
struct direct_call {
    all_particles h;
    fields f;
    struct lm_step step;
    pass_sinks b;
    struct lm_surfaces surfaces;
};

static inline direct_call direct_call_of(struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    return {particles_of(g, species), fields_of(g, species), lm_step_of(&g->base.setup, species, pass),
            sinks_of(g, species, pass), lm_surfaces_make(&g->base.setup, species, pass, g->body, g->cut, g->near_body)};
}

} // namespace

#endif
