/* The direct path: particles gathered from and deposited on the whole grid, and what they leave behind. For one
 * precision at a time. */
#ifndef LARMOR_PARTICLES_DIRECT_CUH
#define LARMOR_PARTICLES_DIRECT_CUH

#include "particles/window.cuh"

#include "larmor/physics/particles/stray.h"

namespace
{

/* The fields around a stray. */
__device__ __forceinline__ struct lm_window patch_of(const fields &f, const struct lm_tiling &t, int tile,
                                                     const struct lm_particle &p, struct lm_stray &s)
{
    const double *component[LM_WINDOW_FIELDS];
    LM_UNROLL
    for (int d = 0; d < LM_WINDOW_FIELDS; d++)
        component[d] = f.component(d);
    lm_stray_at(&s, &t, tile, &p, component, f.stride);
    return lm_stray_window(&s);
}

/* Those that have entered since the last sort begin the list of strays. */
__global__ void list_entered_kernel(everyone h, lm_u64 *strays)
{
    const uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n == 0)
        *strays = h.entered;
    if (n >= h.entered)
        return;
    h.stray[n] = h.sorted + n;
    h.stray_tile[n] = h.home[n];
}

/* What the direct path leaves behind. */
struct books {
    lm_u64 *sums; /* of moments */
    struct lm_gpu_pass_control *control;
    struct lm_gpu_tallies *tallies;
    struct lm_tally_units units;
    struct lm_map_bins bins;
    lm_u64 *map; /* or NULL */
    double mass;
};

static inline books books_of(struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    return {g->sums,
            &g->control->species[species],
            &g->control->tallies[species],
            {lm_exp2i(pass->tally_v), lm_exp2i(pass->tally_v2)},
            g->maps,
            pass->move ? g->species[species].map : NULL,
            g->base.setup.species[species].mass};
}

/* Adds the tallies of a warp's lanes for which `mine`. All lanes must take part. */
__device__ __forceinline__ void book(struct lm_tally *to, bool mine, const struct lm_tally &t)
{
    lm_warp_sum((lm_u64 *)&to->number, mine ? (lm_u64)t.number : 0);
    for (int d = 0; d < 3; d++)
        lm_warp_sum((lm_u64 *)&to->v[d], mine ? (lm_u64)t.v[d] : 0);
    lm_warp_sum((lm_u64 *)&to->v2, mine ? (lm_u64)t.v2 : 0);
}

/* Books the lanes that have left through a channel >= 0: a channel at a time. All lanes must take part. */
__device__ void book_lost(const books &b, int channel, const struct lm_tally &t)
{
    unsigned left = __ballot_sync(0xffffffffu, channel >= 0);
    while (left) {
        const int now = __shfl_sync(0xffffffffu, channel, __ffs(left) - 1);
        const bool mine = channel == now;
        book(&b.tallies->lost[now], mine, t);
        left &= ~__ballot_sync(0xffffffffu, mine);
    }
}

__device__ void book_hits(const books &b, const struct lm_flight &f)
{
    for (int n = 0; b.map && n < f.hits; n++)
        atomicAdd(&b.map[lm_map_bin(&b.bins, &f.hit[n], b.mass)], 1ull);
}

template <int ORDER, bool WALLS>
__device__ void add_current(const population &h, const books &b, const struct lm_step &step, const struct lm_flight &f)
{
#define ADD(d, a, c, part) add_to_grid<WALLS>(b.sums, h, d, f.i + (a), f.j + (c), part)
    if (f.channel < 0)
        LM_DEPOSIT_CURRENT(ORDER, lm_fix24(f.x), lm_fix24(f.y), f.u, f.v, f.w, step.current_scale, ADD);
#undef ADD
}

template <int ORDER, bool WALLS>
__device__ void add_density(const population &h, const books &b, const struct lm_flight &f)
{
#define ADD(d, a, c, part) add_to_grid<WALLS>(b.sums, h, d, f.i + (a), f.j + (c), part)
    LM_DEPOSIT_DENSITY(ORDER, lm_fix24(f.x), lm_fix24(f.y), ADD);
#undef ADD
}

__device__ __forceinline__ lm_u64 speed_of(const struct lm_flight &f)
{
    struct lm_particle p = {0, 0, f.u, f.v, f.w};
    return lm_bits((double)lm_speed2(&p));
}

/* Begins the list of strays of a pass or a sum; their number, *strays, is 0. */
static inline int list_entered(struct lm_gpu *g, const everyone &h, lm_u64 *strays)
{
    if (h.entered == 0)
        return g->failed;
    list_entered_kernel<<<particle_blocks(h.entered), THREADS, 0, g->stream>>>(h, strays);
    return LM_GPU_LAUNCHED(g, "listing what has entered");
}

/* What is done to a species in a step, ready to be launched. */
struct direct_call {
    everyone h;
    fields f;
    struct lm_step step;
    books b;
    struct lm_surfaces surfaces;
};

static inline direct_call direct_call_of(struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    return {population_of(g, species), fields_of(g), step_of(g, species, pass), books_of(g, species, pass),
            lm_surfaces_make(&g->base.setup, species, pass, g->body, g->beside)};
}

} // namespace

#endif
