/* Ways to write one right-hand side of a background field: advection along x and y, diffusion and a source, in whole
 * units (larmor/physics/fluid/advect.h). One cell a thread, in the order of a list; every way leaves the same sums.
 *
 * The arrays have LM_WENO_MOST ghosts on each side, filled periodically, so that a cell is one index.
 */
#ifndef LARMOR_BENCH_TENDENCY_CUH
#define LARMOR_BENCH_TENDENCY_CUH

#include "bench/device.h"
#include "larmor/physics/fluid/advect.h"
#include "larmor/physics/fluid/face_value.h"
#include "larmor/physics/numerics/weno_dynamic.h"

namespace
{

typedef unsigned long long u64;

enum { BLOCK = 128 };

/* What a kernel adds up. The first of several kernels assigns: the one with advection along x. */
enum term { ALONG_X = 1, ALONG_Y = 2, DIFFUSION = 4, SOURCE = 8, ALL = 15 };

/* How the order of a face is found. */
enum order {
    FULL,    /* the highest: all cells are in free fluid */
    NESTED,  /* of the schemes of all orders one is chosen */
    DYNAMIC, /* one scheme, its coefficients are chosen */
    BRANCH   /* the scheme of the highest order where it fits, else a dynamic one */
};

struct tendency {
    struct lm_advect by;
    int stride;
    const double *q, *vx, *vy, *source;
    const uint8_t *clearance;
    double *gain;
};

struct cells {
    const uint32_t *list;
    unsigned count;
};

/* The field on a face between cells c[MOST - 1] and c[MOST] with this room along its axis. */
template <int MOST, bool SINGLE, int ORDER>
__device__ __forceinline__ double on_face(const double *c, double u, int before, int behind)
{
    double w[LM_WENO_WINDOW];
    if (ORDER == FULL)
        return lm_face_value(MOST, SINGLE, NULL, c, u);
    if (ORDER == NESTED)
        return lm_face_value_near_body(MOST, SINGLE, NULL, c, u, before, behind, 0);
    const int r = u > 0.0 ? before : behind;
    lm_upwind_window(MOST, c, u, w);
    if (ORDER == BRANCH && r >= MOST)
        return lm_weno(MOST, 0, w);
    return lm_weno_dynamic(MOST, r, w);
}

/* Units that velocities v carry through the face between cells k and k + step. */
template <int MOST, bool SINGLE, int ORDER>
__device__ __forceinline__ double carried(const tendency &t, bool along_y, unsigned k, int step)
{
    const double u = (along_y ? t.vy : t.vx)[k];
    int before = 0, behind = 0;
    if (ORDER != FULL) {
        before = (along_y ? lm_clearance_y : lm_clearance_x)(t.clearance[k]);
        behind = (along_y ? lm_clearance_y : lm_clearance_x)(t.clearance[k + step]);
        if (!before || !behind)
            return 0.0;
    }
    double c[2 * LM_WENO_MOST];
    const double *from = t.q + k;
    LM_UNROLL
    for (int m = 0; m < 2 * MOST; m++)
        c[m] = from[(m - MOST + 1) * step];
    return lm_advective_flux(u, on_face<MOST, SINGLE, ORDER>(c, u, before, behind), along_y ? t.by.y : t.by.x);
}

template <int MOST, bool SINGLE, int ORDER>
__device__ __forceinline__ double advection(const tendency &t, bool along_y, unsigned k)
{
    const int step = along_y ? t.stride : 1;
    const double in = carried<MOST, SINGLE, ORDER>(t, along_y, k - step, step);
    return in - carried<MOST, SINGLE, ORDER>(t, along_y, k, step);
}

/* Through the face between cells k and k + step. */
template <int ORDER> __device__ __forceinline__ double diffused(const tendency &t, unsigned k, int step, double factor)
{
    const double c[2] = {t.q[k], t.q[k + step]};
    if (ORDER != FULL && (!t.clearance[k] || !t.clearance[k + step]))
        return 0.0;
    return lm_diffusive_flux(c, factor);
}

template <int ORDER> __device__ __forceinline__ double diffusion(const tendency &t, unsigned k)
{
    const double x = diffused<ORDER>(t, k - 1, 1, t.by.kx) - diffused<ORDER>(t, k, 1, t.by.kx);
    return x + (diffused<ORDER>(t, k - t.stride, t.stride, t.by.ky) - diffused<ORDER>(t, k, t.stride, t.by.ky));
}

template <int MOST, bool SINGLE, int ORDER, int TERMS>
__device__ __forceinline__ void one_cell(const tendency &t, const cells &c)
{
    const unsigned n = blockIdx.x * BLOCK + threadIdx.x;
    if (n >= c.count)
        return;
    const unsigned k = c.list[n];
    double gain = TERMS & ALONG_X ? 0.0 : t.gain[k];
    if (TERMS & ALONG_X)
        gain += advection<MOST, SINGLE, ORDER>(t, false, k);
    if (TERMS & ALONG_Y)
        gain += advection<MOST, SINGLE, ORDER>(t, true, k);
    if (TERMS & DIFFUSION)
        gain += diffusion<ORDER>(t, k);
    if (TERMS & SOURCE)
        gain += lm_trunc(t.source[k] * t.by.source);
    t.gain[k] = gain;
}

template <int MOST, bool SINGLE, int ORDER, int TERMS>
__global__ void __launch_bounds__(BLOCK) tendency_kernel(tendency t, cells c)
{
    one_cell<MOST, SINGLE, ORDER, TERMS>(t, c);
}

/* With at most CAP registers; may spill. */
template <int MOST, int ORDER, int TERMS, int CAP> __global__ void __maxnreg__(CAP) capped_kernel(tendency t, cells c)
{
    one_cell<MOST, false, ORDER, TERMS>(t, c);
}

/* --- around them --- */

/* What no way touches: its time says how far the others' are to be trusted. */
__global__ void __launch_bounds__(BLOCK) control_kernel(size_t count, const double *from, double *to)
{
    const size_t k = blockIdx.x * (size_t)BLOCK + threadIdx.x;
    if (k < count)
        to[k] = lm_fma(0.5, to[k], from[k]);
}

/* Counts the cells in which two sums are not the same number. */
__global__ void __launch_bounds__(BLOCK) different_kernel(cells c, const double *a, const double *b, u64 *count)
{
    const unsigned n = blockIdx.x * BLOCK + threadIdx.x;
    if (n < c.count && !(a[c.list[n]] == b[c.list[n]]))
        atomicAdd(count, 1ull);
}

/* How far a face's polynomials are apart, in units, times the bound on single precision
 * (larmor/physics/numerics/weno.h); and one unit for the rounding of both. */
template <int MOST> __device__ double face_bound(const tendency &t, bool along_y, unsigned k, int step)
{
    const double u = (along_y ? t.vy : t.vx)[k];
    const int before = (along_y ? lm_clearance_y : lm_clearance_x)(t.clearance[k]);
    const int behind = (along_y ? lm_clearance_y : lm_clearance_x)(t.clearance[k + step]);
    struct lm_weno_differences d;
    double c[2 * LM_WENO_MOST], w[LM_WENO_WINDOW], g[LM_WENO_MOST];
    const int r = u > 0.0 ? before : behind;
    if (!before || !behind || r < 2)
        return 0.0;
    for (int m = 0; m < 2 * MOST; m++)
        c[m] = t.q[k + (m - MOST + 1) * step];
    lm_upwind_window(MOST, c, u, w);
    lm_dynamic_differences(MOST, r, w, &d);
    lm_weno_values(MOST, &d, g);
    double least = g[0], most = g[0];
    for (int m = 1; m < MOST; m++) {
        least = lm_min(least, g[m]);
        most = lm_max(most, g[m]);
    }
    return 0x1p-14 * lm_abs(u * (most - least) * (along_y ? t.by.y : t.by.x)) + 1.0;
}

/* The largest difference from `exact` in parts of what it may be. */
template <int MOST>
__global__ void __launch_bounds__(BLOCK) bound_kernel(tendency t, cells c, const double *exact, u64 *largest)
{
    const unsigned n = blockIdx.x * BLOCK + threadIdx.x;
    if (n >= c.count)
        return;
    const unsigned k = c.list[n];
    double bound = 0.0;
    for (int face = 0; face < 4; face++) {
        const int step = face / 2 ? t.stride : 1;
        bound += face_bound<MOST>(t, face / 2, face % 2 ? k - step : k, step);
    }
    atomicMax(largest, (u64)lm_size_bits(lm_abs(t.gain[k] - exact[k]) / lm_max(bound, 1.0)));
}

__global__ void __launch_bounds__(BLOCK) update_kernel(tendency t, cells c, const double *q0, double *to)
{
    const unsigned n = blockIdx.x * BLOCK + threadIdx.x;
    if (n < c.count)
        to[c.list[n]] = lm_advect_update(&t.by, q0[c.list[n]], t.q[c.list[n]], t.gain[c.list[n]]);
}

/* Fills the ghosts. */
__global__ void __launch_bounds__(BLOCK) wrap_kernel(int nx, int ny, double *a)
{
    const int stride = nx + 2 * LM_TENDENCY_GHOSTS, rows = ny + 2 * LM_TENDENCY_GHOSTS;
    const unsigned k = blockIdx.x * BLOCK + threadIdx.x;
    if (k >= (unsigned)(stride * rows))
        return;
    const int i = (int)(k % (unsigned)stride) - LM_TENDENCY_GHOSTS,
              j = (int)(k / (unsigned)stride) - LM_TENDENCY_GHOSTS;
    const int x = (i + nx) % nx, y = (j + ny) % ny;
    if (x != i || y != j)
        a[k] = a[(y + LM_TENDENCY_GHOSTS) * stride + x + LM_TENDENCY_GHOSTS];
}

} // namespace

#endif
