/* CUDA backend: electrons whose pressure is evolved. The bodies are in larmor/physics/fluid/electrons.h.
 *
 * The plain way: a thread a cell, a kernel for each loop of src/cpu/electrons.c; no shared memory, atomics only in the
 * sums (one a warp). Nothing here has been measured yet.
 */
#include "core/cells.cuh"

#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/fields/wall.h"

namespace
{

/* The cell that one beyond the sides is an image of. */
__device__ __forceinline__ size_t image(const shape &s, const struct lm_sides &sides, const cell &c)
{
    int sign = 1;
    const int x = lm_node_inside(&sides, 0, s.nx, 0, 0, c.i, &sign);
    return at(s, x, lm_node_inside(&sides, 1, s.ny, 0, 0, c.j, &sign));
}

__global__ void pressure_kernel(shape s, struct lm_sides sides, const double *entropy, double gamma, double *p)
{
    cell c;
    if (my_cell(s, LM_GHOST, c))
        p[at(s, c.i, c.j)] = lm_pressure_of(entropy[image(s, sides, c)], gamma);
}

/* Pressure and heat at the beginning; 0 in bodies. */
__global__ void begin_kernel(shape s, struct lm_sides sides, struct lm_heat_given given, const double *entropy,
                             struct lm_ohm o, double *p, double *heat)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    const int periodic_x = !lm_has_walls(&sides, 0), periodic_y = !lm_has_walls(&sides, 1);
    const enum lm_face_place place[4] = {lm_face_place(c.i - 1, s.nx, periodic_x), lm_face_place(c.i, s.nx, periodic_x),
                                         lm_face_place(c.j - 1, s.ny, periodic_y),
                                         lm_face_place(c.j, s.ny, periodic_y)};
    p[k] = lm_pressure_of(entropy[k], o.gamma);
    heat[k] = given.room[k] ? lm_heat_in_cell(&given, (long)k, place, &o) : 0.0;
}

__global__ void temperature_kernel(shape s, struct lm_sides sides, const double *p, const double *n, struct lm_ohm o,
                                   double *t)
{
    cell c;
    if (!my_cell(s, 1, c))
        return;
    const size_t k = image(s, sides, c);
    t[at(s, c.i, c.j)] = p[k] / lm_floored(n[k], &o);
}

/* A stage of Heun's method: from `p`, the step having begun with `start`, into `to`. */
__global__ void conduct_kernel(shape s, struct lm_conduction by, const double *heat, struct lm_ohm o, int first,
                               double h, const double *start, const double *p, double *to)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    const double rate = (o.gamma - 1.0) * (heat[k] + lm_heat_conducted(&by, (long)k, &o));
    to[k] = lm_heated(first, start[k], p[k], rate, h);
}

/* The entropy with what its pressure has gained, and what that adds to the sums. `p` NULL: nothing is conducted. */
__global__ void finish_kernel(shape s, const double *p, const double *heat, struct lm_ohm o, int quantum, double dt,
                              double *entropy, lm_u64 *source, lm_u64 *heat_sum)
{
    cell c;
    struct lm_wide given = {0, 0}, heated = {0, 0};
    if (my_cell(s, 0, c)) {
        const size_t k = at(s, c.i, c.j);
        const double before = entropy[k];
        const double gain = p ? p[k] - lm_pressure_of(before, o.gamma) : (o.gamma - 1.0) * heat[k] * dt;
        const double after = lm_heated_entropy(before, gain, quantum, o.gamma);
        lm_wide_add_sound(&given, (after - before) * lm_exp2i(quantum));
        lm_wide_add_sound(&heated, lm_whole(heat[k] * dt * lm_exp2i(lm_heat_exponent(quantum, o.gamma))));
        entropy[k] = after;
    }
    lm_warp_sum_wide(source, given);
    lm_warp_sum_wide(heat_sum, heated);
}

/* The largest of the densities' bits turned over: of the least one. */
__global__ void least_kernel(shape s, const double *older, const double *newer, const uint8_t *room, double floor,
                             lm_u64 *not_least)
{
    cell c;
    lm_u64 mine = 0;
    if (my_cell(s, 0, c)) {
        const size_t k = at(s, c.i, c.j);
        const double n[2] = {older[k], newer[k]};
        for (int level = 0; level < 2; level++)
            if (room[k] && n[level] > floor)
                raise(mine, ~(lm_u64)lm_bits(n[level]));
    }
    lm_warp_max(not_least, mine);
}

struct lm_view view_of(const struct lm_gpu *g, int array)
{
    return {g->array[array], g->array[array + 1], g->array[array + 2], g->base.setup.grid.stride};
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
    const struct lm_heat_given given = {view_of(g, LM_B), view_of(g, LM_J_NEW), n, g->array[LM_ETA], g->advect.room};
    const struct lm_conduction by = {t, n, view_of(g, LM_B), g->advect.room, b->setup.conductivity};
    const dim3 blocks = blocks_for(g, 0);
    begin_kernel<<<blocks, THREADS, 0, g->stream>>>(s, sides, given, entropy_of(g), o, p, heat);
    LM_GPU_LAUNCHED(g, "heat");
    for (int k = 0; k < 2 * pass->substeps && !g->failed; k++) {
        if (lm_gpu_is_given_up(g))
            return lm_stop_give_up();
        const int first = k % 2 == 0;
        const double *from = first ? p : next;
        temperature_kernel<<<blocks_for(g, 1), THREADS, 0, g->stream>>>(s, sides, from, n, o, t);
        conduct_kernel<<<blocks, THREADS, 0, g->stream>>>(s, by, heat, o, first, pass->dt / pass->substeps, p, from,
                                                          first ? next : p);
        LM_GPU_LAUNCHED(g, "conduction of heat");
    }
    finish_kernel<<<blocks, THREADS, 0, g->stream>>>(s, pass->substeps ? p : NULL, heat, o, pass->quantum, pass->dt,
                                                     entropy_of(g), g->control->background[field].source,
                                                     g->control->heat);
    LM_GPU_LAUNCHED(g, "entropy of the electrons");
    return lm_gpu_background_extremes(g, field, pass->quantum);
}

int lm_gpu_least_density(struct lm_backend *b, double *least)
{
    lm_gpu_range range("least density");
    struct lm_gpu *g = lm_gpu_of(b);
    lm_gpu_reduce_begin(g);
    least_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(
        shape_of(g), g->array[LM_N_OLD], g->array[LM_N_NEW], g->advect.room, b->setup.ohm.floor, &g->reduced->value[0]);
    LM_GPU_LAUNCHED(g, "least density");
    if (lm_gpu_reduce_end(g))
        return g->failed;
    const lm_u64 found = g->reduced_host->value[0];
    *least = found ? lm_from_bits(~found) : lm_infinity();
    return LM_OK;
}
