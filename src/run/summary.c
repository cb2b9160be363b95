#include "run/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "config/facts.h"
#include "output/directory.h"
#include "run/run_state.h"
#include "run/warnings.h"
#include "backend/backend.h"

static json_t *account_json(const struct lm_species_status *now, double mass, const struct lm_account *a)
{
    double v[LM_LEDGER_VALUES];
    lm_ledger_values(&now->ledger, a, now->weight, mass, v);
    return json_pack("{s:I, s:o, s:[o, o, o], s:o}", "number", (json_int_t)a->number, "weight", lm_json_real(v[1]),
                     "momentum", lm_json_real(v[2]), lm_json_real(v[3]), lm_json_real(v[4]), "energy",
                     lm_json_real(v[5]));
}

/* loaded + injected = present + lost holds after every step, else the run has stopped. */
static json_t *ledger_json(const struct lm_config *c, const struct lm_species_status *now, int species)
{
    const struct lm_ledger *l = &now->ledger;
    struct lm_account_of accounts[LM_ACCOUNTS];
    json_t *injected = json_object(), *lost = json_object();
    json_t *all = json_pack("{s:I, s:o, s:o, s:I, s:I}", "loaded", (json_int_t)l->loaded, "injected", injected, "lost",
                            lost, "present", (json_int_t)now->count, "residual", (json_int_t)now->residual);
    for (int k = 0, n = lm_accounts(c, species, accounts); k < n; k++) {
        const struct lm_account_of *a = &accounts[k];
        json_object_set_new(a->kind == LM_ENTERS   ? injected
                            : a->kind == LM_LEAVES ? lost
                                                   : all,
                            a->name, account_json(now, c->species[species].mass, lm_account_in(l, a)));
    }
    return all;
}

/* The sum of the absolute residuals of all species. */
static json_int_t residual_of_all(const struct lm_config *c, const struct lm_sim_status *now)
{
    json_int_t sum = 0;
    for (int s = 0; s < c->species_count; s++)
        sum += llabs(now->species[s].residual);
    return sum;
}

static json_t *species_json(const struct lm_config *c, const struct lm_sim_status *now)
{
    json_t *list = json_array();
    for (int s = 0; s < c->species_count; s++)
        json_array_append_new(list, json_pack("{s:s, s:I, s:o}", "name", c->species[s].name, "particles",
                                              (json_int_t)now->species[s].count, "ledger",
                                              ledger_json(c, &now->species[s], s)));
    return list;
}

static json_t *background_json(const struct lm_background_config *b, const struct lm_background_status *now)
{
    json_t *entered = json_object();
    for (int side = 0; side < LM_SIDES; side++)
        if (lm_background_is_open(b, side))
            json_object_set_new(entered, lm_side_names[side], lm_json_real(now->entered[side]));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "name", b->name, "loaded",
                     lm_json_real(now->loaded), "entered", entered, "source", lm_json_real(now->source), "rounded",
                     lm_json_real(now->rounded), "total", lm_json_real(now->total), "minimum", lm_json_real(now->least),
                     "maximum", lm_json_real(now->most), "residual", (json_int_t)now->residual);
}

static json_t *backgrounds_json(const struct lm_config *c, const struct lm_sim_status *now)
{
    json_t *list = json_array();
    for (int f = 0; f < c->background_count; f++)
        json_array_append_new(list, background_json(&c->background[f], &now->background[f]));
    return list;
}

/* Fingerprint, rate and device. */
static int measure(const struct lm_run_state *r, const struct lm_sim_status *now, struct lm_summary *s)
{
    struct lm_totals totals;
    int kind = LM_BACKEND_CPU;
    const double start = r->references.energy;
    int status = lm_sim_fingerprint(r->sim, &s->fingerprint);
    if (!status)
        status = lm_sim_totals(r->sim, &totals);
    if (!status)
        status = lm_backend_resolve(r->config->run.backend, r->config->run.threads, &kind, s->device, sizeof s->device);
    if (status)
        return status;
    s->rate = r->stepping > 0 ? (double)now->particle_steps / r->stepping : 0;
    s->drift = start != 0 ? (totals.energy - start) / fabs(start) : 0;
    lm_energy_budget_find(r->config, now, &totals, &r->references, &s->energy);
    return LM_OK;
}

static json_t *warnings_json(const struct lm_run_state *r)
{
    json_t *list = lm_warnings_json(r->config, &r->limits);
    lm_energy_append_warnings(&r->energy, list);
    return list;
}

/* Values that are known only at the end are null. */
static json_t *summary_json(const struct lm_run_state *r, const struct lm_sim_status *now, const struct lm_summary *s)
{
    char print[32];
    snprintf(print, sizeof print, "%016llx", (unsigned long long)s->fingerprint);
    return json_pack(
        "{s:s, s:n, s:o, s:o, s:s, s:s, s:I, s:I, s:f, s:I, s:o, s:o, s:{s:I}, s:s, s:f, s:n, s:f, s:I, s:o, s:o, s:o}",
        "software", lm_version_software(), "ended", "configuration", lm_json_text(r->config->file), "restart",
        lm_differences_json(&r->changed, r->options->restart), "backend", now->backend, "device", s->device,
        "first_step", (json_int_t)r->first_step, "last_step", (json_int_t)now->step, "time", now->time, "particles",
        (json_int_t)r->particles, "species", species_json(r->config, now), "backgrounds",
        backgrounds_json(r->config, now), "ledger", "residual", residual_of_all(r->config, now), "fingerprint", print,
        "seconds_stepping", r->stepping, "seconds_total", "particle_steps_per_second", s->rate, "sorts",
        (json_int_t)now->sorts, "energy_drift", lm_json_real(s->drift), "energy", lm_energy_json(r, &s->energy),
        "warnings", warnings_json(r));
}

int lm_summary_collect(const struct lm_run_state *r, struct lm_summary *out)
{
    lm_summary_free(out);
    struct lm_sim_status now;
    lm_sim_status(r->sim, &now);
    int status = measure(r, &now, out);
    if (status)
        return status;
    out->json = summary_json(r, &now, out);
    return out->json ? LM_OK : lm_fail(LM_FAILED, "run.json: not enough memory");
}

void lm_summary_free(struct lm_summary *s)
{
    json_decref(s->json);
    s->json = NULL;
}

static int write_json(const struct lm_run_state *r, json_t *json)
{
    char path[LM_MAX_PATH], part[LM_MAX_PATH];
    int status = LM_OK;
    FILE *f = lm_directory_begin(r->config->output.directory, "run.json", path, part);
    if (!f)
        return LM_FAILED;
    if (json_dumpf(json, f, JSON_INDENT(4) | JSON_REAL_PRECISION(12)) || fputc('\n', f) == EOF)
        status = lm_fail(LM_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    return lm_directory_end(f, path, part, status);
}

int lm_summary_write(const struct lm_run_state *r, const struct lm_summary *s)
{
    if (json_object_set_new(s->json, "ended", json_string(r->ended)) ||
        json_object_set_new(s->json, "seconds_total", json_real(lm_clock() - r->started)))
        return lm_fail(LM_FAILED, "run.json: not enough memory");
    int status = write_json(r, s->json);
    if (status || r->options->quiet)
        return status;
    fprintf(stderr, "%lld steps of %.4g M particles in %.3g s: %.4g M particle-steps/s; fingerprint %016llx\n",
            (long long)(lm_sim_step_number(r->sim) - r->first_step), 1e-6 * (double)r->particles, r->stepping,
            1e-6 * s->rate, (unsigned long long)s->fingerprint);
    lm_energy_print_end(r, &s->energy, stderr);
    return status;
}
