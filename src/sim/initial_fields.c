/* Fields of the configuration that a start and a restart hand to the backend. */
#include "sim/initial_fields.h"

#include <stdlib.h>
#include <string.h>

#include "backend/field_boundaries.h"
#include "sim/electrons.h"
#include "sim/setup.h"
#include "base/expr.h"

int lm_sim_put_b_behind_walls(struct lm_sim *sim, double *work)
{
    const struct lm_grid *g = &sim->grid;
    double *store = malloc(3 * g->size * sizeof *store);
    double *b[3] = {store, store + g->size, store + 2 * g->size};
    int status = store ? lm_setup_b(sim->config, b) : lm_fail(LM_FAILED, "not enough memory");
    for (int d = 0; d < 3 && !status; d++) {
        status = sim->backend->ops->get(sim->backend, LM_B + d, work);
        for (int j = 0; j < g->ny; j++)
            memcpy(b[d] + lm_at(g, 0, j), work + lm_at(g, 0, j), (size_t)g->nx * sizeof *work);
        lm_grid_wrap(g, b[d]);
        if (!status)
            status = sim->backend->ops->put(sim->backend, LM_B + d, b[d]);
    }
    free(store);
    return status;
}

/* Puts E_`component` of the push into the cells of `e`. */
static int keep_inside(struct lm_sim *sim, int component, double *e, double *work)
{
    const struct lm_grid *g = &sim->grid;
    int status = sim->backend->ops->get(sim->backend, LM_PUSH_E + component, work);
    for (int j = 0; j < g->ny && !status; j++)
        memcpy(e + lm_at(g, 0, j), work + lm_at(g, 0, j), (size_t)g->nx * sizeof *e);
    lm_grid_wrap(g, e);
    return status;
}

int lm_sim_put_e(struct lm_sim *sim, int restored, double *work)
{
    const struct lm_config *c = sim->config;
    const size_t size = sim->grid.size;
    const struct lm_field_sides sides = lm_field_sides_of(&sim->backend->setup);
    const int all = c->fields.solver == LM_SOLVER_NONE;
    double *b[3] = {work + size, work + 2 * size, work + 3 * size};
    if (!all && !lm_any_prescribed_e(&sides))
        return LM_OK;
    int status = lm_setup_b(c, b);
    for (int d = 0; d < 3 && !status; d++) {
        if (sim->driving && sim->driving->e[d].length > 0) /* the backend evaluates it */
            memset(work, 0, size * sizeof *work);
        else
            status = lm_expr_fill(c->names, c->fields.e[d], &sim->grid, lm_places_of_e[d], work);
        if (!status)
            status = lm_setup_inflow_e(c, b, d, work);
        if (!status && restored && !all)
            status = keep_inside(sim, d, work, work + 4 * size);
        if (!status)
            status = sim->backend->ops->put(sim->backend, LM_E + d, work);
        if (!status && all)
            status = sim->backend->ops->put(sim->backend, LM_PUSH_E + d, work);
    }
    return status;
}

int lm_sim_put_eta(struct lm_sim *sim, double *work)
{
    int status = lm_setup_eta(sim->config, sim->mask, work);
    if (!status)
        lm_sim_find_heat(sim, work);
    if (!status && sim->backend->setup.local_eta)
        status = sim->backend->ops->put(sim->backend, LM_GIVEN_ETA, work);
    return status ? status : sim->backend->ops->put(sim->backend, LM_ETA, work);
}
