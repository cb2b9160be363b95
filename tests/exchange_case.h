/* Runs in which ions and electrons exchange heat, and what is measured of them. */
#ifndef LARMOR_TESTS_EXCHANGE_CASE_H
#define LARMOR_TESTS_EXCHANGE_CASE_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "require.h"
#include "sim_run.h"

/* The velocities of a species: v_x of all ions, then v_y of all, then v_z of all. */
static inline double *velocities(struct lm_sim *sim, int species)
{
    const size_t count = sim->count[species];
    const int single = sim->config->particles.precision == LM_SINGLE;
    int64_t *place = malloc(2 * count * sizeof *place);
    double *store = malloc(3 * count * sizeof *store), *out = malloc(3 * count * sizeof *out);
    const struct lm_raw_particles raw = {place, place + count, store, store + count, store + 2 * count};
    void *const v[3] = {raw.vx, raw.vy, raw.vz};
    ck_assert_int_eq(sim->backend->particles->get(sim->backend, species, 0, count, raw), LM_OK);
    for (size_t k = 0; k < 3 * count; k++)
        out[k] = single ? (double)((const float *)v[k / count])[k % count] : ((const double *)v[k / count])[k % count];
    free(place);
    free(store);
    return out;
}

/* Moments of a species at this moment: the number of ions, their mean velocity, and their temperature m (<v_d^2> -
 * <v_d>^2) along each axis. */
struct ions {
    double number, u[3], t[3];
};

static inline struct ions ions_of(struct lm_sim *sim, int species)
{
    const size_t count = sim->count[species];
    struct ions out = {.number = (double)count};
    double *v = velocities(sim, species);
    for (size_t d = 0; d < 3; d++) {
        long double sum = 0, sum2 = 0;
        for (size_t k = d * count; k < (d + 1) * count; k++) {
            sum += v[k];
            sum2 += (long double)v[k] * v[k];
        }
        out.u[d] = (double)(sum / count);
        out.t[d] = sim->config->species[species].mass * (double)(sum2 / count - sum * sum / count / count);
    }
    free(v);
    return out;
}

static inline double mean(const double t[3])
{
    return (t[0] + t[1] + t[2]) / 3;
}

#define CELL "[run]\nsteps = 100000\ndt = 1\n[grid]\nnx = 1\nny = 1\nlx = 20\nly = 20\n[fields]\nsmoothing = 0\n"

static const struct relaxing {
    const char *text;
    double nu, ti, te, r; /* r: heat capacity of the electrons over that of the ions */
    double dt[2], end;
} relaxing[] = {
    {CELL "[electrons]\nclosure = evolved\ntemperature = 0.5\n[species.p]\nparticles_per_cell = 100000\n"
          "temperature = 2\nelectron_heat_exchange_rate = 0.05\n",
     0.05,
     2,
     0.5,
     1,
     {1, 0.25},
     4},
    {CELL "[electrons]\nclosure = evolved\ntemperature = 0.2\ngamma = 1.4\n[species.p]\ncharge = 2\nmass = 4\n"
          "density = 0.5\nparticles_per_cell = 200000\ntemperature = 1.2\nelectron_heat_exchange_rate = "
          "0.03\ncollide_every = 2\n",
     0.03,
     1.2,
     0.2,
     1.5 * 0.4 / 2,
     {0.25, 0.0625},
     1.5},
};

/* A backend whose operation `exchange_heat` is replaced by watched_exchange, which measures what each call changes. */
static struct {
    const struct lm_particle_ops *real;
    struct lm_particle_ops watched;
    struct lm_sim *sim;
    double energy, most, exchanged; /* sum of the missing energy; the largest of one call; energy that was exchanged */
    double momentum[2][3];          /* momentum gained by each species */
} budget;

static inline double ions_energy(struct lm_sim *sim, int species, double momentum[3])
{
    const double mass = sim->config->species[species].mass * lm_sim_weight(sim, species);
    const struct ions i = ions_of(sim, species);
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        momentum[d] = i.number * mass * i.u[d];
        sum += 0.5 * i.number * (i.t[d] * lm_sim_weight(sim, species) + mass * i.u[d] * i.u[d]);
    }
    return sum;
}

static inline int watched_exchange(struct lm_backend *b, int species, const struct lm_exchange_pass *pass)
{
    double before[3], after[3];
    const double ions = ions_energy(budget.sim, species, before), electrons = totals_of(budget.sim).electrons;
    const int status = budget.real->exchange_heat(b, species, pass);
    const double gain = ions_energy(budget.sim, species, after) - ions;
    const double missing = totals_of(budget.sim).electrons - electrons + gain;
    budget.energy += missing;
    budget.most = fmax(budget.most, fabs(missing));
    budget.exchanged += fabs(gain);
    for (int d = 0; d < 3; d++)
        budget.momentum[species][d] += after[d] - before[d];
    return status;
}

static inline void watch_exchange(struct lm_sim *sim)
{
    memset(&budget, 0, sizeof budget);
    budget.sim = sim;
    budget.real = sim->backend->particles;
    budget.watched = *sim->backend->particles;
    budget.watched.exchange_heat = watched_exchange;
    sim->backend->particles = &budget.watched;
}

static const char busy_text[] =
    "[run]\nsteps = 1000\ndt = 0.02\n[grid]\nnx = 11\nny = 7\nlx = 11\nly = 7\n[electrons]\nclosure = evolved\n"
    "initial_temperature = 0.5 + 0.3*sin(2*pi*x/lx)\nconductivity = 0.05\n[fields]\nbx = 0.3\n"
    "bz = 0.5 + 0.2*cos(2*pi*x/lx)\neta = 0.01\neta_hyper = 0.02\nsmoothing = 2\n[species.p]\n"
    "particles_per_cell = 30\ntemperature = 0.2\ndrift_y = 0.5*sin(2*pi*x/lx)\nelectron_heat_exchange_rate = 0.3\n"
    "[species.q]\ncharge = 2\nmass = 3\ndensity = 0.2\nparticles_per_cell = 14\ntemperature = 1\n"
    "electron_heat_exchange_rate = 1\ncollide_every = 3\n";

#endif
