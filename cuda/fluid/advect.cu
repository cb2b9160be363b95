/* CUDA backend: background fields. The kernel of a stage is in advect.cuh, with its rates. The bodies of the other
 * loops are in larmor/physics/fluid/advect.h and flow.h. */
#include "fluid/advect.cuh"
#include "core/cells.cuh"
#include "core/halo.cuh"

#include <cstddef>
#include <cstdlib>

#include "larmor/physics/fluid/oscillation.h"
#include "larmor/physics/fields/wall.h"

namespace
{

/* Rows of a piece. With more rows, a few warps are still busy when the others have finished; with fewer, the halo costs
 * more. On an H200, 32 rows are 5 % faster than 64 and 15 % faster than 128. Pieces near bodies are low, because there
 * are few of them. */
enum { MOST_ROWS = 32, LEAST_ROWS = 8, ROWS_NEAR_BODY = LEAST_ROWS, PIECES_OF_A_PROCESSOR = 32 };

typedef void (*stage_function)(stage);

template <int SCHEME, bool SINGLE> stage_function choose(int limited, bool cut)
{
    if (cut)
        return limited ? stage_kernel<SCHEME, SINGLE, true, true> : stage_kernel<SCHEME, SINGLE, false, true>;
    return limited ? stage_kernel<SCHEME, SINGLE, true, false> : stage_kernel<SCHEME, SINGLE, false, false>;
}

/* `cut`: whether bodies cut cells. */
stage_function kernel_of(const struct lm_background *f, bool cut)
{
    switch (f->scheme) {
    case LM_CENTRED:
        return choose<LM_CENTRED, false>(f->limited, cut);
    case LM_UPWIND:
        return choose<LM_UPWIND, false>(f->limited, cut);
    case LM_WENO3:
        return f->single ? choose<LM_WENO3, true>(f->limited, cut) : choose<LM_WENO3, false>(f->limited, cut);
    case LM_WENO5:
        return f->single ? choose<LM_WENO5, true>(f->limited, cut) : choose<LM_WENO5, false>(f->limited, cut);
    case LM_WENO7:
        return f->single ? choose<LM_WENO7, true>(f->limited, cut) : choose<LM_WENO7, false>(f->limited, cut);
    default:
        return f->single ? choose<LM_WENO9, true>(f->limited, cut) : choose<LM_WENO9, false>(f->limited, cut);
    }
}

struct pieces pieces_of(const uint32_t *list, unsigned count, int rows)
{
    return {list, count, (count + PIECE_WARPS - 1) / PIECE_WARPS, rows};
}

/* --- sums over a field --- */

/* Total and extremes of a field. */
__global__ void survey_kernel(shape s, struct lm_cells own, const double *q, const uint8_t *clearance,
                              const struct lm_opening *open, double per_quantum, struct lm_gpu_advected *found)
{
    struct lm_field_survey mine = {{0, 0}, 0, 0};
    each_cell(s, own, [&](int, int, size_t k) {
        lm_survey_cell(&mine, q[k], clearance[k], lm_volume_at(open, (long)k), per_quantum);
    });
    const lm_u64 extremes[2] = {mine.not_least, mine.most};
    lm_block_sum_wide(found->total, mine.total);
    lm_block_reduce<true>(found->extremes, extremes);
}

/* What a source adds in `times` substeps. Of the stages of each, two are like `early` and one is like `late`. The terms
 * are those that the CPU adds up stage by stage. */
__global__ void source_kernel(shape s, struct lm_cells own, const double *source, const struct lm_opening *open,
                              struct lm_advect early, struct lm_advect late, int times, struct lm_gpu_advected *found)
{
    struct lm_wide sum = {0, 0};
    each_cell(s, own, [&](int, int, size_t k) {
        const double here = source[k], volume = lm_volume_at(open, (long)k);
        lm_wide_add(&sum, lm_source_units(&early, here, volume));
        lm_wide_add(&sum, lm_source_units(&early, here, volume));
        lm_wide_add(&sum, lm_source_units(&late, here, volume));
    });
    sum.high *= times;
    sum.low *= times;
    lm_block_sum_wide(found->source, sum);
}

void count_source(struct lm_gpu *g, const stage &s, const struct lm_advect *early, const struct lm_advect *late,
                  int times)
{
    if (!s.source)
        return;
    source_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(s.grid, g->base.setup.grid.own, s.source,
                                                                  g->advect.open, *early, *late, times, s.found);
    LM_GPU_LAUNCHED(g, "sum of a source");
}

/* --- what particles transfer to a gas --- */

struct gaining {
    double *q[LM_MAX_BACKGROUNDS];        /* NULL: the field gains nothing */
    int what[LM_MAX_BACKGROUNDS], fields; /* enum lm_gas_sum of each field; how many fields there are */
    struct lm_gas_gain gain;
    lm_u64 *sums; /* [LM_GAS_SUMS][ny][nx] */
    struct lm_place place;
    struct lm_cells own;
    struct lm_gpu_advected *found; /* of all fields */
    const struct lm_opening *open; /* NULL: no cell is cut */
};

__global__ void gain_kernel(shape s, gaining g)
{
    const size_t cells = (size_t)s.nx * s.ny;
    struct lm_wide source[LM_MAX_BACKGROUNDS] = {};
    each_cell(s, g.own, [&](int i, int j, size_t element) {
        const size_t k = (size_t)j * s.nx + i;
        for (int f = 0; f < g.fields; f++) {
            const int what = g.what[f];
            if (!g.q[f] || g.sums[what * cells + k] == 0)
                continue;
            const double quanta =
                lm_add_gas_gain(&g.q[f][element], (int64_t)g.sums[what * cells + k],
                                lm_volume_at(g.open, (long)element), g.gain.unit[what], g.gain.quantum[f],
                                lm_gas_gain_chance(g.gain.key, g.gain.species, lm_domain_cell(&g.place, i, j), f));
            lm_wide_add(&source[f], quanta);
        }
    });
    for (int f = 0; f < g.fields; f++)
        if (g.q[f])
            lm_block_sum_wide(g.found[f].source, source[f]);
}

/* Fills the ghosts of the density and velocity of a gas (larmor/physics/fields/wall.h). */
__global__ void fill_gas_kernel(shape s, struct lm_sides sides, double *n, double *x, double *y)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) - LM_GHOST, j = (int)blockIdx.y - LM_GHOST;
    double *const arrays[3] = {n, x, y};
    if (i >= s.nx + LM_GHOST)
        return;
    for (int k = 0; k < 3; k++) {
        const int from_x = lm_gas_cell(&sides, 0, s.nx, k == 1 ? -1 : 0, i);
        const int from_y = lm_gas_cell(&sides, 1, s.ny, k == 2 ? -1 : 0, j);
        if (from_x != i || from_y != j)
            arrays[k][at(s, i, j)] = arrays[k][at(s, from_x, from_y)];
    }
}

/* --- velocities --- */

__global__ void flow_kernel(shape s, struct lm_flow_moments moments, int periodic_x, int periodic_y, int later,
                            struct lm_ohm ohm, double *flow, double *entropy)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) - 1, j = (int)blockIdx.y - 1;
    if (i >= s.nx)
        return;
    const size_t k = at(s, i, j);
    for (int axis = 0; axis < 2; axis++) {
        const enum lm_face_place place =
            axis == 0 ? lm_face_place(i, s.nx, periodic_x) : lm_face_place(j, s.ny, periodic_y);
        const struct lm_flow_arrays to = {flow ? flow + axis * s.pitch : NULL,
                                          flow ? flow + (2 + axis) * s.pitch : NULL,
                                          entropy ? entropy + axis * s.pitch : NULL};
        lm_set_flow_on_face(&moments, axis, (long)k, place, later, &ohm, &to);
    }
}

__global__ void rate_kernel(shape s, struct lm_cells own, const double *x, const double *y, const uint8_t *clearance,
                            const struct lm_opening *open, struct lm_ohm ohm, lm_u64 *largest)
{
    lm_u64 mine[1] = {0};
    each_cell(s, own, [&](int, int, size_t k) {
        raise(mine[0], lm_flow_rate_bits(x, y, clearance, open, (long)k, s.stride, &ohm));
    });
    lm_block_reduce<true, 1>(largest, mine);
}

__global__ void oscillation_kernel(shape s, struct lm_cells own, struct lm_sides sides, struct lm_flow_moments moments,
                                   const double *entropy, struct lm_ohm ohm, lm_u64 *largest)
{
    lm_u64 mine[1] = {0};
    each_cell(s, own, [&](int i, int j, size_t) {
        raise(mine[0], lm_oscillation_bits(&moments, entropy, &sides, s.nx, s.ny, i, j, &ohm));
    });
    lm_block_reduce<true, 1>(largest, mine);
}

} // namespace

struct lm_flow_moments lm_gpu_flow_moments(const struct lm_gpu *g)
{
    return {{g->array[LM_N_OLD], g->array[LM_N_NEW]},
            g->advect.counted,
            {g->array[LM_J_NEW], g->array[LM_J_NEW + 1]},
            view_of(g, g->array[LM_B]),
            external_of(g),
            g->advect.clearance,
            g->advect.open,
            g->advect.passage,
            lm_absorbing_walls(&g->base.setup)};
}

int lm_gpu_flow(struct lm_backend *b, enum lm_flow_time when)
{
    lm_gpu_range range("flow");
    struct lm_gpu *g = lm_gpu_of(b);
    const shape s = shape_of(g);
    g->advect.later = lm_is_later(when);
    if (b->setup.ohm.evolved)
        lm_gpu_count_density(g, g->array[LM_N_OLD], g->array[LM_N_NEW]);
    const struct lm_sides *sides = &b->setup.grid.sides;
    flow_kernel<<<dim3((unsigned)(s.nx + 256) / 256, (unsigned)s.ny + 1), 256, 0, g->stream>>>(
        s, lm_gpu_flow_moments(g), sides->of[LM_X_MIN] == LM_PERIODIC, sides->of[LM_Y_MIN] == LM_PERIODIC,
        g->advect.later, b->setup.ohm, lm_is_of_round(when) ? NULL : g->advect.flow,
        b->setup.ohm.evolved ? g->array[LM_BACKGROUND_X + b->setup.background_count - 1] : NULL);
    return LM_GPU_LAUNCHED(g, "velocities of ions and electrons");
}

int lm_gpu_flow_rates(struct lm_backend *b, double rate[LM_FLOW_RATES])
{
    lm_gpu_range range("flow rates");
    struct lm_gpu *g = lm_gpu_of(b);
    const shape s = shape_of(g);
    const int fields = b->setup.background_count;
    lm_gpu_reduce_begin(g);
    for (int f = 0; f < fields; f++)
        rate_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(
            s, b->setup.grid.own, g->array[LM_BACKGROUND_X + f], g->array[LM_BACKGROUND_Y + f], g->advect.clearance,
            g->advect.open, b->setup.ohm, &g->reduced->value[f]);
    if (b->setup.ohm.evolved && !g->advect.later)
        oscillation_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(
            s, b->setup.grid.own, b->setup.grid.sides, lm_gpu_flow_moments(g), g->array[LM_BACKGROUND + fields - 1],
            b->setup.ohm, &g->reduced->value[LM_OSCILLATION]);
    LM_GPU_LAUNCHED(g, "flow rates");
    lm_gpu_reduce_end(g);
    for (int f = 0; f < fields && !g->failed; f++)
        rate[f] = lm_from_bits(g->reduced_host->value[f]);
    if (!g->failed)
        rate[LM_OSCILLATION] = lm_from_bits(g->reduced_host->value[LM_OSCILLATION]);
    return g->failed;
}

int lm_gpu_advect(struct lm_backend *b, int field, int quantum, double dt, int substeps)
{
    lm_gpu_range range("advect");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_background *f = &b->setup.background[field];
    const struct lm_ohm *o = &b->setup.ohm;
    const struct lm_grid *grid = &b->setup.grid;
    double *q = g->array[LM_BACKGROUND + field], *first = g->advect.work, *second = first + g->pitch;
    double *const from[LM_ADVECT_STAGES] = {q, first, second}, *const to[LM_ADVECT_STAGES] = {first, second, q};
    stage s = {};
    s.grid = shape_of(g);
    s.periodic_x = grid->sides.of[LM_X_MIN] == LM_PERIODIC;
    s.periodic_y = grid->sides.of[LM_Y_MIN] == LM_PERIODIC;
    s.across = g->advect.across;
    s.near_body = pieces_of(g->advect.list_end - g->advect.near_body, g->advect.near_body, ROWS_NEAR_BODY);
    s.in_free = pieces_of(g->advect.list, g->advect.in_free, g->advect.rows);
    s.bounds.least = f->least;
    s.bounds.most = f->most;
    s.q0 = q;
    s.vx = g->array[LM_BACKGROUND_X + field];
    s.vy = g->array[LM_BACKGROUND_Y + field];
    s.source = f->has_source ? g->array[LM_BACKGROUND_SOURCE + field] : NULL;
    s.clearance = g->advect.clearance;
    s.open = g->advect.open;
    s.found = &g->control->background[field];
    s.own = grid->own;
    for (int side = 0; side < LM_SIDES; side++) {
        s.sides[side] = f->sides[side];
        s.inflow[side] = g->advect.inflow[field][side];
    }
    struct lm_advect by[LM_ADVECT_STAGES];
    for (int k = 0; k < LM_ADVECT_STAGES; k++)
        by[k] = lm_advect_stage(k, lm_exp2i(-quantum), dt, o->inv_dx, o->inv_dy, f->diffusivity);
    const int mixes = o->evolved && field == b->setup.background_count - 1;
    if (mixes)
        lm_gpu_work_velocities(g);
    for (int n = 0; n < LM_ADVECT_STAGES * substeps && !g->failed; n++) {
        if (lm_gpu_is_given_up(g))
            return lm_stop_give_up();
        const int k = n % LM_ADVECT_STAGES;
        if (mixes && !g->advect.later && k == 0) { /* so that both halves of a step mirror each other */
            lm_gpu_mix(g, quantum, dt, dt * substeps);
            lm_gpu_pass_surfaces(g, quantum, dt);
        }
        s.by = by[k];
        s.q = from[k];
        s.to = to[k];
        kernel_of(f,
                  s.open != NULL)<<<s.near_body.blocks + s.in_free.blocks, dim3(LANES, PIECE_WARPS), 0, g->stream>>>(s);
        LM_GPU_LAUNCHED(g, "advection");
        if (k == LM_ADVECT_STAGES - 1)
            lm_gpu_halo_refresh(g, &q, 1);
        if (mixes && g->advect.later && k == LM_ADVECT_STAGES - 1) {
            lm_gpu_pass_surfaces(g, quantum, dt);
            lm_gpu_mix(g, quantum, dt, dt * substeps);
        }
    }
    count_source(g, s, &by[0], &by[LM_ADVECT_STAGES - 1], substeps);
    return g->failed;
}

int lm_gpu_transfer_to_gas(struct lm_backend *b, const struct lm_gas_gain *gain)
{
    lm_gpu_range range("gain");
    struct lm_gpu *g = lm_gpu_of(b);
    const shape s = shape_of(g);
    const struct lm_grid *grid = &b->setup.grid;
    gaining of = {{},          {},        b->setup.background_count, *gain,         g->gas_transfer,
                  grid->place, grid->own, g->control->background,    g->advect.open};
    lm_u64 *sums[LM_GAS_SUMS];
    for (int k = 0; k < LM_GAS_SUMS; k++)
        sums[k] = g->gas_transfer + k * grid->cells;
    lm_gpu_halo_add(g, sums, LM_GAS_SUMS, 1, 0, 1);
    for (int f = 0; f < of.fields; f++) {
        of.what[f] = b->setup.background[f].gains - 1;
        of.q[f] = of.what[f] >= 0 ? g->array[LM_BACKGROUND + f] : NULL;
    }
    gain_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(s, of);
    LM_GPU_LAUNCHED(g, "what a gas gains");
    lm_gpu_check(g, cudaMemsetAsync(g->gas_transfer, 0, LM_GAS_SUMS * grid->cells * sizeof *g->gas_transfer, g->stream),
                 "what a gas gains");
    for (int f = 0; f < of.fields; f++)
        if (of.q[f])
            lm_gpu_halo_refresh(g, &of.q[f], 1);
    return g->failed;
}

int lm_gpu_fill_gas(struct lm_gpu *g, int field)
{
    const shape s = shape_of(g);
    const dim3 blocks((unsigned)(s.nx + 2 * LM_GHOST + 127) / 128, (unsigned)(s.ny + 2 * LM_GHOST));
    fill_gas_kernel<<<blocks, 128, 0, g->stream>>>(s, g->base.setup.grid.sides, g->array[LM_BACKGROUND + field],
                                                   g->array[LM_BACKGROUND_X + field],
                                                   g->array[LM_BACKGROUND_Y + field]);
    return LM_GPU_LAUNCHED(g, "ghosts of a gas");
}

int lm_gpu_survey_background(struct lm_backend *b, int field, int quantum)
{
    lm_gpu_range range("survey of a background field");
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_advected *found = &g->control->background[field];
    const shape s = shape_of(g);
    lm_gpu_check(g, cudaMemsetAsync(found, 0, offsetof(struct lm_gpu_advected, crossed), g->stream), "survey");
    survey_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(s, g->base.setup.grid.own,
                                                                  g->array[LM_BACKGROUND + field], g->advect.clearance,
                                                                  g->advect.open, 1.0 / lm_exp2i(-quantum), found);
    return LM_GPU_LAUNCHED(g, "survey of a background field");
}

/* --- memory --- */

enum piece_kind { PIECE_FREE, PIECE_NEAR_BODY, PIECE_IN_BODY };

static enum piece_kind kind_of_piece(const struct lm_gpu *g, const uint8_t *clearance, const struct lm_opening *open,
                                     unsigned piece, int rows)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const int x0 = (int)piece % g->advect.across * PIECE_COLUMNS, j0 = (int)piece / g->advect.across * rows;
    int near_body = 0, free_cells = 0;
    for (int j = j0 - 1; j <= j0 + rows && j <= grid->ny; j++)
        for (int i = x0 - 1; i <= x0 + PIECE_COLUMNS && i <= grid->nx; i++) {
            const size_t k = lm_at(grid, i, j);
            const uint8_t r = clearance[k];
            near_body |= !lm_has_full_clearance(r) || (open && lm_is_cut(&open[k]));
            free_cells |= r != 0;
        }
    return !free_cells ? PIECE_IN_BODY : near_body ? PIECE_NEAR_BODY : PIECE_FREE;
}

/* Two lists in one array. The pieces all of whose cells have full clearance are listed from the front. The others are
 * cut into low pieces, and those that hold free cells are listed from the back. */
static void list_pieces(struct lm_gpu *g, const uint8_t *clearance, const struct lm_opening *open)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const unsigned across = (unsigned)g->advect.across, low = (unsigned)(g->advect.rows / ROWS_NEAR_BODY);
    const unsigned up = (unsigned)((grid->ny + g->advect.rows - 1) / g->advect.rows), most = across * up * low;
    uint32_t *list = (uint32_t *)malloc(most * sizeof *list);
    g->advect.list = (uint32_t *)lm_gpu_allocate(g, most * sizeof *list, "pieces of the grid");
    if (!list && !g->failed)
        g->failed = lm_fail(LM_FAILED, "not enough memory for the pieces of the grid");
    for (unsigned p = 0; p < across * up && !g->failed; p++) {
        if (kind_of_piece(g, clearance, open, p, g->advect.rows) == PIECE_FREE) {
            list[g->advect.in_free++] = p;
            continue;
        }
        for (unsigned n = 0; n < low; n++) {
            const unsigned part = (p / across * low + n) * across + p % across;
            if ((int)(part / across) * ROWS_NEAR_BODY < grid->ny &&
                kind_of_piece(g, clearance, open, part, ROWS_NEAR_BODY) != PIECE_IN_BODY)
                list[most - ++g->advect.near_body] = part;
        }
    }
    g->advect.list_end = g->advect.list + most;
    if (!g->failed)
        lm_gpu_check(g, cudaMemcpyAsync(g->advect.list, list, most * sizeof *list, cudaMemcpyHostToDevice, g->stream),
                     "pieces of the grid");
    lm_gpu_check(g, cudaStreamSynchronize(g->stream), "pieces of the grid");
    free(list);
}

/* What is open of cut cells, on the device. Returns it on the host, where the caller frees it; NULL: no cell is cut, or
 * there is no memory. */
static struct lm_opening *make_cuts(struct lm_gpu *g, const struct lm_bodies *bodies)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    if (!lm_any_cut(grid, bodies) || g->failed)
        return NULL;
    struct lm_opening *open = (struct lm_opening *)malloc(grid->size * sizeof *open);
    struct lm_passage *passage = (struct lm_passage *)malloc(grid->size * sizeof *passage);
    g->advect.open = (struct lm_opening *)lm_gpu_allocate(g, grid->size * sizeof *open, "the cut cells");
    g->advect.passage = (struct lm_passage *)lm_gpu_allocate(g, grid->size * sizeof *passage, "the cut cells");
    if ((!open || !passage) && !g->failed)
        g->failed = lm_fail(LM_FAILED, "not enough memory for the cut cells");
    if (!g->failed) {
        lm_openings_fill(grid, bodies, open);
        lm_passages_fill(grid, bodies, passage);
        lm_gpu_check(
            g, cudaMemcpyAsync(g->advect.open, open, grid->size * sizeof *open, cudaMemcpyHostToDevice, g->stream),
            "the cut cells");
        lm_gpu_check(g,
                     cudaMemcpyAsync(g->advect.passage, passage, grid->size * sizeof *passage, cudaMemcpyHostToDevice,
                                     g->stream),
                     "the cut cells");
        lm_gpu_check(g, cudaStreamSynchronize(g->stream), "the cut cells");
    }
    free(passage);
    return open;
}

int lm_gpu_allocate_backgrounds(struct lm_gpu *g, const struct lm_bodies *bodies)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    if (g->base.setup.background_count == 0 || g->failed)
        return g->failed;
    struct lm_opening *open = make_cuts(g, bodies);
    uint8_t *clearance = (uint8_t *)malloc(grid->size);
    g->advect.clearance = (uint8_t *)lm_gpu_allocate(g, grid->size, "the clearance of the cells");
    if (!clearance && !g->failed)
        g->failed = lm_fail(LM_FAILED, "not enough memory for the clearance of the cells");
    if (!g->failed)
        g->failed = lm_stencil_clearance(grid, g->base.setup.bodies.mask, clearance);
    if (!g->failed) {
        lm_gpu_check(g, cudaMemcpyAsync(g->advect.clearance, clearance, grid->size, cudaMemcpyHostToDevice, g->stream),
                     "the clearance of the cells");
        g->advect.across = (grid->nx + PIECE_COLUMNS - 1) / PIECE_COLUMNS;
        int rows = (int)((long)grid->ny * g->advect.across / (g->processors * PIECES_OF_A_PROCESSOR));
        rows = rows > MOST_ROWS ? MOST_ROWS : rows < LEAST_ROWS ? LEAST_ROWS : rows;
        g->advect.rows = rows / ROWS_NEAR_BODY * ROWS_NEAR_BODY;
        list_pieces(g, clearance, open);
    }
    lm_gpu_list_surfaces(g, bodies, open);
    free(open);
    free(clearance);
    return g->failed;
}

int lm_gpu_put_background_side(struct lm_backend *b, int field, enum lm_side side, const double *values)
{
    struct lm_gpu *g = lm_gpu_of(b);
    double **to = &g->advect.inflow[field][side];
    const size_t bytes = (size_t)(side < LM_Y_MIN ? b->setup.grid.ny : b->setup.grid.nx) * sizeof *values;
    if (!*to)
        *to = (double *)lm_gpu_allocate(g, bytes, "what flows in");
    if (*to)
        lm_gpu_check(g, cudaMemcpyAsync(*to, values, bytes, cudaMemcpyHostToDevice, g->stream), "what flows in");
    return lm_gpu_check(g, cudaStreamSynchronize(g->stream), "what flows in");
}
