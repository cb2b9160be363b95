/* The state at the start: from the configuration, or from a checkpoint. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/field_boundaries.h"
#include "larmor/physics/numerics/bounds.h"
#include "larmor/sim.h"

int lm_sim_too_fast(const struct lm_config *c, int species)
{
    return lm_fail(LM_BAD_INPUT,
                   "%s: [species.%s]: drift or temperature / mass too large: speeds must stay below %g v_A", c->file,
                   c->species[species].name, LM_MAX_SPEED);
}

int lm_sim_no_particles(const struct lm_config *c)
{
    return lm_fail(LM_BAD_INPUT,
                   "%s: [species.NAME]: no species has any particles: raise density or particles_per_cell", c->file);
}

/* Density and current at t = 0, E^0, then velocities and J_i half a step back. */
static int start_levels(struct lm_sim *sim)
{
    struct lm_backend *b = sim->backend;
    const struct lm_backend_ops *ops = b->ops;
    double dt = sim->config->run.dt;
    int hybrid = sim->config->fields.solver == LM_SOLVER_HYBRID;
    int status = ops->control(b, &sim->control);
    for (int s = 0; s < sim->config->species_count && !status; s++)
        if (!(sqrt(sim->control.speed2[s]) < LM_MAX_SPEED))
            status = lm_sim_too_fast(sim->config, s);
    if (!status)
        status = lm_sim_pass_all(sim, 0, 0, 0);
    if (!status)
        status = ops->swap_levels(b);
    if (!status)
        status = lm_sim_start_electrons(sim);
    if (!status && hybrid)
        status = ops->ohm(b, LM_OHM_OLD);
    if (!status)
        status = hybrid ? ops->control(b, &sim->control) : lm_sim_settle(sim);
    if (!status)
        status = lm_sim_check(sim);
    if (!status)
        status = lm_sim_pass_all(sim, -0.5 * dt, -dt, 0);
    if (!status)
        status = ops->copy(b, LM_J_OLD, LM_J_NEW, 3);
    return status ? status : lm_sim_settle(sim);
}

/* No particle may ever be faster: it would cross too many cells. */
static double fastest(const struct lm_sim *sim)
{
    return LM_MAX_CELLS * fmin(sim->grid.dx, sim->grid.dy) / sim->config->run.dt;
}

/* Without a field solver a checkpoint knows nothing of B behind walls: that comes from the configuration. */
static int put_b_behind_walls(struct lm_sim *sim, double *work)
{
    const struct lm_grid *g = &sim->grid;
    double *store = malloc(3 * g->size * sizeof *store);
    double *b[3] = {store, store + g->size, store + 2 * g->size};
    int status = store ? lm_setup_b(sim->config, b) : lm_fail(LM_FAILED, "not enough memory");
    for (int d = 0; d < 3 && !status; d++) {
        status = sim->backend->ops->get(sim->backend, LM_B + d, work);
        for (int j = 0; j < g->ny; j++)
            memcpy(b[d] + lm_at(g, 0, j), work + lm_at(g, 0, j), (size_t)g->nx * sizeof *work);
        lm_grid_wrap(g, b[d]);
        if (!status)
            status = sim->backend->ops->put(sim->backend, LM_B + d, b[d]);
    }
    free(store);
    return status;
}

/* Puts E_`component` of the push into the cells of `e`. */
static int keep_inside(struct lm_sim *sim, int component, double *e, double *work)
{
    const struct lm_grid *g = &sim->grid;
    int status = sim->backend->ops->get(sim->backend, LM_PUSH_E + component, work);
    for (int j = 0; j < g->ny && !status; j++)
        memcpy(e + lm_at(g, 0, j), work + lm_at(g, 0, j), (size_t)g->nx * sizeof *e);
    lm_grid_wrap(g, e);
    return status;
}

/* E of the configuration, into LM_E and what follows it: all that there is without a field solver; with it, what is
 * given beyond sides. `restored`: inside the push has its E already, and LM_E shows that before the first step. `work`
 * has four arrays more. */
static int put_e(struct lm_sim *sim, int restored, double *work)
{
    static const struct lm_cell_offset faces[3] = {{0.5, 0}, {0, 0.5}, {0, 0}};
    const struct lm_config *c = sim->config;
    const size_t size = sim->grid.size;
    const struct lm_field_sides sides = lm_field_sides_of(&sim->backend->setup);
    const int all = c->fields.solver == LM_SOLVER_NONE;
    double *b[3] = {work + size, work + 2 * size, work + 3 * size};
    if (!all && !lm_is_given_e(&sides))
        return LM_OK;
    int status = lm_setup_b(c, b);
    for (int d = 0; d < 3 && !status; d++) {
        status = lm_expr_fill(c->constants, c->fields.e[d], &sim->grid, faces[d], work);
        if (!status)
            status = lm_setup_inflow_e(c, b, d, work);
        if (!status && restored && !all)
            status = keep_inside(sim, d, work, work + 4 * size);
        if (!status)
            status = sim->backend->ops->put(sim->backend, LM_E + d, work);
        if (!status && all)
            status = sim->backend->ops->put(sim->backend, LM_PUSH_E + d, work);
    }
    return status;
}

static int put_eta(struct lm_sim *sim, double *work)
{
    int status = lm_setup_eta(sim->config, sim->mask, work);
    if (!status)
        lm_sim_find_heat(sim, work);
    return status ? status : sim->backend->ops->put(sim->backend, LM_ETA, work);
}

int lm_sim_start(struct lm_sim *sim)
{
    const struct lm_config *c = sim->config;
    size_t size = sim->grid.size;
    double *store = malloc((3 + LM_LOADING_ARRAYS) * size * sizeof *store);
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory for the initial profiles");
    double *b[3] = {store, store + size, store + 2 * size};
    uint64_t total = 0;
    int fills = 0;
    int status = lm_setup_b(c, b);
    if (!status)
        status = lm_sim_begin_inflow(sim);
    if (!status)
        status = lm_sim_begin_backgrounds(sim, NULL, NULL);
    if (!status)
        status = lm_sim_begin_ionisation(sim);
    for (int d = 0; d < 3 && !status; d++)
        status = sim->backend->ops->put(sim->backend, LM_B + d, b[d]);
    if (!status)
        status = put_eta(sim, store + 3 * size);
    if (!status)
        status = put_e(sim, 0, store + 3 * size);
    for (int s = 0; s < c->species_count && !status; s++) {
        struct lm_loading loading;
        double *density = store + 3 * size; /* the first array of a loading */
        status = lm_setup_loading(c, s, b, density, &loading);
        for (int j = 0; j < sim->grid.ny && sim->mask; j++)
            for (int i = 0; i < sim->grid.nx; i++)
                if (sim->mask[(size_t)j * (size_t)sim->grid.nx + (size_t)i])
                    density[lm_at(&sim->grid, i, j)] = 0;
        if (!status)
            status = sim->backend->ops->load(sim->backend, s, &loading, &sim->count[s]);
        if (status)
            lm_fail_context(status, "%s: [species.%s]", c->file, c->species[s].name);
        else
            status = sim->backend->ops->survey_particles(sim->backend, s);
        lm_ledger_begin(&sim->ledger[s], sim->count[s], fastest(sim));
        total += sim->count[s];
    }
    free(store);
    for (int s = 0; s < c->species_count; s++)
        fills |= sim->inflow[s].most > 0 || lm_is_ionised(c, s);
    if (!status && total == 0 && !fills)
        status = lm_sim_no_particles(c);
    return status ? status : start_levels(sim);
}

int lm_sim_begin(struct lm_sim *sim)
{
    const int status = lm_sim_start(sim);
    return status == LM_STOPPED ? lm_fail_context(LM_BAD_INPUT, "%s", sim->config->file) : status;
}

/* Callbacks of the checkpoint: one simulation, and a packed array's ghosted twin. What lies beyond walls follows from
 * what is inside, but for B, which comes with its ghosts, and E where it is given. */
struct restore {
    struct lm_sim *sim;
    double *work;
    int place;
};

static int set_field(void *context, int field, const double *packed)
{
    struct restore *r = context;
    if (r->place)
        return LM_OK; /* the second reading is for the particles */
    struct lm_backend *b = r->sim->backend;
    const int array = lm_sim_state_array(r->sim, field);
    if (field >= lm_sim_state_fields(r->sim) - lm_sim_state_bordered(r->sim))
        return b->ops->put(b, array, packed);
    const int e = field - LM_PUSH_E, walls = lm_has_field_walls(&b->setup);
    int status = walls && e >= 0 && e < 3 ? b->ops->get(b, LM_E + e, r->work) : LM_OK;
    lm_grid_unpack(&r->sim->grid, packed, r->work);
    if (walls && e >= 0 && e < 3)
        lm_fill_e(&b->setup, r->work, e, LM_FILL_PUSH);
    else if (walls && array >= LM_N_OLD && array < LM_STATE_FIELDS)
        lm_fill_moment(&r->sim->grid, r->work, field - LM_J_OLD);
    return status ? status : b->ops->put(b, array, r->work);
}

static int set_particles(void *context, int species, uint64_t first, uint64_t count, struct lm_raw_particles in)
{
    struct restore *r = context;
    (void)first;
    return r->sim->backend->ops->put_particles(r->sim->backend, species, r->place, count, in);
}

static int set_map(void *context, int species, const uint64_t *counters)
{
    struct restore *r = context;
    return r->place ? LM_OK : r->sim->backend->ops->put_map(r->sim->backend, species, counters);
}

static int check_head(const struct lm_sim *sim, const char *path, const struct lm_checkpoint *h)
{
    const struct lm_config *c = sim->config;
    const struct lm_grid *g = &sim->grid;
    if (h->nx != g->nx || h->ny != g->ny || h->lx != g->lx || h->ly != g->ly)
        return lm_fail(
            LM_BAD_INPUT,
            "%s: a checkpoint of another grid: %d x %d cells, %.17g x %.17g d_i; the run has %d x %d, %.17g x "
            "%.17g: set [grid] as there",
            path, h->nx, h->ny, h->lx, h->ly, g->nx, g->ny, g->lx, g->ly);
    if (h->dt != c->run.dt)
        return lm_fail(
            LM_BAD_INPUT,
            "%s: a checkpoint with dt = %.17g; the run has %.17g: set run.dt as there (velocities are half a "
            "step back)",
            path, h->dt, c->run.dt);
    if (h->shape != c->particles.shape || h->precision != c->particles.precision)
        return lm_fail(
            LM_BAD_INPUT,
            "%s: a checkpoint with %s shape and %s precision: set particles.shape and particles.precision so", path,
            h->shape == LM_LINEAR ? "linear" : "quadratic", h->precision == LM_SINGLE ? "single" : "double");
    if (h->species_count != c->species_count)
        return lm_fail(LM_BAD_INPUT, "%s: a checkpoint of %d species; the run has %d: give the same [species.NAME]",
                       path, h->species_count, c->species_count);
    for (int s = 0; s < h->species_count; s++) {
        const struct lm_checkpoint_species *a = &h->species[s];
        const struct lm_species_config *k = &c->species[s];
        if (strcmp(a->name, k->name) || a->charge != k->charge || a->mass != k->mass ||
            a->weight != sim->backend->setup.species[s].weight)
            return lm_fail(
                LM_BAD_INPUT,
                "%s: species %d is '%s' there (charge %.17g, mass %.17g, particles_per_cell %.17g), '%s' (%.17g, "
                "%.17g, %.17g) in the run: give the same [species.NAME]",
                path, s + 1, a->name, a->charge, a->mass, 1 / a->weight, k->name, k->charge, k->mass,
                k->particles_per_cell);
    }
    if (lm_sim_compare_electrons(sim, path, h))
        return LM_BAD_INPUT;
    const int fields = lm_sim_state_fields(sim) - c->background_count + h->background_count;
    if (h->field_count != fields || h->bordered != lm_sim_state_bordered(sim))
        return lm_fail(LM_BAD_INPUT,
                       "%s: holds %d fields instead of %d: take the version that wrote it, and [boundary] as there",
                       path, h->field_count, fields);
    return lm_sim_compare(sim, path, h);
}

/* Counts and ledger of a species; the ledger's units follow from grid and time step. */
static int take_ledger(struct lm_sim *sim, int species, const char *path, const struct lm_checkpoint_species *from)
{
    struct lm_ledger own;
    lm_ledger_begin(&own, from->ledger.loaded, fastest(sim));
    if (own.exponent_v != from->ledger.exponent_v || own.exponent_v2 != from->ledger.exponent_v2)
        return lm_fail(LM_BAD_INPUT, "%s: species %s: the ledger has other units; the file is damaged", path,
                       from->name);
    sim->count[species] = from->count;
    sim->ledger[species] = from->ledger;
    return LM_OK;
}

int lm_sim_restore(struct lm_sim *sim, const char *path, struct lm_checkpoint *head)
{
    int status = lm_checkpoint_head(path, head);
    return status ? status : lm_sim_restore_state(sim, path, head);
}

int lm_sim_restore_state(struct lm_sim *sim, const char *path, struct lm_checkpoint *head)
{
    const struct lm_backend_ops *ops = sim->backend->ops;
    int status = check_head(sim, path, head);
    if (status)
        return status;
    head->field_names = sim->state_names;
    double *work = calloc(5 * sim->grid.size, sizeof *work);
    struct restore r = {sim, work, 0};
    struct lm_checkpoint_io io = {
        .context = &r, .set_field = set_field, .set_particles = set_particles, .set_map = set_map};
    if (!work)
        status = lm_fail(LM_FAILED, "not enough memory");
    for (int s = 0; s < head->species_count && !status; s++) {
        status = take_ledger(sim, s, path, &head->species[s]);
        if (!status)
            status = ops->reserve(sim->backend, s, sim->count[s]);
    }
    if (!status)
        status = put_e(sim, 0, work);
    for (r.place = 0; r.place < 2 && !status; r.place++)
        status = lm_checkpoint_read(path, head, &io);
    for (int s = 0; s < head->species_count && !status; s++)
        status = ops->survey_particles(sim->backend, s);
    if (!status)
        status = ops->copy(sim->backend, LM_E, LM_PUSH_E, 3); /* for an output before the first step */
    if (!status)
        status = put_eta(sim, work);
    const int given = sim->config->fields.solver == LM_SOLVER_NONE;
    if (!status)
        status = put_e(sim, 1, work);
    if (!status && given &&
        (sim->grid.sides.of[LM_X_MIN] != LM_PERIODIC || sim->grid.sides.of[LM_Y_MIN] != LM_PERIODIC))
        status = put_b_behind_walls(sim, work);
    free(work);
    sim->step = head->step;
    sim->electrons.heat = head->electrons_heat;
    if (!status)
        status = lm_sim_begin_inflow(sim);
    if (!status)
        status = lm_sim_begin_backgrounds(sim, path, head);
    if (!status)
        status = lm_sim_begin_ionisation(sim);
    return status ? status : lm_sim_settle(sim);
}
