/* Sources of ions: what is expected, from the configuration; bounds on their number and speed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/physics/fluid/opening.h"
#include "larmor/physics/numerics/elementary.h"
#include "larmor/physics/particles/cut.h"
#include "sim/ionisation.h"
#include "backend/surfaces.h"
#include "sim/setup.h"
#include "base/expr.h"

static const double MOST_IN_CELL = 1e9;

/* --- what is given --- */

static int fail_expression(const struct lm_config *c, int source, const char *key)
{
    return lm_fail_context(LM_BAD_INPUT, "%s: ionisation.%s.%s", c->file, c->ionisation[source].name, key);
}

/* An expression at the centres that must not be negative, in units of 1 / `factor`. */
static int fill(const struct lm_config *c, int source, const char *key, const char *text, double t, double factor,
                double *to)
{
    const struct lm_grid g = lm_config_grid(c);
    if (lm_expr_fill_at(c->names, text, &g, (struct lm_cell_offset){0, 0}, t, to))
        return fail_expression(c, source, key);
    for (int j = 0; j < g.ny; j++)
        for (int i = 0; i < g.nx; i++) {
            double *value = &to[lm_at(&g, i, j)];
            if (*value < 0) {
                lm_fail(LM_BAD_INPUT, "\"%s\" is %.10g at x = %.10g, y = %.10g, t = %.10g; the least allowed is 0",
                        text, *value, (i + 0.5) * g.dx, (j + 0.5) * g.dy, t);
                return fail_expression(c, source, key);
            }
            *value *= factor;
        }
    return LM_OK;
}

/* The mean of what a given flow is on the faces of a cell. */
static int fill_flow(const struct lm_config *c, int field, const uint8_t *clearance, struct lm_cuts cuts, double t,
                     double *const to[3], double *work)
{
    const struct lm_grid g = lm_config_grid(c);
    double *vx = work, *vy = work + g.size;
    memset(work, 0, 2 * g.size * sizeof *work);
    int status = lm_setup_flow(c, field, clearance, cuts, t, vx, vy, vy + g.size);
    for (int j = 0; j < g.ny && !status; j++)
        for (int i = 0; i < g.nx; i++) {
            const size_t k = lm_at(&g, i, j);
            to[0][k] = 0.5 * (vx[k - 1] + vx[k]);
            to[1][k] = 0.5 * (vy[k - (size_t)g.stride] + vy[k]);
            to[2][k] = 0;
        }
    return status;
}

/* The gas's, and what the configuration says in its place. */
static int fill_drift(const struct lm_config *c, int source, const uint8_t *clearance, struct lm_cuts cuts, double t,
                      double *const to[3], double *work)
{
    static const char *const keys[3] = {"vx", "vy", "vz"};
    const struct lm_ionisation_config *s = &c->ionisation[source];
    const struct lm_grid g = lm_config_grid(c);
    const int flows = s->from >= 0 && c->background[s->from].flow == LM_FLOW_PRESCRIBED;
    for (int d = 0; d < 3; d++)
        memset(to[d], 0, g.size * sizeof *to[d]);
    int status = flows ? fill_flow(c, s->from, clearance, cuts, t, to, work) : LM_OK;
    for (int d = 0; d < 3 && !status; d++)
        if (s->drift[d][0] && lm_expr_fill_at(c->names, s->drift[d], &g, (struct lm_cell_offset){0, 0}, t, to[d]))
            status = fail_expression(c, source, keys[d]);
    return status;
}

/* The share of a gas that a frequency ionises in a step, 1 - exp(-nu dt): of any dt the right one. */
static double share(double nu_dt)
{
    return nu_dt < 1e-5 ? nu_dt * (1 - 0.5 * nu_dt) : 1 - lm_exp(-nu_dt);
}

/* The part of a cell in which ions are born; k is its element of grid arrays. A gas has the cells whose centres are
 * plasma and is ionised in their open volumes; where lines cut them, all is born in their plasma. */
static double part_for_births(const struct lm_bodies *b, struct lm_cuts cuts, size_t cell, size_t k, int of_gas)
{
    if (of_gas && !b->mask[cell])
        return lm_volume_at(cuts.open, (long)k);
    if (of_gas || !b->obstacles.of)
        return b->mask[cell] ? 0.0 : 1.0;
    return lm_plasma_part(b->obstacles.of[cell], &b->obstacles.cut[cell]);
}

int lm_setup_ionisation(const struct lm_config *c, int source, const struct lm_bodies *bodies, const uint8_t *clearance,
                        struct lm_cuts cuts, double t, double *const to[LM_BORN_ARRAYS], double *work)
{
    const struct lm_ionisation_config *s = &c->ionisation[source];
    const struct lm_species_config *p = &c->species[s->into];
    const struct lm_grid g = lm_config_grid(c);
    const int of_gas = s->from >= 0;
    int status = fill(c, source, of_gas ? "frequency" : "rate", of_gas ? s->frequency : s->rate, t, c->run.dt, to[0]);
    if (!status)
        status = fill(c, source, "temperature", s->temperature, t, 1 / p->mass, to[1]);
    for (int j = 0; j < g.ny && !status; j++)
        for (int i = 0; i < g.nx; i++) {
            const size_t k = lm_at(&g, i, j);
            to[0][k] = p->particles_per_cell * (of_gas ? share(to[0][k]) : to[0][k]);
            to[1][k] = sqrt(to[1][k]);
            const double part =
                bodies ? part_for_births(bodies, cuts, (size_t)j * (size_t)g.nx + (size_t)i, k, of_gas) : 1;
            to[0][k] = part > 0 ? part * to[0][k] : 0;
        }
    return status ? status : fill_drift(c, source, clearance, cuts, t, to + 2, work);
}

/* Whether anything of a source changes with time. */
static int find_timed(const struct lm_config *c, int source, int *timed)
{
    const struct lm_ionisation_config *s = &c->ionisation[source];
    const struct lm_background_config *gas = s->from >= 0 ? &c->background[s->from] : NULL;
    const int flows = gas && gas->flow == LM_FLOW_PRESCRIBED;
    const char *const texts[] = {s->rate,
                                 s->frequency,
                                 s->temperature,
                                 s->drift[0],
                                 s->drift[1],
                                 s->drift[2],
                                 flows ? gas->velocity[0] : "",
                                 flows ? gas->velocity[1] : "",
                                 flows ? gas->stream : ""};
    int status = LM_OK;
    for (size_t k = 0; k < sizeof texts / sizeof *texts && !status; k++) {
        int uses = 0;
        if (*texts[k])
            status = lm_expr_uses_time(c->names, texts[k], &uses);
        *timed |= uses;
    }
    return status;
}

static void survey(struct lm_sim *sim, int source, double *const from[LM_BORN_ARRAYS])
{
    struct lm_sim_ionisation *s = &sim->ionisation[source];
    s->sum = s->largest = s->cells = s->speed = 0;
    for (int j = 0; j < sim->grid.ny; j++)
        for (int i = 0; i < sim->grid.nx; i++) {
            const size_t k = lm_at(&sim->grid, i, j);
            const double x = from[2][k], y = from[3][k], z = from[4][k];
            if (!(from[0][k] > 0))
                continue;
            s->sum += from[0][k];
            s->largest = fmax(s->largest, from[0][k]);
            s->cells++;
            s->speed = fmax(s->speed, lm_drawn_speed(sqrt(x * x + y * y + z * z), from[1][k]));
        }
}

static int put_source(struct lm_sim *sim, int source, double *work)
{
    const struct lm_bodies bodies = {.mask = sim->mask, .obstacles = {sim->obstacle, sim->cut, sim->factor}};
    double *to[LM_BORN_ARRAYS];
    for (int n = 0; n < LM_BORN_ARRAYS; n++)
        to[n] = work + (size_t)n * sim->grid.size;
    int status =
        lm_setup_ionisation(sim->config, source, sim->mask ? &bodies : NULL, sim->clearance, sim->cuts,
                            lm_sim_time(sim) + 0.5 * sim->config->run.dt, to, work + LM_BORN_ARRAYS * sim->grid.size);
    for (int n = 0; n < LM_BORN_ARRAYS && !status; n++)
        status = sim->backend->ops->put(sim->backend, LM_BORN + n * LM_MAX_IONISATIONS + source, to[n]);
    if (!status)
        survey(sim, source, to);
    return status;
}

/* `again`: only what changes with time. */
static int put_sources(struct lm_sim *sim, int again)
{
    double *work = calloc((LM_BORN_ARRAYS + 3) * sim->grid.size, sizeof *work);
    int status = work ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the sources of ions");
    for (int k = 0; k < sim->config->ionisation_count && !status; k++)
        if (!again || sim->ionisation[k].timed)
            status = put_source(sim, k, work);
    free(work);
    return status;
}

int lm_sim_begin_ionisation(struct lm_sim *sim)
{
    int status = LM_OK;
    for (int k = 0; k < sim->config->ionisation_count && !status; k++)
        status = find_timed(sim->config, k, &sim->ionisation[k].timed);
    if (status || sim->config->ionisation_count == 0)
        return status;
    return put_sources(sim, 0);
}

int lm_sim_update_ionisation(struct lm_sim *sim)
{
    int any = 0;
    for (int k = 0; k < sim->config->ionisation_count; k++)
        any |= sim->ionisation[k].timed;
    const int status = any ? put_sources(sim, 1) : LM_OK;
    if (status == LM_BAD_INPUT) /* it was sound at the start */
        return lm_fail_context(LM_FAILED, "step %lld", (long long)sim->step + 1);
    return status;
}

/* --- bounds --- */

/* What a gas can gain at most in the step before it is ionised: what stops in it, all in one cell. */
static double most_gained(const struct lm_sim *sim, int field)
{
    double most = 0;
    if (sim->config->background[field].gains != 1 + LM_GAS_NUMBER)
        return 0;
    for (int s = 0; s < sim->config->species_count; s++)
        if (sim->config->species[s].gas_field >= 0)
            most += (double)sim->count[s] * sim->backend->setup.species[s].weight;
    return most;
}

/* What can be expected at most of a gas, in all cells and in one: either its maximum is everywhere, or all of it where
 * most is ionised. */
static void bound_of_gas(const struct lm_sim *sim, const struct lm_sim_ionisation *s, int field, double *all,
                         double *one)
{
    const struct lm_sim_background *gas = &sim->background[field];
    const double cells = (double)sim->grid.cells, gained = most_gained(sim, field), most = fmax(gas->most, 0) + gained;
    const double total = lm_background_value(&gas->ledger, gas->ledger.total) + cells * fmax(-gas->least, 0) + gained;
    const double amount = sim->cuts.open ? total / (double)LM_LEAST_VOLUME : total; /* all may be in the least volume */
    *all = fmin(s->sum * most, s->largest * fmax(amount, 0)) * (1 + 1e-9);
    *one = s->largest * most;
}

int lm_sim_bound_ionisation(struct lm_sim *sim)
{
    for (int k = 0; k < sim->config->ionisation_count; k++) {
        struct lm_sim_ionisation *s = &sim->ionisation[k];
        const struct lm_ionisation_config *from = &sim->config->ionisation[k];
        double all = s->sum, one = s->largest;
        if (from->from >= 0)
            bound_of_gas(sim, s, from->from, &all, &one);
        if (!(one < MOST_IN_CELL))
            return lm_fail(LM_FAILED,
                           "step %lld (from t = %g) cannot be taken: ionisation %s would bring up to %.3g particles "
                           "into a cell. Likely cause: its rate, or particles_per_cell of species %s, is too large",
                           (long long)sim->step + 1, lm_sim_time(sim), from->name, one, from->species);
        s->most = (uint64_t)(all + s->cells) + 1; /* each cell may round up */
        s->most = s->cells > 0 ? s->most : 0;
    }
    return LM_OK;
}

double lm_sim_birth_speed(const struct lm_sim *sim, int species)
{
    double fastest = 0;
    for (int k = 0; k < sim->config->ionisation_count; k++)
        if (sim->config->ionisation[k].into == species)
            fastest = fmax(fastest, sim->ionisation[k].speed);
    return fastest;
}

uint64_t lm_sim_most_births(const struct lm_sim *sim, int species)
{
    uint64_t most = 0;
    for (int k = 0; k < sim->config->ionisation_count; k++)
        if (sim->config->ionisation[k].into == species)
            most += sim->ionisation[k].most;
    return most;
}

double lm_sim_new_particle_speed(const struct lm_sim *sim, int species)
{
    return fmax(sim->inflow[species].speed, lm_sim_birth_speed(sim, species));
}

uint64_t lm_sim_most_new_particles(const struct lm_sim *sim, int species)
{
    return sim->inflow[species].most + lm_sim_most_births(sim, species);
}

/* --- a step --- */

int lm_sim_ionise(struct lm_sim *sim, int species)
{
    int status = LM_OK;
    for (int k = 0; k < sim->config->ionisation_count && !status; k++) {
        const int gas = sim->config->ionisation[k].from;
        if (sim->config->ionisation[k].into == species && sim->ionisation[k].most > 0)
            status = sim->backend->particles->ionise(sim->backend, k, &sim->pass[species],
                                                     gas < 0 ? 0 : sim->background[gas].ledger.quantum);
    }
    return status;
}
