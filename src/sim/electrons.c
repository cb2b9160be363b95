/* Electrons whose pressure is evolved: their entropy at the start and beyond inflow sides, Joule heat and conduction.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/electrons.h"
#include "larmor/physics/fluid/electrons.h"
#include "larmor/physics/fluid/oscillation.h"
#include "config/facts.h"
#include "sim/advection.h"
#include "base/expr.h"
#include "base/try.h"

static const double MOST_SUBSTEPS = 1e6;

/* The entropy for a density and a temperature. Without a temperature (NULL), p = T n^gamma with the T of the setup. */
static double entropy_at(const struct lm_config *c, double density, const double *temperature)
{
    const double gamma = c->electrons.gamma;
    return temperature ? lm_entropy_of(density * *temperature, gamma)
                       : density * lm_entropy_of(c->electrons.temperature, gamma);
}

int lm_sim_start_electrons(struct lm_sim *sim)
{
    static const struct lm_cell_offset centre = {0, 0};
    const struct lm_config *c = sim->config;
    const struct lm_grid *g = &sim->grid;
    const int field = lm_entropy_field(c), has_temperature = c->electrons.initial_temperature[0] != 0;
    if (field < 0)
        return LM_OK;
    double *q = malloc(2 * g->size * sizeof *q), *t = q + g->size;
    int status = q ? sim->backend->ops->get(sim->backend, LM_N_OLD, q)
                   : lm_fail(LM_FAILED, "not enough memory for the electrons");
    if (!status && has_temperature)
        status = lm_expr_fill(c->names, c->electrons.initial_temperature, g, centre, t);
    for (size_t k = 0; k < g->size && !status; k++)
        q[k] = entropy_at(c, q[k], has_temperature ? &t[k] : NULL);
    if (!status)
        status = lm_sim_put_field(sim, field, q);
    free(q);
    return status;
}

void lm_sim_find_heat(struct lm_sim *sim, int has_eta)
{
    const struct lm_ohm *o = &sim->backend->setup.ohm;
    sim->electrons.heats = has_eta || o->eta_hyper > 0 || sim->backend->setup.local_eta;
}

/* --- inflow sides --- */

int lm_sim_entropy_is_timed(const struct lm_config *c, int *timed)
{
    int status = LM_OK;
    *timed = 0;
    for (int s = 0; s < c->species_count && !status; s++) {
        int uses = 0;
        status = lm_expr_uses_time(c->names, lm_inflow_density(&c->species[s]), &uses);
        *timed |= uses;
    }
    return status;
}

int lm_sim_entropy_inflow(const struct lm_config *c, int count, const double *x, const double *y, double t,
                          double *values)
{
    const size_t n = (size_t)count;
    const int has_temperature = c->electrons.initial_temperature[0] != 0;
    double *density = calloc(2 * n, sizeof *density), *more = density + n;
    int status = density ? LM_OK : lm_fail(LM_FAILED, "not enough memory for what flows in");
    for (int s = 0; s < c->species_count && !status; s++) {
        status = lm_expr_at(c->names, lm_inflow_density(&c->species[s]), n, x, y, t, more);
        for (size_t k = 0; k < n && !status; k++)
            density[k] += c->species[s].charge * fmax(more[k], 0);
    }
    if (!status && has_temperature)
        status = lm_expr_at(c->names, c->electrons.initial_temperature, n, x, y, t, more);
    for (size_t k = 0; k < n && !status; k++) {
        if (has_temperature && more[k] < 0)
            status = lm_fail(LM_BAD_INPUT, "%s: electrons.initial_temperature: negative on a side, at x = %g, y = %g",
                             c->file, x[k], y[k]);
        else
            values[k] = entropy_at(c, density[k], has_temperature ? &more[k] : NULL);
    }
    free(density);
    return status;
}

/* --- a step --- */

static double half_round(const struct lm_sim *sim)
{
    return 0.5 * sim->config->run.dt / sim->electrons.rounds;
}

/* The substeps of the conduction in half a round, for the densities at the beginning and at the end of the step. */
static int find_substeps(struct lm_sim *sim)
{
    const struct lm_setup *setup = &sim->backend->setup;
    double least = INFINITY;
    int status = sim->backend->ops->least_density(sim->backend, &least);
    if (status)
        return status;
    const double rate = lm_conduction_rate(setup->conductivity, least, sim->crowding, &sim->grid, &setup->ohm);
    const double needed = ceil(half_round(sim) * rate / sim->config->electrons.courant);
    if (!(needed <= MOST_SUBSTEPS))
        return lm_fail(LM_FAILED,
                       "step %lld (from t = %g) cannot be taken: the electrons' heat conduction needs %.3g substeps "
                       "(limit %g). Likely cause: electrons.conductivity is too large for the cells and run.dt, or "
                       "fields.density_floor is so low that thin cells conduct too well",
                       (long long)sim->step + 1, lm_sim_time(sim), 2 * needed, 2 * MOST_SUBSTEPS);
    sim->electrons.substeps = needed > 1 ? (int64_t)needed : 1;
    return LM_OK;
}

static int heat(struct lm_sim *sim, int level)
{
    const struct lm_conductivity *k = &sim->backend->setup.conductivity;
    const int conducts = k->along > 0 || k->across > 0;
    if (!sim->electrons.heats && !conducts)
        return LM_OK;
    const int status = conducts && level == LM_N_OLD ? find_substeps(sim) : LM_OK;
    const struct lm_heat_pass pass = {.level = level,
                                      .dt = half_round(sim),
                                      .substeps = conducts ? (int)sim->electrons.substeps : 0,
                                      .quantum = sim->background[lm_entropy_field(sim->config)].ledger.quantum};
    return status ? status : sim->backend->ops->heat(sim->backend, &pass);
}

int lm_sim_begin_electrons(struct lm_sim *sim, int most)
{
    const int field = lm_entropy_field(sim->config);
    sim->electrons.rounds = 1;
    if (field < 0)
        return LM_OK;
    double oscillation = 0;
    const int status = lm_sim_take_flow_rates(sim, 1, &oscillation);
    const double crossed = ceil(sim->config->run.dt * sim->background[field].flow_rate),
                 turns = ceil(oscillation / LM_LARGEST_OSCILLATION), needed = fmax(crossed, turns);
    if (needed > 1)
        sim->electrons.rounds = needed < most ? (int)needed : most;
    sim->background[field].substeps = 0;
    return status;
}

int lm_sim_advance_electrons(struct lm_sim *sim, int level)
{
    const int field = lm_entropy_field(sim->config);
    if (field < 0)
        return LM_OK;
    LM_TRY(level == LM_N_OLD ? heat(sim, level) : lm_sim_take_flow_rates(sim, 1, NULL));
    LM_TRY(lm_sim_advect_field(sim, field, half_round(sim)));
    return level == LM_N_OLD ? LM_OK : heat(sim, level);
}

int lm_sim_turn_electrons(struct lm_sim *sim)
{
    LM_TRY(lm_sim_flow(sim, LM_ROUND_ENDS));
    LM_TRY(lm_sim_advance_electrons(sim, LM_N_NEW));
    LM_TRY(lm_sim_flow(sim, LM_ROUND_BEGINS));
    return lm_sim_advance_electrons(sim, LM_N_OLD);
}

void lm_sim_book_heat(struct lm_sim *sim)
{
    const int field = lm_entropy_field(sim->config);
    if (field < 0)
        return;
    const int exponent = lm_heat_exponent(sim->background[field].ledger.quantum, sim->config->electrons.gamma);
    sim->electrons.heat += ldexp((double)lm_wide_value(sim->control.heat), -exponent);
    sim->electrons.through_surfaces += ldexp((double)lm_wide_value(sim->control.through_surfaces), -LM_WIDE_REAL);
}
