/* Integrals of the state, from the backends' integer sums. */
#include "sim/state.h"

#include <math.h>

#include "larmor/physics/numerics/bounds.h"
#include "base/try.h"

static double value(int64_t sum, int exponent)
{
    return ldexp((double)sum, -exponent);
}

/* Whether the speeds after half a kick, and the turn in it, are far from the limits of single precision. Beyond these
 * the sums would depend on the machine. `b2` is at least the largest B^2. */
static int can_be_kicked(const struct lm_sim *sim, int species, double bound, double b2)
{
    const struct lm_backend_species *p = &sim->backend->setup.species[species];
    return bound <= LM_MAX_SPEED && p->charge / p->mass * sim->config->run.dt * sqrt(b2) <= LM_MAX_SPEED;
}

int lm_sim_totals(struct lm_sim *sim, struct lm_totals *out)
{
    struct lm_backend *b = sim->backend;
    double dt = sim->config->run.dt, area = sim->grid.dx * sim->grid.dy;
    double b2 = 0;
    struct lm_grid_sums fields;
    *out = (struct lm_totals){0};
    int status = b->ops->grid_sums(b, &fields);
    if (status)
        return status;
    out->div_b = fields.div_b;
    out->electrons = area * value(fields.electrons, fields.exponent_electrons);
    out->energy = out->electrons;
    for (int d = 0; d < 3; d++) {
        out->magnetic[d] = 0.5 * area * value(fields.b2[d], fields.exponent_b2[d]);
        out->energy += out->magnetic[d];
        b2 += value(fields.b2[d], fields.exponent_b2[d]);
    }
    for (int s = 0; s < sim->config->species_count; s++) {
        const double bound = lm_sim_kicked_speed(sim, s, sim->control.speed2[s], 0.5 * dt);
        const int has_sums = can_be_kicked(sim, s, bound, b2);
        const double mass = b->setup.species[s].mass * lm_sim_weight(sim, s);
        struct lm_pass half = {.kick_dt = 0.5 * dt, .speed_exponent = lm_speed_exponent(bound)};
        struct lm_particle_sums sums;
        if (has_sums)
            LM_TRY(b->particles->sums(b, s, &half, sim->count[s], &sums));
        for (int d = 0; d < 3; d++) {
            out->kinetic[s][d] = has_sums ? 0.5 * mass * value(sums.v2[d], sums.exponent_v2) : NAN;
            out->momentum[d] += has_sums ? mass * value(sums.v[d], sums.exponent_v) : NAN;
            out->energy += out->kinetic[s][d];
        }
    }
    return LM_OK;
}
