/* CUDA backend: memory for particles, and for the lists of cells, tiles and chunks. Compiled for each precision. */
#include "particles/particles.cuh"

#include "larmor/physics/particles/deposit.h"

int LM_P(lm_gpu_clear_counts)(struct lm_gpu *g, struct lm_gpu_species *s)
{
    return lm_gpu_check(g, cudaMemsetAsync(s->cell_count, 0, (g->tile_cells + 1) * sizeof(uint32_t), g->stream),
                        "clearing counts");
}

void LM_P(lm_gpu_end_array)(struct lm_gpu *g, void *array, uint64_t count)
{
    lm_gpu_check(g, cudaMemsetAsync((lm_real *)array + count, 0, GROUP_MAX * sizeof(lm_real), g->stream), "particles");
}

/* Particles in a chunk at most: as many as int32 sums allow, but enough chunks to fill the device. */
static uint32_t chunk_size(const struct lm_gpu *g, uint64_t count)
{
    uint64_t share = count / ((uint64_t)g->processors * 8) + 1;
    return (uint32_t)(share < 1024 ? 1024 : share > LM_CHUNK ? LM_CHUNK : share);
}

int LM_P(lm_gpu_prepare_counts)(struct lm_gpu *g, struct lm_gpu_species *s)
{
    s->tile_start = (uint32_t *)lm_gpu_allocate(g, (g->tiles + 1) * sizeof(uint32_t), "tiles");
    s->chunk_first = (uint32_t *)lm_gpu_allocate(g, (g->tiles + 1) * sizeof(uint32_t), "tiles");
    s->edge_particles = g->halo ? (uint32_t *)lm_gpu_allocate(g, sizeof *s->edge_particles, "tiles") : NULL;
    s->cell_count = (uint32_t *)lm_gpu_allocate(g, (g->tile_cells + 1) * sizeof(uint32_t), "tiles");
    s->cell_start = (uint32_t *)lm_gpu_allocate(g, (g->tile_cells + 1) * sizeof(uint32_t), "tiles");
    if (g->failed)
        return g->failed;
    lm_gpu_check(g, cudaMemsetAsync(s->tile_start, 0, (g->tiles + 1) * sizeof(uint32_t), g->stream), "tiles");
    lm_gpu_check(g, cudaMemsetAsync(s->chunk_first, 0, (g->tiles + 1) * sizeof(uint32_t), g->stream), "tiles");
    return LM_P(lm_gpu_clear_counts)(g, s);
}

/* Of so many particles. */
static unsigned most_chunks(const struct lm_gpu *g, const struct lm_gpu_species *s, uint64_t count)
{
    return (unsigned)(g->tiles + count / s->chunk_size + 1);
}

int LM_P(lm_gpu_reserve)(struct lm_backend *b, int species, uint64_t count)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    if (count > LM_MAX_PARTICLES)
        return g->failed = lm_fail(LM_BAD_INPUT, "%llu particles; at most %llu fit one device",
                                   (unsigned long long)count, (unsigned long long)LM_MAX_PARTICLES);
    if (!s->cell_count)
        LM_P(lm_gpu_prepare_counts)(g, s);
    const uint64_t generous = count + count / 64; /* more may soon come from other ranks */
    const uint64_t capacity = !g->halo ? count : generous < LM_MAX_PARTICLES ? generous : LM_MAX_PARTICLES;
    s->count = s->sorted = count;
    s->capacity = capacity;
    s->placing = 0;
    s->chunk_size = chunk_size(g, count);
    s->blocks = most_chunks(g, s, capacity);
    void **const list[] = {&s->x, &s->y, &s->vx, &s->vy, &s->vz, &s->scratch};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        lm_real *array = (lm_real *)lm_gpu_allocate(g, (capacity + GROUP_MAX) * sizeof *array, "particles");
        *list[k] = array;
        if (array)
            LM_P(lm_gpu_end_array)(g, array, count);
    }
    s->slot = (uint32_t *)lm_gpu_allocate(g, (capacity + 1) * sizeof(uint32_t), "particles");
    s->rank = (uint32_t *)lm_gpu_allocate(g, (capacity + 1) * sizeof(uint32_t), "particles");
    s->chunk = (struct lm_gpu_chunk *)lm_gpu_allocate(g, s->blocks * sizeof *s->chunk, "tiles");
    if (s->chunk)
        lm_gpu_check(g, cudaMemsetAsync(s->chunk, 0, s->blocks * sizeof *s->chunk, g->stream), "tiles");
    return g->failed;
}

/* Replaces an array of `old` elements by one of `more`, the rest cleared; 0 when there is no memory for it, and the old
 * one stays. */
static int extend(struct lm_gpu *g, void **array, size_t old, size_t more, size_t element)
{
    char *to = (char *)lm_gpu_try_allocate(g, more * element, "particles that enter");
    if (!to)
        return 0;
    if (old > 0)
        lm_gpu_check(g, cudaMemcpyAsync(to, *array, old * element, cudaMemcpyDeviceToDevice, g->stream), "particles");
    lm_gpu_check(g, cudaMemsetAsync(to + old * element, 0, (more - old) * element, g->stream), "particles");
    lm_gpu_wait(g, "particles");
    lm_gpu_free(g, *array);
    *array = to;
    return 1;
}

/* Memory for `capacity` places; one array after the other, so that little more is needed than they take in the end. */
static int grow(struct lm_gpu *g, struct lm_gpu_species *s, uint64_t capacity)
{
    void **const arrays[] = {&s->x, &s->y, &s->vx, &s->vy, &s->vz};
    s->chunk_size = chunk_size(g, capacity); /* from the next sort on; the chunks until then are as many as before */
    const unsigned wanted = most_chunks(g, s, capacity), blocks = wanted > s->blocks ? wanted : s->blocks;
    int done = 1;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays && done; k++)
        done = extend(g, arrays[k], s->count, capacity + GROUP_MAX, sizeof(lm_real));
    done = done && extend(g, &s->scratch, 0, capacity + GROUP_MAX, sizeof(lm_real)) &&
           extend(g, (void **)&s->slot, 0, capacity + 1, sizeof *s->slot) &&
           extend(g, (void **)&s->rank, 0, capacity + 1, sizeof *s->rank) &&
           extend(g, (void **)&s->chunk, s->blocks, blocks, sizeof *s->chunk);
    if (!done)
        return LM_STOPPED;
    s->blocks = blocks;
    s->capacity = capacity;
    return g->failed;
}

/* Memory for so many tiles of particles behind the sorted ones, where there are none yet. */
static int reserve_homes(struct lm_gpu *g, struct lm_gpu_species *s, uint64_t count)
{
    if (count <= s->home_capacity)
        return LM_OK;
    if (!extend(g, (void **)&s->home, 0, count, sizeof *s->home))
        return LM_STOPPED;
    s->home_capacity = count;
    return LM_OK;
}

/* Slots for `more` particles behind those that there are. */
static int reserve_slots(struct lm_gpu *g, struct lm_gpu_species *s, uint64_t more)
{
    const uint64_t wanted = s->count + more;
    if (wanted <= s->capacity)
        return LM_OK;
    if (wanted > LM_MAX_PARTICLES)
        return lm_fail(LM_FAILED, "%llu particles of a species; at most %llu fit one device",
                       (unsigned long long)wanted, (unsigned long long)LM_MAX_PARTICLES);
    const uint64_t generous = wanted + wanted / 4, least = wanted + wanted / 64;
    if (generous < LM_MAX_PARTICLES && !grow(g, s, generous))
        return LM_OK;
    return grow(g, s, least < LM_MAX_PARTICLES ? least : LM_MAX_PARTICLES);
}

int LM_P(lm_gpu_reserve_more)(struct lm_backend *b, int species, uint64_t more)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    const bool is_full = s->count + more > s->capacity, is_long = s->count - s->sorted + more > s->home_capacity;
    if ((is_full && s->gone > 0) || (is_long && s->count > s->sorted))
        LM_P(lm_gpu_sort)(b, species);
    if (g->failed)
        return g->failed;
    const uint64_t behind = s->count - s->sorted + more;
    /* A sort comes no later than after 64 steps (src/sim/step.c). */
    const int status = behind > s->home_capacity ? reserve_homes(g, s, 64 * more) : LM_OK;
    return status ? status : reserve_slots(g, s, more);
}

int LM_P(lm_gpu_reserve_arrivals)(struct lm_backend *b, int species, uint64_t count)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    if (s->count - s->sorted + count > s->home_capacity && s->count > s->sorted)
        LM_P(lm_gpu_sort)(b, species);
    int status = g->failed;
    if (!status && s->count - s->sorted + count > s->home_capacity)
        status = reserve_homes(g, s, count + count / 4);
    return status ? status : reserve_slots(g, s, count);
}
