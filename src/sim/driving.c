#include "sim/driving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/program.h"
#include "base/try.h"
#include "config/facts.h"
#include "larmor/physics/fields/driving.h"
#include "larmor/physics/fields/ohm.h"
#include "sim/setup.h"

/* `key`: of the message. */
static int compile(struct lm_sim *sim, const char *key, const char *text, unsigned variables, struct lm_program *out)
{
    const int status = lm_program_compile(sim->config->names, text, variables, out);
    sim->driven |= (out->uses & 1 << LM_VAR_T) != 0;
    return status ? lm_fail_context(status, "%s: %s", sim->config->file, key) : LM_OK;
}

/* Of expressions that do not change with time `out` stays empty. */
static int compile_timed(struct lm_sim *sim, const char *key, const char *text, struct lm_program *out)
{
    int timed;
    LM_TRY(lm_expr_uses_time(sim->config->names, text, &timed));
    return timed ? compile(sim, key, text, LM_PROGRAM_OF_X_Y_T, out) : LM_OK;
}

static int compile_of_species(struct lm_sim *sim)
{
    const struct lm_config *c = sim->config;
    char key[LM_MAX_NAME + 32];
    for (int s = 0; s < c->species_count; s++) {
        sim->driving->forced[s] = lm_is_forced(&c->species[s]);
        sim->driving->has_friction[s] = lm_has_friction(&c->species[s]);
        snprintf(key, sizeof key, "species.%s.eta", c->species[s].name);
        if (sim->driving->has_friction[s])
            LM_TRY(compile(sim, key, c->species[s].eta, LM_PROGRAM_OF_PLASMA, &sim->driving->friction_eta[s]));
        for (int d = 0; d < 3 && sim->driving->forced[s]; d++) {
            snprintf(key, sizeof key, "species.%s.force_%c", c->species[s].name, "xyz"[d]);
            LM_TRY(compile(sim, key, c->species[s].force[d], LM_PROGRAM_OF_X_Y_T, &sim->driving->force[s][d]));
        }
    }
    return LM_OK;
}

int lm_sim_make_driving(struct lm_sim *sim)
{
    static const char *const current[3] = {"external.current_x", "external.current_y", "external.current_z"},
                             *const e[3] = {"fields.ex", "fields.ey", "fields.ez"};
    const struct lm_config *c = sim->config;
    int any = lm_has_external_current(c) || lm_has_local_eta(c);
    sim->driving = calloc(1, sizeof *sim->driving);
    if (!sim->driving)
        return lm_fail(LM_FAILED, "not enough memory for the expressions of the driving");
    sim->driving->everywhere = c->fields.solver == LM_SOLVER_NONE;
    for (int d = 0; d < 3; d++) {
        LM_TRY(compile_timed(sim, current[d], c->external.current[d], &sim->driving->current[d]));
        LM_TRY(compile_timed(sim, e[d], c->fields.e[d], &sim->driving->e[d]));
    }
    if (lm_has_local_eta(c))
        LM_TRY(compile(sim, "fields.eta", c->fields.eta, LM_PROGRAM_OF_PLASMA, &sim->driving->eta));
    LM_TRY(compile_of_species(sim));
    for (int s = 0; s < c->species_count; s++)
        any |= sim->driving->forced[s] || sim->driving->has_friction[s];
    if (!any && !sim->driven) {
        free(sim->driving);
        sim->driving = NULL;
    }
    return LM_OK;
}

/* The current of the magnets, curl B_0, in the cells and in all ghosts that have neighbours. */
static void curl_of_magnets(const struct lm_sim *sim, double *const b[3], int component, double *out)
{
    const struct lm_grid *g = &sim->grid;
    const struct lm_ohm *o = &sim->backend->setup.ohm;
    const struct lm_view view = {b[0], b[1], b[2], g->stride};
    memset(out, 0, g->size * sizeof *out);
    for (int j = 1 - LM_GHOST; j < g->ny + LM_GHOST; j++)
        for (int i = 1 - LM_GHOST; i < g->nx + LM_GHOST; i++) {
            const long k = (long)lm_at(g, i, j);
            const struct lm_vector curl = lm_curl_b(lm_view_at(view, k), o->inv_dx, o->inv_dy);
            out[k] = component == 0 ? curl.x : component == 1 ? curl.y : curl.z;
        }
    lm_grid_wrap(g, out);
}

int lm_sim_put_magnets(struct lm_sim *sim, double *work)
{
    const struct lm_config *c = sim->config;
    const size_t size = sim->grid.size;
    double *const b[3] = {work, work + size, work + 2 * size}, *const j = work + 3 * size, *const coils = j + size;
    if (!lm_has_external_current(c))
        return LM_OK;
    memset(work, 0, 3 * size * sizeof *work);
    LM_TRY(lm_setup_add_magnets(c, b));
    for (int d = 0; d < 3; d++) {
        curl_of_magnets(sim, b, d, j);
        if (sim->driving->current[d].length == 0) {
            LM_TRY(lm_expr_fill(c->names, c->external.current[d], &sim->grid, lm_places_of_e[d], coils));
            for (size_t k = 0; k < size; k++)
                j[k] += coils[k];
        }
        LM_TRY(sim->backend->ops->put(sim->backend, LM_MAGNET_J + d, j));
    }
    return LM_OK;
}

int lm_sim_drive(struct lm_sim *sim, double t, int again)
{
    if (!sim->driving || (again && !sim->driven))
        return LM_OK;
    return sim->backend->ops->drive(sim->backend, t, sim->force);
}
