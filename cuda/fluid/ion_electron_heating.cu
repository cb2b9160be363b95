/* CUDA backend: what ions that exchange heat with the electrons meet in the cells. The bodies are in
 * larmor/physics/collisions/ion_electron_heating.h, the loops over particles in particles_exchange.cu. A thread a cell.
 */
#include "core/cells.cuh"

#include "larmor/physics/collisions/ion_electron_heating.h"

namespace
{

/* The electrons: entropy, density, lm_background_room. */
struct electrons {
    const double *entropy, *n;
    const uint8_t *room;
    struct lm_ohm ohm;
    __device__ __forceinline__ double temperature(size_t k) const
    {
        return lm_electron_temperature(entropy[k], n[k], room[k], &ohm);
    }
};

electrons electrons_of(const struct lm_gpu *g)
{
    return {entropy_of(g), g->array[LM_N_OLD], g->advect.room, g->base.setup.ohm};
}

__global__ void temperature_kernel(shape s, electrons e, double *temperature)
{
    cell c;
    if (my_cell(s, 0, c))
        temperature[(size_t)c.j * s.nx + c.i] = e.temperature(at(s, c.i, c.j));
}

__device__ struct lm_exchange_place place_at(const shape &s, const electrons &e, const double *temperature,
                                             const struct lm_sides &sides, const cell &c)
{
    return {e.n[at(s, c.i, c.j)], temperature[(size_t)c.j * s.nx + c.i],
            lm_temperature_around(temperature, s.nx, s.ny, &sides, c.i, c.j)};
}

__global__ void bath_kernel(shape s, electrons e, struct lm_exchange with, const double *temperature,
                            const int64_t *sums, struct lm_sides sides, struct lm_bath *bath)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const size_t n = (size_t)c.j * s.nx + c.i;
    const struct lm_crowd crowd = lm_crowd_around(sums, s.nx, s.ny, &sides, c.i, c.j);
    const struct lm_exchange_place place = place_at(s, e, temperature, sides, c);
    int64_t sum[LM_SUM_ENERGY];
    for (int what = 0; what < LM_SUM_ENERGY; what++)
        sum[what] = sums[n * LM_CELL_SUMS + what];
    bath[n] = lm_bath_of(&with, &place, sum, &crowd);
}

/* unit: of the tallies of energy, as an energy density. */
__global__ void settle_kernel(shape s, double *entropy, double gamma, double unit, int quantum, struct lm_bath *bath,
                              lm_u64 *sums, lm_u64 *source)
{
    cell c;
    struct lm_wide given = {0, 0};
    if (my_cell(s, 0, c)) {
        const size_t k = at(s, c.i, c.j), n = (size_t)c.j * s.nx + c.i;
        const double heat = (double)(int64_t)sums[n * LM_CELL_SUMS + LM_SUM_ENERGY] * unit, before = entropy[k];
        for (int what = 0; what < LM_CELL_SUMS; what++)
            sums[n * LM_CELL_SUMS + what] = 0;
        if (bath[n].kind == LM_BATH_OPEN && !lm_can_exchange(before, heat, gamma))
            bath[n].kind = LM_BATH_REFUSES;
        if (bath[n].kind == LM_BATH_OPEN) {
            const double after = lm_heated_entropy(before, (gamma - 1.0) * heat, quantum, gamma);
            lm_wide_add_sound(&given, (after - before) * lm_exp2i(quantum));
            entropy[k] = after;
        }
    }
    lm_warp_sum_wide(source, given);
}

enum { NOISE2, LIMITED };

__global__ void limits_kernel(shape s, electrons e, struct lm_exchange with, const double *temperature,
                              struct lm_sides sides, lm_u64 *found)
{
    cell c;
    struct lm_exchange_reach r = {0, 0};
    if (my_cell(s, 0, c)) {
        const struct lm_exchange_place place = place_at(s, e, temperature, sides, c);
        r = lm_exchange_reach(&with, &place);
    }
    lm_warp_max(&found[NOISE2], r.noise2);
    lm_warp_sum(&found[LIMITED], (lm_u64)r.limited);
}

void fill_temperatures(struct lm_gpu *g)
{
    temperature_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), electrons_of(g),
                                                                    g->exchange.temperature);
    LM_GPU_LAUNCHED(g, "exchange of heat");
}

} // namespace

int lm_gpu_baths(struct lm_gpu *g, const struct lm_exchange_pass *pass)
{
    if (pass->first)
        fill_temperatures(g);
    bath_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), electrons_of(g), pass->with,
                                                             g->exchange.temperature, (const int64_t *)g->exchange.sums,
                                                             g->base.setup.grid.sides, g->exchange.bath);
    return LM_GPU_LAUNCHED(g, "exchange of heat");
}

int lm_gpu_apply_heat_exchange(struct lm_gpu *g, int species, const struct lm_exchange_pass *pass)
{
    const struct lm_backend_species *p = &g->base.setup.species[species];
    const double unit = 0.5 * p->weight * p->mass * lm_exp2i(-pass->tally_v2);
    const int field = g->base.setup.background_count - 1;
    settle_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), entropy_of(g), g->base.setup.ohm.gamma,
                                                               unit, pass->quantum, g->exchange.bath, g->exchange.sums,
                                                               g->control->background[field].source);
    LM_GPU_LAUNCHED(g, "exchange of heat");
    return lm_gpu_background_extremes(g, field, pass->quantum);
}

int lm_gpu_heat_exchange_limits(struct lm_backend *b, const struct lm_exchange *with, struct lm_exchange_limits *out)
{
    lm_gpu_range range("limits of the exchange of heat");
    struct lm_gpu *g = lm_gpu_of(b);
    lm_gpu_reduce_begin(g);
    fill_temperatures(g);
    limits_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(
        shape_of(g), electrons_of(g), *with, g->exchange.temperature, g->base.setup.grid.sides, g->reduced->value);
    LM_GPU_LAUNCHED(g, "limits of the exchange of heat");
    if (lm_gpu_reduce_end(g))
        return g->failed;
    const lm_u64 *found = g->reduced_host->value;
    *out = {lm_from_bits(found[NOISE2]), (int64_t)found[LIMITED]};
    return LM_OK;
}
