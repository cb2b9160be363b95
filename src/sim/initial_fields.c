/* Fields of the configuration that a start and a restart hand to the backend. */
#include "sim/initial_fields.h"

#include <stdlib.h>
#include <string.h>

#include "backend/field_boundaries.h"
#include "sim/electrons.h"
#include "sim/setup.h"
#include "base/expr.h"
#include "base/try.h"
#include "larmor/physics/fields/ohm.h"

int lm_sim_put_push_b(struct lm_sim *sim, double *const b[3], double *work)
{
    const struct lm_grid *g = &sim->grid;
    const struct lm_view view = {b[0], b[1], b[2], g->stride};
    int status = LM_OK;
    for (int d = 0; d < 3 && !status; d++) {
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
                /* The outermost cells have no neighbours below. */
                const int x = i > -LM_GHOST ? i : i + 1, y = j > -LM_GHOST ? j : j + 1;
                const struct lm_vector v = lm_b_centre(lm_view_at(view, (long)lm_at(g, x, y)));
                work[lm_at(g, i, j)] = d == 0 ? v.x : d == 1 ? v.y : v.z;
            }
        status = sim->backend->ops->put(sim->backend, LM_PUSH_B + d, work);
    }
    return status;
}

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
    if (!status)
        status = lm_sim_put_push_b(sim, b, work);
    free(store);
    return status;
}

/* E_`d` of the configuration into LM_E, or at the centres into LM_PUSH_E. */
static int put_given_e(struct lm_sim *sim, int d, int at_centre, double *const b[3], double *work)
{
    const struct lm_config *c = sim->config;
    const struct lm_cell_offset place = lm_places_of_e[at_centre ? 2 : d];
    int status = LM_OK;
    if (sim->driving && sim->driving->e[d].length > 0) /* the backend evaluates it */
        memset(work, 0, sim->grid.size * sizeof *work);
    else
        status = lm_expr_fill(c->names, c->fields.e[d], &sim->grid, place, work);
    if (!status)
        status = lm_setup_inflow_e(c, b, d, at_centre, work);
    if (!status)
        status = sim->backend->ops->put(sim->backend, (at_centre ? LM_PUSH_E : LM_E) + d, work);
    return status;
}

int lm_sim_put_e(struct lm_sim *sim, double *work)
{
    const size_t size = sim->grid.size;
    const struct lm_field_sides sides = lm_field_sides_of(&sim->backend->setup);
    double *b[3] = {work + size, work + 2 * size, work + 3 * size};
    if (sim->config->fields.solver != LM_SOLVER_NONE && !lm_any_prescribed_e(&sides))
        return LM_OK;
    int status = lm_setup_b(sim->config, b);
    for (int k = 0; k < 6 && !status; k++)
        status = put_given_e(sim, k / 2, k % 2, b, work);
    return status;
}

int lm_sim_show_push_e(struct lm_sim *sim, double *work)
{
    const struct lm_grid *g = &sim->grid;
    double *e = work, *push = work + g->size, *pressure = work + 2 * g->size;
    const struct lm_field_sides sides = lm_field_sides_of(&sim->backend->setup);
    int (*const get)(struct lm_backend *, enum lm_array, double *) = sim->backend->ops->get;
    for (int d = 0; d < 3; d++) {
        const int next = d == 0 ? 1 : d == 1 ? g->stride : 0;
        LM_TRY(get(sim->backend, LM_E + d, e));
        LM_TRY(get(sim->backend, LM_PUSH_E + d, push));
        if (d < 2)
            LM_TRY(get(sim->backend, LM_PUSH_PRESSURE + d, pressure));
        for (int j = 0; j < g->ny; j++)
            for (int i = 0; i < g->nx; i++) {
                const size_t k = lm_at(g, i, j);
                /* What ions feel is odd beyond such a side, and E on the side is not 0. */
                const int ends = (d == 0 && i == g->nx - 1 && sides.turns_back[LM_X_MAX]) ||
                                 (d == 1 && j == g->ny - 1 && sides.turns_back[LM_Y_MAX]);
                e[k] = lm_interp_up(push + k, ends ? 0 : next) + (d < 2 ? pressure[k] : 0.0);
            }
        lm_grid_wrap(g, e);
        LM_TRY(sim->backend->ops->put(sim->backend, LM_E + d, e));
    }
    return LM_OK;
}

/* Whether the start reads the arrays of B on the host. */
static int reads_b(const struct lm_config *c)
{
    int reads = c->fields.solver == LM_SOLVER_NONE;
    for (int s = 0; s < c->species_count; s++)
        reads |= c->species[s].temperature_kind == LM_TEMPERATURE_FIELD_ALIGNED;
    return reads;
}

static int put_given(struct lm_sim *sim, enum lm_array to, struct lm_given from)
{
    const struct lm_backend_ops *ops = sim->backend->ops;
    return from.array ? ops->put(sim->backend, to, from.array) : ops->fill(sim->backend, to, from.everywhere);
}

int lm_sim_put_b(struct lm_sim *sim, double *b[3])
{
    double everywhere[3];
    const int uniform = lm_setup_b_is_uniform(sim->config, everywhere);
    if (!uniform || reads_b(sim->config))
        LM_TRY(lm_setup_b(sim->config, b));
    for (int d = 0; d < 3; d++)
        LM_TRY(put_given(sim, LM_B + d, (struct lm_given){uniform ? NULL : b[d], everywhere[d]}));
    return LM_OK;
}

int lm_sim_put_eta(struct lm_sim *sim, double *work)
{
    struct lm_given eta = {NULL, 0};
    int has_eta = 0;
    if (!lm_setup_eta_is_uniform(sim->config, &eta.everywhere)) {
        LM_TRY(lm_setup_eta(sim->config, sim->mask, work));
        eta.array = work;
    }
    for (size_t k = 0; k < (eta.array ? sim->grid.size : 1); k++)
        has_eta |= lm_given_at(&eta, k) != 0;
    lm_sim_find_heat(sim, has_eta);
    if (sim->backend->setup.local_eta)
        LM_TRY(put_given(sim, LM_GIVEN_ETA, eta));
    return put_given(sim, LM_ETA, eta);
}
