/* CUDA backend: moments, smoothing, closure and reductions over the grid. The bodies are in
 * larmor/physics/fields/fields.h.
 *
 * One thread a cell, but for the moments of the last species, where a warp goes up a strip of columns. Whoever writes a
 * cell also writes its periodic images in the ghosts, so no kernel fills ghosts. No atomics but in the reductions (one
 * a warp).
 */
#include "core/grid.cuh"

#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/fields/solid.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/fluid/electrons.h"

namespace
{

enum { TX = 32, TY = 8, THREADS = TX * TY };

dim3 cell_blocks(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return dim3((unsigned)(grid->nx + TX - 1) / TX, (unsigned)(grid->ny + TY - 1) / TY);
}

unsigned line_blocks(const struct lm_gpu *g)
{
    return (unsigned)((g->base.setup.grid.size + THREADS - 1) / THREADS);
}

__global__ void closure_kernel(double *floored, double *p, const double *n, const double *other, size_t size,
                               struct lm_ohm o)
{
    size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k >= size)
        return;
    double f = lm_floored(lm_mean(n[k], other[k]), &o);
    floored[k] = f;
    if (p)
        p[k] = lm_pressure(f, &o);
}

/* --- moments --- */

/* A species and the arrays of the four moments. */
struct moments_of {
    lm_u64 *sums[4], *clear[4];
    double *raw[4], *out[4], *number;
    double charge, weight;
    int speed_exponent;
    lm_u64 *parts; /* sum of the density, as integers */
};

/* Any species but the last, and in a domain with walls any species. `raw` has no images. */
__global__ void collect_kernel(shape s, moments_of a, int first)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    lm_u64 density = 0;
    if (i < s.nx && j < s.ny) {
        size_t m = (size_t)j * s.nx + i, k = at(s, i, j);
        const int64_t parts[4] = {(int64_t)a.sums[0][m], (int64_t)a.sums[1][m], (int64_t)a.sums[2][m],
                                  (int64_t)a.sums[3][m]};
        double add[4];
        store(s, a.number, i, j, lm_species_moments(parts, a.charge, a.weight, a.speed_exponent, add));
        LM_UNROLL
        for (int d = 0; d < 4; d++) {
            a.raw[d][k] = first ? add[d] : a.raw[d][k] + add[d];
            a.sums[d][m] = 0;
        }
        density = (lm_u64)parts[0];
    }
    lm_warp_sum(a.parts, density);
}

/* Currents as deposited, on the faces of walls: a thread for each line that ends at them. */
__global__ void wall_kernel(shape s, struct lm_sides sides, double *jx, double *jy)
{
    int line = blockIdx.x * THREADS + threadIdx.x;
    if (line < s.ny && lm_has_walls(&sides, 0)) {
        jx[at(s, -1, line)] = s.nx > 1 ? lm_on_wall(sides.of[LM_X_MIN], jx[at(s, 0, line)]) : 0.0;
        jx[at(s, s.nx - 1, line)] = s.nx > 1 ? lm_on_wall(sides.of[LM_X_MAX], jx[at(s, s.nx - 2, line)]) : 0.0;
    }
    if (line < s.nx && lm_has_walls(&sides, 1)) {
        jy[at(s, line, -1)] = s.ny > 1 ? lm_on_wall(sides.of[LM_Y_MIN], jy[at(s, line, 0)]) : 0.0;
        jy[at(s, line, s.ny - 1)] = s.ny > 1 ? lm_on_wall(sides.of[LM_Y_MAX], jy[at(s, line, s.ny - 2)]) : 0.0;
    }
}

/* Ghosts of moments at the centres; array blockIdx.y of a group, of which the second and third are a current along x
 * and y if it is `vector`. */
__global__ void ghost_kernel(shape s, struct lm_sides sides, double *group, int vector)
{
    const int width = s.nx + 2 * LM_GHOST, cell = blockIdx.x * THREADS + threadIdx.x;
    const int i = cell % width - LM_GHOST, j = cell / width - LM_GHOST, along = vector ? (int)blockIdx.y - 1 : -1;
    if (j >= s.ny + LM_GHOST || (i >= 0 && i < s.nx && j >= 0 && j < s.ny))
        return;
    int sign = 1, x = lm_node_inside(&sides, 0, s.nx, 0, along == 0, i, &sign),
        y = lm_node_inside(&sides, 1, s.ny, 0, along == 1, j, &sign);
    double *a = group + blockIdx.y * s.pitch;
    a[at(s, i, j)] = sign * a[at(s, x, y)];
}

/* Moments brought to the centres, without ghosts. */
__global__ void centre_kernel(shape s, const double *raw, double *out)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    size_t k = at(s, i, j);
    const double *const here[4] = {raw + k, raw + s.pitch + k, raw + 2 * s.pitch + k, raw + 3 * s.pitch + k};
    double centred[4];
    lm_centred_moments(here, s.stride, centred);
    for (int d = 0; d < 4; d++)
        out[d * s.pitch + k] = centred[d];
}

/* The same among bodies. */
__global__ void centre_beside_kernel(shape s, const uint8_t *solid, const double *raw, double *out)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    size_t k = at(s, i, j);
    const double *const here[4] = {raw + k, raw + s.pitch + k, raw + 2 * s.pitch + k, raw + 3 * s.pitch + k};
    double centred[4];
    lm_moments_beside(here, solid + k, s.stride, centred);
    for (int d = 0; d < 4; d++)
        out[d * s.pitch + k] = centred[d];
}

/* No species is in bodies. */
__global__ void clear_bodies_kernel(const uint8_t *solid, double *number, size_t size)
{
    size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k < size && solid[k])
        number[k] = 0.0;
}

enum { HALO = 2, STRIPS = 20 }; /* STRIPS: that run on a multiprocessor at a time */

/* A cell of a row as it comes from memory: nothing is computed, so nothing waits. */
struct moments_cell {
    int64_t parts[4];
    double before[4]; /* of the species before, where there are any */
};

template <bool ALONE>
__device__ __forceinline__ moments_cell cell_at(const shape &s, const moments_of &a, int column, int row)
{
    unsigned m = (unsigned)row * s.nx + column, k = (unsigned)at(s, column, row);
    moments_cell c = {};
    LM_UNROLL
    for (int d = 0; d < 4; d++) {
        c.parts[d] = (int64_t)a.sums[d][m];
        if (!ALONE)
            c.before[d] = a.raw[d][k];
    }
    return c;
}

/* The last species, added to those before it; then all of them centred, and smoothed once if so wanted. A warp goes up
 * a strip of columns and keeps what it needs of the rows below in registers. The sums that are cleared are the spare
 * ones: neighbours read the others. */
template <bool ALONE, bool SMOOTH>
__global__ void __launch_bounds__(LANES, STRIPS) moments_kernel(shape s, moments_of a, int rows)
{
    int lane = threadIdx.x, i = blockIdx.x * (LANES - 2 * HALO) + lane - HALO, column = lm_wrap(i, s.nx);
    bool mine = lane >= HALO && lane < LANES - HALO && i < s.nx;
    int first = blockIdx.y * rows, last = min(first + rows, s.ny), row = lm_wrap(first - HALO, s.ny);
    moments_cell coming = cell_at<ALONE>(s, a, column, row);
    double centre[4][3] = {}, sides[4][3] = {}; /* of rows j - 2, j - 1, j: centred, and the sum left and right of it */
    double number = 0.0, jy = 0.0;              /* of row j - 1: number density, current as deposited */
    lm_u64 density = 0;
    for (int j = first - HALO; j <= last; j++) {
        moments_cell here = coming;
        row = row + 1 == s.ny ? 0 : row + 1;
        if (j < last)
            coming = cell_at<ALONE>(s, a, column, row); /* the next row comes while this one is worked on */
        __syncwarp();                                   /* or the compiler would not ask for it before the shuffles */
        if (mine && j >= first && j < last)
            density += (lm_u64)here.parts[0];
        double v[4], centred[4], number_below = number;
        number = lm_species_moments(here.parts, a.charge, a.weight, a.speed_exponent, v);
        LM_UNROLL
        for (int d = 0; d < 4 && !ALONE; d++)
            v[d] = here.before[d] + v[d];
        const double x[2] = {left(v[1]), v[1]}, y[2] = {jy, v[2]};
        const double *const raw[4] = {v, x + 1, y + 1, v + 3};
        lm_centred_moments(raw, 1, centred);
        jy = v[2];
        LM_UNROLL
        for (int d = 0; d < 4; d++) {
            centre[d][0] = centre[d][1];
            centre[d][1] = centre[d][2];
            centre[d][2] = centred[d];
            sides[d][0] = sides[d][1];
            sides[d][1] = sides[d][2];
            sides[d][2] = SMOOTH ? left(centred[d]) + right(centred[d]) : 0.0;
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
    lm_warp_sum(a.parts, density);
}

/* The array of a group is blockIdx.z. */
__global__ void smooth_kernel(shape s, const double *from, double *to)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    size_t group = blockIdx.z * s.pitch;
    if (i < s.nx && j < s.ny)
        store(s, to + group, i, j, lm_binomial(from + group + at(s, i, j), s.stride));
}

/* The same among bodies, without ghosts. */
__global__ void smooth_beside_kernel(shape s, const uint8_t *solid, const double *from, double *to)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    size_t k = at(s, i, j), group = blockIdx.z * s.pitch;
    to[group + k] = lm_binomial_beside(from + group + k, solid + k, s.stride);
}

/* --- reductions --- */

/* Calls body(i, j, k) for every cell, k its element: a thread takes many, so that few atomics follow. */
template <class F> __device__ __forceinline__ void each_cell(const shape &s, F body)
{
    int across = (s.nx + TX - 1) / TX, up = (s.ny + TY - 1) / TY;
    for (int tile = blockIdx.x; tile < across * up; tile += gridDim.x) {
        int i = tile % across * TX + threadIdx.x % TX, j = tile / across * TY + threadIdx.x / TX;
        if (i < s.nx && j < s.ny)
            body(i, j, at(s, i, j));
    }
}

unsigned reduction_blocks(const struct lm_gpu *g)
{
    return (unsigned)g->processors * 4;
}

struct survey_arrays {
    const double *b, *ji, *eta, *density, *push;
};

__global__ void survey_kernel(shape s, survey_arrays a, struct lm_ohm o, double k2, struct lm_gpu_control *c)
{
    lm_u64 e[3] = {0, 0, 0}, frequency = 0, floored = 0;
    each_cell(s, [&](int, int, size_t k) {
        struct lm_view b = {a.b + k, a.b + s.pitch + k, a.b + 2 * s.pitch + k, s.stride};
        struct lm_vector u = {a.ji[k], a.ji[s.pitch + k], a.ji[2 * s.pitch + k]};
        raise(frequency, lm_size_bits(lm_frequency(lm_b_centre(b), u, lm_floored(a.density[k], &o), a.eta[k], k2, &o)));
        floored += a.density[k] < o.floor;
        for (int d = 0; d < 3; d++)
            raise(e[d], lm_size_bits(a.push[d * s.pitch + k]));
    });
    for (int d = 0; d < 3; d++)
        lm_warp_max(&c->push_e[d], e[d]);
    lm_warp_max(&c->frequency, frequency);
    lm_warp_sum(&c->floored, floored);
}

enum grid_term { BX2, BY2, BZ2, ELECTRONS, DIV_B, TERMS };

/* `entropy` NULL: p_e is not evolved. `solid` counts only with BODIES. */
template <bool BODIES>
__device__ __forceinline__ double term_of(int term, const shape &s, const double *b, const double *density,
                                          const double *entropy, const uint8_t *solid, size_t k, const struct lm_ohm &o)
{
    if (term < ELECTRONS)
        return b[term * s.pitch + k] * b[term * s.pitch + k];
    if (BODIES && term == ELECTRONS && solid[k])
        return 0.0;
    if (term == ELECTRONS && entropy)
        return lm_pressure_of(entropy[k], o.gamma) / (o.gamma - 1.0);
    if (term == ELECTRONS)
        return lm_electron_energy(lm_floored(density[k], &o), &o);
    struct lm_view v = {b + k, b + s.pitch + k, b + 2 * s.pitch + k, s.stride};
    return lm_div_b(v, o.rx, o.ry);
}

template <bool BODIES>
__global__ void grid_max_kernel(shape s, const double *b, const double *density, const double *entropy,
                                const uint8_t *solid, struct lm_ohm o, lm_u64 *largest_of_all)
{
    lm_u64 largest[TERMS] = {0, 0, 0, 0, 0};
    each_cell(s, [&](int, int, size_t k) {
        LM_UNROLL
        for (int term = 0; term < TERMS; term++)
            raise(largest[term], lm_size_bits(term_of<BODIES>(term, s, b, density, entropy, solid, k, o)));
    });
    lm_block_reduce<true>(largest_of_all, largest);
}

/* Units of a term's sum are 2^-exponent; `largest`: bits of the largest term. */
__host__ __device__ int term_exponent(double cells, lm_u64 largest)
{
    return lm_sum_exponent(cells, lm_speed_exponent(lm_from_bits(largest)));
}

template <bool BODIES>
__global__ void grid_sum_kernel(shape s, const double *b, const double *density, const double *entropy,
                                const uint8_t *solid, struct lm_ohm o, const lm_u64 *largest, lm_u64 *sums)
{
    __shared__ double scale[DIV_B];
    if (threadIdx.x < DIV_B)
        scale[threadIdx.x] = lm_exp2i(term_exponent((double)s.nx * s.ny, largest[threadIdx.x]));
    __syncthreads();
    lm_u64 sum[DIV_B] = {0, 0, 0, 0};
    each_cell(s, [&](int, int, size_t k) {
        LM_UNROLL
        for (int term = 0; term < DIV_B; term++)
            sum[term] += (lm_u64)lm_round64(term_of<BODIES>(term, s, b, density, entropy, solid, k, o) * scale[term]);
    });
    lm_block_reduce<false>(sums, sum);
}

__global__ void hash_kernel(shape s, const double *a, int field, struct lm_gpu_sums *out)
{
    lm_u64 sum = 0;
    each_cell(s, [&](int i, int j, size_t k) { sum += lm_hash_value(field, (uint64_t)j * s.nx + i, a[k]); });
    lm_warp_sum(&out->value[0], sum);
}

} // namespace

int lm_gpu_copy(struct lm_backend *b, int to, int from, int count)
{
    struct lm_gpu *g = lm_gpu_of(b);
    for (int k = 0; k < count; k++)
        lm_gpu_check(g,
                     cudaMemcpyAsync(g->array[to + k], g->array[from + k], b->setup.grid.size * sizeof(double),
                                     cudaMemcpyDeviceToDevice, g->stream),
                     "copy of an array");
    return g->failed;
}

/* `p` may be NULL. */
static int close_density(struct lm_gpu *g, int density, int other, double *p)
{
    const int evolved = g->base.setup.ohm.evolved;
    closure_kernel<<<line_blocks(g), THREADS, 0, g->stream>>>(g->array[LM_FLOORED], evolved ? NULL : p,
                                                              g->array[density], g->array[other],
                                                              g->base.setup.grid.size, g->base.setup.ohm);
    LM_GPU_LAUNCHED(g, "closure");
    return evolved ? lm_gpu_evolved_pressure(g) : g->failed;
}

int lm_gpu_closure(struct lm_backend *b, int density, int other)
{
    lm_gpu_range range("closure");
    struct lm_gpu *g = lm_gpu_of(b);
    return close_density(g, density, other, b->setup.ohm.gamma == 1.0 && !g->plain.used ? NULL : g->array[LM_PRESSURE]);
}

int lm_gpu_pressure(struct lm_gpu *g)
{
    return close_density(g, LM_N_OLD, LM_N_OLD, g->array[LM_PRESSURE]);
}

int lm_gpu_smooth(struct lm_gpu *g, double *to, int count, int passes)
{
    dim3 blocks = cell_blocks(g);
    blocks.z = (unsigned)count;
    for (int left = passes; left > 0; left--)
        smooth_kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), left % 2 ? g->spare : to,
                                                         left % 2 ? to : g->spare);
    return LM_GPU_LAUNCHED(g, "smoothing");
}

int lm_gpu_clear_survey(struct lm_gpu *g)
{
    const size_t from = offsetof(struct lm_gpu_control, push_e), to = offsetof(struct lm_gpu_control, tallies);
    return lm_gpu_check(g, cudaMemsetAsync((char *)g->control + from, 0, to - from, g->stream), "survey");
}

int lm_gpu_survey_level(struct lm_gpu *g, int level)
{
    if (g->plain.used)
        return lm_gpu_survey_plain(g, level);
    const struct lm_grid *grid = &g->base.setup.grid;
    const struct lm_ohm *o = &g->base.setup.ohm;
    survey_arrays a = {g->array[LM_B], g->array[level + 1], g->array[LM_ETA], g->array[level], g->array[LM_PUSH_E]};
    lm_gpu_clear_survey(g);
    survey_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), a, *o, lm_largest_k2(grid, o->rx, o->ry),
                                                                  g->control);
    return LM_GPU_LAUNCHED(g, "survey");
}

int lm_gpu_survey(struct lm_backend *b)
{
    lm_gpu_range range("survey");
    return lm_gpu_survey_level(lm_gpu_of(b), LM_N_OLD);
}

static moments_of moments_of_species(const struct lm_gpu *g, int species, int speed_exponent)
{
    const struct lm_backend_species *s = &g->base.setup.species[species];
    int passes = g->base.setup.smoothing; /* the kernel does the first; the last must end in LM_N_NEW */
    double *out = passes > 0 && passes % 2 == 0 ? g->spare : g->array[LM_N_NEW];
    moments_of a;
    for (int d = 0; d < 4; d++) {
        a.sums[d] = g->sums + d * g->base.setup.grid.cells;
        a.clear[d] = g->spare_sums + d * g->base.setup.grid.cells;
        a.raw[d] = g->raw + d * g->pitch;
        a.out[d] = out + d * g->pitch;
    }
    a.number = g->array[LM_SPECIES_N + species];
    a.parts = &g->control->species[species].charge_quanta;
    a.charge = s->charge;
    a.weight = s->weight;
    a.speed_exponent = speed_exponent;
    return a;
}

/* Whether moments meet walls or bodies. */
static bool has_walls(const struct lm_gpu *g)
{
    const struct lm_sides *sides = &g->base.setup.grid.sides;
    return lm_has_walls(sides, 0) || lm_has_walls(sides, 1) || g->solid;
}

/* Of `count` arrays in a row. */
static void fill_ghosts(struct lm_gpu *g, double *group, int count, int vector)
{
    ghost_kernel<<<dim3(line_blocks(g), (unsigned)count), THREADS, 0, g->stream>>>(
        shape_of(g), g->base.setup.grid.sides, group, vector);
}

/* The slow way: everything for itself, and ghosts filled after each step. */
static int moments_with_walls(struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const int longest = grid->nx > grid->ny ? grid->nx : grid->ny;
    double *out = g->array[LM_N_NEW];
    for (int s = 0; s < g->base.setup.species_count; s++) {
        fill_ghosts(g, g->array[LM_SPECIES_N + s], 1, 0);
        if (g->solid)
            clear_bodies_kernel<<<line_blocks(g), THREADS, 0, g->stream>>>(g->solid, g->array[LM_SPECIES_N + s],
                                                                           grid->size);
    }
    fill_ghosts(g, g->raw, 4, 0);
    wall_kernel<<<(unsigned)((longest + THREADS - 1) / THREADS), THREADS, 0, g->stream>>>(
        shape_of(g), grid->sides, g->raw + g->pitch, g->raw + 2 * g->pitch);
    int left = g->base.setup.smoothing;
    double *now = left % 2 ? g->spare : out;
    if (g->solid)
        centre_beside_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), g->solid, g->raw, now);
    else
        centre_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), g->raw, now);
    fill_ghosts(g, now, 4, 1);
    dim3 blocks = cell_blocks(g);
    blocks.z = 4;
    for (; left > 0; left--) {
        double *next = left % 2 ? out : g->spare;
        if (g->solid)
            smooth_beside_kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), g->solid, now, next);
        else
            smooth_kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), now, next);
        fill_ghosts(g, next, 4, 1);
        now = next;
    }
    return LM_GPU_LAUNCHED(g, "moments before walls");
}

int lm_gpu_collect(struct lm_backend *b, int species, int speed_exponent, int first)
{
    lm_gpu_range range("collect");
    struct lm_gpu *g = lm_gpu_of(b);
    if (species == b->setup.species_count - 1 && !has_walls(g)) {
        g->last_speed_exponent = speed_exponent;
        g->last_alone = first;
        return g->failed;
    }
    collect_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g),
                                                              moments_of_species(g, species, speed_exponent), first);
    return LM_GPU_LAUNCHED(g, "collecting moments");
}

int lm_gpu_moments(struct lm_backend *b)
{
    lm_gpu_range range("moments");
    struct lm_gpu *g = lm_gpu_of(b);
    if (has_walls(g))
        return moments_with_walls(g);
    int passes = b->setup.smoothing, rows;
    dim3 strips = cut_into_strips(g, LANES - 2 * HALO, STRIPS, &rows);
    moments_of a = moments_of_species(g, b->setup.species_count - 1, g->last_speed_exponent);
    auto kernel = g->last_alone ? (passes > 0 ? moments_kernel<true, true> : moments_kernel<true, false>)
                                : (passes > 0 ? moments_kernel<false, true> : moments_kernel<false, false>);
    kernel<<<strips, LANES, 0, g->stream>>>(shape_of(g), a, rows);
    lm_u64 *read = g->sums;
    g->sums = g->spare_sums;
    g->spare_sums = read;
    LM_GPU_LAUNCHED(g, "moments");
    return passes > 0 ? lm_gpu_smooth(g, g->array[LM_N_NEW], 4, passes - 1) : g->failed;
}

int lm_gpu_grid_sums(struct lm_backend *b, struct lm_grid_sums *out)
{
    lm_gpu_range range("grid sums");
    struct lm_gpu *g = lm_gpu_of(b);
    const double *field = g->array[LM_B];
    const double *density = g->array[LM_N_OLD];
    const double *entropy = b->setup.ohm.evolved ? g->array[LM_BACKGROUND + b->setup.background_count - 1] : NULL;
    lm_u64 *largest = g->reduced->value, *sums = largest + TERMS;
    static_assert(TERMS + DIV_B <= sizeof *g->reduced / sizeof *sums, "room for both reductions");
    lm_gpu_reduce_begin(g);
    auto maxima = g->solid ? grid_max_kernel<true> : grid_max_kernel<false>;
    auto totals = g->solid ? grid_sum_kernel<true> : grid_sum_kernel<false>;
    maxima<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), field, density, entropy, g->solid, b->setup.ohm,
                                                           largest);
    lm_gpu_wall_div(g, largest + DIV_B);
    LM_GPU_LAUNCHED(g, "maxima of the grid");
    totals<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), field, density, entropy, g->solid, b->setup.ohm,
                                                           largest, sums);
    LM_GPU_LAUNCHED(g, "sums over the grid");
    if (lm_gpu_reduce_end(g))
        return g->failed;
    largest = g->reduced_host->value;
    sums = largest + TERMS;
    const double cells = (double)b->setup.grid.cells;
    for (int d = 0; d < 3; d++) {
        out->b2[d] = (int64_t)sums[d];
        out->exponent_b2[d] = term_exponent(cells, largest[d]);
    }
    out->electrons = (int64_t)sums[ELECTRONS];
    out->exponent_electrons = term_exponent(cells, largest[ELECTRONS]);
    out->div_b = lm_from_bits(largest[DIV_B]);
    return g->failed;
}

int lm_gpu_hash_fields(struct lm_gpu *g)
{
    for (int f = 0; f < LM_STATE_FIELDS; f++)
        hash_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), g->array[f], f, g->reduced);
    for (int f = 0; f < g->base.setup.background_count; f++)
        hash_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), g->array[LM_BACKGROUND + f],
                                                                    LM_STATE_FIELDS + f, g->reduced);
    lm_gpu_hash_beyond(g);
    return LM_GPU_LAUNCHED(g, "hash of the fields");
}
