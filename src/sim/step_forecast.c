#include "sim/step_forecast.h"

#include <math.h>

#include "config/facts.h"
#include "larmor/physics/fluid/electrons.h"
#include "sim/electrons.h"
#include "sim/state.h"

/* Upper bounds for a substep on one core: seconds for each cell, and seconds for each call. One core of an Intel Xeon
 * (Sapphire Rapids) took 1.1e-7 s a cell for B, 1.9e-7 s a cell for conduction, and 1e-5 s for a call. A GPU takes a
 * hundredth of that. */
static const double CELL_SECONDS = 2e-7, CALL_SECONDS = 3e-5;

/* A machine that is busy with other work may be slower by this factor. */
static const double BUSY = 10;

/* An upper bound of lm_flow_rate where ions or electrons carry a field. The ion flow is no faster than the fastest ion.
 * Electrons move relative to the ions with J/n, which on the grid is slower than whistler waves. */
static double carried_rate(const struct lm_sim *sim, int field)
{
    double speed2 = 0;
    for (int s = 0; s < sim->config->species_count; s++)
        speed2 = fmax(speed2, sim->control.speed2[s]);
    const int ions = sim->config->background[field].flow == LM_FLOW_ION;
    return 2 * sqrt(speed2) * (1 / sim->grid.dx + 1 / sim->grid.dy) + (ions ? 0 : sim->control.frequency);
}

/* The substeps of a background field in the next step. `first`: there is no last step to take the number from. */
static double field_substeps(const struct lm_sim *sim, int field, int first)
{
    const struct lm_background_config *b = &sim->config->background[field];
    const int carried = b->flow != LM_FLOW_PRESCRIBED;
    if (carried && !first)
        return (double)sim->background[field].substeps;
    const double flow = carried ? carried_rate(sim, field) * sim->crowding : sim->background[field].flow_rate;
    const double rate = lm_background_rate(&sim->grid, &sim->backend->setup.background[field], flow, sim->crowding);
    return fmax(1, ceil(sim->config->run.dt * rate / b->courant));
}

/* Of the conduction in the next step. `first`: as many as there may be, for each round has two at least, and the number
 * of rounds is found within the step. */
static double conduction_substeps(const struct lm_sim *sim, int first)
{
    const struct lm_setup *s = &sim->backend->setup;
    if (lm_entropy_field(sim->config) < 0 || !(s->conductivity.along > 0 || s->conductivity.across > 0))
        return 0;
    if (!first)
        return (double)lm_sim_conduction_substeps(sim);
    const double rate = lm_conduction_rate(s->conductivity, s->ohm.floor, sim->crowding, &sim->grid, &s->ohm);
    return 2 * (fmax(1, ceil(0.5 * sim->config->run.dt * rate / sim->config->electrons.courant)) + LM_MOST_ROUNDS - 1);
}

/* Of B in the next step, if that has as many rounds of the entropy and B as the last one. */
static int substeps_of_b(const struct lm_sim *sim)
{
    const int rounds = sim->electrons.rounds > 1 ? sim->electrons.rounds : 1;
    return lm_sim_substeps_of_rounds(lm_sim_substeps_needed(sim), rounds);
}

void lm_step_forecast_substeps(const struct lm_step_forecast *o, const struct lm_sim *sim,
                               double substeps[LM_SUBSTEP_KINDS])
{
    const int first = o->seconds == 0;
    substeps[0] = sim->config->fields.solver == LM_SOLVER_HYBRID ? substeps_of_b(sim) : 0;
    substeps[1] = conduction_substeps(sim, first);
    for (int f = 0; f < LM_MAX_BACKGROUNDS; f++)
        substeps[2 + f] = f < sim->config->background_count ? field_substeps(sim, f, first) : 0;
}

double lm_step_forecast_seconds(const struct lm_step_forecast *o, const struct lm_sim *sim)
{
    double substeps[LM_SUBSTEP_KINDS], sum = 0, ratio = 1;
    lm_step_forecast_substeps(o, sim, substeps);
    for (int k = 0; k < LM_SUBSTEP_KINDS; k++) {
        sum += substeps[k];
        ratio = fmax(ratio, substeps[k] / fmax(1, o->substeps[k]));
    }
    const double slow = sum * ((double)sim->grid.cells * CELL_SECONDS + CALL_SECONDS);
    /* The last step times the largest ratio of substeps is a bound, too. */
    return o->seconds == 0 ? slow : fmin(BUSY * slow, o->seconds * ratio);
}

void lm_step_forecast_update(struct lm_step_forecast *o, const struct lm_sim *sim, double seconds)
{
    o->seconds = seconds;
    o->substeps[0] = sim->substeps;
    o->substeps[1] = (double)lm_sim_conduction_substeps(sim);
    for (int f = 0; f < LM_MAX_BACKGROUNDS; f++)
        o->substeps[2 + f] = (double)sim->background[f].substeps;
}

double lm_step_forecast_checkpoint_bytes(const struct lm_sim *sim)
{
    const double real = sim->config->particles.precision == LM_SINGLE ? sizeof(float) : sizeof(double);
    double bytes = (double)lm_sim_state_fields(sim) * (double)sim->grid.cells * sizeof(double);
    for (int s = 0; s < sim->config->species_count; s++)
        bytes += (double)sim->count[s] * (2 * sizeof(int64_t) + 3 * real);
    return bytes;
}
