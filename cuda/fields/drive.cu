/* CUDA backend: what drives the plasma from outside (larmor/physics/fields/driving.h). One thread a cell.
 *
 * No rate of these kernels is recorded.
 */
#include "core/cells.cuh"

#include "larmor/physics/fields/driving.h"
#include "larmor/physics/fields/wall.h"

namespace
{

/* The cell of this thread in blocks_for(g, LM_GHOST), and whether an expression is evaluated there: in the domain and
 * beyond walls. Beyond periodic sides there are images. */
__device__ __forceinline__ bool my_node(const shape &s, int walls_x, int walls_y, cell &c)
{
    return my_cell(s, LM_GHOST, c) && (walls_x || (c.i >= 0 && c.i < s.nx)) && (walls_y || (c.j >= 0 && c.j < s.ny));
}

/* J_ext; blockIdx.z is the component. */
__global__ void external_current_kernel(shape s, struct lm_grid g, int walls_x, int walls_y, const lm_driving *drive,
                                        const double *magnets, double *to, double t)
{
    const int d = blockIdx.z;
    cell c;
    if (!my_node(s, walls_x, walls_y, c))
        return;
    const double v =
        magnets[d * s.pitch + at(s, c.i, c.j)] + lm_driven_value(&drive->current[d], &g, lm_place_of_e(d), c.i, c.j, t);
    each_periodic(s, walls_x, walls_y, c.i, c.j, [&](size_t k) { to[d * s.pitch + k] = v; });
}

/* E, and that of the push, where it is given; blockIdx.z is the component. */
__global__ void given_e_kernel(shape s, struct lm_grid g, struct lm_field_sides sides, int walls_x, int walls_y,
                               const lm_driving *drive, double *e, double *push, double t)
{
    const int d = blockIdx.z;
    cell c;
    if (!my_node(s, walls_x, walls_y, c) || drive->e[d].length == 0)
        return;
    if (drive->everywhere || lm_is_given_e(&sides, d, c.i, c.j, s.nx, s.ny)) {
        const double v = lm_driven_value(&drive->e[d], &g, lm_place_of_e(d), c.i, c.j, t);
        each_periodic(s, walls_x, walls_y, c.i, c.j, [&](size_t k) { e[d * s.pitch + k] = v; });
    }
    if (drive->everywhere || lm_is_given_push(&sides, c.i, c.j, s.nx, s.ny)) {
        const double v = lm_driven_value(&drive->e[d], &g, lm_place_of_push(), c.i, c.j, t);
        each_periodic(s, walls_x, walls_y, c.i, c.j, [&](size_t k) { push[d * s.pitch + k] = v; });
    }
}

/* LM_PUSH_E with the force on a species and its friction with electrons; blockIdx.z is the component. `friction` is
 * NULL where there is none. */
__global__ void own_push_kernel(shape s, struct lm_grid g, int walls_x, int walls_y, const lm_driving *drive,
                                int species, double charge, const double *push, const double *friction, double *to,
                                double t)
{
    const int d = blockIdx.z;
    cell c;
    if (!my_node(s, walls_x, walls_y, c))
        return;
    const size_t at_c = d * s.pitch + at(s, c.i, c.j);
    const double v =
        lm_own_push(push[at_c], friction ? friction[at_c] : 0.0, &drive->force[species][d], &g, c.i, c.j, t, charge);
    each_periodic(s, walls_x, walls_y, c.i, c.j, [&](size_t k) { to[d * s.pitch + k] = v; });
}

/* The largest |F_d/Z| of a species; blockIdx.z is the component. */
__global__ void largest_force_kernel(shape s, struct lm_grid g, int walls_x, int walls_y, const lm_driving *drive,
                                     int species, double charge, double t, struct lm_gpu_sums *out)
{
    const int d = blockIdx.z;
    cell c;
    lm_u64 bits[1] = {0};
    if (my_node(s, walls_x, walls_y, c))
        bits[0] = lm_size_bits(lm_force_field(&drive->force[species][d], &g, c.i, c.j, t, charge));
    lm_block_reduce<true>(&out->value[d], bits);
}

/* What the kernels here are launched with. */
struct launch {
    shape s;
    struct lm_grid grid;
    int walls_x, walls_y;
    dim3 blocks;
};

launch launch_of(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    launch l = {shape_of(g), *grid, lm_has_walls(&grid->sides, 0), lm_has_walls(&grid->sides, 1),
                blocks_for(g, LM_GHOST)};
    l.blocks.z = 3;
    return l;
}

int find_largest_force(struct lm_gpu *g, int species, double largest[3])
{
    const launch l = launch_of(g);
    lm_gpu_reduce_begin(g);
    largest_force_kernel<<<l.blocks, THREADS, 0, g->stream>>>(l.s, l.grid, l.walls_x, l.walls_y, g->driving, species,
                                                              g->base.setup.species[species].charge, g->driving_time,
                                                              g->reduced);
    LM_GPU_LAUNCHED(g, "forces");
    lm_gpu_reduce_end(g);
    for (int d = 0; d < 3; d++)
        largest[d] = lm_from_bits(g->reduced_host->value[d]);
    return g->failed;
}

} // namespace

const double *lm_gpu_push_field(struct lm_gpu *g, int species)
{
    double *to = g->species[species].push;
    lm_gpu_fill_push_of_strips(g);
    if (!to)
        return g->array[LM_PUSH_E];
    const launch l = launch_of(g);
    own_push_kernel<<<l.blocks, THREADS, 0, g->stream>>>(l.s, l.grid, l.walls_x, l.walls_y, g->driving, species,
                                                         g->base.setup.species[species].charge, g->array[LM_PUSH_E],
                                                         g->array[LM_FRICTION_E + 3 * species], to, g->driving_time);
    LM_GPU_LAUNCHED(g, "E of the push of a species");
    return to;
}

int lm_gpu_drive(struct lm_backend *b, double t, double force[LM_MAX_SPECIES][3])
{
    lm_gpu_range range("drive");
    struct lm_gpu *g = lm_gpu_of(b);
    const launch l = launch_of(g);
    const struct lm_driving *drive = b->setup.driving;
    g->driving_time = t;
    if (b->setup.external_current)
        external_current_kernel<<<l.blocks, THREADS, 0, g->stream>>>(l.s, l.grid, l.walls_x, l.walls_y, g->driving,
                                                                     g->array[LM_MAGNET_J], g->array[LM_EXTERNAL_J], t);
    if (drive->e[0].length + drive->e[1].length + drive->e[2].length > 0)
        given_e_kernel<<<l.blocks, THREADS, 0, g->stream>>>(l.s, l.grid, g->sides, l.walls_x, l.walls_y, g->driving,
                                                            g->array[LM_E], g->array[LM_PUSH_E], t);
    LM_GPU_LAUNCHED(g, "driving");
    for (int s = 0; s < LM_MAX_SPECIES; s++)
        if (drive->forced[s])
            find_largest_force(g, s, force[s]);
        else
            force[s][0] = force[s][1] = force[s][2] = 0.0;
    return g->failed;
}
