/* Ions exchange heat with electrons whose pressure is evolved: the parameters of a step, and limits of the speeds. */
#include <math.h>

#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/particles/surface.h"
#include "sim/ion_electron_heating.h"
#include "larmor/physics/collisions/ion_electron_heating.h"
#include "config/facts.h"

static int exchanges(const struct lm_sim *sim, int species)
{
    return sim->config->species[species].electron_heat_exchange_rate > 0;
}

double lm_exchange_at_one(const struct lm_config *c, int species)
{
    return c->species[species].electron_heat_exchange_rate * lm_collision_time(c, species);
}

/* In a step T_i approaches T_e by the share 1 - exp(-2 x) of their difference, and T_e approaches T_i by r times this
 * share. r is the ratio of the heat capacities, at most 3/2 (gamma - 1) / Z. Both temperatures become equal where
 * (1 + r)(1 - exp(-2 x)) = 1. */
double lm_exchange_most(const struct lm_config *c)
{
    double charge = INFINITY;
    for (int s = 0; s < c->species_count; s++)
        if (c->species[s].electron_heat_exchange_rate > 0)
            charge = fmin(charge, c->species[s].charge);
    return 0.5 * lm_log(1 + charge / (1.5 * (c->electrons.gamma - 1)));
}

/* `speed_exponent` is that of the pass: 2^speed_exponent >= |v| for all ions. */
static struct lm_exchange exchange_of(const struct lm_sim *sim, int species, int speed_exponent)
{
    const struct lm_config *c = sim->config;
    const uint64_t key = lm_step_key(c->run.seed, sim->step);
    const int exponent =
        lm_sum_exponent((double)sim->count[species], speed_exponent); /* even if all ions are in one cell */
    struct lm_exchange e = {.rate = lm_exchange_at_one(c, species),
                            .most = lm_exchange_most(c),
                            .mass = c->species[species].mass,
                            .unit = ldexp(1, exponent < 33 - speed_exponent ? exponent : 33 - speed_exponent)};
    lm_random_keys(key, species, LM_STREAM_HEAT, e.keys[0]);
    lm_random_keys(key, species, LM_STREAM_HEAT_Z, e.keys[1]);
    return e;
}

int lm_sim_bound_heat_exchange(struct lm_sim *sim)
{
    int status = LM_OK;
    for (int s = 0; s < sim->config->species_count && !status; s++)
        if (exchanges(sim, s)) {
            const struct lm_exchange with = exchange_of(sim, s, 0);
            status = sim->backend->ops->heat_exchange_limits(sim->backend, &with, &sim->exchange[s]);
        }
    return status;
}

double lm_sim_heated_speed2(const struct lm_sim *sim, int species)
{
    const double speed2 = sim->control.speed2[species];
    if (!exchanges(sim, species))
        return speed2;
    const double noise = sqrt(sim->exchange[species].noise2 / sim->config->species[species].mass);
    const double after = sqrt(speed2) + LM_EXCHANGE_REACH * noise;
    return after * after;
}

int lm_sim_exchange_heat(struct lm_sim *sim)
{
    const struct lm_config *c = sim->config;
    int status = LM_OK, first = 1;
    for (int s = 0; s < c->species_count && !status; s++) {
        if (!exchanges(sim, s) || sim->step % c->species[s].collide_every != 0)
            continue;
        const struct lm_exchange_pass pass = {.with = exchange_of(sim, s, sim->pass[s].speed_exponent),
                                              .first = first,
                                              .tally_v = sim->pass[s].tally_v,
                                              .tally_v2 = sim->pass[s].tally_v2,
                                              .quantum = sim->background[lm_entropy_field(c)].ledger.quantum};
        status = sim->backend->particles->exchange_heat(sim->backend, s, &pass);
        first = 0;
    }
    return status;
}
