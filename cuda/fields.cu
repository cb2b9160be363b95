/* CUDA backend: Ohm's law and Faraday's law. The bodies are in larmor/physics/fields.h.
 *
 * A warp takes a strip of 32 columns, a lane each, and goes up it row by row. What a row needs of the rows below it
 * stays in registers and what it needs of the columns beside it comes by shuffles, so there is no shared memory and no
 * barrier. A kernel does two Runge-Kutta stages: the second takes each row of B as soon as the first has finished it.
 * Every stage costs HALO columns and rows on each side, which neighbouring warps compute twice.
 */
#include "grid.cuh"

namespace
{

enum { LANES = 32, WARPS = 4, HALO = 2, CHAIN = 2, SMALLEST_ROWS = 4 };
enum { RK4_BLOCKS = 3, RK4_HYPER_BLOCKS = 2, OHM_BLOCKS = 4 }; /* that run on a multiprocessor at a time */

__device__ __forceinline__ double left(double v)
{
    return __shfl_up_sync(0xffffffffu, v, 1);
}

__device__ __forceinline__ double right(double v)
{
    return __shfl_down_sync(0xffffffffu, v, 1);
}

__device__ __forceinline__ struct lm_vector vector_at(const double *a, const shape &s, unsigned k)
{
    return {a[k], a[s.pitch + k], a[2 * s.pitch + k]};
}

__device__ __forceinline__ void put(double *a, const shape &s, size_t k, const struct lm_vector &v)
{
    a[k] = v.x;
    a[s.pitch + k] = v.y;
    a[2 * s.pitch + k] = v.z;
}

/* A cell and its periodic images. */
__device__ __forceinline__ void store_vector(const shape &s, double *a, int i, int j, const struct lm_vector &v)
{
    if (is_inner(s, i, j)) {
        put(a, s, at(s, i, j), v);
        return;
    }
    store(s, a, i, j, v.x);
    store(s, a + s.pitch, i, j, v.y);
    store(s, a + 2 * s.pitch, i, j, v.z);
}

/* What Ohm's law takes in a cell besides B. */
struct plasma {
    struct lm_vector ji;
    double n, p, eta;
};

struct plasma_arrays {
    const double *ji, *n;
    const double *ji_before; /* with AHEAD, which extrapolates the ion current from this one to `ji` and beyond */
    const double *p, *eta;   /* NULL: p = T n; eta = 0 */
    double temperature;
};

/* The same as it comes from memory: nothing is computed, so nothing waits, until `closed` makes a plasma of it. */
struct plasma_row {
    struct lm_vector ji, before;
    double n, p, eta;
};

template <bool AHEAD>
__device__ __forceinline__ plasma_row plasma_at(const plasma_arrays &a, const shape &s, unsigned k)
{
    struct lm_vector none = {0, 0, 0};
    return {vector_at(a.ji, s, k), AHEAD ? vector_at(a.ji_before, s, k) : none, a.n[k], a.p ? a.p[k] : 0.0,
            a.eta ? a.eta[k] : 0.0};
}

template <bool AHEAD> __device__ __forceinline__ plasma closed(const plasma_arrays &a, const plasma_row &r)
{
    struct lm_vector ji = r.ji;
    if (AHEAD)
        ji = {lm_ahead(ji.x, r.before.x), lm_ahead(ji.y, r.before.y), lm_ahead(ji.z, r.before.z)};
    return {ji, r.n, a.p ? r.p : a.temperature * r.n, r.eta};
}

/* E of a strip. Given B of row j, returns E of row j - 1: of lanes HALO .. 30, and once rows j - 3 .. j have been
 * given.
 */
template <bool HYPER> struct electric_rows {
    struct lm_vector b, j, j_below, f; /* of row j - 1; j_below of j - 2 */
    double bz_left;
    plasma here;

    __device__ __forceinline__ void advance(const struct lm_vector &b_new, const plasma &above, struct lm_ohm o,
                                            double total[3], double ideal[3])
    {
        if (!HYPER)
            o.eta_hyper = 0.0;
        /* Patches of 2 x 2 cells whose last one is cell (i, j): what the bodies read of it and its neighbours. */
        double bz_left_new = left(b_new.z);
        const double bx[4] = {0, b.x, 0, b_new.x}, by[4] = {0, 0, left(b_new.y), b_new.y},
                     bz[4] = {bz_left, b.z, bz_left_new, b_new.z};
        struct lm_view bv = {bx + 3, by + 3, bz + 3, 2};
        struct lm_vector j_new = lm_curl_b(bv, o.rx, o.ry);
        const double jx[4] = {0, 0, left(j_new.x), j_new.x}, jy[4] = {0, j.y, 0, j_new.y}, jz[4] = {0, 0, 0, j_new.z};
        struct lm_view jv = {jx + 3, jy + 3, jz + 3, 2};
        struct lm_vector f_new = lm_electron_force(jv, bv, above.ji);

        /* Patches whose first cell is (i, j - 1); of J, its four neighbours. */
        const double fx[2] = {f.x, right(f.x)}, fy[3] = {f.y, 0, f_new.y}, fz[1] = {f.z};
        const double n[3] = {here.n, right(here.n), above.n}, p[3] = {here.p, right(here.p), above.p},
                     eta[3] = {here.eta, right(here.eta), above.eta};
        double cx[9], cy[9], cz[9];
        cross(cx, j_below.x, j.x, j_new.x);
        cross(cy, j_below.y, j.y, j_new.y);
        cross(cz, j_below.z, j.z, j_new.z);
        struct lm_view fv = {fx, fy, fz, 2}, cv = {cx + 4, cy + 4, cz + 4, 3}, given = {n, p, eta, 2};
        lm_electric_field(fv, cv, given, &o, total, ideal);

        b = b_new;
        bz_left = bz_left_new;
        j_below = j;
        j = j_new;
        f = f_new;
        here = above;
    }

  private:
    __device__ __forceinline__ static void cross(double patch[9], double below, double centre, double above)
    {
        patch[4] = centre;
        if (HYPER) {
            patch[1] = below;
            patch[3] = left(centre);
            patch[5] = right(centre);
            patch[7] = above;
        }
    }
};

/* dB/dt of a strip. Given B of row j, returns that of row j - HALO: of lanes HALO .. 31 - HALO, and once rows
 * j - 2 HALO .. j have been given. */
template <bool HYPER> struct faraday_rows {
    electric_rows<HYPER> electric;
    double e[3]; /* of row j - HALO */

    __device__ __forceinline__ struct lm_vector advance(const struct lm_vector &b, const plasma &given,
                                                        const struct lm_ohm &o)
    {
        double above[3], ideal[3];
        electric.advance(b, given, o, above, ideal);
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

/* A warp's strip: its column, which lanes and rows it answers for. `halo` on each side is not its own. */
struct strip {
    int i, column, first, last;
    bool mine;
};

__device__ __forceinline__ strip strip_of(const shape &s, int rows, int halo)
{
    int lane = threadIdx.x % LANES, own = LANES - 2 * halo;
    strip t;
    t.i = blockIdx.x * own + lane - halo;
    t.column = lm_wrap(t.i, s.nx);
    t.first = (blockIdx.y * WARPS + threadIdx.x / LANES) * rows;
    t.last = min(t.first + rows, s.ny);
    t.mine = lane >= halo && lane < LANES - halo && t.i < s.nx;
    return t;
}

/* Element of the strip's column in a row: 32 bits hold the largest grid, and registers are scarce here. */
__device__ __forceinline__ unsigned element(const shape &s, const strip &t, int row)
{
    return (unsigned)(row + LM_GHOST) * (unsigned)s.stride + (unsigned)(t.column + LM_GHOST);
}

struct rk4_arrays {
    const double *b, *state, *result; /* of the first stage; B before the step; sum so far (not for stage 0) */
    double *next, *sum;               /* B of the stage after these, and the sum; after stage 3 the new B is in next */
};

/* Stages FIRST and FIRST + 1 of classical Runge-Kutta. */
template <int FIRST, bool HYPER>
__global__ void __launch_bounds__(LANES *WARPS, HYPER ? RK4_HYPER_BLOCKS : RK4_BLOCKS)
    rk4_kernel(shape s, rk4_arrays a, plasma_arrays in, struct lm_ohm o, double h, int rows)
{
    enum { WIDE = CHAIN * HALO };
    strip t = strip_of(s, rows, WIDE);
    if (t.first >= s.ny)
        return;
    const struct lm_rk4 one = lm_rk4_stage(FIRST, h), two = lm_rk4_stage(FIRST + 1, h);
    faraday_rows<HYPER> first = {}, second = {};
    struct lm_vector sum[3] = {}; /* of rows j - 2, j - 3, j - 4 after the first stage */
    int row = lm_wrap(t.first - WIDE, s.ny), row2 = lm_wrap(t.first - WIDE - HALO, s.ny);
    unsigned k = element(s, t, row);
    struct lm_vector b_row = vector_at(a.b, s, k);
    plasma_row given = plasma_at<false>(in, s, k);
    for (int j = t.first - WIDE; j < t.last + WIDE; j++) {
        struct lm_vector b = b_row;
        plasma here = closed<false>(in, given);
        row = row + 1 == s.ny ? 0 : row + 1;
        k = element(s, t, row); /* the next row comes while this one is worked on */
        b_row = vector_at(a.b, s, k);
        given = plasma_at<false>(in, s, k);
        unsigned k2 = element(s, t, row2);
        struct lm_vector state = vector_at(a.state, s, k2), result = FIRST == 0 ? state : vector_at(a.result, s, k2);

        struct lm_vector rate = first.advance(b, here, o);
        plasma_row given2 = plasma_at<false>(in, s, k2);
        sum[2] = sum[1];
        sum[1] = sum[0];
        sum[0] = step_from(result, one.result, rate);
        rate = second.advance(step_from(state, one.next, rate), closed<false>(in, given2), o);
        if (t.mine && j >= t.first + WIDE) {
            struct lm_vector after = step_from(sum[2], two.result, rate);
            if (FIRST == 0) {
                unsigned k4 = element(s, t, j - WIDE);
                struct lm_vector next = step_from(vector_at(a.state, s, k4), two.next, rate);
                put(a.next, s, k4, next);
                put(a.sum, s, k4, after);
            } else {
                store_vector(s, a.next, t.i, j - WIDE, after);
            }
        }
        row2 = row2 + 1 == s.ny ? 0 : row2 + 1;
    }
}

template <bool HYPER, bool AHEAD>
__global__ void __launch_bounds__(LANES *WARPS, OHM_BLOCKS)
    ohm_kernel(shape s, const double *b, plasma_arrays in, struct lm_ohm o, double *field, double *push, int rows)
{
    strip t = strip_of(s, rows, HALO);
    if (t.first >= s.ny)
        return;
    electric_rows<HYPER> electric = {};
    int row = lm_wrap(t.first - HALO, s.ny);
    unsigned k = element(s, t, row);
    struct lm_vector b_row = vector_at(b, s, k);
    plasma_row given = plasma_at<AHEAD>(in, s, k);
    for (int j = t.first - HALO; j <= t.last; j++) {
        struct lm_vector b_here = b_row;
        plasma here = closed<AHEAD>(in, given);
        row = row + 1 == s.ny ? 0 : row + 1;
        k = element(s, t, row);
        b_row = vector_at(b, s, k);
        given = plasma_at<AHEAD>(in, s, k);
        double e[3], ideal[3];
        electric.advance(b_here, here, o, e, ideal);
        if (t.mine && j > t.first) {
            bool f = o.friction;
            store_vector(s, field, t.i, j - 1, {e[0], e[1], e[2]});
            store_vector(s, push, t.i, j - 1, {f ? ideal[0] : e[0], f ? ideal[1] : e[1], f ? ideal[2] : e[2]});
        }
    }
}

plasma_arrays plasma_of(const struct lm_gpu *g, int ion_current, int before)
{
    const struct lm_ohm *o = &g->base.setup.ohm;
    return {g->array[ion_current],
            g->array[LM_FLOORED],
            g->array[before],
            o->gamma == 1.0 ? NULL : g->array[LM_PRESSURE],
            g->resistive ? g->array[LM_ETA] : NULL,
            o->temperature};
}

/* How the domain is cut into strips: `blocks` for each multiprocessor and no more, because every strip adds the rows of
 * its halo. */
struct cut {
    dim3 blocks;
    int rows;
};

cut cut_of(const struct lm_gpu *g, int halo, int blocks)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    int own = LANES - 2 * halo, across = (grid->nx + own - 1) / own, up = g->processors * blocks / across;
    up = up > 0 ? up : 1;
    int rows = (grid->ny + WARPS * up - 1) / (WARPS * up);
    cut c;
    c.rows = rows < SMALLEST_ROWS ? SMALLEST_ROWS : rows;
    c.blocks = dim3((unsigned)across, (unsigned)((grid->ny + c.rows * WARPS - 1) / (c.rows * WARPS)));
    return c;
}

} // namespace

int lm_gpu_advance_b(struct lm_backend *b, int ion_current, double dt, int substeps)
{
    lm_gpu_range range("advance b");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_ohm *o = &b->setup.ohm;
    shape s = shape_of(g);
    plasma_arrays in = plasma_of(g, ion_current, ion_current);
    cut c = cut_of(g, CHAIN * HALO, o->eta_hyper > 0 ? RK4_HYPER_BLOCKS : RK4_BLOCKS);
    auto early = o->eta_hyper > 0 ? rk4_kernel<0, true> : rk4_kernel<0, false>;
    auto late = o->eta_hyper > 0 ? rk4_kernel<2, true> : rk4_kernel<2, false>;
    for (int r = 0; r < substeps; r++) {
        double *before = g->array[LM_B];
        rk4_arrays one = {before, before, NULL, g->stage, g->result};
        rk4_arrays two = {g->stage, before, g->result, g->next_b, NULL};
        early<<<c.blocks, LANES * WARPS, 0, g->stream>>>(s, one, in, *o, dt / substeps, c.rows);
        late<<<c.blocks, LANES * WARPS, 0, g->stream>>>(s, two, in, *o, dt / substeps, c.rows);
        for (int d = 0; d < 3; d++)
            g->array[LM_B + d] = g->next_b + d * g->pitch;
        g->next_b = before;
    }
    return LM_GPU_LAUNCHED(g, "Faraday");
}

int lm_gpu_ohm(struct lm_backend *b, enum lm_ohm_current current)
{
    lm_gpu_range range("ohm");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_ohm *o = &b->setup.ohm;
    double *push = b->setup.smoothing % 2 ? g->spare : g->array[LM_PUSH_E]; /* so that the last pass ends there */
    cut c = cut_of(g, HALO, OHM_BLOCKS);
    bool hyper = o->eta_hyper > 0, ahead = current == LM_OHM_AHEAD;
    auto kernel = hyper ? (ahead ? ohm_kernel<true, true> : ohm_kernel<true, false>)
                        : (ahead ? ohm_kernel<false, true> : ohm_kernel<false, false>);
    kernel<<<c.blocks, LANES * WARPS, 0, g->stream>>>(shape_of(g), g->array[LM_B],
                                                      plasma_of(g, ahead ? LM_J_NEW : LM_J_OLD, LM_J_OLD), *o,
                                                      g->array[LM_E], push, c.rows);
    LM_GPU_LAUNCHED(g, "Ohm's law");
    return lm_gpu_smooth(g, g->array[LM_PUSH_E], 3, b->setup.smoothing);
}
