/* CUDA backend: the particle pass. Compiled for each precision; the bodies are in larmor/physics/particles/.
 *
 * A block takes one chunk of a tile. A chunk has at most LM_CHUNK particles, so that int32 sums cannot overflow.
 * - The block copies the fields around the tile to shared memory, in the precision of the particles.
 * - It goes through the chunk once, a thread a particle, and loads the next particle ahead. Particles are sorted by
 *   cell: accesses are coalesced, and lanes that read the same nodes share one access.
 * - It adds the integer moments with native int32 atomics in shared memory, into several copies, and adds these to the
 *   grid with one 64-bit atomic a node.
 * - Particles too far from their tile (strays) go to a list. A second, small kernel passes them on the direct path.
 * - On many ranks with NCCL, the tiles at the edge of the own cells have a stream of their own. The ranks exchange the
 *   sums of these tiles there, while the pass over the other tiles is under way.
 *
 * Rate of a whole step: 39.5e9 particle-steps/s in double and 57.6e9 in single precision (CIC, 1024 x 1024 cells, 128
 * particles a cell; one NVIDIA H200, 2026-11-21, commit 34d4a2f; docs/performance/results.md).
 */
#include "particles/collisions.cuh"

#include "core/early.cuh"
#include "core/halo.cuh"

namespace
{

/* There are three kinds of each kernel: PERIODIC knows of no surfaces; OPEN knows walls and bodies; COLLIDING also has
 * collisions. */
enum kind { PERIODIC, OPEN, COLLIDING };

/* A block of the pass: its threads, how many blocks share a multiprocessor, and how many copies of the moments a block
 * keeps. Lane l of a warp adds to copy l % COPIES, and each copy has its own banks of shared memory. So lanes whose
 * particles lie in one cell wait for each other less often. More copies leave memory for fewer blocks. THREADS, BLOCKS
 * and COPIES are the fastest of some twenty choices on an H200. Collisions take more registers, so fewer blocks share a
 * multiprocessor: COLLIDING_BLOCKS where ions only stop and scatter, ALL_BLOCKS of ALL_THREADS with all kinds of
 * collisions. No kernel spills with them. */
template <int ORDER, int T> struct pass_block;
#if LM_PRECISION == 32
template <> struct pass_block<1, 8> {
    enum { THREADS = 256, BLOCKS = 5, COPIES = 8, COLLIDING_BLOCKS = 4, ALL_THREADS = 256, ALL_BLOCKS = 3 };
};
template <> struct pass_block<2, 8> {
    enum { THREADS = 320, BLOCKS = 4, COPIES = 16, COLLIDING_BLOCKS = 2, ALL_THREADS = 320, ALL_BLOCKS = 2 };
};
template <> struct pass_block<1, 16> {
    enum { THREADS = 256, BLOCKS = 3, COPIES = 8, COLLIDING_BLOCKS = 2, ALL_THREADS = 320, ALL_BLOCKS = 2 };
};
template <> struct pass_block<2, 16> {
    enum { THREADS = 320, BLOCKS = 3, COPIES = 8, COLLIDING_BLOCKS = 2, ALL_THREADS = 320, ALL_BLOCKS = 2 };
};
#else
template <> struct pass_block<1, 8> {
    enum { THREADS = 192, BLOCKS = 4, COPIES = 8, COLLIDING_BLOCKS = 4, ALL_THREADS = 256, ALL_BLOCKS = 2 };
};
template <> struct pass_block<2, 8> {
    enum { THREADS = 192, BLOCKS = 3, COPIES = 16, COLLIDING_BLOCKS = 3, ALL_THREADS = 256, ALL_BLOCKS = 2 };
};
template <> struct pass_block<1, 16> {
    enum { THREADS = 192, BLOCKS = 3, COPIES = 4, COLLIDING_BLOCKS = 3, ALL_THREADS = 256, ALL_BLOCKS = 2 };
};
template <> struct pass_block<2, 16> {
    enum { THREADS = 256, BLOCKS = 2, COPIES = 8, COLLIDING_BLOCKS = 2, ALL_THREADS = 384, ALL_BLOCKS = 1 };
};
#endif

template <int ORDER, int T, bool STOPPING_ONLY>
constexpr int threads_of = STOPPING_ONLY ? pass_block<ORDER, T>::THREADS : pass_block<ORDER, T>::ALL_THREADS;

/* Shared memory of a block of the pass: copies of the sums of quanta, fields, number of strays. */
template <int ORDER, int T> struct pass_store {
    enum { COPIES = pass_block<ORDER, T>::COPIES, SUMS = LM_MOMENTS * window<T>::AREA };
    int32_t quanta[SUMS * COPIES];
    window<T> win;
    struct stray_list strays;
};

/* What a pass needs for surfaces and collisions: nothing in a periodic domain. */
template <enum kind KIND> struct pass_extras {
    struct lm_surfaces surfaces;
    const uint8_t *tile_has_body; /* NULL without bodies */
};
template <> struct pass_extras<PERIODIC> {
};
template <> struct pass_extras<COLLIDING> : pass_extras<OPEN> {
    struct collider collider;
};

__device__ __forceinline__ bool has_body(const pass_extras<OPEN> &around, uint32_t tile)
{
    return around.tile_has_body && around.tile_has_body[tile];
}

__device__ __forceinline__ bool has_body(const pass_extras<PERIODIC> &, uint32_t)
{
    return false;
}

__device__ __forceinline__ const struct lm_surfaces *surfaces_of(const pass_extras<OPEN> &around)
{
    return &around.surfaces;
}

__device__ __forceinline__ const struct lm_surfaces *surfaces_of(const pass_extras<PERIODIC> &)
{
    return NULL;
}

/* The pass over one chunk: the body of the two kernels below. */
template <int ORDER, int T, enum kind KIND, bool STOPPING_ONLY = true>
__device__ __forceinline__ void pass_chunk(const tile_particles &h, const fields &f, const struct lm_step &step,
                                           lm_u64 *sums, lm_u64 *speed2_max, lm_u64 *strays,
                                           const pass_extras<KIND> &around)
{
    enum { WIDTH = window<T>::WIDTH, AREA = window<T>::AREA, COPIES = pass_block<ORDER, T>::COPIES };
    enum { STRIDE = threads_of<ORDER, T, STOPPING_ONLY> };
    constexpr bool WALLS = KIND != PERIODIC, COLLIDES = KIND == COLLIDING;
    extern __shared__ int4 shared[];
    pass_store<ORDER, T> &store = *(pass_store<ORDER, T> *)shared;
    auto &collisions = *(collide_store<T, STOPPING_ONLY> *)(&store + 1); /* only where particles collide */
    const struct lm_gpu_chunk c = chunk_of(h);
    if (c.first == c.last)
        return;
    uint32_t k = aligned(c.first) + threadIdx.x;
    struct lm_particle next = particle_at(h.a, min(k, c.last - 1));
    const struct lm_footprint foot = footprint_of<T, WALLS>(h, c.tile);
    const bool is_free = !WALLS || (!foot.at_wall && !has_body(around, c.tile));
    const struct lm_near near = {&h.t, surfaces_of(around), T, (int)c.tile};
    struct lm_window win = fill_window<ORDER, T, WALLS>(store.win, h, foot, f);
    clear_store(store);
    if constexpr (COLLIDES)
        begin_collisions(collisions, around.collider, h, around.surfaces.place, foot, f.stride);
    __syncthreads();
    unsigned copy = threadIdx.x % COPIES;
    asm("" : "+r"(copy)); /* otherwise the addition below becomes an OR, and addresses cost twice as much */
    int32_t *origin = store.quanta + window<T>::ORIGIN * COPIES + copy;
    lm_ufix speed2 = 0;
    gas_transfer transfer = {};
    const auto stray = [&](uint32_t number) { h.slot[c.first + atomicAdd(&store.strays.count, 1u)] = number; };
    for (; k < c.last; k += STRIDE) {
        struct lm_particle p = next;
        next = particle_at(h.a, min(k + STRIDE, c.last - 1));
        if (k < c.first)
            continue;
        bool is_near = lm_in_window(ORDER, p.x, p.y, T);
        struct lm_local_fields felt; /* both parts of the push of a particle that collides need them */
        if constexpr (COLLIDES) {
            if (is_near) {
                lm_gather_fields(ORDER, &win, p.x, p.y, felt.e, felt.b);
                is_near = collide_near<ORDER>(collisions, around.collider, felt, step.kick, p, transfer);
            }
        }
        if (!is_near) {
            stray(k - c.first);
            continue;
        }
        struct lm_deposit_places at;
        if (!lm_pass_near(ORDER, is_free, COLLIDES ? &felt : NULL, &p, &win, &step, &near, &at)) {
            stray((k - c.first) | (COLLIDES ? COLLIDED : 0));
            continue;
        }
#define ADD(d, i, j, quanta) atomicAdd(&origin[((d)*AREA + (j)*WIDTH + (i)) * COPIES], quanta)
        LM_DEPOSIT_PASS(ORDER, at, p.vx, p.vy, p.vz, step.current_scale, ADD);
#undef ADD
        put_particle(h.a, k, p);
        lm_ufix bits = lm_real_bits(lm_speed2(&p));
        speed2 = bits > speed2 ? bits : speed2;
    }
    lm_warp_max(speed2_max, lm_bits((double)lm_real_from_bits(speed2)));
    __syncthreads();
    flush_quanta<T>(store, h, footprint_of<T, WALLS>(h, c.tile), sums);
    if constexpr (COLLIDES)
        flush_gas_transfer(collisions, around.collider, (size_t)h.t.cells_x * h.t.cells_y, transfer);
    list_strays(store.strays, h, strays);
}

template <int ORDER, int T, enum kind KIND>
__global__ void __launch_bounds__(pass_block<ORDER, T>::THREADS, pass_block<ORDER, T>::BLOCKS - (KIND == OPEN))
    pass_kernel(tile_particles h, fields f, struct lm_step step, lm_u64 *sums, lm_u64 *speed2_max, lm_u64 *strays,
                const __grid_constant__ pass_extras<KIND> around)
{
    allow_next();
    pass_chunk<ORDER, T, KIND>(h, f, step, sums, speed2_max, strays, around);
}

template <int ORDER, int T, bool STOPPING_ONLY>
__global__ void __launch_bounds__(threads_of<ORDER, T, STOPPING_ONLY>, STOPPING_ONLY
                                                                           ? pass_block<ORDER, T>::COLLIDING_BLOCKS
                                                                           : pass_block<ORDER, T>::ALL_BLOCKS)
    collide_kernel(tile_particles h, fields f, struct lm_step step, lm_u64 *sums, lm_u64 *speed2_max, lm_u64 *strays,
                   const __grid_constant__ pass_extras<COLLIDING> around)
{
    pass_chunk<ORDER, T, COLLIDING, STOPPING_ONLY>(h, f, step, sums, speed2_max, strays, around);
}

/* Number n in the list of strays. Fills m.end: with a channel >= 0 if the particle has left. Returns false for a
 * particle that had left before this pass. */
template <int ORDER, enum kind KIND>
__device__ bool pass_stray(const tile_particles &h, const fields &f, const struct lm_step &step, const pass_sinks &b,
                           const pass_extras<KIND> &around, lm_u64 n, struct lm_stray_step &m)
{
    constexpr bool WALLS = KIND != PERIODIC;
    const uint32_t k = h.stray[n];
    const int tile = (int)(h.stray_tile[n] & ~COLLIDED);
    const struct lm_particle p = particle_at(h.a, k);
    if (WALLS && p.x == LM_GONE)
        return false;
    struct lm_stray s;
    struct lm_window win = patch_of(ORDER, f, h.t, tile, p, s);
    struct lm_local_fields felt;
    if constexpr (KIND == COLLIDING) {
        lm_gather_fields(ORDER, &win, s.p.x, s.p.y, felt.e, felt.b);
        m.end.channel = collide_stray<ORDER>(h, around.collider, around.surfaces.place, s, felt, step.kick, f.stride,
                                             h.stray_tile[n] & COLLIDED);
        if (m.end.channel >= 0) {
            m.end.hits = 0;
            m.end.vx = s.p.vx;
            m.end.vy = s.p.vy;
            m.end.vz = s.p.vz;
            put_particle(h.a, k, {LM_GONE, p.y, 0, 0, 0});
            return true;
        }
    }
    lm_pass_stray(ORDER, KIND == COLLIDING ? &felt : NULL, &m, &s, &win, &step, WALLS, surfaces_of(around), &h.t);
    add_current<ORDER, WALLS>(h, b, step, m.mid);
    if (m.end.channel < 0)
        add_density<ORDER, WALLS>(h, b, m.end);
    put_particle(h.a, k, lm_stray_stored(&p, &m.end));
    return true;
}

/* The direct path: each of the *strays particles of the list gathers from the whole grid and is deposited on it, a
 * thread each. */
template <int ORDER, enum kind KIND>
__global__ void stray_kernel(tile_particles h, fields f, struct lm_step step, pass_sinks b, const lm_u64 *strays,
                             const __grid_constant__ pass_extras<KIND> around)
{
    await_last();
    allow_next();
    const lm_u64 count = *strays;
    lm_u64 speed2 = 0;
    for (lm_u64 first = blockIdx.x * (lm_u64)THREADS; first < count; first += (lm_u64)gridDim.x * THREADS) {
        const lm_u64 n = first + threadIdx.x;
        struct lm_stray_step m;
        const bool flies = n < count && pass_stray<ORDER, KIND>(h, f, step, b, around, n, m);
        if (flies && m.end.channel < 0)
            raise(speed2, lm_flight_speed2_bits(&m.end));
        if (KIND == PERIODIC)
            continue;
        const int channel = flies ? m.end.channel : -1;
        struct lm_tally t = {};
        if (flies)
            book_hits(b, m.end);
        if (channel >= 0)
            t = lm_tally_of(&b.units, (double)m.end.vx, (double)m.end.vy, (double)m.end.vz);
        lm_warp_sum(&b.tallies->gone, channel >= 0);
        book_lost(b, channel, t);
    }
    lm_warp_max(&b.control->speed2, speed2);
}

/* A pass, ready to be launched. */
struct pass_call : direct_call {
    struct collider collider;
    cudaStream_t edge; /* for the edge, whose sums the ranks then exchange; NULL: all particles at once */
};

pass_call call_of(struct lm_gpu *g, int species, const struct lm_pass *pass)
{
    const direct_call c = direct_call_of(g, species, pass);
    return {c, collider_of(g, species, pass, c.b), NULL};
}

template <enum kind KIND> pass_extras<KIND> around_of(const struct lm_gpu *g, const pass_call &c)
{
    pass_extras<KIND> around;
    if constexpr (KIND != PERIODIC) {
        around.surfaces = c.surfaces;
        around.tile_has_body = g->tile_has_body;
    }
    if constexpr (KIND == COLLIDING)
        around.collider = c.collider;
    return around;
}

template <int ORDER, int T, enum kind KIND, bool STOPPING_ONLY> auto kernel_of()
{
    if constexpr (KIND == COLLIDING)
        return collide_kernel<ORDER, T, STOPPING_ONLY>;
    else
        return pass_kernel<ORDER, T, KIND>;
}

/* The particles of the tiles that are not at the edge, with a list of strays of their own. */
tile_particles interior_of(const all_particles &h, const struct lm_gpu_species *s)
{
    tile_particles interior = h;
    interior.chunk += s->listed.edge_chunks;
    interior.stray += h.entered + s->listed.edge_particles;
    interior.stray_tile += h.entered + s->listed.edge_particles;
    return interior;
}

template <int ORDER, int T, enum kind KIND, bool STOPPING_ONLY = true>
int launch_pass(struct lm_gpu *g, const struct lm_gpu_species *s, const pass_call &c)
{
    const auto collision_bytes = collide_store<T, STOPPING_ONLY>::bytes; /* where they collide */
    const size_t own = sizeof(pass_store<ORDER, T>), most = KIND == COLLIDING ? collision_bytes(TRANSFERS) : 0;
    const size_t bytes = own + (KIND == COLLIDING ? collision_bytes(c.collider.received) : 0);
    auto kernel = kernel_of<ORDER, T, KIND, STOPPING_ONLY>();
    static const cudaError_t allowed = /* asked once, not in every step */
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)(own + most < g->shared_bytes ? own + most : g->shared_bytes));
    lm_gpu_check(g, allowed, "shared memory of the pass");
    const pass_extras<KIND> around = around_of<KIND>(g, c);
    const auto launch = [&](const tile_particles &h, unsigned blocks, lm_u64 *strays, cudaStream_t stream) {
        if (blocks > 0)
            kernel<<<blocks, threads_of<ORDER, T, STOPPING_ONLY>, bytes, stream>>>(
                h, c.f, c.step, c.b.sums, &c.b.control->speed2, strays, around);
        LM_GPU_LAUNCHED(g, "particle pass");
        launch_early(g, lm_gpu_is_small(g), (unsigned)g->processors * 3, THREADS, 0, stream, stray_kernel<ORDER, KIND>,
                     h, c.f, c.step, c.b, strays, around);
        return LM_GPU_LAUNCHED(g, "pass of strays");
    };
    if (!c.edge)
        return launch(c.h, s->blocks, &c.b.control->strays, g->stream);
    launch(c.h, s->listed.edge_chunks, &c.b.control->edge_strays, c.edge);
    return launch(interior_of(c.h, s), s->listed.chunks - s->listed.edge_chunks, &c.b.control->strays, g->stream);
}

template <int ORDER, enum kind KIND, bool STOPPING_ONLY = true>
int launch_tiles(struct lm_gpu *g, const struct lm_gpu_species *s, const pass_call &c)
{
    return g->base.setup.tile == 8 ? launch_pass<ORDER, 8, KIND, STOPPING_ONLY>(g, s, c)
                                   : launch_pass<ORDER, 16, KIND, STOPPING_ONLY>(g, s, c);
}

template <int ORDER>
int launch_kind(struct lm_gpu *g, const struct lm_gpu_species *s, const pass_call &c, bool collides)
{
    return collides && c.collider.stopping_only ? launch_tiles<ORDER, COLLIDING>(g, s, c)
           : collides                           ? launch_tiles<ORDER, COLLIDING, false>(g, s, c)
           : g->open || s->collides             ? launch_tiles<ORDER, OPEN>(g, s, c)
                                                : launch_tiles<ORDER, PERIODIC>(g, s, c);
}

int launch_all(struct lm_gpu *g, const struct lm_gpu_species *s, const pass_call &c, bool collides)
{
    list_entered(g, c.h, c.edge ? &c.b.control->edge_strays : &c.b.control->strays, c.edge ? c.edge : g->stream);
    return g->base.setup.shape == LM_LINEAR ? launch_kind<1>(g, s, c, collides) : launch_kind<2>(g, s, c, collides);
}

} // namespace

int LM_P(lm_gpu_pass)(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    lm_gpu_range range("pass");
    struct lm_gpu *g = lm_gpu_of(b);
    const struct lm_gpu_species *s = &g->species[species];
    pass_call c = call_of(g, species, pass);
    const bool collides = pass->collisions != NULL;
    g->counted |= collides;
    g->species[species].collides |= collides;
    lm_gpu_check(g, cudaMemsetAsync(c.b.control, 0, sizeof *c.b.control, g->stream), "pass");
    if (c.collider.gas[0] && s->count > 0)
        lm_gpu_fill_gas(g, pass->collisions->gas);
    if (pass->complete && lm_gpu_halo_has_side(g))
        c.edge = lm_gpu_halo_fork(g);
    if (s->count > 0)
        launch_all(g, s, c, collides);
    return c.edge ? lm_gpu_halo_add_sums_beside(g) : g->failed;
}
