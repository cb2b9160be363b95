/* Background fields in a step: the flows that carry them, the substeps that they need, and their advection. */
#include <math.h>

#include "base/try.h"
#include "sim/background_parts.h"
#include "config/facts.h"
#include "sim/electrons.h"

int lm_sim_take_flow_rates(struct lm_sim *sim, int carried, double *oscillation)
{
    double rate[LM_FLOW_RATES] = {0};
    int status = sim->backend->ops->flow_rates(sim->backend, rate);
    for (int f = 0; f < sim->config->background_count && !status; f++)
        if ((sim->config->background[f].flow != LM_FLOW_PRESCRIBED) == carried)
            sim->background[f].flow_rate = rate[f];
    if (oscillation)
        *oscillation = rate[LM_OSCILLATION];
    return status;
}

/* The number of fields that ions or electrons carry, the entropy among them. */
static int count_carried(const struct lm_sim *sim)
{
    int count = 0;
    for (int f = 0; f < sim->config->background_count; f++)
        count += sim->config->background[f].flow != LM_FLOW_PRESCRIBED;
    return count;
}

int lm_sim_flow(struct lm_sim *sim, enum lm_flow_time when)
{
    return count_carried(sim) > 0 ? sim->backend->ops->flow(sim->backend, when) : LM_OK;
}

static int find_substeps(const struct lm_sim *sim, int field, double dt, int64_t *substeps)
{
    const struct lm_background_config *b = &sim->config->background[field];
    const double rate = lm_background_rate(&sim->grid, &sim->backend->setup.background[field],
                                           sim->background[field].flow_rate, sim->crowding);
    const double needed = ceil(dt * rate / b->courant);
    if (!(needed <= LM_MOST_SUBSTEPS))
        return lm_fail(LM_FAILED,
                       "step %lld (from t = %g) cannot be taken: the background field %s needs %.3g substeps (limit "
                       "%g). Likely cause: its velocity or diffusivity is too large for the cells and run.dt, or "
                       "its courant too small%s",
                       (long long)sim->step + 1, lm_sim_time(sim), b->name, needed, LM_MOST_SUBSTEPS,
                       b->flow == LM_FLOW_ELECTRON || b->flow == LM_FLOW_ENTROPY
                           ? ", or fields.density_floor so low that electrons are too fast"
                           : "");
    *substeps = needed > 1 ? (int64_t)needed : 1;
    return LM_OK;
}

static int advect_by(struct lm_sim *sim, int field, double dt, int64_t *substeps)
{
    const int status = find_substeps(sim, field, dt, substeps);
    if (status)
        return status;
    return sim->backend->ops->advect(sim->backend, field, sim->background[field].ledger.quantum, dt / (double)*substeps,
                                     (int)*substeps);
}

int lm_sim_advect_field(struct lm_sim *sim, int field, double dt)
{
    int64_t substeps = 0;
    const int status = advect_by(sim, field, dt, &substeps);
    sim->background[field].substeps += substeps;
    return status;
}

int lm_sim_advect(struct lm_sim *sim)
{
    const int entropy = lm_entropy_field(sim->config); /* lm_sim_advance_electrons advances it */
    int status = count_carried(sim) > (entropy >= 0) ? lm_sim_take_flow_rates(sim, 1, NULL) : LM_OK;
    for (int f = 0; f < sim->config->background_count && !status; f++) {
        if (f == entropy)
            continue;
        status = advect_by(sim, f, sim->config->run.dt, &sim->background[f].substeps);
    }
    return status;
}

int lm_sim_survey_advected(struct lm_sim *sim)
{
    const struct lm_backend_ops *ops = sim->backend->ops;
    for (int f = 0; f < sim->config->background_count; f++)
        LM_TRY(ops->survey_background(sim->backend, f, sim->background[f].ledger.quantum));
    return LM_OK;
}

int lm_sim_check_backgrounds(struct lm_sim *sim)
{
    int64_t unused;
    int status = LM_OK;
    for (int f = 0; f < sim->config->background_count && !status; f++) {
        const struct lm_sim_background *s = &sim->background[f];
        if (!isfinite(s->least + s->most))
            return lm_fail(LM_FAILED,
                           "step %lld (from t = %g) cannot be taken: the background field %s is not finite. Likely "
                           "cause: background.%s.courant too large for its flow and source",
                           (long long)sim->step + 1, lm_sim_time(sim), sim->config->background[f].name,
                           sim->config->background[f].name);
        status = lm_sim_check_growth(sim, f);
        if (!status && sim->config->background[f].flow == LM_FLOW_PRESCRIBED)
            status = find_substeps(sim, f, sim->config->run.dt, &unused);
    }
    return status;
}
