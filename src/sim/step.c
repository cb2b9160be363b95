/* The algorithm: leapfrog for the ions, Runge-Kutta substeps for B, one pass over the particles a step. Relatives:
 * Matthews (1994, J. Comput. Phys. 112, 102) and Holmstrom (2010, ASP Conf. Ser. 429, 211). They advance B in two
 * halves with moments of the start of each, which lags by dt/4; here B takes the whole step with moments centred in it,
 * which is second order.
 *
 * Known at the start of a step: x^n, v^{n-1/2}, B^n, E^n, n^n, J_i^{n-1/2}.
 */
#include "sim/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/particles/tiling.h"
#include "sim/advection.h"
#include "sim/boundaries.h"
#include "sim/collisions.h"
#include "sim/electrons.h"
#include "sim/ion_electron_heating.h"
#include "sim/ionisation.h"
#include "sim/setup.h"

/* Measured on an H200 (`larmor bench order`): a sort costs as much as so many passes, a stray as much as so many other
 * particles. */
static const double SORT_COST = 1.9, STRAY_COST = 50;
enum { SORT_AT_LEAST_EVERY = 64, LEAST_TALLIED = 1 << 13 /* one particle's tally has at most 50 bits */ };

int lm_sim_create(const struct lm_config *config, struct lm_sim **out)
{
    struct lm_sim *sim = calloc(1, sizeof *sim);
    *out = NULL;
    if (!sim)
        return lm_fail(LM_FAILED, "not enough memory");
    struct lm_setup setup = lm_setup_of(config);
    sim->config = config;
    sim->grid = setup.grid;
    lm_sim_name_state(sim);
    int status = lm_sim_surround(sim, &setup);
    if (!status)
        status = lm_backend_create(config->run.backend, &setup, &sim->backend);
    if (status)
        lm_sim_destroy(&sim);
    *out = sim;
    return status;
}

void lm_sim_destroy(struct lm_sim **sim)
{
    if (!*sim)
        return;
    lm_backend_destroy(&(*sim)->backend);
    for (int s = 0; s < LM_MAX_SPECIES; s++)
        for (int side = 0; side < LM_SIDES; side++)
            free((*sim)->inflow[s].cells[side]);
    free((*sim)->mask);
    free((*sim)->room);
    free((*sim)->map_arrays.cos2);
    free((*sim)->map_arrays.energy);
    free((*sim)->map_arrays.faces);
    free(*sim);
    *sim = NULL;
}

/* NaN where the velocities or the fields are not finite: lm_max keeps that of its second argument. */
static double speed_bound(const struct lm_sim *sim, int species, double kick_dt)
{
    const struct lm_backend_species *s = &sim->backend->setup.species[species];
    const double speed2 = lm_sim_exchanged_speed2(sim, species);
    const double kicked = lm_speed_bound(speed2, sim->control.push_e, s->charge / s->mass, kick_dt);
    const double new = fmax(sim->inflow[species].speed, lm_sim_birth_speed(sim, species));
    return lm_max(new, lm_sim_collided_speed(sim, species, kicked, kicked - sqrt(speed2)));
}

static struct lm_pass pass_of(const struct lm_sim *sim, int species, double kick_dt, double drift_dt, int move)
{
    struct lm_pass p = {.kick_dt = kick_dt,
                        .drift_dt = drift_dt,
                        .move = move,
                        .speed_exponent = lm_speed_exponent(speed_bound(sim, species, kick_dt)),
                        .step = sim->step};
    const uint64_t present = sim->count[species] + sim->inflow[species].most + lm_sim_most_births(sim, species);
    const double most = fmax(LEAST_TALLIED, 2.0 * (double)present); /* a gas may get 2 |v| */
    lm_ledger_units(&sim->ledger[species], most, p.speed_exponent, &p.tally_v, &p.tally_v2);
    return p;
}

static int enters(const struct lm_sim *sim, int species)
{
    return sim->inflow[species].most > 0;
}

int lm_sim_pass_all(struct lm_sim *sim, double kick_dt, double drift_dt, int move)
{
    const struct lm_backend_ops *ops = sim->backend->ops;
    for (int s = 0; s < sim->config->species_count; s++)
        sim->pass[s] = pass_of(sim, s, kick_dt, drift_dt, move);
    int status = move ? lm_sim_exchange(sim) : LM_OK;
    for (int s = 0; s < sim->config->species_count && !status; s++) {
        struct lm_pass *pass = &sim->pass[s];
        pass->collisions = move ? lm_sim_collisions(sim, s) : NULL;
        status = ops->pass(sim->backend, s, pass);
        if (!status)
            status = lm_sim_give(sim, s);
        if (!status && move && enters(sim, s))
            status = ops->enter(sim->backend, s, pass);
        if (!status && move)
            status = lm_sim_ionise(sim, s);
        if (!status)
            status = ops->collect(sim->backend, s, pass->speed_exponent, s == 0);
    }
    return status ? status : ops->moments(sim->backend);
}

int lm_sim_settle(struct lm_sim *sim)
{
    const struct lm_backend_ops *ops = sim->backend->ops;
    int status = ops->survey(sim->backend);
    return status ? status : ops->control(sim->backend, &sim->control);
}

static int sort_if_due(struct lm_sim *sim, int species, double bound)
{
    int64_t every = sim->config->run.sort_every;
    double cells = bound * sim->config->run.dt / fmin(sim->grid.dx, sim->grid.dy);
    int64_t steps = sim->unsorted[species].steps;
    double cost = (double)sim->control.strays[species] * STRAY_COST, sort = SORT_COST * (double)sim->count[species];
    sim->unsorted[species].cost += cost;
    /* It pays as soon as a step costs more than the mean since the last sort, the sort included. */
    int due = every > 0 ? steps >= every
                        : cost * (double)steps > sort + sim->unsorted[species].cost || steps >= SORT_AT_LEAST_EVERY;
    if (due || sim->unsorted[species].cells + cells > LM_MAX_STRAY_CELLS) {
        int status = sim->backend->ops->sort(sim->backend, species);
        if (status)
            return status;
        sim->unsorted[species].steps = 0;
        sim->unsorted[species].cells = 0;
        sim->unsorted[species].cost = 0;
        sim->has_gaps[species] = 0;
        sim->sorts++;
    }
    sim->unsorted[species].steps++;
    sim->unsorted[species].cells += cells;
    return LM_OK;
}

int lm_sim_substeps_needed(const struct lm_sim *sim)
{
    double n = ceil(sim->config->run.dt * sim->control.frequency / sim->config->fields.substep_safety);
    double least = sim->config->fields.min_substeps;
    return n < least ? (int)least : n < 1e9 ? (int)n : 1000000000; /* NaN: the largest */
}

/* B to n+1, from the moments that the particles have left. */
static int advance_b(struct lm_sim *sim)
{
    struct lm_backend *b = sim->backend;
    const struct lm_backend_ops *ops = b->ops;
    double dt = sim->config->run.dt;
    sim->substeps = lm_sim_substeps_needed(sim);

    int status = lm_sim_advance_electrons(sim, LM_N_OLD);
    status = status ? status : ops->closure(b, LM_N_OLD, LM_N_NEW);
    return status ? status : ops->advance_b(b, LM_J_NEW, dt, sim->substeps);
}

int lm_sim_compact(struct lm_sim *sim)
{
    int status = LM_OK;
    for (int s = 0; s < sim->config->species_count && !status; s++)
        if (sim->has_gaps[s]) {
            status = sim->backend->ops->sort(sim->backend, s);
            sim->has_gaps[s] = 0;
        }
    return status;
}

int lm_sim_step(struct lm_sim *sim)
{
    double dt = sim->config->run.dt;
    int status = LM_OK;
    for (int s = 0; s < sim->config->species_count && !status; s++)
        status = sort_if_due(sim, s, speed_bound(sim, s, dt));

    status = status ? status : lm_sim_coarsen(sim);

    /* 1. Particles: exchange with electrons and collisions at n, v to n+1/2, J_i^{n+1/2} on the way, x to n+1, n^{n+1}.
     */
    const struct lm_backend_ops *ops = sim->backend->ops;
    const int hybrid = sim->config->fields.solver == LM_SOLVER_HYBRID;
    status = status ? status : lm_sim_pass_all(sim, dt, dt, 1);
    status = status ? status : lm_sim_flow(sim, 0);

    /* 2. B^n to B^{n+1} with what is centred in the step: (n^n + n^{n+1}) / 2 and J_i^{n+1/2}. An evolved pressure goes
     * half a step before and half a step after. */
    if (!status && hybrid)
        status = advance_b(sim);

    /* 3. Background fields to n+1, with velocities half way: of J_i^{n+1/2}, and J of the mean of B^n and B^{n+1}. */
    status = status ? status : lm_sim_flow(sim, 1);
    status = status ? status : lm_sim_advect(sim);
    status = status ? status : lm_sim_advance_electrons(sim, LM_N_NEW);

    /* 4. E^{n+1} with n^{n+1} and J_i extrapolated to n+1, and the maxima of the fields. */
    if (!status && hybrid)
        status = ops->ohm(sim->backend, LM_OHM_AHEAD);
    status = status ? status : ops->swap_levels(sim->backend);
    if (status)
        return status;
    sim->step++;
    for (int s = 0; s < sim->config->species_count; s++)
        sim->particle_steps += sim->count[s];
    status = hybrid ? ops->control(sim->backend, &sim->control) : lm_sim_settle(sim);
    status = status ? status : lm_sim_book(sim);
    return status ? status : lm_sim_book_backgrounds(sim);
}

/* --- stopping while the state is good --- */

/* The cell with the largest value (NaN counts as that) of the sum of squares of `count` arrays. */
static int find_largest(struct lm_sim *sim, int array, int count, int *i, int *j, double *value)
{
    const struct lm_grid *g = &sim->grid;
    double *a = malloc(g->size * sizeof *a), *sum = calloc(g->size, sizeof *sum);
    int status = a && sum ? LM_OK : lm_fail(LM_FAILED, "not enough memory");
    for (int c = 0; c < count && !status; c++) {
        status = sim->backend->ops->get(sim->backend, array + c, a);
        for (size_t k = 0; k < g->size && !status; k++)
            sum[k] += a[k] * a[k];
    }
    *value = -1;
    for (int y = 0; y < g->ny && !status; y++)
        for (int x = 0; x < g->nx; x++) {
            double v = sum[lm_at(g, x, y)];
            if (!(v <= *value)) {
                *value = v;
                *i = x, *j = y;
                if (v != v)
                    goto found;
            }
        }
found:
    *value = sqrt(*value);
    free(a);
    free(sum);
    return status;
}

/* Why the next step cannot be taken, where the fields are largest, and what to do about it. */
static int unstable(struct lm_sim *sim, const char *what, const char *cause)
{
    int i = 0, j = 0, p = 0, q = 0;
    double e = 0, b = 0;
    if (find_largest(sim, LM_PUSH_E, 3, &i, &j, &e) || find_largest(sim, LM_B, 3, &p, &q, &b))
        return LM_FAILED;
    const struct lm_grid *g = &sim->grid;
    return lm_fail(
        LM_FAILED,
        "step %lld (from t = %g) cannot be taken: %s. Largest |E| %.4g at x = %g, y = %g; largest |B| %.4g at "
        "x = %g, y = %g; %lld cells at the density floor. Likely cause: %s%s",
        (long long)sim->step + 1, lm_sim_time(sim), what, fabs(e), (i + 0.5) * g->dx, (j + 0.5) * g->dy, fabs(b),
        (p + 0.5) * g->dx, (q + 0.5) * g->dy, (long long)sim->control.floored, cause,
        sim->control.floored ? ", or fields.density_floor so low that E grows in the voids" : "");
}

/* For what the next step brings in. */
static int make_room(struct lm_sim *sim)
{
    int status = lm_sim_update_inflow(sim);
    if (!status)
        status = lm_sim_bound_ionisation(sim);
    for (int s = 0; s < sim->config->species_count && !status; s++) {
        const uint64_t more = sim->inflow[s].most + lm_sim_most_births(sim, s);
        if (more > 0)
            status = sim->backend->ops->room(sim->backend, s, more);
    }
    return status;
}

int lm_sim_check(struct lm_sim *sim)
{
    char what[256];
    double dt = sim->config->run.dt, cell = fmin(sim->grid.dx, sim->grid.dy);
    const double *e = sim->control.push_e;
    int status = lm_sim_update_backgrounds(sim);
    status = status ? status : lm_sim_bound_exchange(sim);
    if (status)
        return status;
    if (!isfinite(e[0] + e[1] + e[2]) || !isfinite(sim->control.frequency))
        return unstable(sim, "a field is not finite", "run.dt too large for the cells or the fields");
    status = lm_sim_update_ionisation(sim);
    if (status)
        return status;
    for (int s = 0; s < sim->config->species_count; s++) {
        double bound = speed_bound(sim, s, dt);
        if (bound * dt / cell <= LM_MAX_CELLS)
            continue;
        const int is_new = bound == fmax(sim->inflow[s].speed, lm_sim_birth_speed(sim, s));
        snprintf(what, sizeof what, "a particle of species %s%s could cross %.3g cells in it (limit %d; %s |v| = %.4g)",
                 sim->config->species[s].name, is_new ? " that enters, is born or is re-emitted" : "",
                 bound * dt / cell, LM_MAX_CELLS, is_new ? "its largest" : "fastest now",
                 is_new ? bound : sqrt(sim->control.speed2[s]));
        return unstable(sim, what, "run.dt too large for the cells or the speeds");
    }
    if (sim->config->fields.solver == LM_SOLVER_HYBRID &&
        lm_sim_substeps_needed(sim) > sim->config->fields.max_substeps) {
        snprintf(what, sizeof what, "the fields need %d substeps (fields.max_substeps = %d)",
                 lm_sim_substeps_needed(sim), sim->config->fields.max_substeps);
        return unstable(sim, what, "run.dt too large for the cells and |B|/n, or fields.max_substeps too small");
    }
    status = lm_sim_check_backgrounds(sim);
    return status ? status : make_room(sim);
}
