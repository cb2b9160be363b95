/* The only file that knows which backends exist. */
#include "backend/backend.h"
#include "backend/field_boundaries.h"
#include "backend/work_arrays.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "larmor/config.h"
#include "larmor/physics/collisions/ion_electron_heating.h"
#include "larmor/physics/fluid/opening.h"
#include "base/threads.h"
#include "ranks/ranks.h"

#ifdef LM_CUDA
#include "backend/cuda.h"
#else
static int no_cuda(char *line, size_t size)
{
    snprintf(line, size, "this program was built without CUDA");
    return 0;
}
#define lm_cuda_describe no_cuda
#define lm_cuda_count() 1
#define lm_cuda_exchange() ""
#endif

static int preferred = LM_BACKEND_AUTO;

void lm_backend_prefer(int kind)
{
    preferred = kind;
}

int lm_backend_resolve(int kind, int threads, int *resolved, char *line, size_t size)
{
    char gpu[256];
    const int ranks = lm_ranks_used(), cores = lm_threads_wanted(threads);
    const int wanted = kind == LM_BACKEND_AUTO ? preferred : kind;
    int found = wanted == LM_BACKEND_CPU ? 0 : lm_cuda_describe(gpu, sizeof gpu);
    if (kind == LM_BACKEND_CUDA && !found)
        return lm_fail(LM_BAD_INPUT, "backend cuda: %s; use --backend cpu", gpu);
    *resolved = found ? LM_BACKEND_CUDA : LM_BACKEND_CPU;
    if (found && ranks > 1)
        snprintf(line, size, "%d ranks on GPUs%s (%.120s)%s%.48s", ranks,
                 lm_ranks_here() > lm_cuda_count() ? " that they share" : "", gpu,
                 lm_cuda_exchange()[0] ? ", data between them by " : "", lm_cuda_exchange());
    else if (found)
        snprintf(line, size, "%s", gpu);
    else if (ranks > 1)
        snprintf(line, size, "%d ranks, each on a CPU with %d threads", ranks, cores);
    else
        snprintf(line, size, "CPU, %d threads", cores);
    return LM_OK;
}

const char *lm_backend_exchange(void)
{
    return lm_cuda_exchange();
}

int lm_backend_create(int kind, const struct lm_setup *setup, struct lm_backend **out)
{
    int resolved = LM_BACKEND_CPU;
    char line[256];
    int status = lm_backend_resolve(kind, setup->threads, &resolved, line, sizeof line);
    if (status)
        return status;
    return lm_ranks_used() > 1 ? lm_distributed_create(resolved, setup, out)
                               : lm_backend_create_here(resolved, setup, out);
}

int lm_setup_halo(const struct lm_setup *s, int kind)
{
    const int usual = kind == LM_BACKEND_CUDA ? LM_HALO_WIDE : LM_HALO_NARROW;
    return s->halo_cells > 0 ? s->halo_cells : usual;
}

int lm_backend_find(int kind)
{
    char gpu[256];
    if (kind == LM_BACKEND_CUDA && !lm_cuda_describe(gpu, sizeof gpu))
        return lm_fail(LM_BAD_INPUT, "backend cuda: rank %d has none: %s; use --backend cpu", lm_rank(), gpu);
    return LM_OK;
}

int lm_backend_create_here(int kind, const struct lm_setup *setup, struct lm_backend **out)
{
#ifdef LM_CUDA
    if (kind == LM_BACKEND_CUDA)
        return lm_cuda_create(setup, out);
#else
    (void)kind;
#endif
    return lm_cpu_create(setup, out);
}

int lm_backend_share(int kind)
{
    const int ranks = lm_ranks_here(), devices = kind == LM_BACKEND_CUDA ? lm_cuda_count() : 1;
    return devices > 0 ? (ranks + devices - 1) / devices : ranks;
}

void lm_backend_destroy(struct lm_backend **b)
{
    if (*b)
        (*b)->ops->destroy(*b);
    *b = NULL;
}

void lm_backend_memory(int kind, double *free_bytes, double *total_bytes)
{
#ifdef LM_CUDA
    if (kind == LM_BACKEND_CUDA) {
        lm_cuda_memory(free_bytes, total_bytes);
        return;
    }
#else
    (void)kind;
#endif
    double page = (double)sysconf(_SC_PAGESIZE);
    *free_bytes = page * (double)sysconf(_SC_AVPHYS_PAGES);
    *total_bytes = page * (double)sysconf(_SC_PHYS_PAGES);
}

/* Arrays for background fields: each with its source and given flow; the flows of ions and electrons; on a GPU room for
 * the stages. */
static double background_arrays(int cuda, const struct lm_setup *setup)
{
    int arrays = 0, carried = 0;
    for (int f = 0; f < setup->background_count; f++) {
        const struct lm_background *b = &setup->background[f];
        arrays += 1 + b->has_source + (lm_has_own_flow(b) ? 2 : 0);
        carried |= !lm_has_own_flow(b);
    }
    return arrays + (carried ? 4 : 0) + (cuda && setup->background_count > 0 ? 2 : 0);
}

/* A cell of the tiles: two counters. */
static double tile_bytes(const struct lm_setup *setup)
{
    const double tiles = ceil((double)setup->grid.nx / setup->tile) * ceil((double)setup->grid.ny / setup->tile);
    return setup->species_count * tiles * (8.0 * setup->tile * setup->tile + 12);
}

static double grid_bytes(int kind, const struct lm_setup *setup)
{
    const int cuda = kind == LM_BACKEND_CUDA, moments = cuda ? 2 : 1; /* sets of integer moments */
    const int is_general = lm_is_general(setup);
    const int work = cuda ? LM_CUDA_WORK_ARRAYS + (is_general ? LM_CUDA_GENERAL_ARRAYS : 0) : LM_CPU_WORK_ARRAYS;
    const double size = (double)setup->grid.size, cells = (double)setup->grid.cells;
    double bytes = 8.0 * size * (LM_SPECIES_N + setup->species_count + work);
    bytes += 8.0 * size * ((setup->external_current ? 6 : 0) + setup->local_eta + 3 * setup->pushed_species);
    bytes += 8.0 * size * lm_friction_arrays(setup);
    bytes += setup->bodies.count > 0 ? size * (6 + sizeof(struct lm_body_cut) + 3 * sizeof(struct lm_body_node)) : 0;
    bytes += 8.0 * size * background_arrays(cuda, setup) + (setup->background_count > 0 ? size : 0);
    const double cuts = sizeof(struct lm_opening) + sizeof(struct lm_passage);
    bytes += setup->background_count > 0 && setup->bodies.count > 0 ? size * (cuts + setup->ohm.evolved) : 0;
    const double exchange = 8.0 + 8.0 * LM_CELL_SUMS + sizeof(struct lm_heating_cell);
    bytes += lm_any_exchanges(setup) ? exchange * cells : 0;
    bytes += 8.0 * size * LM_BORN_ARRAYS * setup->ionisation_count;
    bytes += 8.0 * size * (LM_KEPT_B + 3 - LM_J_AHEAD + cuda);
    return bytes + 4 * 8.0 * moments * cells + tile_bytes(setup);
}

struct lm_backend_parts lm_backend_parts(int kind, const struct lm_setup *setup, const uint64_t *counts)
{
    const double real = setup->precision == LM_SINGLE ? 4 : 8, profiles = kind == LM_BACKEND_CUDA ? 10 : 13;
    struct lm_backend_parts p = {.grid = grid_bytes(kind, setup), .loading = 8.0 * profiles * (double)setup->grid.size};
    /* A particle: five arrays and one for sorting, its place, on a GPU its rank. */
    for (int s = 0; s < setup->species_count; s++)
        p.particles += (double)counts[s] * (6 * real + 8);
    return p;
}

double lm_backend_bytes(int kind, const struct lm_setup *setup, const uint64_t *counts)
{
    const struct lm_backend_parts p = lm_backend_parts(kind, setup, counts);
    return p.particles + p.grid + p.loading;
}
