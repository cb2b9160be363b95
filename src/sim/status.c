/* What a simulation tells about itself without looking at particles or fields again. */
#include <math.h>

#include "config/facts.h"
#include "sim/advection.h"
#include "sim/collisions.h"
#include "sim/electrons.h"
#include "sim/state.h"

int64_t lm_sim_step_number(const struct lm_sim *sim)
{
    return sim->step;
}

double lm_sim_time(const struct lm_sim *sim)
{
    return (double)sim->step * sim->config->run.dt;
}

int lm_sim_is_finite(const struct lm_sim *sim)
{
    const struct lm_control *c = &sim->control;
    double sum = c->push_e[0] + c->push_e[1] + c->push_e[2] + c->push_pressure[0] + c->push_pressure[1] + c->frequency;
    for (int s = 0; s < sim->config->species_count; s++)
        sum += c->speed2[s];
    for (int f = 0; f < sim->config->background_count; f++)
        sum += sim->background[f].least + sim->background[f].most;
    return isfinite(sum);
}

static void species_status(const struct lm_sim *sim, int s, struct lm_species_status *out)
{
    const struct lm_species_config *c = &sim->config->species[s];
    const double fastest = sqrt(sim->control.speed2[s]);
    struct lm_collision_limits limits = {0};
    if (c->gas_field >= 0)
        limits = lm_collision_limits(c, &sim->grid, lm_collision_time(sim->config, s),
                                     sim->background[c->gas_field].most, lm_sim_collided_speed(sim, s, fastest, 0));
    *out = (struct lm_species_status){.count = sim->count[s],
                                      .weight = lm_sim_weight(sim, s),
                                      .fastest = fastest,
                                      .residual = lm_sim_residual(sim, s),
                                      .ledger = sim->ledger[s],
                                      .charge_exchange_probability = limits.exchange,
                                      .stopping_cells = limits.cells,
                                      .limited_heating_cells = sim->exchange[s].limited};
}

static void background_status(const struct lm_sim *sim, int f, struct lm_background_status *out)
{
    const struct lm_sim_background *b = &sim->background[f];
    *out = (struct lm_background_status){.least = b->least,
                                         .most = b->most,
                                         .loaded = lm_sim_background_value(sim, f, b->ledger.loaded),
                                         .total = lm_sim_background_value(sim, f, b->ledger.total),
                                         .source = lm_sim_background_value(sim, f, b->ledger.source),
                                         .rounded = lm_sim_background_value(sim, f, b->ledger.rounded),
                                         .residual = lm_sim_background_residual(sim, f),
                                         .substeps = b->substeps};
    for (int side = 0; side < LM_SIDES; side++)
        out->entered[side] = lm_sim_background_value(sim, f, b->ledger.entered[side]);
}

void lm_sim_status(const struct lm_sim *sim, struct lm_sim_status *out)
{
    *out = (struct lm_sim_status){.step = sim->step,
                                  .time = lm_sim_time(sim),
                                  .backend = sim->backend->ops->name,
                                  .particle_steps = sim->particle_steps,
                                  .sorts = sim->sorts,
                                  .substeps = sim->substeps,
                                  .floored_cells = sim->control.floored,
                                  .electron_heat = sim->electrons.heat * sim->grid.dx * sim->grid.dy,
                                  .electrons_through_surfaces =
                                      sim->electrons.through_surfaces * sim->grid.dx * sim->grid.dy,
                                  .conduction_substeps = lm_sim_conduction_substeps(sim)};
    for (int side = 0; side < LM_SIDES; side++)
        out->side[side] = (struct lm_side_status){sim->side[side].fields, sim->side[side].electrons,
                                                  sqrt(sim->side[side].off2), sim->side[side].doubtful};
    for (int s = 0; s < sim->config->species_count; s++)
        species_status(sim, s, &out->species[s]);
    for (int f = 0; f < sim->config->background_count; f++)
        background_status(sim, f, &out->background[f]);
}
