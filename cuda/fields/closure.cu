/* CUDA backend: copies of arrays, the closure of the electrons (larmor/physics/fields/closure.h), and what their
 * pressure adds to E and to the rate of B (pressure_gradient.h). One thread an element, ghost cells included, or one a
 * cell.
 *
 * Rate of closure_kernel (NVIDIA H200, 2026-11-21, commit ea438fb, 1024 x 1024 cells; tests/gpu/profile.md): 7.7 us.
 */
#include "core/cells.cuh"

#include "larmor/physics/fields/moments.h"
#include "larmor/physics/fields/pressure_gradient.h"
#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/void.h"

namespace
{

__global__ void closure_kernel(double *floored, double *p, const double *n, const double *other, size_t size,
                               struct lm_ohm o)
{
    size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k >= size)
        return;
    double f = lm_floored_mean(n[k], other[k], &o);
    floored[k] = f;
    if (p)
        p[k] = lm_pressure(f, &o);
}

/* 1 in empty cells, else 0, one thread a cell, ghost cells included. */
__global__ void empty_kernel(shape s, struct lm_sides sides, const double *n, const double *other,
                             const double *was_void, struct lm_ohm o, double *to)
{
    cell c;
    if (!my_cell(s, LM_GHOST, c))
        return;
    const struct lm_moment_image image = lm_moment_image(&sides, s.nx, s.ny, -1, c.i, c.j);
    const size_t k = at(s, image.i, image.j);
    to[at(s, c.i, c.j)] = lm_is_empty(n + k, other + k, s.stride, was_void[k], &o);
}

/* LM_PER_DENSITY of the mean of two densities, one thread a cell, ghost cells included. */
__global__ void per_density_kernel(shape s, struct lm_sides sides, const double *b, const double *n,
                                   const double *other, const double *empty, const uint8_t *solid, struct lm_ohm o,
                                   double whistler_floor, double *to)
{
    cell c;
    if (!my_cell(s, LM_GHOST, c))
        return;
    const struct lm_moment_image image = lm_moment_image(&sides, s.nx, s.ny, -1, c.i, c.j);
    const size_t k = at(s, image.i, image.j);
    to[at(s, c.i, c.j)] = lm_per_density(lm_floored_mean(n[k], other[k], &o), empty + k, view_of(b, s, k),
                                         solid ? solid[k] : 0, &o, whistler_floor);
}

__global__ void potential_kernel(const double *n, double least, size_t size, struct lm_ohm o, double *h)
{
    const size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k < size)
        h[k] = lm_pressure_potential(n[k], least, &o);
}

/* What LM_PRESSURE_E follows from. */
struct pressure_problem {
    const double *h, *p, *n;
    double least;
    const uint8_t *solid; /* NULL without bodies */
    int walls[2];
};

/* On the faces of a cell. There is none on walls that the face lies on, nor on faces of bodies: there E is that of
 * ohm.h and solid.h. */
__global__ void pressure_field_kernel(shape s, pressure_problem a, struct lm_ohm o, double *e)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    const bool at_wall[2] = {a.walls[0] && c.i == s.nx - 1, a.walls[1] && c.j == s.ny - 1};
    double v[2];
    LM_UNROLL
    for (int axis = 0; axis < 2; axis++)
        v[axis] = at_wall[axis] || (a.solid && lm_touches_body(a.solid + k, axis, s.stride))
                      ? 0.0
                      : lm_pressure_field(a.h + k, a.p + k, a.n + k, a.least, axis == 0 ? 1 : s.stride,
                                          axis == 0 ? o.inv_dx : o.inv_dy, &o);
    each_periodic(s, a.walls[0], a.walls[1], c.i, c.j, [&](unsigned to) {
        e[to] = v[0];
        e[s.pitch + to] = v[1];
    });
}

__global__ void battery_kernel(shape s, const double *e, struct lm_ohm o, double *to)
{
    cell c;
    if (!my_cell(s, LM_GHOST, c) || c.i == s.nx + LM_GHOST - 1 || c.j == s.ny + LM_GHOST - 1)
        return;
    const size_t k = at(s, c.i, c.j);
    to[k] = lm_battery(e + k, e + s.pitch + k, s.stride, o.inv_dx, o.inv_dy);
}

/* The arrays of g->spare that are used here. */
double *potential_of(struct lm_gpu *g)
{
    return g->spare + 3 * g->pitch;
}

double *empty_of(struct lm_gpu *g)
{
    return g->spare + 7 * g->pitch;
}

double *battery_of(struct lm_gpu *g)
{
    return g->spare + 2 * g->pitch;
}

} // namespace

int lm_gpu_copy(struct lm_backend *b, enum lm_array to, enum lm_array from, int count)
{
    struct lm_gpu *g = lm_gpu_of(b);
    for (int k = 0; k < count; k++)
        lm_gpu_check(g,
                     cudaMemcpyAsync(g->array[to + k], g->array[from + k], b->setup.grid.size * sizeof(double),
                                     cudaMemcpyDeviceToDevice, g->stream),
                     "copy of an array");
    return g->failed;
}

int lm_gpu_find_per_density(struct lm_gpu *g, int density, int other, double substep)
{
    const struct lm_sides sides = g->base.setup.grid.sides;
    empty_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(
        shape_of(g), sides, g->array[density], g->array[other], g->array[LM_VOID], g->base.setup.ohm, empty_of(g));
    per_density_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(
        shape_of(g), sides, g->array[LM_B], g->array[density], g->array[other], empty_of(g), g->solid,
        g->base.setup.ohm, lm_whistler_floor(&g->base.setup.grid, substep), g->array[LM_PER_DENSITY]);
    return LM_GPU_LAUNCHED(g, "density in Ohm's law");
}

/* `p` may be NULL. */
static int close_density(struct lm_gpu *g, int density, int other, double substep, double *p)
{
    const int evolved = g->base.setup.ohm.evolved;
    closure_kernel<<<line_blocks(g->base.setup.grid.size), THREADS, 0, g->stream>>>(
        g->array[LM_FLOORED], evolved ? NULL : p, g->array[density], g->array[other], g->base.setup.grid.size,
        g->base.setup.ohm);
    LM_GPU_LAUNCHED(g, "closure");
    lm_gpu_find_per_density(g, density, other, substep);
    return evolved ? lm_gpu_evolved_pressure(g) : g->failed;
}

int lm_gpu_closure(struct lm_backend *b, enum lm_array density, enum lm_array other, double substep)
{
    lm_gpu_range range("closure");
    struct lm_gpu *g = lm_gpu_of(b);
    return close_density(g, density, other, substep, g->general.used ? g->array[LM_PRESSURE] : NULL);
}

int lm_gpu_pressure(struct lm_gpu *g)
{
    return close_density(g, LM_N_OLD, LM_N_OLD, 0.0, g->array[LM_PRESSURE]);
}

int lm_gpu_pressure_field(struct lm_gpu *g, const double *n, double least)
{
    const struct lm_ohm *o = &g->base.setup.ohm;
    const pressure_problem a = {potential_of(g),
                                g->array[LM_PRESSURE],
                                n,
                                least,
                                g->solid,
                                {lm_field_walls(&g->sides, 0), lm_field_walls(&g->sides, 1)}};
    if (!lm_has_pressure(o))
        return g->failed;
    if (o->gamma > 1.0)
        potential_kernel<<<line_blocks(g->base.setup.grid.size), THREADS, 0, g->stream>>>(
            n, least, g->base.setup.grid.size, *o, potential_of(g));
    pressure_field_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), a, *o, g->array[LM_PRESSURE_E]);
    return LM_GPU_LAUNCHED(g, "pressure in Ohm's law");
}

const double *lm_gpu_battery(struct lm_gpu *g)
{
    const struct lm_ohm *o = &g->base.setup.ohm;
    if (!g->has_battery)
        return NULL;
    lm_gpu_pressure_field(g, g->array[LM_FLOORED], o->floor);
    lm_gpu_fill_e(g, g->array[LM_PRESSURE_E], 2, LM_FILL_FARADAY);
    battery_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(shape_of(g), g->array[LM_PRESSURE_E], *o,
                                                                       battery_of(g));
    LM_GPU_LAUNCHED(g, "pressure in Faraday's law");
    return battery_of(g);
}
