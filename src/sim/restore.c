/* The state from a checkpoint. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/field_boundaries.h"
#include "base/try.h"
#include "sim/advection.h"
#include "sim/boundaries.h"
#include "sim/driving.h"
#include "sim/initial_fields.h"
#include "sim/ionisation.h"
#include "sim/restart.h"
#include "sim/side_energy.h"
#include "sim/state.h"
#include "sim/tracks.h"

/* Callbacks of the checkpoint: one simulation, and a packed array's ghosted twin. What lies beyond walls follows from
 * what is inside, but for B, which comes with its ghosts, and E where it is given. */
struct restore {
    struct lm_sim *sim;
    double *work;
    enum lm_put_phase phase;
};

/* The component of an array that ions feel, and how its ghost cells are filled; -1: it is something else. */
static int component_of_push(int array, enum lm_fill *fill)
{
    const int friction = array - LM_FRICTION_E;
    *fill = LM_FILL_PUSH_E;
    if (friction >= 0 && friction < 3 * LM_MAX_SPECIES)
        return friction % 3;
    if (array < LM_PUSH_E || array >= LM_N_OLD)
        return -1;
    if (array >= LM_PUSH_B)
        *fill = array < LM_PUSH_PRESSURE ? LM_FILL_PUSH_B : LM_FILL_PUSH_PRESSURE;
    return (array - LM_PUSH_E) % 3;
}

/* 0 for what has the ghost cells of a density, 1 to 3 for a current along x, y, z; -1: the array is something else. */
static int number_of_moment(int array)
{
    const int of_species = array - LM_SPECIES_OLD;
    return array >= LM_N_OLD && array < LM_STATE_FIELDS         ? array - LM_N_OLD
           : of_species >= 0 && of_species < 4 * LM_MAX_SPECIES ? of_species % 4
           : array == LM_VOID                                   ? 0
                                                                : -1;
}

static int set_field(void *context, int field, const double *packed)
{
    struct restore *r = context;
    if (r->phase == LM_PLACE_PARTICLES) /* the fields have been read before */
        return LM_OK;
    struct lm_backend *b = r->sim->backend;
    const int array = lm_sim_state_array(r->sim, field), side = lm_sim_state_strip(r->sim, field);
    if (side >= 0)
        return b->ops->put_strip(b, (enum lm_side)side, packed);
    if (field >= lm_sim_state_fields(r->sim) - lm_sim_state_bordered(r->sim))
        return b->ops->put(b, array, packed);
    enum lm_fill fill;
    const int walls = lm_has_field_walls(&b->setup), component = component_of_push(array, &fill),
              moment = number_of_moment(array);
    int status = LM_OK;
    if (walls && component >= 0)
        status = b->ops->get(b, array, r->work); /* with what is given beyond sides */
    else if (component >= 0)
        memset(r->work, 0, r->sim->grid.size * sizeof *r->work);
    lm_grid_unpack(&r->sim->grid, packed, r->work);
    if (walls && component >= 0)
        lm_fill_e(&b->setup, r->work, component, fill);
    else if (walls && moment >= 0)
        lm_fill_moment(&r->sim->grid, r->work, moment - 1);
    return status ? status : b->ops->put(b, array, r->work);
}

static int set_particles(void *context, int species, uint64_t first, uint64_t count, struct lm_raw_particles in)
{
    struct restore *r = context;
    (void)first;
    return r->sim->backend->particles->put(r->sim->backend, species, r->phase, count, in);
}

static int set_map(void *context, int species, const uint64_t *counters)
{
    struct restore *r = context;
    return r->phase == LM_PLACE_PARTICLES ? LM_OK : r->sim->backend->ops->put_map(r->sim->backend, species, counters);
}

static int check_species(const struct lm_sim *sim, const char *path, const struct lm_checkpoint *h)
{
    const struct lm_config *c = sim->config;
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
    return LM_OK;
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
    LM_TRY(check_species(sim, path, h));
    LM_TRY(lm_sim_compare_electrons(sim, path, h));
    const int fields = lm_sim_state_fields(sim) - c->background_count + h->background_count;
    if (h->field_count != fields || h->bordered != lm_sim_state_bordered(sim))
        return lm_fail(
            LM_BAD_INPUT,
            "%s: holds %d fields instead of %d: take the version that wrote it, and [boundary] and whether a "
            "species has eta as there",
            path, h->field_count, fields);
    return lm_sim_compare(sim, path, h);
}

/* Counts and ledger of a species; the ledger's units follow from grid and time step. */
static int take_ledger(struct lm_sim *sim, int species, const char *path, const struct lm_checkpoint_species *from)
{
    struct lm_ledger own;
    lm_ledger_begin(&own, from->ledger.loaded, lm_sim_speed_limit(sim));
    if (own.exponent_v != from->ledger.exponent_v || own.exponent_v2 != from->ledger.exponent_v2)
        return lm_fail(LM_BAD_INPUT, "%s: species %s: the ledger has other units; the file is damaged", path,
                       from->name);
    sim->count[species] = from->count;
    sim->ledger[species] = from->ledger;
    return LM_OK;
}

int lm_sim_restore(struct lm_sim *sim, const char *path, struct lm_references *references)
{
    struct lm_checkpoint head;
    LM_TRY(lm_checkpoint_head(path, &head));
    LM_TRY(lm_sim_restore_state(sim, path, &head));
    *references = lm_checkpoint_references(&head);
    return LM_OK;
}

/* Fields and particles. The file is read twice: particles are counted by cell, then placed. */
static int read_state(struct lm_sim *sim, const char *path, const struct lm_checkpoint *head, double *work)
{
    struct restore r = {.sim = sim, .work = work};
    const struct lm_checkpoint_io io = {
        .context = &r, .set_field = set_field, .set_particles = set_particles, .set_map = set_map};
    for (int s = 0; s < head->species_count; s++) {
        LM_TRY(take_ledger(sim, s, path, &head->species[s]));
        LM_TRY(sim->backend->particles->reserve(sim->backend, s, sim->count[s]));
    }
    LM_TRY(lm_sim_put_e(sim, work));
    LM_TRY(lm_sim_put_magnets(sim, work));
    LM_TRY(lm_sim_drive(sim, (double)head->step * sim->config->run.dt, 0));
    for (r.phase = LM_COUNT_PARTICLES; r.phase <= LM_PLACE_PARTICLES; r.phase++)
        LM_TRY(lm_checkpoint_read(path, head, &io));
    for (int s = 0; s < head->species_count; s++)
        LM_TRY(sim->backend->particles->maxima(sim->backend, s));
    return LM_OK;
}

/* The fields that a checkpoint does not hold. */
static int complete_fields(struct lm_sim *sim, double t, double *work)
{
    const struct lm_sides *sides = &sim->grid.sides;
    const int has_walls = sides->of[LM_X_MIN] != LM_PERIODIC || sides->of[LM_Y_MIN] != LM_PERIODIC;
    LM_TRY(lm_sim_put_eta(sim, work));
    if (sim->config->fields.solver == LM_SOLVER_HYBRID)
        return lm_sim_show_push_e(sim, work);
    LM_TRY(lm_sim_put_e(sim, work));
    LM_TRY(lm_sim_drive(sim, t, 0));
    return has_walls ? lm_sim_put_b_behind_walls(sim, work) : LM_OK;
}

int lm_sim_restore_state(struct lm_sim *sim, const char *path, struct lm_checkpoint *head)
{
    LM_TRY(check_head(sim, path, head));
    head->field_names = sim->state_names;
    double *work = calloc(5 * sim->grid.size, sizeof *work);
    if (!work)
        return lm_fail(LM_FAILED, "not enough memory");
    int status = read_state(sim, path, head, work);
    if (!status)
        status = complete_fields(sim, (double)head->step * sim->config->run.dt, work);
    free(work);
    LM_TRY(status);
    sim->step = head->step;
    sim->electrons.heat = head->electrons_heat;
    sim->electrons.through_surfaces = head->electrons_through_surfaces;
    lm_sim_take_sides(sim, head);
    LM_TRY(lm_sim_begin_inflow(sim));
    LM_TRY(lm_sim_begin_backgrounds(sim, path, head));
    LM_TRY(lm_sim_begin_ionisation(sim));
    LM_TRY(lm_sim_restore_tracks(sim, path, head));
    if (sim->backend->setup.local_eta)
        LM_TRY(sim->backend->ops->resistivity(sim->backend));
    return lm_sim_find_maxima(sim);
}
