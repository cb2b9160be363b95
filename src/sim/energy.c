/* The energy of the state that can change, to which the budget of the energy refers. */
#include <math.h>
#include <stdlib.h>

#include "config/energy.h"
#include "sim/setup.h"
#include "sim/state.h"

/* Half the integral of the square of an array's deviation from its mean. One thread adds, in the order of the cells. */
static double varying(const struct lm_grid *g, const double *a)
{
    double sum = 0, squares = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            sum += a[lm_at(g, i, j)];
    const double mean = sum / (double)g->cells;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const double from = a[lm_at(g, i, j)] - mean;
            squares += from * from;
        }
    return 0.5 * squares * g->dx * g->dy;
}

/* A uniform B of the start does not vary. */
static int add_fields(struct lm_sim *sim, struct lm_energy_parts *out)
{
    double uniform[3];
    if (sim->step == 0 && lm_setup_b_is_uniform(sim->config, uniform))
        return LM_OK;
    double *b = malloc(sim->grid.size * sizeof *b);
    int status = b ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the energy of the start");
    for (int d = 0; d < 3 && !status; d++) {
        status = sim->backend->ops->get(sim->backend, LM_B + d, b);
        out->varying += status ? 0 : varying(&sim->grid, b);
    }
    free(b);
    return status;
}

int lm_sim_energy_scale(struct lm_sim *sim, const struct lm_totals *totals, double *scale)
{
    const struct lm_config *c = sim->config;
    const double gamma = sim->backend->setup.ohm.gamma;
    struct lm_energy_parts p = {0};
    double charge = 0;
    for (int s = 0; s < c->species_count; s++) {
        const double ions = (double)sim->count[s] * lm_sim_weight(sim, s);
        charge += c->species[s].charge * ions;
        p.mass += c->species[s].mass * ions;
        for (int d = 0; d < 3; d++)
            p.kinetic += totals->kinetic[s][d];
    }
    for (int d = 0; d < 3; d++) {
        p.momentum[d] = totals->momentum[d];
        p.magnetic += totals->magnetic[d];
    }
    p.electrons = gamma > 1 ? (gamma - 1) * totals->electrons : c->electrons.temperature * charge;
    const int status = add_fields(sim, &p);
    *scale = lm_energy_scale(c, &p);
    return status;
}
