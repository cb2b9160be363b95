/* The columns of the time series: add_all has one call of `add` for each column, with its value and its description. */
#include "output/series_columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/energy_budget.h"

static const char energy[] = "n0 m_p v_A^2 d_i^2", momentum[] = "n0 m_p v_A d_i^2";

/* The state from which the columns are made. */
struct state {
    const struct lm_config *config;
    const struct lm_sim_status *now;
    const struct lm_totals *totals;
    const struct lm_references *references;
    double rate; /* particle-steps/s since the last row */
};

/* A row under construction. `columns` gets the descriptions and `values` the values; one of them may be NULL. */
struct row {
    struct lm_series_column *columns;
    double *values;
    int count;
};

/* Adds one column. `about` is a phrase. `whole` = 1: the values are written as integers. */
__attribute__((format(printf, 6, 7))) static void add(struct row *r, double value, const char *unit, const char *about,
                                                      int whole, const char *name, ...)
{
    const int k = r->count++;
    if (r->values)
        r->values[k] = value;
    if (!r->columns)
        return;
    struct lm_series_column *c = &r->columns[k];
    va_list args;
    va_start(args, name);
    vsnprintf(c->name, sizeof c->name, name, args);
    va_end(args);
    snprintf(c->unit, sizeof c->unit, "%s", unit);
    snprintf(c->about, sizeof c->about, "%s", about);
    c->whole = whole;
}

/* What an account counts. The text follows after "... of the ". */
static void describe(const struct lm_account_of *a, size_t size, char *out)
{
    if (a->kind == LM_ENTERS && a->channel == LM_IONISED) {
        snprintf(out, size, "particles born by ionisation");
        return;
    }
    const char *what = a->kind == LM_ENTERS   ? "particles that have entered by the side"
                       : a->kind == LM_TO_GAS ? "losses by collisions (number: particles that have stopped)"
                       : a->kind == LM_TO_ELECTRONS
                           ? "heat given to electrons (number: ions that found too little heat there),"
                       : a->kind == LM_EXCHANGED  ? "losses by charge exchange, a part of to_gas (number: exchanges)"
                       : a->channel < LM_SIDES    ? "particles that have left by the side"
                       : a->channel < LM_SURFACES ? "particles absorbed by"
                                                  : "particles taken out by";
    snprintf(out, size, "%s %.*s", what, (int)sizeof a->name - 1, a->name);
}

_Static_assert(sizeof(((struct lm_series_column *)0)->name) >=
                   sizeof "injected_momentum_x_" + LM_SURFACE_NAME + LM_MAX_NAME,
               "the longest names must fit");

static void add_account(struct row *r, const struct state *s, int species, const struct lm_account_of *a)
{
    static const char *const quantity[LM_LEDGER_VALUES] = {
        "", "weight_", "momentum_x_", "momentum_y_", "momentum_z_", "energy_"};
    static const char *const unit[LM_LEDGER_VALUES] = {"", "n0 d_i^2", momentum, momentum, momentum, energy};
    static const char *const of[LM_LEDGER_VALUES] = {"number",     "weight",     "momentum x",
                                                     "momentum y", "momentum z", "kinetic energy"};
    const int by_side = a->channel < LM_SIDES && (a->kind == LM_ENTERS || a->kind == LM_LEAVES);
    const char *prefix = !by_side ? "" : a->kind == LM_ENTERS ? "injected_" : "leak_";
    const struct lm_species_status *now = &s->now->species[species];
    const struct lm_species_config *c = &s->config->species[species];
    double value[LM_LEDGER_VALUES];
    char what[128], about[160];
    describe(a, sizeof what, what);
    lm_ledger_values(&now->ledger, lm_account_in(&now->ledger, a), now->weight, c->mass, value);
    for (int k = 0; k < LM_LEDGER_VALUES; k++) {
        snprintf(about, sizeof about, "%s of the %s", of[k], what);
        add(r, value[k], unit[k], about, k == 0, "%s%s_%s%s", prefix, a->name, quantity[k], c->name);
    }
}

static void add_ledger(struct row *r, const struct state *s)
{
    const struct lm_config *c = s->config;
    struct lm_account_of accounts[LM_ACCOUNTS];
    for (int k = 0; k < c->species_count; k++)
        for (int a = 0, n = lm_accounts(c, k, accounts); a < n; a++)
            add_account(r, s, k, &accounts[a]);
    for (int k = 0; k < c->species_count && lm_accounts_any(c); k++) {
        const struct lm_species_status *now = &s->now->species[k];
        const char *name = c->species[k].name;
        add(r, (double)now->count, "", "particles in the domain", 1, "present_%s", name);
        add(r, (double)now->residual, "", "loaded + injected - present - lost: always 0", 1, "ledger_residual_%s",
            name);
    }
}

static void add_collisions(struct row *r, const struct state *s)
{
    for (int k = 0; k < s->config->species_count; k++) {
        const struct lm_species_config *c = &s->config->species[k];
        const struct lm_species_status *now = &s->now->species[k];
        if (lm_exchanges_charge(c))
            add(r, now->charge_exchange_probability, "",
                "upper bound of the probability that an ion exchanges its charge in a step", 0,
                "charge_exchange_probability_%s", c->name);
        if (c->stopping_table[0])
            add(r, now->stopping_cells, "", "stopping length of the fastest ion in the densest gas, in cells", 0,
                "stopping_cells_%s", c->name);
        if (c->electron_heat_exchange_rate > 0)
            add(r, (double)now->limited_heating_cells, "",
                "cells in which the exchange of heat with electrons was limited in the last step", 1,
                "electron_exchange_limited_%s", c->name);
    }
}

static void add_background(struct row *r, const struct state *s, int field)
{
    const struct lm_background_config *b = &s->config->background[field];
    const struct lm_background_status *now = &s->now->background[field];
    const char *unit = b->kind == LM_NEUTRAL_GAS ? "n0" : "", *total = *unit ? "n0 d_i^2" : "d_i^2";
    char about[128];
    add(r, now->total, total, "integral of the field over the domain", 0, "background_%s_total", b->name);
    add(r, now->least, unit, "smallest value in the fluid", 0, "background_%s_min", b->name);
    add(r, now->most, unit, "largest value in the fluid", 0, "background_%s_max", b->name);
    for (int side = 0; side < LM_SIDES; side++) {
        if (!lm_background_is_open(b, side))
            continue;
        snprintf(about, sizeof about, "inflow through the side %s minus outflow", lm_side_names[side]);
        add(r, now->entered[side], total, about, 0, "background_%s_entered_%s", b->name, lm_side_names[side]);
    }
    if (lm_background_is_sourced(s->config, field))
        add(r, now->source, total, "gain from the source and from particles minus loss by ionisation", 0,
            "background_%s_source", b->name);
    add(r, (double)now->substeps, "", "substeps of the last step", 1, "background_%s_substeps", b->name);
    add(r, now->residual, "", "loaded + entered + source + rounded - total, in quanta: always 0", 1,
        "background_%s_residual", b->name);
}

static int is_crossed_by_fields(const struct lm_config *c)
{
    int any = 0;
    for (int side = 0; side < LM_SIDES; side++)
        any |= lm_is_crossed_by_fields(c, side);
    return any;
}

static void add_totals(struct row *r, const struct state *s)
{
    static const char axis[3] = {'x', 'y', 'z'};
    const struct lm_totals *t = s->totals;
    const double start = s->references->energy;
    struct lm_energy_budget budget;
    lm_energy_budget_find(s->config, s->now, t, s->references, &budget);
    for (int k = 0; k < s->config->species_count; k++)
        for (int d = 0; d < 3; d++)
            add(r, t->kinetic[k][d], energy, "kinetic energy, drift included", 0, "kinetic_%c_%s", axis[d],
                s->config->species[k].name);
    for (int d = 0; d < 3; d++)
        add(r, t->magnetic[d], energy, "magnetic energy", 0, "magnetic_%c", axis[d]);
    add(r, t->electrons, energy, "thermal energy of the electrons (isothermal: T n ln n)", 0, "electron_thermal");
    add(r, t->energy, energy, "sum of all energies", 0, "energy_total");
    add(r, start != 0 ? (t->energy - start) / fabs(start) : 0, "",
        "change of energy_total since the start over its value then", 0, "energy_drift");
    add(r, budget.share, "", "change of energy_total beyond what is brought and taken, over the energy that can change",
        0, LM_ENERGY_COLUMN);
    if (is_crossed_by_fields(s->config))
        add(r, budget.uncertain, "",
            "three standard errors of energy_budget, of the energy of fields through sides, and what is doubtful of it",
            0, LM_UNCERTAIN_COLUMN);
    for (int d = 0; d < 3; d++)
        add(r, t->momentum[d], momentum, "momentum of the ions", 0, "momentum_%c", axis[d]);
    add(r, t->div_b, "B0/d_i", "largest |div B|", 0, "div_b_max");
}

static void add_sides(struct row *r, const struct state *s)
{
    char about[128];
    for (int side = 0; side < LM_SIDES; side++) {
        const char *name = lm_side_names[side];
        if (lm_is_crossed_by_fields(s->config, side)) {
            snprintf(about, sizeof about, "energy that fields have brought through the side %s", name);
            add(r, s->now->side[side].fields, energy, about, 0, "%s_fields", name);
        }
        if (lm_is_crossed_by_electrons(s->config, side)) {
            snprintf(about, sizeof about, "energy that electrons have brought through the side %s", name);
            add(r, s->now->side[side].electrons, energy, about, 0, "%s_electrons", name);
        }
    }
}

static void add_all(struct row *r, const struct state *s)
{
    const struct lm_sim_status *now = s->now;
    add(r, (double)now->step, "", "number of the step", 1, "step");
    add(r, now->time, "1/Omega_ci", "time", 0, "time");
    add_totals(r, s);
    for (int k = 0; k < s->config->species_count; k++)
        add(r, now->species[k].fastest, "v_A", "largest speed, half a step before the row", 0, "speed_max_%s",
            s->config->species[k].name);
    add(r, (double)now->floored_cells, "", "cells below the density floor", 1, "floored_cells");
    add(r, now->substeps, "", "field substeps of the last step", 1, "substeps");
    add_ledger(r, s);
    add_sides(r, s);
    add_collisions(r, s);
    for (int f = 0; f < s->config->background_count; f++)
        add_background(r, s, f);
    if (lm_entropy_field(s->config) >= 0) {
        add(r, now->electron_heat, energy, "resistive heating of the electrons since the start", 0, "electron_heat");
        if (lm_has_electron_surfaces(s->config))
            add(r, now->electrons_through_surfaces, energy,
                "energy that electrons have brought through bodies and walls since the start", 0, "surface_electrons");
        add(r, (double)now->conduction_substeps, "", "substeps of the electrons' heat conduction in the last step", 1,
            "conduction_substeps");
    }
    add(r, s->rate, "1/s", "particle-steps a second of wall time since the last row", 0, "rate");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Two columns may get the same name. For a species p, body_moon_weight_p is the weight of the particles that a body
 * moon has taken, and also the number of particles that a body moon_weight has taken. */
static int check_names(const struct lm_config *config, const struct row *l)
{
    const char *names[LM_ROW_MAX] = {NULL};
    for (int c = 0; c < l->count; c++)
        names[c] = l->columns[c].name;
    qsort(names, (size_t)l->count, sizeof *names, by_name);
    for (int c = 1; c < l->count; c++)
        if (!strcmp(names[c - 1], names[c]))
            return lm_fail(LM_BAD_INPUT,
                           "%s: the names of species, bodies and background fields give two columns of the time series "
                           "the name %s; rename one of them",
                           config->file, names[c]);
    return LM_OK;
}

int lm_row_columns(const struct lm_config *config, int *count, struct lm_series_column **columns)
{
    static const struct lm_sim_status now;
    static const struct lm_totals totals;
    static const struct lm_references references;
    const struct state nothing = {config, &now, &totals, &references, 0};
    struct row r = {.columns = malloc(LM_ROW_MAX * sizeof *r.columns)};
    *columns = r.columns;
    if (!r.columns)
        return lm_fail(LM_FAILED, "not enough memory for the time series");
    add_all(&r, &nothing);
    *count = r.count;
    return check_names(config, &r);
}

int lm_row_references(struct lm_sim *sim, struct lm_references *out)
{
    struct lm_totals t;
    int status = lm_sim_totals(sim, &t);
    out->energy = t.energy;
    for (int d = 0; d < 3; d++)
        out->momentum[d] = t.momentum[d];
    out->changed = 0;
    return status ? status : lm_sim_energy_scale(sim, &t, &out->scale);
}

int lm_row_fill(struct lm_sim *sim, const struct lm_config *config, const struct lm_references *references, double rate,
                double *row)
{
    struct lm_sim_status now;
    struct lm_totals totals;
    struct row r = {.values = row};
    const int status = lm_sim_totals(sim, &totals);
    lm_sim_status(sim, &now);
    add_all(&r, &(struct state){config, &now, &totals, references, rate});
    return status;
}
