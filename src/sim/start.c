/* The state at the start, from the configuration. */
#include <math.h>
#include <stdlib.h>

#include "base/try.h"
#include "config/facts.h"
#include "larmor/physics/particles/cut.h"
#include "sim/advection.h"
#include "sim/boundaries.h"
#include "sim/driving.h"
#include "sim/electrons.h"
#include "sim/initial_fields.h"
#include "sim/ionisation.h"
#include "sim/setup.h"
#include "sim/side_energy.h"
#include "sim/state.h"
#include "sim/tracks.h"

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
    const double dt = sim->config->run.dt;
    const int hybrid = sim->config->fields.solver == LM_SOLVER_HYBRID;
    LM_TRY(ops->control(b, &sim->control));
    for (int s = 0; s < sim->config->species_count; s++)
        if (!(sqrt(sim->control.speed2[s]) < LM_MAX_SPEED))
            return lm_sim_too_fast(sim->config, s);
    LM_TRY(lm_sim_pass_all(sim, 0, 0, 0));
    LM_TRY(ops->swap_levels(b));
    LM_TRY(lm_sim_start_electrons(sim));
    if (hybrid)
        LM_TRY(ops->ohm(b, LM_OHM_OLD));
    LM_TRY(hybrid ? ops->control(b, &sim->control) : lm_sim_find_maxima(sim));
    LM_TRY(lm_sim_check(sim));
    LM_TRY(lm_sim_pass_all(sim, -0.5 * dt, -dt, 0));
    LM_TRY(ops->copy(b, LM_J_OLD, LM_J_NEW, 3));
    for (int k = 0; k < b->setup.friction_species; k++) {
        const int first = 4 * lm_friction_species(&b->setup, k) + 1;
        LM_TRY(ops->copy(b, LM_SPECIES_OLD + first, LM_SPECIES_NEW + first, 3));
    }
    LM_TRY(lm_sim_choose_tracks(sim));
    LM_TRY(lm_sim_survey_sides(sim));
    LM_TRY(lm_sim_find_maxima(sim));
    lm_sim_begin_sides(sim);
    return LM_OK;
}

/* No particles inside of bodies: a cut cell has as many as its plasma. The density is in `work` then. */
static void clear_bodies(const struct lm_sim *sim, struct lm_given *density, double *work)
{
    if (!sim->mask)
        return;
    for (int j = 0; j < sim->grid.ny; j++)
        for (int i = 0; i < sim->grid.nx; i++) {
            const size_t k = (size_t)j * (size_t)sim->grid.nx + (size_t)i, at = lm_at(&sim->grid, i, j);
            const double part = lm_plasma_part(sim->obstacle[k], &sim->cut[k]);
            work[at] = part > 0 ? part * lm_given_at(density, at) : 0;
        }
    density->array = work;
}

/* `work` has LM_LOADING_ARRAYS arrays, of which the first one is for the density. */
static int load_species(struct lm_sim *sim, int species, double *const b[3], double *work)
{
    struct lm_backend *backend = sim->backend;
    struct lm_loading loading;
    int status = lm_setup_loading(sim->config, species, b, work, &loading);
    if (!status)
        clear_bodies(sim, &loading.density, work);
    if (!status)
        status = backend->particles->load(backend, species, &loading, &sim->count[species]);
    if (status)
        return lm_fail_context(status, "%s: [species.%s]", sim->config->file, sim->config->species[species].name);
    lm_ledger_begin(&sim->ledger[species], sim->count[species], lm_sim_speed_limit(sim));
    return backend->particles->maxima(backend, species);
}

/* Everything at t = 0. `work` has LM_LOADING_ARRAYS arrays. */
static int put_state(struct lm_sim *sim, double *b[3], double *work)
{
    LM_TRY(lm_sim_begin_inflow(sim));
    LM_TRY(lm_sim_begin_backgrounds(sim, NULL, NULL));
    LM_TRY(lm_sim_begin_ionisation(sim));
    LM_TRY(lm_sim_put_b(sim, b));
    LM_TRY(lm_sim_put_eta(sim, work));
    LM_TRY(lm_sim_put_e(sim, work));
    if (sim->config->fields.solver == LM_SOLVER_NONE)
        LM_TRY(lm_sim_put_push_b(sim, b, work));
    LM_TRY(lm_sim_put_magnets(sim, work));
    LM_TRY(lm_sim_drive(sim, 0, 0));
    for (int s = 0; s < sim->config->species_count; s++)
        LM_TRY(load_species(sim, s, b, work));
    return LM_OK;
}

/* Whether there are particles, or there can be some later. */
static int has_particles(const struct lm_sim *sim)
{
    int any = 0;
    for (int s = 0; s < sim->config->species_count; s++)
        any |= sim->count[s] > 0 || sim->inflow[s].most > 0 || lm_is_ionised(sim->config, s);
    return any;
}

int lm_sim_start(struct lm_sim *sim)
{
    const size_t size = sim->grid.size;
    double *store = malloc((3 + LM_LOADING_ARRAYS) * size * sizeof *store);
    if (!store)
        return lm_fail(LM_FAILED, "not enough memory for the initial profiles");
    double *b[3] = {store, store + size, store + 2 * size};
    const int status = put_state(sim, b, store + 3 * size);
    free(store);
    LM_TRY(status);
    return has_particles(sim) ? start_levels(sim) : lm_sim_no_particles(sim->config);
}

int lm_sim_begin(struct lm_sim *sim)
{
    const int status = lm_sim_start(sim);
    return status == LM_STOPPED ? lm_fail_context(LM_BAD_INPUT, "%s", sim->config->file) : status;
}
