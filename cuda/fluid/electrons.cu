/* CUDA backend: electrons whose pressure is evolved. The bodies of the loops are in larmor/physics/fluid/electrons.h,
 * joule_heating.h and conduction.h.
 *
 * A thread takes a cell, and each loop of src/cpu/electrons.c is a kernel. There is no shared memory. Atomics are in
 * the sums only, one a warp. No rate of this file is recorded.
 */
#include "core/cells.cuh"
#include "core/halo.cuh"

#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/fields/wall.h"

namespace
{

/* Index of the cell whose values cell c has. */
__device__ __forceinline__ size_t image(const shape &s, const struct lm_sides &sides, cell c)
{
    lm_image_cell(&sides, s.nx, s.ny, &c.i, &c.j);
    return at(s, c.i, c.j);
}

__global__ void pressure_kernel(shape s, struct lm_sides sides, const double *entropy, double gamma, double *p)
{
    cell c;
    if (my_cell(s, LM_GHOST, c))
        p[at(s, c.i, c.j)] = lm_pressure_of(entropy[image(s, sides, c)], gamma);
}

/* Pressure and Joule heat at the beginning. */
__global__ void begin_kernel(shape s, struct lm_sides sides, struct lm_joule_fields fields, const double *entropy,
                             struct lm_ohm o, double *p, double *heat)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    p[k] = lm_pressure_of(entropy[k], o.gamma);
    heat[k] = lm_joule_heat(&fields, &sides, s.nx, s.ny, c.i, c.j, (long)k, &o);
}

__global__ void temperature_kernel(shape s, struct lm_sides sides, const double *p, const double *n, struct lm_ohm o,
                                   double *t)
{
    cell c;
    if (!my_cell(s, 1, c))
        return;
    const size_t k = image(s, sides, c);
    t[at(s, c.i, c.j)] = lm_conduction_temperature(p[k], n[k], &o);
}

/* A stage of Heun's method, from the pressure `p` to the pressure `to`. The step has begun with `start`. */
__global__ void conduct_kernel(shape s, struct lm_conduction by, const double *heat, struct lm_ohm o, int first,
                               double h, const double *start, const double *p, double *to)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    to[k] = lm_conduction_stage(&by, (long)k, heat, first, start, p, h, &o);
}

/* In own cells: brings the entropy to the new pressure, and adds up the change and the Joule heat. `p` is NULL if
 * nothing is conducted. */
__global__ void finish_kernel(shape s, struct lm_cells own, const double *p, const double *heat,
                              const struct lm_opening *open, struct lm_ohm o, int quantum, double dt, double *entropy,
                              lm_u64 *source, lm_u64 *heat_sum)
{
    struct lm_wide changed = {0, 0}, heated = {0, 0};
    each_cell(s, own, [&](int, int, size_t k) {
        const double before = entropy[k], pressure = lm_pressure_of(before, o.gamma);
        const double gain = lm_pressure_gain(pressure, p ? &p[k] : NULL, heat[k], dt, o.gamma);
        const double volume = lm_volume_at(open, (long)k);
        entropy[k] = lm_heat_cell(before, pressure, gain, volume, quantum, o.gamma, &changed);
        lm_count_heat(&heated, heat[k], volume, dt, lm_heat_exponent(quantum, o.gamma));
    });
    lm_block_sum_wide(source, changed);
    lm_block_sum_wide(heat_sum, heated);
}

/* The least density of both levels where heat is conducted. Its bits are inverted, so that it is a maximum. */
__global__ void least_kernel(shape s, struct lm_cells own, const double *older, const double *newer,
                             const uint8_t *clearance, double floor, lm_u64 *not_least)
{
    lm_u64 mine[1] = {0};
    each_cell(s, own, [&](int, int, size_t k) {
        raise(mine[0], ~lm_conducting_density_bits(older[k], clearance[k], floor));
        raise(mine[0], ~lm_conducting_density_bits(newer[k], clearance[k], floor));
    });
    lm_block_reduce<true>(not_least, mine);
}

} // namespace

int lm_gpu_evolved_pressure(struct lm_gpu *g)
{
    pressure_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(
        shape_of(g), g->base.setup.grid.sides, entropy_of(g), g->base.setup.ohm.gamma, g->array[LM_PRESSURE]);
    return LM_GPU_LAUNCHED(g, "pressure of the electrons");
}

int lm_gpu_heat(struct lm_backend *b, const struct lm_heat_pass *pass)
{
    lm_gpu_range range("heat");
    struct lm_gpu *g = lm_gpu_of(b);
    const shape s = shape_of(g);
    const struct lm_sides sides = b->setup.grid.sides;
    const struct lm_ohm o = b->setup.ohm;
    const int field = b->setup.background_count - 1;
    const double *n = g->array[pass->level];
    double *p = g->spare, *next = p + g->pitch, *t = next + g->pitch, *heat = t + g->pitch;
    const struct lm_joule_fields fields = {view_of(g, g->array[LM_B]),
                                           view_of(g, g->array[LM_J_NEW]),
                                           external_of(g),
                                           g->array[LM_ETA],
                                           g->advect.clearance,
                                           g->sides};
    const struct lm_conduction by = {
        t, n, view_of(g, g->array[LM_B]), g->advect.clearance, g->advect.open, b->setup.conductivity};
    const dim3 blocks = blocks_for(g, 0);
    const struct lm_level_weights at = lm_weights_of_heat(pass->level == LM_N_NEW);
    if (b->setup.friction_species > 0) { /* J and the resistivity as B stands */
        lm_gpu_closure(b, (enum lm_array)pass->level, (enum lm_array)pass->level, 0.0);
        lm_gpu_currents(g, g->array[LM_B], g->array[LM_J_NEW], NULL, at);
    }
    begin_kernel<<<blocks, THREADS, 0, g->stream>>>(s, sides, fields, entropy_of(g), o, p, heat);
    LM_GPU_LAUNCHED(g, "heat");
    if (b->setup.friction_species > 0)
        lm_gpu_add_friction_heat(g, at, heat);
    for (int k = 0; k < 2 * pass->substeps && !g->failed; k++) {
        if (lm_gpu_is_given_up(g))
            return lm_stop_give_up();
        const int first = k % 2 == 0;
        const double *from = first ? p : next;
        temperature_kernel<<<blocks_for(g, 1), THREADS, 0, g->stream>>>(s, sides, from, n, o, t);
        conduct_kernel<<<blocks, THREADS, 0, g->stream>>>(s, by, heat, o, first, pass->dt / pass->substeps, p, from,
                                                          first ? next : p);
        LM_GPU_LAUNCHED(g, "conduction of heat");
        if (!first)
            lm_gpu_halo_refresh(g, &p, 1);
    }
    finish_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(
        s, b->setup.grid.own, pass->substeps ? p : NULL, heat, g->advect.open, o, pass->quantum, pass->dt,
        entropy_of(g), g->control->background[field].source, g->control->heat);
    LM_GPU_LAUNCHED(g, "entropy of the electrons");
    lm_gpu_halo_refresh(g, &g->array[LM_BACKGROUND + field], 1);
    return g->failed;
}

int lm_gpu_least_density(struct lm_backend *b, double *least)
{
    lm_gpu_range range("least density");
    struct lm_gpu *g = lm_gpu_of(b);
    lm_gpu_reduce_begin(g);
    least_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), b->setup.grid.own, g->array[LM_N_OLD],
                                                                 g->array[LM_N_NEW], g->advect.clearance,
                                                                 b->setup.ohm.floor, &g->reduced->value[0]);
    LM_GPU_LAUNCHED(g, "least density");
    if (lm_gpu_reduce_end(g))
        return g->failed;
    const lm_u64 found = g->reduced_host->value[0];
    *least = found ? lm_from_bits(~found) : lm_infinity();
    return LM_OK;
}
