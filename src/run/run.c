/* `larmor run`: the loop over steps with outputs, progress, signals and limits. */
#include "larmor/run.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/backend_choice.h"
#include "run/differences.h"
#include "run/due.h"
#include "run/latest.h"
#include "run/messages.h"
#include "run/provenance.h"
#include "output/directory.h"
#include "backend/backend.h"
#include "base/stop.h"
#include "survey/prepare.h"
#include "run/run_state.h"
#include "run/signals.h"
#include "ranks/ranks.h"
#include "sim/restart.h"

/* --- checkpoints --- */

/* Writes from which checkpoint the run can go on, or why there is none. */
static void last_good(const struct lm_run_state *r, size_t size, char *out)
{
    if (r->checkpoint[0])
        snprintf(out, size, "the last checkpoint is %s", r->checkpoint);
    else if (r->options->restart)
        snprintf(out, size, "no checkpoint has been written since %s, from which the run can go on again",
                 r->options->restart);
    else if (r->config->output.checkpoint_every > 0)
        snprintf(out, size, "there is no checkpoint yet (output.checkpoint_every = %lld): begin again",
                 (long long)r->config->output.checkpoint_every);
    else
        snprintf(out, size, "there is no checkpoint (output.checkpoint_every = 0): begin again");
}

static void tell_signals(const struct lm_run_state *r)
{
    char text[LM_MAX_PATH + 128];
    last_good(r, sizeof text, text);
    lm_signals_tell(text);
}

/* Removes the spare checkpoint, which was written before a long step, as soon as there is another checkpoint. */
static void drop_spare(struct lm_run_state *r)
{
    if (r->spare[0] && strcmp(r->spare, r->checkpoint))
        unlink(r->spare);
    r->spare[0] = 0;
}

/* `keep`: the number of checkpoints that stay, this one included. */
static int write_checkpoint(struct lm_run_state *r, int keep)
{
    char path[LM_MAX_PATH];
    const double before = lm_clock();
    int status = lm_samples_flush(&r->samples);
    if (!status || r->is_rescued) /* a state is worth more than samples */
        status = lm_sim_save_with(r->sim, &r->references, r->config->output_count, r->averages.sums, keep, path);
    if (status)
        return status;
    memcpy(r->checkpoint, path, sizeof path);
    r->checkpoint_step = lm_sim_step_number(r->sim);
    r->checkpoint_seconds = lm_clock() - before;
    drop_spare(r);
    tell_signals(r);
    return LM_OK;
}

/* Keeps output.keep regular checkpoints. A spare checkpoint, which is younger, does not count. */
static int write_regular(struct lm_run_state *r)
{
    const int keep = r->config->output.keep;
    return write_checkpoint(r, keep + (r->spare[0] != 0));
}

/* --- what is due --- */

static int is_last(const struct lm_run_state *r)
{
    return lm_sim_step_number(r->sim) >= r->config->run.steps;
}

/* What is due at the present step. */
static int write_due(struct lm_run_state *r)
{
    const int64_t every = r->config->output.checkpoint_every, step = lm_sim_step_number(r->sim);
    const int last = is_last(r), fresh = step > r->first_step || (last && !r->options->restart);
    const int status = lm_run_write_outputs(r, last);
    if (status || !fresh || every == 0) /* not fresh: the state of the restart itself */
        return status;
    return step % every == 0 || last ? write_regular(r) : LM_OK;
}

/* --- the end, early --- */

/* 1 when a checkpoint has the present state: one of this run, or the one that it restarted from. */
static int is_kept(const struct lm_run_state *r)
{
    return r->checkpoint[0] ? r->checkpoint_step == lm_sim_step_number(r->sim)
                            : r->options->restart && lm_sim_step_number(r->sim) == r->first_step;
}

static const char *kept(const struct lm_run_state *r)
{
    return r->checkpoint[0] ? r->checkpoint : r->options->restart;
}

/* A failure within a step: the state is lost. */
static int lose(struct lm_run_state *r, int status)
{
    char why[LM_MAX_MESSAGE / 2], where[LM_MAX_PATH + 128];
    snprintf(why, sizeof why, "%s", lm_error());
    last_good(r, sizeof where, where);
    r->told = 1;
    return lm_fail(status, "%s\nthe state has been lost within the step; %s", why, where);
}

/* A run that cannot go on writes a checkpoint of its last good state, if it can, and keeps all older checkpoints. */
static int rescue(struct lm_run_state *r, int status)
{
    char why[LM_MAX_MESSAGE / 2], reason[512], before[LM_MAX_PATH + 128];
    snprintf(why, sizeof why, "%s", lm_error());
    last_good(r, sizeof before, before);
    r->is_rescued = 1;
    int failed = is_kept(r) ? LM_OK : write_checkpoint(r, INT_MAX);
    r->told = 1;
    if (!failed)
        return lm_fail(status, "%s\nthe last good state is in %s", why, kept(r));
    snprintf(reason, sizeof reason, "%s", lm_error());
    return lm_fail(status, "%s\nno checkpoint of step %lld could be written: %s; %s", why,
                   (long long)lm_sim_step_number(r->sim), reason, before);
}

/* NULL: there is no request to stop. The time limit counts after the first step only, else a chain of restarts might
 * make no progress. */
static const char *reason_to_stop(const struct lm_run_state *r)
{
    const int asked = lm_stop_asked();
    return asked == 0 || (asked == LM_STOP_TIME && lm_sim_step_number(r->sim) == r->first_step)
               ? NULL
               : lm_signals_name(asked);
}

/* Ends the run with a checkpoint. `within`: the step under way has been given up. */
static int stop_at(struct lm_run_state *r, const char *why, int within)
{
    int status = is_kept(r) ? LM_OK : write_regular(r);
    if (status)
        return rescue(r, status);
    r->told = 1;
    snprintf(r->ended, sizeof r->ended, "%s", why);
    return lm_fail(LM_STOPPED, "stopped at step %lld%s: %s; go on with --restart %s",
                   (long long)lm_sim_step_number(r->sim), within ? " (the step after it has been given up)" : "", why,
                   kept(r));
}

static int stop_early(struct lm_run_state *r, const char *why)
{
    return stop_at(r, why, 0);
}

/* There is no memory for the particles that the next step brings in. The present state is good. */
static int stop_before_more(struct lm_run_state *r)
{
    char why[LM_MAX_MESSAGE / 2];
    snprintf(why, sizeof why, "%s", lm_error());
    const int status = write_due(r);
    return status ? rescue(r, status) : stop_early(r, why);
}

/* --- long steps --- */

static const double LONG = 3;   /* seconds: a signal may wait so long for the end of a step */
static const double WORTH = 10; /* a step gets a spare checkpoint if it takes so many times as long as writing one */
static const double WRITE_RATE = 300e6; /* bytes per second, assumed until a checkpoint has been written */

static void warn_of_spare(struct lm_run_state *r)
{
    r->spare_failed = 1;
    if (!r->options->quiet)
        fprintf(stderr,
                "larmor: warning: no checkpoint before a long step: %s; a signal will wait for the step's end\n",
                lm_error());
}

/* Writes a spare checkpoint. It is not removed later if it replaces one of an earlier run that went further. */
static int write_spare(struct lm_run_state *r)
{
    char path[LM_MAX_PATH];
    int status = lm_path(path, "%s/checkpoints/checkpoint_%08lld.h5", r->config->output.directory,
                         (long long)lm_sim_step_number(r->sim));
    const int replaces = !status && !access(path, F_OK);
    if (!status)
        status = write_checkpoint(r, INT_MAX);
    if (!status && !replaces)
        memcpy(r->spare, r->checkpoint, sizeof r->spare);
    return status;
}

/* Before a long step: writes a checkpoint of its beginning, if there is none and it costs little compared with the
 * step. Returns 1 when the step may be given up. */
static int may_give_up(struct lm_run_state *r)
{
    const double seconds = lm_step_forecast_seconds(&r->forecast, r->sim);
    const double cost =
        r->checkpoint_seconds > 0 ? r->checkpoint_seconds : lm_step_forecast_checkpoint_bytes(r->sim) / WRITE_RATE;
    if (!(seconds > LONG) || (!is_kept(r) && (seconds < WORTH * cost || r->spare_failed)))
        return 0;
    if (!is_kept(r) && write_spare(r)) {
        warn_of_spare(r);
        return 0;
    }
    return lm_summary_collect(r, &r->begun) == LM_OK;
}

/* --- the loop --- */

/* One step, and the outputs that are due after it. A state from which the next step is impossible is not written as a
 * good one. After the last step the state need only be finite. */
static int advance(struct lm_run_state *r)
{
    lm_stop_allow(may_give_up(r));
    double before = lm_clock();
    int status = lm_sim_step(r->sim);
    lm_stop_allow(0);
    if (status == LM_STOPPED)
        return stop_at(r, lm_signals_name(lm_stop_asked()), 1);
    lm_summary_free(&r->begun);
    if (status)
        return lose(r, status);
    lm_step_forecast_update(&r->forecast, r->sim, lm_clock() - before);
    r->stepping += lm_clock() - before;
    /* Also after the last step: a row holds limits of the next step, and the last row is as in a longer run. */
    status = lm_sim_check(r->sim);
    if (is_last(r) && lm_sim_is_finite(r->sim))
        status = LM_OK;
    if (status == LM_STOPPED)
        return stop_before_more(r);
    if (!status)
        status = write_due(r);
    if (status)
        return rescue(r, status);
    lm_progress_step(&r->progress, lm_sim_step_number(r->sim), r->stepping);
    return LM_OK;
}

static int loop(struct lm_run_state *r)
{
    int status = r->options->restart ? LM_OK : write_due(r);
    while (!status && !is_last(r)) {
        const char *why = reason_to_stop(r);
        if (why)
            return stop_early(r, why);
        status = advance(r);
    }
    return status;
}

/* --- the beginning --- */

static int write_echo(const struct lm_run_state *r)
{
    char path[LM_MAX_PATH], part[LM_MAX_PATH];
    FILE *f = lm_directory_begin(r->config->output.directory, "run.ini", path, part);
    return f ? lm_directory_end(f, path, part, lm_config_write(r->config, f)) : LM_FAILED;
}

/* The checks that `larmor check` makes, too. */
static int look_ahead(struct lm_run_state *r, const struct lm_checkpoint *head)
{
    uint64_t counts[LM_MAX_SPECIES] = {0};
    struct lm_prepared p;
    for (int s = 0; head && s < r->config->species_count && s < head->species_count; s++)
        counts[s] = head->species[s].count;
    char choice[256] = "";
    lm_backend_prefer(LM_BACKEND_AUTO); /* an earlier run of this process may have chosen */
    int status = lm_prepare(r->config, head ? counts : NULL, &p);
    if (status)
        return status;
    r->limits = p.limits;
    if (!head)
        status = lm_backend_choose(&p, choice, sizeof choice);
    if (*choice && !r->options->quiet)
        fprintf(stderr, "larmor: %s (run.backend = auto)\n", choice);
    lm_prepare_free(&p);
    return status;
}

/* Many ranks: what they are, and how GPUs exchange data. */
static int show_ranks(const struct lm_run_state *r)
{
    char line[256];
    int kind;
    if (lm_rank_count() == 1 || r->options->quiet)
        return LM_OK;
    const int status = lm_backend_resolve(r->config->run.backend, r->config->run.threads, &kind, line, sizeof line);
    if (!status)
        fprintf(stderr, "%s\n", line);
    return status;
}

/* 1 when the run that wrote this checkpoint was killed after it and before run.json, which a restart then writes. */
static int lacks_its_end(const struct lm_run_state *r)
{
    char summary[LM_MAX_PATH];
    const char *directory = r->config->output.directory;
    return lm_directory_holds(directory, r->options->restart) && !lm_path(summary, "%s/run.json", directory) &&
           access(summary, F_OK);
}

/* What the drift columns and the budget of the energy refer to. `head`: of the checkpoint, or NULL. */
static int find_references(struct lm_run_state *r, const struct lm_checkpoint *head)
{
    const int status = head ? LM_OK : lm_row_references(r->sim, &r->references);
    if (head)
        r->references = lm_checkpoint_references(head);
    r->references.changed |= lm_differences_matter(&r->changed);
    lm_energy_watch_begin(r->config, &r->references, &r->energy);
    return status;
}

/* Compares the settings with those in the checkpoint of a restart. What the file of the run leaves to the flow is as
 * there (lm_differences_read). */
static int read_checkpoint(struct lm_run_state *r, struct lm_checkpoint *head)
{
    r->own = malloc(sizeof *r->own);
    if (!r->own)
        return lm_fail(LM_FAILED, "not enough memory");
    *r->own = *r->config;
    r->config = r->own;
    return lm_differences_read(r->own, r->options->restart, head, &r->changed);
}

/* Finds everything that can be wrong with the input before anything is written. */
static int prepare(struct lm_run_state *r)
{
    const char *directory = r->config->output.directory, *restart = r->options->restart;
    struct lm_checkpoint head;
    int status = restart ? read_checkpoint(r, &head) : LM_OK;
    if (!status)
        status = lm_lock_existing(&r->lock, directory);
    if (!status)
        status = lm_directory_check(directory, r->options->overwrite, restart);
    if (!status)
        status = look_ahead(r, restart ? &head : NULL);
    if (!status)
        status = lm_row_columns(r->config, &r->column_count, &r->columns);
    if (!status)
        status = lm_averages_make(r->config, &r->averages);
    if (!status)
        status = lm_sim_create(r->config, &r->sim);
    if (!status)
        status = show_ranks(r);
    if (!status)
        status = restart ? lm_sim_restore_state(r->sim, restart, &head) : lm_sim_begin(r->sim);
    if (status)
        return status;
    struct lm_sim_status now;
    lm_sim_status(r->sim, &now);
    r->first_step = now.step;
    for (int s = 0; s < r->config->species_count; s++)
        r->particles += now.species[s].count;
    status = find_references(r, restart ? &head : NULL);
    if (status || !restart)
        return status;
    status = lm_averages_restore(&r->averages, r->config, restart, head.step);
    if (status)
        return status;
    if (is_last(r))
        return head.step == r->config->run.steps && lacks_its_end(r)
                   ? LM_OK
                   : lm_fail(LM_BAD_INPUT,
                             "%s: is at step %lld and the run ends at %lld: raise run.t_end, run.steps or --steps",
                             restart, (long long)head.step, (long long)r->config->run.steps);
    status = lm_sim_check(r->sim);
    return status == LM_STOPPED ? lm_fail_context(LM_BAD_INPUT, "%s", restart) : status;
}

/* Takes the directory for this run. Another run may have begun there in the meantime, so it is checked again. */
static int claim_directory(struct lm_run_state *r, int clear)
{
    const char *directory = r->config->output.directory;
    int status = lm_directory_make(directory);
    if (!status)
        status = lm_lock_take(&r->lock, directory);
    if (!status)
        status = lm_directory_check(directory, r->options->overwrite, r->options->restart);
    if (!status && clear)
        status = lm_directory_clear(directory);
    return status;
}

/* A restart goes on with the files of its own directory, and starts new ones elsewhere. */
static int open_output(struct lm_run_state *r)
{
    const char *directory = r->config->output.directory, *restart = r->options->restart;
    char summary[LM_MAX_PATH];
    int goes_on = restart && lm_directory_holds(directory, restart);
    const struct lm_series_restart from = {
        .step = r->first_step, .every = r->changed.series_every, .expected = goes_on, .notes = stderr};
    int status = lm_path(summary, "%s/run.json", directory);
    if (!status)
        status = claim_directory(r, r->options->overwrite && !goes_on);
    if (!status)
        status = lm_samples_make(r->sim, r->config, &r->samples);
    if (!status && goes_on)
        status = lm_samples_check(&r->samples);
    if (!status)
        status = lm_series_open(directory, r->column_count, r->columns, restart ? &from : NULL, &r->series);
    if (!status && goes_on)
        status = lm_samples_go_on(&r->samples);
    int stale = status != LM_BAD_INPUT; /* run.json would tell of another end */
    if (stale && unlink(summary) && errno != ENOENT && !status)
        status = lm_fail(LM_FAILED, "%s: cannot be removed: %s", summary, strerror(errno));
    return status ? status : write_echo(r);
}

/* --- all of it --- */

/* Adds to the message of a failure from which checkpoint the run can go on. */
static int tell(struct lm_run_state *r, int status)
{
    char why[LM_MAX_MESSAGE / 2], where[LM_MAX_PATH + 128];
    if (status != LM_FAILED || r->told)
        return status;
    last_good(r, sizeof where, where);
    snprintf(why, sizeof why, "%s", lm_error());
    return lm_fail(status, "%s\n%s", why, where);
}

/* Closes all; the first failure and its message stay. */
static int finish(struct lm_run_state *r, int status)
{
    char message[LM_MAX_MESSAGE];
    snprintf(message, sizeof message, "%s", lm_error());
    int good = status == LM_OK || status == LM_STOPPED, failed = lm_series_close(&r->series);
    if (!failed)
        failed = lm_samples_flush(&r->samples);
    if (status == LM_OK)
        snprintf(r->ended, sizeof r->ended, "complete");
    if (good && !failed && !r->begun.json)
        failed = lm_summary_collect(r, &r->begun);
    if (good && !failed)
        failed = lm_summary_write(r, &r->begun);
    if (good && failed) {
        r->told = 0;
        return failed;
    }
    if (status == LM_OK && r->spare[0])
        unlink(r->spare); /* the user has not asked for this checkpoint */
    return lm_fail(status, "%s", message);
}

/* From here on files are written, and signals are requests to stop. */
static int carry_out(struct lm_run_state *r)
{
    const double limit = r->config->output.wall_limit;
    lm_signals_keep();
    tell_signals(r);
    lm_run_set_provenance(r->config);
    lm_stop_at(limit > 0 ? r->started + limit : INFINITY);
    int status = open_output(r);
    if (!status) {
        lm_messages_begin(r);
        lm_progress_start(&r->progress, r->options->quiet, r->first_step, r->config->run.steps, r->particles,
                          r->config->run.dt);
        status = loop(r);
        lm_progress_end(&r->progress);
    }
    status = r->series ? finish(r, status) : status;
    return lm_messages_end(r, tell(r, status));
}

int lm_run(const struct lm_config *config, const struct lm_run_options *asked)
{
    struct lm_run_options options = *asked;
    struct lm_run_state r = {.config = config, .options = &options, .started = lm_clock(), .lock = LM_LOCK_NONE};
    char why[LM_MAX_MESSAGE / 2], latest[LM_MAX_PATH];
    int is_complete = 0, status = LM_OK;
    if (options.restart && !strcmp(options.restart, "latest"))
        status = lm_run_find_latest(config, &options, latest, &is_complete);
    if (status || is_complete)
        return status;
    lm_signals_begin();
    status = prepare(&r);
    if (!status) {
        status = carry_out(&r);
    } else if (status == LM_FAILED) {
        snprintf(why, sizeof why, "%s", lm_error());
        lm_fail(status, "%s\nnothing has been written", why);
    }
    free(r.columns);
    lm_differences_free(&r.changed);
    lm_summary_free(&r.begun);
    lm_energy_watch_free(&r.energy);
    lm_averages_free(&r.averages);
    lm_samples_free(&r.samples);
    lm_sim_destroy(&r.sim);
    lm_lock_release(&r.lock);
    lm_signals_end();
    free(r.own);
    return status;
}
