/* CUDA backend: maxima, sums and hashes over the grid. None depends on the order of the cells: maxima and hashes are
 * integers, sums are in fixed point (larmor/physics/fields/time_step_limits.h, grid_sums.h).
 *
 * A thread takes many cells, so that few atomics follow: one a warp, or one a block.
 *
 * Rates (NVIDIA H200, 2026-11-21, commit ea438fb, 1024 x 1024 cells; tests/gpu/profile.md): survey_kernel 35.3 us,
 * grid_max_kernel 15.0 us, grid_sum_kernel 14.3 us.
 */
#include "core/cells.cuh"
#include "ranks/ranks.h"

#include "larmor/physics/fields/fields.h"
#include "larmor/physics/fields/grid_sums.h"
#include "larmor/physics/fields/side_energy.h"
#include "larmor/physics/numerics/hash.h"

namespace
{

/* --- maxima that set the next step --- */

struct survey_arrays {
    const double *b, *ji, *eta, *density, *per_density;
    const double *push, *pressure; /* LM_PUSH_E and LM_PUSH_PRESSURE */
    const uint8_t *solid;          /* NULL without bodies */
    const double *external;        /* LM_EXTERNAL_J; NULL: there is none */
    struct lm_cells own, beyond;   /* own cells, and those beyond walls in which the E of the push counts too: particles
                                      feel it there */
};

/* BOUNDED: `solid`, `external` and `beyond` of the arrays count. E: also the maxima of what ions feel. */
template <bool BOUNDED, bool E>
__global__ void survey_kernel(shape s, survey_arrays a, struct lm_ohm o, double k2, struct lm_gpu_control *c)
{
    struct lm_field_maxima m = {};
    each_cell(s, BOUNDED && E ? a.beyond : a.own, [&](int i, int j, size_t k) {
        if (!(BOUNDED && E) || is_in(a.own, i, j))
            lm_limit_frequency(&m, BOUNDED && a.solid ? a.solid[k] : 0, lm_b_centre(view_of(a.b, s, k)),
                               BOUNDED && a.external
                                   ? lm_carried_current(vector_at(a.ji, s, k), view_of(a.external, s, k))
                                   : vector_at(a.ji, s, k),
                               a.density[k], a.per_density[k], a.eta[k], k2, &o);
        for (int d = 0; d < 3 && E; d++)
            m.e[d] = lm_larger_size(m.e[d], a.push[d * s.pitch + k]);
        for (int d = 0; d < 2 && E; d++)
            m.pressure[d] = lm_larger_size(m.pressure[d], a.pressure[d * s.pitch + k]);
    });
    for (int d = 0; d < 3 && E; d++)
        lm_warp_max(&c->push_e[d], m.e[d]);
    for (int d = 0; d < 2 && E; d++)
        lm_warp_max(&c->push_pressure[d], m.pressure[d]);
    lm_warp_max(&c->frequency, m.frequency);
    lm_warp_max(&c->eta, m.eta);
    lm_warp_sum(&c->floored, m.floored);
    lm_warp_sum(&c->voids, m.voids);
}

/* --- sums --- */

enum grid_term { BX2, BY2, BZ2, ELECTRONS, DIV_B, TERMS };

/* What the terms of a cell follow from. */
struct grid_arrays {
    const double *b, *density;
    const double *entropy;         /* NULL: p_e is not evolved */
    const uint8_t *solid;          /* read with BODIES only */
    const struct lm_opening *open; /* likewise; NULL: no cell is cut */
    struct lm_cells own;           /* the cells that count */
    double cells;                  /* of the domain */
};

template <bool BODIES>
__device__ __forceinline__ double term_of(int term, const shape &s, const grid_arrays &a, size_t k,
                                          const struct lm_ohm &o)
{
    if (term < ELECTRONS)
        return a.b[term * s.pitch + k] * a.b[term * s.pitch + k];
    if (term == ELECTRONS)
        return lm_electron_energy_in_cell(BODIES ? a.solid[k] : 0, a.entropy ? a.entropy + k : NULL,
                                          lm_volume_at(BODIES ? a.open : NULL, (long)k), a.density + k, &o);
    return lm_div_b(view_of(a.b, s, k), o.inv_dx, o.inv_dy);
}

template <bool BODIES> __global__ void grid_max_kernel(shape s, grid_arrays a, struct lm_ohm o, lm_u64 *largest_of_all)
{
    lm_u64 largest[TERMS] = {0, 0, 0, 0, 0};
    each_cell(s, a.own, [&](int, int, size_t k) {
        LM_UNROLL
        for (int term = 0; term < TERMS; term++)
            largest[term] = lm_larger_size(largest[term], term_of<BODIES>(term, s, a, k, o));
    });
    lm_block_reduce<true>(largest_of_all, largest);
}

/* `largest` has the bits of the largest term of each kind. */
template <bool BODIES>
__global__ void grid_sum_kernel(shape s, grid_arrays a, struct lm_ohm o, const lm_u64 *largest, lm_u64 *sums)
{
    __shared__ double scale[DIV_B];
    if (threadIdx.x < DIV_B)
        scale[threadIdx.x] = lm_exp2i(lm_grid_sum_exponent(a.cells, largest[threadIdx.x]));
    __syncthreads();
    lm_u64 sum[DIV_B] = {0, 0, 0, 0};
    each_cell(s, a.own, [&](int, int, size_t k) {
        LM_UNROLL
        for (int term = 0; term < DIV_B; term++)
            sum[term] += (lm_u64)lm_grid_sum_term(term_of<BODIES>(term, s, a, k, o), scale[term]);
    });
    lm_block_reduce<false>(sums, sum);
}

/* div B on the corners that lie on lower walls: one thread for each of the nodes with index -1. `counted`: the own
 * cells, and those before them where they are such nodes. */
__global__ void wall_div_kernel(shape s, struct lm_cells counted, const double *b, struct lm_ohm o, lm_u64 *largest)
{
    const int node = blockIdx.x * THREADS + threadIdx.x, along_x = node < s.nx + 1;
    const int i = along_x ? node - 1 : -1, j = along_x ? -1 : node - s.nx - 2;
    lm_u64 div = 0;
    if (is_in(counted, i, j))
        div = lm_size_bits(lm_div_b(view_of(b, s, at(s, i, j)), o.inv_dx, o.inv_dy));
    lm_warp_max(largest, div);
}

/* --- energy through the sides --- */

/* blockIdx.y is the side; a thread a cell before it. */
__global__ void side_energy_kernel(shape s, struct lm_grid g, struct lm_side_arrays a, struct lm_field_sides fields,
                                   struct lm_ohm o, lm_u64 (*sums)[LM_SIDE_SUMS][2])
{
    const int side = blockIdx.y, cell = blockIdx.x * THREADS + threadIdx.x;
    const struct lm_cells c = lm_own_cells_at(&g, side);
    const int across = c.to_x - c.from_x, count = across * (c.to_y - c.from_y);
    double sum[LM_SIDE_SUMS] = {0.0, 0.0, 0.0, 0.0, 0.0};
    if (cell < count) {
        const size_t k = at(s, c.from_x + cell % across, c.from_y + cell / across);
        lm_side_cell(&a, &g, side, fields.of[side], g.sides.of[side], (long)k, &o, sum);
    }
    for (int k = 0; k < LM_SIDE_SUMS; k++) {
        struct lm_wide mine = {0, 0};
        lm_wide_add_real(&mine, sum[k]);
        lm_warp_sum_wide(sums[side][k], mine);
    }
}

/* --- hashes --- */

/* Of the own cells of an array that is field number `field` of the state. */
__global__ void hash_kernel(shape s, struct lm_grid g, const double *a, int field, struct lm_gpu_sums *out)
{
    lm_u64 sum = 0;
    each_cell(s, g.own,
              [&](int i, int j, size_t k) { sum += lm_hash_value(field, lm_domain_cell(&g.place, i, j), a[k]); });
    lm_warp_sum(&out->value[0], sum);
}

/* Of three arrays with the ghost cells of the domain, in `counted`; blockIdx.y is the component, `field` the number of
 * the first one. */
__global__ void hash_arrays_kernel(shape s, struct lm_grid g, struct lm_cells counted, const double *a, int field,
                                   struct lm_gpu_sums *out)
{
    const int component = blockIdx.y;
    lm_u64 sum = 0;
    each_cell(s, counted, [&](int i, int j, size_t k) {
        sum += lm_hash_value(field + component, lm_domain_element(&g, i, j), a[component * s.pitch + k]);
    });
    lm_warp_sum(&out->value[0], sum);
}

} // namespace

/* Those of the control from one of its elements to before another. */
static int clear_maxima(struct lm_gpu *g, size_t from, size_t to)
{
    return lm_gpu_check(g, cudaMemsetAsync((char *)g->control + from, 0, to - from, g->stream), "survey");
}

static int clear_all_maxima(struct lm_gpu *g)
{
    return clear_maxima(g, offsetof(struct lm_gpu_control, push_e), offsetof(struct lm_gpu_control, tallies));
}

int lm_gpu_begin_maxima(struct lm_gpu *g)
{
    if (g->begun_maxima)
        return g->failed;
    g->begun_maxima = 1;
    return clear_all_maxima(g);
}

void lm_gpu_forget_beside(struct lm_gpu *g)
{
    lm_gpu_join(g);
    g->begun_maxima = g->found_pressure = g->found_b = 0;
}

/* With the density and the ion current of a level. */
static survey_arrays survey_of(const struct lm_gpu *g, int level)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const int beyond_x = lm_field_walls(&g->sides, 0) ? LM_GHOST : 0,
              beyond_y = lm_field_walls(&g->sides, 1) ? LM_GHOST : 0;
    return {g->array[LM_B],
            g->array[level + 1],
            g->array[LM_ETA],
            g->array[level],
            g->array[LM_PER_DENSITY],
            g->array[LM_PUSH_E],
            g->array[LM_PUSH_PRESSURE],
            g->solid,
            g->base.setup.external_current ? g->array[LM_EXTERNAL_J] : NULL,
            grid->own,
            lm_own_and_beyond(grid, beyond_x, beyond_y)};
}

/* LM_PER_DENSITY has been found. `with_e`: also the maxima of what ions feel; without only where general.used is 1. */
static int survey(struct lm_gpu *g, int level, bool with_e)
{
    const struct lm_ohm *o = &g->base.setup.ohm;
    const double k2 = lm_largest_k2(&g->base.setup.grid, o->inv_dx, o->inv_dy);
    auto kernel = !g->general.used ? survey_kernel<false, true>
                  : with_e         ? survey_kernel<true, true>
                                   : survey_kernel<true, false>;
    const unsigned blocks = (g->general.used ? 2 : 1) * reduction_blocks(g);
    kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), survey_of(g, level), *o, k2, g->control);
    return LM_GPU_LAUNCHED(g, "survey");
}

int lm_gpu_level_maxima(struct lm_gpu *g, int level)
{
    clear_all_maxima(g);
    survey(g, level, true);
    lm_gpu_survey_friction(g);
    return g->failed;
}

int lm_gpu_field_maxima(struct lm_backend *b, enum lm_maxima which)
{
    lm_gpu_range range("survey");
    struct lm_gpu *g = lm_gpu_of(b);
    if (which == LM_MAXIMA) {
        lm_gpu_forget_beside(g);
        lm_gpu_find_per_density(g, LM_N_OLD);
        return lm_gpu_level_maxima(g, LM_N_OLD);
    }
    lm_gpu_join(g);
    if (!g->found_b)
        clear_maxima(g, offsetof(struct lm_gpu_control, frequency), offsetof(struct lm_gpu_control, friction_e));
    if (!g->general.used)
        return lm_gpu_survey_b(g);
    lm_gpu_find_per_density(g, LM_N_OLD);
    return survey(g, LM_N_OLD, false);
}

/* Adds the largest |div B| on lower walls. */
static void wall_div(struct lm_gpu *g, lm_u64 *largest)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    struct lm_cells counted = lm_own_and_beyond(grid, lm_field_walls(&g->sides, 0), lm_field_walls(&g->sides, 1));
    counted.to_x = grid->own.to_x; /* a node is at the upper corner of its cell */
    counted.to_y = grid->own.to_y;
    if (lm_any_field_walls(&g->sides))
        wall_div_kernel<<<line_blocks((size_t)grid->nx + 1 + grid->ny), THREADS, 0, g->stream>>>(
            shape_of(g), counted, g->array[LM_B], g->base.setup.ohm, largest);
}

static double domain_cells(const struct lm_gpu *g)
{
    return (double)g->base.setup.grid.place.domain_nx * g->base.setup.grid.place.domain_ny;
}

/* The largest terms in `largest` become those of all ranks. */
static int agree_upon_largest(struct lm_gpu *g, lm_u64 *largest)
{
    if (!g->base.setup.halo)
        return g->failed;
    lm_gpu_reduce_end(g);
    for (int term = 0; term < DIV_B; term++)
        g->reduced_host->value[term] = lm_ranks_largest(g->reduced_host->value[term]);
    return lm_gpu_check(
        g, cudaMemcpyAsync(largest, g->reduced_host->value, DIV_B * sizeof *largest, cudaMemcpyHostToDevice, g->stream),
        "maxima of the grid");
}

/* The results, from what the kernels have left on the host. */
static void read_grid_sums(const struct lm_gpu *g, struct lm_grid_sums *out)
{
    const lm_u64 *largest = g->reduced_host->value, *sums = largest + TERMS;
    const double cells = domain_cells(g);
    for (int d = 0; d < 3; d++) {
        out->b2[d] = (int64_t)sums[d];
        out->exponent_b2[d] = lm_grid_sum_exponent(cells, largest[d]);
    }
    out->electrons = (int64_t)sums[ELECTRONS];
    out->exponent_electrons = lm_grid_sum_exponent(cells, largest[ELECTRONS]);
    out->div_b = lm_from_bits(largest[DIV_B]);
}

int lm_gpu_grid_sums(struct lm_backend *b, struct lm_grid_sums *out)
{
    lm_gpu_range range("grid sums");
    struct lm_gpu *g = lm_gpu_of(b);
    const double *entropy = b->setup.ohm.evolved ? entropy_of(g) : NULL;
    const grid_arrays a = {g->array[LM_B], g->array[LM_N_OLD], entropy,        g->solid,
                           g->advect.open, b->setup.grid.own,  domain_cells(g)};
    lm_u64 *largest = g->reduced->value, *sums = largest + TERMS;
    static_assert(TERMS + DIV_B <= sizeof *g->reduced / sizeof *sums, "room for both reductions");
    lm_gpu_reduce_begin(g);
    auto maxima = g->solid ? grid_max_kernel<true> : grid_max_kernel<false>;
    auto totals = g->solid ? grid_sum_kernel<true> : grid_sum_kernel<false>;
    maxima<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), a, b->setup.ohm, largest);
    wall_div(g, largest + DIV_B);
    LM_GPU_LAUNCHED(g, "maxima of the grid");
    agree_upon_largest(g, largest);
    totals<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), a, b->setup.ohm, largest, sums);
    LM_GPU_LAUNCHED(g, "sums over the grid");
    if (lm_gpu_reduce_end(g))
        return g->failed;
    read_grid_sums(g, out);
    return g->failed;
}

int lm_gpu_side_energy(struct lm_backend *b)
{
    lm_gpu_range range("side energy");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_grid *grid = &b->setup.grid;
    const struct lm_ohm o = b->setup.ohm;
    const int subtracts = lm_has_pressure(&o) && !o.evolved;
    const struct lm_side_arrays a = {
        view_of(g, g->array[LM_E]),
        view_of(g, g->array[LM_VOID_E]),
        view_of(g, g->array[LM_B]),
        {subtracts ? g->array[LM_PRESSURE_E] : NULL, subtracts ? g->array[LM_PRESSURE_E + 1] : NULL},
        {g->array[LM_J_OLD], g->array[LM_J_OLD + 1]},
        g->array[LM_N_OLD],
        o.evolved ? entropy_of(g) : NULL};
    const size_t longest = (size_t)(grid->nx > grid->ny ? grid->nx : grid->ny);
    lm_gpu_check(g, cudaMemsetAsync(g->control->side, 0, sizeof g->control->side, g->stream),
                 "energy through the sides");
    side_energy_kernel<<<dim3(line_blocks(longest), LM_SIDES), THREADS, 0, g->stream>>>(shape_of(g), *grid, a, g->sides,
                                                                                        o, g->control->side);
    return LM_GPU_LAUNCHED(g, "energy through the sides");
}

int lm_gpu_hash_fields(struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const int backgrounds = g->base.setup.background_count;
    const int has_walls = g->base.setup.halo ? g->base.setup.halo->fields_have_walls : lm_any_field_walls(&g->sides);
    for (int f = 0; f < LM_STATE_FIELDS; f++)
        hash_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), *grid, g->array[f], f, g->reduced);
    for (int f = 0; f < backgrounds; f++)
        hash_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), *grid, g->array[LM_BACKGROUND + f],
                                                                    LM_STATE_FIELDS + f, g->reduced);
    const int friction = LM_FRICTION_STATE * g->base.setup.friction_species, first = LM_STATE_FIELDS + backgrounds;
    for (int k = 0; k < friction; k++) {
        const int species = lm_friction_species(&g->base.setup, k / LM_FRICTION_STATE);
        hash_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(
            shape_of(g), *grid, g->array[lm_friction_array(species, k % LM_FRICTION_STATE)], first + k, g->reduced);
    }
    const int strips = lm_radiating_before(&g->base.setup, LM_SIDES);
    lm_gpu_hash_strips(g, first + friction);
    /* B beyond walls is part of the state, and E_v on them: both once more, with ghost cells. */
    for (int k = 0; k < LM_BORDERED_FIELDS && has_walls; k += 3)
        hash_arrays_kernel<<<dim3(reduction_blocks(g), 3), THREADS, 0, g->stream>>>(
            shape_of(g), *grid, lm_own_and_beyond(grid, LM_GHOST, LM_GHOST), g->array[LM_B + k],
            first + friction + strips + k, g->reduced);
    return LM_GPU_LAUNCHED(g, "hash of the fields");
}
