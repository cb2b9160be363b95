/* The arrays of the state and their names in a checkpoint. */
#include <stdio.h>
#include <string.h>

#include "backend/field_boundaries.h"
#include "sim/state.h"

void lm_sim_name_state(struct lm_sim *sim)
{
    static const char *const names[LM_STATE_FIELDS] = {"B_x",      "B_y", "B_z",   "push_E_x", "push_E_y",
                                                       "push_E_z", "n",   "J_i_x", "J_i_y",    "J_i_z"};
    static const char *const beyond[3] = {"B_x_beyond", "B_y_beyond", "B_z_beyond"};
    const int fields = sim->config->background_count;
    memcpy(sim->state_names, names, sizeof names);
    for (int f = 0; f < fields; f++) {
        snprintf(sim->background_names[f], sizeof sim->background_names[f], "background_%s",
                 sim->config->background[f].name);
        sim->state_names[LM_STATE_FIELDS + f] = sim->background_names[f];
    }
    memcpy(sim->state_names + LM_STATE_FIELDS + fields, beyond, sizeof beyond);
}

int lm_sim_state_bordered(const struct lm_sim *sim)
{
    return lm_has_field_walls(&sim->backend->setup) ? 3 : 0;
}

int lm_sim_state_fields(const struct lm_sim *sim)
{
    return LM_STATE_FIELDS + sim->config->background_count + lm_sim_state_bordered(sim);
}

int lm_sim_state_array(const struct lm_sim *sim, int k)
{
    const int field = k - LM_STATE_FIELDS, beyond = field - sim->config->background_count;
    return field < 0 ? k : beyond < 0 ? LM_BACKGROUND + field : LM_B + beyond;
}
