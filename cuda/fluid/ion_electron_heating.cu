/* CUDA backend: the cells in which ions exchange heat with the electrons. The bodies of the loops are in
 * larmor/physics/collisions/ion_electron_heating.h, the loops over particles in cuda/particles/ion_electron_heating.cu,
 * with a rate of both. A thread takes a cell.
 */
#include "core/cells.cuh"
#include "core/halo.cuh"

#include "larmor/physics/collisions/ion_electron_heating.h"

namespace
{

/* The electrons: entropy, density, clearance (lm_stencil_clearance). */
struct electrons {
    const double *entropy, *n;
    const uint8_t *clearance;
    struct lm_ohm ohm;
    __device__ __forceinline__ double temperature(size_t k) const
    {
        return lm_electron_temperature(entropy[k], n[k], clearance[k], &ohm);
    }
};

electrons electrons_of(const struct lm_gpu *g)
{
    return {entropy_of(g), g->array[LM_N_OLD], g->advect.clearance, g->base.setup.ohm};
}

__global__ void temperature_kernel(shape s, electrons e, double *temperature)
{
    cell c;
    if (my_cell(s, 0, c))
        temperature[(size_t)c.j * s.nx + c.i] = e.temperature(at(s, c.i, c.j));
}

__device__ struct lm_cell_electrons electrons_of_cell(const shape &s, const electrons &e, const double *temperature,
                                                      const struct lm_sides &sides, const cell &c)
{
    return lm_electrons_of_cell(e.n[at(s, c.i, c.j)], temperature, s.nx, s.ny, &sides, c.i, c.j);
}

__global__ void cells_kernel(shape s, electrons e, struct lm_exchange with, const double *temperature,
                             const int64_t *sums, struct lm_sides sides, struct lm_heating_cell *cells)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const struct lm_cell_electrons electrons = electrons_of_cell(s, e, temperature, sides, c);
    cells[(size_t)c.j * s.nx + c.i] = lm_heating_cell_at(&with, &electrons, sums, s.nx, s.ny, &sides, c.i, c.j);
}

/* unit: of the sums of energy, as an energy density. The source counts own cells. */
__global__ void heat_kernel(shape s, double *entropy, const struct lm_opening *open, double gamma, double unit,
                            int quantum, struct lm_cells own, struct lm_heating_cell *cells, int64_t *sums,
                            lm_u64 *source)
{
    cell c;
    struct lm_wide changed = {0, 0};
    if (my_cell(s, 0, c)) {
        const size_t n = (size_t)c.j * s.nx + c.i;
        lm_heat_electrons(&cells[n], &sums[n * LM_CELL_SUMS], &entropy[at(s, c.i, c.j)],
                          lm_volume_at(open, (long)at(s, c.i, c.j)), unit, quantum, gamma, &changed);
        if (!is_in(own, c.i, c.j))
            changed = {0, 0};
    }
    lm_block_sum_wide(source, changed);
}

enum { NOISE2, LIMITED };

__global__ void limits_kernel(shape s, electrons e, struct lm_exchange with, const double *temperature,
                              struct lm_sides sides, struct lm_cells own, lm_u64 *found)
{
    cell c;
    lm_u64 noise2[1] = {0}, limited[1] = {0};
    if (my_cell(s, 0, c) && is_in(own, c.i, c.j)) {
        const struct lm_cell_electrons electrons = electrons_of_cell(s, e, temperature, sides, c);
        const struct lm_exchange_bound r = lm_exchange_bound(&with, &electrons);
        noise2[0] = r.noise2;
        limited[0] = (lm_u64)r.limited;
    }
    lm_block_reduce<true>(&found[NOISE2], noise2);
    lm_block_reduce<false>(&found[LIMITED], limited);
}

void fill_temperatures(struct lm_gpu *g)
{
    temperature_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), electrons_of(g),
                                                                    g->exchange.temperature);
    LM_GPU_LAUNCHED(g, "exchange of heat");
}

} // namespace

int lm_gpu_heating_cells(struct lm_gpu *g, const struct lm_exchange_pass *pass)
{
    lm_gpu_halo_add(g, &g->exchange.sums, 1, LM_CELL_SUMS, 0, LM_SUM_ENERGY);
    if (pass->first)
        fill_temperatures(g);
    cells_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(
        shape_of(g), electrons_of(g), pass->with, g->exchange.temperature, (const int64_t *)g->exchange.sums,
        g->base.setup.grid.sides, g->exchange.cells);
    return LM_GPU_LAUNCHED(g, "exchange of heat");
}

int lm_gpu_heat_electrons(struct lm_gpu *g, int species, const struct lm_exchange_pass *pass)
{
    const struct lm_backend_species *p = &g->base.setup.species[species];
    const double unit = 0.5 * p->weight * p->mass * lm_exp2i(-pass->tally_v2);
    const int field = g->base.setup.background_count - 1;
    lm_gpu_halo_add(g, &g->exchange.sums, 1, LM_CELL_SUMS, LM_SUM_ENERGY, 1);
    heat_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(
        shape_of(g), entropy_of(g), g->advect.open, g->base.setup.ohm.gamma, unit, pass->quantum,
        g->base.setup.grid.own, g->exchange.cells, (int64_t *)g->exchange.sums, g->control->background[field].source);
    LM_GPU_LAUNCHED(g, "exchange of heat");
    return g->failed;
}

int lm_gpu_heat_exchange_limits(struct lm_backend *b, const struct lm_exchange *with, struct lm_exchange_limits *out)
{
    lm_gpu_range range("limits of the exchange of heat");
    struct lm_gpu *g = lm_gpu_of(b);
    lm_gpu_reduce_begin(g);
    fill_temperatures(g);
    limits_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), electrons_of(g), *with,
                                                               g->exchange.temperature, g->base.setup.grid.sides,
                                                               g->base.setup.grid.own, g->reduced->value);
    LM_GPU_LAUNCHED(g, "limits of the exchange of heat");
    if (lm_gpu_reduce_end(g))
        return g->failed;
    const lm_u64 *found = g->reduced_host->value;
    *out = {lm_from_bits(found[NOISE2]), (int64_t)found[LIMITED]};
    return LM_OK;
}
