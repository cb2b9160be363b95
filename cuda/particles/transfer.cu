/* CUDA backend: loading, upload and download of particles. Compiled for each precision. */
#include "particles/stored.cuh"

#include <cstdlib>

#include "backend/load_profile.h"
#include "larmor/physics/particles/load.h"

namespace
{

/* LM_GPU_PIECE particles. */
stored piece_of(const struct lm_gpu *g)
{
    return stored_at(g->staging, LM_GPU_PIECE);
}

__global__ void get_kernel(all_particles h, uint64_t first, uint32_t count, stored to)
{
    uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= count)
        return;
    uint32_t k = (uint32_t)(first + n);
    int tile = tile_of(h, k);
    to.x[n] = lm_global(h.a.x[k], tile % h.t.nx, h.t.size, h.t.cells_x);
    to.y[n] = lm_global(h.a.y[k], tile / h.t.nx, h.t.size, h.t.cells_y);
    to.vx[n] = h.a.vx[k];
    to.vy[n] = h.a.vy[k];
    to.vz[n] = h.a.vz[k];
}

__device__ __forceinline__ uint32_t stored_cell(const struct lm_tiling &t, const stored &from, uint32_t n)
{
    return lm_tile_cell(&t, (int)(from.x[n] >> LM_FRACTION_BITS), (int)(from.y[n] >> LM_FRACTION_BITS));
}

__global__ void count_stored_kernel(struct lm_tiling t, stored from, uint32_t count, uint32_t *cell_count)
{
    uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n < count)
        atomicAdd(&cell_count[stored_cell(t, from, n)], 1u);
}

__global__ void place_stored_kernel(tile_particles h, const uint32_t *cell_start, uint32_t *rank, stored from,
                                    uint32_t count)
{
    uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= count)
        return;
    int home;
    uint32_t cell = stored_cell(h.t, from, n), k = cell_start[cell] + atomicAdd(&rank[cell], 1u);
    struct lm_particle p = {lm_local(from.x[n], h.t.size, &home), lm_local(from.y[n], h.t.size, &home), from.vx[n],
                            from.vy[n], from.vz[n]};
    put_particle(h.a, k, p);
}

/* cell_count: particles of each own cell; *total: their sum. */
__global__ void count_load_kernel(struct lm_profile profile, struct lm_tiling t, struct lm_grid g, uint32_t *cell_count,
                                  lm_u64 *total)
{
    int i = g.own.from_x + (int)(blockIdx.x * THREADS + threadIdx.x), j = g.own.from_y + (int)blockIdx.y;
    uint32_t n = 0;
    if (i < g.own.to_x) {
        size_t k = (size_t)(j + LM_GHOST) * g.stride + i + LM_GHOST;
        n = lm_cell_count(&profile, k, lm_domain_x(&g.place, i), lm_domain_y(&g.place, j),
                          lm_domain_cell(&g.place, i, j));
        cell_count[lm_tile_cell(&t, i, j)] = n;
    }
    lm_warp_sum(total, n);
}

/* A warp loads an own cell. `of`, `cut`: struct lm_obstacles; `cut` is NULL where bodies fill their cells. */
__global__ void load_kernel(struct lm_profile profile, tile_particles h, const uint32_t *cell_start, struct lm_grid g,
                            const uint8_t *of, const struct lm_body_cut *cut)
{
    uint64_t warp = (blockIdx.x * (uint64_t)THREADS + threadIdx.x) / 32;
    const int width = g.own.to_x - g.own.from_x;
    if (warp >= (uint64_t)width * (uint64_t)(g.own.to_y - g.own.from_y))
        return;
    int i = g.own.from_x + (int)(warp % width), j = g.own.from_y + (int)(warp / width);
    size_t k = (size_t)(j + LM_GHOST) * g.stride + i + LM_GHOST;
    const uint32_t cell = lm_domain_cell(&g.place, i, j);
    const size_t local = (size_t)j * h.t.cells_x + i;
    cut = cut && (of[local] & LM_CUT) ? cut + local : NULL;
    uint32_t home = lm_tile_cell(&h.t, i, j), n = cell_start[home + 1] - cell_start[home];
    for (uint32_t r = threadIdx.x % 32; r < n; r += 32) {
        struct lm_particle p;
        lm_real v[3];
        lm_load_particle(&profile, k, g.stride, cut, cell, r, n, &p.x, &p.y, v);
        p.x += (lm_fix)(i % h.t.size) * LM_ONE;
        p.y += (lm_fix)(j % h.t.size) * LM_ONE;
        p.vx = v[0], p.vy = v[1], p.vz = v[2];
        put_particle(h.a, cell_start[home] + r, p);
    }
}

/* The profile's arrays on the device, in one piece of memory. */
struct lm_profile upload_profile(struct lm_gpu *g, struct lm_profile p, double **store)
{
    size_t size = g->base.setup.grid.size, scales = p.quiet_scale ? 3 * (size_t)(p.quiet_high - p.quiet_low + 1) : 0,
           needed = scales, used = 0;
    const double **list[11] = {&p.density.array};
    for (int d = 0; d < 3; d++) {
        list[1 + d] = &p.drift[d].array;
        list[4 + d] = &p.temperature[d].array;
        list[7 + d] = &p.b[d];
    }
    list[10] = &p.quiet_scale;
    for (int k = 0; k < 10; k++)
        needed += *list[k] ? size : 0;
    *store = NULL;
    if (needed == 0)
        return p;
    *store = (double *)lm_gpu_allocate(g, needed * sizeof(double), "loading profiles");
    for (int k = 0; k < 11 && *store; k++) {
        size_t n = k == 10 ? scales : size;
        if (!*list[k])
            continue;
        lm_gpu_check(g, cudaMemcpyAsync(*store + used, *list[k], n * sizeof(double), cudaMemcpyHostToDevice, g->stream),
                     "upload of a profile");
        *list[k] = *store + used;
        used += n;
    }
    lm_gpu_wait(g, "upload of profiles");
    return p;
}

} // namespace

int LM_P(lm_gpu_put_particles)(struct lm_backend *b, int species, enum lm_put_phase phase, uint64_t count,
                               struct lm_raw_particles from)
{
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    stored p = piece_of(g);
    if (phase == LM_PLACE_PARTICLES && !s->placing) {
        LM_P(lm_gpu_list_cells)(g, s);
        LM_P(lm_gpu_clear_counts)(g, s);
        s->placing = 1;
    }
    for (uint64_t first = 0; first < count && !g->failed; first += LM_GPU_PIECE) {
        size_t n = (size_t)(count - first < LM_GPU_PIECE ? count - first : LM_GPU_PIECE);
        const void *host[5] = {from.x + first, from.y + first, (const lm_real *)from.vx + first,
                               (const lm_real *)from.vy + first, (const lm_real *)from.vz + first};
        void *device[5] = {p.x, p.y, p.vx, p.vy, p.vz};
        for (int d = 0; d < 5; d++)
            lm_gpu_check(
                g, cudaMemcpyAsync(device[d], host[d], n * (d < 2 ? 8 : sizeof(lm_real)), cudaMemcpyDefault, g->stream),
                "upload of particles");
        if (phase == LM_PLACE_PARTICLES)
            place_stored_kernel<<<particle_blocks(n), THREADS, 0, g->stream>>>(particles_of(g, species), s->cell_start,
                                                                               s->cell_count, p, (uint32_t)n);
        else
            count_stored_kernel<<<particle_blocks(n), THREADS, 0, g->stream>>>(g->tiling, p, (uint32_t)n,
                                                                               s->cell_count);
        LM_GPU_LAUNCHED(g, "particles from a file");
        lm_gpu_wait(g, "particles from a file");
    }
    return g->failed;
}

int LM_P(lm_gpu_get_particles)(struct lm_backend *b, int species, uint64_t first, uint64_t count,
                               struct lm_raw_particles to)
{
    struct lm_gpu *g = lm_gpu_of(b);
    stored p = piece_of(g);
    for (uint64_t done = 0; done < count && !g->failed; done += LM_GPU_PIECE) {
        size_t n = (size_t)(count - done < LM_GPU_PIECE ? count - done : LM_GPU_PIECE);
        get_kernel<<<particle_blocks(n), THREADS, 0, g->stream>>>(particles_of(g, species), first + done, (uint32_t)n,
                                                                  p);
        LM_GPU_LAUNCHED(g, "particles to the host");
        void *host[5] = {to.x + done, to.y + done, (lm_real *)to.vx + done, (lm_real *)to.vy + done,
                         (lm_real *)to.vz + done};
        const void *device[5] = {p.x, p.y, p.vx, p.vy, p.vz};
        for (int d = 0; d < 5; d++)
            lm_gpu_check(g,
                         cudaMemcpyAsync(host[d], device[d], n * (d < 2 ? 8 : sizeof(lm_real)), cudaMemcpyDeviceToHost,
                                         g->stream),
                         "download of particles");
        lm_gpu_wait(g, "download of particles");
    }
    return g->failed;
}

int LM_P(lm_gpu_load)(struct lm_backend *b, int species, const struct lm_loading *from, uint64_t *count)
{
    lm_gpu_range range("load");
    struct lm_gpu *g = lm_gpu_of(b);
    struct lm_gpu_species *s = &g->species[species];
    struct lm_profile profile;
    double *scale, *store;
    const struct lm_grid *grid = &b->setup.grid;
    int status = lm_profile_make(grid, from, species, &profile, &scale);
    if (status)
        return status;
    profile = upload_profile(g, profile, &store);
    free(scale);
    LM_P(lm_gpu_prepare_counts)(g, s);
    const unsigned width = (unsigned)(grid->own.to_x - grid->own.from_x);
    dim3 blocks((width + THREADS - 1) / THREADS, (unsigned)(grid->own.to_y - grid->own.from_y));
    lm_gpu_reduce_begin(g);
    if (!g->failed)
        count_load_kernel<<<blocks, THREADS, 0, g->stream>>>(profile, g->tiling, *grid, s->cell_count,
                                                             &g->reduced->value[0]);
    LM_GPU_LAUNCHED(g, "counting particles");
    lm_gpu_reduce_end(g);
    if (!g->failed)
        LM_P(lm_gpu_reserve)(b, species, g->reduced_host->value[0]);
    if (!g->failed) {
        LM_P(lm_gpu_list_cells)(g, s);
        unsigned warps = particle_blocks((uint64_t)width * blocks.y * 32);
        load_kernel<<<warps, THREADS, 0, g->stream>>>(profile, particles_of(g, species), s->cell_start, *grid, g->body,
                                                      g->cut);
        LM_GPU_LAUNCHED(g, "loading particles");
    }
    lm_gpu_wait(g, "loading particles");
    lm_gpu_free(g, store);
    *count = s->count;
    return g->failed;
}
