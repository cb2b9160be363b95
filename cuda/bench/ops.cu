/* Case `ops` of `larmor bench`: the expressions of bench/ops.h, from global memory and with buffers in shared
 * memory. */
#include "bench/bench.cuh"
#include "bench/operators.cuh"

#include "bench/device.h"

namespace
{

using namespace operators;

typedef unsigned long long u64;

static_assert((int)INPUTS == LM_OPS_INPUTS && (int)OUTPUTS == LM_OPS_OUTPUTS && (int)SETS == LM_OPS_SETS, "one size");

/* --- the expressions --- */

enum { X, Y };

/* Array N at centres, on x-faces, on y-faces, on corners. */
template <int N> using at_centre = input<N, 0, 0>;
template <int N> using at_x = input<N, 1, 0>;
template <int N> using at_y = input<N, 0, 1>;
template <int N> using at_corner = input<N, 1, 1>;

/* An operator, with the conditions for the place of its argument. */
template <int OP, int AXIS, class A> using by = along<OP, AXIS, A::faces[AXIS] ? LM_OPS_FACES : LM_OPS_CENTRES, A>;
template <int AXIS, class U, class Q> using upwind = along<LM_UPWIND_PRODUCT, AXIS, LM_OPS_CENTRES, Q, U>;
template <int AXIS, class K> using coefficient = along<LM_INTERP_UP, AXIS, LM_OPS_COEFFICIENT, K>;

template <class FX, class FY> using divergence = pointwise<sum, by<LM_DIFF_DOWN, X, FX>, by<LM_DIFF_DOWN, Y, FY>>;
template <class J> using laplacian = pointwise<sum, by<LM_SECOND, X, J>, by<LM_SECOND, Y, J>>;
template <class ETA, class J> using resistive = pointwise<difference, pointwise<product, ETA, J>, scaled<laplacian<J>>>;

/* J = curl B. */
using jx = by<LM_DIFF_DOWN, Y, at_corner<2>>;
using jy = by<LM_DROP_DOWN, X, at_corner<2>>;
using jz = pointwise<difference, by<LM_DIFF_DOWN, X, at_x<1>>, by<LM_DIFF_DOWN, Y, at_y<0>>>;

using ab = pointwise<product, at_centre<2>, at_centre<3>>;

template <int EXPRESSION> struct formula;

template <> struct formula<LM_OPS_GRAD> {
    using type = program<by<LM_DIFF_UP, X, at_centre<0>>, by<LM_DIFF_UP, Y, at_centre<0>>>;
};
template <> struct formula<LM_OPS_DIV> {
    using type = program<divergence<at_x<0>, at_y<1>>>;
};
template <> struct formula<LM_OPS_CURL> {
    using type = program<jx, jy, jz>;
};
template <> struct formula<LM_OPS_DROP_CURL> {
    using type = program<by<LM_DROP_UP, Y, at_centre<2>>, by<LM_DIFF_UP, X, at_centre<2>>,
                         pointwise<difference, by<LM_DIFF_UP, Y, at_x<0>>, by<LM_DIFF_UP, X, at_y<1>>>>;
};
template <> struct formula<LM_OPS_TO_FACES> {
    using to_x = by<LM_INTERP_UP, X, at_centre<0>>;
    using type = program<to_x, by<LM_INTERP_UP, Y, at_centre<0>>, by<LM_INTERP_UP, Y, to_x>>;
};
template <> struct formula<LM_OPS_TO_CENTRE> {
    using type = program<by<LM_INTERP_DOWN, X, at_x<0>>, by<LM_INTERP_DOWN, Y, at_y<1>>>;
};
template <> struct formula<LM_OPS_CENTRED> {
    using q = at_centre<0>;
    using type = program<by<LM_DIFF_CENTRE, X, q>, by<LM_DIFF_CENTRE, Y, q>,
                         by<LM_INTERP_CENTRE, Y, by<LM_INTERP_CENTRE, X, q>>>;
};
template <> struct formula<LM_OPS_UPWIND> {
    using type = program<upwind<X, at_x<0>, at_centre<2>>, upwind<Y, at_y<1>, at_centre<2>>>;
};
template <> struct formula<LM_OPS_DIV_GRAD> {
    using type = program<divergence<pointwise<product, at_x<0>, by<LM_DIFF_UP, X, ab>>,
                                    pointwise<product, at_y<1>, by<LM_DIFF_UP, Y, ab>>>>;
};
template <> struct formula<LM_OPS_DIFFUSION> {
    template <int AXIS>
    using flux = pointwise<product, coefficient<AXIS, at_centre<0>>, by<LM_DIFF_UP, AXIS, at_centre<1>>>;
    using type = program<divergence<flux<X>, flux<Y>>>;
};
template <> struct formula<LM_OPS_ADVECTION> {
    using type = program<divergence<upwind<X, coefficient<X, at_centre<0>>, at_centre<2>>,
                                    upwind<Y, coefficient<Y, at_centre<1>>, at_centre<2>>>>;
};
template <> struct formula<LM_OPS_RESISTIVE> {
    using eta = at_centre<3>;
    using type = program<resistive<coefficient<X, eta>, jx>, resistive<coefficient<Y, eta>, jy>, resistive<eta, jz>>;
};

/* --- the kernels by number --- */

struct variant {
    void (*kernel)(const domain), (*counting)(const domain);
    int width, height; /* of a tile */
    int reach;
    size_t shared;
};

template <class P, int TX, int TY, bool SHARED> variant variant_of()
{
    return {evaluate_kernel<P, TX, TY, SHARED, false>,
            evaluate_kernel<P, TX, TY, SHARED, true>,
            TX,
            TY,
            P::reach,
            SHARED ? buffer<P, TX, TY, P::buffers::count - 1>::end * sizeof(double) : 0};
}

template <int EXPRESSION> variant by_way(int way)
{
    using P = typename formula<EXPRESSION>::type;
    switch (way) {
    case LM_OPS_WIDE:
        return variant_of<P, 32, 8, true>();
    case LM_OPS_SQUARE:
        return variant_of<P, 32, 32, true>();
    case LM_OPS_LARGE:
        return variant_of<P, 128, 64, true>();
    default:
        return variant_of<P, 32, 8, false>();
    }
}

template <int EXPRESSION = 0> variant by_expression(int expression, int way)
{
    if constexpr (EXPRESSION + 1 < LM_OPS_EXPRESSIONS)
        if (expression != EXPRESSION)
            return by_expression<EXPRESSION + 1>(expression, way);
    return by_way<EXPRESSION>(way);
}

/* --- running them --- */

struct device_data {
    domain d;
    double *expected[OUTPUTS];
    u64 *counters; /* loads, nodes that differ */
};

/* A thread a node: on lower walls too, where the result lives on faces. */
__global__ void compare_kernel(const double *one, const double *two, domain d, int first_x, int first_y, u64 *different)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) + first_x, j = (int)blockIdx.y + first_y;
    const size_t k = (size_t)(j + LM_GHOST) * d.stride + (i + LM_GHOST);
    if (i < d.n[0] && lm_bits(one[k]) != lm_bits(two[k]))
        atomicAdd(different, 1ull);
}

void upload(bench_device &b, device_data &x, const struct lm_ops_problem *p, const struct lm_ops_info *info)
{
    const struct lm_grid *g = &p->grid;
    const size_t bytes = g->size * sizeof(double);
    domain &d = x.d;
    d = {};
    for (int axis = 0; axis < 2; axis++) {
        d.n[axis] = axis == X ? g->nx : g->ny;
        d.cell[axis] = axis == X ? g->dx : g->dy;
        d.inverse[axis] = 1 / d.cell[axis];
        d.walls[axis] = g->sides.of[2 * axis] != LM_PERIODIC;
    }
    d.stride = g->stride;
    d.constant = p->eta_hyper;
    memcpy(d.conditions, p->conditions, sizeof d.conditions);
    x.counters = (u64 *)b.allocate(2 * sizeof *x.counters);
    d.loads = x.counters;
    for (int k = 0; k < info->inputs; k++) {
        double *in = (double *)b.allocate(bytes);
        if (!b.failed)
            b.check(cudaMemcpy(in, p->array[k], bytes, cudaMemcpyHostToDevice), "inputs");
        d.in[k] = in;
    }
    for (int k = 0; k < info->outputs; k++) {
        d.out[k] = (double *)b.allocate(bytes);
        x.expected[k] = (double *)b.allocate(bytes);
        if (!b.failed)
            b.check(cudaMemcpy(x.expected[k], p->array[LM_OPS_OUT + k], bytes, cudaMemcpyHostToDevice),
                    "expected results");
    }
}

dim3 tiles(const domain &d, const variant &v)
{
    return dim3((unsigned)(d.n[0] + d.walls[0] + v.width - 1) / v.width,
                (unsigned)(d.n[1] + d.walls[1] + v.height - 1) / v.height);
}

/* Whether the device has the shared memory, and the domain the cells, that the buffers want. */
bool fits(bench_device &b, const domain &d, const variant &v)
{
    int device = 0, most = 0;
    b.check(cudaGetDevice(&device), "device");
    b.check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "device");
    return v.shared <= (size_t)most && d.n[0] >= v.reach && d.n[1] >= v.reach;
}

void describe(bench_device &b, const variant &v, struct lm_ops_run *r)
{
    int device = 0, threads = 1, blocks = 0;
    cudaFuncAttributes f = {};
    b.check(cudaGetDevice(&device), "device");
    b.check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device), "device");
    b.check(cudaFuncGetAttributes(&f, v.kernel), "kernel");
    b.check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, v.kernel, THREADS, v.shared), "occupancy");
    r->registers = f.numRegs;
    r->spill = (double)f.localSizeBytes;
    r->occupancy = (double)(blocks * THREADS) / threads;
}

/* Runs a kernel once on results without a valid number; adds to loads, and compares. */
void run_and_compare(bench_device &b, const device_data &x, const variant &v, void (*kernel)(const domain),
                     const struct lm_grid *g, const struct lm_ops_info *info)
{
    for (int k = 0; k < info->outputs; k++)
        b.check(cudaMemset(x.d.out[k], 0xff, g->size * sizeof(double)), "results");
    if (b.failed)
        return;
    kernel<<<tiles(x.d, v), THREADS, v.shared>>>(x.d);
    b.check(cudaGetLastError(), "expression");
    for (int k = 0; k < info->outputs; k++) {
        const int first_x = lm_ops_first(g, info, k, X), first_y = lm_ops_first(g, info, k, Y);
        const dim3 blocks((unsigned)(g->nx - first_x + THREADS - 1) / THREADS, (unsigned)(g->ny - first_y));
        compare_kernel<<<blocks, THREADS>>>(x.d.out[k], x.expected[k], x.d, first_x, first_y, x.counters + 1);
        b.check(cudaGetLastError(), "comparison");
    }
}

void one_way(bench_device &b, const device_data &x, const struct lm_grid *g, int expression, int repeats,
             struct lm_ops_run *r)
{
    variant v = by_expression(expression, r->way);
    u64 counted[2] = {0, 0};
    r->shared = (double)v.shared;
    r->fell_back = !fits(b, x.d, v);
    if (r->fell_back)
        v = by_expression(expression, LM_OPS_GLOBAL);
    for (auto kernel : {v.kernel, v.counting})
        b.check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)v.shared), "memory");
    describe(b, v, r);
    b.check(cudaMemset(x.counters, 0, sizeof counted), "counters");
    run_and_compare(b, x, v, v.counting, g, lm_ops_info(expression));
    run_and_compare(b, x, v, v.kernel, g, lm_ops_info(expression));
    if (!b.failed)
        b.check(cudaMemcpy(counted, x.counters, sizeof counted, cudaMemcpyDeviceToHost), "counters");
    r->loads = (double)counted[0] / (double)g->cells;
    r->different = counted[1];
    if (repeats > 0)
        r->time = b.time(
            repeats, [] {}, [&] { v.kernel<<<tiles(x.d, v), THREADS, v.shared>>>(x.d); });
}

} // namespace

int lm_cuda_bench_ops(const struct lm_ops_problem *problem, int expression, int repeats,
                      struct lm_ops_run run[LM_OPS_WAYS])
{
    bench_device b;
    device_data x = {};
    upload(b, x, problem, lm_ops_info(expression));
    for (int way = 0; way < LM_OPS_WAYS && !b.failed; way++) {
        run[way] = {};
        run[way].way = way;
        one_way(b, x, &problem->grid, expression, repeats, &run[way]);
    }
    return b.failed;
}
