/* The algorithm: leapfrog for the ions, Runge-Kutta substeps for B, one pass over the particles a step. Relatives:
 * Matthews (1994, J. Comput. Phys. 112, 102) and Holmstrom (2010, ASP Conf. Ser. 429, 211). They advance B in two
 * halves with moments of the start of each, which lags by dt/4; here B takes the whole step with moments centred in it,
 * which is second order.
 *
 * Known at the start of a step: x^n, v^{n-1/2}, B^n, E^n, n^n, J_i^{n-1/2}.
 */
#include "larmor/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "larmor/edges.h"
#include "larmor/physics/bounds.h"
#include "larmor/physics/tiling.h"

const char *const lm_state_names[LM_STATE_FIELDS + 3] = {
    "B_x",   "B_y",   "B_z",   "push_E_x",   "push_E_y",   "push_E_z",  "n",
    "J_i_x", "J_i_y", "J_i_z", "B_x_beyond", "B_y_beyond", "B_z_beyond"};

/* Measured on an H200 (`larmor bench order`): a sort costs as much as so many passes, a stray as much as so many other
 * particles. */
static const double SORT_COST = 1.9, STRAY_COST = 50;
enum { SORT_AT_LEAST_EVERY = 64 };

int lm_sim_create(const struct lm_config *config, struct lm_sim **out)
{
    struct lm_sim *sim = calloc(1, sizeof *sim);
    *out = NULL;
    if (!sim)
        return lm_fail(LM_FAILED, "not enough memory");
    struct lm_setup setup = lm_setup_of(config);
    sim->config = config;
    sim->grid = setup.grid;
    int status = lm_sim_surround(sim, &setup);
    if (!status)
        status = lm_backend_create(config->run.backend, &setup, &sim->backend);
    if (status)
        lm_sim_destroy(&sim);
    *out = sim;
    return status;
}

void lm_sim_destroy(struct lm_sim **sim)
{
    if (!*sim)
        return;
    lm_backend_destroy(&(*sim)->backend);
    for (int s = 0; s < LM_MAX_SPECIES; s++)
        for (int side = 0; side < LM_SIDES; side++)
            free((*sim)->inflow[s].cells[side]);
    free((*sim)->mask);
    free((void *)(*sim)->maps.cos2);
    free((void *)(*sim)->maps.energy);
    free((void *)(*sim)->maps.faces);
    free(*sim);
    *sim = NULL;
}

double lm_sim_time(const struct lm_sim *sim)
{
    return (double)sim->step * sim->config->run.dt;
}

double lm_sim_weight(const struct lm_sim *sim, int species)
{
    return sim->backend->setup.species[species].weight * sim->grid.dx * sim->grid.dy;
}

int lm_sim_state_fields(const struct lm_sim *sim)
{
    return LM_STATE_FIELDS + (lm_has_field_walls(&sim->backend->setup) ? 3 : 0);
}

int lm_sim_fingerprint(struct lm_sim *sim, uint64_t *fingerprint)
{
    return sim->backend->ops->fingerprint(sim->backend, sim->step, fingerprint);
}

static double speed_bound(const struct lm_sim *sim, int species, double kick_dt)
{
    const struct lm_backend_species *s = &sim->backend->setup.species[species];
    const double bound =
        lm_speed_bound(sim->control.speed2[species], sim->control.push_e, s->charge / s->mass, kick_dt);
    return bound < sim->inflow[species].speed ? sim->inflow[species].speed : bound;
}

static struct lm_pass pass_of(const struct lm_sim *sim, int species, double kick_dt, double drift_dt, int move)
{
    struct lm_pass p = {.kick_dt = kick_dt,
                        .drift_dt = drift_dt,
                        .move = move,
                        .cap = lm_cap_exponent(speed_bound(sim, species, kick_dt)),
                        .step = sim->step};
    lm_ledger_units(&sim->ledger[species], (double)(sim->count[species] + sim->inflow[species].most), p.cap, &p.tally_v,
                    &p.tally_v2);
    return p;
}

static int enters(const struct lm_sim *sim, int species)
{
    return sim->inflow[species].most > 0;
}

/* One pass over every species, and their moments at the new level. With `move`, which a step has and its preparation
 * has not, particles also leave and enter. */
static int pass_all(struct lm_sim *sim, double kick_dt, double drift_dt, int move)
{
    const struct lm_backend_ops *ops = sim->backend->ops;
    int status = LM_OK;
    for (int s = 0; s < sim->config->species_count && !status; s++) {
        struct lm_pass *pass = &sim->pass[s];
        *pass = pass_of(sim, s, kick_dt, drift_dt, move);
        if (move)
            status = lm_sim_lose(sim, s);
        if (!status)
            status = ops->pass(sim->backend, s, pass);
        if (!status && move && enters(sim, s))
            status = ops->enter(sim->backend, s, pass);
        if (!status)
            status = ops->collect(sim->backend, s, pass->cap, s == 0);
    }
    return status ? status : ops->moments(sim->backend);
}

/* Maxima of the fields at the level now called OLD. */
static int settle(struct lm_sim *sim)
{
    const struct lm_backend_ops *ops = sim->backend->ops;
    int status = ops->survey(sim->backend);
    return status ? status : ops->control(sim->backend, &sim->control);
}

static int sort_if_due(struct lm_sim *sim, int species, double bound)
{
    int64_t every = sim->config->run.sort_every;
    double cells = bound * sim->config->run.dt / fmin(sim->grid.dx, sim->grid.dy);
    int64_t steps = sim->unsorted[species].steps;
    double cost = (double)sim->control.strays[species] * STRAY_COST, sort = SORT_COST * (double)sim->count[species];
    sim->unsorted[species].cost += cost;
    /* It pays as soon as a step costs more than the mean since the last sort, the sort included. */
    int due = every > 0 ? steps >= every
                        : cost * (double)steps > sort + sim->unsorted[species].cost || steps >= SORT_AT_LEAST_EVERY;
    if (due || sim->unsorted[species].cells + cells > LM_MAX_STRAY_CELLS) {
        int status = sim->backend->ops->sort(sim->backend, species);
        if (status)
            return status;
        sim->unsorted[species].steps = 0;
        sim->unsorted[species].cells = 0;
        sim->unsorted[species].cost = 0;
        sim->shuffled[species] = 0;
        sim->sorts++;
    }
    sim->unsorted[species].steps++;
    sim->unsorted[species].cells += cells;
    return LM_OK;
}

static int substeps_needed(const struct lm_sim *sim)
{
    double n = ceil(sim->config->run.dt * sim->control.frequency / sim->config->fields.substep_safety);
    double least = sim->config->fields.min_substeps;
    return n < least ? (int)least : n < 1e9 ? (int)n : 1000000000; /* NaN: the largest */
}

/* B and E to n+1, from the moments that the particles have left. */
static int advance_fields(struct lm_sim *sim)
{
    struct lm_backend *b = sim->backend;
    const struct lm_backend_ops *ops = b->ops;
    double dt = sim->config->run.dt;
    sim->substeps = substeps_needed(sim);

    /* 2. B^n to B^{n+1} with what is centred in the step: (n^n + n^{n+1}) / 2 and J_i^{n+1/2}. */
    int status = ops->closure(b, LM_N_OLD, LM_N_NEW);
    status = status ? status : ops->advance_b(b, LM_J_NEW, dt, sim->substeps);

    /* 3. E^{n+1} with n^{n+1} and J_i extrapolated to n+1, and the maxima of the fields. */
    return status ? status : ops->ohm(b, LM_OHM_AHEAD);
}

int lm_sim_compact(struct lm_sim *sim)
{
    int status = LM_OK;
    for (int s = 0; s < sim->config->species_count && !status; s++)
        if (sim->shuffled[s]) {
            status = sim->backend->ops->sort(sim->backend, s);
            sim->shuffled[s] = 0;
        }
    return status;
}

int lm_sim_step(struct lm_sim *sim)
{
    double dt = sim->config->run.dt;
    int status = LM_OK;
    for (int s = 0; s < sim->config->species_count && !status; s++)
        status = sort_if_due(sim, s, speed_bound(sim, s, dt));

    /* 1. Particles: v to n+1/2, J_i^{n+1/2} on the way, x to n+1, n^{n+1}. */
    const struct lm_backend_ops *ops = sim->backend->ops;
    const int hybrid = sim->config->fields.solver == LM_SOLVER_HYBRID;
    status = status ? status : pass_all(sim, dt, dt, 1);
    if (!status && hybrid)
        status = advance_fields(sim);
    status = status ? status : ops->swap_levels(sim->backend);
    if (status)
        return status;
    sim->step++;
    for (int s = 0; s < sim->config->species_count; s++)
        sim->pushed += sim->count[s];
    status = hybrid ? ops->control(sim->backend, &sim->control) : settle(sim);
    return status ? status : lm_sim_book(sim);
}

/* --- start and restart --- */

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
            status = lm_fail(LM_BAD_INPUT,
                             "%s: [species.%s]: drift or temperature / mass too large: speeds must stay below %g v_A",
                             sim->config->file, sim->config->species[s].name, LM_MAX_SPEED);
    if (!status)
        status = pass_all(sim, 0, 0, 0);
    if (!status)
        status = ops->swap_levels(b);
    if (!status && hybrid)
        status = ops->ohm(b, LM_OHM_OLD);
    if (!status)
        status = hybrid ? ops->control(b, &sim->control) : settle(sim);
    if (!status)
        status = lm_sim_check(sim);
    if (!status)
        status = pass_all(sim, -0.5 * dt, -dt, 0);
    if (!status)
        status = ops->copy(b, LM_J_OLD, LM_J_NEW, 3);
    return status ? status : settle(sim);
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
    return status;
}

/* E of the configuration, into LM_E and what follows it: all that there is without a field solver; with it, what is
 * given beyond sides. `restored`: inside the push has its E already, and LM_E shows that before the first step. `work`
 * has four arrays more. */
static int put_e(struct lm_sim *sim, int restored, double *work)
{
    static const struct lm_place faces[3] = {{0.5, 0}, {0, 0.5}, {0, 0}};
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
        fills |= enters(sim, s);
    if (!status && total == 0 && !fills)
        status =
            lm_fail(LM_BAD_INPUT,
                    "%s: [species.NAME]: no species has any particles: raise density or particles_per_cell", c->file);
    return status ? status : start_levels(sim);
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
    if (field >= LM_STATE_FIELDS)
        return b->ops->put(b, LM_B + field - LM_STATE_FIELDS, packed);
    const int e = field - LM_PUSH_E, walls = lm_has_field_walls(&b->setup);
    int status = walls && e >= 0 && e < 3 ? b->ops->get(b, LM_E + e, r->work) : LM_OK;
    lm_grid_unpack(&r->sim->grid, packed, r->work);
    if (walls && e >= 0 && e < 3)
        lm_fill_e(&b->setup, r->work, e, LM_FILL_PUSH);
    else if (walls && field >= LM_N_OLD)
        lm_fill_moment(&r->sim->grid, r->work, field - LM_J_OLD);
    return status ? status : b->ops->put(b, field, r->work);
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
    const int fields = lm_sim_state_fields(sim);
    if (h->field_count != fields || h->bordered != fields - LM_STATE_FIELDS)
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
    const struct lm_backend_ops *ops = sim->backend->ops;
    int status = lm_checkpoint_head(path, head);
    if (!status)
        status = check_head(sim, path, head);
    if (status)
        return status;
    head->field_names = lm_state_names;
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
    if (!status)
        status = lm_sim_begin_inflow(sim);
    return status ? status : settle(sim);
}

/* --- stopping while the state is good --- */

/* The cell with the largest value (NaN counts as that) of the sum of squares of `count` arrays. */
static int find_largest(struct lm_sim *sim, int array, int count, int *i, int *j, double *value)
{
    const struct lm_grid *g = &sim->grid;
    double *a = malloc(g->size * sizeof *a), *sum = calloc(g->size, sizeof *sum);
    int status = a && sum ? LM_OK : lm_fail(LM_FAILED, "not enough memory");
    for (int c = 0; c < count && !status; c++) {
        status = sim->backend->ops->get(sim->backend, array + c, a);
        for (size_t k = 0; k < g->size && !status; k++)
            sum[k] += a[k] * a[k];
    }
    *value = -1;
    for (int y = 0; y < g->ny && !status; y++)
        for (int x = 0; x < g->nx; x++) {
            double v = sum[lm_at(g, x, y)];
            if (!(v <= *value)) {
                *value = v;
                *i = x, *j = y;
                if (v != v)
                    goto found;
            }
        }
found:
    *value = sqrt(*value);
    free(a);
    free(sum);
    return status;
}

/* Why the next step cannot be taken, where the fields are largest, and what to do about it. */
static int unstable(struct lm_sim *sim, const char *what, const char *cause)
{
    int i = 0, j = 0, p = 0, q = 0;
    double e = 0, b = 0;
    if (find_largest(sim, LM_PUSH_E, 3, &i, &j, &e) || find_largest(sim, LM_B, 3, &p, &q, &b))
        return LM_FAILED;
    const struct lm_grid *g = &sim->grid;
    return lm_fail(
        LM_FAILED,
        "step %lld (from t = %g) cannot be taken: %s. Largest |E| %.4g at x = %g, y = %g; largest |B| %.4g at "
        "x = %g, y = %g; %lld cells at the density floor. Likely cause: %s%s",
        (long long)sim->step + 1, lm_sim_time(sim), what, fabs(e), (i + 0.5) * g->dx, (j + 0.5) * g->dy, fabs(b),
        (p + 0.5) * g->dx, (q + 0.5) * g->dy, (long long)sim->control.floored, cause,
        sim->control.floored ? ", or fields.density_floor so low that E grows in the voids" : "");
}

/* For what the next step brings in. */
static int make_room(struct lm_sim *sim)
{
    int status = lm_sim_update_inflow(sim);
    for (int s = 0; s < sim->config->species_count && !status; s++)
        if (enters(sim, s))
            status = sim->backend->ops->room(sim->backend, s, sim->inflow[s].most);
    return status;
}

int lm_sim_check(struct lm_sim *sim)
{
    char what[256];
    double dt = sim->config->run.dt, cell = fmin(sim->grid.dx, sim->grid.dy);
    const double *e = sim->control.push_e;
    if (!isfinite(e[0] + e[1] + e[2]) || !isfinite(sim->control.frequency))
        return unstable(sim, "a field is not finite", "run.dt too large for the cells or the fields");
    for (int s = 0; s < sim->config->species_count; s++) {
        double bound = speed_bound(sim, s, dt);
        if (bound * dt / cell <= LM_MAX_CELLS)
            continue;
        const int is_new = bound == sim->inflow[s].speed;
        snprintf(what, sizeof what, "a particle of species %s%s could cross %.3g cells in it (limit %d; %s |v| = %.4g)",
                 sim->config->species[s].name, is_new ? " that enters or is re-emitted" : "", bound * dt / cell,
                 LM_MAX_CELLS, is_new ? "its largest" : "fastest now", is_new ? bound : sqrt(sim->control.speed2[s]));
        return unstable(sim, what, "run.dt too large for the cells or the speeds");
    }
    if (sim->config->fields.solver == LM_SOLVER_HYBRID && substeps_needed(sim) > sim->config->fields.max_substeps) {
        snprintf(what, sizeof what, "the fields need %d substeps (fields.max_substeps = %d)", substeps_needed(sim),
                 sim->config->fields.max_substeps);
        return unstable(sim, what, "run.dt too large for the cells and |B|/n, or fields.max_substeps too small");
    }
    return make_room(sim);
}
