/* CUDA backend: B where it diffuses fast (larmor/physics/fields/relaxation.h). A block takes a tile in which B diffuses
 * through several stages, ghost cells beyond walls included. Around the tile it has as many cells as these stages read:
 * their results are right as far as the next stage needs them, and only those of the tile are stored.
 *
 * Two pairs of arrays take turns: the results of the last two stages, and those some stages later. Work arrays of the
 * moments have what does not change within a step.
 */
#include "core/halo.cuh"
#include "fields/tile.cuh"

#include "larmor/physics/fields/fields.h"

namespace
{

enum { MARGIN = 4, RELAXATION_THREADS = 512, STAGES = 4, STAGES_AT_CONDUCTORS = 2 };
static_assert(STAGES <= MARGIN && 2 * STAGES_AT_CONDUCTORS <= MARGIN,
              "a stage reads the cells beside, and at conductors those beside them");
static_assert(LM_RELAXATION_EXCHANGE % (2 * STAGES) == 0 && LM_RELAXATION_EXCHANGE % (2 * STAGES_AT_CONDUCTORS) == 0,
              "an exchange finds the arrays of the state");

typedef tile_of<32, 16, MARGIN, MARGIN> tile;

enum { SIZE = tile::SIZE };

/* The results of odd stages are in `odd`, those of even ones in `even`, where the state is as well. */
struct results {
    double *even, *odd;
};

/* Of all nodes, in arrays of the grid: the factor of struct lm_relaxation_node, and in two bytes, component after
 * component, its kind and whether E may differ from 0. */
struct node_arrays {
    double *factor;
    uint16_t *kinds;
    uint8_t *relaxes; /* of each tile: whether B changes */
};

enum { KIND = 3, RELAXES = 4, KIND_BITS = 3 };

struct relaxation_problem {
    domain d;
    struct lm_relaxation f;
    struct lm_relaxation_stage stage[STAGES];
    int first; /* the number of the first of them, from 1 on */
    results from, to;
    node_arrays nodes;
};

/* A tile in shared memory. `inside` is the element of the tile that is the cell inside of a node. */
struct tile_arrays {
    double even[3 * SIZE], odd[3 * SIZE], e[3 * SIZE], factor[3 * SIZE];
    uint16_t inside[3 * SIZE], kinds[SIZE];
};

__device__ __forceinline__ int kind_of(int kinds, int component)
{
    return kinds >> component * KIND_BITS & KIND;
}

__device__ __forceinline__ bool relaxes_at(int kinds, int component)
{
    return kinds >> component * KIND_BITS & RELAXES;
}

/* The nodes of all cells. */
__global__ void __launch_bounds__(RELAXATION_THREADS)
    node_kernel(domain d, const __grid_constant__ lm_relaxation f, node_arrays nodes)
{
    const tile t(d, RELAXATION_THREADS);
    int any = 0;
    t.each<0, 1>([&](int i, int j, int) {
        const int x = cell_along(i, d.s.nx, d.walls_x), y = cell_along(j, d.s.ny, d.walls_y);
        const size_t k = at(d.s, x, y);
        int kinds = 0;
        for (int c = 0; c < 3; c++) {
            const struct lm_relaxation_node n = lm_relaxation_node(&f, c, x, y);
            int touched = n.kind == LM_RELAXES;
            if (n.kind == LM_RELAXES_CONDUCTOR)
                lm_relaxed_conductor_ez(&f, n.k, lm_view_at(f.b, n.k), &touched);
            nodes.factor[c * d.s.pitch + k] = n.factor;
            kinds |= (n.kind | (touched ? RELAXES : 0)) << c * KIND_BITS;
            any |= touched;
        }
        nodes.kinds[k] = (uint16_t)kinds;
    });
    any = __syncthreads_or(any);
    if (threadIdx.x == 0)
        nodes.relaxes[tile::number()] = any != 0;
}

/* Whether a stage writes B of a cell. */
__device__ __forceinline__ bool is_advanced(const domain &d, int i, int j)
{
    const int x = d.walls_x ? LM_GHOST : 0, y = d.walls_y ? LM_GHOST : 0;
    return i >= -x && j >= -y && i < d.s.nx + x - d.walls_x && j < d.s.ny + y - d.walls_y;
}

__device__ __forceinline__ void store_own(const relaxation_problem &a, int i, int j, int c, double even, double odd)
{
    each_periodic(a.d.s, a.d.walls_x, a.d.walls_y, i, j, [&](size_t k) {
        a.to.even[c * a.d.s.pitch + k] = even;
        a.to.odd[c * a.d.s.pitch + k] = odd;
    });
}

/* The first stage in a tile in which B does not change, and the copy of it for the second pair. */
__device__ __forceinline__ void keep(const relaxation_problem &a, const tile &t)
{
    const domain &d = a.d;
    t.each_own([&](int i, int j, int) {
        for (int c = 0; c < 3 && is_advanced(d, i, j); c++) {
            const size_t k = c * d.s.pitch + at(d.s, i, j);
            const double b = a.from.even[k];
            const bool held = lm_is_held(&d.sides, c, i, j, d.s.nx, d.s.ny);
            store_own(a, i, j, c, b, a.first == 1 ? lm_relaxed(a.stage[0], held, b, b, 0.0) : a.from.odd[k]);
        }
    });
}

/* The element of the tile that is the cell inside of a node, and whether it is there with what J reads. It is for
 * nodes that cells of the tile need. */
__device__ __forceinline__ bool find_inside(const domain &d, const tile &t, int component, int i, int j, int reach,
                                            int &inside)
{
    int sign = 1;
    const int x = lm_inside_node(&d.sides, 0, d.s.nx, component == 0, i, &sign) - t.x + MARGIN,
              y = lm_inside_node(&d.sides, 1, d.s.ny, component == 1, j, &sign) - t.y + MARGIN;
    inside = y * tile::WIDTH + x;
    return x >= reach && y >= reach && x <= tile::WIDTH - reach && y <= tile::HEIGHT - reach;
}

/* B and the nodes of a tile. */
__device__ __forceinline__ void load(const relaxation_problem &a, const tile &t, tile_arrays &of)
{
    const domain &d = a.d;
    t.each<MARGIN, MARGIN>([&](int i, int j, int m) {
        const size_t k = element(d, i, j);
        const struct lm_vector b = vector_at(a.from.even, d.s, k);
        int kinds = a.nodes.kinds[k];
        tile::put(of.even, m, b);
        tile::put(of.odd, m, a.first == 1 ? b : vector_at(a.from.odd, d.s, k));
        tile::put(of.factor, m, vector_at(a.nodes.factor, d.s, k));
        for (int c = 0; c < 3 && kinds; c++) {
            int inside;
            const int reach = kind_of(kinds, c) == LM_RELAXES_CONDUCTOR ? 2 : 1;
            if (!find_inside(d, t, c, i, j, reach, inside))
                kinds &= ~((KIND | RELAXES) << c * KIND_BITS);
            of.inside[c * SIZE + m] = (uint16_t)inside;
        }
        of.kinds[m] = (uint16_t)kinds;
    });
}

template <bool CONDUCTORS>
__device__ __forceinline__ void electric_field(const relaxation_problem &a, const tile &t, tile_arrays &of,
                                               const double *last)
{
    t.each<MARGIN - 1, MARGIN>([&](int i, int j, int m) {
        const int kinds = of.kinds[m];
        LM_UNROLL
        for (int c = 0; c < 3; c++) {
            const int q = c * SIZE + m, kind = kind_of(kinds, c);
            int touched = 0;
            double e = 0.0;
            if (kind == LM_RELAXES || (CONDUCTORS && kind == LM_RELAXES_CONDUCTOR)) {
                long k = 0;
                if (a.f.external.s != 0 || CONDUCTORS)
                    k = lm_relaxation_node(&a.f, c, cell_along(i, a.d.s.nx, a.d.walls_x),
                                           cell_along(j, a.d.s.ny, a.d.walls_y))
                            .k;
                e = lm_relaxation_node_e(&a.f, c, CONDUCTORS ? kind : (int)LM_RELAXES, of.factor[q], k,
                                         tile::view(last, of.inside[q]), &touched);
            }
            of.e[q] = e;
        }
    });
}

__device__ __forceinline__ void advance(const relaxation_problem &a, const tile &t, const tile_arrays &of, int number,
                                        const double *last, double *to)
{
    const domain &d = a.d;
    t.each<MARGIN - 1, MARGIN - 1>([&](int i, int j, int m) {
        const int here = of.kinds[m], right = of.kinds[m + 1], above = of.kinds[m + tile::WIDTH];
        const bool relaxes =
            relaxes_at(here | above, 0) || relaxes_at(here | right, 1) || relaxes_at(here | right | above, 2);
        if (!relaxes && number > 1)
            return;
        const struct lm_vector v = lm_faraday(tile::view(of.e, m), a.f.inv_dx, a.f.inv_dy);
        const double rate[3] = {v.x, v.y, lm_corner_rate(d.node ? d.node + 3 * element(d, i, j) : NULL, v.z)};
        LM_UNROLL
        for (int c = 0; c < 3; c++) {
            double *const b = to + c * SIZE + m;
            const double now = last[c * SIZE + m], before = number == 1 ? now : *b;
            *b = lm_relaxed(a.stage[number - a.first], lm_is_held(&d.sides, c, i, j, d.s.nx, d.s.ny), now, before,
                            rate[c]);
        }
    });
}

/* Whether a tile reads cells of this one. Tiles at the ends of an axis may be narrow or overlap others. */
__device__ __forceinline__ bool is_near(const relaxation_problem &a)
{
    bool near = false;
    tile::each_beside(a.d, gridDim, (int)blockIdx.x, (int)blockIdx.y, 2,
                      [&](int column, int row) { near = near || a.nodes.relaxes[row * gridDim.x + column]; });
    return near;
}

/* Some stages. A tile at rest is copied until both pairs have it. */
template <bool CONDUCTORS>
__global__ void __launch_bounds__(RELAXATION_THREADS, CONDUCTORS ? 1 : 2)
    relaxation_kernel(const __grid_constant__ relaxation_problem a)
{
    extern __shared__ double shared[];
    tile_arrays &of = *(tile_arrays *)shared;
    enum { COUNT = CONDUCTORS ? STAGES_AT_CONDUCTORS : STAGES };
    const tile t(a.d, RELAXATION_THREADS);
    if (!a.nodes.relaxes[tile::number()]) {
        if (a.first <= 1 + COUNT && is_near(a))
            keep(a, t);
        return;
    }
    load(a, t, of);
    __syncthreads();
    for (int number = a.first; number < a.first + COUNT; number++) {
        double *const last = number % 2 ? of.even : of.odd, *const to = number % 2 ? of.odd : of.even;
        electric_field<CONDUCTORS>(a, t, of, last);
        __syncthreads();
        advance(a, t, of, number, last, to);
        __syncthreads();
    }
    t.each_own([&](int i, int j, int m) {
        for (int c = 0; c < 3 && is_advanced(a.d, i, j); c++)
            store_own(a, i, j, c, of.even[c * SIZE + m], of.odd[c * SIZE + m]);
    });
}

} // namespace

int lm_gpu_relax_b(struct lm_backend *b, double dt, int stages)
{
    lm_gpu_range range("relax b");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_grid *grid = &b->setup.grid;
    const struct lm_ohm *o = &b->setup.ohm;
    lm_gpu_join(g); /* the mean of B reads B as it was */
    const double k2 = lm_largest_k2(grid, o->inv_dx, o->inv_dy);
    double *const state = g->array[LM_B], *const work = g->next_b;
    double *const arrays[3] = {work, work + g->pitch, work + 2 * g->pitch};
    const dim3 tiles = tile::blocks(g);
    const bool conductors = lm_any_body_is(&b->setup.bodies, LM_BODY_CONDUCTING);
    const int count = conductors ? STAGES_AT_CONDUCTORS : STAGES;
    auto *const kernel = conductors ? relaxation_kernel<true> : relaxation_kernel<false>;
    lm_gpu_check(g, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(tile_arrays)),
                 "shared memory of the relaxation of B");
    if (!g->relaxes)
        g->relaxes = (uint8_t *)lm_gpu_allocate(g, (size_t)tiles.x * tiles.y, "tiles of the relaxation of B");
    if (g->failed)
        return g->failed;
    if (dt > 0 && b->setup.local_eta)
        lm_gpu_halo_refresh(g, &g->array[LM_ETA], 1);
    relaxation_problem a = {domain_of(g),
                            {view_of(g, state),
                             external_of(g),
                             dt > 0 ? g->array[LM_ETA] : NULL,
                             lm_most_in_substeps(o),
                             lm_relaxation_share(dt, stages, k2),
                             {g->solid, g->node, g->array[LM_PER_DENSITY]},
                             g->sides,
                             grid->nx,
                             grid->ny,
                             o->inv_dx,
                             o->inv_dy}};
    a.nodes = {g->raw, (uint16_t *)(g->raw + 3 * g->pitch), g->relaxes};
    a.to = {state, work};
    node_kernel<<<tiles, RELAXATION_THREADS, 0, g->stream>>>(a.d, a.f, a.nodes);
    for (a.first = 1; a.first <= stages; a.first += count) {
        for (int k = 0; k < count; k++)
            a.stage[k] = lm_relaxation_stage(a.first + k, k2);
        a.from = a.to;
        a.to = a.to.even == state ? results{g->spare, g->spare + 3 * g->pitch} : results{state, work};
        kernel<<<tiles, RELAXATION_THREADS, sizeof(tile_arrays), g->stream>>>(a);
        if ((a.first + count - 1) % LM_RELAXATION_EXCHANGE == 0) {
            lm_gpu_halo_refresh(g, g->array + LM_B, 3);
            lm_gpu_halo_refresh(g, arrays, 3);
        }
    }
    return LM_GPU_LAUNCHED(g, "the relaxation of B");
}
