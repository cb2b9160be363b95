/* The state at the start, from the configuration. */
#include <math.h>
#include <stdlib.h>

#include "config/facts.h"
#include "sim/advection.h"
#include "sim/boundaries.h"
#include "sim/electrons.h"
#include "sim/initial_fields.h"
#include "sim/ionisation.h"
#include "sim/setup.h"
#include "sim/state.h"

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
        status = lm_sim_put_eta(sim, store + 3 * size);
    if (!status)
        status = lm_sim_put_e(sim, 0, store + 3 * size);
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
        lm_ledger_begin(&sim->ledger[s], sim->count[s], lm_sim_speed_limit(sim));
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
