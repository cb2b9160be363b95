/* The time series: what its columns are and where their values come from. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "larmor/run.h"

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

int lm_row_columns(const struct lm_config *config, struct lm_series_column *columns)
{
    static const char axis[3] = {'x', 'y', 'z'};
    static const char energy[] = "n0 m_p v_A^2 d_i^2", momentum[] = "n0 m_p v_A d_i^2";
    struct list l = {columns, 0};
    add(&l, "", "number of the step", 1, "step");
    add(&l, "1/Omega_ci", "time", 0, "time");
    for (int s = 0; s < config->species_count; s++)
        for (int d = 0; d < 3; d++)
            add(&l, energy, "kinetic energy, drift included", 0, "kinetic_%c_%s", axis[d], config->species[s].name);
    for (int d = 0; d < 3; d++)
        add(&l, energy, "magnetic energy", 0, "magnetic_%c", axis[d]);
    add(&l, energy, "thermal energy of the electrons (isothermal: T n ln n)", 0, "electron_thermal");
    add(&l, energy, "sum of all energies", 0, "energy_total");
    add(&l, "", "change of energy_total since the start over its value then", 0, "energy_drift");
    for (int d = 0; d < 3; d++)
        add(&l, momentum, "momentum of the ions", 0, "momentum_%c", axis[d]);
    add(&l, "B0/d_i", "largest |div B|", 0, "div_b_max");
    for (int s = 0; s < config->species_count; s++)
        add(&l, "v_A", "largest speed, half a step back", 0, "speed_max_%s", config->species[s].name);
    add(&l, "", "cells below the density floor", 1, "floored_cells");
    add(&l, "", "field substeps of the last step", 1, "substeps");
    for (int s = 0; s < config->species_count; s++)
        for (int side = 0; side < LM_SIDES; side++)
            if (config->boundary[side] == LM_ABSORBING)
                add(&l, "", "particles that the side has absorbed", 1, "leak_%s_%s", lm_side_names[side],
                    config->species[s].name);
    add(&l, "1/s", "particle-steps a second of wall time since the last row", 0, "rate");
    return l.count;
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
    for (int s = 0; s < species; s++)
        for (int side = 0; side < LM_SIDES; side++)
            if (sim->config->boundary[side] == LM_ABSORBING)
                row[n++] = (double)sim->ledger[s].lost[side].number;
    row[n++] = rate;
    return status;
}
