/* `larmor run`: the loop over steps with outputs, progress, signals and limits. */
#include "larmor/run.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "directory.h"
#include "prepare.h"
#include "progress.h"
#include "warnings.h"

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
    struct lm_series_column *columns;
    int column_count;
    struct lm_references references;
    struct lm_progress progress;
    int64_t first_step;
    double started, stepping; /* clock at the start; seconds spent in steps */
    double row_stepping;      /* `stepping` and step at the last row */
    uint64_t row_pushed;
    uint64_t particles;
    char checkpoint[LM_MAX_PATH]; /* the last one written */
    char ended[LM_MAX_MESSAGE];   /* why, for run.json */
    struct lm_limits limits;      /* of the start: what is warned of */
};

static int due(int64_t every, int64_t step)
{
    return every > 0 && step % every == 0;
}

static int write_row(struct run *r)
{
    double row[LM_ROW_MAX], spent = r->stepping - r->row_stepping;
    double rate = spent > 0 ? (double)(r->sim->pushed - r->row_pushed) / spent : 0;
    int status = lm_row_fill(r->sim, &r->references, rate, row);
    r->row_stepping = r->stepping;
    r->row_pushed = r->sim->pushed;
    return status ? status : lm_series_append(r->series, row);
}

static int write_checkpoint(struct run *r)
{
    char path[LM_MAX_PATH];
    int status = lm_output_checkpoint(r->sim, &r->references, path);
    if (!status)
        memcpy(r->checkpoint, path, sizeof path);
    return status;
}

static int is_last(const struct run *r)
{
    return r->sim->step >= r->config->run.steps;
}

/* What is due at the present step; the last step gets a row and a checkpoint where there are any. */
static int write_due(struct run *r)
{
    const struct lm_config *c = r->config;
    int64_t step = r->sim->step;
    int last = is_last(r), status = LM_OK;
    if (due(c->output.series_every, step) || (c->output.series_every > 0 && last))
        status = write_row(r);
    if (!status && due(c->output.fields_every, step))
        status = lm_output_fields(r->sim);
    if (!status && due(c->output.particles_every, step))
        status = lm_output_particles(r->sim);
    if (!status && (due(c->output.maps_every, step) || last))
        status = lm_output_maps(r->sim);
    int fresh = step > r->first_step || (last && !r->options->restart); /* not what it was restarted from */
    if (!status && fresh && (due(c->output.checkpoint_every, step) || (c->output.checkpoint_every > 0 && last)))
        status = write_checkpoint(r);
    return status;
}

static int is_finite(const struct run *r)
{
    const struct lm_control *c = &r->sim->control;
    double sum = c->push_e[0] + c->push_e[1] + c->push_e[2] + c->frequency;
    for (int s = 0; s < r->config->species_count; s++)
        sum += c->speed2[s];
    for (int f = 0; f < r->config->background_count; f++)
        sum += r->sim->background[f].least + r->sim->background[f].most;
    return isfinite(sum);
}

/* A run that cannot go on keeps its state, if that is good and the disk takes it, and all checkpoints it has. */
static int rescue(struct run *r, int status)
{
    char why[LM_MAX_MESSAGE / 2], reason[512], before[LM_MAX_PATH + 64] = "";
    struct lm_config keep_all = *r->config;
    snprintf(why, sizeof why, "%s", lm_error());
    if (r->checkpoint[0])
        snprintf(before, sizeof before, "; the one before is %s", r->checkpoint);
    keep_all.output.keep = INT_MAX;
    r->sim->config = &keep_all;
    int failed = write_checkpoint(r);
    r->sim->config = r->config;
    if (!failed)
        return lm_fail(status, "%s\nthe last good state is in %s", why, r->checkpoint);
    snprintf(reason, sizeof reason, "%s", lm_error());
    return lm_fail(status, "%s\nno checkpoint of step %lld could be written: %s%s", why, (long long)r->sim->step,
                   reason, before);
}

static int stop_early(struct run *r, const char *why)
{
    int status = write_checkpoint(r);
    if (status)
        return rescue(r, status);
    snprintf(r->ended, sizeof r->ended, "%s", why);
    return lm_fail(LM_STOPPED, "stopped at step %lld: %s; go on with --restart %s", (long long)r->sim->step, why,
                   r->checkpoint);
}

/* There is no memory for what the next step brings in; the state is as good as after any other step. */
static int stop_before_more(struct run *r)
{
    char why[LM_MAX_MESSAGE / 2];
    snprintf(why, sizeof why, "%s", lm_error());
    const int status = write_due(r);
    return status ? rescue(r, status) : stop_early(r, why);
}

/* NULL when nothing asks to stop. */
static const char *reason_to_stop(const struct run *r)
{
    double limit = r->config->output.wall_limit;
    if (stop_signal)
        return stop_signal == SIGINT ? "interrupted (SIGINT)" : "terminated (SIGTERM)";
    return limit > 0 && lm_clock() - r->started > limit ? "wall-time limit (output.wall_limit)" : NULL;
}

/* One step and what is due after it. A state that cannot be stepped on from is not written as if it were good; after
 * the last step it need only be finite. */
static int advance(struct run *r)
{
    double before = lm_clock();
    int status = lm_sim_step(r->sim);
    if (status)
        return status; /* a fault of the device: there is no state to keep */
    r->stepping += lm_clock() - before;
    if (!is_last(r) || !is_finite(r))
        status = lm_sim_check(r->sim);
    if (status == LM_STOPPED)
        return stop_before_more(r);
    if (!status)
        status = write_due(r);
    if (status)
        return rescue(r, status);
    lm_progress_step(&r->progress, r->sim->step, r->stepping);
    return LM_OK;
}

static int loop(struct run *r)
{
    int status = r->options->restart ? LM_OK : write_due(r);
    while (!status && !is_last(r)) {
        status = advance(r);
        const char *why = reason_to_stop(r);
        if (!status && why && !is_last(r))
            return stop_early(r, why);
    }
    return status;
}

static int write_echo(const struct run *r)
{
    char path[LM_MAX_PATH], part[LM_MAX_PATH];
    FILE *f = lm_directory_begin(r->config->output.directory, "run.ini", path, part);
    return f ? lm_directory_end(f, path, part, lm_config_write(r->config, f)) : LM_FAILED;
}

static json_t *real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *account_json(const struct run *r, int species, const struct lm_account *a)
{
    double v[LM_LEDGER_VALUES];
    lm_ledger_values(&r->sim->ledger[species], a, lm_sim_weight(r->sim, species), r->config->species[species].mass, v);
    return json_pack("{s:I, s:o, s:[o, o, o], s:o}", "number", (json_int_t)a->number, "weight", real_json(v[1]),
                     "momentum", real_json(v[2]), real_json(v[3]), real_json(v[4]), "energy", real_json(v[5]));
}

/* In every step loaded + injected = present + lost: the program stops where it is not so. */
static json_t *ledger_json(const struct run *r, int species)
{
    const struct lm_ledger *l = &r->sim->ledger[species];
    struct lm_account_of accounts[LM_ACCOUNTS];
    json_t *injected = json_object(), *lost = json_object();
    json_t *all = json_pack("{s:I, s:o, s:o, s:I, s:I}", "loaded", (json_int_t)l->loaded, "injected", injected, "lost",
                            lost, "present", (json_int_t)r->sim->count[species], "residual",
                            (json_int_t)lm_sim_residual(r->sim, species));
    for (int k = 0, n = lm_accounts(r->config, species, accounts); k < n; k++) {
        const struct lm_account_of *a = &accounts[k];
        json_object_set_new(a->kind == LM_ENTERS   ? injected
                            : a->kind == LM_LEAVES ? lost
                                                   : all,
                            a->name, account_json(r, species, lm_account_in(l, a)));
    }
    return all;
}

/* Of all species, each counted as a positive number. */
static json_int_t residual_of_all(const struct run *r)
{
    json_int_t sum = 0;
    for (int s = 0; s < r->config->species_count; s++)
        sum += llabs(lm_sim_residual(r->sim, s));
    return sum;
}

static json_t *species_json(const struct run *r)
{
    json_t *list = json_array();
    for (int s = 0; s < r->config->species_count; s++)
        json_array_append_new(list, json_pack("{s:s, s:I, s:o}", "name", r->config->species[s].name, "particles",
                                              (json_int_t)r->sim->count[s], "ledger", ledger_json(r, s)));
    return list;
}

static json_t *background_json(const struct run *r, int field)
{
    const struct lm_background_config *b = &r->config->background[field];
    const struct lm_sim_background *s = &r->sim->background[field];
    const lm_int128 sums[] = {s->ledger.loaded, s->ledger.source, s->ledger.rounded, s->ledger.total};
    json_t *entered = json_object(), *value[4];
    for (int side = 0; side < LM_SIDES; side++)
        if (lm_background_is_open(b, side))
            json_object_set_new(entered, lm_side_names[side],
                                real_json(lm_sim_background_value(r->sim, field, s->ledger.entered[side])));
    for (int k = 0; k < 4; k++)
        value[k] = real_json(lm_sim_background_value(r->sim, field, sums[k]));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "name", b->name, "loaded", value[0], "entered",
                     entered, "source", value[1], "rounded", value[2], "total", value[3], "minimum",
                     real_json(s->least), "maximum", real_json(s->most), "residual",
                     (json_int_t)lm_sim_background_residual(r->sim, field));
}

static json_t *backgrounds_json(const struct run *r)
{
    json_t *list = json_array();
    for (int f = 0; f < r->config->background_count; f++)
        json_array_append_new(list, background_json(r, f));
    return list;
}

/* A name of a file need not be UTF-8; JSON must be. */
static json_t *text_json(const char *text)
{
    json_t *j = json_string(text);
    return j ? j : json_string("(not UTF-8)");
}

struct summary {
    uint64_t fingerprint;
    double rate, drift;
    char device[256];
};

static int summarize(const struct run *r, struct summary *s)
{
    struct lm_totals totals;
    int kind = LM_BACKEND_CPU;
    double start = r->references.energy;
    int status = lm_sim_fingerprint(r->sim, &s->fingerprint);
    if (!status)
        status = lm_sim_totals(r->sim, &totals);
    if (!status)
        status = lm_backend_resolve(r->config->run.backend, r->config->run.threads, &kind, s->device, sizeof s->device);
    if (status)
        return status;
    s->rate = r->stepping > 0 ? (double)r->sim->pushed / r->stepping : 0;
    s->drift = start != 0 ? (totals.energy - start) / fabs(start) : 0;
    return LM_OK;
}

static json_t *summary_json(const struct run *r, const struct summary *s, int status)
{
    char print[32];
    snprintf(print, sizeof print, "%016llx", (unsigned long long)s->fingerprint);
    return json_pack(
        "{s:s, s:s, s:o, s:s, s:s, s:I, s:I, s:f, s:I, s:o, s:o, s:{s:I}, s:s, s:f, s:f, s:f, s:I, s:o, s:o}",
        "software", lm_version_software(), "ended", status == LM_OK ? "complete" : r->ended, "configuration",
        text_json(r->config->file), "backend", r->sim->backend->ops->name, "device", s->device, "first_step",
        (json_int_t)r->first_step, "last_step", (json_int_t)r->sim->step, "time", lm_sim_time(r->sim), "particles",
        (json_int_t)r->particles, "species", species_json(r), "backgrounds", backgrounds_json(r), "ledger", "residual",
        residual_of_all(r), "fingerprint", print, "seconds_stepping", r->stepping, "seconds_total",
        lm_clock() - r->started, "particle_steps_per_second", s->rate, "sorts", (json_int_t)r->sim->sorts,
        "energy_drift", real_json(s->drift), "warnings", lm_warnings_json(&r->limits));
}

/* run.json: what ran where, how fast, and the fingerprint of the final state. */
static int write_summary(const struct run *r, int status)
{
    char path[LM_MAX_PATH], part[LM_MAX_PATH];
    struct summary s = {0};
    int failed = summarize(r, &s);
    if (failed)
        return failed;
    FILE *f = lm_directory_begin(r->config->output.directory, "run.json", path, part);
    if (!f)
        return LM_FAILED;
    json_t *j = summary_json(r, &s, status);
    if (!j)
        failed = lm_fail(LM_FAILED, "%s: not enough memory", path);
    else if (json_dumpf(j, f, JSON_INDENT(4) | JSON_REAL_PRECISION(12)) || fputc('\n', f) == EOF)
        failed = lm_fail(LM_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    json_decref(j);
    failed = lm_directory_end(f, path, part, failed);
    if (!failed && !r->options->quiet)
        fprintf(stderr, "%lld steps of %.4g M particles in %.3g s: %.4g M particle-steps/s; fingerprint %016llx\n",
                (long long)(r->sim->step - r->first_step), 1e-6 * (double)r->particles, r->stepping, 1e-6 * s.rate,
                (unsigned long long)s.fingerprint);
    return failed;
}

/* What `larmor check` finds as well. */
static int look_ahead(struct run *r, const struct lm_checkpoint *head)
{
    uint64_t counts[LM_MAX_SPECIES] = {0};
    struct lm_prepared p;
    for (int s = 0; head && s < r->config->species_count && s < head->species_count; s++)
        counts[s] = head->species[s].count;
    const int status = lm_prepare(r->config, head ? counts : NULL, &p);
    if (status)
        return status;
    r->limits = p.limits;
    lm_prepare_free(&p);
    return LM_OK;
}

/* Everything that can be wrong with the input comes before anything is written. */
static int prepare(struct run *r)
{
    const char *directory = r->config->output.directory, *restart = r->options->restart;
    struct lm_checkpoint head;
    int status = restart ? lm_checkpoint_head(restart, &head) : LM_OK;
    if (!status)
        status = lm_directory_check(directory, r->options->overwrite, restart);
    if (!status)
        status = look_ahead(r, restart ? &head : NULL);
    if (!status)
        status = lm_row_columns(r->config, &r->column_count, &r->columns);
    if (!status)
        status = lm_sim_create(r->config, &r->sim);
    if (!status)
        status = restart ? lm_sim_restore(r->sim, restart, &head) : lm_sim_begin(r->sim);
    if (status)
        return status;
    r->first_step = r->sim->step;
    for (int s = 0; s < r->config->species_count; s++)
        r->particles += r->sim->count[s];
    if (!restart)
        return lm_row_references(r->sim, &r->references);
    r->references.energy = head.energy_start;
    for (int d = 0; d < 3; d++)
        r->references.momentum[d] = head.momentum_start[d];
    if (is_last(r))
        return lm_fail(LM_BAD_INPUT,
                       "%s: is at step %lld and the run ends at %lld: raise run.t_end, run.steps or --steps", restart,
                       (long long)head.step, (long long)r->config->run.steps);
    status = lm_sim_check(r->sim);
    return status == LM_STOPPED ? lm_fail_context(LM_BAD_INPUT, "%s", restart) : status;
}

/* A restart goes on with the files of its own directory, and starts new ones elsewhere. */
static int open_output(struct run *r)
{
    const char *directory = r->config->output.directory, *restart = r->options->restart;
    char summary[LM_MAX_PATH];
    int goes_on = restart && lm_directory_holds(directory, restart);
    int status = lm_path(summary, "%s/run.json", directory);
    if (!status)
        status = lm_directory_make(directory, r->options->overwrite && !goes_on);
    if (!status)
        status = lm_series_open(directory, r->column_count, r->columns, restart ? r->first_step : -1, &r->series);
    int stale = status != LM_BAD_INPUT; /* run.json would tell of another end */
    if (stale && unlink(summary) && errno != ENOENT && !status)
        status = lm_fail(LM_FAILED, "%s: cannot be removed: %s", summary, strerror(errno));
    return status ? status : write_echo(r);
}

/* Closes all; the first failure and its message stay. */
static int finish(struct run *r, int status)
{
    char message[LM_MAX_MESSAGE];
    snprintf(message, sizeof message, "%s", lm_error());
    int good = status == LM_OK || status == LM_STOPPED, failed = lm_series_close(&r->series);
    if (good && !failed)
        failed = write_summary(r, status);
    if (good && failed)
        return failed;
    return lm_fail(status, "%s", message);
}

int lm_run(const struct lm_config *config, const struct lm_run_options *options)
{
    struct run r = {.config = config, .options = options, .started = lm_clock(), .ended = "failed"};
    struct sigaction catch = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    stop_signal = 0;
    sigaction(SIGINT, &catch, NULL);
    sigaction(SIGTERM, &catch, NULL);
    int status = prepare(&r);
    if (!status)
        status = open_output(&r);
    if (!status) {
        lm_warnings_print(&r.limits);
        lm_progress_start(&r.progress, options->quiet, r.first_step, config->run.steps, r.particles, config->run.dt);
        status = loop(&r);
        lm_progress_end(&r.progress);
    }
    status = r.series ? finish(&r, status) : status;
    free(r.columns);
    lm_sim_destroy(&r.sim);
    return status;
}
