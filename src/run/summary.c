#include "run/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "output/directory.h"
#include "run/run_state.h"
#include "run/warnings.h"

static json_t *account_json(const struct lm_run_state *r, int species, const struct lm_account *a)
{
    double v[LM_LEDGER_VALUES];
    lm_ledger_values(&r->sim->ledger[species], a, lm_sim_weight(r->sim, species), r->config->species[species].mass, v);
    return json_pack("{s:I, s:o, s:[o, o, o], s:o}", "number", (json_int_t)a->number, "weight", lm_json_real(v[1]),
                     "momentum", lm_json_real(v[2]), lm_json_real(v[3]), lm_json_real(v[4]), "energy",
                     lm_json_real(v[5]));
}

/* loaded + injected = present + lost holds after every step, else the run has stopped. */
static json_t *ledger_json(const struct lm_run_state *r, int species)
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

/* The sum of the absolute residuals of all species. */
static json_int_t residual_of_all(const struct lm_run_state *r)
{
    json_int_t sum = 0;
    for (int s = 0; s < r->config->species_count; s++)
        sum += llabs(lm_sim_residual(r->sim, s));
    return sum;
}

static json_t *species_json(const struct lm_run_state *r)
{
    json_t *list = json_array();
    for (int s = 0; s < r->config->species_count; s++)
        json_array_append_new(list, json_pack("{s:s, s:I, s:o}", "name", r->config->species[s].name, "particles",
                                              (json_int_t)r->sim->count[s], "ledger", ledger_json(r, s)));
    return list;
}

static json_t *background_json(const struct lm_run_state *r, int field)
{
    const struct lm_background_config *b = &r->config->background[field];
    const struct lm_sim_background *s = &r->sim->background[field];
    const lm_int128 sums[] = {s->ledger.loaded, s->ledger.source, s->ledger.rounded, s->ledger.total};
    json_t *entered = json_object(), *value[4];
    for (int side = 0; side < LM_SIDES; side++)
        if (lm_background_is_open(b, side))
            json_object_set_new(entered, lm_side_names[side],
                                lm_json_real(lm_sim_background_value(r->sim, field, s->ledger.entered[side])));
    for (int k = 0; k < 4; k++)
        value[k] = lm_json_real(lm_sim_background_value(r->sim, field, sums[k]));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "name", b->name, "loaded", value[0], "entered",
                     entered, "source", value[1], "rounded", value[2], "total", value[3], "minimum",
                     lm_json_real(s->least), "maximum", lm_json_real(s->most), "residual",
                     (json_int_t)lm_sim_background_residual(r->sim, field));
}

static json_t *backgrounds_json(const struct lm_run_state *r)
{
    json_t *list = json_array();
    for (int f = 0; f < r->config->background_count; f++)
        json_array_append_new(list, background_json(r, f));
    return list;
}

/* Fingerprint, rate and device. */
static int measure(const struct lm_run_state *r, struct lm_summary *s)
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

/* Values that are known only at the end are null. */
static json_t *summary_json(const struct lm_run_state *r, const struct lm_summary *s)
{
    char print[32];
    snprintf(print, sizeof print, "%016llx", (unsigned long long)s->fingerprint);
    return json_pack(
        "{s:s, s:n, s:o, s:o, s:s, s:s, s:I, s:I, s:f, s:I, s:o, s:o, s:{s:I}, s:s, s:f, s:n, s:f, s:I, s:o, s:o}",
        "software", lm_version_software(), "ended", "configuration", lm_json_text(r->config->file), "restart",
        lm_differences_json(&r->changed, r->options->restart), "backend", r->sim->backend->ops->name, "device",
        s->device, "first_step", (json_int_t)r->first_step, "last_step", (json_int_t)r->sim->step, "time",
        lm_sim_time(r->sim), "particles", (json_int_t)r->particles, "species", species_json(r), "backgrounds",
        backgrounds_json(r), "ledger", "residual", residual_of_all(r), "fingerprint", print, "seconds_stepping",
        r->stepping, "seconds_total", "particle_steps_per_second", s->rate, "sorts", (json_int_t)r->sim->sorts,
        "energy_drift", lm_json_real(s->drift), "warnings", lm_warnings_json(&r->limits));
}

int lm_summary_collect(const struct lm_run_state *r, struct lm_summary *out)
{
    lm_summary_free(out);
    int status = measure(r, out);
    if (status)
        return status;
    out->json = summary_json(r, out);
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
    if (!status && !r->options->quiet)
        fprintf(stderr, "%lld steps of %.4g M particles in %.3g s: %.4g M particle-steps/s; fingerprint %016llx\n",
                (long long)(r->sim->step - r->first_step), 1e-6 * (double)r->particles, r->stepping, 1e-6 * s->rate,
                (unsigned long long)s->fingerprint);
    return status;
}
