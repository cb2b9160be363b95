/* CUDA backend: the halo. A kernel packs the cells that other ranks need, the ranks exchange them (transport.cu), and a
 * kernel unpacks what has come. A thread takes a number of a cell.
 *
 * Rate: the halo of three arrays takes 0.07 ms (4096 x 4096 cells a rank, two NVIDIA H200, NCCL, 2026-11-23, commit
 * 0374f03).
 */
#include "core/halo.cuh"

#include <cstdlib>

#include "core/cells.cuh"
#include "larmor/physics/fields/wall.h"

namespace
{

enum { MOST_ARRAYS = 8, TIMED = 64 /* exchanges between two calls of lm_gpu_halo_count_time that are timed */ };

/* Cells of a list, and how many cells of the list are before them. */
struct piece {
    int x, y, nx, ny;
    size_t before;
};

/* A list on the device, and the cells that each peer of it has. */
struct cell_list {
    struct piece *pieces;
    int count, peers;
    int *peer;
    size_t *cells_of, cells, largest; /* of each peer; of all; of the largest piece */
};

/* Arrays of which cells are copied. */
struct cell_arrays {
    lm_u64 *at[MOST_ARRAYS];
    int count, each, first, used; /* numbers of a cell; those that are copied */
    int ghosts;                   /* 1: grid arrays with ghost cells */
};

enum direction { PACK, UNPACK /* grid arrays */, PLACE /* others */, ADD };

/* Index of the first number of a cell. */
__device__ __forceinline__ size_t number_at(const shape &s, const cell_arrays &a, int i, int j)
{
    return a.ghosts ? at(s, i, j) : ((size_t)j * s.nx + i) * a.each + a.first;
}

/* blockIdx.y is the piece. In the buffer each piece has its arrays one after the other. */
template <enum direction WAY>
__global__ void copy_kernel(shape s, int walls_x, int walls_y, const piece *pieces,
                            const __grid_constant__ cell_arrays a, lm_u64 *buffer)
{
    const piece p = pieces[blockIdx.y];
    const unsigned width = (unsigned)(p.nx * a.used), size = width * (unsigned)p.ny, all = size * (unsigned)a.count;
    buffer += p.before * a.count * a.used;
    for (unsigned k = blockIdx.x * THREADS + threadIdx.x; k < all; k += gridDim.x * THREADS) {
        const unsigned rest = k % size, column = rest % width;
        const int i = p.x + (int)(column / a.used), j = p.y + (int)(rest / width), number = (int)(column % a.used);
        lm_u64 *const array = a.at[k / size];
        if (WAY == PACK)
            buffer[k] = array[number_at(s, a, i, j) + number];
        else if (WAY == PLACE)
            array[number_at(s, a, i, j) + number] = buffer[k];
        else if (WAY == ADD)
            atomicAdd(&array[number_at(s, a, i, j) + number], buffer[k]); /* pieces of several peers overlap */
        else
            each_periodic(s, walls_x, walls_y, i, j, [&](unsigned image) { array[image] = buffer[k]; });
    }
}

void run_kernel(struct lm_gpu *g, enum direction way, const cell_list &l, const cell_arrays &a, lm_u64 *buffer,
                cudaStream_t stream)
{
    const struct lm_sides *sides = &g->base.setup.grid.sides;
    const size_t most = l.largest * a.count * a.used;
    const dim3 blocks((unsigned)((most + 4 * THREADS - 1) / (4 * THREADS)), (unsigned)l.count);
    if (l.count == 0)
        return;
    auto kernel = way == PACK    ? copy_kernel<PACK>
                  : way == ADD   ? copy_kernel<ADD>
                  : way == PLACE ? copy_kernel<PLACE>
                                 : copy_kernel<UNPACK>;
    kernel<<<blocks, THREADS, 0, stream>>>(shape_of(g), lm_has_walls(sides, 0), lm_has_walls(sides, 1), l.pieces, a,
                                           buffer);
    LM_GPU_LAUNCHED(g, "the halo");
}

/* One message for each peer of a list, one after the other in the buffer. */
void make_messages(const cell_list &l, size_t numbers, lm_u64 *buffer, struct lm_message *m)
{
    for (int k = 0; k < l.peers; k++) {
        m[k] = {l.peer[k], l.cells_of[k] * numbers * sizeof *buffer, buffer};
        buffer += l.cells_of[k] * numbers;
    }
}

} // namespace

struct lm_gpu_halo {
    cell_list owned, held, shared, added;            /* as in struct lm_halo */
    cell_list owned_at[LM_SIDES], held_at[LM_SIDES]; /* empty but at radiating sides */
    lm_u64 *buffer;
    size_t buffer_numbers;
    struct lm_message *messages;
    struct lm_gpu_neighbours neighbours;
    cudaEvent_t begin[TIMED], end[TIMED];
    int timed, exchanges;
    struct lm_gpu_tile_order tiles;
    cudaStream_t side; /* for the sums of the moments; before the stream where both have work */
    cudaEvent_t fork, done;
    bool has_added, is_awaited; /* the sums have been added beside the stream; the stream has not waited for that yet */
};

namespace
{

/* Buffers for so many numbers. Larger ones replace the old ones, which an exchange may still be using. */
lm_u64 *reserve(struct lm_gpu *g, size_t numbers)
{
    struct lm_gpu_halo *h = g->halo;
    if (numbers <= h->buffer_numbers)
        return h->buffer;
    lm_gpu_wait(g, "the halo");
    lm_gpu_free(g, h->buffer);
    h->buffer = (lm_u64 *)lm_gpu_allocate(g, numbers * sizeof *h->buffer, "the exchange of the halo");
    h->buffer_numbers = numbers;
    if (!h->buffer) /* the others wait for this rank's data */
        lm_ranks_abort(LM_FAILED, lm_error());
    return h->buffer;
}

/* Calls body(), and measures how long the stream is busy with what it queues. */
template <class F> void time_it(struct lm_gpu *g, F body)
{
    struct lm_gpu_halo *h = g->halo;
    const bool is_timed = lm_gpu_transport_is_queued(); /* else lm_ranks_exchange counts the time */
    const int slot = is_timed && h->exchanges++ < TIMED ? h->timed++ : -1;
    if (slot >= 0)
        lm_gpu_check(g, cudaEventRecord(h->begin[slot], g->stream), "the halo");
    body();
    if (slot >= 0)
        lm_gpu_check(g, cudaEventRecord(h->end[slot], g->stream), "the halo");
}

/* Until the exchange beside the stream is done, it uses the buffer and changes the sums. */
void wait_for_side(struct lm_gpu *g)
{
    struct lm_gpu_halo *h = g->halo;
    if (h->is_awaited)
        time_it(g, [&] { lm_gpu_check(g, cudaStreamWaitEvent(g->stream, h->done, 0), "the halo"); });
    h->is_awaited = false;
}

/* Sends the cells of list `from` of this rank, which are those of list `to` of the others. */
void exchange_in(struct lm_gpu *g, cudaStream_t stream, const cell_arrays &a, const cell_list &from,
                 const cell_list &to, enum direction way)
{
    struct lm_gpu_halo *h = g->halo;
    const size_t numbers = (size_t)a.count * a.used;
    lm_u64 *out = reserve(g, (from.cells + to.cells) * numbers), *in = out + from.cells * numbers;
    run_kernel(g, PACK, from, a, out, stream);
    make_messages(from, numbers, out, h->messages);
    make_messages(to, numbers, in, h->messages + from.peers);
    lm_gpu_transport_exchange(g, h->messages, from.peers, h->messages + from.peers, to.peers, stream);
    run_kernel(g, way, to, a, in, stream);
}

int exchange(struct lm_gpu *g, const cell_arrays &a, const cell_list &from, const cell_list &to, enum direction way)
{
    wait_for_side(g);
    time_it(g, [&] { exchange_in(g, g->stream, a, from, to, way); });
    return g->failed;
}

/* The four sums of a cell. */
cell_arrays sums_of(const struct lm_gpu *g)
{
    const size_t cells = g->base.setup.grid.cells;
    return {{g->sums, g->sums + cells, g->sums + 2 * cells, g->sums + 3 * cells}, 4, 1, 0, 1, 0};
}

/* --- the lists --- */

/* Uploads a list and counts the cells of its peers, whose pieces stand together. */
int make_list(struct lm_gpu *g, const struct lm_halo_list *from, cell_list *to)
{
    const size_t most = (size_t)from->count + 1;
    struct piece *pieces = (struct piece *)malloc(most * sizeof *pieces);
    to->peer = (int *)malloc(most * sizeof *to->peer);
    to->cells_of = (size_t *)calloc(most, sizeof *to->cells_of);
    to->pieces = (struct piece *)lm_gpu_allocate(g, most * sizeof *pieces, "the halo");
    if (!pieces || !to->peer || !to->cells_of)
        g->failed = lm_fail(LM_FAILED, "not enough memory for the halo");
    for (int k = 0; k < from->count && !g->failed; k++) {
        const struct lm_halo_piece *p = &from->piece[k];
        const int nx = p->cells.to_x - p->cells.from_x, ny = p->cells.to_y - p->cells.from_y;
        const size_t cells = (size_t)nx * (size_t)ny;
        pieces[k] = {p->cells.from_x, p->cells.from_y, nx, ny, to->cells};
        if (k == 0 || p->peer != to->peer[to->peers - 1])
            to->peer[to->peers++] = p->peer;
        to->cells_of[to->peers - 1] += cells;
        to->cells += cells;
        to->largest = cells > to->largest ? cells : to->largest;
    }
    to->count = from->count;
    if (!g->failed)
        lm_gpu_check(g, cudaMemcpyAsync(to->pieces, pieces, most * sizeof *pieces, cudaMemcpyHostToDevice, g->stream),
                     "the halo");
    lm_gpu_check(g, cudaStreamSynchronize(g->stream), "the halo");
    free(pieces);
    return g->failed;
}

/* The table of owners. */
void list_neighbours(struct lm_gpu *g)
{
    const struct lm_partition *p = g->base.setup.halo->partition;
    const cell_list *held = &g->halo->held, *owned = &g->halo->owned;
    const size_t units = (size_t)p->units_x * (size_t)((p->ny + p->unit - 1) / p->unit);
    int *owner = (int *)malloc((units + 1) * sizeof *owner),
        *to = (int *)lm_gpu_allocate(g, units * sizeof *to, "the halo");
    if (!owner || !to) {
        g->failed = lm_fail(LM_FAILED, "not enough memory for the halo");
        free(owner);
        return;
    }
    for (size_t k = 0; k < units; k++) {
        owner[k] = -1;
        for (int peer = 0; peer < held->peers; peer++)
            owner[k] = p->owner[k] == held->peer[peer] ? peer : owner[k];
    }
    lm_gpu_check(g, cudaMemcpyAsync(to, owner, units * sizeof *to, cudaMemcpyHostToDevice, g->stream), "the halo");
    lm_gpu_check(g, cudaStreamSynchronize(g->stream), "the halo");
    free(owner);
    g->halo->neighbours = {held->peers, owned->peers, held->peer, owned->peer, p->unit, p->units_x, to};
}

/* Whether particles of a tile reach cells of a list before the next sort. */
bool reaches(const struct lm_gpu *g, uint32_t tile, const struct lm_halo_list *l)
{
    const int size = g->tiling.size, x = (int)tile % g->tiling.nx * size, y = (int)tile / g->tiling.nx * size;
    for (int k = 0; k < l->count; k++) {
        const struct lm_cells *c = &l->piece[k].cells;
        if (x - LM_HALO_READ < c->to_x && x + size + LM_HALO_READ > c->from_x && y - LM_HALO_READ < c->to_y &&
            y + size + LM_HALO_READ > c->from_y)
            return true;
    }
    return false;
}

void order_tiles(struct lm_gpu *g)
{
    const uint32_t tiles = (uint32_t)g->tiles;
    const struct lm_halo_list *shared = &g->base.setup.halo->shared;
    uint32_t *order = (uint32_t *)malloc(tiles * sizeof *order), edge = 0, placed = 0,
             *to = (uint32_t *)lm_gpu_allocate(g, tiles * sizeof *to, "the halo");
    if (!order || !to) {
        g->failed = lm_fail(LM_FAILED, "not enough memory for the halo");
        free(order);
        return;
    }
    for (uint32_t t = 0; t < tiles; t++)
        if (reaches(g, t, shared))
            order[edge++] = t;
    placed = edge;
    for (uint32_t t = 0; t < tiles; t++)
        if (!reaches(g, t, shared))
            order[placed++] = t;
    lm_gpu_check(g, cudaMemcpyAsync(to, order, tiles * sizeof *to, cudaMemcpyHostToDevice, g->stream), "the halo");
    lm_gpu_check(g, cudaStreamSynchronize(g->stream), "the halo");
    free(order);
    g->halo->tiles = {to, edge};
}

/* The side's blocks come first, so that messages do not wait for the end of a long kernel. */
void begin_side(struct lm_gpu *g)
{
    struct lm_gpu_halo *h = g->halo;
    int least, greatest;
    lm_gpu_check(g, cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream");
    lm_gpu_check(g, cudaStreamCreateWithPriority(&h->side, cudaStreamNonBlocking, greatest), "stream");
    lm_gpu_check(g, cudaEventCreateWithFlags(&h->fork, cudaEventDisableTiming), "event");
    lm_gpu_check(g, cudaEventCreateWithFlags(&h->done, cudaEventDisableTiming), "event");
}

void end_side(struct lm_gpu_halo *h)
{
    if (h->fork)
        cudaEventDestroy(h->fork);
    if (h->done)
        cudaEventDestroy(h->done);
    if (h->side)
        cudaStreamDestroy(h->side);
}

void end_list(cell_list *l)
{
    free(l->peer);
    free(l->cells_of);
}

} // namespace

int lm_gpu_halo_begin(struct lm_gpu *g)
{
    const struct lm_halo *from = g->base.setup.halo;
    if (!from || g->failed)
        return g->failed;
    struct lm_gpu_halo *h = g->halo = (struct lm_gpu_halo *)calloc(1, sizeof *h);
    if (!h)
        return g->failed = lm_fail(LM_FAILED, "not enough memory for the halo");
    make_list(g, &from->owned, &h->owned);
    make_list(g, &from->held, &h->held);
    make_list(g, &from->shared, &h->shared);
    make_list(g, &from->added, &h->added);
    for (int side = 0; side < LM_SIDES; side++)
        if (from->radiates[side]) {
            make_list(g, &from->owned_at[side], &h->owned_at[side]);
            make_list(g, &from->held_at[side], &h->held_at[side]);
        }
    h->messages =
        (struct lm_message *)malloc((size_t)(2 * g->base.setup.halo->partition->ranks + 1) * sizeof *h->messages);
    if (!h->messages)
        g->failed = lm_fail(LM_FAILED, "not enough memory for the halo");
    if (!g->failed)
        list_neighbours(g);
    if (!g->failed)
        order_tiles(g);
    begin_side(g);
    for (int k = 0; k < TIMED; k++) {
        lm_gpu_check(g, cudaEventCreate(&h->begin[k]), "event");
        lm_gpu_check(g, cudaEventCreate(&h->end[k]), "event");
    }
    return g->failed;
}

const struct lm_gpu_neighbours *lm_gpu_halo_neighbours(const struct lm_gpu *g)
{
    return &g->halo->neighbours;
}

void *lm_gpu_halo_buffer(struct lm_gpu *g, size_t bytes)
{
    return reserve(g, (bytes + sizeof(lm_u64) - 1) / sizeof(lm_u64));
}

void lm_gpu_halo_end(struct lm_gpu *g)
{
    struct lm_gpu_halo *h = g->halo;
    if (!h)
        return;
    end_list(&h->owned);
    end_list(&h->held);
    end_list(&h->shared);
    end_list(&h->added);
    for (int side = 0; side < LM_SIDES; side++) {
        end_list(&h->owned_at[side]);
        end_list(&h->held_at[side]);
    }
    for (int k = 0; k < TIMED; k++) {
        if (h->begin[k])
            cudaEventDestroy(h->begin[k]);
        if (h->end[k])
            cudaEventDestroy(h->end[k]);
    }
    end_side(h);
    free(h->messages);
    free(h);
}

void lm_gpu_halo_count_time(struct lm_gpu *g)
{
    struct lm_gpu_halo *h = g->halo;
    double seconds = 0;
    for (int k = 0; h && k < h->timed; k++) {
        float ms = 0;
        lm_gpu_check(g, cudaEventElapsedTime(&ms, h->begin[k], h->end[k]), "the halo");
        seconds += 1e-3 * (double)ms;
    }
    if (!h || h->timed == 0)
        return;
    lm_ranks_add_traffic(seconds * h->exchanges / h->timed, 0, 0);
    h->timed = h->exchanges = 0;
}

int lm_gpu_halo_refresh(struct lm_gpu *g, double *const *arrays, int count)
{
    if (!g->halo || g->failed)
        return g->failed;
    cell_arrays a = {{}, count, 1, 0, 1, 1};
    for (int k = 0; k < count; k++)
        a.at[k] = (lm_u64 *)arrays[k];
    return exchange(g, a, g->halo->owned, g->halo->held, UNPACK);
}

/* Values along a side are as those of the cells of one row. */
int lm_gpu_halo_refresh_side(struct lm_gpu *g, int side, double *values, int each)
{
    if (!g->halo || g->failed)
        return g->failed;
    const cell_list &owned = g->halo->owned_at[side], &held = g->halo->held_at[side];
    const cell_arrays a = {{(lm_u64 *)values}, 1, each, 0, each, 0};
    return owned.count + held.count > 0 ? exchange(g, a, owned, held, PLACE) : g->failed;
}

int lm_gpu_halo_add(struct lm_gpu *g, lm_u64 *const *arrays, int count, int each, int first, int used)
{
    if (!g->halo || g->failed)
        return g->failed;
    cell_arrays a = {{}, count, each, first, used, 0};
    for (int k = 0; k < count; k++)
        a.at[k] = arrays[k];
    return exchange(g, a, g->halo->shared, g->halo->added, ADD);
}

int lm_gpu_halo_add_sums(struct lm_gpu *g)
{
    return g->halo && !g->failed ? exchange(g, sums_of(g), g->halo->shared, g->halo->added, ADD) : g->failed;
}

const struct lm_gpu_tile_order *lm_gpu_halo_tiles(const struct lm_gpu *g)
{
    return g->halo ? &g->halo->tiles : NULL;
}

bool lm_gpu_halo_has_side(const struct lm_gpu *g)
{
    return g->halo && lm_gpu_transport_is_queued();
}

cudaStream_t lm_gpu_halo_fork(struct lm_gpu *g)
{
    struct lm_gpu_halo *h = g->halo;
    wait_for_side(g);
    lm_gpu_check(g, cudaEventRecord(h->fork, g->stream), "the halo");
    lm_gpu_check(g, cudaStreamWaitEvent(h->side, h->fork, 0), "the halo");
    return h->side;
}

int lm_gpu_halo_add_sums_beside(struct lm_gpu *g)
{
    struct lm_gpu_halo *h = g->halo;
    if (g->failed)
        return g->failed;
    exchange_in(g, h->side, sums_of(g), h->shared, h->added, ADD);
    h->has_added = h->is_awaited = true;
    return lm_gpu_check(g, cudaEventRecord(h->done, h->side), "the halo");
}

bool lm_gpu_halo_join(struct lm_gpu *g)
{
    struct lm_gpu_halo *h = g->halo;
    if (!h || !h->has_added)
        return false;
    wait_for_side(g);
    h->has_added = false;
    return true;
}

/* --- from one division to another --- */

/* What a rank will hold of the arrays: for each batch of them what the messages bring, in their order. */
struct lm_crate {
    lm_u64 *memory;           /* of the device */
    int resistive, used_void; /* on some rank */
};

namespace
{

enum { BATCH = 4 };

/* The first arrays of a list. */
cell_arrays batch_of(const struct lm_gpu *g, const int *list, int count)
{
    cell_arrays a = {{}, count < BATCH ? count : BATCH, 1, 0, 1, 1};
    for (int k = 0; k < a.count; k++)
        a.at[k] = (lm_u64 *)g->array[list[k]];
    return a;
}

/* NULL on all ranks: there is no memory for it on one of them. */
struct lm_crate *new_crate(const struct lm_gpu *g, size_t numbers)
{
    struct lm_crate *c = (struct lm_crate *)calloc(1, sizeof *c);
    const bool fits = c && cudaMalloc((void **)&c->memory, numbers * sizeof *c->memory + 1) == cudaSuccess;
    cudaGetLastError(); /* a failure is not one of the next call */
    if (!lm_ranks_largest(!fits)) {
        c->resistive = lm_ranks_largest((uint64_t)g->resistive) > 0;
        c->used_void = lm_ranks_largest((uint64_t)g->used_void) > 0;
        return c;
    }
    if (c)
        cudaFree(c->memory);
    free(c);
    return NULL;
}

void send_arrays(struct lm_gpu *g, const cell_list &from, const cell_list &to, const int *list, int count,
                 const struct lm_crate *c)
{
    struct lm_message *m = (struct lm_message *)malloc((size_t)(from.peers + to.peers + 1) * sizeof *m);
    if (!m)
        lm_ranks_abort(LM_FAILED, "not enough memory for a new division");
    for (int k = 0; k < count; k += BATCH) {
        const cell_arrays a = batch_of(g, list + k, count - k);
        lm_u64 *const buffer = reserve(g, from.cells * a.count);
        run_kernel(g, PACK, from, a, buffer, g->stream);
        make_messages(from, a.count, buffer, m);
        make_messages(to, a.count, c->memory + to.cells * k, m + from.peers);
        lm_gpu_transport_exchange(g, m, from.peers, m + from.peers, to.peers, g->stream);
    }
    lm_gpu_wait(g, "a new division");
    free(m);
}

} // namespace

int lm_gpu_depart(struct lm_backend *b, const struct lm_halo_move *move, const int *list, int count,
                  struct lm_crate **out)
{
    lm_gpu_range range("departure of arrays");
    struct lm_gpu *g = lm_gpu_of(b);
    cell_list from = {}, to = {};
    make_list(g, &move->out, &from);
    make_list(g, &move->in, &to);
    *out = g->failed ? NULL : new_crate(g, to.cells * count);
    if (*out)
        send_arrays(g, from, to, list, count, *out);
    end_list(&from);
    end_list(&to);
    return *out || g->failed ? g->failed : LM_STOPPED;
}

int lm_gpu_arrive(struct lm_backend *b, const struct lm_halo_move *move, const int *list, int count, struct lm_crate *c)
{
    lm_gpu_range range("arrival of arrays");
    struct lm_gpu *g = lm_gpu_of(b);
    cell_list to = {};
    make_list(g, &move->in, &to);
    for (int k = 0; k < count && !g->failed; k += BATCH)
        run_kernel(g, UNPACK, to, batch_of(g, list + k, count - k), c->memory + to.cells * k, g->stream);
    g->resistive |= c->resistive;
    g->used_void |= c->used_void;
    lm_gpu_wait(g, "a new division");
    end_list(&to);
    cudaFree(c->memory);
    free(c);
    return g->failed;
}
