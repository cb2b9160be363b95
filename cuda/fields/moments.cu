/* CUDA backend: moments of the ions (larmor/physics/fields/moments.h), and the binomial filter.
 *
 * In a periodic domain without bodies a warp goes up a strip of columns with the moments of the last species; all else
 * has one thread a cell. Who writes a cell there also writes its periodic images, so no kernel fills ghost cells. With
 * walls or bodies each step has a kernel of its own, and ghost cells are filled after it. There are no atomics but for
 * the sum of the density, one a warp.
 *
 * Rate of moments_kernel, one species, with a pass of the filter (NVIDIA H200, 2026-11-21, commit ea438fb, 1024 x 1024
 * cells; tests/gpu/profile.md): 37.5 us.
 */
#include "core/cells.cuh"
#include "core/early.cuh"
#include "core/halo.cuh"

#include "larmor/physics/fields/fields.h"

namespace
{

/* A species, and the arrays of the four moments. */
struct species_moments {
    lm_u64 *sums[4], *clear[4];
    double *raw[4], *out[4], *number;
    double *alone[4];    /* the moments of this species alone, as deposited; NULL without friction */
    const float *factor; /* struct lm_obstacles; NULL without bodies */
    double charge, weight;
    int speed_exponent;
    lm_u64 *charge_quanta; /* sum of the density in own cells, as integers */
    struct lm_cells own;
};

/* Every species but the last, and with walls or bodies every species. `raw` has no images. */
__global__ void collect_kernel(shape s, species_moments a, int first)
{
    lm_u64 density = 0;
    cell c;
    if (my_cell(s, 0, c)) {
        size_t m = (size_t)c.j * s.nx + c.i, k = at(s, c.i, c.j);
        const int64_t quanta[4] = {(int64_t)a.sums[0][m], (int64_t)a.sums[1][m], (int64_t)a.sums[2][m],
                                   (int64_t)a.sums[3][m]};
        double add[4];
        const double number = lm_species_moments(quanta, a.charge, a.weight, a.speed_exponent, add);
        store(s, a.number, c.i, c.j, a.factor ? lm_moment_in_cell(a.factor[m], number) : number);
        LM_UNROLL
        for (int d = 0; d < 4; d++) {
            a.raw[d][k] = lm_add_moment(first, first ? 0.0 : a.raw[d][k], add[d]);
            a.sums[d][m] = 0;
            if (a.alone[d])
                a.alone[d][k] = add[d];
        }
        density = is_in(a.own, c.i, c.j) ? (lm_u64)quanta[0] : 0;
    }
    lm_warp_sum(a.charge_quanta, density);
}

/* Ghost cells of moments. blockIdx.y is the array of a group; if the group is `vector`, its second and third array are
 * currents along x and y. */
__global__ void ghost_kernel(shape s, struct lm_sides sides, double *group, int vector)
{
    const int width = s.nx + 2 * LM_GHOST, element = blockIdx.x * THREADS + threadIdx.x;
    const int i = element % width - LM_GHOST, j = element / width - LM_GHOST, along = vector ? (int)blockIdx.y - 1 : -1;
    if (j >= s.ny + LM_GHOST || (i >= 0 && i < s.nx && j >= 0 && j < s.ny))
        return;
    const struct lm_moment_image image = lm_moment_image(&sides, s.nx, s.ny, along, i, j);
    double *a = group + blockIdx.y * s.pitch;
    a[at(s, i, j)] = image.sign * a[at(s, image.i, image.j)];
}

/* Moments as the cells have them, without ghost cells. `factor` (struct lm_obstacles) is read with BODIES only. */
template <bool BODIES> __global__ void take_kernel(shape s, const float *factor, const double *raw, double *out)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    size_t k = at(s, c.i, c.j), local = (size_t)c.j * s.nx + c.i;
    for (int d = 0; d < 4; d++)
        out[d * s.pitch + k] = BODIES ? lm_moment_in_cell(factor[local], raw[d * s.pitch + k]) : raw[d * s.pitch + k];
}

enum { HALO = 1, STRIPS = 20 /* that run on a multiprocessor at a time */ };

/* A cell of a row as it comes from memory. Nothing is computed with it here, so nothing waits for it. */
struct moments_cell {
    int64_t sums[4];
    double before[4]; /* moments of the species before, unless the species is ALONE */
};

template <bool ALONE>
__device__ __forceinline__ moments_cell cell_at(const shape &s, const species_moments &a, int column, int row)
{
    unsigned m = (unsigned)row * s.nx + column, k = (unsigned)at(s, column, row);
    moments_cell c = {};
    LM_UNROLL
    for (int d = 0; d < 4; d++) {
        c.sums[d] = (int64_t)a.sums[d][m];
        if (!ALONE)
            c.before[d] = a.raw[d][k];
    }
    return c;
}

/* Adds the last species to those before it, and with SMOOTH filters the moments once. A warp goes up a strip of
 * columns; registers keep what it needs of the rows below. It clears the spare sums, because neighbouring warps read
 * the others. */
template <bool ALONE, bool SMOOTH>
__global__ void __launch_bounds__(LANES, STRIPS) moments_kernel(shape s, species_moments a, int rows)
{
    await_last();
    allow_next();
    int lane = threadIdx.x, i = blockIdx.x * (LANES - 2 * HALO) + lane - HALO, column = lm_wrap(i, s.nx);
    bool mine = lane >= HALO && lane < LANES - HALO && i < s.nx;
    int first = blockIdx.y * rows, last = min(first + rows, s.ny), row = lm_wrap(first - HALO, s.ny);
    moments_cell coming = cell_at<ALONE>(s, a, column, row);
    /* Of rows j - 2, j - 1, j: the moments, and the sums left and right of them. */
    double centre[4][3] = {}, sides[4][3] = {};
    double number = 0.0; /* of row j - 1: number density */
    lm_u64 density = 0;
    for (int j = first - HALO; j <= last; j++) {
        moments_cell here = coming;
        row = row + 1 == s.ny ? 0 : row + 1;
        if (j < last)
            coming = cell_at<ALONE>(s, a, column, row); /* the next row is loaded while this one is worked on */
        __syncwarp();                                   /* else the compiler would load it after the shuffles */
        if (mine && j >= first && j < last && is_in(a.own, i, j))
            density += (lm_u64)here.sums[0];
        double v[4], number_below = number;
        number = lm_species_moments(here.sums, a.charge, a.weight, a.speed_exponent, v);
        LM_UNROLL
        for (int d = 0; d < 4 && !ALONE; d++)
            v[d] = lm_add_moment(0, here.before[d], v[d]);
        LM_UNROLL
        for (int d = 0; d < 4; d++) {
            centre[d][0] = centre[d][1];
            centre[d][1] = centre[d][2];
            centre[d][2] = v[d];
            sides[d][0] = sides[d][1];
            sides[d][1] = sides[d][2];
            sides[d][2] = SMOOTH ? left(v[d]) + right(v[d]) : 0.0;
        }
        if (!mine || j <= first)
            continue;
        unsigned m = (unsigned)(j - 1) * s.nx + i;
        double result[4];
        LM_UNROLL
        for (int d = 0; d < 4; d++) {
            result[d] = SMOOTH ? lm_binomial_rows(centre[d], sides[d]) : centre[d][1];
            a.clear[d][m] = 0;
        }
        each_image(s, i, j - 1, [&](unsigned k) {
            a.number[k] = number_below;
            LM_UNROLL
            for (int d = 0; d < 4; d++)
                a.out[d][k] = result[d];
        });
    }
    lm_warp_sum(a.charge_quanta, density);
}

/* --- the filter; blockIdx.z is the array of a group --- */

__global__ void smooth_kernel(shape s, const double *from, double *to)
{
    cell c;
    size_t group = blockIdx.z * s.pitch;
    if (my_cell(s, 0, c))
        store(s, to + group, c.i, c.j, lm_binomial(from + group + at(s, c.i, c.j), s.stride));
}

/* Among bodies; writes no ghost cells. */
__global__ void smooth_near_body_kernel(shape s, const uint8_t *solid, const double *from, double *to)
{
    cell c;
    if (!my_cell(s, 0, c))
        return;
    size_t k = at(s, c.i, c.j), group = blockIdx.z * s.pitch;
    to[group + k] = lm_binomial_near_body(from + group + k, solid + k, s.stride);
}

} // namespace

int lm_gpu_smooth(struct lm_gpu *g, double *to, int count, int passes)
{
    dim3 blocks = blocks_for(g, 0);
    blocks.z = (unsigned)count;
    for (int left = passes; left > 0; left--)
        smooth_kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), left % 2 ? g->spare : to,
                                                         left % 2 ? to : g->spare);
    return LM_GPU_LAUNCHED(g, "smoothing");
}

static species_moments moments_of_species(const struct lm_gpu *g, int species, int speed_exponent)
{
    const struct lm_backend_species *s = &g->base.setup.species[species];
    int passes = g->base.setup.smoothing; /* moments_kernel makes the first one; the last one must end in LM_N_NEW */
    double *out = passes > 0 && passes % 2 == 0 ? g->spare : g->array[LM_N_NEW];
    species_moments a;
    for (int d = 0; d < 4; d++) {
        a.sums[d] = g->sums + d * g->base.setup.grid.cells;
        a.clear[d] = g->spare_sums + d * g->base.setup.grid.cells;
        a.raw[d] = g->raw + d * g->pitch;
        a.out[d] = out + d * g->pitch;
        a.alone[d] = g->array[LM_SPECIES_NEW + 4 * species + d];
    }
    a.number = g->array[LM_SPECIES_N + species];
    a.factor = g->factor;
    a.charge_quanta = &g->control->species[species].charge_quanta;
    a.charge = s->charge;
    a.weight = s->weight;
    a.speed_exponent = speed_exponent;
    a.own = g->base.setup.grid.own;
    return a;
}

/* Whether each step of the moments has a kernel of its own: where they meet walls or bodies, and where single species
 * have moments of their own. */
static bool takes_plain_path(const struct lm_gpu *g)
{
    const struct lm_sides *sides = &g->base.setup.grid.sides;
    return lm_has_walls(sides, 0) || lm_has_walls(sides, 1) || g->solid || g->base.setup.friction_species > 0;
}

/* Ghost cells of `count` arrays in a row. */
static void fill_ghosts(struct lm_gpu *g, double *group, int count, int vector)
{
    ghost_kernel<<<dim3(line_blocks(g->base.setup.grid.size), (unsigned)count), THREADS, 0, g->stream>>>(
        shape_of(g), g->base.setup.grid.sides, group, vector);
}

/* Four moments as deposited, `raw`, outside of bodies and smoothed: LM_N_NEW or LM_SPECIES_NEW of a species, with the
 * arrays after it. Ghost cells are filled after each step. Those `of_all` ions go on beyond radiating sides. */
static void take_and_smooth(struct lm_gpu *g, const double *raw, int to, bool of_all)
{
    double *out = g->array[to];
    int left = g->base.setup.smoothing;
    double *now = left % 2 ? g->spare : out;
    auto take = g->solid ? take_kernel<true> : take_kernel<false>;
    take<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g), g->factor, raw, now);
    fill_ghosts(g, now, 4, 1);
    if (of_all && g->strips) {
        lm_gpu_add_strip_moments(g, now);
        if (left == 0)
            fill_ghosts(g, now, 4, 1);
    }
    dim3 blocks = blocks_for(g, 0);
    blocks.z = 4;
    for (; left > 0; left--) {
        double *next = left % 2 ? out : g->spare;
        if (g->solid)
            smooth_near_body_kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), g->solid, now, next);
        else
            smooth_kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), now, next);
        fill_ghosts(g, next, 4, 1);
        now = next;
    }
    LM_GPU_LAUNCHED(g, "moments of single steps");
    if (lm_halo_needs_moments(g->base.setup.halo))
        lm_gpu_halo_refresh(g, g->array + to, 4);
}

static int moments_in_steps(struct lm_gpu *g)
{
    for (int s = 0; s < g->base.setup.species_count; s++)
        fill_ghosts(g, g->array[LM_SPECIES_N + s], 1, 0);
    take_and_smooth(g, g->raw, LM_N_NEW, true);
    for (int k = 0; k < g->base.setup.friction_species; k++) {
        const int own = LM_SPECIES_NEW + 4 * lm_friction_species(&g->base.setup, k);
        lm_gpu_check(
            g,
            cudaMemcpyAsync(g->raw, g->array[own], 4 * g->pitch * sizeof(double), cudaMemcpyDeviceToDevice, g->stream),
            "moments of a species");
        take_and_smooth(g, g->raw, own, false);
    }
    return g->failed;
}

int lm_gpu_collect(struct lm_backend *b, int species, int speed_exponent, int first)
{
    lm_gpu_range range("collect");
    struct lm_gpu *g = lm_gpu_of(b);
    if (!lm_gpu_halo_join(g))
        lm_gpu_halo_add_sums(g);
    if (species == b->setup.species_count - 1 && !takes_plain_path(g)) {
        g->last_speed_exponent = speed_exponent;
        g->last_alone = first;
        return g->failed;
    }
    collect_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(shape_of(g),
                                                                moments_of_species(g, species, speed_exponent), first);
    return LM_GPU_LAUNCHED(g, "collecting moments");
}

int lm_gpu_moments(struct lm_backend *b)
{
    lm_gpu_range range("moments");
    struct lm_gpu *g = lm_gpu_of(b);
    if (takes_plain_path(g))
        return moments_in_steps(g);
    int passes = b->setup.smoothing, rows;
    dim3 strips = cut_into_strips(g, LANES - 2 * HALO, STRIPS, &rows);
    species_moments a = moments_of_species(g, b->setup.species_count - 1, g->last_speed_exponent);
    auto kernel = g->last_alone ? (passes > 0 ? moments_kernel<true, true> : moments_kernel<true, false>)
                                : (passes > 0 ? moments_kernel<false, true> : moments_kernel<false, false>);
    launch_early(g, lm_gpu_is_small(g), strips, LANES, 0, g->stream, kernel, shape_of(g), a, rows);
    lm_u64 *read = g->sums;
    g->sums = g->spare_sums;
    g->spare_sums = read;
    LM_GPU_LAUNCHED(g, "moments");
    if (passes > 0)
        lm_gpu_smooth(g, g->array[LM_N_NEW], 4, passes - 1);
    return lm_halo_needs_moments(b->setup.halo) ? lm_gpu_halo_refresh(g, g->array + LM_N_NEW, 4) : g->failed;
}
