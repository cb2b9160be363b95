/* The reference: one thread of the CPU, with a trace of every step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../inside.h"
#include "compare_run.h"
#include "files.h"

static int make_trace(struct compare_trace *t)
{
    const size_t steps = (size_t)t->config->run.steps + 1;
    int status = lm_row_columns(t->config, &t->column_count, &t->columns);
    if (status)
        return status;
    t->prints = malloc(steps * sizeof *t->prints);
    t->rows = malloc(steps * (size_t)t->column_count * sizeof *t->rows);
    return t->prints && t->rows ? LM_OK : lm_fail(LM_FAILED, "not enough memory for %zu rows", steps);
}

/* Records the state after each step. */
static int record(struct compare_trace *t)
{
    int status = lm_row_fill(t->sim, t->sim->config, &t->references, 0, compare_row(t, t->sim->step));
    t->steps = t->sim->step;
    t->is_finite = lm_sim_is_finite(t->sim);
    return status ? status : lm_sim_fingerprint(t->sim, &t->prints[t->steps]);
}

/* Does what a run does: takes a step, checks whether another one can be taken, and makes the row. */
static int run_reference(struct compare_trace *t)
{
    int status = LM_OK;
    while (!status && !t->stopped[0] && t->sim->step < t->config->run.steps) {
        if (lm_sim_step(t->sim)) {
            snprintf(t->stopped, sizeof t->stopped, "%s", lm_error());
            return LM_OK;
        }
        t->in_check = lm_sim_check(t->sim) && t->sim->step < t->config->run.steps;
        if (t->in_check)
            snprintf(t->stopped, sizeof t->stopped, "%s", lm_error());
        status = record(t);
    }
    return status;
}

/* Reads and starts a configuration. Returns LM_BAD_INPUT when that is not possible. */
static int start_reference(const struct draft *d, struct compare_trace *t)
{
    char path[LM_MAX_PATH], text[DRAFT_TEXT];
    draft_text(d, text);
    t->config = calloc(1, sizeof *t->config);
    if (!t->config)
        return lm_fail(LM_FAILED, "not enough memory for a configuration");
    if (!files_write(d, t->directory))
        return lm_fail(LM_FAILED, "%s: a file of the configuration cannot be written", t->directory);
    int status = lm_path(path, "%s/case.ini", t->directory);
    if (!status)
        status = lm_config_read_text(path, text, 0, NULL, t->config);
    if (status)
        return status;
    t->config->run.backend = compare_reference.backend;
    t->config->run.threads = compare_reference.threads;
    status = lm_sim_create(t->config, &t->sim);
    return status ? status : lm_sim_start(t->sim);
}

void compare_trace_free(struct compare_trace *t)
{
    lm_sim_destroy(&t->sim);
    if (t->config)
        lm_config_free(t->config);
    free(t->config);
    free(t->columns);
    free(t->prints);
    free(t->rows);
}

/* Reads and starts a configuration and checks the first step. Returns LM_BAD_INPUT when that step cannot be taken. */
static int begin_reference(const struct draft *d, struct compare_trace *t)
{
    int status = start_reference(d, t);
    if (!status)
        status = lm_sim_check(t->sim);
    return status && strstr(lm_error(), "cannot be taken") ? LM_BAD_INPUT : status;
}

int compare_trace_make(const struct draft *d, struct compare_trace *t, struct compare_result *r)
{
    int status = begin_reference(d, t);
    if (status == LM_BAD_INPUT) {
        r->verdict = COMPARE_REFUSED;
        snprintf(r->what, sizeof r->what, "%s\n", lm_error());
        return 0;
    }
    if (!status)
        status = make_trace(t);
    if (!status)
        status = lm_row_references(t->sim, &t->references);
    if (!status)
        status = record(t);
    if (!status)
        status = run_reference(t);
    if (status)
        compare_breaks(r);
    r->steps = t->steps;
    r->has_stopped = t->stopped[0] != '\0';
    return !status;
}

enum compare_verdict compare_try(const struct draft *d, const char *directory)
{
    struct compare_trace t = {.directory = directory};
    const int status = begin_reference(d, &t);
    compare_trace_free(&t);
    return status == LM_OK ? COMPARE_SAME : status == LM_BAD_INPUT ? COMPARE_REFUSED : COMPARE_BROKEN;
}
