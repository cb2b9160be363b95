/* The columns of the time series: add_all makes their list, and lm_row_fill fills a row in the same order. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/run.h"

static const char energy[] = "n0 m_p v_A^2 d_i^2", momentum[] = "n0 m_p v_A d_i^2";

struct list {
    struct lm_series_column *columns;
    int count;
};

__attribute__((format(printf, 5, 6))) static void add(struct list *l, const char *unit, const char *about, int whole,
                                                      const char *name, ...)
{
    struct lm_series_column *c = &l->columns[l->count++];
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

static void add_account(struct list *l, const struct lm_account_of *a, const char *species)
{
    static const char *const quantity[LM_LEDGER_VALUES] = {
        "", "weight_", "momentum_x_", "momentum_y_", "momentum_z_", "energy_"};
    static const char *const unit[LM_LEDGER_VALUES] = {"", "n0 d_i^2", momentum, momentum, momentum, energy};
    static const char *const of[LM_LEDGER_VALUES] = {"number",     "weight",     "momentum x",
                                                     "momentum y", "momentum z", "kinetic energy"};
    const int by_side = a->channel < LM_SIDES && (a->kind == LM_ENTERS || a->kind == LM_LEAVES);
    const char *prefix = !by_side ? "" : a->kind == LM_ENTERS ? "injected_" : "leak_";
    char what[128], about[160];
    describe(a, sizeof what, what);
    for (int k = 0; k < LM_LEDGER_VALUES; k++) {
        snprintf(about, sizeof about, "%s of the %s", of[k], what);
        add(l, unit[k], about, k == 0, "%s%s_%s%s", prefix, a->name, quantity[k], species);
    }
}

static void add_ledger(struct list *l, const struct lm_config *config)
{
    struct lm_account_of accounts[LM_ACCOUNTS];
    for (int s = 0; s < config->species_count; s++)
        for (int k = 0, n = lm_accounts(config, s, accounts); k < n; k++)
            add_account(l, &accounts[k], config->species[s].name);
    for (int s = 0; s < config->species_count && lm_accounts_any(config); s++) {
        add(l, "", "particles in the domain", 1, "present_%s", config->species[s].name);
        add(l, "", "loaded + injected - present - lost: always 0", 1, "ledger_residual_%s", config->species[s].name);
    }
}

static void add_collisions(struct list *l, const struct lm_config *config)
{
    for (int s = 0; s < config->species_count; s++) {
        const char *name = config->species[s].name;
        if (lm_exchanges_charge(&config->species[s]))
            add(l, "", "upper bound of the probability that an ion exchanges its charge in a step", 0,
                "charge_exchange_probability_%s", name);
        if (config->species[s].stopping_table[0])
            add(l, "", "stopping length of the fastest ion in the densest gas, in cells", 0, "stopping_cells_%s", name);
        if (config->species[s].electron_exchange > 0)
            add(l, "", "cells in which the exchange of heat with electrons was limited in the last step", 1,
                "electron_exchange_limited_%s", name);
    }
}

/* The column of a side through which the field can flow. */
static void add_entered(struct list *l, const struct lm_background_config *b, int side, const char *unit)
{
    char about[128];
    snprintf(about, sizeof about, "inflow through the side %s minus outflow", lm_side_names[side]);
    add(l, unit, about, 0, "background_%s_entered_%s", b->name, lm_side_names[side]);
}

static void add_backgrounds(struct list *l, const struct lm_config *config)
{
    for (int f = 0; f < config->background_count; f++) {
        const struct lm_background_config *b = &config->background[f];
        const char *unit = b->kind == LM_NEUTRAL_GAS ? "n0" : "", *total = *unit ? "n0 d_i^2" : "d_i^2";
        add(l, total, "integral of the field over the domain", 0, "background_%s_total", b->name);
        add(l, unit, "smallest value in the fluid", 0, "background_%s_min", b->name);
        add(l, unit, "largest value in the fluid", 0, "background_%s_max", b->name);
        for (int side = 0; side < LM_SIDES; side++)
            if (lm_background_is_open(b, side))
                add_entered(l, b, side, total);
        if (lm_background_is_sourced(config, f))
            add(l, total, "gain from the source and from particles minus loss by ionisation", 0, "background_%s_source",
                b->name);
        add(l, "", "substeps of the last step", 1, "background_%s_substeps", b->name);
        add(l, "", "loaded + entered + source + rounded - total, in quanta: always 0", 1, "background_%s_residual",
            b->name);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Two columns may get the same name. For a species p, body_moon_weight_p is the weight of the particles that a body
 * moon has taken, and also the number of particles that a body moon_weight has taken. */
static int check_names(const struct lm_config *config, const struct list *l)
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

static void add_all(struct list *l, const struct lm_config *config)
{
    static const char axis[3] = {'x', 'y', 'z'};
    add(l, "", "number of the step", 1, "step");
    add(l, "1/Omega_ci", "time", 0, "time");
    for (int s = 0; s < config->species_count; s++)
        for (int d = 0; d < 3; d++)
            add(l, energy, "kinetic energy, drift included", 0, "kinetic_%c_%s", axis[d], config->species[s].name);
    for (int d = 0; d < 3; d++)
        add(l, energy, "magnetic energy", 0, "magnetic_%c", axis[d]);
    add(l, energy, "thermal energy of the electrons (isothermal: T n ln n)", 0, "electron_thermal");
    add(l, energy, "sum of all energies", 0, "energy_total");
    add(l, "", "change of energy_total since the start over its value then", 0, "energy_drift");
    for (int d = 0; d < 3; d++)
        add(l, momentum, "momentum of the ions", 0, "momentum_%c", axis[d]);
    add(l, "B0/d_i", "largest |div B|", 0, "div_b_max");
    for (int s = 0; s < config->species_count; s++)
        add(l, "v_A", "largest speed, half a step before the row", 0, "speed_max_%s", config->species[s].name);
    add(l, "", "cells below the density floor", 1, "floored_cells");
    add(l, "", "field substeps of the last step", 1, "substeps");
    add_ledger(l, config);
    add_collisions(l, config);
    add_backgrounds(l, config);
    if (lm_sim_entropy(config) >= 0) {
        add(l, energy, "resistive heating of the electrons since the start", 0, "electron_heat");
        add(l, "", "substeps of the electrons' heat conduction in the last step", 1, "conduction_substeps");
    }
    add(l, "1/s", "particle-steps a second of wall time since the last row", 0, "rate");
}

int lm_row_columns(const struct lm_config *config, int *count, struct lm_series_column **columns)
{
    struct list l = {malloc(LM_ROW_MAX * sizeof *l.columns), 0};
    *columns = l.columns;
    if (!l.columns)
        return lm_fail(LM_FAILED, "not enough memory for the time series");
    add_all(&l, config);
    *count = l.count;
    return check_names(config, &l);
}

int lm_row_references(struct lm_sim *sim, struct lm_references *out)
{
    struct lm_totals t;
    int status = lm_sim_totals(sim, &t);
    out->energy = t.energy;
    for (int d = 0; d < 3; d++)
        out->momentum[d] = t.momentum[d];
    return status;
}

/* Fills the values in the order of add_ledger. Returns their number. */
static int fill_ledger(const struct lm_sim *sim, double *row)
{
    const struct lm_config *c = sim->config;
    struct lm_account_of accounts[LM_ACCOUNTS];
    int n = 0;
    for (int s = 0; s < c->species_count; s++)
        for (int k = 0, count = lm_accounts(c, s, accounts); k < count; k++, n += LM_LEDGER_VALUES)
            lm_ledger_values(&sim->ledger[s], lm_account_in(&sim->ledger[s], &accounts[k]), lm_sim_weight(sim, s),
                             c->species[s].mass, row + n);
    for (int s = 0; s < c->species_count && lm_accounts_any(c); s++) {
        row[n++] = (double)sim->count[s];
        row[n++] = (double)lm_sim_residual(sim, s);
    }
    return n;
}

/* Fills the values in the order of add_collisions. Returns their number. */
static int fill_collisions(const struct lm_sim *sim, double *row)
{
    int n = 0;
    for (int s = 0; s < sim->config->species_count; s++) {
        const struct lm_species_config *c = &sim->config->species[s];
        const double speed = lm_sim_collided_speed(sim, s, sqrt(sim->control.speed2[s]), 0);
        struct lm_collision_limits l = {0};
        if (c->gas_field >= 0)
            l = lm_collision_limits(c, &sim->grid, lm_collision_time(sim->config, s),
                                    sim->background[c->gas_field].most, speed);
        if (lm_exchanges_charge(c))
            row[n++] = l.exchange;
        if (c->stopping_table[0])
            row[n++] = l.cells;
        if (c->electron_exchange > 0)
            row[n++] = (double)sim->exchange[s].limited;
    }
    return n;
}

/* Fills the values in the order of add_backgrounds. Returns their number. */
static int fill_backgrounds(const struct lm_sim *sim, double *row)
{
    int n = 0;
    for (int f = 0; f < sim->config->background_count; f++) {
        const struct lm_background_config *b = &sim->config->background[f];
        const struct lm_sim_background *s = &sim->background[f];
        row[n++] = lm_sim_background_value(sim, f, s->ledger.total);
        row[n++] = s->least;
        row[n++] = s->most;
        for (int side = 0; side < LM_SIDES; side++)
            if (lm_background_is_open(b, side))
                row[n++] = lm_sim_background_value(sim, f, s->ledger.entered[side]);
        if (lm_background_is_sourced(sim->config, f))
            row[n++] = lm_sim_background_value(sim, f, s->ledger.source);
        row[n++] = (double)s->substeps;
        row[n++] = lm_sim_background_residual(sim, f);
    }
    return n;
}

int lm_row_fill(struct lm_sim *sim, const struct lm_references *references, double rate, double *row)
{
    struct lm_totals t;
    int status = lm_sim_totals(sim, &t), n = 0, species = sim->config->species_count;
    row[n++] = (double)sim->step;
    row[n++] = lm_sim_time(sim);
    for (int s = 0; s < species; s++)
        for (int d = 0; d < 3; d++)
            row[n++] = t.kinetic[s][d];
    for (int d = 0; d < 3; d++)
        row[n++] = t.magnetic[d];
    row[n++] = t.electrons;
    row[n++] = t.energy;
    row[n++] = references->energy != 0 ? (t.energy - references->energy) / fabs(references->energy) : 0;
    for (int d = 0; d < 3; d++)
        row[n++] = t.momentum[d];
    row[n++] = t.div_b;
    for (int s = 0; s < species; s++)
        row[n++] = sqrt(sim->control.speed2[s]);
    row[n++] = (double)sim->control.floored;
    row[n++] = sim->substeps;
    n += fill_ledger(sim, row + n);
    n += fill_collisions(sim, row + n);
    n += fill_backgrounds(sim, row + n);
    if (lm_sim_entropy(sim->config) >= 0) {
        row[n++] = sim->electrons.heat * sim->grid.dx * sim->grid.dy;
        row[n++] = 2 * (double)sim->electrons.substeps;
    }
    row[n++] = rate;
    return status;
}
