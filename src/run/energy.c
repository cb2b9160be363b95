#include "run/energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "run/messages.h"
#include "run/run_state.h"

/* A smaller uncertainty of the share is left out of the last line of a run. */
static const double WORTH_SAYING = 1e-3;

void lm_energy_watch_begin(const struct lm_config *config, const struct lm_references *references,
                           struct lm_energy_watch *out)
{
    *out = (struct lm_energy_watch){.next = config->run.energy_limit};
    char why[LM_ENERGY_WHY];
    out->judged = lm_energy_judge(config, why);
    snprintf(out->why, sizeof out->why, "%s", why);
    const char *of_start = references->changed            ? "a restart has changed settings since the start"
                           : isnan(references->scale)     ? "the checkpoint is of a version without this"
                           : !(references->scale > 0)     ? "the plasma has no energy at the start"
                           : !isfinite(references->scale) ? "the energy at the start is not finite"
                                                          : NULL;
    if (!of_start || out->judged == LM_ENERGY_NOT)
        return;
    out->judged = LM_ENERGY_NOT;
    snprintf(out->why, sizeof out->why, "%s", of_start);
}

void lm_energy_watch_free(struct lm_energy_watch *w)
{
    free(w->said);
    w->said = NULL;
}

void lm_energy_watch_reason(const struct lm_energy_watch *w, size_t size, char *out)
{
    if (w->judged == LM_ENERGY_BOTH)
        snprintf(out, size, "%s", "");
    else
        snprintf(out, size, "energy: %s: %s", w->judged == LM_ENERGY_NOT ? "not judged" : "only a gain is judged",
                 w->why);
}

int lm_energy_is_beyond(const struct lm_energy_watch *w, double share, double uncertain, double limit)
{
    return w->judged != LM_ENERGY_NOT && !((w->judged == LM_ENERGY_BOTH ? fabs(share) : share) <= limit + uncertain);
}

static int say(struct lm_energy_watch *w, const char *line)
{
    const size_t before = w->said ? strlen(w->said) : 0, size = before + strlen(line) + 2;
    char *said = realloc(w->said, size);
    if (!said)
        return 0;
    snprintf(said + before, size - before, "%s\n", line);
    w->said = said;
    return 1;
}

static void warn(struct lm_run_state *r, const char *line)
{
    if (!r->options->silent)
        fprintf(stderr, "%slarmor: warning: %s\n", r->progress.terminal && !r->options->quiet ? "\n" : "", line);
    if (say(&r->energy, line))
        lm_messages_update(r);
}

/* From here on the judgement means little. */
static void warn_of_uncertainty(struct lm_run_state *r, double uncertain)
{
    char line[512];
    snprintf(
        line, sizeof line,
        "step %lld (t = %g): what fields carry through sides is uncertain by %.3g %% of the energy that can change, "
        "so that energy_budget says little: waves turn there within a step, as in a void at an open side. "
        "run.energy_limit is %.3g %%. A domain in which no void reaches such a side does without this noise",
        (long long)lm_sim_step_number(r->sim), lm_sim_time(r->sim), 100 * uncertain, 100 * r->config->run.energy_limit);
    r->energy.is_uncertain = 1;
    warn(r, line);
}

void lm_energy_watch_row(struct lm_run_state *r, double share, double uncertain)
{
    struct lm_energy_watch *w = &r->energy;
    const double limit = r->config->run.energy_limit;
    char line[512];
    if (w->judged != LM_ENERGY_NOT && uncertain > limit && !w->is_uncertain)
        warn_of_uncertainty(r, uncertain);
    if (!lm_energy_is_beyond(w, share, uncertain, w->next))
        return;
    w->next = 2 * fabs(share);
    if (!isfinite(share)) {
        snprintf(line, sizeof line,
                 "step %lld (t = %g): the energy is not finite: fields or speeds have grown too large",
                 (long long)lm_sim_step_number(r->sim), lm_sim_time(r->sim));
        warn(r, line);
        return;
    }
    snprintf(
        line, sizeof line,
        "step %lld (t = %g): the energy has %s by %.3g %% of the energy that can change, beyond what is brought "
        "and taken; run.energy_limit is %.3g %%. Likely causes: noise of few particles in small cells, plasma near "
        "fields.density_floor, or what larmor check says is beyond its limit",
        (long long)lm_sim_step_number(r->sim), lm_sim_time(r->sim), share < 0 ? "fallen" : "grown", 100 * fabs(share),
        100 * limit);
    warn(r, line);
}

void lm_energy_print_end(const struct lm_run_state *r, const struct lm_energy_budget *b, FILE *out)
{
    const struct lm_energy_watch *w = &r->energy;
    const double limit = r->config->run.energy_limit;
    char reason[LM_ENERGY_WHY + 128], off[32] = "";
    lm_energy_watch_reason(w, sizeof reason, reason);
    if (b->uncertain > WORTH_SAYING)
        snprintf(off, sizeof off, "%.2g", 100 * b->uncertain);
    if (w->judged == LM_ENERGY_NOT)
        fprintf(out, "%s\n", reason);
    else
        fprintf(out, "energy: %+.2g%s%s %% of %.4g unexplained%s (run.energy_limit: %.3g %%)%s%s\n", 100 * b->share,
                *off ? " +- " : "", off, b->reference,
                lm_energy_is_beyond(w, b->share, b->uncertain, limit) ? ", BEYOND the limit" : "", 100 * limit,
                w->why[0] ? "; only a gain is judged: " : "", w->why);
}

json_t *lm_energy_json(const struct lm_run_state *r, const struct lm_energy_budget *b)
{
    const struct lm_energy_watch *w = &r->energy;
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "judged", lm_energy_judged_names[w->judged],
                     "because", w->why, "limit", lm_json_real(r->config->run.energy_limit), "brought",
                     lm_json_real(b->brought), "taken", lm_json_real(b->taken), "unexplained",
                     lm_json_real(b->unexplained), "reference", lm_json_real(b->reference), "share",
                     lm_json_real(b->share), "uncertain", lm_json_real(b->uncertain), "beyond",
                     lm_energy_is_beyond(w, b->share, b->uncertain, r->config->run.energy_limit));
}

void lm_energy_append_warnings(const struct lm_energy_watch *w, json_t *list)
{
    for (const char *line = w->said; line && *line; line = strchr(line, '\n') + 1)
        json_array_append_new(list, json_stringn(line, strcspn(line, "\n")));
}
