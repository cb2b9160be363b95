/* CUDA backend: particles that go from one rank to another, before a sort, and all particles when the domain is divided
 * anew. Compiled for each precision.
 *
 * Particles that leave are counted for each rank that they go to, then packed in the stored form, with positions in the
 * domain. Before a sort only tiles near the edge of the own cells have such particles, and what comes gets slots behind
 * the sorted particles.
 *
 * Rate of lm_gpu_migrate: 1.3 ms, beside 52 ms for the sort (1.07e9 particles a rank, double precision, two NVIDIA
 * H200, NCCL, 2026-11-23, commit 0374f03).
 */
#include "particles/stored.cuh"

#include <cstdlib>

#include "core/halo.cuh"

namespace
{

/* What tells who owns the cell of a particle. */
struct borders {
    struct lm_cells own; /* cells whose particles stay; none: all particles leave */
    struct lm_place place;
    const int *owner; /* as in struct lm_gpu_neighbours */
    int unit, units_x;
};

borders borders_of(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const struct lm_gpu_neighbours *n = lm_gpu_halo_neighbours(g);
    return {grid->own, grid->place, n->owner, n->unit, n->units_x};
}

/* Whether all particles of a tile are in own cells, since none moves further than LM_HALO_REACH between two sorts. */
__device__ __forceinline__ bool is_far_from_edge(const all_particles &h, const borders &b, int tile)
{
    const int i = tile % h.t.nx * h.t.size, j = tile / h.t.nx * h.t.size;
    return i - LM_HALO_REACH >= b.own.from_x && i + h.t.size + LM_HALO_REACH <= b.own.to_x &&
           j - LM_HALO_REACH >= b.own.from_y && j + h.t.size + LM_HALO_REACH <= b.own.to_y;
}

/* Calls body(k, peer, x, y) in all threads of a warp alike. For a thread with a particle that leaves, `peer` is the
 * index of the rank that it goes to, and (x, y) its position in the domain; else it is NOWHERE. */
template <class F> __device__ __forceinline__ void each_leaving(const all_particles &h, const borders &b, F body)
{
    if (blockIdx.x < h.blocks && is_far_from_edge(h, b, (int)h.chunk[blockIdx.x].tile))
        return;
    each_particle(h, [&](bool mine, uint32_t k, int tile) {
        uint32_t peer = NOWHERE;
        int64_t x = 0, y = 0;
        if (mine && h.a.x[k] != LM_GONE) {
            x = lm_global(h.a.x[k], tile % h.t.nx, h.t.size, h.t.cells_x);
            y = lm_global(h.a.y[k], tile / h.t.nx, h.t.size, h.t.cells_y);
            const int i = (int)(x >> LM_FRACTION_BITS), j = (int)(y >> LM_FRACTION_BITS);
            if (i < b.own.from_x || i >= b.own.to_x || j < b.own.from_y || j >= b.own.to_y) {
                x = lm_domain_position(&b.place, 0, x);
                y = lm_domain_position(&b.place, 1, y);
                const int column = (int)(x >> LM_FRACTION_BITS) / b.unit, row = (int)(y >> LM_FRACTION_BITS) / b.unit;
                peer = (uint32_t)b.owner[row * b.units_x + column];
            }
        }
        body(k, peer, x, y);
    });
}

__global__ void count_kernel(all_particles h, borders b, uint32_t *count)
{
    each_leaving(h, b, [&](uint32_t, uint32_t peer, int64_t, int64_t) { next_rank(count, peer); });
}

/* The particles that go to one rank, or come from one, in a buffer. */
struct segment {
    uint64_t begin, count, before; /* byte; number; how many are in the segments before it */
};

enum { BYTES_OF_ONE = 2 * sizeof(int64_t) + 3 * sizeof(lm_real) };

__device__ __forceinline__ stored particles_in(char *buffer, const segment &s)
{
    return stored_at(buffer + s.begin, s.count);
}

__global__ void pack_kernel(all_particles h, borders b, uint32_t *done, const segment *segments, char *buffer)
{
    each_leaving(h, b, [&](uint32_t k, uint32_t peer, int64_t x, int64_t y) {
        const uint32_t n = next_rank(done, peer);
        if (peer == NOWHERE)
            return;
        const stored to = particles_in(buffer, segments[peer]);
        const struct lm_particle p = particle_at(h.a, k);
        to.x[n] = x;
        to.y[n] = y;
        to.vx[n] = p.vx;
        to.vy[n] = p.vy;
        to.vz[n] = p.vz;
        put_particle(h.a, k, {LM_GONE, p.y, 0, 0, 0});
    });
}

/* The shift from cells of the domain to own cells of the arrays. */
struct shift {
    int64_t x, y;
};

shift shift_of(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    return {(int64_t)(grid->own.from_x - lm_domain_x(&grid->place, grid->own.from_x)) * LM_ONE,
            (int64_t)(grid->own.from_y - lm_domain_y(&grid->place, grid->own.from_y)) * LM_ONE};
}

/* blockIdx.y is the segment. The first particle of all goes to slot `first`. */
__global__ void unpack_kernel(arrays a, struct lm_tiling t, shift by, const segment *segments, char *buffer,
                              uint32_t first, uint32_t *home)
{
    const segment s = segments[blockIdx.y];
    const stored from = particles_in(buffer, s);
    for (uint64_t n = blockIdx.x * (uint64_t)THREADS + threadIdx.x; n < s.count; n += gridDim.x * (uint64_t)THREADS) {
        int column, row;
        const lm_fix x = lm_local(from.x[n] + by.x, t.size, &column), y = lm_local(from.y[n] + by.y, t.size, &row);
        put_particle(a, first + (uint32_t)(s.before + n), {x, y, from.vx[n], from.vy[n], from.vz[n]});
        home[s.before + n] = (uint32_t)(row * t.nx + column);
    }
}

/* --- the host's part --- */

/* What goes out to the ranks in a list, or comes in from them. `rank` is borrowed; end_traffic frees the rest. */
struct traffic {
    int ranks;
    const int *rank;
    uint64_t *count;    /* [ranks] */
    segment *segments;  /* [ranks] */
    uint64_t all, size; /* particles; bytes */
};

traffic traffic_with(int ranks, const int *rank)
{
    traffic t = {ranks,
                 rank,
                 (uint64_t *)calloc((size_t)ranks + 1, sizeof *t.count),
                 (segment *)calloc((size_t)ranks + 1, sizeof *t.segments),
                 0,
                 0};
    if (!t.count || !t.segments)
        lm_ranks_abort(LM_FAILED, "not enough memory for particles that go from one rank to another");
    return t;
}

/* Places segments for `count` particles one after the other, at multiples of 8 bytes, from byte `begin` on. */
void lay_out(traffic *t, uint64_t begin)
{
    for (int k = 0; k < t->ranks; k++) {
        t->segments[k] = {begin + t->size, t->count[k], t->all};
        t->size += (t->count[k] * BYTES_OF_ONE + 7) / 8 * 8;
        t->all += t->count[k];
    }
}

void end_traffic(traffic *t)
{
    free(t->count);
    free(t->segments);
}

/* The counts as messages between hosts. */
int list_counts(const traffic *t, struct lm_message *m)
{
    for (int k = 0; k < t->ranks; k++)
        m[k] = {t->rank[k], sizeof *t->count, &t->count[k]};
    return t->ranks;
}

/* The segments in a buffer as messages between GPUs. */
int list_segments(const traffic *t, char *buffer, struct lm_message *m)
{
    int n = 0;
    for (int k = 0; k < t->ranks; k++)
        if (t->count[k] > 0 && t->rank[k] != lm_rank())
            m[n++] = {t->rank[k], t->count[k] * BYTES_OF_ONE, buffer + t->segments[k].begin};
    return n;
}

struct lm_message *new_messages(const traffic *out, const traffic *in)
{
    struct lm_message *m = (struct lm_message *)malloc((size_t)(out->ranks + in->ranks + 1) * sizeof *m);
    if (!m)
        lm_ranks_abort(LM_FAILED, "not enough memory for messages");
    return m;
}

void exchange_counts(const traffic *out, traffic *in)
{
    struct lm_message *m = new_messages(out, in);
    const int sent = list_counts(out, m), received = list_counts(in, m + sent);
    lm_ranks_exchange(m, sent, m + sent, received);
    free(m);
}

void exchange_segments(struct lm_gpu *g, const traffic *out, char *from, const traffic *in, char *to)
{
    struct lm_message *m = new_messages(out, in);
    const int sent = list_segments(out, from, m), received = list_segments(in, to, m + sent);
    lm_gpu_transport_exchange(g, m, sent, m + sent, received, g->stream);
    free(m);
}

void copy_to_device(struct lm_gpu *g, void *to, const void *from, size_t bytes)
{
    lm_gpu_check(g, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, g->stream), "migration");
}

/* Counts the particles that leave; `counters` is on the device. */
void count_leaving(struct lm_gpu *g, int species, const borders &b, uint32_t *counters, traffic *out)
{
    uint32_t *host = (uint32_t *)calloc((size_t)out->ranks + 1, sizeof *host);
    const size_t bytes = (size_t)out->ranks * sizeof *host;
    if (!host)
        lm_ranks_abort(LM_FAILED, "not enough memory for particles that go from one rank to another");
    lm_gpu_check(g, cudaMemsetAsync(counters, 0, 2 * bytes, g->stream), "migration");
    count_kernel<<<all_blocks(&g->species[species]), THREADS, 0, g->stream>>>(particles_of(g, species), b, counters);
    LM_GPU_LAUNCHED(g, "particles that leave");
    lm_gpu_check(g, cudaMemcpyAsync(host, counters, bytes, cudaMemcpyDeviceToHost, g->stream), "migration");
    lm_gpu_wait(g, "particles that leave");
    for (int k = 0; k < out->ranks; k++)
        out->count[k] = host[k];
    free(host);
}

void place_arrivals(struct lm_gpu *g, int species, const traffic &in, const segment *segments, char *buffer)
{
    struct lm_gpu_species *s = &g->species[species];
    uint64_t most = 0;
    for (int k = 0; k < in.ranks; k++)
        most = in.count[k] > most ? in.count[k] : most;
    const dim3 blocks(particle_blocks(most), (unsigned)in.ranks);
    unpack_kernel<<<blocks, THREADS, 0, g->stream>>>(particles_of(g, species).a, g->tiling, shift_of(g), segments,
                                                     buffer, (uint32_t)s->count, s->home + (s->count - s->sorted));
    LM_GPU_LAUNCHED(g, "particles that come");
    s->count += in.all;
}

} // namespace

int LM_P(lm_gpu_migrate)(struct lm_backend *b, int species, uint64_t *gone, uint64_t *come)
{
    lm_gpu_range range("migration");
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    const struct lm_gpu_neighbours *n = lm_gpu_halo_neighbours(g);
    const borders at = borders_of(g);
    traffic out = traffic_with(n->out, n->out_rank), in = traffic_with(n->in, n->in_rank);
    /* In the buffer: counters, descriptions of the segments, particles. */
    const size_t counters = (2 * (size_t)n->out * sizeof(uint32_t) + 7) / 8 * 8;
    const size_t head = counters + (size_t)(n->out + n->in) * sizeof(segment);
    count_leaving(g, species, at, (uint32_t *)lm_gpu_halo_buffer(g, head), &out);
    exchange_counts(&out, &in);
    lay_out(&out, head);
    lay_out(&in, head + out.size);
    if (in.all > 0 && LM_P(lm_gpu_reserve_arrivals)(b, species, in.all)) /* soon no rank will have them any more */
        lm_ranks_abort(LM_FAILED, lm_error());
    char *const buffer = (char *)lm_gpu_halo_buffer(g, head + out.size + in.size);
    segment *const segments = (segment *)(buffer + counters);
    lm_gpu_check(g, cudaMemsetAsync(buffer, 0, counters, g->stream), "migration");
    copy_to_device(g, segments, out.segments, (size_t)n->out * sizeof *segments);
    copy_to_device(g, segments + n->out, in.segments, (size_t)n->in * sizeof *segments);
    if (out.all > 0)
        pack_kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(particles_of(g, species), at, (uint32_t *)buffer,
                                                              segments, buffer);
    LM_GPU_LAUNCHED(g, "particles that leave");
    s->gone += out.all;
    exchange_segments(g, &out, buffer, &in, buffer);
    if (in.all > 0)
        place_arrivals(g, species, in, segments + n->out, buffer);
    lm_gpu_wait(g, "migration"); /* before the buffer serves others, and for what has been copied from the host */
    *gone += out.all;
    *come += in.all;
    end_traffic(&out);
    end_traffic(&in);
    return g->failed;
}

/* --- a new division --- */

/* The particles that a rank has received, with positions in the domain. */
struct lm_parcel {
    char *memory; /* on the device */
    traffic in;
    int *ranks;
};

namespace
{

/* The memory of the particles of a species. */
void free_particles(struct lm_gpu *g, struct lm_gpu_species *s)
{
    void **const list[] = {
        &s->x, &s->y, &s->vx, &s->vy, &s->vz, &s->scratch, (void **)&s->slot, (void **)&s->rank, (void **)&s->home};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        lm_gpu_free(g, *list[k]);
        *list[k] = NULL;
    }
    s->count = s->sorted = s->capacity = s->gone = s->home_capacity = 0;
}

/* The owners of the units of a division, on the device. */
int *upload_owners(struct lm_gpu *g, const struct lm_partition *to)
{
    const size_t bytes = (size_t)to->units_x * (size_t)((to->ny + to->unit - 1) / to->unit) * sizeof *to->owner;
    int *owner = (int *)lm_gpu_allocate(g, bytes, "a new division");
    if (owner)
        copy_to_device(g, owner, to->owner, bytes);
    return owner;
}

void *device_memory(size_t bytes)
{
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes + 8) != cudaSuccess)
        lm_ranks_abort(LM_FAILED, "the GPU's memory is full in a new division of the domain (run.rebalance)");
    return memory;
}

/* Packs all particles for their new owners, and exchanges them. */
void hand_over(struct lm_gpu *g, int species, const borders &at, uint32_t *counters, const traffic &out,
               struct lm_parcel *p)
{
    struct lm_gpu_species *s = &g->species[species];
    const size_t bytes = (size_t)out.ranks * sizeof(segment);
    char *const packed = (char *)device_memory(out.size);
    segment *const segments = (segment *)device_memory(bytes);
    copy_to_device(g, segments, out.segments, bytes);
    lm_gpu_check(g, cudaMemsetAsync(counters, 0, (size_t)out.ranks * sizeof *counters, g->stream), "a new division");
    if (s->count > 0)
        pack_kernel<<<all_blocks(s), THREADS, 0, g->stream>>>(particles_of(g, species), at, counters, segments, packed);
    LM_GPU_LAUNCHED(g, "a new division");
    lm_gpu_wait(g, "a new division");
    free_particles(g, s);
    p->memory = (char *)device_memory(p->in.size);
    const int self = lm_rank();
    lm_gpu_check(g,
                 cudaMemcpyAsync(p->memory + p->in.segments[self].begin, packed + out.segments[self].begin,
                                 out.count[self] * BYTES_OF_ONE, cudaMemcpyDeviceToDevice, g->stream),
                 "a new division");
    exchange_segments(g, &out, packed, &p->in, p->memory);
    lm_gpu_wait(g, "a new division");
    cudaFree(packed);
    cudaFree(segments);
}

/* Turns positions in the domain into positions relative to the arrays. */
__global__ void shift_kernel(stored p, uint64_t count, shift by)
{
    const uint64_t n = blockIdx.x * (uint64_t)THREADS + threadIdx.x;
    if (n >= count)
        return;
    p.x[n] += by.x;
    p.y[n] += by.y;
}

void end_parcel(struct lm_parcel *p)
{
    cudaFree(p->memory);
    end_traffic(&p->in);
    free(p->ranks);
    free(p);
}

/* What departs and what comes in place of it. */
struct departure {
    struct lm_parcel *parcel;
    traffic leaving;
    int *owner;
    borders at;
    uint32_t *counters;
};

departure departure_to(struct lm_backend *b, int species, const struct lm_partition *to)
{
    struct lm_gpu *g = lm_gpu_of(b);
    const int ranks = lm_rank_count();
    struct lm_parcel *p = (struct lm_parcel *)calloc(1, sizeof *p);
    int *all = (int *)malloc((size_t)ranks * sizeof *all);
    if (!p || !all)
        lm_ranks_abort(LM_FAILED, "not enough memory for a new division");
    for (int k = 0; k < ranks; k++)
        all[k] = k;
    *p = {NULL, traffic_with(ranks, all), all};
    int *const owner = upload_owners(g, to);
    departure d = {p,
                   traffic_with(ranks, all),
                   owner,
                   {{0, 0, 0, 0}, b->setup.grid.place, owner, to->unit, to->units_x},
                   (uint32_t *)lm_gpu_halo_buffer(g, 2 * (size_t)ranks * sizeof(uint32_t))};
    if (g->species[species].count > 0)
        count_leaving(g, species, d.at, d.counters, &d.leaving);
    exchange_counts(&d.leaving, &p->in);
    lay_out(&d.leaving, 0);
    lay_out(&p->in, 0);
    return d;
}

void end_departure(struct lm_gpu *g, departure *d)
{
    lm_gpu_free(g, d->owner);
    end_traffic(&d->leaving);
}

double bytes_of_particles(double capacity)
{
    return capacity * (6 * sizeof(lm_real) + 2 * sizeof(uint32_t));
}

double area_of(const struct lm_cells *of)
{
    return (double)(of->to_x - of->from_x) * (double)(of->to_y - of->from_y);
}

/* The most bytes that the arrays of the grid, with their halo, take on the way to the next backend. */
double bytes_of_arrays(const struct lm_setup *s, const struct lm_partition *to)
{
    const struct lm_cells *own = &to->own[lm_rank()], held = {own->from_x - to->halo, own->to_x + to->halo,
                                                              own->from_y - to->halo, own->to_y + to->halo};
    return area_of(&held) * (LM_SPECIES_N + s->species_count + 3 * (s->background_count + s->pushed_species)) *
           (double)sizeof(double);
}

/* The bytes of the device that stay free when a division is at its fullest; below 0 where there are too few. `out` and
 * `in`: the bytes of each species that leave and that come; `count`: the particles that come. All other memory is
 * assumed to grow as the cells of the rank do, and the rank is assumed to have the GPU for itself. */
double least_free(const struct lm_gpu *g, const struct lm_partition *to, const double *out, const double *in,
                  const double *count)
{
    const int species = g->base.setup.species_count;
    size_t free_bytes = 0, total = 0;
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        return -1;
    double now = (double)free_bytes, least = now, rest = (double)(total - free_bytes);
    for (int s = 0; s < species; s++) { /* they depart */
        const struct lm_gpu_species *of = &g->species[s];
        const double held = bytes_of_particles((double)of->capacity);
        least = fmin(least, now - out[s] + fmin(0, held - in[s]));
        now += held - in[s];
        rest -= held;
    }
    now -= rest * fmax(0, area_of(&to->own[lm_rank()]) / area_of(&g->base.setup.grid.own) - 1);
    least = fmin(least, now - bytes_of_arrays(&g->base.setup, to)); /* the backend is made beside them */
    for (int s = 0; s < species; s++) {                             /* they arrive */
        const double arrays = bytes_of_particles(count[s] + count[s] / 64);
        least = fmin(least, now - arrays);
        now += in[s] - arrays;
    }
    return least - (double)total / 64; /* the lists of tiles, and what steps add */
}

} // namespace

int LM_P(lm_gpu_may_depart)(struct lm_backend *b, const struct lm_partition *to)
{
    struct lm_gpu *g = lm_gpu_of(b);
    double out[LM_MAX_SPECIES], in[LM_MAX_SPECIES], count[LM_MAX_SPECIES];
    for (int s = 0; s < b->setup.species_count; s++) {
        departure d = departure_to(b, s, to);
        out[s] = (double)d.leaving.size;
        in[s] = (double)d.parcel->in.size;
        count[s] = (double)d.parcel->in.all;
        end_departure(g, &d);
        end_parcel(d.parcel);
    }
    return !lm_ranks_largest(least_free(g, to, out, in, count) < 0);
}

int LM_P(lm_gpu_depart)(struct lm_backend *b, int species, const struct lm_partition *to, struct lm_parcel **out,
                        uint64_t *count)
{
    lm_gpu_range range("departure");
    struct lm_gpu *g = lm_gpu_of(b);
    departure d = departure_to(b, species, to);
    hand_over(g, species, d.at, d.counters, d.leaving, d.parcel);
    end_departure(g, &d);
    *count = d.parcel->in.all;
    *out = d.parcel;
    return g->failed;
}

int LM_P(lm_gpu_arrive)(struct lm_backend *b, int species, struct lm_parcel *p)
{
    lm_gpu_range range("arrival");
    struct lm_gpu *g = lm_gpu_of(b);
    LM_P(lm_gpu_reserve)(b, species, p->in.all);
    for (int phase = LM_COUNT_PARTICLES; phase <= LM_PLACE_PARTICLES && !g->failed; phase++)
        for (int k = 0; k < p->in.ranks; k++) {
            const uint64_t count = p->in.count[k];
            const stored from = stored_at(p->memory + p->in.segments[k].begin, count);
            if (phase == LM_COUNT_PARTICLES && count > 0)
                shift_kernel<<<particle_blocks(count), THREADS, 0, g->stream>>>(from, count, shift_of(g));
            LM_P(lm_gpu_put_particles)
            (b, species, (enum lm_put_phase)phase, count, {from.x, from.y, from.vx, from.vy, from.vz});
        }
    end_parcel(p);
    return g->failed;
}
