/* CUDA backend: particles that enter through inflow sides, and newborn ions. Compiled for each precision.
 *
 * A warp draws the particles of a cell of a side, or of 32 cells of the domain, a lane a particle. Each moves for what
 * is left of the step, is deposited directly on the grid, and gets a slot behind the sorted particles.
 *
 * Rate of a whole step with a wind of 0.1 cells a step from an inflow side to an open one: 30.5e9 particle-steps/s
 * (CIC, double precision; one NVIDIA H200, commit f3f446c; docs/performance/results.md). */
#include "particles/direct.cuh"
#include "core/halo.cuh"

#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/particles/inflow.h"
#include "larmor/physics/particles/ionise.h"
#include "larmor/physics/particles/new_particle.h"

namespace
{

/* Where new particles go: the free slots from `first` on, and the list of their home tiles. */
struct new_particle_slots {
    uint32_t *home;
    uint32_t first;
    int way; /* enum lm_entrance: how they come */
};

/* Stores the particle of each lane that `stays` in the domain, in a slot of its own. All lanes must take part. */
__device__ void append(const all_particles &h, const pass_sinks &b, const new_particle_slots &to, bool stays,
                       const struct lm_flight &f)
{
    const int lane = threadIdx.x % 32;
    const unsigned all = __ballot_sync(0xffffffffu, stays);
    uint32_t at = 0;
    if (lane == 0 && all)
        at = (uint32_t)atomicAdd(&b.tallies->arrived, (lm_u64)__popc(all));
    at = __shfl_sync(0xffffffffu, at, 0) + __popc(all & ((1u << lane) - 1));
    if (!stays)
        return;
    put_particle(h.a, to.first + at, lm_new_particle(&f, &h.t, &to.home[to.first - h.sorted + at]));
}

/* New particles of the lanes for which `begins` is true: they start at f with `part` of the step left. All lanes must
 * take part. */
template <int ORDER>
__device__ void begin_flights(const all_particles &h, const struct lm_step &step, const pass_sinks &b,
                              const struct lm_surfaces &surfaces, const new_particle_slots &to, bool begins,
                              struct lm_flight &f, double part, lm_u64 &speed2)
{
    struct lm_tally t = {};
    int channel = -1;
    bool stays = false;
    if (begins)
        t = lm_tally_of(&b.units, (double)f.vx, (double)f.vy, (double)f.vz);
    book(&b.tallies->injected[to.way], begins, t);
    if (begins) {
        struct lm_flight mid;
        if (lm_new_half_way(&mid, &f, &surfaces, &h.t, part))
            add_current<ORDER, true>(h, b, step, mid);
        lm_move_partial(&f, &surfaces, &h.t, part);
        book_hits(b, f);
        channel = f.channel;
        stays = channel < 0;
    }
    if (stays) {
        add_density<ORDER, true>(h, b, f);
        raise(speed2, lm_flight_speed2_bits(&f));
    }
    if (channel >= 0)
        t = lm_tally_of(&b.units, (double)f.vx, (double)f.vy, (double)f.vz);
    book_lost(b, channel, t);
    append(h, b, to, stays, f);
}

/* Particles that enter through the own cells `first` to `first` + `cells` - 1 of a side, a warp a cell. */
template <int ORDER>
__global__ void enter_kernel(all_particles h, struct lm_step step, pass_sinks b, struct lm_surfaces surfaces,
                             new_particle_slots to, const struct lm_inflow_cell *from, int side, int first, int cells,
                             uint64_t seed, int64_t step_number)
{
    const int cell = first + (int)((blockIdx.x * THREADS + threadIdx.x) / 32), lane = threadIdx.x % 32;
    const uint32_t number = lm_inflow_number(side, lm_domain_along(&surfaces.place, side < LM_Y_MIN, cell));
    const uint32_t n =
        cell < first + cells ? lm_inflow_count(&from[cell], seed, surfaces.species, number, step_number) : 0;
    lm_u64 speed2 = 0;
    for (uint32_t base = 0; base < n; base += 32) { /* n is the same in all lanes */
        const uint32_t r = base + lane;
        struct lm_flight f;
        double part = 0.0;
        if (r < n)
            part = lm_draw_entering(&f, &from[cell], &surfaces, &h.t, side, cell, number, r, n);
        begin_flights<ORDER>(h, step, b, surfaces, to, r < n, f, part, speed2);
    }
    lm_warp_max(&b.control->speed2, speed2);
}

/* The sum over this lane and the lanes before it. */
__device__ __forceinline__ uint32_t sum_up_to(uint32_t n)
{
    const int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t before = __shfl_up_sync(0xffffffffu, n, d);
        n += lane >= d ? before : 0;
    }
    return n;
}

/* The lane whose particles include number m: the first lane with up_to > m. */
__device__ __forceinline__ int lane_of(uint32_t up_to, uint32_t m)
{
    int lane = 0;
    for (int d = 16; d; d /= 2)
        lane += __shfl_sync(0xffffffffu, up_to, lane + d - 1) <= m ? d : 0;
    return lane;
}

/* Newborn ions in the `own` cells. A thread counts those of a cell; a warp shares the ions of its 32 cells. *taken:
 * what they take from the gas, as its source. */
template <int ORDER>
__global__ void ionise_kernel(all_particles h, struct lm_step step, pass_sinks b, struct lm_surfaces surfaces,
                              new_particle_slots to, struct lm_ionise from, struct lm_cells own, int stride,
                              lm_u64 *taken)
{
    const uint32_t number = blockIdx.x * THREADS + threadIdx.x, first = number - threadIdx.x % 32;
    const uint32_t width = (uint32_t)(own.to_x - own.from_x), cells = width * (uint32_t)(own.to_y - own.from_y);
    const auto column = [&](uint32_t c) { return own.from_x + (int)(c % width); };
    const auto row = [&](uint32_t c) { return own.from_y + (int)(c / width); };
    const auto element = [&](int i, int j) { return ((size_t)j + LM_GHOST) * stride + i + LM_GHOST; };
    const int my_i = column(number), my_j = row(number);
    const size_t k = element(my_i, my_j);
    const uint32_t n = number < cells ? lm_ionise_count(&from, k, lm_domain_cell(&surfaces.place, my_i, my_j)) : 0;
    const uint32_t up_to = sum_up_to(n), all = __shfl_sync(0xffffffffu, up_to, 31);
    lm_u64 speed2 = 0;
    for (uint32_t base = 0; base < all; base += 32) {
        const uint32_t m = base + threadIdx.x % 32;
        const int lane = lane_of(up_to, m);
        const uint32_t of = __shfl_sync(0xffffffffu, n, lane % 32), end = __shfl_sync(0xffffffffu, up_to, lane % 32);
        struct lm_flight f;
        double part = 0.0;
        if (m < all) {
            const int i = column(first + (uint32_t)lane), j = row(first + (uint32_t)lane);
            part = lm_draw_newborn(&f, &from, lm_cut_at(&surfaces, &h.t, i, j), element(i, j), i, j,
                                   lm_domain_cell(&surfaces.place, i, j), m - (end - of), of);
        }
        begin_flights<ORDER>(h, step, b, surfaces, to, m < all, f, part, speed2);
    }
    lm_warp_max(&b.control->speed2, speed2);
    if (!from.gas)
        return;
    struct lm_wide sum = {0, 0};
    if (n > 0)
        lm_wide_add(&sum, -lm_ionise_take(&from, k, n));
    lm_warp_sum_wide(taken, sum);
}

} // namespace

int LM_P(lm_gpu_enter)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    lm_gpu_range range("enter");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    const struct lm_grid *grid = &b->setup.grid;
    const direct_call c = direct_call_of(g, species, pass);
    new_particle_slots to = {s->home, (uint32_t)s->count, 0};
    for (int side = 0; side < LM_SIDES; side++) {
        const int first = side < LM_Y_MIN ? grid->own.from_y : grid->own.from_x,
                  end = side < LM_Y_MIN ? grid->own.to_y : grid->own.to_x;
        if (!s->inflow[side] || !lm_owns_side(grid, side))
            continue;
        auto kernel = b->setup.shape == LM_LINEAR ? enter_kernel<1> : enter_kernel<2>;
        to.way = side;
        kernel<<<particle_blocks((uint64_t)(end - first) * 32), THREADS, 0, g->stream>>>(
            c.h, c.step, c.b, c.surfaces, to, s->inflow[side], side, first, end - first, b->setup.seed, pass->step);
        LM_GPU_LAUNCHED(g, "what enters");
    }
    return g->failed;
}

int LM_P(lm_gpu_ionise)(struct lm_backend *b, int source, const struct lm_pass *pass, int quantum)
{
    lm_gpu_range range("ionise");
    struct lm_gpu *g = lm_gpu_of(b);
    const int species = b->setup.ionisation[source].species, gas = b->setup.ionisation[source].gas;
    const struct lm_gpu_species *s = &g->species[species];
    const direct_call c = direct_call_of(g, species, pass);
    const new_particle_slots to = {s->home, (uint32_t)s->count, LM_IONISED};
    const struct lm_ionise from = lm_ionise_of(&b->setup, g->array, g->advect.open, source, pass, quantum);
    auto kernel = b->setup.shape == LM_LINEAR ? ionise_kernel<1> : ionise_kernel<2>;
    const struct lm_cells own = b->setup.grid.own;
    const uint64_t cells = (uint64_t)(own.to_x - own.from_x) * (uint64_t)(own.to_y - own.from_y);
    kernel<<<particle_blocks(cells), THREADS, 0, g->stream>>>(c.h, c.step, c.b, c.surfaces, to, from, own,
                                                              b->setup.grid.stride,
                                                              g->control->background[gas < 0 ? 0 : gas].source);
    LM_GPU_LAUNCHED(g, "ionisation");
    return gas < 0 ? g->failed : lm_gpu_halo_refresh(g, &g->array[LM_BACKGROUND + gas], 1);
}
