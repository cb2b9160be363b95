/* CPU backend: the table of operations. */
#include "cpu/fields.h"
#include "cpu/strips.h"

#include <stdlib.h>

#include "backend/field_boundaries.h"
#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/numerics/hash.h"

/* A thread with fewer cells or particles in a loop costs more than it brings. */
enum { ENOUGH_CELLS = 4096, ENOUGH_PARTICLES = 4096 };

static void cpu_destroy(struct lm_backend *b)
{
    struct lm_cpu *c = lm_cpu_of(b);
    for (int j = 0; c->row_lock && j < b->setup.grid.ny; j++)
        omp_destroy_lock(&c->row_lock[j]);
    for (int k = 0; k < LM_MAX_SPECIES; k++) {
        struct lm_cpu_species *s = &c->species[k];
        void *all[] = {s->x, s->y, s->vx, s->vy, s->vz, s->scratch, s->slot, s->home};
        for (size_t m = 0; m < sizeof all / sizeof *all; m++)
            free(all[m]);
    }
    lm_pool_free(&c->pool);
    free(c);
}

static int cpu_put(struct lm_backend *b, enum lm_array array, const double *host)
{
    lm_cpu_of(b)->used_void |= array >= LM_VOID_E && array <= LM_VOID;
    memcpy(lm_cpu_of(b)->array[array], host, b->setup.grid.size * sizeof *host);
    return LM_OK;
}

static int cpu_fill(struct lm_backend *b, enum lm_array array, double value)
{
    struct lm_cpu *c = lm_cpu_of(b);
    c->used_void |= array >= LM_VOID_E && array <= LM_VOID;
#pragma omp parallel for num_threads(c->threads)
    for (size_t k = 0; k < b->setup.grid.size; k++)
        c->array[array][k] = value;
    return LM_OK;
}

static const double *cpu_view(struct lm_backend *b, enum lm_array array)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const int is_field = array == LM_PRESSURE_E || array == LM_PRESSURE_E + 1;
    if (array == LM_PRESSURE || is_field)
        lm_cpu_closure(b, LM_N_OLD, LM_N_OLD, 0.0);
    if (is_field)
        lm_cpu_pressure_field(c, c->array[LM_N_OLD], lm_least_push_density(&b->setup.ohm), 0);
    return c->array[array];
}

static int cpu_get(struct lm_backend *b, enum lm_array array, double *host)
{
    memcpy(host, cpu_view(b, array), b->setup.grid.size * sizeof *host);
    return LM_OK;
}

static int cpu_values(struct lm_backend *b, uint64_t count, struct lm_array_value *values)
{
    int has_pressure = 0;
    for (uint64_t k = 0; k < count; k++)
        has_pressure |= values[k].array == LM_PRESSURE;
    if (has_pressure)
        lm_cpu_closure(b, LM_N_OLD, LM_N_OLD, 0.0);
    for (uint64_t k = 0; k < count; k++)
        values[k].value = lm_cpu_of(b)->array[values[k].array][lm_at(&b->setup.grid, values[k].i, values[k].j)];
    return LM_OK;
}

static int cpu_swap_levels(struct lm_backend *b)
{
    lm_swap_levels_of(&b->setup, lm_cpu_of(b)->array);
    return LM_OK;
}

static int cpu_swap(struct lm_backend *b, enum lm_array one, enum lm_array other)
{
    double **array = lm_cpu_of(b)->array;
    lm_swap_arrays(array + one, array + other, 3);
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
    c->heat = c->through_surfaces = (struct lm_wide){0, 0};
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
    *to = *to ? *to : lm_pool_take(&lm_cpu_of(b)->pool, bytes);
    if (!*to)
        return lm_fail(LM_FAILED, "not enough memory for what enters");
    memcpy(*to, cells, bytes);
    return LM_OK;
}

static int cpu_put_background_side(struct lm_backend *b, int field, enum lm_side side, const double *values)
{
    double **to = &lm_cpu_of(b)->background_inflow[field][side];
    size_t bytes = (size_t)(side < LM_Y_MIN ? b->setup.grid.ny : b->setup.grid.nx) * sizeof *values;
    *to = *to ? *to : lm_pool_take(&lm_cpu_of(b)->pool, bytes);
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

static int cpu_get_strip(struct lm_backend *b, enum lm_side side, double *values)
{
    lm_cpu_get_strip(lm_cpu_of(b), side, values);
    return LM_OK;
}

static int cpu_put_strip(struct lm_backend *b, enum lm_side side, const double *values)
{
    lm_cpu_put_strip(lm_cpu_of(b), side, values);
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
                                                 .fill = cpu_fill,
                                                 .get = cpu_get,
                                                 .values = cpu_values,
                                                 .view = cpu_view,
                                                 .put_inflow = cpu_put_inflow,
                                                 .put_background_side = cpu_put_background_side,
                                                 .get_map = cpu_get_map,
                                                 .put_map = cpu_put_map,
                                                 .get_strip = cpu_get_strip,
                                                 .put_strip = cpu_put_strip,
                                                 .control = cpu_control,
                                                 .collect = lm_cpu_collect,
                                                 .moments = lm_cpu_moments,
                                                 .swap_levels = cpu_swap_levels,
                                                 .swap = cpu_swap,
                                                 .copy = lm_cpu_copy,
                                                 .drive = lm_cpu_drive,
                                                 .resistivity = lm_cpu_resistivity,
                                                 .closure = lm_cpu_closure,
                                                 .advance_b = lm_cpu_advance_b,
                                                 .relax_b = lm_cpu_relax_b,
                                                 .ohm = lm_cpu_ohm,
                                                 .field_maxima = lm_cpu_field_maxima,
                                                 .side_energy = lm_cpu_side_energy,
                                                 .flow = lm_cpu_flow,
                                                 .flow_rates = lm_cpu_flow_rates,
                                                 .advect = lm_cpu_advect,
                                                 .survey_background = lm_cpu_survey_background,
                                                 .transfer_to_gas = lm_cpu_transfer_to_gas,
                                                 .heat = lm_cpu_heat,
                                                 .least_density = lm_cpu_least_density,
                                                 .heat_exchange_limits = lm_cpu_heat_exchange_limits,
                                                 .grid_sums = lm_cpu_grid_sums,
                                                 .fingerprint = cpu_fingerprint};

int lm_cpu_create(const struct lm_setup *setup, struct lm_backend **out)
{
    struct lm_cpu *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return lm_fail(LM_FAILED, "not enough memory");
    c->particles = setup->precision == LM_SINGLE ? &lm_cpu_particles_f32 : &lm_cpu_particles_f64;
    c->base.ops = &operations;
    c->base.particles = &c->particles->ops;
    c->base.setup = *setup;
    c->base.most_stray_cells = setup->halo ? LM_HALO_REACH : LM_MAX_STRAY_CELLS;
    c->most_threads = lm_threads_wanted(setup->threads);
    c->team = c->threads = c->most_threads; /* to load particles; then see size_team */
    c->grid_threads = setup->grid.cells >= 2 * ENOUGH_CELLS ? c->most_threads : 1;
    c->tiling = lm_tiling_make(setup->tile, setup->grid.nx, setup->grid.ny);
    c->sides = lm_field_sides_of(setup);
    for (int axis = 0; axis < 2; axis++)
        c->walls[axis] = lm_field_walls(&c->sides, axis);
    int status = lm_cpu_allocate(c);
    if (status) {
        cpu_destroy(&c->base);
        return status;
    }
    *out = &c->base;
    return LM_OK;
}
