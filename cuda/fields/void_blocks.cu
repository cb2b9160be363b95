/* CUDA backend: B and E_v in plain blocks of void (plain.cuh), all four Runge-Kutta stages of a substep in one kernel.
 * Ohm's law has nothing but its resistive part there. A block of threads takes a block of cells and those around that a
 * substep reads. A thread keeps its cells' E_v, and what the stages begin with and add up, in registers. B, E and the
 * resistivity, which neighbours read, are in shared memory. Its rate is in docs/performance/results.md.
 */
#include "core/cells.cuh"
#include "fields/domain.cuh"
#include "fields/plain.cuh"

#include "larmor/physics/fields/fields.h"

namespace
{

enum {
    STAGES = 4,
    MARGIN = STAGES, /* cells around those of a block that its stages read: one each */
    WIDTH = VOID_BLOCK_X + 2 * MARGIN,
    HEIGHT = VOID_BLOCK_Y + 2 * MARGIN,
    SIZE = WIDTH * HEIGHT,
    CELLS = 2, /* of a thread */
    BLOCK_THREADS = SIZE / CELLS
};
static_assert(BLOCK_THREADS * CELLS == SIZE && BLOCK_THREADS % LANES == 0, "every thread has as many cells");

struct block_memory {
    double b[3 * SIZE], e[3 * SIZE];
    double eta[SIZE + WIDTH]; /* the last row is 0, and no cell of a block depends on it */
};

struct block_problem {
    domain d;
    struct lm_ohm o;
    struct lm_gpu_blocks blocks;
    const double *b, *void_e, *eta, *battery; /* battery: NULL for 0 */
    double *next_b, *next_void_e;
    double substep, speed2;
};

/* A cell of a thread. */
struct own_cell {
    int m; /* its element in shared memory */
    size_t k;
    double b_start[3], b_sum[3];
    double e_start[3], e_sum[3], e[3]; /* E_v */
};

__device__ __forceinline__ struct lm_view view_in(const double *a, int m)
{
    return {a + m, a + SIZE + m, a + 2 * SIZE + m, WIDTH};
}

/* E of a cell for a stage, and its E_v after the stage. */
__device__ __forceinline__ void advance_e(const block_problem &a, const struct lm_ohm &o, const struct lm_rk4 &rk,
                                          block_memory &memory, own_cell &c)
{
    const struct lm_vector j = lm_plasma_current(view_in(memory.b, c.m), external_at(a.d, c.k), o.inv_dx, o.inv_dy);
    const double current[3] = {j.x, j.y, j.z};
    double resistive[3];
    lm_resistive_field({&j.x, &j.y, &j.z, WIDTH}, memory.eta + c.m, WIDTH, &o, resistive);
    LM_UNROLL
    for (int n = 0; n < 3; n++) {
        const double rate = lm_void_rate(a.speed2, current[n], c.e[n]);
        memory.e[n * SIZE + c.m] = resistive[n] + c.e[n];
        c.e_sum[n] = lm_rk4_sum(rk, 0, c.e_sum[n], rate);
        c.e[n] = lm_rk4_next(rk, 0, c.e_start[n], rate);
    }
}

/* B of a cell after a stage. */
__device__ __forceinline__ void advance_b(const block_problem &a, const struct lm_rk4 &rk, block_memory &memory,
                                          own_cell &c)
{
    const struct lm_vector v = lm_faraday(view_in(memory.e, c.m), a.o.inv_dx, a.o.inv_dy);
    const double rate[3] = {v.x, v.y, a.battery ? v.z + a.battery[c.k] : v.z};
    LM_UNROLL
    for (int n = 0; n < 3; n++) {
        c.b_sum[n] = lm_rk4_sum(rk, 0, c.b_sum[n], rate[n]);
        memory.b[n * SIZE + c.m] = lm_rk4_next(rk, 0, c.b_start[n], rate[n]);
    }
}

__global__ void __launch_bounds__(BLOCK_THREADS, 1) void_blocks_kernel(const __grid_constant__ block_problem a)
{
    extern __shared__ double shared[];
    block_memory &memory = *(block_memory *)shared;
    if (!a.blocks.is_plain[blockIdx.y * gridDim.x + blockIdx.x])
        return;
    const shape &s = a.d.s;
    const int x = a.blocks.from[0] + (int)blockIdx.x * VOID_BLOCK_X - MARGIN,
              y = a.blocks.from[1] + (int)blockIdx.y * VOID_BLOCK_Y - MARGIN;
    struct lm_ohm o = a.o;
    o.eta_hyper = 0.0; /* lm_gpu_has_void_blocks */
    own_cell own[CELLS];
    LM_UNROLL
    for (int n = 0; n < CELLS; n++) {
        own_cell &c = own[n];
        c.m = (int)threadIdx.x + n * BLOCK_THREADS;
        c.k = at(s, lm_wrap(x + c.m % WIDTH, s.nx), lm_wrap(y + c.m / WIDTH, s.ny));
        LM_UNROLL
        for (int d = 0; d < 3; d++) {
            c.b_start[d] = c.b_sum[d] = memory.b[d * SIZE + c.m] = a.b[d * s.pitch + c.k];
            c.e_start[d] = c.e_sum[d] = c.e[d] = a.void_e[d * s.pitch + c.k];
        }
        memory.eta[c.m] = a.eta[c.k];
    }
    if (threadIdx.x < WIDTH)
        memory.eta[SIZE + threadIdx.x] = 0.0;
#pragma unroll 1
    for (int stage = 0; stage < STAGES; stage++) {
        const struct lm_rk4 rk = lm_rk4_stage(stage, a.substep);
        __syncthreads();
        LM_UNROLL
        for (int n = 0; n < CELLS; n++)
            if (own[n].m % WIDTH > 0 && own[n].m >= WIDTH)
                advance_e(a, o, rk, memory, own[n]);
        __syncthreads();
        LM_UNROLL
        for (int n = 0; n < CELLS; n++)
            if (own[n].m % WIDTH > 0 && own[n].m % WIDTH < WIDTH - 1 && own[n].m >= WIDTH && own[n].m < SIZE - WIDTH)
                advance_b(a, rk, memory, own[n]);
    }
    LM_UNROLL
    for (int n = 0; n < CELLS; n++) {
        const own_cell &c = own[n];
        const int column = c.m % WIDTH - MARGIN, row = c.m / WIDTH - MARGIN, i = x + MARGIN + column,
                  j = y + MARGIN + row;
        if (column < 0 || row < 0 || column >= VOID_BLOCK_X || row >= VOID_BLOCK_Y || i >= a.blocks.to[0] ||
            j >= a.blocks.to[1])
            continue;
        store_vector(s, a.next_b, i, j, {c.b_sum[0], c.b_sum[1], c.b_sum[2]});
        store_vector(s, a.next_void_e, i, j, {c.e_sum[0], c.e_sum[1], c.e_sum[2]});
    }
}

} // namespace

bool lm_gpu_has_void_blocks(const struct lm_gpu *g)
{
    return g->base.setup.ohm.eta_hyper == 0 && sizeof(block_memory) <= (size_t)g->shared_bytes;
}

int lm_gpu_advance_void_blocks(struct lm_gpu *g, const struct lm_gpu_blocks *p, const double *battery, double substep)
{
    static const cudaError_t allowed =
        cudaFuncSetAttribute(void_blocks_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(block_memory));
    lm_gpu_check(g, allowed, "shared memory of voids");
    const block_problem a = {domain_of(g),
                             g->base.setup.ohm,
                             *p,
                             g->array[LM_B],
                             g->array[LM_VOID_E],
                             g->array[LM_ETA],
                             battery,
                             g->next_b,
                             g->general.next_void,
                             substep,
                             lm_void_speed2(&g->base.setup.grid, substep)};
    void_blocks_kernel<<<dim3((unsigned)p->across, (unsigned)p->up), BLOCK_THREADS, sizeof(block_memory),
                         g->beside.stream>>>(a);
    return LM_GPU_LAUNCHED(g, "B in voids");
}
