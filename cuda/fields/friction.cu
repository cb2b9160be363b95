/* CUDA backend: friction between electrons and single species (larmor/physics/fields/electron_friction.h). One thread a
 * cell; the fields take the path of walls.cu. No rate of these kernels is recorded.
 */
#include "core/cells.cuh"
#include "core/halo.cuh"

#include "backend/friction.h"

namespace
{

/* Which axes end at walls. */
struct field_walls {
    int of[2];
};

field_walls walls_of(const struct lm_gpu *g)
{
    return {{lm_field_walls(&g->sides, 0), lm_field_walls(&g->sides, 1)}};
}

/* Adds the resistivity of friction to LM_ETA, and stores LM_FRICTION_FORCE: where local_eta_kernel works. */
__global__ void friction_kernel(shape s, const __grid_constant__ lm_friction f, field_walls walls, double *eta,
                                double *force)
{
    cell c;
    if (!my_cell(s, LM_GHOST, c) || c.i < -walls.of[0] || c.j < -walls.of[1] || c.i >= s.nx + 2 * walls.of[0] ||
        c.j >= s.ny + 2 * walls.of[1])
        return;
    const long k = (long)at(s, c.i, c.j);
    const struct lm_cell_friction sum = lm_friction_in_cell(&f, c.i, c.j, k);
    const double total = eta[k] + sum.eta;
    each_periodic(s, walls.of[0], walls.of[1], c.i, c.j, [&](size_t to) {
        eta[to] = total;
        put_vector(force, s, to, sum.force);
    });
}

/* Adds LM_FRICTION_FORCE to the motional field, wherever Ohm's law reads it; blockIdx.z is the component. */
__global__ void add_force_kernel(shape s, field_walls walls, const double *friction, double *motional)
{
    cell c;
    if (!my_cell(s, LM_GHOST, c) || c.i < -walls.of[0] || c.j < -walls.of[1] || c.i >= s.nx + 2 || c.j >= s.ny + 2)
        return;
    const size_t k = blockIdx.z * s.pitch + at(s, c.i, c.j);
    motional[k] += friction[k];
}

/* At the centres: what ions of the species number `which` of the list feel; which < 0: what all ions feel, added to
 * `to`. */
__global__ void friction_field_kernel(shape s, const __grid_constant__ lm_friction f, field_walls walls, int which,
                                      double *to)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const long k = (long)at(s, c.i, c.j);
    struct lm_vector e;
    if (which < 0) {
        const struct lm_vector add = lm_friction_of_current(&f, c.i, c.j, k);
        e = vector_at(to, s, k);
        e.x += add.x, e.y += add.y, e.z += add.z;
    } else {
        e = lm_friction_field(&f, which, c.i, c.j, k);
    }
    each_periodic(s, walls.of[0], walls.of[1], c.i, c.j, [&](size_t image) { put_vector(to, s, image, e); });
}

/* Adds the heat of the friction. */
__global__ void friction_heat_kernel(shape s, const __grid_constant__ lm_friction f, double *heat)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const long k = (long)at(s, c.i, c.j);
    heat[k] += lm_friction_heat(&f, c.i, c.j, k);
}

/* The largest |E_c| in `cells`; blockIdx.z is the component. */
__global__ void largest_friction_kernel(shape s, struct lm_cells cells, const double *e, lm_u64 *largest)
{
    cell c;
    lm_u64 bits[1] = {0};
    if (my_cell(s, LM_GHOST, c) && is_in(cells, c.i, c.j))
        bits[0] = lm_size_bits(e[blockIdx.z * s.pitch + at(s, c.i, c.j)]);
    lm_block_reduce<true>(&largest[blockIdx.z], bits);
}

/* With the field `b`. */
struct lm_friction friction_of(const struct lm_gpu *g, struct lm_level_weights at, const double *b)
{
    struct lm_friction f = lm_friction_of(&g->base.setup, g->array, at, g->driving->friction_eta, g->driving_time);
    f.current = view_of(g, g->general.curl);
    f.b = view_of(g, b);
    f.solid = g->solid;
    return f;
}

dim3 blocks_of_components(const struct lm_gpu *g)
{
    dim3 blocks = blocks_for(g, LM_GHOST);
    blocks.z = 3;
    return blocks;
}

} // namespace

void lm_gpu_add_friction(struct lm_gpu *g, struct lm_level_weights at, const double *b)
{
    double *force = g->array[LM_FRICTION_FORCE];
    friction_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(shape_of(g), friction_of(g, at, b), walls_of(g),
                                                                        g->array[LM_ETA], force);
    add_force_kernel<<<blocks_of_components(g), THREADS, 0, g->stream>>>(shape_of(g), walls_of(g), force,
                                                                         g->general.motional);
    LM_GPU_LAUNCHED(g, "friction with electrons");
}

void lm_gpu_friction_field(struct lm_gpu *g, struct lm_level_weights at, int which, double *to)
{
    friction_field_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), friction_of(g, at, g->array[LM_B]),
                                                                       walls_of(g), which, to);
    LM_GPU_LAUNCHED(g, "friction with electrons");
}

void lm_gpu_add_friction_heat(struct lm_gpu *g, struct lm_level_weights at, double *heat)
{
    friction_heat_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), friction_of(g, at, g->array[LM_B]),
                                                                      heat);
    LM_GPU_LAUNCHED(g, "heat of friction");
}

void lm_gpu_survey_friction(struct lm_gpu *g)
{
    const field_walls walls = walls_of(g);
    const struct lm_cells cells =
        lm_own_and_beyond(&g->base.setup.grid, walls.of[0] ? LM_GHOST : 0, walls.of[1] ? LM_GHOST : 0);
    for (int k = 0; k < g->base.setup.friction_species; k++) {
        const int species = lm_friction_species(&g->base.setup, k);
        largest_friction_kernel<<<blocks_of_components(g), THREADS, 0, g->stream>>>(
            shape_of(g), cells, g->array[LM_FRICTION_E + 3 * species], g->control->friction_e[species]);
    }
    LM_GPU_LAUNCHED(g, "survey of friction");
}
