/* Integrals of the state, from the backends' integer sums. */
#include "sim/state.h"

#include <math.h>

#include "larmor/physics/numerics/bounds.h"

static double value(int64_t sum, int exponent)
{
    return ldexp((double)sum, -exponent);
}

int lm_sim_totals(struct lm_sim *sim, struct lm_totals *out)
{
    struct lm_backend *b = sim->backend;
    double dt = sim->config->run.dt, area = sim->grid.dx * sim->grid.dy;
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
    }
    for (int s = 0; s < sim->config->species_count; s++) {
        const struct lm_backend_species *p = &b->setup.species[s];
        struct lm_particle_sums sums;
        double bound = lm_sim_kicked_speed(sim, s, sim->control.speed2[s], 0.5 * dt);
        struct lm_pass half = {.kick_dt = 0.5 * dt, .speed_exponent = lm_speed_exponent(bound)};
        status = b->particles->sums(b, s, &half, sim->count[s], &sums);
        if (status)
            return status;
        double mass = p->mass * lm_sim_weight(sim, s);
        for (int d = 0; d < 3; d++) {
            out->kinetic[s][d] = 0.5 * mass * value(sums.v2[d], sums.exponent_v2);
            out->momentum[d] += mass * value(sums.v[d], sums.exponent_v);
            out->energy += out->kinetic[s][d];
        }
    }
    return LM_OK;
}
