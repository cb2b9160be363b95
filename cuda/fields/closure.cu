/* CUDA backend: copies of arrays, the closure of the electrons (larmor/physics/fields/closure.h), maxima of B with its
 * density, and what their pressure adds to E and to the rate of B (pressure_gradient.h). One thread an element, ghost
 * cells included, or one a cell, or one for a few cells.
 *
 * Rate of density_kernel without the survey (NVIDIA H200, 2026-11-30, 1024 x 1024 cells; docs/performance/results.md):
 * 36 us for the two of a step.
 */
#include "core/cells.cuh"
#include "core/early.cuh"

#include "larmor/physics/fields/moments.h"
#include "larmor/physics/fields/pressure_gradient.h"
#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/void.h"

namespace
{

/* What is found of the mean of two densities. floored, p: NULL where they are not wanted. */
struct density_problem {
    const double *n, *other, *was_void, *b;
    const uint8_t *solid; /* NULL without bodies */
    struct lm_field_sides fields;
    double whistler_floor;
    double *floored, *p, *per_density;
};

/* Numbers of lm_is_void's cells in a row. */
enum { ROW = 2 * LM_VOID_REACH + 1 };

/* lm_is_empty, for few cells: a thread with many cells needs the registers that its loops would take. */
__device__ __noinline__ bool is_thin_cell_empty(const double *n, const double *other, int stride, double was_void,
                                                const struct lm_ohm *o)
{
    return lm_is_empty(n, other, stride, was_void, o);
}

/* lm_is_void in cell (i, j), without an array of empty cells: hardly a cell is empty, so hardly a thread looks around.
 * Most cells around are empty or not by their own density alone. The loads of a row of these do not wait for each
 * other. CALLS: thin cells are looked at in a function of its own. */
template <bool CALLS>
__device__ bool is_void(const shape &s, const struct lm_sides &sides, const density_problem &a, const struct lm_ohm &o,
                        int i, int j)
{
    const auto is_empty = [&](unsigned k) {
        if (!(lm_mean(a.n[k], a.other[k]) < o.floor))
            return false;
        return CALLS ? is_thin_cell_empty(a.n + k, a.other + k, s.stride, a.was_void[k], &o)
                     : (bool)lm_is_empty(a.n + k, a.other + k, s.stride, a.was_void[k], &o);
    };
    unsigned column[ROW], outside = 0; /* bits of the columns beyond sides that count as empty */
    int count = 0;
    if (!is_empty((unsigned)at(s, i, j)))
        return false;
    LM_UNROLL
    for (int n = 0; n < ROW; n++) {
        column[n] = (unsigned)lm_moment_image(&sides, s.nx, s.ny, -1, i + n - LM_VOID_REACH, j).i;
        outside |= (unsigned)lm_is_vacuum_beyond(&a.fields, s.nx, s.ny, i + n - LM_VOID_REACH, j) << n;
    }
#pragma unroll 1
    for (int r = 0; r < ROW && count < LM_VOID_COUNT; r++) {
        const unsigned row = (unsigned)at(s, 0, lm_moment_image(&sides, s.nx, s.ny, -1, i, j + r - LM_VOID_REACH).j);
        const unsigned sure = lm_is_vacuum_beyond(&a.fields, s.nx, s.ny, i, j + r - LM_VOID_REACH) ? ~0u : outside;
        unsigned unsure = 0;
        LM_UNROLL
        for (int n = 0; n < ROW; n++) {
            const unsigned k = row + column[n];
            const double mean = lm_mean(a.n[k], a.other[k]);
            count += (sure >> n & 1) || mean < LM_VOID_SHARE * o.floor;
            unsure |= (unsigned)(mean >= LM_VOID_SHARE * o.floor && mean < o.floor) << n & ~sure;
        }
        LM_UNROLL
        for (int n = 0; n < ROW; n++)
            if (unsure >> n & 1)
                count += is_empty(row + column[n]);
    }
    return count >= LM_VOID_COUNT;
}

/* What limits the next step by B, in a periodic domain without bodies and coils. */
struct survey_problem {
    const double *ji, *eta; /* NULL: eta is 0 */
    double k2;              /* lm_largest_k2 */
    struct lm_cells own;    /* the cells that count */
    struct lm_gpu_control *control;
};

enum { MANY = 4 }; /* cells of a thread in large domains */

/* Rows of a block. One with the survey fits into the registers that the substeps of B leave on a multiprocessor. */
template <bool SURVEY> constexpr int rows_of = SURVEY ? 3 : TY;

/* CELLS cells a thread, ROWS rows apart: their loads do not wait for each other. Ghost cells included. SURVEY: also the
 * maxima of B, which read what is read here. */
template <int CELLS, bool SURVEY>
__global__ void __launch_bounds__(rows_of<SURVEY> *TX, SURVEY ? 8 : 3)
    density_kernel(shape s, struct lm_sides sides, density_problem a, const __grid_constant__ struct lm_ohm o,
                   survey_problem q)
{
    enum { ROWS = rows_of<SURVEY> };
    await_last();
    allow_next();
    const int i = (int)(blockIdx.x * TX + threadIdx.x % TX) - LM_GHOST, last = s.ny + LM_GHOST - 1,
              j = (int)(blockIdx.y * CELLS * ROWS + threadIdx.x / TX) - LM_GHOST;
    const bool is_out = i >= s.nx + LM_GHOST || j > last;
    if (is_out && !SURVEY) /* else all threads of the block reduce */
        return;
    const int count = is_out ? 0 : min(CELLS, (last - j) / ROWS + 1);
    unsigned image[CELLS], voids = 0;
    double mean[CELLS];
    struct lm_field_maxima m = {};
    LM_UNROLL
    for (int c = 0; c < CELLS; c++) {
        const struct lm_moment_image of =
            lm_moment_image(&sides, s.nx, s.ny, -1, SURVEY ? min(i, s.nx + LM_GHOST - 1) : i, min(j + c * ROWS, last));
        image[c] = (unsigned)at(s, of.i, of.j);
    }
    LM_UNROLL
    for (int c = 0; c < CELLS; c++)
        mean[c] = lm_mean(a.n[image[c]], a.other[image[c]]);
    LM_UNROLL
    for (int c = 0; c < CELLS; c++)
        voids |= (unsigned)(c < count && mean[c] < o.floor && !(a.solid && a.solid[image[c]])) << c;
#pragma unroll 1
    for (unsigned left = voids; left; left &= left - 1) { /* those that are thin enough to be void */
        const int c = __ffs((int)left) - 1;
        const struct lm_moment_image of = lm_moment_image(&sides, s.nx, s.ny, -1, i, j + c * ROWS);
        voids &= ~((unsigned)!is_void<(CELLS > 1)>(s, sides, a, o, of.i, of.j) << c);
    }
    LM_UNROLL
    for (int c = 0; c < CELLS; c++)
        if (c < count) {
            const unsigned own = (unsigned)at(s, i, j + c * ROWS), k = image[c];
            const double floored = lm_floored(mean[c], &o);
            if (a.floored) {
                const double f = own == k ? floored : lm_floored_mean(a.n[own], a.other[own], &o);
                a.floored[own] = f;
                if (a.p)
                    a.p[own] = lm_pressure(f, &o);
            }
            const double per_density =
                voids >> c & 1 ? 0.0 : lm_plasma_per_density(floored, view_of(a.b, s, k), &o, a.whistler_floor);
            a.per_density[own] = per_density;
            if (SURVEY && is_in(q.own, i, j + c * ROWS))
                lm_limit_frequency(&m, 0, lm_b_centre(view_of(a.b, s, k)), vector_at(q.ji, s, k), mean[c], per_density,
                                   q.eta ? q.eta[k] : 0.0, q.k2, &o);
        }
    if constexpr (SURVEY) {
        const lm_u64 largest[2] = {m.frequency, m.eta}, counts[2] = {m.floored, m.voids};
        lm_block_reduce<true>(&q.control->frequency, largest); /* and eta, the next one */
        lm_block_reduce<false>(&q.control->floored, counts);   /* and voids */
    }
}

/* lm_density_for_battery of the mean of two densities, one thread a cell, ghost cells included. */
__global__ void count_kernel(shape s, struct lm_sides sides, const double *n, const double *other, const double *b,
                             const double *entropy, struct lm_ohm o, double *counted)
{
    cell c;
    if (!my_cell(s, LM_GHOST, c))
        return;
    const struct lm_moment_image image = lm_moment_image(&sides, s.nx, s.ny, -1, c.i, c.j);
    const size_t k = at(s, image.i, image.j);
    const double here = lm_counted_density(lm_floored_mean(n[k], other[k], &o), view_of(b, s, k), &o);
    counted[at(s, c.i, c.j)] = lm_density_for_battery(here, entropy[k], &o);
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

/* On the upper faces of a cell, and on the lower walls. There is none on walls that the face lies on, nor on faces of
 * bodies: there E is that of ohm.h and solid.h. */
template <bool FOR_B> __global__ void pressure_field_kernel(shape s, pressure_problem a, struct lm_ohm o, double *e)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    const size_t k = at(s, c.i, c.j);
    const bool at_wall[2] = {a.walls[0] && c.i == s.nx - 1, a.walls[1] && c.j == s.ny - 1};
    double v[2];
    LM_UNROLL
    for (int axis = 0; axis < 2; axis++) {
        const int step = axis == 0 ? 1 : s.stride;
        const double r = axis == 0 ? o.inv_dx : o.inv_dy;
        v[axis] = at_wall[axis] || (a.solid && lm_touches_body(a.solid + k, axis, s.stride)) ? 0.0
                  : FOR_B ? lm_battery_field(a.h + k, a.p + k, a.n + k, a.least, step, r, &o)
                          : lm_pressure_field(a.h + k, a.p + k, a.n + k, a.least, step, r, &o);
        if (a.walls[axis] && (axis == 0 ? c.i : c.j) == 0)
            each_periodic(s, a.walls[0], a.walls[1], c.i - (axis == 0), c.j - (axis == 1),
                          [&](unsigned to) { e[axis * s.pitch + to] = 0.0; });
    }
    each_periodic(s, a.walls[0], a.walls[1], c.i, c.j, [&](unsigned to) {
        e[to] = v[0];
        e[s.pitch + to] = v[1];
    });
}

__global__ void battery_kernel(shape s, struct lm_sides sides, const uint8_t *clearance, const double *e,
                               struct lm_ohm o, double *to)
{
    cell c;
    if (!my_cell(s, LM_GHOST, c) || c.i == s.nx + LM_GHOST - 1 || c.j == s.ny + LM_GHOST - 1)
        return;
    const size_t k = at(s, c.i, c.j);
    to[k] = lm_has_battery(clearance, &sides, s.nx, s.ny, s.stride, c.i, c.j)
                ? lm_battery(e + k, e + s.pitch + k, s.stride, o.inv_dx, o.inv_dy)
                : 0.0;
}

/* One array of g->spare serves both: the battery does not need the potential any more. */
double *potential_of(struct lm_gpu *g)
{
    return g->spare + 3 * g->pitch;
}

double *battery_of(struct lm_gpu *g)
{
    return potential_of(g);
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

/* The result goes to `per_density`. Who also wants `floored` and `p` sets them. */
static density_problem density_problem_of(const struct lm_gpu *g, int density, int other, double substep,
                                          double *per_density)
{
    return {g->array[density],
            g->array[other],
            g->array[LM_VOID],
            g->array[LM_B],
            g->solid,
            g->sides,
            lm_whistler_floor(&g->base.setup.grid, substep),
            NULL,
            NULL,
            per_density};
}

template <bool SURVEY>
static int find_density(struct lm_gpu *g, cudaStream_t stream, const density_problem &a, const survey_problem &q = {})
{
    const unsigned rows = rows_of<SURVEY>;
    dim3 blocks = blocks_for(g, LM_GHOST);
    const bool many = blocks.x * blocks.y > (unsigned)(MANY * g->processors);
    auto kernel = many ? density_kernel<MANY, SURVEY> : density_kernel<1, SURVEY>;
    const unsigned up = rows * (many ? MANY : 1);
    blocks.y = (blocks.y * TY + up - 1) / up;
    launch_early(g, lm_gpu_is_small(g) && stream == g->stream, blocks, rows * TX, 0, stream, kernel, shape_of(g),
                 g->base.setup.grid.sides, a, g->base.setup.ohm, q);
    return LM_GPU_LAUNCHED(g, "density in Ohm's law");
}

int lm_gpu_find_per_density(struct lm_gpu *g, int density)
{
    return find_density<false>(g, g->stream, density_problem_of(g, density, density, 0.0, g->array[LM_PER_DENSITY]));
}

static int survey_b(struct lm_gpu *g, cudaStream_t stream, int level, double *per_density)
{
    const struct lm_ohm *o = &g->base.setup.ohm;
    const survey_problem q = {g->array[level + 1], g->resistive ? g->array[LM_ETA] : NULL,
                              lm_largest_k2(&g->base.setup.grid, o->inv_dx, o->inv_dy), g->base.setup.grid.own,
                              g->control};
    return find_density<true>(g, stream, density_problem_of(g, level, level, 0.0, per_density), q);
}

int lm_gpu_begin_survey(struct lm_gpu *g)
{
    if (g->base.setup.smoothing > 1) /* Ohm's law finds all maxima in the end */
        return g->failed;
    g->found_b = 1;
    lm_gpu_begin_maxima(g);
    lm_gpu_fork(g);
    return survey_b(g, g->beside.stream, LM_N_NEW, g->next_per_density);
}

int lm_gpu_survey_b(struct lm_gpu *g)
{
    if (!g->found_b)
        return survey_b(g, g->stream, LM_N_OLD, g->array[LM_PER_DENSITY]);
    double *const found = g->next_per_density;
    g->next_per_density = g->array[LM_PER_DENSITY];
    g->array[LM_PER_DENSITY] = found;
    g->found_b = 0;
    return g->failed;
}

/* `p` may be NULL. */
static int close_density(struct lm_gpu *g, int density, int other, double substep, double *p)
{
    const int evolved = g->base.setup.ohm.evolved;
    density_problem a = density_problem_of(g, density, other, substep, g->array[LM_PER_DENSITY]);
    a.floored = g->array[LM_FLOORED];
    a.p = evolved ? NULL : p;
    find_density<false>(g, g->stream, a);
    return evolved ? lm_gpu_evolved_pressure(g) : g->failed;
}

int lm_gpu_closure(struct lm_backend *b, enum lm_array density, enum lm_array other, double substep)
{
    lm_gpu_range range("closure");
    struct lm_gpu *g = lm_gpu_of(b);
    if (other == LM_N_NEW)
        lm_gpu_begin_pressure(g);
    return close_density(g, density, other, substep, g->general.used ? g->array[LM_PRESSURE] : NULL);
}

int lm_gpu_pressure(struct lm_gpu *g)
{
    return close_density(g, LM_N_OLD, LM_N_OLD, 0.0, g->array[LM_PRESSURE]);
}

int lm_gpu_pressure_field(struct lm_gpu *g, const double *n, double least, bool for_b)
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
    if (o->gamma > 1.0 && (for_b || !o->evolved))
        potential_kernel<<<line_blocks(g->base.setup.grid.size), THREADS, 0, g->stream>>>(
            n, least, g->base.setup.grid.size, *o, potential_of(g));
    auto kernel = for_b ? pressure_field_kernel<true> : pressure_field_kernel<false>;
    kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), a, *o, g->array[LM_PRESSURE_E]);
    return LM_GPU_LAUNCHED(g, "pressure in Ohm's law");
}

int lm_gpu_count_density(struct lm_gpu *g, const double *n, const double *other)
{
    const struct lm_setup *setup = &g->base.setup;
    count_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(
        shape_of(g), setup->grid.sides, n, other, g->array[LM_B], g->array[LM_BACKGROUND + setup->background_count - 1],
        setup->ohm, g->advect.counted);
    return LM_GPU_LAUNCHED(g, "density that counts for the electrons");
}

const double *lm_gpu_battery(struct lm_gpu *g)
{
    const struct lm_ohm *o = &g->base.setup.ohm;
    if (!o->evolved)
        return NULL;
    lm_gpu_count_density(g, g->array[LM_FLOORED], g->array[LM_FLOORED]);
    lm_gpu_pressure_field(g, g->advect.counted, o->floor, true);
    lm_gpu_fill_e(g, g->array[LM_PRESSURE_E], 2, LM_FILL_FARADAY);
    battery_kernel<<<blocks_for(g, LM_GHOST), THREADS, 0, g->stream>>>(
        shape_of(g), g->base.setup.grid.sides, g->advect.clearance, g->array[LM_PRESSURE_E], *o, battery_of(g));
    LM_GPU_LAUNCHED(g, "pressure in Faraday's law");
    return battery_of(g);
}
