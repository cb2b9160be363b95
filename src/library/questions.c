/* What a simulation of the library tells about its settings and its state, arrays aside. */
#include <string.h>

#include "base/try.h"
#include "library/host.h"
#include "library/simulation.h"
#include "output/series_columns.h"

void larmor_grid(const struct larmor_simulation *sim, int *nx, int *ny, double *lx, double *ly)
{
    *nx = sim->config.grid.nx;
    *ny = sim->config.grid.ny;
    *lx = sim->config.grid.lx;
    *ly = sim->config.grid.ly;
}

double larmor_time_step(const struct larmor_simulation *sim)
{
    return sim->config.run.dt;
}

int64_t larmor_last_step(const struct larmor_simulation *sim)
{
    return sim->config.run.steps;
}

/* --- the state as a whole --- */

int64_t larmor_step_number(const struct larmor_simulation *sim)
{
    return sim->sim ? lm_sim_step_number(sim->sim) : -1;
}

double larmor_time(const struct larmor_simulation *sim)
{
    return sim->sim ? lm_sim_time(sim->sim) : 0;
}

const char *larmor_backend(const struct larmor_simulation *sim)
{
    struct lm_sim_status now;
    if (!sim->sim)
        return "";
    lm_sim_status(sim->sim, &now);
    return now.backend;
}

int larmor_fingerprint(struct larmor_simulation *sim, uint64_t *fingerprint)
{
    LM_LIBRARY_CALL();
    LM_TRY(lm_library_need_state(sim));
    return lm_sim_fingerprint(sim->sim, fingerprint);
}

/* --- the time series --- */

static const struct lm_series_column *column(const struct larmor_simulation *sim, int k)
{
    return k >= 0 && k < sim->column_count ? &sim->columns[k] : NULL;
}

int larmor_column_count(const struct larmor_simulation *sim)
{
    return sim->column_count;
}

const char *larmor_column_name(const struct larmor_simulation *sim, int k)
{
    return column(sim, k) ? column(sim, k)->name : NULL;
}

const char *larmor_column_unit(const struct larmor_simulation *sim, int k)
{
    return column(sim, k) ? column(sim, k)->unit : NULL;
}

const char *larmor_column_about(const struct larmor_simulation *sim, int k)
{
    return column(sim, k) ? column(sim, k)->about : NULL;
}

int larmor_row(struct larmor_simulation *sim, double *values)
{
    LM_LIBRARY_CALL();
    struct lm_sim_status now;
    LM_TRY(lm_library_need_state(sim));
    lm_sim_status(sim->sim, &now);
    const double spent = sim->stepping - sim->row_stepping;
    const double rate = spent > 0 ? (double)(now.particle_steps - sim->row_particle_steps) / spent : 0;
    sim->row_stepping = sim->stepping;
    sim->row_particle_steps = now.particle_steps;
    return lm_row_fill(sim->sim, &sim->config, &sim->references, rate, values);
}

/* --- species --- */

int larmor_species_count(const struct larmor_simulation *sim)
{
    return sim->config.species_count;
}

const char *larmor_species_name(const struct larmor_simulation *sim, int k)
{
    return k >= 0 && k < sim->config.species_count ? sim->config.species[k].name : NULL;
}

static int find_species(const struct larmor_simulation *sim, const char *name, int *species)
{
    for (*species = 0; *species < sim->config.species_count; ++*species)
        if (!strcmp(sim->config.species[*species].name, name))
            return LM_OK;
    return lm_fail(LM_BAD_INPUT, "%s: there is no species %.64s: larmor_species_name lists the names", sim->config.file,
                   name);
}

int larmor_species(const struct larmor_simulation *sim, const char *name, uint64_t *count, double *charge, double *mass,
                   double *weight)
{
    LM_LIBRARY_CALL();
    struct lm_sim_status now;
    int s;
    LM_TRY(lm_library_need_state(sim));
    LM_TRY(find_species(sim, name, &s));
    lm_sim_status(sim->sim, &now);
    if (count)
        *count = now.species[s].count;
    if (charge)
        *charge = sim->config.species[s].charge;
    if (mass)
        *mass = sim->config.species[s].mass;
    if (weight)
        *weight = now.species[s].weight;
    return LM_OK;
}

int larmor_particles(struct larmor_simulation *sim, const char *species, uint64_t first, uint64_t count, double *x,
                     double *y, double *vx, double *vy, double *vz)
{
    LM_LIBRARY_CALL();
    uint64_t present;
    int s;
    LM_TRY(larmor_species(sim, species, &present, NULL, NULL, NULL));
    LM_TRY(find_species(sim, species, &s));
    if (first > present || count > present - first)
        return lm_fail(LM_BAD_INPUT, "%s: species %s has %llu particles; %llu from number %llu on are not there",
                       sim->config.file, species, (unsigned long long)present, (unsigned long long)count,
                       (unsigned long long)first);
    return lm_sim_get_particles(sim->sim, s, first, count, x, y, vx, vy, vz);
}
