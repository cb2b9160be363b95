/* CPU backend: memory, and the table of operations. */
#include "cpu/cpu.h"

#include <stdlib.h>

#include "backend/field_boundaries.h"
#include "larmor/physics/numerics/hash.h"
#include "larmor/physics/collisions/ion_electron_heating.h"
#include "larmor/physics/fluid/advect.h"
#include "larmor/physics/numerics/weno.h"

/* A thread with fewer cells or particles in a loop costs more than it brings. */
enum { ENOUGH_CELLS = 4096, ENOUGH_PARTICLES = 4096 };

static int is_flow(const struct lm_cpu *c, const double *array)
{
    for (int k = 0; k < 4; k++)
        if (array == c->flow[k])
            return 1;
    return 0;
}

static void cpu_destroy(struct lm_backend *b)
{
    struct lm_cpu *c = lm_cpu_of(b);
    for (int k = 0; k < LM_ARRAYS; k++)
        if (!is_flow(c, c->array[k]))
            free(c->array[k]);
    for (int k = 0; k < 4; k++)
        free(c->flow[k]);
    for (int k = 0; k < LM_MAX_BACKGROUNDS; k++)
        for (int side = 0; side < LM_SIDES; side++)
            free(c->background_inflow[k][side]);
    free(c->clearance);
    free(c->row_near_body);
    for (int k = 0; k < 4; k++) {
        free(c->sums[k]);
        free(c->raw[k]);
    }
    for (int k = 0; k < 3; k++) {
        free(c->curl[k]);
        free(c->ahead[k]);
        free(c->force[k]);
        free(c->e[k]);
        free(c->stage[k]);
        free(c->result[k]);
    }
    free(c->exchange.temperature);
    free(c->exchange.cells);
    free(c->exchange.sums);
    free(c->spare);
    free(c->solid);
    for (int j = 0; c->row_lock && j < b->setup.grid.ny; j++)
        omp_destroy_lock(&c->row_lock[j]);
    free(c->row_lock);
    for (int k = 0; k < LM_MAX_SPECIES; k++) {
        struct lm_cpu_species *s = &c->species[k];
        void *all[] = {s->x,     s->y,          s->u,          s->v,         s->w,    s->scratch,
                       s->place, s->tile_start, s->cell_start, s->cell_rank, s->home, s->map};
        for (size_t m = 0; m < sizeof all / sizeof *all; m++)
            free(all[m]);
        for (int side = 0; side < LM_SIDES; side++)
            free(s->inflow[side]);
    }
    for (int k = 0; k < LM_GAS_SUMS; k++)
        free(c->given[k]);
    for (int k = 0; k < LM_MAX_SPECIES; k++)
        free((void *)b->setup.species[k].stopping.row);
    free((void *)b->setup.bodies.mask);
    free((void *)b->setup.maps.cos2);
    free((void *)b->setup.maps.energy);
    free((void *)b->setup.maps.faces);
    free(c->beside);
    free(c->tile_has_body);
    free(c);
}

static int cpu_put(struct lm_backend *b, enum lm_array array, const double *host)
{
    memcpy(lm_cpu_of(b)->array[array], host, b->setup.grid.size * sizeof *host);
    return LM_OK;
}

static int cpu_get(struct lm_backend *b, enum lm_array array, double *host)
{
    if (array == LM_PRESSURE)
        lm_cpu_closure(b, LM_N_OLD, LM_N_OLD);
    memcpy(host, lm_cpu_of(b)->array[array], b->setup.grid.size * sizeof *host);
    return LM_OK;
}

static int cpu_swap_levels(struct lm_backend *b)
{
    double **array = lm_cpu_of(b)->array;
    for (int k = 0; k < 4; k++) {
        double *t = array[LM_N_OLD + k];
        array[LM_N_OLD + k] = array[LM_N_NEW + k];
        array[LM_N_NEW + k] = t;
    }
    return LM_OK;
}

/* As many threads as have enough to do; a user's number stays. All loops have the same number or one, because OpenMP
 * ends and starts threads where it changes; for that reason it falls only by half. */
static void size_team(struct lm_cpu *c)
{
    uint64_t most = 0;
    if (c->base.setup.threads > 0)
        return;
    for (int s = 0; s < c->base.setup.species_count; s++)
        most = c->species[s].count > most ? c->species[s].count : most;
    const int grid = lm_threads_useful(c->base.setup.grid.cells, ENOUGH_CELLS, c->most_threads),
              particles = lm_threads_useful(most, ENOUGH_PARTICLES, c->most_threads),
              fed = grid > particles ? grid : particles;
    if (fed > c->team || 2 * fed <= c->team)
        c->team = fed;
    c->threads = particles > 1 ? c->team : 1;
    c->grid_threads = grid > 1 ? c->team : 1;
}

static int cpu_control(struct lm_backend *b, struct lm_control *out)
{
    struct lm_control *c = &lm_cpu_of(b)->control;
    size_team(lm_cpu_of(b));
    *out = *c;
    memset(c->lost, 0, sizeof c->lost);
    memset(c->injected, 0, sizeof c->injected);
    memset(c->to_gas, 0, sizeof c->to_gas);
    memset(c->exchanged, 0, sizeof c->exchanged);
    memset(c->to_electrons, 0, sizeof c->to_electrons);
    memset(&c->heat, 0, sizeof c->heat);
    for (int f = 0; f < b->setup.background_count; f++) {
        memset(c->background[f].crossed, 0, sizeof c->background[f].crossed);
        memset(&c->background[f].source, 0, sizeof c->background[f].source);
    }
    return LM_OK;
}

static int cpu_put_inflow(struct lm_backend *b, int species, enum lm_side side, const struct lm_inflow_cell *cells)
{
    struct lm_inflow_cell **to = &lm_cpu_of(b)->species[species].inflow[side];
    size_t bytes = (size_t)(side < LM_Y_MIN ? b->setup.grid.ny : b->setup.grid.nx) * sizeof *cells;
    *to = *to ? *to : malloc(bytes);
    if (!*to)
        return lm_fail(LM_FAILED, "not enough memory for what enters");
    memcpy(*to, cells, bytes);
    return LM_OK;
}

static int cpu_put_background_side(struct lm_backend *b, int field, enum lm_side side, const double *values)
{
    double **to = &lm_cpu_of(b)->background_inflow[field][side];
    size_t bytes = (size_t)(side < LM_Y_MIN ? b->setup.grid.ny : b->setup.grid.nx) * sizeof *values;
    *to = *to ? *to : malloc(bytes);
    if (!*to)
        return lm_fail(LM_FAILED, "not enough memory for what flows in");
    memcpy(*to, values, bytes);
    return LM_OK;
}

static int cpu_get_map(struct lm_backend *b, int species, uint64_t *counters)
{
    struct lm_cpu *c = lm_cpu_of(b);
    memcpy(counters, c->species[species].map, lm_map_size(&b->setup.maps) * sizeof *counters);
    return LM_OK;
}

static int cpu_put_map(struct lm_backend *b, int species, const uint64_t *counters)
{
    struct lm_cpu *c = lm_cpu_of(b);
    for (uint64_t k = 0; k < lm_map_size(&b->setup.maps); k++)
        c->species[species].map[k] += counters[k];
    return LM_OK;
}

static int cpu_fingerprint(struct lm_backend *b, int64_t step, uint64_t *out)
{
    struct lm_cpu *c = lm_cpu_of(b);
    *out = lm_hash_step(step) + lm_cpu_hash_fields(c);
    for (int s = 0; s < b->setup.species_count; s++)
        *out += c->particles->hash(c, s);
    return LM_OK;
}

static const struct lm_backend_ops operations = {.name = "cpu",
                                                 .destroy = cpu_destroy,
                                                 .put = cpu_put,
                                                 .get = cpu_get,
                                                 .put_inflow = cpu_put_inflow,
                                                 .put_background_side = cpu_put_background_side,
                                                 .get_map = cpu_get_map,
                                                 .put_map = cpu_put_map,
                                                 .control = cpu_control,
                                                 .collect = lm_cpu_collect,
                                                 .moments = lm_cpu_moments,
                                                 .swap_levels = cpu_swap_levels,
                                                 .copy = lm_cpu_copy,
                                                 .closure = lm_cpu_closure,
                                                 .advance_b = lm_cpu_advance_b,
                                                 .ohm = lm_cpu_ohm,
                                                 .field_maxima = lm_cpu_field_maxima,
                                                 .flow = lm_cpu_flow,
                                                 .flow_rates = lm_cpu_flow_rates,
                                                 .advect = lm_cpu_advect,
                                                 .transfer_to_gas = lm_cpu_transfer_to_gas,
                                                 .heat = lm_cpu_heat,
                                                 .least_density = lm_cpu_least_density,
                                                 .heat_exchange_limits = lm_cpu_heat_exchange_limits,
                                                 .grid_sums = lm_cpu_grid_sums,
                                                 .fingerprint = cpu_fingerprint};

/* Zeroed in parallel, so that each thread's rows are near it. */
static double *grid_array(const struct lm_cpu *c, int *failed)
{
    size_t size = c->base.setup.grid.size;
    double *a = malloc(size * sizeof *a);
    if (!a) {
        *failed = 1;
        return NULL;
    }
#pragma omp parallel for num_threads(c->threads)
    for (size_t k = 0; k < size; k++)
        a[k] = 0.0;
    return a;
}

/* NULL stays NULL. */
static void *copy_of(const void *from, size_t bytes, int *failed)
{
    void *to = from ? malloc(bytes + 1) : NULL;
    *failed |= from && !to;
    return to ? memcpy(to, from, bytes) : NULL;
}

/* Copies what the setup lends, before anything else can fail. */
static int allocate_surfaces(struct lm_cpu *c)
{
    struct lm_setup *s = &c->base.setup;
    struct lm_map_bins *m = &s->maps;
    int failed = 0;
    s->bodies.mask = copy_of(s->bodies.mask, s->grid.cells, &failed);
    m->cos2 = copy_of(m->cos2, (size_t)m->angles * sizeof *m->cos2, &failed);
    m->energy = copy_of(m->energy, (size_t)(m->energies + 1) * sizeof *m->energy, &failed);
    m->faces = copy_of(m->faces, m->first[LM_SURFACES] * sizeof *m->faces, &failed);
    for (int k = 0; k < s->species_count && m->angles > 0; k++) {
        c->species[k].map = calloc(lm_map_size(m) + 1, sizeof *c->species[k].map);
        failed |= !c->species[k].map;
    }
    if (failed || s->bodies.count == 0)
        return failed;
    c->beside = malloc(s->grid.cells);
    c->tile_has_body = malloc((size_t)c->tiles_x * (size_t)c->tiles_y);
    if (!c->beside || !c->tile_has_body)
        return 1;
    lm_surfaces_mark(s, c->beside, c->tile_has_body);
    return 0;
}

/* Tables of stopping, and room for what a gas is given. */
static int allocate_gas(struct lm_cpu *c)
{
    struct lm_setup *s = &c->base.setup;
    int failed = 0, any = 0;
    for (int k = 0; k < s->species_count; k++) {
        struct lm_backend_species *p = &s->species[k];
        p->stopping =
            lm_stopping_in_memory(p->stopping, copy_of(p->stopping.row, lm_stopping_bytes(&p->stopping), &failed));
        any |= p->has_gas;
    }
    for (int k = 0; k < LM_GAS_SUMS && any; k++) {
        c->given[k] = calloc(s->grid.cells, sizeof **c->given);
        failed |= !c->given[k];
    }
    return failed;
}

/* Memory for the background fields: the arrays, and the clearance of their stencils. */
static int allocate_backgrounds(struct lm_cpu *c)
{
    const struct lm_setup *s = &c->base.setup;
    const struct lm_grid *g = &s->grid;
    int failed = 0;
    for (int f = 0; f < s->background_count; f++) {
        const struct lm_background *field = &s->background[f];
        const int flow = field->flow == LM_FLOW_ION ? 0 : 2;
        for (int k = 0; k < 4 && !lm_has_own_flow(field); k++)
            c->flow[k] = c->flow[k] ? c->flow[k] : grid_array(c, &failed);
        c->array[LM_BACKGROUND + f] = grid_array(c, &failed);
        for (int axis = 0; axis < 2; axis++)
            c->array[LM_BACKGROUND_X + axis * LM_MAX_BACKGROUNDS + f] =
                lm_has_own_flow(field) ? grid_array(c, &failed) : c->flow[flow + axis];
        if (field->has_source)
            c->array[LM_BACKGROUND_SOURCE + f] = grid_array(c, &failed);
    }
    if (s->background_count == 0)
        return 0;
    c->clearance = malloc(g->size);
    c->row_near_body = calloc((size_t)g->ny, 1);
    if (failed || !c->clearance || !c->row_near_body || lm_stencil_clearance(g, s->bodies.mask, c->clearance))
        return 1;
    for (int j = 0; j < g->ny; j++)
        for (int i = -1; i <= g->nx; i++)
            c->row_near_body[j] |= !lm_has_full_clearance(c->clearance[lm_at(g, i, j)]);
    return 0;
}

static int allocate_ionisation(struct lm_cpu *c)
{
    int failed = 0;
    for (int k = 0; k < c->base.setup.ionisation_count; k++)
        for (int n = 0; n < LM_BORN_ARRAYS; n++)
            c->array[LM_BORN + n * LM_MAX_IONISATIONS + k] = grid_array(c, &failed);
    return failed;
}

static int allocate_exchange(struct lm_cpu *c)
{
    const struct lm_grid *g = &c->base.setup.grid;
    if (!lm_any_exchanges(&c->base.setup))
        return 0;
    c->exchange.temperature = calloc(g->cells, sizeof *c->exchange.temperature);
    c->exchange.cells = malloc(g->cells * sizeof *c->exchange.cells);
    c->exchange.sums = calloc(g->cells, LM_CELL_SUMS * sizeof *c->exchange.sums);
    return !c->exchange.temperature || !c->exchange.cells || !c->exchange.sums;
}

static int allocate(struct lm_cpu *c)
{
    const struct lm_setup *s = &c->base.setup;
    int failed = allocate_surfaces(c) | allocate_gas(c); /* of both, or the end would free what is borrowed */
    failed = failed || allocate_backgrounds(c) || allocate_ionisation(c) || allocate_exchange(c);
    for (int k = 0; k < LM_SPECIES_N + s->species_count; k++)
        c->array[k] = grid_array(c, &failed);
    for (int k = 0; k < 4; k++) {
        c->raw[k] = grid_array(c, &failed);
        c->sums[k] = calloc(s->grid.cells, sizeof **c->sums);
        failed |= !c->sums[k];
    }
    for (int k = 0; k < 3; k++) {
        c->curl[k] = grid_array(c, &failed);
        c->ahead[k] = grid_array(c, &failed);
        c->force[k] = grid_array(c, &failed);
        c->e[k] = grid_array(c, &failed);
        c->stage[k] = grid_array(c, &failed);
        c->result[k] = grid_array(c, &failed);
    }
    c->spare = grid_array(c, &failed);
    if (s->bodies.count > 0) {
        c->solid = malloc(s->grid.size);
        failed |= !c->solid;
    }
    c->row_lock = malloc((size_t)s->grid.ny * sizeof *c->row_lock);
    failed |= !c->row_lock;
    for (int j = 0; c->row_lock && j < s->grid.ny; j++)
        omp_init_lock(&c->row_lock[j]);
    size_t tiles = (size_t)c->tiles_x * (size_t)c->tiles_y, cells = tiles * (size_t)(s->tile * s->tile);
    for (int k = 0; k < s->species_count; k++) {
        struct lm_cpu_species *p = &c->species[k];
        p->tile_start = calloc(tiles + 1, sizeof *p->tile_start);
        p->cell_start = calloc(cells + 1, sizeof *p->cell_start);
        p->cell_rank = calloc(cells, sizeof *p->cell_rank);
        failed |= !p->tile_start || !p->cell_start || !p->cell_rank;
    }
    return failed ? lm_fail(LM_FAILED, "not enough memory for a grid of %d x %d cells", s->grid.nx, s->grid.ny) : LM_OK;
}

int lm_cpu_create(const struct lm_setup *setup, struct lm_backend **out)
{
    struct lm_cpu *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return lm_fail(LM_FAILED, "not enough memory");
    c->particles = setup->precision == 32 ? &lm_cpu_particles_f32 : &lm_cpu_particles_f64;
    c->base.ops = &operations;
    c->base.particles = &c->particles->ops;
    c->base.setup = *setup;
    c->most_threads = setup->threads > 0 ? setup->threads : lm_threads_available();
    c->team = c->threads = c->most_threads; /* to load particles; then see size_team */
    c->grid_threads = setup->grid.cells >= 2 * ENOUGH_CELLS ? c->most_threads : 1;
    c->tiles_x = (setup->grid.nx + setup->tile - 1) / setup->tile;
    c->tiles_y = (setup->grid.ny + setup->tile - 1) / setup->tile;
    c->sides = lm_field_sides_of(setup);
    for (int axis = 0; axis < 2; axis++)
        c->walls[axis] = lm_field_walls(&c->sides, axis);
    int status = allocate(c);
    if (status) {
        cpu_destroy(&c->base);
        return status;
    }
    if (c->solid)
        lm_fill_solid(setup, c->solid);
    *out = &c->base;
    return LM_OK;
}
