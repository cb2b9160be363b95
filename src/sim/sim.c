/* Creates and destroys a simulation. */
#include <stdlib.h>

#include "ranks/ranks.h"
#include "sim/boundaries.h"
#include "sim/driving.h"
#include "sim/setup.h"
#include "sim/state.h"

int lm_sim_create(const struct lm_config *config, struct lm_sim **out)
{
    struct lm_sim *sim = calloc(1, sizeof *sim);
    *out = NULL;
    if (!sim)
        return lm_fail(LM_FAILED, "not enough memory");
    struct lm_setup setup = lm_setup_of(config);
    sim->config = config;
    sim->grid = setup.grid;
    double *cost = NULL;
    int status = lm_sim_setup_surfaces(sim, &setup);
    if (!status)
        status = lm_sim_make_driving(sim);
    setup.driving = sim->driving;
    if (!status && lm_ranks_used() > 1) {
        cost = malloc(lm_setup_tiles(&setup) * sizeof *cost);
        status = cost ? lm_setup_cost(config, &setup, cost) : lm_fail(LM_FAILED, "not enough memory");
    }
    setup.cost = cost;
    if (!status)
        status = lm_backend_create(config->run.backend, &setup, &sim->backend);
    free(cost);
    if (status)
        lm_sim_destroy(&sim);
    else
        lm_sim_name_state(sim);
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
    for (int k = 0; k < LM_MAX_TRACKS; k++)
        free((*sim)->track[k].ion);
    free((*sim)->driving);
    free((*sim)->mask);
    free((*sim)->node);
    free((*sim)->obstacle);
    free((*sim)->cut);
    free((*sim)->factor);
    free((*sim)->clearance);
    lm_cuts_free(&(*sim)->cuts);
    free((*sim)->map_arrays.cos2);
    free((*sim)->map_arrays.energy);
    free((*sim)->map_arrays.faces);
    free(*sim);
    *sim = NULL;
}
