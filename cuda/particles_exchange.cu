/* CUDA backend: ions exchange heat with the electrons, for each precision. Twice over the particles: first what they
 * would give to the electrons of each cell; then, where these can take or give that, they do. A thread a particle,
 * cells from global memory, an atomic each: the plain way, which takes longer than the rest of a step. */
#include "particles.cuh"

#include "larmor/physics/exchange_particle.h"

namespace
{

struct exchanger {
    struct lm_exchange with;
    const struct lm_bath *bath; /* [cells_y][cells_x] */
    struct lm_tally_units units;
};

__global__ void ask_kernel(everyone h, exchanger e, lm_u64 *asked)
{
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        if (!mine || h.a.x[k] == LM_GONE)
            return;
        const struct lm_particle p = particle_at(h.a, k);
        const uint32_t cell = lm_cell_of(&h.t, tile, p.x, p.y);
        const struct lm_bath bath = e.bath[cell];
        if (bath.kind == LM_BATH_NONE)
            return;
        const struct lm_particle after = lm_exchange_heat(&e.with, &bath, cell, &p);
        const struct lm_tally given = lm_to_electrons(&e.units, &p, &after);
        atomicAdd(&asked[cell], (lm_u64)given.v2);
    });
}

enum { TALLY_SUMS = 5 }; /* of struct lm_tally */

__global__ void give_kernel(everyone h, exchanger e, struct lm_tally *to)
{
    lm_u64 sum[TALLY_SUMS] = {0, 0, 0, 0, 0};
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        if (!mine || h.a.x[k] == LM_GONE)
            return;
        const struct lm_particle p = particle_at(h.a, k);
        const uint32_t cell = lm_cell_of(&h.t, tile, p.x, p.y);
        const struct lm_bath bath = e.bath[cell];
        sum[0] += bath.kind == LM_BATH_REFUSES;
        if (bath.kind != LM_BATH_OPEN)
            return;
        const struct lm_particle after = lm_exchange_heat(&e.with, &bath, cell, &p);
        const struct lm_tally given = lm_to_electrons(&e.units, &p, &after);
        for (int d = 0; d < 3; d++)
            sum[1 + d] += (lm_u64)given.v[d];
        sum[4] += (lm_u64)given.v2;
        h.a.u[k] = after.u;
        h.a.v[k] = after.v;
        h.a.w[k] = after.w;
    });
    lm_block_reduce<false>((lm_u64 *)to, sum);
}

static_assert(sizeof(struct lm_tally) == TALLY_SUMS * sizeof(lm_u64), "a tally is its sums in a row");

} // namespace

int LM_P(lm_gpu_exchange)(struct lm_backend *b, int species, const struct lm_exchange_pass *pass)
{
    lm_gpu_range range("exchange of heat");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    const exchanger e = {pass->with, g->exchange.bath, {lm_exp2i(pass->tally_v), lm_exp2i(pass->tally_v2)}};
    lm_gpu_begin_exchange(g, pass);
    if (all_blocks(s) > 0)
        ask_kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(population_of(g, species), e, g->exchange.asked);
    LM_GPU_LAUNCHED(g, "exchange of heat");
    lm_gpu_settle_exchange(g, species, pass);
    if (all_blocks(s) > 0)
        give_kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(population_of(g, species), e,
                                                              &g->control->tallies[species].to_electrons);
    return LM_GPU_LAUNCHED(g, "exchange of heat");
}
