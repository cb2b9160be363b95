#include "survey/memory_need.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/averages.h"
#include "output/electric.h"
#include "output/moments.h"
#include "output/output.h"
#include "output/samples.h"
#include "sim/setup.h"
#include "backend/surfaces.h"
#include "ranks/ranks.h"

const char *const lm_need_names[LM_NEED_PARTS] = {"particles", "grid", "start and outputs", "maps of hits", "program"};

/* Counters of all species. */
static double map_bytes(const struct lm_config *c, const uint8_t *mask)
{
    const struct lm_grid g = lm_config_grid(c);
    struct lm_bodies bodies = {.count = mask ? c->body_count : 0, .mask = mask};
    uint32_t first[LM_SURFACES + 1];
    for (int k = 0; k < bodies.count; k++)
        bodies.particles[k] = c->body[k].particles;
    lm_surfaces_faces(&g, &bodies, first, NULL);
    return 8.0 * c->species_count * first[LM_SURFACES] * c->output.map_angles * (c->output.map_energies + 2.0);
}

/* Arrays in the values of an output, and arrays of the run's cells from which they are made: B, a working array, and
 * the moments of a species with their sums, or before them the terms of Ohm's law. */
static double named_output_bytes(const struct lm_config *c, const struct lm_output_config *o, double size)
{
    const unsigned electric = 1u << LM_Q_E_TERMS | 1u << LM_Q_HEATING;
    const struct lm_cells *r = &o->region.cells;
    const double values = (double)(r->to_x - r->from_x) * (r->to_y - r->from_y) / ((double)o->coarsen * o->coarsen);
    const double count = lm_output_meshes(c, o->wanted, o->of) + 1; /* the density, for T_e */
    const double work = fmax(2 * LM_MOMENT_COUNT, o->wanted & electric ? LM_ELECTRIC_ARRAYS : 0);
    return 8.0 * (values * (count + LM_MOMENT_COUNT) + size * (4 + work));
}

/* Counters of the largest distribution, which each rank has while it counts. */
static double distribution_bytes(const struct lm_config *c)
{
    size_t most = 0;
    for (int k = 0; k < c->distribution_count; k++) {
        const size_t counters = lm_bins_counters(&c->distribution[k].into);
        most = counters > most ? counters : most;
    }
    return 8.0 * (double)most;
}

/* Arrays on the host while a checkpoint or the largest output is written. */
static double output_bytes(const struct lm_config *c, double size)
{
    const double checkpoint = 2, fields = LM_OUTPUT_ARRAYS + c->species_count + c->background_count;
    double most = 8.0 * size * (c->output.fields_every > 0 ? fields : checkpoint);
    for (int k = 0; k < c->output_count; k++)
        most = fmax(most, named_output_bytes(c, &c->outputs[k], size));
    return most;
}

static void find_memory(struct lm_need *n)
{
    lm_memory_host(&n->has_host);
    if (n->kind != LM_BACKEND_CUDA)
        return;
    lm_backend_memory(n->kind, &n->has_device.free, &n->has_device.total);
    snprintf(n->has_device.limited_by, sizeof n->has_device.limited_by, "the GPU's memory");
}

void lm_need_find(const struct lm_config *c, int kind, const uint8_t *mask, const uint64_t counts[LM_MAX_SPECIES],
                  struct lm_need *out)
{
    const struct lm_setup setup = lm_setup_of(c);
    const struct lm_backend_parts backend = lm_backend_parts(kind, &setup, counts);
    const double size = (double)setup.grid.size, maps = map_bytes(c, mask), counters = distribution_bytes(c);
    const int cuda = kind == LM_BACKEND_CUDA;
    *out = (struct lm_need){.kind = kind};
    double *own = cuda ? out->device : out->host;
    /* Many ranks share particles and grid. The host is that of rank 0, which has the arrays of the domain beside. */
    const int planned = lm_ranks_planned(), ranks = lm_ranks_expected();
    const int here = planned > 0 ? 1 : lm_backend_share(kind);
    const int here_on_host = planned > 0 ? 1 : lm_backend_share(LM_BACKEND_CPU);
    const double output = fmax(output_bytes(c, size), counters * here_on_host);
    own[LM_NEED_PARTICLES] = backend.particles * here / ranks;
    own[LM_NEED_GRID] = backend.grid * here / ranks;
    own[LM_NEED_MAPS] = maps * here;
    if (cuda) {
        const double profiles = 8.0 * (3 + LM_LOADING_ARRAYS) * size;
        out->device[LM_NEED_START] = fmax(backend.loading / ranks, counters) * here;
        out->host[LM_NEED_START] = fmax(profiles, output);
        out->host[LM_NEED_MAPS] = maps / fmax(1, c->species_count); /* one at a time is written */
    } else {
        out->host[LM_NEED_START] = fmax(backend.loading, output);
    }
    for (int k = 0; k < c->probe_count; k++)
        out->host[LM_NEED_START] += lm_probes_memory(c, k);
    for (int k = 0; k < c->track_count; k++)
        out->host[LM_NEED_START] += lm_tracks_memory(c, k, (double)counts[c->track[k].of]);
    out->host[LM_NEED_REST] = LM_MEMORY_RESERVE;
    out->host[LM_NEED_START] += lm_averages_bytes(c); /* beside the largest output, and during the steps */
    find_memory(out);
}

double lm_need_sum(const double parts[LM_NEED_PARTS])
{
    double sum = 0;
    for (int k = 0; k < LM_NEED_PARTS; k++)
        sum += parts[k];
    return sum;
}

static int refuse(const struct lm_config *c, const char *where, const double parts[LM_NEED_PARTS],
                  const struct lm_memory *has)
{
    char list[256] = "";
    for (int k = 0; k < LM_NEED_PARTS; k++) {
        const size_t n = strlen(list);
        if (parts[k] > 0)
            snprintf(list + n, sizeof list - n, "%s%s %.3g", n ? ", " : "", lm_need_names[k], parts[k] / 0x1p30);
    }
    return lm_fail(
        LM_BAD_INPUT,
        "%s: not enough memory on %s: the run needs %.4g GiB (%s), and %.4g of %.4g GiB are free (%s). Use %s"
        "fewer cells (grid.nx, grid.ny), fewer particles (particles_per_cell)%s",
        c->file, where, lm_need_sum(parts) / 0x1p30, list, has->free / 0x1p30, has->total / 0x1p30, has->limited_by,
        parts[LM_NEED_MAPS] > 0.5 * has->free ? "fewer bins (output.map_angles), " : "",
        c->particles.precision == LM_DOUBLE ? " or particles.precision = single" : "");
}

int lm_need_check(const struct lm_config *c, const struct lm_need *n)
{
    if (n->kind == LM_BACKEND_CUDA && lm_need_sum(n->device) > n->has_device.free)
        return refuse(c, "the GPU", n->device, &n->has_device);
    if (lm_need_sum(n->host) > n->has_host.free)
        return refuse(c, "the host", n->host, &n->has_host);
    return LM_OK;
}
