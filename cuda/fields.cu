/* CUDA backend: loops over the grid. The bodies are in larmor/physics/fields.h.
 *
 * One thread a cell. Whoever writes a cell also writes its periodic images in the ghosts, so no kernel fills ghosts.
 * The field kernels work on tiles of 32 x 8 cells: B with a halo of 2 goes to shared memory, then J, the electron force
 * and E follow there (41 KiB), so that a Runge-Kutta stage is one kernel that reads and writes each array once. No
 * atomics but in the reductions (one a warp).
 */
#include "gpu.cuh"

#include "larmor/physics/bounds.h"
#include "larmor/physics/hash.h"

namespace
{

enum { TX = 32, TY = 8, HALO = 2, SX = TX + 2 * HALO, SY = TY + 2 * HALO, THREADS = TX * TY };

struct shape {
    int nx, ny, stride;
};

struct vec3 {
    double *p[3];
};

struct vec4 {
    double *p[4];
};

shape shape_of(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return {grid->nx, grid->ny, grid->stride};
}

vec3 vector_of(const struct lm_gpu *g, int array)
{
    return {{g->array[array], g->array[array + 1], g->array[array + 2]}};
}

vec4 moments_of(const struct lm_gpu *g, int density)
{
    return {{g->array[density], g->array[density + 1], g->array[density + 2], g->array[density + 3]}};
}

dim3 cell_blocks(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return dim3((unsigned)(grid->nx + TX - 1) / TX, (unsigned)(grid->ny + TY - 1) / TY);
}

unsigned line_blocks(const struct lm_gpu *g)
{
    return (unsigned)((g->base.setup.grid.size + THREADS - 1) / THREADS);
}

__device__ __forceinline__ size_t at(shape s, int i, int j)
{
    return (size_t)(j + LM_GHOST) * s.stride + (i + LM_GHOST);
}

/* Writes cell (i, j) of the domain and its periodic images in the ghosts. */
__device__ __forceinline__ void store(shape s, double *a, int i, int j, double value)
{
    if (i >= LM_GHOST && i < s.nx - LM_GHOST && j >= LM_GHOST && j < s.ny - LM_GHOST) {
        a[at(s, i, j)] = value;
        return;
    }
    for (int y = j - (j + LM_GHOST) / s.ny * s.ny; y < s.ny + LM_GHOST; y += s.ny)
        for (int x = i - (i + LM_GHOST) / s.nx * s.nx; x < s.nx + LM_GHOST; x += s.nx)
            a[at(s, x, y)] = value;
}

__global__ void mix_kernel(double *to, double x, const double *a, double y, const double *b, size_t size)
{
    size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k < size)
        to[k] = x * a[k] + y * b[k];
}

__global__ void closure_kernel(double *floored, double *p, const double *n, size_t size, struct lm_ohm o)
{
    size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k >= size)
        return;
    double f = lm_floored(n[k], &o);
    floored[k] = f;
    p[k] = lm_pressure(f, &o);
}

/* --- Ohm's law and Faraday's law on a tile --- */

struct tile_store {
    double b[3][SX * SY], j[3][SX * SY], f[3][SX * SY], e[3][SX * SY];
};

struct field_input {
    vec3 b, ji;
    const double *n, *p, *eta;
};

__device__ __forceinline__ struct lm_view view_at(double (*a)[SX * SY], int k)
{
    struct lm_view v = {a[0] + k, a[1] + k, a[2] + k, SX};
    return v;
}

/* B, J and the electron force of this block's tile. Cells beyond what E needs are left 0. */
__device__ void fill_tile(shape s, const field_input &in, const struct lm_ohm &o, tile_store &t)
{
    int i0 = blockIdx.x * TX - HALO, j0 = blockIdx.y * TY - HALO;
    for (int k = threadIdx.x; k < SX * SY; k += THREADS) {
        int i = i0 + k % SX, j = j0 + k / SX;
        bool inside = i < s.nx + HALO && j < s.ny + HALO;
        size_t g = at(s, i, j);
        for (int d = 0; d < 3; d++) {
            t.b[d][k] = inside ? in.b.p[d][g] : 0.0;
            t.j[d][k] = 0.0;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < SX * SY; k += THREADS)
        if (k % SX >= 1 && k / SX >= 1) {
            struct lm_vector v = lm_curl_b(view_at(t.b, k), o.rx, o.ry);
            t.j[0][k] = v.x;
            t.j[1][k] = v.y;
            t.j[2][k] = v.z;
        }
    __syncthreads();
    for (int k = threadIdx.x; k < SX * SY; k += THREADS) {
        int i = i0 + k % SX, j = j0 + k / SX;
        if (k % SX < HALO || k / SX < HALO || i >= s.nx + HALO || j >= s.ny + HALO)
            continue;
        size_t g = at(s, i, j);
        struct lm_vector u = {in.ji.p[0][g], in.ji.p[1][g], in.ji.p[2][g]};
        struct lm_vector f = lm_electron_force(view_at(t.j, k), view_at(t.b, k), u);
        t.f[0][k] = f.x;
        t.f[1][k] = f.y;
        t.f[2][k] = f.z;
    }
    __syncthreads();
}

/* E at element k of the tile, element g of the grid: all of it, and without its resistive part. */
__device__ __forceinline__ void electric_field(shape s, const field_input &in, const struct lm_ohm &o, tile_store &t,
                                               int k, size_t g, double total[3], double ideal[3])
{
    struct lm_view given = {in.n + g, in.p + g, in.eta + g, s.stride};
    lm_electric_field(view_at(t.f, k), view_at(t.j, k), given, &o, total, ideal);
}

/* One Runge-Kutta stage: in.b is the stage's B; `state` B before the step; result and next as in lm_rk4. */
__global__ void __launch_bounds__(THREADS) stage_kernel(shape s, field_input in, struct lm_ohm o, vec3 state,
                                                        vec3 result, vec3 next, struct lm_rk4 rk, int stage)
{
    __shared__ tile_store t;
    fill_tile(s, in, o, t);
    int i0 = blockIdx.x * TX - HALO, j0 = blockIdx.y * TY - HALO;
    for (int k = threadIdx.x; k < SX * SY; k += THREADS) {
        int i = i0 + k % SX, j = j0 + k / SX;
        if (k % SX < HALO || k / SX < HALO || k % SX > TX + HALO || k / SX > TY + HALO || i > s.nx || j > s.ny)
            continue;
        double e[3], ideal[3];
        electric_field(s, in, o, t, k, at(s, i, j), e, ideal);
        for (int d = 0; d < 3; d++)
            t.e[d][k] = e[d];
    }
    __syncthreads();
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    int k = (threadIdx.x / TX + HALO) * SX + threadIdx.x % TX + HALO;
    struct lm_vector v = lm_faraday(view_at(t.e, k), o.rx, o.ry);
    const double rate[3] = {v.x, v.y, v.z};
    size_t g = at(s, i, j);
    for (int d = 0; d < 3; d++) {
        double b = state.p[d][g], before = stage == 0 ? b : result.p[d][g];
        double after = lm_fma(rk.result, rate[d], before);
        if (stage < 3) {
            result.p[d][g] = after;
            store(s, next.p[d], i, j, lm_fma(rk.next, rate[d], b));
        } else {
            store(s, state.p[d], i, j, after);
        }
    }
}

__global__ void __launch_bounds__(THREADS) ohm_kernel(shape s, field_input in, struct lm_ohm o, vec3 field, vec3 push)
{
    __shared__ tile_store t;
    fill_tile(s, in, o, t);
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    int k = (threadIdx.x / TX + HALO) * SX + threadIdx.x % TX + HALO;
    double e[3], ideal[3];
    electric_field(s, in, o, t, k, at(s, i, j), e, ideal);
    for (int d = 0; d < 3; d++) {
        store(s, field.p[d], i, j, e[d]);
        store(s, push.p[d], i, j, o.friction ? ideal[d] : e[d]);
    }
}

/* --- moments --- */

__global__ void collect_kernel(shape s, lm_u64 *sums, vec4 raw, double *number, double charge, double weight, int cap,
                               int first)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    size_t cells = (size_t)s.nx * s.ny, m = (size_t)j * s.nx + i, k = at(s, i, j);
    const int64_t parts[4] = {(int64_t)sums[m], (int64_t)sums[cells + m], (int64_t)sums[2 * cells + m],
                              (int64_t)sums[3 * cells + m]};
    double add[4];
    store(s, number, i, j, lm_species_moments(parts, charge, weight, cap, add));
    for (int d = 0; d < 4; d++) {
        store(s, raw.p[d], i, j, first ? add[d] : raw.p[d][k] + add[d]);
        sums[d * cells + m] = 0;
    }
}

__global__ void centre_kernel(shape s, vec4 raw, vec4 out)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    size_t k = at(s, i, j);
    const double *const here[4] = {raw.p[0] + k, raw.p[1] + k, raw.p[2] + k, raw.p[3] + k};
    double centred[4];
    lm_centred_moments(here, s.stride, centred);
    for (int d = 0; d < 4; d++)
        store(s, out.p[d], i, j, centred[d]);
}

__global__ void smooth_kernel(shape s, vec4 from, vec4 to, int count)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    for (int d = 0; d < count; d++)
        store(s, to.p[d], i, j, lm_binomial(from.p[d] + at(s, i, j), s.stride));
}

/* Smooths `passes` times between `a` and `b`, starting from `a`; an even number ends in `a`. */
int smooth(struct lm_gpu *g, vec4 a, vec4 b, int count, int passes)
{
    for (int r = 0; r < passes; r++)
        smooth_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), r % 2 ? b : a, r % 2 ? a : b, count);
    return LM_GPU_LAUNCHED(g, "smoothing");
}

/* --- reductions --- */

__global__ void survey_kernel(shape s, field_input in, const double *density, vec3 push, struct lm_ohm o, double k2,
                              struct lm_gpu_control *c)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    lm_u64 e[3] = {0, 0, 0}, frequency = 0, floored = 0;
    if (i < s.nx && j < s.ny) {
        size_t k = at(s, i, j);
        struct lm_view b = {in.b.p[0] + k, in.b.p[1] + k, in.b.p[2] + k, s.stride};
        struct lm_vector u = {in.ji.p[0][k], in.ji.p[1][k], in.ji.p[2][k]};
        frequency = lm_size_bits(lm_frequency(lm_b_centre(b), u, in.n[k], in.eta[k], k2, &o));
        floored = density[k] < o.floor;
        for (int d = 0; d < 3; d++)
            e[d] = lm_size_bits(push.p[d][k]);
    }
    for (int d = 0; d < 3; d++)
        lm_warp_max(&c->push_e[d], e[d]);
    lm_warp_max(&c->frequency, frequency);
    lm_warp_sum(&c->floored, floored);
}

enum grid_term { BX2, BY2, BZ2, ELECTRONS, DIV_B, TERMS };

__device__ __forceinline__ double term_of(int term, shape s, vec3 b, const double *floored, size_t k,
                                          const struct lm_ohm &o)
{
    if (term < ELECTRONS)
        return b.p[term][k] * b.p[term][k];
    if (term == ELECTRONS)
        return lm_electron_energy(floored[k], &o);
    struct lm_view v = {b.p[0] + k, b.p[1] + k, b.p[2] + k, s.stride};
    return lm_div_b(v, o.rx, o.ry);
}

__global__ void grid_max_kernel(shape s, vec3 b, const double *floored, struct lm_ohm o, struct lm_gpu_sums *out)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    for (int term = 0; term < TERMS; term++) {
        lm_u64 v = 0;
        if (i < s.nx && j < s.ny)
            v = lm_size_bits(term_of(term, s, b, floored, at(s, i, j), o));
        lm_warp_max(&out->value[term], v);
    }
}

struct scales {
    double value[4];
};

__global__ void grid_sum_kernel(shape s, vec3 b, const double *floored, struct lm_ohm o, scales scale,
                                struct lm_gpu_sums *out)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    for (int term = 0; term < DIV_B; term++) {
        lm_u64 v = 0;
        if (i < s.nx && j < s.ny)
            v = (lm_u64)lm_round64(term_of(term, s, b, floored, at(s, i, j), o) * scale.value[term]);
        lm_warp_sum(&out->value[term], v);
    }
}

__global__ void hash_kernel(shape s, const double *a, int field, struct lm_gpu_sums *out)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    lm_u64 v = 0;
    if (i < s.nx && j < s.ny)
        v = lm_hash_value(field, (uint64_t)j * s.nx + i, a[at(s, i, j)]);
    lm_warp_sum(&out->value[0], v);
}

field_input input_of(const struct lm_gpu *g, vec3 b, int ion_current)
{
    return {b, vector_of(g, ion_current), g->array[LM_FLOORED], g->array[LM_PRESSURE], g->array[LM_ETA]};
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

int lm_gpu_mix(struct lm_backend *b, int to, double x, int a, double y, int c, int count)
{
    struct lm_gpu *g = lm_gpu_of(b);
    for (int k = 0; k < count; k++)
        mix_kernel<<<line_blocks(g), THREADS, 0, g->stream>>>(g->array[to + k], x, g->array[a + k], y, g->array[c + k],
                                                              b->setup.grid.size);
    return LM_GPU_LAUNCHED(g, "mix");
}

int lm_gpu_closure(struct lm_backend *b, int density)
{
    struct lm_gpu *g = lm_gpu_of(b);
    closure_kernel<<<line_blocks(g), THREADS, 0, g->stream>>>(g->array[LM_FLOORED], g->array[LM_PRESSURE],
                                                              g->array[density], b->setup.grid.size, b->setup.ohm);
    return LM_GPU_LAUNCHED(g, "closure");
}

int lm_gpu_advance_b(struct lm_backend *b, int ion_current, double dt, int substeps)
{
    struct lm_gpu *g = lm_gpu_of(b);
    vec3 state = vector_of(g, LM_B), result = {{g->result[0], g->result[1], g->result[2]}};
    vec3 work[2];
    for (int w = 0; w < 2; w++)
        work[w] = {{g->stage[w][0], g->stage[w][1], g->stage[w][2]}};
    for (int r = 0; r < substeps; r++)
        for (int stage = 0; stage < 4; stage++) {
            vec3 from = stage == 0 ? state : work[(stage - 1) % 2];
            stage_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), input_of(g, from, ion_current),
                                                                    b->setup.ohm, state, result, work[stage % 2],
                                                                    lm_rk4_stage(stage, dt / substeps), stage);
        }
    return LM_GPU_LAUNCHED(g, "Faraday");
}

int lm_gpu_ohm(struct lm_backend *b, int ion_current)
{
    struct lm_gpu *g = lm_gpu_of(b);
    vec4 push = {{g->array[LM_PUSH_E], g->array[LM_PUSH_E + 1], g->array[LM_PUSH_E + 2], NULL}};
    vec4 spare = {{g->spare[0], g->spare[1], g->spare[2], NULL}};
    vec4 first = b->setup.smoothing % 2 ? spare : push; /* so that the last pass ends in LM_PUSH_E */
    vec3 target = {{first.p[0], first.p[1], first.p[2]}};
    ohm_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), input_of(g, vector_of(g, LM_B), ion_current),
                                                          b->setup.ohm, vector_of(g, LM_E), target);
    LM_GPU_LAUNCHED(g, "Ohm's law");
    return smooth(g, first, b->setup.smoothing % 2 ? push : spare, 3, b->setup.smoothing);
}

int lm_gpu_survey(struct lm_backend *b)
{
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_ohm *o = &b->setup.ohm;
    double k2 = lm_largest_k2(b->setup.grid.nx, b->setup.grid.ny, o->rx, o->ry);
    size_t from = offsetof(struct lm_gpu_control, push_e);
    lm_gpu_check(g, cudaMemsetAsync((char *)g->control + from, 0, sizeof *g->control - from, g->stream), "survey");
    survey_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), input_of(g, vector_of(g, LM_B), LM_J_OLD),
                                                             g->array[LM_N_OLD], vector_of(g, LM_PUSH_E), *o, k2,
                                                             g->control);
    return LM_GPU_LAUNCHED(g, "survey");
}

int lm_gpu_collect(struct lm_backend *b, int species, int cap, int first)
{
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_backend_species *s = &b->setup.species[species];
    vec4 raw = {{g->raw[0], g->raw[1], g->raw[2], g->raw[3]}};
    collect_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(
        shape_of(g), g->sums, raw, g->array[LM_SPECIES_N + species], s->charge, s->weight, cap, first);
    return LM_GPU_LAUNCHED(g, "collecting moments");
}

int lm_gpu_moments(struct lm_backend *b)
{
    struct lm_gpu *g = lm_gpu_of(b);
    vec4 raw = {{g->raw[0], g->raw[1], g->raw[2], g->raw[3]}},
         spare = {{g->spare[0], g->spare[1], g->spare[2], g->spare[3]}};
    vec4 out = moments_of(g, LM_N_NEW);
    int odd = b->setup.smoothing % 2;
    centre_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), raw, odd ? spare : out);
    LM_GPU_LAUNCHED(g, "centring moments");
    return smooth(g, odd ? spare : out, odd ? out : spare, 4, b->setup.smoothing);
}

int lm_gpu_grid_sums(struct lm_backend *b, struct lm_grid_sums *out)
{
    struct lm_gpu *g = lm_gpu_of(b);
    vec3 field = vector_of(g, LM_B);
    scales scale;
    int exponent[4];
    lm_gpu_reduce_begin(g);
    grid_max_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), field, g->array[LM_FLOORED], b->setup.ohm,
                                                               g->reduced);
    LM_GPU_LAUNCHED(g, "maxima of the grid");
    if (lm_gpu_reduce_end(g))
        return g->failed;
    for (int d = 0; d < 4; d++) {
        exponent[d] =
            lm_sum_exponent((double)b->setup.grid.cells, lm_cap_exponent(lm_from_bits(g->reduced_host->value[d])));
        scale.value[d] = lm_exp2i(exponent[d]);
    }
    out->div_b = lm_from_bits(g->reduced_host->value[DIV_B]);
    lm_gpu_reduce_begin(g);
    grid_sum_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), field, g->array[LM_FLOORED], b->setup.ohm,
                                                               scale, g->reduced);
    LM_GPU_LAUNCHED(g, "sums over the grid");
    lm_gpu_reduce_end(g);
    for (int d = 0; d < 3; d++) {
        out->b2[d] = (int64_t)g->reduced_host->value[d];
        out->exponent_b2[d] = exponent[d];
    }
    out->electrons = (int64_t)g->reduced_host->value[ELECTRONS];
    out->exponent_electrons = exponent[ELECTRONS];
    return g->failed;
}

int lm_gpu_hash_fields(struct lm_gpu *g)
{
    for (int f = 0; f < LM_STATE_FIELDS; f++)
        hash_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), g->array[f], f, g->reduced);
    return LM_GPU_LAUNCHED(g, "hash of the fields");
}
