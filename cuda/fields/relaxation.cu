/* CUDA backend: B where it diffuses fast (larmor/physics/fields/relaxation.h). One thread a cell, ghost cells beyond
 * walls included; one kernel a stage. Where B does not diffuse a thread reads densities and resistivities only.
 */
#include "core/cells.cuh"
#include "core/halo.cuh"

#include "larmor/physics/fields/fields.h"

namespace
{

/* A stage. `to` holds the result of the stage before the last one and takes that of this one. */
__global__ void relaxation_kernel(shape s, struct lm_relaxation f, struct lm_relaxation_stage stage, bool first,
                                  const double *last, double *to)
{
    const int walls_x = lm_field_walls(&f.sides, 0), walls_y = lm_field_walls(&f.sides, 1);
    const int beyond_x = walls_x ? LM_GHOST : 0, beyond_y = walls_y ? LM_GHOST : 0;
    cell c;
    my_cell(s, LM_GHOST, c);
    if (c.i < -beyond_x || c.j < -beyond_y || c.i >= s.nx + beyond_x - walls_x || c.j >= s.ny + beyond_y - walls_y)
        return;
    struct lm_vector v;
    if (!lm_relaxation_rate(&f, c.i, c.j, &v) && !first)
        return;
    const size_t k = at(s, c.i, c.j);
    const double rate[3] = {v.x, v.y, v.z};
    LM_UNROLL
    for (int d = 0; d < 3; d++) {
        const double now = last[d * s.pitch + k], before = first ? now : to[d * s.pitch + k];
        const double next = lm_relaxed(stage, lm_is_held(&f.sides, d, c.i, c.j, s.nx, s.ny), now, before, rate[d]);
        each_periodic(s, walls_x, walls_y, c.i, c.j, [&](unsigned image) { to[d * s.pitch + image] = next; });
    }
}

} // namespace

int lm_gpu_relax_b(struct lm_backend *b, double dt, int stages)
{
    lm_gpu_range range("relax b");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_grid *grid = &b->setup.grid;
    const struct lm_ohm *o = &b->setup.ohm;
    const double k2 = lm_largest_k2(grid, o->inv_dx, o->inv_dy);
    double *const state = g->array[LM_B], *const work = g->next_b;
    double *const arrays[3] = {work, work + g->pitch, work + 2 * g->pitch};
    if (dt > 0 && b->setup.local_eta)
        lm_gpu_halo_refresh(g, &g->array[LM_ETA], 1);
    for (int number = 1; number <= stages; number++) {
        const double *last = number % 2 ? state : work;
        const struct lm_relaxation f = {view_of(g, last),
                                        external_of(g),
                                        dt > 0 ? g->array[LM_ETA] : NULL,
                                        lm_most_in_substeps(o),
                                        lm_relaxation_share(dt, stages, k2),
                                        {g->solid, g->node, g->array[LM_PER_DENSITY]},
                                        g->sides,
                                        grid->nx,
                                        grid->ny,
                                        o->inv_dx,
                                        o->inv_dy};
        relaxation_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(
            shape_of(g), f, lm_relaxation_stage(number, k2), number == 1, last, number % 2 ? work : state);
        if (number % LM_RELAXATION_EXCHANGE == 0) {
            lm_gpu_halo_refresh(g, g->array + LM_B, 3);
            lm_gpu_halo_refresh(g, arrays, 3);
        }
    }
    return LM_GPU_LAUNCHED(g, "the relaxation of B");
}
