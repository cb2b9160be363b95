#include "run/due.h"

#include <string.h>

#include "output/output.h"

static int due(int64_t every, int64_t step)
{
    return every > 0 && step % every == 0;
}

static uint64_t particle_steps(const struct lm_run_state *r)
{
    struct lm_sim_status now;
    lm_sim_status(r->sim, &now);
    return now.particle_steps;
}

/* The value of a column; 0 where the series does not have it. */
static double value_of(const struct lm_run_state *r, const double *row, const char *column)
{
    for (int k = 0; k < r->column_count; k++)
        if (!strcmp(r->columns[k].name, column))
            return row[k];
    return 0;
}

/* The last row is also made where it is not written, for the energy. */
static int write_row(struct lm_run_state *r)
{
    double row[LM_ROW_MAX], spent = r->stepping - r->row_stepping;
    const uint64_t done = particle_steps(r);
    const double rate = spent > 0 ? (double)(done - r->row_particle_steps) / spent : 0;
    int status = lm_row_fill(r->sim, r->config, &r->references, rate, row);
    r->row_stepping = r->stepping;
    r->row_particle_steps = done;
    if (status)
        return status;
    lm_energy_watch_row(r, value_of(r, row, LM_ENERGY_COLUMN), value_of(r, row, LM_UNCERTAIN_COLUMN));
    return r->config->output.series_every > 0 ? lm_series_append(r->series, row) : LM_OK;
}

static int write_named(struct lm_run_state *r, int k)
{
    const struct lm_config *c = r->config;
    return c->outputs[k].average > 0 ? lm_averages_write(&r->averages, r->sim, c, k) : lm_output_named(r->sim, c, k);
}

int lm_run_write_outputs(struct lm_run_state *r, int last)
{
    const struct lm_config *c = r->config;
    const int64_t step = lm_sim_step_number(r->sim);
    /* The samples come first: where a file cannot be written, the last checkpoint has them. */
    int status = lm_averages_sample(&r->averages, r->sim, c);
    if (!status)
        status = lm_samples_take(&r->samples);
    if (!status && (due(c->output.series_every, step) || last))
        status = write_row(r);
    const int particles = due(c->output.particles_every, step), together = particles && c->output.particles_with_fields;
    if (!status && due(c->output.fields_every, step))
        status = lm_output_fields(r->sim, c, together);
    if (!status && particles && !together)
        status = lm_output_particles(r->sim, c);
    for (int k = 0; k < c->output_count && !status; k++)
        status = due(c->outputs[k].every, step) ? write_named(r, k) : LM_OK;
    for (int k = 0; k < c->distribution_count && !status; k++)
        status = due(c->distribution[k].every, step) ? lm_output_distribution(r->sim, c, k) : LM_OK;
    if (!status && (due(c->output.maps_every, step) || last))
        status = lm_output_maps(r->sim, c);
    return status;
}
