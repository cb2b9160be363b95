/* Two simulations at the same step, value by value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/moments.h"
#include "../inside.h"
#include "compare_run.h"
#include "larmor/physics/particles/surface.h"

/* A difference of arrays in a range of cells. */
struct array_range {
    const char *name;
    int array, border; /* cells around the domain that are compared as well */
};

struct array_difference {
    int64_t count;
    int i, j;
    double here, there, most;
};

static struct array_difference difference_of(const struct lm_grid *g, const double *a, const double *b, int border)
{
    struct array_difference d = {.count = 0};
    for (int j = -border; j < g->ny + border; j++)
        for (int i = -border; i < g->nx + border; i++) {
            const size_t k = lm_at(g, i, j);
            if (!memcmp(&a[k], &b[k], sizeof *a))
                continue;
            if (d.count++ == 0)
                d.i = i, d.j = j, d.here = a[k], d.there = b[k];
            const double size = fabs(a[k] - b[k]);
            d.most = size > d.most || size != size ? size : d.most;
        }
    return d;
}

/* Returns 1 when the arrays differ, and describes how. */
static int compare_array(struct lm_sim *reference, struct lm_sim *sim, const struct array_range *range,
                         struct compare_result *r)
{
    const struct lm_grid *g = &sim->grid;
    double *a = malloc(g->size * sizeof *a), *b = malloc(g->size * sizeof *b);
    struct array_difference d = {.count = 0};
    int status = !a || !b;
    if (!status)
        status = sim->backend->ops->get(sim->backend, range->array, a);
    if (!status)
        status = reference->backend->ops->get(reference->backend, range->array, b);
    if (status)
        compare_says(r, "  %s cannot be read: %s\n", range->name, lm_error());
    else
        d = difference_of(g, a, b, range->border);
    if (d.count > 0)
        compare_says(r, "  %s: %lld cells, the first (%d, %d): %.17g, reference %.17g; by %.3g at most\n", range->name,
                     (long long)d.count, d.i, d.j, d.here, d.there, d.most);
    free(a);
    free(b);
    return status || d.count > 0;
}

/* --- particles --- */

struct particle {
    int64_t x, y;
    double v[3];
};

static int by_value(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct particle));
}

static double real_at(const struct lm_sim *sim, const void *array, size_t k)
{
    return sim->backend->setup.precision == LM_SINGLE ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

/* All particles of a species, in order. Returns NULL when they cannot be read. */
static struct particle *particles_of(struct lm_sim *sim, int species)
{
    const size_t n = sim->count[species], most = n + 1;
    struct lm_raw_particles raw = {.x = malloc(2 * most * sizeof(int64_t)), .vx = malloc(3 * most * sizeof(double))};
    struct particle *out = calloc(most, sizeof *out);
    int status = !raw.x || !raw.vx || !out;
    if (!status) {
        raw.y = raw.x + most;
        raw.vy = (char *)raw.vx + most * sizeof(double);
        raw.vz = (char *)raw.vy + most * sizeof(double);
        status = lm_sim_compact(sim);
    }
    if (!status)
        status = sim->backend->particles->get(sim->backend, species, 0, n, raw);
    for (size_t k = 0; !status && k < n; k++)
        out[k] = (struct particle){
            raw.x[k], raw.y[k], {real_at(sim, raw.vx, k), real_at(sim, raw.vy, k), real_at(sim, raw.vz, k)}};
    if (!status)
        qsort(out, n, sizeof *out, by_value);
    free(raw.x);
    free(raw.vx);
    if (!status)
        return out;
    free(out);
    return NULL;
}

static void compare_particles(struct lm_sim *reference, struct lm_sim *sim, int species, struct compare_result *r)
{
    const char *name = sim->config->species[species].name;
    const size_t n = sim->count[species], m = reference->count[species];
    struct particle *a = particles_of(sim, species), *b = particles_of(reference, species);
    size_t i = 0, j = 0, only = 0, first = n;
    if (!a || !b)
        compare_says(r, "  particles of %s cannot be read: %s\n", name, lm_error());
    while (a && b && i < n) {
        const int order = j < m ? by_value(&a[i], &b[j]) : -1;
        if (order < 0 && only++ == 0)
            first = i;
        i += order <= 0;
        j += order >= 0;
    }
    if (n != m || only > 0)
        compare_says(r, "  particles of %s: %zu, reference %zu; %zu that the reference has not\n", name, n, m, only);
    const int bits = sim->backend->setup.precision == LM_SINGLE ? 24 : 48; /* backend/raw_particles.h */
    if (a && first < n)
        compare_says(r, "    one at cell %.6f, %.6f, v = %.17g %.17g %.17g\n", ldexp((double)a[first].x, -bits),
                     ldexp((double)a[first].y, -bits), a[first].v[0], a[first].v[1], a[first].v[2]);
    free(a);
    free(b);
}

void compare_states(struct lm_sim *reference, struct lm_sim *sim, struct compare_result *r)
{
    const int fields = lm_sim_state_fields(sim), bordered = lm_sim_state_bordered(sim);
    int differ = 0;
    compare_says(r, "first at step %lld:\n", (long long)sim->step);
    for (int k = 0; k < fields; k++) {
        const struct array_range range = {sim->state_names[k], lm_sim_state_array(sim, k),
                                          k >= fields - bordered ? LM_GHOST : 0};
        if (range.array >= 0) /* a strip beyond a side, whose state shows in B as well */
            differ += compare_array(reference, sim, &range, r);
    }
    for (int s = 0; s < sim->config->species_count; s++)
        compare_particles(reference, sim, s, r);
    if (!differ)
        compare_says(r, "  no array of the state\n");
}

/* --- what no fingerprint covers --- */

static int same_account(const struct lm_account *a, const struct lm_account *b)
{
    return a->number == b->number && a->v[0] == b->v[0] && a->v[1] == b->v[1] && a->v[2] == b->v[2] && a->v2 == b->v2;
}

static int same_ledger(const struct lm_ledger *a, const struct lm_ledger *b)
{
    int same = a->loaded == b->loaded && a->exponent_v == b->exponent_v && a->exponent_v2 == b->exponent_v2;
    for (int k = 0; k < LM_ENTRANCES; k++)
        same &= same_account(&a->injected[k], &b->injected[k]);
    for (int k = 0; k < LM_CHANNELS; k++)
        same &= same_account(&a->lost[k], &b->lost[k]);
    return same && same_account(&a->to_gas, &b->to_gas) && same_account(&a->exchanged, &b->exchanged) &&
           same_account(&a->to_electrons, &b->to_electrons);
}

static int same_background(const struct lm_background_ledger *a, const struct lm_background_ledger *b)
{
    int same = a->exponent == b->exponent && a->quantum == b->quantum && a->loaded == b->loaded &&
               a->source == b->source && a->rounded == b->rounded && a->total == b->total;
    for (int side = 0; side < LM_SIDES; side++)
        same &= a->entered[side] == b->entered[side];
    return same;
}

static int compare_ledgers(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r)
{
    const struct lm_config *c = sim->config;
    for (int s = 0; s < c->species_count; s++) {
        if (!same_ledger(&t->sim->ledger[s], &sim->ledger[s]))
            return compare_differs(r, t->steps, "the ledgers of species %s differ at the end\n", c->species[s].name);
        if (lm_sim_residual(sim, s) != 0 || lm_sim_residual(t->sim, s) != 0)
            return compare_differs(r, t->steps, "the ledger of species %s does not close\n", c->species[s].name);
    }
    for (int f = 0; f < c->background_count; f++) {
        if (!same_background(&t->sim->background[f].ledger, &sim->background[f].ledger))
            return compare_differs(r, t->steps, "the ledgers of the background field %s differ at the end\n",
                                   c->background[f].name);
        if (lm_background_residual(&sim->background[f].ledger) != 0)
            return compare_differs(r, t->steps, "the ledger of the background field %s does not close\n",
                                   c->background[f].name);
    }
    return 0;
}

static int compare_maps(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r)
{
    const uint64_t size = sim->maps.angles > 0 ? lm_map_size(&sim->maps) : 0;
    uint64_t *a = calloc(size + 1, sizeof *a), *b = calloc(size + 1, sizeof *b);
    int differs = 0;
    for (int s = 0; s < sim->config->species_count && size > 0 && a && b && !differs; s++) {
        if (sim->backend->ops->get_map(sim->backend, s, a) || t->sim->backend->ops->get_map(t->sim->backend, s, b))
            differs = compare_differs(r, t->steps, "a map of hits cannot be read: %s\n", lm_error());
        else if (memcmp(a, b, size * sizeof *a))
            differs = compare_differs(r, t->steps, "the maps of hits of species %s differ at the end\n",
                                      sim->config->species[s].name);
    }
    free(a);
    free(b);
    return differs;
}

static int compare_outputs(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r)
{
    struct array_range ranges[4 + LM_MAX_SPECIES] = {
        {"E_x", LM_E, 0}, {"E_y", LM_E + 1, 0}, {"E_z", LM_E + 2, 0}, {"electron pressure", LM_PRESSURE, 0}};
    struct compare_result said = {.step = -1};
    int count = 4, differ = 0;
    for (int s = 0; s < sim->config->species_count; s++)
        ranges[count++] = (struct array_range){sim->config->species[s].name, LM_SPECIES_N + s, 0};
    for (int k = 0; k < count; k++)
        differ += compare_array(t->sim, sim, &ranges[k], &said);
    if (differ == 0)
        return 0;
    compare_differs(r, t->steps, "arrays of outputs differ at the end:\n");
    compare_says(r, "%s", said.what);
    return 1;
}

/* The moments of [output.NAME], which are made of the particles as they are got. */
static int compare_moments(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r)
{
    const size_t cells = (size_t)sim->config->grid.nx * (size_t)sim->config->grid.ny;
    double *memory = malloc(2 * LM_MOMENT_COUNT * cells * sizeof *memory), *a[LM_MOMENT_COUNT], *b[LM_MOMENT_COUNT];
    int differs = memory ? 0 : compare_differs(r, t->steps, "no memory for moments\n");
    for (int m = 0; m < LM_MOMENT_COUNT; m++) {
        a[m] = memory + (size_t)m * cells;
        b[m] = a[m] + LM_MOMENT_COUNT * cells;
    }
    for (int s = 0; s < sim->config->species_count && !differs; s++) {
        if (lm_moments_collect(t->sim, sim->config, s, a) || lm_moments_collect(sim, sim->config, s, b))
            differs = compare_differs(r, t->steps, "moments cannot be collected: %s\n", lm_error());
        else if (memcmp(a[0], b[0], LM_MOMENT_COUNT * cells * sizeof *memory))
            differs = compare_differs(r, t->steps, "the moments of species %s differ at the end\n",
                                      sim->config->species[s].name);
    }
    free(memory);
    return differs;
}

/* Single values of arrays, at cells in all parts of the domain, and those of the run that is compared. */
static int compare_values(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r)
{
    enum { CELLS = 9, MOST = CELLS * (12 + LM_MAX_SPECIES) };
    struct lm_array_value a[MOST], b[MOST];
    const int arrays[] = {LM_B,     LM_B + 1, LM_B + 2,     LM_E,         LM_E + 1,   LM_E + 2,
                          LM_N_OLD, LM_J_OLD, LM_J_OLD + 1, LM_J_OLD + 2, LM_PRESSURE};
    const int once = (int)(sizeof arrays / sizeof *arrays), count = once + sim->config->species_count;
    for (int k = 0; k < count * CELLS; k++) {
        const int cell = k % CELLS, array = k / CELLS;
        a[k] = (struct lm_array_value){.array = array < once ? arrays[array] : LM_SPECIES_N + array - once,
                                       .i = (sim->grid.nx - 1) * (cell % 3) / 2,
                                       .j = (sim->grid.ny - 1) * (cell / 3) / 2};
        b[k] = a[k];
    }
    if (lm_sim_get_values(t->sim, (uint64_t)(count * CELLS), a) || lm_sim_get_values(sim, (uint64_t)(count * CELLS), b))
        return compare_differs(r, t->steps, "values of arrays cannot be read: %s\n", lm_error());
    for (int k = 0; k < count * CELLS; k++)
        if (memcmp(&a[k].value, &b[k].value, sizeof a[k].value) && !(isnan(a[k].value) && isnan(b[k].value)))
            return compare_differs(r, t->steps, "the values of array %d in cell (%d, %d) differ at the end\n",
                                   a[k].array, a[k].i, a[k].j);
    return 0;
}

/* Few bins, and more than backends count apart; along B, which is interpolated to the particles, and in a region. */
static struct lm_bins bins_of(const struct lm_sim *sim, double fastest, int many)
{
    const double v = fastest > 0 ? 0.5 * fastest : 1, lx = sim->config->grid.lx;
    struct lm_bins few = {
        3, {LM_AXIS_PAR, LM_AXIS_PITCH, LM_AXIS_GYROPHASE}, {9, 8, 16}, {-v, 0, 0}, {v, 180, 360}, LM_NO_REGION};
    const struct lm_bins more = {
        3, {LM_AXIS_PERP, LM_AXIS_ENERGY, LM_AXIS_X}, {50, 60, 40}, {0, 0, 0}, {v, v * v, lx}, LM_NO_REGION};
    few.to_x = 0.7 * lx;
    return many ? more : few;
}

/* Counts as [distribution.NAME] has them. */
static int compare_distributions(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r)
{
    struct lm_sim_status now;
    int differs = 0;
    lm_sim_status(t->sim, &now);
    for (int k = 0; k < 2 * sim->config->species_count && !differs; k++) {
        const struct lm_bins bins = bins_of(sim, now.species[k / 2].fastest, k % 2);
        const size_t size = lm_bins_counters(&bins) * sizeof(uint64_t);
        uint64_t *a = malloc(size), *b = malloc(size);
        if (!a || !b)
            differs = compare_differs(r, t->steps, "no memory for distributions\n");
        else if (lm_sim_distribution(t->sim, k / 2, &bins, a) || lm_sim_distribution(sim, k / 2, &bins, b))
            differs = compare_differs(r, t->steps, "particles cannot be counted: %s\n", lm_error());
        else if (memcmp(a, b, size))
            differs = compare_differs(r, t->steps, "the distributions of species %s differ at the end\n",
                                      sim->config->species[k / 2].name);
        free(a);
        free(b);
    }
    return differs;
}

/* The ions that both runs follow. */
static int compare_tracks(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r)
{
    for (int k = 0; k < sim->config->track_count; k++) {
        const struct lm_tracked *a, *b;
        uint64_t count, other;
        if (lm_sim_track(t->sim, k, &count, &a) || lm_sim_track(sim, k, &other, &b))
            return compare_differs(r, t->steps, "ions cannot be followed: %s\n", lm_error());
        if (count != other || (count > 0 && memcmp(a, b, count * sizeof *a)))
            return compare_differs(r, t->steps, "the ions of [track.%s] differ at the end\n",
                                   sim->config->track[k].name);
    }
    return 0;
}

int compare_ends(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r)
{
    return compare_ledgers(t, sim, r) || compare_maps(t, sim, r) || compare_distributions(t, sim, r) ||
           compare_outputs(t, sim, r) || compare_moments(t, sim, r) || compare_values(t, sim, r) ||
           compare_tracks(t, sim, r);
}
