/* CUDA backend: the fields where they end at walls or meet bodies. The plain way: a thread a cell, a kernel for each
 * loop of src/cpu/fields.c. The bodies are in larmor/physics/{fields,edges,solid}.h.
 *
 * Who writes a cell also writes its periodic images; ghosts beyond walls are filled along x, then along y.
 */
#include "core/grid.cuh"

#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/fields/solid.h"

namespace
{

enum { TX = 32, TY = 8, THREADS = TX * TY };

/* What every kernel here has to know of the domain. */
struct domain {
    shape s;
    struct lm_field_sides sides;
    int walls_x, walls_y;
    const uint8_t *solid; /* NULL without bodies */
};

domain domain_of(const struct lm_gpu *g)
{
    return {shape_of(g), g->sides, lm_field_walls(&g->sides, 0), lm_field_walls(&g->sides, 1), g->solid};
}

/* A thread for every element of an array, ghosts included. */
dim3 all_blocks(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return dim3((unsigned)(grid->nx + 2 * LM_GHOST + TX - 1) / TX, (unsigned)(grid->ny + 2 * LM_GHOST + TY - 1) / TY);
}

__device__ __forceinline__ int my_column()
{
    return (int)(blockIdx.x * TX + threadIdx.x % TX) - LM_GHOST;
}

__device__ __forceinline__ int my_row()
{
    return (int)(blockIdx.y * TY + threadIdx.x / TX) - LM_GHOST;
}

__device__ __forceinline__ struct lm_view view_of(const double *a, const shape &s, size_t k)
{
    return {a + k, a + s.pitch + k, a + 2 * s.pitch + k, s.stride};
}

/* Calls body(k) for the element of cell (i, j) and of each of its periodic images; none beyond walls. */
template <class F> __device__ __forceinline__ void each_periodic(const domain &d, int i, int j, F body)
{
    const shape &s = d.s;
    const int period_x = d.walls_x ? s.nx + 2 * LM_GHOST : s.nx, period_y = d.walls_y ? s.ny + 2 * LM_GHOST : s.ny;
    for (int y = j - (j + LM_GHOST) / period_y * period_y; y < s.ny + LM_GHOST; y += period_y)
        for (int x = i - (i + LM_GHOST) / period_x * period_x; x < s.nx + LM_GHOST; x += period_x)
            body(at(s, x, y));
}

/* J = curl B and (J - J_i) x B: in the cells whose E is wanted, and one more for the Laplacian of J. `before` NULL: J_i
 * is `now`; or it is extrapolated. */
__global__ void force_kernel(domain d, const double *b, const double *now, const double *before, double *j0,
                             double *force, struct lm_ohm o)
{
    const shape &s = d.s;
    const int i = my_column(), j = my_row();
    if (i < -1 - d.walls_x || j < -1 - d.walls_y || i >= s.nx + 2 || j >= s.ny + 2)
        return;
    const size_t k = at(s, i, j);
    const struct lm_view bv = view_of(b, s, k);
    const struct lm_vector here = lm_curl_b(bv, o.rx, o.ry);
    j0[k] = here.x;
    j0[s.pitch + k] = here.y;
    j0[2 * s.pitch + k] = here.z;
    if (i < -d.walls_x || j < -d.walls_y)
        return;
    /* Patches of 2 x 2 cells whose last one is this: what the body reads of J. */
    const double jx[4] = {0, 0, lm_curl_b(lm_view_at(bv, -1), o.rx, o.ry).x, here.x},
                 jy[4] = {0, lm_curl_b(lm_view_at(bv, -s.stride), o.rx, o.ry).y, 0, here.y}, jz[4] = {0, 0, 0, here.z};
    const struct lm_view jv = {jx + 3, jy + 3, jz + 3, 2};
    double ji[3];
    LM_UNROLL
    for (int c = 0; c < 3; c++)
        ji[c] = before ? lm_ahead(now[c * s.pitch + k], before[c * s.pitch + k]) : now[c * s.pitch + k];
    const struct lm_vector f = lm_electron_force(jv, bv, {ji[0], ji[1], ji[2]});
    force[k] = f.x;
    force[s.pitch + k] = f.y;
    force[2 * s.pitch + k] = f.z;
}

/* E, and unless it is NULL the E of the push before smoothing. */
__global__ void electric_kernel(domain d, const double *j0, const double *force, const double *floored, const double *p,
                                const double *eta, double *e, double *push, struct lm_ohm o)
{
    const shape &s = d.s;
    const int i = my_column(), j = my_row();
    if (i < -d.walls_x || j < -d.walls_y || i >= s.nx || j >= s.ny)
        return;
    const size_t k = at(s, i, j);
    const struct lm_view jv = view_of(j0, s, k), given = {floored + k, p + k, eta + k, s.stride};
    double total[3], ideal[3];
    const struct lm_view pull = view_of(force, s, k);
    lm_electric_field(pull, jv, given, &o, total, ideal);
    if (d.walls_x && (i < 0 || i == s.nx - 1))
        lm_wall_field(0, i < 0 ? 1 : 0, pull, jv, given, &o, total, ideal);
    if (d.walls_y && (j < 0 || j == s.ny - 1))
        lm_wall_field(1, j < 0 ? s.stride : 0, pull, jv, given, &o, total, ideal);
    if (d.solid)
        lm_body_field(d.solid + k, pull, jv, given, &o, total, ideal);
    LM_UNROLL
    for (int c = 0; c < 3; c++) {
        if (!lm_is_own_e(c, i, j))
            continue;
        each_periodic(d, i, j, [&](size_t m) {
            e[c * s.pitch + m] = total[c];
            if (push)
                push[c * s.pitch + m] = o.friction ? ideal[c] : total[c];
        });
    }
}

/* Ghosts of E beyond the walls of an axis: a thread a line, component blockIdx.y. */
__global__ void fill_kernel(domain d, int axis, enum lm_fill fill, double *e)
{
    const shape &s = d.s;
    const int line = (int)(blockIdx.x * THREADS + threadIdx.x) - LM_GHOST, component = blockIdx.y;
    if (line >= (axis == 0 ? s.ny : s.nx) + LM_GHOST)
        return;
    e += component * s.pitch + (axis == 0 ? at(s, 0, line) : at(s, line, 0));
    lm_fill_line(&d.sides, axis, component, fill, e, axis == 0 ? 1 : s.stride, axis == 0 ? s.nx : s.ny);
}

/* A stage of Runge-Kutta: B, also beyond walls up to where E is known on all sides of a node. */
__global__ void faraday_kernel(domain d, const double *e, double *state, double *next, double *result, int stage,
                               struct lm_rk4 rk, struct lm_ohm o)
{
    const shape &s = d.s;
    const int beyond_x = d.walls_x ? LM_GHOST : 0, beyond_y = d.walls_y ? LM_GHOST : 0, i = my_column(), j = my_row();
    if (i < -beyond_x || j < -beyond_y || i >= s.nx + beyond_x - d.walls_x || j >= s.ny + beyond_y - d.walls_y)
        return;
    const size_t k = at(s, i, j);
    const struct lm_vector v = lm_faraday(view_of(e, s, k), o.rx, o.ry);
    const double rate[3] = {v.x, v.y, v.z};
    LM_UNROLL
    for (int c = 0; c < 3; c++) {
        const bool held = lm_is_held(&d.sides, c, i, j, s.nx, s.ny);
        double *from = state + c * s.pitch, *sum = result + c * s.pitch, *to = stage == 3 ? from : next + c * s.pitch;
        const double start = from[k], before = stage == 0 ? start : sum[k];
        const double after = held ? before : lm_fma(rk.result, rate[c], before);
        if (stage < 3)
            sum[k] = after;
        const double put = stage == 3 ? after : held ? start : lm_fma(rk.next, rate[c], start);
        each_periodic(d, i, j, [&](size_t m) { to[m] = put; });
    }
}

/* A pass of the filter on the E of the push, component blockIdx.z. What a body does to E is not smoothed. */
__global__ void smooth_e_kernel(domain d, const double *from, double *to)
{
    const shape &s = d.s;
    const int i = my_column(), j = my_row(), component = blockIdx.z;
    if (i < 0 || j < 0 || i >= s.nx || j >= s.ny)
        return;
    const size_t k = at(s, i, j);
    from += component * s.pitch + k;
    to += component * s.pitch;
    const bool body = d.solid && lm_touches_body(d.solid + k, component, s.stride);
    const double v = body ? from[0] : lm_binomial(from, s.stride);
    each_periodic(d, i, j, [&](size_t m) { to[m] = v; });
}

struct survey_of {
    const double *b, *ji, *eta, *density, *push;
};

/* Maxima: of E also beyond walls, where it may be given and particles feel it. A thread takes many cells. */
__global__ void survey_kernel(domain d, survey_of a, struct lm_ohm o, double k2, struct lm_gpu_control *c)
{
    const shape &s = d.s;
    const int beyond_x = d.walls_x ? LM_GHOST : 0, beyond_y = d.walls_y ? LM_GHOST : 0;
    const int width = s.nx + 2 * beyond_x, height = s.ny + 2 * beyond_y;
    const int across = (width + TX - 1) / TX, up = (height + TY - 1) / TY;
    lm_u64 e[3] = {0, 0, 0}, frequency = 0, floored = 0;
    for (int tile = blockIdx.x; tile < across * up; tile += gridDim.x) {
        const int i = tile % across * TX + (int)threadIdx.x % TX - beyond_x,
                  j = tile / across * TY + (int)threadIdx.x / TX - beyond_y;
        if (i >= s.nx + beyond_x || j >= s.ny + beyond_y)
            continue;
        const size_t k = at(s, i, j);
        for (int n = 0; n < 3; n++)
            raise(e[n], lm_size_bits(a.push[n * s.pitch + k]));
        if (i < 0 || j < 0 || i >= s.nx || j >= s.ny)
            continue;
        const int solid = d.solid ? d.solid[k] : 0;
        const struct lm_vector u = {a.ji[k], a.ji[s.pitch + k], a.ji[2 * s.pitch + k]};
        const double n = lm_floored(a.density[k], &o);
        raise(frequency,
              lm_size_bits(lm_frequency_beside(solid, lm_b_centre(view_of(a.b, s, k)), u, n, a.eta[k], k2, &o)));
        floored += !solid && a.density[k] < o.floor;
    }
    for (int n = 0; n < 3; n++)
        lm_warp_max(&c->push_e[n], e[n]);
    lm_warp_max(&c->frequency, frequency);
    lm_warp_sum(&c->floored, floored);
}

/* div B on the corners that lie on lower walls: a thread for each of the nodes with index -1. */
__global__ void wall_div_kernel(domain d, const double *b, struct lm_ohm o, lm_u64 *largest)
{
    const shape &s = d.s;
    const int node = blockIdx.x * THREADS + threadIdx.x, along_x = node < s.nx + 1;
    const int i = along_x ? node - 1 : -1, j = along_x ? -1 : node - s.nx - 2;
    lm_u64 div = 0;
    if (j < s.ny && i >= -d.walls_x && j >= -d.walls_y)
        div = lm_size_bits(lm_div_b(view_of(b, s, at(s, i, j)), o.rx, o.ry));
    lm_warp_max(largest, div);
}

/* B once more with its ghosts, component blockIdx.y: as fields after those of the state. */
/* `field`: number of the first component in the state. */
__global__ void hash_kernel(shape s, const double *b, size_t size, int field, struct lm_gpu_sums *out)
{
    const size_t k = blockIdx.x * (size_t)THREADS + threadIdx.x;
    const int component = blockIdx.y;
    lm_u64 hash = k < size ? lm_hash_value(field + component, k, b[component * s.pitch + k]) : 0;
    lm_warp_sum(&out->value[0], hash);
}

unsigned line_blocks(size_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

/* E beyond walls; periodic images are there. */
void fill_e(struct lm_gpu *g, double *e, enum lm_fill fill)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    for (int axis = 0; axis < 2; axis++)
        if (lm_field_walls(&g->sides, axis))
            fill_kernel<<<dim3(line_blocks((axis == 0 ? grid->ny : grid->nx) + 2 * LM_GHOST), 3), THREADS, 0,
                          g->stream>>>(domain_of(g), axis, fill, e);
}

/* E beyond walls, where it is given: LM_E holds it. */
void put_given_e(struct lm_gpu *g, double *e)
{
    if (lm_is_given_e(&g->sides) && e != g->array[LM_E])
        lm_gpu_check(
            g, cudaMemcpyAsync(e, g->array[LM_E], 3 * g->pitch * sizeof(double), cudaMemcpyDeviceToDevice, g->stream),
            "E beyond walls");
}

/* E of `b` with what closure has left. */
void electric_field(struct lm_gpu *g, const double *b, const double *ji, const double *ji_before, double *e,
                    double *push)
{
    const struct lm_ohm *o = &g->base.setup.ohm;
    force_kernel<<<all_blocks(g), THREADS, 0, g->stream>>>(domain_of(g), b, ji, ji_before, g->plain.curl,
                                                           g->plain.force, *o);
    electric_kernel<<<all_blocks(g), THREADS, 0, g->stream>>>(domain_of(g), g->plain.curl, g->plain.force,
                                                              g->array[LM_FLOORED], g->array[LM_PRESSURE],
                                                              g->array[LM_ETA], e, push, *o);
    fill_e(g, e, LM_FILL_FARADAY);
}

} // namespace

int lm_gpu_general_advance_b(struct lm_gpu *g, int ion_current, double dt, int substeps)
{
    double *state = g->array[LM_B], *next = g->next_b;
    put_given_e(g, g->plain.e);
    for (int r = 0; r < substeps; r++) {
        if (lm_gpu_is_given_up(g))
            return lm_stop_give_up();
        for (int stage = 0; stage < 4; stage++) {
            electric_field(g, stage == 0 ? state : next, g->array[ion_current], NULL, g->plain.e, NULL);
            faraday_kernel<<<all_blocks(g), THREADS, 0, g->stream>>>(
                domain_of(g), g->plain.e, state, next, g->plain.result, stage, lm_rk4_stage(stage, dt / substeps),
                g->base.setup.ohm);
        }
    }
    return LM_GPU_LAUNCHED(g, "Faraday's law between walls");
}

int lm_gpu_general_ohm(struct lm_gpu *g, enum lm_ohm_current current)
{
    const bool ahead = current == LM_OHM_AHEAD;
    const enum lm_array level = ahead ? LM_N_NEW : LM_N_OLD;
    int left = g->base.setup.smoothing;
    double *push = g->array[LM_PUSH_E], *now = left % 2 ? g->spare : push; /* so that the last pass ends there */
    lm_gpu_closure(&g->base, level, level);
    put_given_e(g, push);
    if (left > 0)
        put_given_e(g, g->spare);
    electric_field(g, g->array[LM_B], g->array[level + 1], ahead ? g->array[LM_J_OLD] : NULL, g->array[LM_E], now);
    fill_e(g, now, LM_FILL_PUSH);
    dim3 blocks = all_blocks(g);
    blocks.z = 3;
    for (; left > 0; left--) {
        double *next = left % 2 ? push : g->spare;
        smooth_e_kernel<<<blocks, THREADS, 0, g->stream>>>(domain_of(g), now, next);
        fill_e(g, next, LM_FILL_PUSH);
        now = next;
    }
    LM_GPU_LAUNCHED(g, "Ohm's law between walls");
    return lm_gpu_level_maxima(g, level);
}

int lm_gpu_general_maxima(struct lm_gpu *g, int level)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const struct lm_ohm *o = &g->base.setup.ohm;
    const survey_of a = {g->array[LM_B], g->array[level + 1], g->array[LM_ETA], g->array[level], g->array[LM_PUSH_E]};
    const dim3 tiles = all_blocks(g);
    const unsigned most = 8u * (unsigned)g->processors, all = tiles.x * tiles.y, blocks = all < most ? all : most;
    const double k2 = lm_largest_k2(grid, o->rx, o->ry);
    lm_gpu_clear_maxima(g);
    survey_kernel<<<blocks, THREADS, 0, g->stream>>>(domain_of(g), a, *o, k2, g->control);
    return LM_GPU_LAUNCHED(g, "survey");
}

void lm_gpu_wall_div(struct lm_gpu *g, lm_u64 *largest)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    if (lm_any_field_walls(&g->sides))
        wall_div_kernel<<<line_blocks((size_t)grid->nx + 1 + grid->ny), THREADS, 0, g->stream>>>(
            domain_of(g), g->array[LM_B], g->base.setup.ohm, largest);
}

void lm_gpu_hash_beyond(struct lm_gpu *g)
{
    const size_t size = g->base.setup.grid.size;
    if (lm_any_field_walls(&g->sides))
        hash_kernel<<<dim3(line_blocks(size), 3), THREADS, 0, g->stream>>>(
            shape_of(g), g->array[LM_B], size, LM_STATE_FIELDS + g->base.setup.background_count, g->reduced);
}
