/* CUDA backend: Faraday's law with Ohm's, four Runge-Kutta stages in one kernel.
 *
 * A block takes some columns and goes up them; each Runge-Kutta stage has warps of its own. A stage takes the rows of B
 * that the stage before has finished, so each array comes from memory once. Everything goes through rings of rows in
 * shared memory: what comes from memory, B from stage to stage, and the sum that becomes the result. In a turn, from
 * one barrier to the next, a stage takes a pair of rows and finishes the pair below.
 */
#include "fields/electric.cuh"

#include <cuda_pipeline.h>

namespace
{

enum {
    STAGES = 4,
    PAIR = 2,
    OWN = LANES - 2 * HALO,
    MARGIN = STAGES * HALO, /* columns and rows around those of a block */
    LAG = 2,                /* pairs that a stage is behind the one before it */
    FLOW_PAIRS = 2,
    SUM_PAIRS = LAG * (STAGES - 1) + 1,
    GIVEN_PAIRS = SUM_PAIRS + 1 /* from what the last stage takes in to what is on its way */
};
static_assert((int)HALO == (int)PAIR, "the pair that is finished is the one below");

/* What comes from memory: B, J_i, n, and for some plasmas p and eta. */
enum { GIVEN_B, GIVEN_J = 3, GIVEN_N = 6, PLAIN_GIVEN = 7, GIVEN_P = PLAIN_GIVEN, GIVEN_ETA, MOST_GIVEN };

/* A block: warps of a stage, arrays that come from memory, columns. Elements of shared memory. */
template <int STAGE_WARPS, int COUNT> struct rk4_block {
    enum {
        STAGE_THREADS = STAGE_WARPS * LANES,
        THREADS = STAGES * STAGE_THREADS,
        WIDTH = OWN * STAGE_WARPS + 2 * HALO,
        COLUMNS = WIDTH - 2 * MARGIN,
        VECTOR = 3 * WIDTH,                /* a row of B */
        GIVEN = COUNT * WIDTH,             /* a row of all that comes from memory */
        FLOW = FLOW_PAIRS * PAIR * VECTOR, /* ring of a stage */
        SUMS = SUM_PAIRS * PAIR * VECTOR,
        GIVENS = GIVEN_PAIRS * PAIR * GIVEN,
        BYTES = (GIVENS + SUMS + (STAGES - 1) * FLOW) * (int)sizeof(double)
    };
};

struct rk4_problem {
    const double *given[MOST_GIVEN]; /* p, eta: NULL for T n and 0 */
    double temperature;
    double *to;
    int columns, rows; /* of a block */
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

/* dB/dt of a strip. Given B of row j, returns that of row j - HALO: of lanes HALO .. 31 - HALO, and once rows
 * j - 2 HALO .. j have been given. */
template <bool HYPER> struct faraday_rows {
    electric_rows<HYPER> electric;
    double e[3]; /* of row j - HALO */

    __device__ __forceinline__ struct lm_vector advance(const struct lm_vector &b, double by_left, double bz_left,
                                                        const plasma &given, const struct lm_ohm &o)
    {
        double above[3], ideal[3];
        electric.advance(b, by_left, bz_left, given, o, above, ideal);
        const double ex[3] = {e[0], 0, above[0]}, ey[2] = {e[1], right(e[1])}, ez[3] = {e[2], right(e[2]), above[2]};
        struct lm_view v = {ex, ey, ez, 2};
        struct lm_vector rate = lm_faraday(v, o.rx, o.ry);
        for (int d = 0; d < 3; d++)
            e[d] = above[d];
        return rate;
    }
};

__device__ __forceinline__ struct lm_vector step_from(const struct lm_vector &b, double h, const struct lm_vector &rate)
{
    return {lm_fma(h, rate.x, b.x), lm_fma(h, rate.y, b.y), lm_fma(h, rate.z, b.z)};
}

template <int STAGE_WARPS, int COUNT, bool HYPER>
__global__ void __launch_bounds__(rk4_block<STAGE_WARPS, COUNT>::THREADS, 1)
    rk4_kernel(shape s, const __grid_constant__ rk4_problem a, struct lm_ohm o, double h)
{
    typedef rk4_block<STAGE_WARPS, COUNT> block;
    enum { WIDTH = block::WIDTH, BROUGHT = (COUNT + STAGES - 1) / STAGES, PLAIN = COUNT == PLAIN_GIVEN };
    extern __shared__ double shared[];
    double *const given_end = shared + block::GIVENS, *const sums = given_end, *const sums_end = sums + block::SUMS,
                  *const flow = sums_end;

    /* The same in all lanes, and the compiler shall know. */
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / LANES, 0), stage = warp / STAGE_WARPS;
    const int lane = threadIdx.x % LANES, thread = threadIdx.x - stage * block::STAGE_THREADS;
    const int first_column = blockIdx.x * a.columns - MARGIN, first = blockIdx.y * a.rows - MARGIN,
              pairs = (min(a.rows, s.ny - first - MARGIN) + 2 * MARGIN + PAIR - 1) / PAIR,
              width = a.columns + 2 * MARGIN;

    /* The arrays that this thread brings from memory, in column `thread`. */
    const double *from[BROUGHT];
    int bring_pairs[BROUGHT];
    LM_UNROLL
    for (int k = 0; k < BROUGHT; k++) {
        from[k] = stage + k * STAGES < COUNT ? a.given[stage + k * STAGES] : NULL;
        bring_pairs[k] = from[k] && thread < width ? pairs : 0;
    }
    const unsigned stride = (unsigned)s.stride,
                   lowest = LM_GHOST * stride + LM_GHOST + lm_wrap(first_column + thread, s.nx),
                   highest = lowest + (s.ny - 1) * stride;
    unsigned place = lowest + lm_wrap(first, s.ny) * stride;
    int next = 0;
    double *to = shared + stage * WIDTH + thread;
    auto bring = [&]() {
        LM_UNROLL
        for (int r = 0; r < PAIR; r++) {
            LM_UNROLL
            for (int m = 0; m < BROUGHT; m++)
                if (next < bring_pairs[m])
                    __pipeline_memcpy_async(to + r * block::GIVEN + m * STAGES * WIDTH, from[m] + place,
                                            sizeof(double));
            place = place == highest ? lowest : place + stride;
        }
        __pipeline_commit();
        next++;
        to += PAIR * block::GIVEN;
        to = to >= given_end ? to - block::GIVENS : to;
    };
    auto turn = [&]() {
        __pipeline_wait_prior(0);
        /* __syncthreads would have to stand in one place; `turn` stands in three. */
        asm volatile("barrier.sync 1, %0;" ::"n"((int)block::THREADS) : "memory");
        bring();
    };
    bring();

    /* This thread's column in shared memory; what comes out there is its to store from turn `store_from` on. */
    const int begin = HALO * stage + warp % STAGE_WARPS * OWN, end = width - HALO * stage;
    const int x = min(begin + lane, end - 1), to_left = x > 0 ? -1 : 0, to_right = x < WIDTH - 1 ? 1 : 0;
    const int beyond = HALO * (STAGES - 1 - stage); /* columns beyond the domain that the later stages need */
    const bool mine =
        lane >= HALO && lane < LANES - HALO && begin + lane < end - HALO && first_column + begin + lane < s.nx + beyond;
    const int work_from = (LAG + 1) * stage, turns = pairs + (LAG - 1) * (STAGES - 1),
              work_to = begin < end - 2 * HALO ? pairs + (LAG - 1) * stage : work_from,
              store_from = mine ? work_from + 2 : turns;

    const struct lm_rk4 rk = lm_rk4_stage(stage, h);
    /* In the rings: the pair that goes in, and those of B and the sum; the pair that comes out. */
    const double *in = shared + stage * PAIR * block::GIVEN + x;
    const double *flow_in = flow + (stage - 1) * block::FLOW + stage % FLOW_PAIRS * PAIR * block::VECTOR + x;
    double *flow_out = flow + stage * block::FLOW + (stage + 1) % FLOW_PAIRS * PAIR * block::VECTOR + x;
    double *sum = sums + (stage + SUM_PAIRS - 1) % SUM_PAIRS * PAIR * block::VECTOR + x;
    int turned = stage % FLOW_PAIRS ? -PAIR * block::VECTOR : PAIR * block::VECTOR;
    int t = 0;
#pragma unroll 1
    for (; t < work_from; t++)
        turn();
    faraday_rows<HYPER> faraday = {};
#pragma unroll 1
    for (; t < work_to; t++) {
        turn();
        const double *b_in = stage == 0 ? in : flow_in;
        const int b_row = stage == 0 ? block::GIVEN : block::VECTOR;
        const double *done = in + (in < shared + PAIR * block::GIVEN ? GIVEN_PAIRS - 1 : -1) * PAIR * block::GIVEN;
        LM_UNROLL
        for (int r = 0; r < PAIR; r++) {
            const double *row = in + r * block::GIVEN, *b = b_in + r * b_row;
            const double n = row[GIVEN_N * WIDTH], n_right = row[GIVEN_N * WIDTH + to_right];
            plasma here = {
                row_at<WIDTH>(row + GIVEN_J * WIDTH), n, a.temperature * n, 0.0, n_right, a.temperature * n_right, 0.0};
            if (!PLAIN && a.given[GIVEN_P]) {
                here.p = row[GIVEN_P * WIDTH];
                here.p_right = row[GIVEN_P * WIDTH + to_right];
            }
            if (!PLAIN && a.given[GIVEN_ETA]) {
                here.eta = row[GIVEN_ETA * WIDTH];
                here.eta_right = row[GIVEN_ETA * WIDTH + to_right];
            }
            const struct lm_vector rate =
                faraday.advance(row_at<WIDTH>(b), b[WIDTH + to_left], b[2 * WIDTH + to_left], here, o);
            if (t < store_from)
                continue;
            const double *before = done + r * block::GIVEN;
            double *total = sum + r * block::VECTOR;
            const struct lm_vector after = step_from(row_at<WIDTH>(stage == 0 ? before : total), rk.result, rate);
            if (stage < STAGES - 1) {
                row_put<WIDTH>(total, after);
                row_put<WIDTH>(flow_out + r * block::VECTOR, step_from(row_at<WIDTH>(before), rk.next, rate));
            } else {
                int j = first + PAIR * (t - work_from + stage - 1) + r;
                if (j < s.ny)
                    store_vector(s, a.to, first_column + x, j, after);
            }
        }
        in += PAIR * block::GIVEN;
        in = in >= given_end ? in - block::GIVENS : in;
        sum += PAIR * block::VECTOR;
        sum = sum >= sums_end ? sum - block::SUMS : sum;
        flow_in += turned;
        flow_out -= turned;
        turned = -turned;
    }
#pragma unroll 1
    for (; t < turns; t++)
        turn();
}

/* `steps` steps of h. */
typedef int rk4_steps(struct lm_gpu *g, rk4_problem a, double h, int steps);

template <int STAGE_WARPS, int COUNT, bool HYPER> int rk4(struct lm_gpu *g, rk4_problem a, double h, int steps)
{
    typedef rk4_block<STAGE_WARPS, COUNT> block;
    const struct lm_grid *grid = &g->base.setup.grid;
    auto kernel = rk4_kernel<STAGE_WARPS, COUNT, HYPER>;
    static const cudaError_t allowed =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, block::BYTES);
    lm_gpu_check(g, allowed, "shared memory of Faraday's law");
    /* As many blocks as multiprocessors, because every block adds its margin. */
    int across = (grid->nx + block::COLUMNS - 1) / block::COLUMNS, up = g->processors / across;
    up = up > 0 ? up : 1;
    a.columns = (grid->nx + across - 1) / across;
    a.rows = (grid->ny + up - 1) / up;
    a.rows = a.rows < SMALLEST_ROWS ? SMALLEST_ROWS : (a.rows + PAIR - 1) / PAIR * PAIR;
    dim3 blocks((unsigned)across, (unsigned)((grid->ny + a.rows - 1) / a.rows));
    for (int r = 0; r < steps; r++) {
        if (lm_gpu_is_given_up(g))
            return lm_stop_give_up();
        double *before = g->array[LM_B];
        for (int d = 0; d < 3; d++)
            a.given[GIVEN_B + d] = g->array[LM_B + d];
        a.to = g->next_b;
        kernel<<<blocks, block::THREADS, block::BYTES, g->stream>>>(shape_of(g), a, g->base.setup.ohm, h);
        for (int d = 0; d < 3; d++)
            g->array[LM_B + d] = g->next_b + d * g->pitch;
        g->next_b = before;
    }
    return LM_GPU_LAUNCHED(g, "Faraday's law");
}

/* Wide blocks for wide domains, as far as shared memory goes. */
template <int WIDEST, int COUNT, bool HYPER> rk4_steps *rk4_fitting(const struct lm_gpu *g)
{
    enum { NARROW = 16, MIDDLE = 256 }; /* columns of a domain; chosen on an H200 */
    const int nx = g->base.setup.grid.nx;
    if (nx > MIDDLE && rk4_block<WIDEST, COUNT>::BYTES <= g->shared_bytes)
        return rk4<WIDEST, COUNT, HYPER>;
    if (nx > NARROW && rk4_block<2, COUNT>::BYTES <= g->shared_bytes)
        return rk4<2, COUNT, HYPER>;
    return rk4<1, COUNT, HYPER>; /* fits every GPU that the program runs on */
}

} // namespace

int lm_gpu_advance_b(struct lm_backend *b, enum lm_array ion_current, double dt, int substeps)
{
    lm_gpu_range range("advance b");
    struct lm_gpu *g = lm_gpu_of(b);
    if (g->plain.used)
        return lm_gpu_general_advance_b(g, ion_current, dt, substeps);
    const struct lm_ohm *o = &b->setup.ohm;
    rk4_problem a = {};
    for (int d = 0; d < 3; d++)
        a.given[GIVEN_J + d] = g->array[ion_current + d];
    a.given[GIVEN_N] = g->array[LM_FLOORED];
    a.given[GIVEN_P] = o->gamma == 1.0 ? NULL : g->array[LM_PRESSURE];
    a.given[GIVEN_ETA] = g->resistive ? g->array[LM_ETA] : NULL;
    a.temperature = o->temperature;
    rk4_steps *advance = o->eta_hyper > 0                         ? rk4_fitting<3, MOST_GIVEN, true>(g)
                         : a.given[GIVEN_P] || a.given[GIVEN_ETA] ? rk4_fitting<4, MOST_GIVEN, false>(g)
                                                                  : rk4_fitting<5, PLAIN_GIVEN, false>(g);
    return advance(g, a, dt / substeps, substeps);
}
