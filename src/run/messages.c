#include "run/messages.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/facts.h"
#include "output/directory.h"
#include "run/run_state.h"
#include "run/warnings.h"

static void print_start(const struct lm_run_state *r, FILE *out)
{
    lm_warnings_print(r->config, &r->limits, "larmor: warning: ", out);
    lm_differences_print(&r->changed, r->options->restart, out);
    lm_averages_tell(&r->averages, r->config, r->options->restart, out);
}

/* `said`: the warnings while the run goes on, a line each, or NULL. */
static void print_said(const char *said, FILE *out)
{
    for (; said && *said; said = strchr(said, '\n') + 1)
        fprintf(out, "larmor: warning: %.*s\n", (int)strcspn(said, "\n"), said);
}

/* `failure`: NULL while the run goes on. */
static void write_file(const struct lm_run_state *r, const char *failure)
{
    char path[LM_MAX_PATH], part[LM_MAX_PATH];
    FILE *f = lm_directory_begin(r->config->output.directory, "larmor.messages", path, part);
    if (!f)
        return;
    print_start(r, f);
    print_said(r->energy.said, f);
    if (failure)
        fprintf(f, "larmor: %s\n", failure);
    const int is_empty = ftell(f) == 0;
    if (!lm_directory_end(f, path, part, LM_OK) && is_empty)
        unlink(path);
}

/* Sides whose fields the flow has chosen. */
static void print_chosen_sides(const struct lm_config *c, FILE *out)
{
    char why[LM_WHY_FIELDS];
    for (int side = 0; side < LM_SIDES; side++) {
        lm_why_fields(c, side, why);
        if (why[0])
            fprintf(out, "fields at %s: %s, because %s; boundary.fields_%s = %s is the other choice\n",
                    lm_side_names[side], c->boundary_fields[side] == LM_RADIATING ? "radiating" : "open", why,
                    lm_side_names[side], c->boundary[side] == LM_INFLOW ? "inflow" : "open");
    }
}

void lm_messages_begin(const struct lm_run_state *r)
{
    char reason[LM_ENERGY_WHY + 128];
    if (!r->options->silent)
        print_start(r, stderr);
    lm_energy_watch_reason(&r->energy, sizeof reason, reason);
    if (!r->options->quiet)
        print_chosen_sides(r->config, stderr);
    if (reason[0] && !r->options->quiet)
        fprintf(stderr, "%s\n", reason);
    write_file(r, NULL);
}

void lm_messages_update(const struct lm_run_state *r)
{
    write_file(r, NULL);
}

int lm_messages_end(const struct lm_run_state *r, int status)
{
    char why[LM_MAX_MESSAGE];
    if (status != LM_FAILED || !r->lock.made)
        return status;
    snprintf(why, sizeof why, "%s", lm_error());
    write_file(r, why);
    return lm_fail(status, "%s", why);
}
