/* Collisions of ions with a medium: the parameters of a step from the configuration, bounds, and what the medium
 * receives. */
#include <math.h>

#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/numerics/elementary.h"
#include "sim/collisions.h"
#include "larmor/physics/collisions/collide.h"
#include "larmor/physics/numerics/normal.h"
#include "larmor/physics/particles/surface.h"
#include "config/facts.h"

/* An upper bound of the speed of a gas. */
static double largest_speed(const struct lm_sim *sim, int field)
{
    const double rate = sim->background[field].flow_rate; /* at no face is |u_x| / dx or |u_y| / dy larger */
    return rate * hypot(sim->grid.dx, sim->grid.dy);
}

/* Thermal speed of the ions that charge exchange makes: they have the temperature of the gas. */
static double atom_speed(const struct lm_config *c, int species)
{
    const struct lm_species_config *s = &c->species[species];
    return sqrt(c->background[s->gas_field].temperature / s->mass);
}

double lm_sim_collided_speed(const struct lm_sim *sim, int species, double before, double kick)
{
    const struct lm_species_config *s = &sim->config->species[species];
    if (s->gas_field < 0)
        return before;
    const double gas = largest_speed(sim, s->gas_field);
    return lm_max(gas + LM_NORMAL_REACH * atom_speed(sim->config, species) + kick, before + 2 * gas); /* NaN stays */
}

struct lm_collision_limits lm_collision_limits(const struct lm_species_config *s, const struct lm_grid *g, double dt,
                                               double n, double speed)
{
    const double energy = 0.5 * s->mass * speed * speed, cell = fmin(g->dx, g->dy);
    const double exchanges = n * dt * (s->charge_exchange_cross_section * speed + s->charge_exchange_rate);
    struct lm_interpolated_stopping at = {0};
    if (s->stopping.points > 0)
        at = lm_stopping_at(&s->stopping.lookup, (float)energy);
    return (struct lm_collision_limits){
        .exchange = -expm1(-exchanges),
        .angle = sqrt(0.5 * ((double)at.scattering_power + s->scattering_power) * n * speed * dt),
        .cells = energy / (n * (double)at.stopping * cell)};
}

/* The time that the collisions of this step cover. They take place at the time level of the step, in the middle of the
 * time that they cover. The velocities of the start stand half a step back, but have had no collisions before t = 0:
 * the first collisions cover what comes after it. */
static double time_covered(const struct lm_sim *sim, int species)
{
    return (sim->step == 0 ? 0.5 : 1) * lm_collision_time(sim->config, species);
}

const struct lm_collisions *lm_sim_collisions(struct lm_sim *sim, int species)
{
    const struct lm_config *c = sim->config;
    const struct lm_species_config *s = &c->species[species];
    const struct lm_stopping *table = &s->stopping.lookup;
    const int in_gas = s->gas_field >= 0;
    const uint64_t key = lm_step_key(c->run.seed, sim->step);
    const double dt = time_covered(sim, species), friction = (in_gas ? s->gas_drag_rate : s->drag_rate) * dt;
    if (!lm_collides(s) || sim->step % s->collide_every != 0)
        return NULL;
    sim->collisions[species] =
        (struct lm_collisions){.gas = s->gas_field,
                               .moves = in_gas && sim->background[s->gas_field].flow_rate > 0,
                               .dt = (float)dt,
                               .one_over_mass = (float)(1 / s->mass),
                               .half_mass = (float)(0.5 * s->mass),
                               .friction = (float)friction,
                               .fraction_lost = lm_one_minus_expf((float)friction),
                               .stopping = *table,
                               .scattering_power = (float)s->scattering_power,
                               .variance = (float)(s->scattering_rate * dt),
                               .tail2 = (float)(s->scattering_sigmas * s->scattering_sigmas),
                               .exchange_section = (float)(s->charge_exchange_cross_section * dt),
                               .exchange_rate = (float)(s->charge_exchange_rate * dt),
                               .thermal = in_gas ? (float)atom_speed(c, species) : 0,
                               .stops = s->lost_below_energy > 0 || table->rows > 0,
                               .stopped2 = (float)(2 * s->lost_below_energy / s->mass),
                               .cos_low = s->lost_above_pitch < 180 ? lm_cos(s->lost_above_pitch * LM_DEGREE) : -2,
                               .cos_high = s->lost_below_pitch > 0 ? lm_cos(s->lost_below_pitch * LM_DEGREE) : 2,
                               .scatters = lm_scatters(c, species),
                               .exchanges = lm_exchanges_charge(s),
                               .has_pitch = lm_limits_pitch(s),
                               .key = key,
                               .species = species};
    lm_random_keys(key, species, LM_STREAM_SCATTER, sim->collisions[species].scatter_key);
    lm_random_keys(key, species, LM_STREAM_EXCHANGE, sim->collisions[species].exchange_key);
    return &sim->collisions[species];
}

int lm_sim_transfer_to_gas(struct lm_sim *sim, int species)
{
    const struct lm_pass *pass = &sim->pass[species];
    const struct lm_backend_species *p = &sim->backend->setup.species[species];
    if (!pass->collisions || pass->collisions->gas < 0)
        return LM_OK;
    const double momentum = p->weight * p->mass * ldexp(1, -pass->tally_v);
    struct lm_gas_gain gain = {
        .key = lm_step_key(sim->config->run.seed, sim->step),
        .species = species,
        .unit = {[LM_GAS_NUMBER] = p->weight, [LM_GAS_ENERGY] = 0.5 * p->weight * p->mass * ldexp(1, -pass->tally_v2)}};
    for (int d = 0; d < 3; d++)
        gain.unit[LM_GAS_MOMENTUM + d] = momentum;
    for (int f = 0; f < sim->config->background_count; f++)
        gain.quantum[f] = sim->background[f].ledger.quantum;
    return sim->backend->ops->transfer_to_gas(sim->backend, &gain);
}
