/* The algorithm: leapfrog for the ions, Runge-Kutta substeps for B, one pass over the particles a step. Relatives:
 * Matthews (1994, J. Comput. Phys. 112, 102) and Holmstrom (2010, ASP Conf. Ser. 429, 211). They advance B in two
 * halves with moments of the start of each, which lags by dt/4. Here B takes the whole step with moments centred in the
 * step, which is second order.
 *
 * Known at the start of a step: x^n, v^{n-1/2}, B^n, E^n, n^n, J_i^{n-1/2}.
 */
#include <math.h>

#include "base/try.h"
#include "larmor/physics/fields/mean_field.h"
#include "larmor/physics/fields/relaxation.h"
#include "larmor/physics/fields/void_field.h"
#include "sim/advection.h"
#include "sim/boundaries.h"
#include "sim/collisions.h"
#include "sim/driving.h"
#include "sim/electrons.h"
#include "sim/ion_electron_heating.h"
#include "sim/ionisation.h"
#include "sim/side_energy.h"
#include "sim/state.h"
#include "sim/tracks.h"

/* From so many turns of the fastest whistler in a step on, ions feel the mean of B. Below, ions and B agree without it
 * (docs/physics/accuracy.md, "Short whistlers"). */
static const double TURNS = 0.75;

/* The tally of one particle has at most 50 bits. */
enum { LEAST_TALLIED = 1 << 13 };

static int is_hybrid(const struct lm_sim *sim)
{
    return sim->config->fields.solver == LM_SOLVER_HYBRID;
}

double lm_sim_kicked_speed(const struct lm_sim *sim, int species, double speed2, double kick_dt)
{
    const struct lm_backend_species *s = &sim->backend->setup.species[species];
    double e[3];
    for (int d = 0; d < 3; d++)
        e[d] = sim->control.push_e[d] + (d < 2 ? sim->control.push_pressure[d] : 0) +
               sim->control.friction_e[species][d] + sim->force[species][d];
    return lm_speed_bound(speed2, e, s->charge / s->mass, kick_dt);
}

double lm_sim_speed_bound(const struct lm_sim *sim, int species, double kick_dt)
{
    const double speed2 = lm_sim_heated_speed2(sim, species);
    const double kicked = lm_sim_kicked_speed(sim, species, speed2, kick_dt);
    const double new = lm_sim_new_particle_speed(sim, species);
    return lm_max(new, lm_sim_collided_speed(sim, species, kicked, kicked - sqrt(speed2)));
}

static struct lm_pass pass_of(const struct lm_sim *sim, int species, double kick_dt, double drift_dt, int move)
{
    struct lm_pass p = {.kick_dt = kick_dt,
                        .drift_dt = drift_dt,
                        .move = move,
                        .speed_exponent = lm_speed_exponent(lm_sim_speed_bound(sim, species, kick_dt)),
                        .step = sim->step};
    const uint64_t new = lm_sim_most_new_particles(sim, species);
    const double most = fmax(LEAST_TALLIED, 2.0 * (double)(sim->count[species] + new)); /* a gas may get 2 |v| */
    p.complete = !move || new == 0;
    lm_ledger_units(&sim->ledger[species], most, p.speed_exponent, &p.tally_v, &p.tally_v2);
    return p;
}

/* The pass of one species: push with collisions in its middle, current, move, density; then the particles that enter
 * and are born. */
static int pass_species(struct lm_sim *sim, int species)
{
    struct lm_backend *b = sim->backend;
    struct lm_pass *pass = &sim->pass[species];
    pass->collisions = pass->move ? lm_sim_collisions(sim, species) : NULL;
    if (pass->move)
        LM_TRY(lm_sim_follow(sim, species, pass));
    LM_TRY(b->particles->pass(b, species, pass));
    LM_TRY(lm_sim_transfer_to_gas(sim, species));
    if (pass->move && sim->inflow[species].most > 0)
        LM_TRY(b->particles->enter(b, species, pass));
    if (pass->move)
        LM_TRY(lm_sim_ionise(sim, species));
    return b->ops->collect(b, species, pass->speed_exponent, species == 0);
}

int lm_sim_pass_all(struct lm_sim *sim, double kick_dt, double drift_dt, int move)
{
    for (int s = 0; s < sim->config->species_count; s++)
        sim->pass[s] = pass_of(sim, s, kick_dt, drift_dt, move);
    if (move)
        LM_TRY(lm_sim_exchange_heat(sim));
    for (int s = 0; s < sim->config->species_count; s++)
        LM_TRY(pass_species(sim, s));
    return sim->backend->ops->moments(sim->backend);
}

int lm_sim_find_maxima(struct lm_sim *sim)
{
    LM_TRY(sim->backend->ops->field_maxima(sim->backend, LM_MAXIMA));
    return sim->backend->ops->control(sim->backend, &sim->control);
}

int lm_sim_relaxation_stages(const struct lm_sim *sim)
{
    const struct lm_ohm *o = &sim->backend->setup.ohm;
    return lm_relaxation_stages(sim->control.eta, sim->config->run.dt, lm_largest_k2(&sim->grid, o->inv_dx, o->inv_dy),
                                o);
}

/* B where it diffuses fast. */
static int relax_b(struct lm_sim *sim)
{
    struct lm_backend *b = sim->backend;
    const double eta = sim->control.eta;
    if (eta <= lm_substep_eta(eta, &b->setup.ohm) && !lm_any_insulator(&b->setup.bodies))
        return LM_OK;
    return b->ops->relax_b(b, sim->config->run.dt, lm_sim_relaxation_stages(sim));
}

/* Whether ions feel the mean of B in this step. Thin plasma and voids have whistlers that turn often and hold few ions:
 * there the mean costs much and gains nothing. */
static int ions_feel_mean(const struct lm_sim *sim)
{
    const struct lm_control *c = &sim->control;
    return c->floored == 0 && c->voids == 0 && sim->config->run.dt * c->frequency > TURNS * 2 * M_PI;
}

int lm_sim_substeps_needed(const struct lm_sim *sim)
{
    double n = ceil(sim->config->run.dt * sim->control.frequency / sim->config->fields.substep_safety);
    double least = sim->config->fields.min_substeps;
    if (sim->control.voids > 0)
        least = fmax(least, fmin(LM_VOID_SUBSTEPS, sim->config->fields.max_substeps));
    return n < least ? (int)least : n < 1e9 ? (int)n : 1000000000; /* NaN: the largest */
}

/* Of half a step: no more than half a step has, rounded up. */
static int forecast_substeps(const struct lm_sim *sim)
{
    const double safety = lm_forecast_safety(sim->config->fields.substep_safety),
                 n = ceil(0.5 * sim->config->run.dt * sim->control.frequency / safety),
                 least = (sim->config->fields.min_substeps + 1) / 2;
    return (int)fmin(fmax(n, least), (sim->substeps + 1) / 2);
}

static int advance_b_by_rounds(struct lm_sim *sim, int rounds)
{
    struct lm_backend *b = sim->backend;
    const double dt = sim->config->run.dt;
    struct lm_b_step step = {LM_J_NEW,
                             dt / rounds,
                             sim->substeps / rounds,
                             sim->control.voids > 0,
                             sim->feels_mean ? LM_MEAN_BEGINS : LM_NO_MEAN,
                             0,
                             forecast_substeps(sim)};
    for (int round = 0; round < rounds; round++) {
        step.keeps_void = round < rounds - 1;
        LM_TRY(round == 0 ? lm_sim_advance_electrons(sim, LM_N_OLD) : lm_sim_turn_electrons(sim));
        LM_TRY(b->ops->closure(b, LM_N_OLD, LM_N_NEW, dt / sim->substeps));
        LM_TRY(b->ops->advance_b(b, &step));
    }
    return LM_OK;
}

/* B to n+1, from the moments that the particles have left. */
static int advance_b(struct lm_sim *sim)
{
    int *rounds = &sim->electrons.rounds;
    sim->feels_mean = ions_feel_mean(sim);
    /* A mean of B counts on one row of substeps. */
    LM_TRY(lm_sim_begin_electrons(sim, sim->feels_mean ? 1 : LM_MOST_ROUNDS));
    const int needed = lm_sim_substeps_needed(sim);
    while (*rounds > 1 && lm_sim_substeps_of_rounds(needed, *rounds) > sim->config->fields.max_substeps)
        (*rounds)--;
    sim->substeps = lm_sim_substeps_of_rounds(needed, *rounds);
    LM_TRY(advance_b_by_rounds(sim, *rounds));
    return relax_b(sim);
}

/* The second half of the mean of B: LM_MEAN_B, from a B that does not stay; LM_KEPT_B is the one that does. There are
 * no voids. */
static int forecast_b(struct lm_sim *sim)
{
    struct lm_backend *b = sim->backend;
    const double dt = sim->config->run.dt / 2;
    const int substeps = forecast_substeps(sim);
    const struct lm_b_step step = {LM_J_AHEAD, dt, substeps, 0, LM_MEAN_ENDS, 0, substeps};
    LM_TRY(b->ops->closure(b, LM_N_NEW, LM_N_NEW, dt / substeps));
    return b->ops->advance_b(b, &step);
}

/* E at n+1 and what the ions feel. */
static int find_e(struct lm_sim *sim)
{
    struct lm_backend *b = sim->backend;
    if (!sim->feels_mean)
        return b->ops->ohm(b, LM_OHM_AHEAD);
    LM_TRY(forecast_b(sim));
    LM_TRY(b->ops->swap(b, LM_B, LM_MEAN_B));
    LM_TRY(b->ops->ohm(b, LM_OHM_MEAN));
    return b->ops->swap(b, LM_B, LM_KEPT_B);
}

/* After Ohm's law with the mean of B: the resistivity, which acts until the next one, and the maxima are those of B
 * itself, so that a restart finds the same. Friction's force stays that of Ohm's law, for output. */
static int find_maxima_of_b(struct lm_sim *sim)
{
    struct lm_backend *b = sim->backend;
    const int has_friction = b->setup.friction_species > 0;
    if (b->setup.local_eta) {
        LM_TRY(has_friction ? b->ops->copy(b, LM_J_AHEAD, LM_FRICTION_FORCE, 3) : LM_OK);
        LM_TRY(b->ops->resistivity(b));
        LM_TRY(has_friction ? b->ops->copy(b, LM_FRICTION_FORCE, LM_J_AHEAD, 3) : LM_OK);
    }
    LM_TRY(b->ops->field_maxima(b, LM_MAXIMA_OF_B));
    return b->ops->control(b, &sim->control);
}

/* Counts the step and books what has crossed sides, bodies and sources in it. */
static int finish_step(struct lm_sim *sim)
{
    sim->step++;
    for (int s = 0; s < sim->config->species_count; s++)
        sim->particle_steps += sim->count[s];
    LM_TRY(lm_sim_survey_sides(sim));
    LM_TRY(lm_sim_survey_advected(sim));
    LM_TRY(!is_hybrid(sim)   ? lm_sim_find_maxima(sim)
           : sim->feels_mean ? find_maxima_of_b(sim)
                             : sim->backend->ops->control(sim->backend, &sim->control));
    LM_TRY(lm_sim_book_particles(sim));
    LM_TRY(lm_sim_book_backgrounds(sim));
    lm_sim_book_sides(sim);
    return lm_sim_choose_tracks(sim);
}

int lm_sim_step(struct lm_sim *sim)
{
    struct lm_backend *b = sim->backend;
    const double dt = sim->config->run.dt;
    LM_TRY(lm_sim_sort_where_due(sim));
    LM_TRY(lm_sim_coarsen(sim));

    /* 1. Particles: exchange of heat with electrons; v to n+1/2, with collisions at n in the middle of the push;
     * J_i^{n+1/2} on the way; x to n+1; n^{n+1}. */
    LM_TRY(lm_sim_pass_all(sim, dt, dt, 1));
    LM_TRY(lm_sim_drive(sim, ((double)sim->step + 0.5) * dt, 1));
    LM_TRY(lm_sim_flow(sim, LM_STEP_BEGINS));

    /* 2. B^n to B^{n+1} with what is centred in the step: (n^n + n^{n+1}) / 2 and J_i^{n+1/2}. An evolved electron
     * pressure advances half a step before B and half a step after B (Strang splitting), in rounds where electrons are
     * fast. */
    if (is_hybrid(sim))
        LM_TRY(advance_b(sim));

    /* 3. Background fields to n+1. Their velocities are half way: of J_i^{n+1/2}, and of J of the mean of B^n and
     * B^{n+1}. */
    LM_TRY(lm_sim_flow(sim, LM_STEP_ENDS));
    LM_TRY(lm_sim_advect(sim));
    LM_TRY(lm_sim_advance_electrons(sim, LM_N_NEW));
    LM_TRY(lm_sim_drive(sim, ((double)sim->step + 1) * dt, 1));

    /* 4. E^{n+1} with n^{n+1} and J_i extrapolated to n+1, and the maxima of the fields. */
    if (is_hybrid(sim))
        LM_TRY(find_e(sim));
    LM_TRY(b->ops->swap_levels(b));
    return finish_step(sim);
}
