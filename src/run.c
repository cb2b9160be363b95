/* `larmor run`: the loop over steps with outputs, progress, signals and limits. */
#include "larmor/run.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "progress.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

struct run {
    const struct lm_config *config;
    const struct lm_run_options *options;
    struct lm_sim *sim;
    struct lm_series *series;
    struct lm_references references;
    struct lm_progress progress;
    int64_t first_step;
    double started, stepping;        /* clock at the start; seconds spent in steps */
    double row_stepping;             /* `stepping` and step at the last row */
    int64_t row_step;
    uint64_t particles;
    char checkpoint[LM_MAX_PATH];    /* the last one written */
    char ended[LM_MAX_MESSAGE];      /* why, for run.json */
};

static int due(int64_t every, int64_t step)
{
    return every > 0 && step % every == 0;
}

static int write_row(struct run *r)
{
    double row[LM_ROW_MAX], spent = r->stepping - r->row_stepping;
    double rate = spent > 0 ? (double)r->particles * (double)(r->sim->step - r->row_step) / spent : 0;
    int status = lm_row_fill(r->sim, &r->references, rate, row);
    r->row_stepping = r->stepping;
    r->row_step = r->sim->step;
    return status ? status : lm_series_append(r->series, row);
}

static int write_checkpoint(struct run *r)
{
    return lm_output_checkpoint(r->sim, &r->references, r->checkpoint);
}

/* What is due at the present step; the last step gets a row in any case. */
static int write_due(struct run *r)
{
    const struct lm_config *c = r->config;
    int64_t step = r->sim->step;
    int last = step >= c->run.steps, status = LM_OK;
    if (due(c->output.series_every, step) || (c->output.series_every > 0 && last))
        status = write_row(r);
    if (!status && due(c->output.fields_every, step))
        status = lm_output_fields(r->sim);
    if (!status && due(c->output.particles_every, step))
        status = lm_output_particles(r->sim);
    if (!status && step > r->first_step && (due(c->output.checkpoint_every, step) || (c->output.checkpoint_every > 0 && last)))
        status = write_checkpoint(r);
    return status;
}

/* A run that cannot go on keeps its last good state, if the disk takes it. */
static int rescue(struct run *r, int status)
{
    char why[LM_MAX_MESSAGE];
    snprintf(why, sizeof why, "%s", lm_error());
    if (write_checkpoint(r))
        return lm_fail(status, "%s\nno checkpoint of step %lld could be written: %.500s", why, (long long)r->sim->step, lm_error());
    return lm_fail(status, "%s\nthe last good state is in %s", why, r->checkpoint);
}

static int stop_early(struct run *r, const char *why)
{
    int status = write_checkpoint(r);
    if (status)
        return status;
    snprintf(r->ended, sizeof r->ended, "%s", why);
    return lm_fail(LM_STOPPED, "stopped at step %lld: %s; go on with --restart %s", (long long)r->sim->step, why, r->checkpoint);
}

static int loop(struct run *r)
{
    const struct lm_config *c = r->config;
    int status = r->options->restart ? LM_OK : write_due(r);
    while (!status && r->sim->step < c->run.steps) {
        double before = lm_clock();
        status = lm_sim_check(r->sim);
        if (status)
            return rescue(r, status);
        status = lm_sim_step(r->sim);
        if (status)
            return status; /* a fault of the device: there is no state to keep */
        r->stepping += lm_clock() - before;
        status = write_due(r);
        if (status)
            return rescue(r, status);
        lm_progress_step(&r->progress, r->sim->step, r->stepping);
        if (stop_signal && r->sim->step < c->run.steps)
            return stop_early(r, stop_signal == SIGINT ? "interrupted (SIGINT)" : "terminated (SIGTERM)");
        if (c->output.wall_limit > 0 && lm_clock() - r->started > c->output.wall_limit && r->sim->step < c->run.steps)
            return stop_early(r, "wall-time limit (output.wall_limit)");
    }
    return status;
}

static int write_echo(const struct run *r)
{
    char path[LM_MAX_PATH];
    int status = lm_path(path, "%s/run.ini", r->config->output.directory);
    FILE *f = status ? NULL : fopen(path, "w");
    if (status)
        return status;
    if (!f)
        return lm_fail(LM_FAILED, "%s: %s", path, strerror(errno));
    status = lm_config_write(r->config, f);
    if (fclose(f) && !status)
        status = lm_fail(LM_FAILED, "%s: %s", path, strerror(errno));
    return status;
}

static json_t *species_json(const struct run *r)
{
    json_t *list = json_array();
    for (int s = 0; s < r->config->species_count; s++)
        json_array_append_new(list, json_pack("{s:s, s:I}", "name", r->config->species[s].name, "particles",
                                              (json_int_t)r->sim->count[s]));
    return list;
}

/* run.json: what ran where, how fast, and the fingerprint of the final state. */
static int write_summary(const struct run *r, int status)
{
    char path[LM_MAX_PATH], print[32], device[256];
    uint64_t fingerprint;
    int kind = LM_BACKEND_CPU, failed = lm_sim_fingerprint(r->sim, &fingerprint);
    if (!failed)
        failed = lm_path(path, "%s/run.json", r->config->output.directory);
    if (!failed)
        failed = lm_backend_resolve(r->config->run.backend, r->config->run.threads, &kind, device, sizeof device);
    if (failed)
        return failed;
    int64_t steps = r->sim->step - r->first_step;
    struct lm_totals totals;
    failed = lm_sim_totals(r->sim, &totals);
    snprintf(print, sizeof print, "%016llx", (unsigned long long)fingerprint);
    double rate = r->stepping > 0 ? (double)r->particles * (double)steps / r->stepping : 0;
    double drift = r->references.energy != 0 ? (totals.energy - r->references.energy) / r->references.energy : 0;
    json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:f, s:I, s:o, s:s, s:f, s:f, s:f, s:I, s:f}", "software",
                          lm_version_software(), "ended", status == LM_OK ? "complete" : r->ended, "configuration",
                          r->config->file, "backend", r->sim->backend->ops->name, "device", device, "first_step",
                          (json_int_t)r->first_step, "last_step", (json_int_t)r->sim->step, "time", lm_sim_time(r->sim),
                          "particles", (json_int_t)r->particles, "species", species_json(r), "fingerprint", print,
                          "seconds_stepping", r->stepping, "seconds_total", lm_clock() - r->started,
                          "particle_steps_per_second", rate, "sorts", (json_int_t)r->sim->sorts, "energy_drift", drift);
    if (!j || failed || json_dump_file(j, path, JSON_INDENT(4) | JSON_REAL_PRECISION(12)))
        failed = lm_fail(LM_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    json_decref(j);
    if (!failed && !r->options->quiet)
        fprintf(stderr, "%lld steps of %.4g M particles in %.3g s: %.4g M particle-steps/s; fingerprint %s\n", (long long)steps,
                1e-6 * (double)r->particles, r->stepping, 1e-6 * rate, print);
    return failed;
}

/* Everything that can be wrong with the input comes before anything is written. */
static int prepare(struct run *r)
{
    struct lm_checkpoint head;
    int status = lm_directory_check(r->config->output.directory, r->options->overwrite, r->options->restart != NULL);
    if (!status)
        status = lm_sim_create(r->config, &r->sim);
    if (!status)
        status = r->options->restart ? lm_sim_restore(r->sim, r->options->restart, &head) : lm_sim_start(r->sim);
    if (status)
        return status;
    r->first_step = r->row_step = r->sim->step;
    for (int s = 0; s < r->config->species_count; s++)
        r->particles += r->sim->count[s];
    if (!r->options->restart)
        return lm_row_references(r->sim, &r->references);
    r->references.energy = head.energy_start;
    for (int d = 0; d < 3; d++)
        r->references.momentum[d] = head.momentum_start[d];
    if (head.step >= r->config->run.steps)
        return lm_fail(LM_BAD_INPUT, "%s: is at step %lld and the run ends at %lld: raise run.t_end or run.steps", r->options->restart,
                       (long long)head.step, (long long)r->config->run.steps);
    return LM_OK;
}

static int open_output(struct run *r)
{
    struct lm_series_column columns[LM_ROW_MAX];
    const char *directory = r->config->output.directory;
    int count = lm_row_columns(r->config, columns);
    int status = lm_directory_make(directory, r->options->overwrite && !r->options->restart);
    if (!status)
        status = lm_series_open(directory, count, columns, r->options->restart ? r->first_step : -1, &r->series);
    return status ? status : write_echo(r);
}

int lm_run(const struct lm_config *config, const struct lm_run_options *options)
{
    struct run r = {.config = config, .options = options, .started = lm_clock(), .ended = "failed"};
    struct sigaction catch = {.sa_handler = on_signal};
    stop_signal = 0;
    sigaction(SIGINT, &catch, NULL);
    sigaction(SIGTERM, &catch, NULL);
    int status = prepare(&r);
    if (!status)
        status = open_output(&r);
    if (!status) {
        lm_progress_start(&r.progress, options->quiet, r.first_step, config->run.steps, r.particles, config->run.dt);
        status = loop(&r);
        lm_progress_end(&r.progress);
        if (status == LM_OK || status == LM_STOPPED) {
            char message[LM_MAX_MESSAGE];
            snprintf(message, sizeof message, "%s", lm_error());
            int failed = write_summary(&r, status);
            if (failed)
                status = failed;
            else
                lm_fail(status, "%s", message);
        }
    }
    if (r.series && lm_series_close(&r.series) && status == LM_OK)
        status = LM_FAILED;
    lm_sim_destroy(&r.sim);
    return status;
}
