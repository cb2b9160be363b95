/* CUDA backend: Faraday's law with Ohm's law, all four Runge-Kutta stages of a substep in one kernel.
 *
 * A block takes some columns and goes up them. Each Runge-Kutta stage has warps of its own. A stage reads the rows of B
 * that the stage before it has finished, so each array is loaded from memory once. Rings of rows in shared memory hold
 * the arrays from memory, the B that goes from stage to stage, and the sum that becomes the result. A turn is the time
 * from one barrier to the next. In a turn a stage takes in a pair of rows and finishes the pair below.
 *
 * Rate of rk4_kernel (NVIDIA H200, 2026-11-24, 1024 x 1024 cells; docs/performance/results.md): 75.2 us a substep.
 */
#include "fields/electric.cuh"

#include <cuda_pipeline.h>

#include "core/early.cuh"
#include "core/halo.cuh"
#include "fields/plain.cuh"

namespace
{

enum {
    STAGES = 4,
    PAIR = 2,
    OWN = LANES - 2 * HALO,
    MARGIN = STAGES * HALO, /* columns and rows around those of a block */
    LAG = 2,                /* pairs that a stage is behind the one before it */
    FLOW_PAIRS = 2,
    SUM_PAIRS = LAG * (STAGES - 1) + 1
};
static_assert((int)HALO == (int)PAIR, "the pair that is finished is the one below");

/* The arrays that come from memory: B, J_i, LM_PER_DENSITY, and for some plasmas the battery and eta. */
enum {
    INPUT_B,
    INPUT_J = 3,
    INPUT_PER_DENSITY = 6,
    FEWEST_INPUTS = 7,
    INPUT_BATTERY = FEWEST_INPUTS,
    INPUT_ETA,
    MOST_INPUTS
};

/* A block: warps of a stage, arrays that come from memory, columns; numbers of elements in shared memory. */
template <int STAGE_WARPS_, int COUNT_> struct rk4_block {
    enum {
        STAGE_WARPS = STAGE_WARPS_,
        COUNT = COUNT_,
        STAGE_THREADS = STAGE_WARPS * LANES,
        THREADS = STAGES * STAGE_THREADS,
        WIDTH = OWN * STAGE_WARPS + 2 * HALO,
        COLUMNS = WIDTH - 2 * MARGIN,
        /* From the pair that the last stage takes in to the one that is being loaded; and the pair that the last stage
         * finishes, where it adds the battery of that pair. */
        INPUT_PAIRS = SUM_PAIRS + 1 + (COUNT > INPUT_BATTERY),
        VECTOR = 3 * WIDTH,                /* a row of B */
        INPUT = COUNT * WIDTH,             /* a row of all that comes from memory */
        FLOW = FLOW_PAIRS * PAIR * VECTOR, /* ring of B from a stage to the next */
        SUMS = SUM_PAIRS * PAIR * VECTOR,
        INPUTS = INPUT_PAIRS * PAIR * INPUT,
        BYTES = (INPUTS + SUMS + (STAGES - 1) * FLOW) * (int)sizeof(double)
    };
};

struct rk4_problem {
    const double *input[MOST_INPUTS]; /* the battery and eta: NULL for 0 */
    double *to;
    int columns, rows;       /* of a block */
    int from[2], end[2];     /* the cells that are advanced */
    const uint8_t *is_plain; /* whether a block is advanced; NULL: all are */
};

template <int WIDTH> __device__ __forceinline__ struct lm_vector row_at(const double *row)
{
    return {row[0], row[WIDTH], row[2 * WIDTH]};
}

template <int WIDTH> __device__ __forceinline__ void row_put(double *row, const struct lm_vector &v)
{
    row[0] = v.x;
    row[WIDTH] = v.y;
    row[2 * WIDTH] = v.z;
}

/* dB/dt of a strip. Given B of row j, `advance` returns dB/dt of row j - HALO: in lanes HALO .. 31 - HALO, and once
 * rows j - 2 HALO .. j have been given. */
template <bool HYPER> struct faraday_rows {
    electric_rows<HYPER, NO_PRESSURE, false> electric;
    double e[3]; /* of row j - HALO */

    __device__ __forceinline__ struct lm_vector advance(const struct lm_vector &b, double by_left, double bz_left,
                                                        const plasma &here, const struct lm_ohm &o)
    {
        double above[3];
        electric.advance(b, by_left, bz_left, here, o, above);
        const double ex[3] = {e[0], 0, above[0]}, ey[2] = {e[1], right(e[1])}, ez[3] = {e[2], right(e[2]), above[2]};
        struct lm_view v = {ex, ey, ez, 2};
        struct lm_vector rate = lm_faraday(v, o.inv_dx, o.inv_dy);
        for (int d = 0; d < 3; d++)
            e[d] = above[d];
        return rate;
    }
};

/* Columns and rows of a block, with its margin. */
struct rk4_part {
    int first_column, first_row, pairs, width;
};

__device__ __forceinline__ rk4_part part_of_block(const rk4_problem &a)
{
    rk4_part part;
    part.first_column = a.from[0] + blockIdx.x * a.columns - MARGIN;
    part.first_row = a.from[1] + blockIdx.y * a.rows - MARGIN;
    part.pairs = (min(a.rows, a.end[1] - part.first_row - MARGIN) + 2 * MARGIN + PAIR - 1) / PAIR;
    part.width = a.columns + 2 * MARGIN;
    return part;
}

/* Loads pairs of rows from memory into their ring. The threads of a stage load every fourth array; a thread loads the
 * column that is its number in the stage. */
template <class block> struct input_loader {
    enum { LOADS = (block::COUNT + STAGES - 1) / STAGES };
    const double *from[LOADS];
    int pairs[LOADS]; /* to be loaded of each array */
    unsigned stride, lowest, highest, element;
    int next;
    double *ring_end, *to;

    __device__ __forceinline__ input_loader(double *ring, const shape &s, const rk4_problem &a, const rk4_part &part,
                                            int stage, int thread)
    {
        LM_UNROLL
        for (int k = 0; k < LOADS; k++) {
            from[k] = stage + k * STAGES < block::COUNT ? a.input[stage + k * STAGES] : NULL;
            pairs[k] = from[k] && thread < part.width ? part.pairs : 0;
        }
        stride = (unsigned)s.stride;
        lowest = LM_GHOST * stride + LM_GHOST + lm_wrap(part.first_column + thread, s.nx);
        highest = lowest + (s.ny - 1) * stride;
        element = lowest + lm_wrap(part.first_row, s.ny) * stride;
        next = 0;
        ring_end = ring + block::INPUTS;
        to = ring + stage * block::WIDTH + thread;
    }

    __device__ __forceinline__ void load_pair()
    {
        LM_UNROLL
        for (int r = 0; r < PAIR; r++) {
            LM_UNROLL
            for (int m = 0; m < LOADS; m++)
                if (next < pairs[m])
                    __pipeline_memcpy_async(to + r * block::INPUT + m * STAGES * block::WIDTH, from[m] + element,
                                            sizeof(double));
            element = element == highest ? lowest : element + stride;
        }
        __pipeline_commit();
        next++;
        to += PAIR * block::INPUT;
        to = to >= ring_end ? to - block::INPUTS : to;
    }

    /* Ends a turn: the pair that was being loaded is there for all threads, and the next one is on its way. */
    __device__ __forceinline__ void next_turn()
    {
        __pipeline_wait_prior(0);
        /* __syncthreads would have to stand in one place of the kernel; next_turn stands in three. */
        asm volatile("barrier.sync 1, %0;" ::"n"((int)block::THREADS) : "memory");
        load_pair();
    }
};

/* A thread's column in shared memory, and the turns in which it does what: from work_from to work_to its stage takes in
 * rows; from store_from on, what comes out of its column is its to store. */
template <class block> struct rk4_column {
    int x, to_left, to_right;
    int turns, work_from, work_to, store_from;

    __device__ __forceinline__ rk4_column(const rk4_problem &a, const rk4_part &part, int stage, int warp, int lane)
    {
        const int begin = HALO * stage + warp % block::STAGE_WARPS * OWN, end = part.width - HALO * stage;
        x = min(begin + lane, end - 1), to_left = x > 0 ? -1 : 0, to_right = x < block::WIDTH - 1 ? 1 : 0;
        const int beyond = HALO * (STAGES - 1 - stage); /* columns beyond the domain that the later stages need */
        const bool mine = lane >= HALO && lane < LANES - HALO && begin + lane < end - HALO &&
                          part.first_column + begin + lane < a.end[0] + beyond;
        work_from = (LAG + 1) * stage, turns = part.pairs + (LAG - 1) * (STAGES - 1);
        work_to = begin < end - 2 * HALO ? part.pairs + (LAG - 1) * stage : work_from;
        store_from = mine ? work_from + 2 : turns;
    }
};

/* A thread's places in the rings: the pair of rows that goes in, from memory and from the stage before, and the pair
 * that comes out, as B for the next stage and as sum. */
template <class block> struct rk4_rings {
    double *input_begin, *input_end, *sums_end;
    const double *in, *flow_in;
    double *flow_out, *sum;
    int flow_step;

    __device__ __forceinline__ rk4_rings(double *shared, int stage, int x)
    {
        double *const sums = shared + block::INPUTS, *const flow = sums + block::SUMS;
        input_begin = shared, input_end = sums, sums_end = flow;
        in = shared + stage * PAIR * block::INPUT + x;
        flow_in = flow + (stage - 1) * block::FLOW + stage % FLOW_PAIRS * PAIR * block::VECTOR + x;
        flow_out = flow + stage * block::FLOW + (stage + 1) % FLOW_PAIRS * PAIR * block::VECTOR + x;
        sum = sums + (stage + SUM_PAIRS - 1) % SUM_PAIRS * PAIR * block::VECTOR + x;
        flow_step = stage % FLOW_PAIRS ? -PAIR * block::VECTOR : PAIR * block::VECTOR;
    }

    /* What came from memory for the pair that comes out. */
    __device__ __forceinline__ const double *input_below() const
    {
        return in + (in < input_begin + PAIR * block::INPUT ? block::INPUT_PAIRS - 1 : -1) * PAIR * block::INPUT;
    }

    __device__ __forceinline__ void next_pair()
    {
        in += PAIR * block::INPUT;
        in = in >= input_end ? in - block::INPUTS : in;
        sum += PAIR * block::VECTOR;
        sum = sum >= sums_end ? sum - block::SUMS : sum;
        flow_in += flow_step;
        flow_out -= flow_step;
        flow_step = -flow_step;
    }
};

/* What Ohm's law reads in a cell of a row from memory. */
template <class block>
__device__ __forceinline__ plasma plasma_at(const double *row, int to_right, const rk4_problem &a)
{
    enum { WIDTH = block::WIDTH, FEWEST = (int)block::COUNT == (int)FEWEST_INPUTS };
    plasma here = {row_at<WIDTH>(row + INPUT_J * WIDTH), row[INPUT_PER_DENSITY * WIDTH], 0.0, 0.0, {0.0, 0.0}};
    if (!FEWEST && a.input[INPUT_ETA]) {
        here.eta = row[INPUT_ETA * WIDTH];
        here.eta_right = row[INPUT_ETA * WIDTH + to_right];
    }
    return here;
}

__device__ __forceinline__ struct lm_vector rk4_sum(const struct lm_rk4 &rk, const struct lm_vector &sum,
                                                    const struct lm_vector &rate)
{
    return {lm_rk4_sum(rk, 0, sum.x, rate.x), lm_rk4_sum(rk, 0, sum.y, rate.y), lm_rk4_sum(rk, 0, sum.z, rate.z)};
}

__device__ __forceinline__ struct lm_vector rk4_next(const struct lm_rk4 &rk, const struct lm_vector &start,
                                                     const struct lm_vector &rate)
{
    return {lm_rk4_next(rk, 0, start.x, rate.x), lm_rk4_next(rk, 0, start.y, rate.y),
            lm_rk4_next(rk, 0, start.z, rate.z)};
}

/* A turn's work in a column: takes in a pair of rows, and finishes the pair below. */
template <class block, bool HYPER>
__device__ __forceinline__ void advance_pair(faraday_rows<HYPER> &faraday, const rk4_rings<block> &ring,
                                             const rk4_column<block> &column, const rk4_part &part, int stage, int turn,
                                             const struct lm_rk4 &rk, const shape &s, const rk4_problem &a,
                                             const struct lm_ohm &o)
{
    /* In narrow blocks both rows are worked on before the first one is stored, without a branch between them: the
     * instructions of one row do not wait for those of the other. Wide blocks have warps enough. */
    enum { WIDTH = block::WIDTH, TOGETHER = (int)block::STAGE_WARPS <= 2 };
    const double *b_in = stage == 0 ? ring.in : ring.flow_in;
    const int b_row = stage == 0 ? block::INPUT : block::VECTOR;
    const double *below = ring.input_below();
    const auto store_row = [&](int r, struct lm_vector rate) {
        const double *start = below + r * block::INPUT;
        if ((int)block::COUNT > (int)FEWEST_INPUTS && a.input[INPUT_BATTERY])
            rate.z += start[INPUT_BATTERY * WIDTH];
        double *sum = ring.sum + r * block::VECTOR;
        const struct lm_vector after = rk4_sum(rk, row_at<WIDTH>(stage == 0 ? start : sum), rate);
        if (stage < STAGES - 1) {
            row_put<WIDTH>(sum, after);
            row_put<WIDTH>(ring.flow_out + r * block::VECTOR, rk4_next(rk, row_at<WIDTH>(start), rate));
        } else {
            int j = part.first_row + PAIR * (turn - column.work_from + stage - 1) + r;
            if (j < a.end[1])
                store_vector(s, a.to, part.first_column + column.x, j, after);
        }
    };
    const bool stores = turn >= column.store_from;
    struct lm_vector rate[PAIR];
    LM_UNROLL
    for (int r = 0; r < PAIR; r++) {
        const double *b = b_in + r * b_row;
        const plasma here = plasma_at<block>(ring.in + r * block::INPUT, column.to_right, a);
        rate[r] = faraday.advance(row_at<WIDTH>(b), b[WIDTH + column.to_left], b[2 * WIDTH + column.to_left], here, o);
        if (!TOGETHER && stores)
            store_row(r, rate[r]);
    }
    LM_UNROLL
    for (int r = 0; r < PAIR && TOGETHER && stores; r++)
        store_row(r, rate[r]);
}

template <int STAGE_WARPS, int COUNT, bool HYPER>
__global__ void __launch_bounds__(rk4_block<STAGE_WARPS, COUNT>::THREADS, 1)
    rk4_kernel(shape s, const __grid_constant__ rk4_problem a, struct lm_ohm o, double h)
{
    typedef rk4_block<STAGE_WARPS, COUNT> block;
    extern __shared__ double shared[];

    await_last();
    allow_next();
    if (a.is_plain && !a.is_plain[blockIdx.y * gridDim.x + blockIdx.x])
        return;
    /* The same in all lanes, and the shuffle tells the compiler so. */
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / LANES, 0), stage = warp / STAGE_WARPS;
    const int lane = threadIdx.x % LANES, thread = threadIdx.x - stage * block::STAGE_THREADS;
    const rk4_part part = part_of_block(a);
    input_loader<block> loader(shared, s, a, part, stage, thread);
    loader.load_pair();

    const rk4_column<block> column(a, part, stage, warp, lane);
    const struct lm_rk4 rk = lm_rk4_stage(stage, h);
    rk4_rings<block> ring(shared, stage, column.x);
    int t = 0;
#pragma unroll 1
    for (; t < column.work_from; t++)
        loader.next_turn();
    faraday_rows<HYPER> faraday = {};
#pragma unroll 1
    for (; t < column.work_to; t++) {
        loader.next_turn();
        advance_pair<block, HYPER>(faraday, ring, column, part, stage, t, rk, s, a, o);
        ring.next_pair();
    }
#pragma unroll 1
    for (; t < column.turns; t++)
        loader.next_turn();
}

/* A substep of length h in a grid of blocks. */
template <int STAGE_WARPS, int COUNT, bool HYPER>
int launch_rk4(struct lm_gpu *g, cudaStream_t stream, const rk4_problem &a, dim3 blocks, double h)
{
    typedef rk4_block<STAGE_WARPS, COUNT> block;
    auto kernel = rk4_kernel<STAGE_WARPS, COUNT, HYPER>;
    static const cudaError_t allowed =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, block::BYTES);
    lm_gpu_check(g, allowed, "shared memory of Faraday's law");
    launch_early(g, lm_gpu_is_small(g), blocks, block::THREADS, block::BYTES, stream, kernel, shape_of(g), a,
                 g->base.setup.ohm, h);
    return LM_GPU_LAUNCHED(g, "Faraday's law");
}

/* The substeps of a step. */
typedef int rk4_steps(struct lm_gpu *g, rk4_problem a, const struct lm_b_step *step);

template <int STAGE_WARPS, int COUNT, bool HYPER> int rk4(struct lm_gpu *g, rk4_problem a, const struct lm_b_step *step)
{
    typedef rk4_block<STAGE_WARPS, COUNT> block;
    const struct lm_grid *grid = &g->base.setup.grid;
    /* As many blocks as multiprocessors, because every block adds its margin. */
    int across = (grid->nx + block::COLUMNS - 1) / block::COLUMNS, up = g->processors / across;
    up = up > 0 ? up : 1;
    a.columns = (grid->nx + across - 1) / across;
    a.rows = (grid->ny + up - 1) / up;
    a.rows = (a.rows + PAIR - 1) / PAIR * PAIR;
    dim3 blocks((unsigned)across, (unsigned)((grid->ny + a.rows - 1) / a.rows));
    if (step->mean == LM_MEAN_ENDS)
        lm_gpu_begin_survey(g);
    for (int r = 0; r < step->substeps; r++) {
        if (lm_gpu_is_given_up(g))
            return lm_stop_give_up();
        double *before = g->array[LM_B], *to = g->next_b;
        for (int d = 0; d < 3; d++)
            a.input[INPUT_B + d] = g->array[LM_B + d];
        a.to = to;
        launch_rk4<STAGE_WARPS, COUNT, HYPER>(g, g->stream, a, blocks, step->dt / step->substeps);
        lm_gpu_join(g); /* the next substep writes where the mean reads */
        const bool is_kept = step->mean == LM_MEAN_ENDS && r == 0;
        g->next_b = is_kept ? g->array[LM_KEPT_B] : before;
        for (int d = 0; d < 3; d++) {
            g->array[LM_B + d] = to + d * g->pitch;
            if (is_kept)
                g->array[LM_KEPT_B + d] = before + d * g->pitch;
        }
        if (lm_halo_is_used_up(g->base.setup.halo, r, step->substeps))
            lm_gpu_halo_refresh(g, g->array + LM_B, 3);
        lm_gpu_add_to_mean(g, step, r);
    }
    lm_gpu_end_mean(g, step);
    return g->failed;
}

/* Wide blocks for wide domains, as far as shared memory goes. */
template <int MOST_WARPS, int COUNT, bool HYPER> rk4_steps *rk4_fitting(const struct lm_gpu *g)
{
    enum { NARROW = 16, MIDDLE = 256 }; /* columns of a domain; chosen on an H200 */
    const int nx = g->base.setup.grid.nx;
    if (nx > MIDDLE && rk4_block<MOST_WARPS, COUNT>::BYTES <= g->shared_bytes)
        return rk4<MOST_WARPS, COUNT, HYPER>;
    if (nx > NARROW && rk4_block<2, COUNT>::BYTES <= g->shared_bytes)
        return rk4<2, COUNT, HYPER>;
    return rk4<1, COUNT, HYPER>; /* fits every GPU that the program runs on */
}

enum { WIDEST = 4, WIDEST_HYPER = 3 }; /* warps of a stage with all inputs */

/* All of the domain, or the cells and blocks of a plain part. */
rk4_problem problem_of(struct lm_gpu *g, int ion_current, const double *battery, const struct lm_gpu_blocks *p)
{
    rk4_problem a = {};
    for (int d = 0; d < 3; d++) {
        a.input[INPUT_B + d] = g->array[LM_B + d];
        a.input[INPUT_J + d] = g->array[ion_current + d];
    }
    a.input[INPUT_PER_DENSITY] = g->array[LM_PER_DENSITY];
    a.input[INPUT_BATTERY] = battery;
    a.input[INPUT_ETA] = g->resistive ? g->array[LM_ETA] : NULL;
    a.to = g->next_b;
    a.end[0] = g->base.setup.grid.nx;
    a.end[1] = g->base.setup.grid.ny;
    if (!p)
        return a;
    a.columns = p->columns;
    a.rows = p->rows;
    for (int axis = 0; axis < 2; axis++) {
        a.from[axis] = p->from[axis];
        a.end[axis] = p->to[axis];
    }
    a.is_plain = p->is_plain;
    return a;
}

template <int STAGE_WARPS> int columns_if_fitting(const struct lm_gpu *g)
{
    typedef rk4_block<STAGE_WARPS, MOST_INPUTS> block;
    return block::BYTES <= g->shared_bytes ? block::COLUMNS : 0;
}

} // namespace

int lm_gpu_plain_columns(const struct lm_gpu *g)
{
    return g->base.setup.ohm.eta_hyper > 0 ? columns_if_fitting<WIDEST_HYPER>(g) : columns_if_fitting<WIDEST>(g);
}

int lm_gpu_advance_plain(struct lm_gpu *g, const struct lm_gpu_blocks *p, enum lm_array ion_current,
                         const double *battery, double substep)
{
    const rk4_problem a = problem_of(g, ion_current, battery, p);
    const dim3 blocks((unsigned)p->across, (unsigned)p->up);
    return g->base.setup.ohm.eta_hyper > 0
               ? launch_rk4<WIDEST_HYPER, MOST_INPUTS, true>(g, g->beside.stream, a, blocks, substep)
               : launch_rk4<WIDEST, MOST_INPUTS, false>(g, g->beside.stream, a, blocks, substep);
}

int lm_gpu_advance_b(struct lm_backend *b, const struct lm_b_step *step)
{
    lm_gpu_range range("advance b");
    struct lm_gpu *g = lm_gpu_of(b);
    if (lm_halo_needs_moments(b->setup.halo))
        lm_gpu_halo_refresh(g, g->array + LM_PER_DENSITY, 1);
    lm_gpu_begin_void_field(g, step);
    if (lm_gpu_begin_mean(g, step) || (step->voids && lm_gpu_allocate_general(g)))
        return g->failed;
    if (g->general.used || step->voids)
        return lm_gpu_general_advance_b(g, step);
    const struct lm_ohm *o = &b->setup.ohm;
    const rk4_problem a = problem_of(g, step->ion_current, lm_gpu_battery(g), NULL);
    rk4_steps *advance = o->eta_hyper > 0 ? rk4_fitting<WIDEST_HYPER, MOST_INPUTS, true>(g)
                         : a.input[INPUT_BATTERY] || a.input[INPUT_ETA] ? rk4_fitting<WIDEST, MOST_INPUTS, false>(g)
                                                                        : rk4_fitting<5, FEWEST_INPUTS, false>(g);
    return advance(g, a, step);
}
