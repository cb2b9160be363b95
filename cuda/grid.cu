/* CUDA backend: moments, smoothing, closure and reductions over the grid. The bodies are in larmor/physics/fields.h.
 *
 * One thread a cell. Whoever writes a cell also writes its periodic images in the ghosts, so no kernel fills ghosts. No
 * atomics but in the reductions (one a warp).
 */
#include "grid.cuh"

#include "larmor/physics/bounds.h"
#include "larmor/physics/hash.h"

namespace
{

enum { TX = 32, TY = 8, THREADS = TX * TY };

dim3 cell_blocks(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return dim3((unsigned)(grid->nx + TX - 1) / TX, (unsigned)(grid->ny + TY - 1) / TY);
}

unsigned line_blocks(const struct lm_gpu *g)
{
    return (unsigned)((g->base.setup.grid.size + THREADS - 1) / THREADS);
}

__global__ void closure_kernel(double *floored, double *p, const double *n, const double *other, size_t size,
                               struct lm_ohm o)
{
    size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k >= size)
        return;
    double f = lm_floored(lm_mean(n[k], other[k]), &o);
    floored[k] = f;
    p[k] = lm_pressure(f, &o);
}

/* --- moments --- */

__global__ void collect_kernel(shape s, lm_u64 *sums, double *raw, double *number, double charge, double weight,
                               int cap, int first)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    size_t cells = (size_t)s.nx * s.ny, m = (size_t)j * s.nx + i, k = at(s, i, j);
    const int64_t parts[4] = {(int64_t)sums[m], (int64_t)sums[cells + m], (int64_t)sums[2 * cells + m],
                              (int64_t)sums[3 * cells + m]};
    double add[4];
    store(s, number, i, j, lm_species_moments(parts, charge, weight, cap, add));
    LM_UNROLL
    for (int d = 0; d < 4; d++) {
        double *r = raw + d * s.pitch;
        store(s, r, i, j, first ? add[d] : r[k] + add[d]);
        sums[d * cells + m] = 0;
    }
}

/* Moments brought to centres, and smoothed once if so wanted. */
template <bool SMOOTH> __global__ void centre_kernel(shape s, const double *raw, double *out)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    if (i >= s.nx || j >= s.ny)
        return;
    double around[4][9]; /* of this cell and its neighbours */
    LM_UNROLL
    for (int q = 0; q < 9; q++) {
        if (!SMOOTH && q != 4)
            continue;
        const double *r = raw + at(s, i + q % 3 - 1, j + q / 3 - 1);
        const double *const here[4] = {r, r + s.pitch, r + 2 * s.pitch, r + 3 * s.pitch};
        double centred[4];
        lm_centred_moments(here, s.stride, centred);
        for (int d = 0; d < 4; d++)
            around[d][q] = centred[d];
    }
    LM_UNROLL
    for (int d = 0; d < 4; d++)
        store(s, out + d * s.pitch, i, j, SMOOTH ? lm_binomial(around[d] + 4, 3) : around[d][4]);
}

/* The array of a group is blockIdx.z. */
__global__ void smooth_kernel(shape s, const double *from, double *to)
{
    int i = blockIdx.x * TX + threadIdx.x % TX, j = blockIdx.y * TY + threadIdx.x / TX;
    size_t group = blockIdx.z * s.pitch;
    if (i < s.nx && j < s.ny)
        store(s, to + group, i, j, lm_binomial(from + group + at(s, i, j), s.stride));
}

/* --- reductions --- */

/* Calls body(i, j, k) for every cell, k its element: a thread takes many, so that few atomics follow. */
template <class F> __device__ __forceinline__ void each_cell(const shape &s, F body)
{
    int across = (s.nx + TX - 1) / TX, up = (s.ny + TY - 1) / TY;
    for (int tile = blockIdx.x; tile < across * up; tile += gridDim.x) {
        int i = tile % across * TX + threadIdx.x % TX, j = tile / across * TY + threadIdx.x / TX;
        if (i < s.nx && j < s.ny)
            body(i, j, at(s, i, j));
    }
}

unsigned reduction_blocks(const struct lm_gpu *g)
{
    return (unsigned)g->processors * 4;
}

__device__ __forceinline__ void raise(lm_u64 &to, lm_u64 v)
{
    to = v > to ? v : to;
}

struct survey_arrays {
    const double *b, *ji, *floored, *eta, *density, *push;
};

__global__ void survey_kernel(shape s, survey_arrays a, struct lm_ohm o, double k2, struct lm_gpu_control *c)
{
    lm_u64 e[3] = {0, 0, 0}, frequency = 0, floored = 0;
    each_cell(s, [&](int, int, size_t k) {
        struct lm_view b = {a.b + k, a.b + s.pitch + k, a.b + 2 * s.pitch + k, s.stride};
        struct lm_vector u = {a.ji[k], a.ji[s.pitch + k], a.ji[2 * s.pitch + k]};
        raise(frequency, lm_size_bits(lm_frequency(lm_b_centre(b), u, a.floored[k], a.eta[k], k2, &o)));
        floored += a.density[k] < o.floor;
        for (int d = 0; d < 3; d++)
            raise(e[d], lm_size_bits(a.push[d * s.pitch + k]));
    });
    for (int d = 0; d < 3; d++)
        lm_warp_max(&c->push_e[d], e[d]);
    lm_warp_max(&c->frequency, frequency);
    lm_warp_sum(&c->floored, floored);
}

enum grid_term { BX2, BY2, BZ2, ELECTRONS, DIV_B, TERMS };

__device__ __forceinline__ double term_of(int term, const shape &s, const double *b, const double *floored, size_t k,
                                          const struct lm_ohm &o)
{
    if (term < ELECTRONS)
        return b[term * s.pitch + k] * b[term * s.pitch + k];
    if (term == ELECTRONS)
        return lm_electron_energy(floored[k], &o);
    struct lm_view v = {b + k, b + s.pitch + k, b + 2 * s.pitch + k, s.stride};
    return lm_div_b(v, o.rx, o.ry);
}

__global__ void grid_max_kernel(shape s, const double *b, const double *floored, struct lm_ohm o,
                                lm_u64 *largest_of_all)
{
    lm_u64 largest[TERMS] = {0, 0, 0, 0, 0};
    each_cell(s, [&](int, int, size_t k) {
        LM_UNROLL
        for (int term = 0; term < TERMS; term++)
            raise(largest[term], lm_size_bits(term_of(term, s, b, floored, k, o)));
    });
    lm_block_max(largest_of_all, largest);
}

/* Units of a term's sum are 2^-exponent; `largest`: bits of the largest term. */
__host__ __device__ int term_exponent(double cells, lm_u64 largest)
{
    return lm_sum_exponent(cells, lm_cap_exponent(lm_from_bits(largest)));
}

__global__ void grid_sum_kernel(shape s, const double *b, const double *floored, struct lm_ohm o, const lm_u64 *largest,
                                lm_u64 *sums)
{
    __shared__ double scale[DIV_B];
    if (threadIdx.x < DIV_B)
        scale[threadIdx.x] = lm_exp2i(term_exponent((double)s.nx * s.ny, largest[threadIdx.x]));
    __syncthreads();
    lm_u64 sum[DIV_B] = {0, 0, 0, 0};
    each_cell(s, [&](int, int, size_t k) {
        LM_UNROLL
        for (int term = 0; term < DIV_B; term++)
            sum[term] += (lm_u64)lm_round64(term_of(term, s, b, floored, k, o) * scale[term]);
    });
    lm_block_sum(sums, sum);
}

__global__ void hash_kernel(shape s, const double *a, int field, struct lm_gpu_sums *out)
{
    lm_u64 sum = 0;
    each_cell(s, [&](int i, int j, size_t k) { sum += lm_hash_value(field, (uint64_t)j * s.nx + i, a[k]); });
    lm_warp_sum(&out->value[0], sum);
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

int lm_gpu_closure(struct lm_backend *b, int density, int other)
{
    lm_gpu_range range("closure");
    struct lm_gpu *g = lm_gpu_of(b);
    closure_kernel<<<line_blocks(g), THREADS, 0, g->stream>>>(g->array[LM_FLOORED], g->array[LM_PRESSURE],
                                                              g->array[density], g->array[other], b->setup.grid.size,
                                                              b->setup.ohm);
    return LM_GPU_LAUNCHED(g, "closure");
}

int lm_gpu_smooth(struct lm_gpu *g, double *to, int count, int passes)
{
    dim3 blocks = cell_blocks(g);
    blocks.z = (unsigned)count;
    for (int left = passes; left > 0; left--)
        smooth_kernel<<<blocks, THREADS, 0, g->stream>>>(shape_of(g), left % 2 ? g->spare : to,
                                                         left % 2 ? to : g->spare);
    return LM_GPU_LAUNCHED(g, "smoothing");
}

int lm_gpu_survey(struct lm_backend *b)
{
    lm_gpu_range range("survey");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_ohm *o = &b->setup.ohm;
    double k2 = lm_largest_k2(b->setup.grid.nx, b->setup.grid.ny, o->rx, o->ry);
    size_t from = offsetof(struct lm_gpu_control, push_e);
    survey_arrays a = {g->array[LM_B],   g->array[LM_J_OLD], g->array[LM_FLOORED],
                       g->array[LM_ETA], g->array[LM_N_OLD], g->array[LM_PUSH_E]};
    lm_gpu_check(g, cudaMemsetAsync((char *)g->control + from, 0, sizeof *g->control - from, g->stream), "survey");
    survey_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), a, *o, k2, g->control);
    return LM_GPU_LAUNCHED(g, "survey");
}

int lm_gpu_collect(struct lm_backend *b, int species, int cap, int first)
{
    lm_gpu_range range("collect");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_backend_species *s = &b->setup.species[species];
    collect_kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(
        shape_of(g), g->sums, g->raw, g->array[LM_SPECIES_N + species], s->charge, s->weight, cap, first);
    return LM_GPU_LAUNCHED(g, "collecting moments");
}

int lm_gpu_moments(struct lm_backend *b)
{
    lm_gpu_range range("moments");
    struct lm_gpu *g = lm_gpu_of(b);
    int passes = b->setup.smoothing;
    double *out = g->array[LM_N_NEW];
    auto kernel = passes > 0 ? centre_kernel<true> : centre_kernel<false>;
    kernel<<<cell_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), g->raw,
                                                      passes > 0 && passes % 2 == 0 ? g->spare : out);
    LM_GPU_LAUNCHED(g, "centring moments");
    return passes > 0 ? lm_gpu_smooth(g, out, 4, passes - 1) : g->failed;
}

int lm_gpu_grid_sums(struct lm_backend *b, struct lm_grid_sums *out)
{
    lm_gpu_range range("grid sums");
    struct lm_gpu *g = lm_gpu_of(b);
    const double *field = g->array[LM_B];
    const double *floored = g->array[LM_FLOORED];
    lm_u64 *largest = g->reduced->value, *sums = largest + TERMS;
    static_assert(TERMS + DIV_B <= sizeof *g->reduced / sizeof *sums, "room for both reductions");
    lm_gpu_reduce_begin(g);
    grid_max_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), field, floored, b->setup.ohm, largest);
    LM_GPU_LAUNCHED(g, "maxima of the grid");
    grid_sum_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), field, floored, b->setup.ohm, largest,
                                                                    sums);
    LM_GPU_LAUNCHED(g, "sums over the grid");
    if (lm_gpu_reduce_end(g))
        return g->failed;
    largest = g->reduced_host->value;
    sums = largest + TERMS;
    const double cells = (double)b->setup.grid.cells;
    for (int d = 0; d < 3; d++) {
        out->b2[d] = (int64_t)sums[d];
        out->exponent_b2[d] = term_exponent(cells, largest[d]);
    }
    out->electrons = (int64_t)sums[ELECTRONS];
    out->exponent_electrons = term_exponent(cells, largest[ELECTRONS]);
    out->div_b = lm_from_bits(largest[DIV_B]);
    return g->failed;
}

int lm_gpu_hash_fields(struct lm_gpu *g)
{
    for (int f = 0; f < LM_STATE_FIELDS; f++)
        hash_kernel<<<reduction_blocks(g), THREADS, 0, g->stream>>>(shape_of(g), g->array[f], f, g->reduced);
    return LM_GPU_LAUNCHED(g, "hash of the fields");
}
