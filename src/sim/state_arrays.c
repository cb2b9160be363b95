/* The arrays of the state and their names in a checkpoint. */
#include <stdio.h>
#include <string.h>

#include "backend/field_boundaries.h"
#include "sim/state.h"

/* The numbers of the first array of friction, and of the first one beyond walls. Background fields, from number
 * LM_STATE_FIELDS on, are before them. */
static int first_friction(const struct lm_sim *sim)
{
    return LM_STATE_FIELDS + sim->config->background_count;
}

static int first_strip(const struct lm_sim *sim)
{
    return first_friction(sim) + LM_FRICTION_STATE * sim->backend->setup.friction_species;
}

static int first_beyond(const struct lm_sim *sim)
{
    return first_strip(sim) + lm_radiating_sides(&sim->backend->setup);
}

void lm_sim_name_state(struct lm_sim *sim)
{
    static const char *const names[LM_STATE_FIELDS] = {"B_x",
                                                       "B_y",
                                                       "B_z",
                                                       "void_E_x",
                                                       "void_E_y",
                                                       "void_E_z",
                                                       "void",
                                                       "push_E_x",
                                                       "push_E_y",
                                                       "push_E_z",
                                                       "push_B_x",
                                                       "push_B_y",
                                                       "push_B_z",
                                                       "push_pressure_x",
                                                       "push_pressure_y",
                                                       "n",
                                                       "J_i_x",
                                                       "J_i_y",
                                                       "J_i_z"},
                             *const of_friction[LM_FRICTION_STATE] = {
                                 "friction_E_x", "friction_E_y", "friction_E_z", "charge", "J_x", "J_y", "J_z"};
    static const char *const beyond[LM_BORDERED_FIELDS] = {"B_x_beyond",      "B_y_beyond",      "B_z_beyond",
                                                           "void_E_x_beyond", "void_E_y_beyond", "void_E_z_beyond"};
    memcpy(sim->state_names, names, sizeof names);
    for (int f = 0; f < sim->config->background_count; f++) {
        snprintf(sim->background_names[f], sizeof sim->background_names[f], "background_%s",
                 sim->config->background[f].name);
        sim->state_names[LM_STATE_FIELDS + f] = sim->background_names[f];
    }
    for (int k = 0; k < LM_FRICTION_STATE * sim->backend->setup.friction_species; k++) {
        const int which = k / LM_FRICTION_STATE, of = k % LM_FRICTION_STATE;
        char *name = sim->friction_names[which][of];
        snprintf(name, sizeof sim->friction_names[which][of], "%s_%s", of_friction[of],
                 sim->config->species[lm_friction_species(&sim->backend->setup, which)].name);
        sim->state_names[first_friction(sim) + k] = name;
    }
    static const char *const strips[LM_SIDES] = {"strip_x_min", "strip_x_max", "strip_y_min", "strip_y_max"};
    for (int k = 0; k < lm_radiating_sides(&sim->backend->setup); k++)
        sim->state_names[first_strip(sim) + k] = strips[lm_radiating_side(&sim->backend->setup, k)];
    memcpy(sim->state_names + first_beyond(sim), beyond, sizeof beyond);
}

int lm_sim_state_bordered(const struct lm_sim *sim)
{
    return lm_has_field_walls(&sim->backend->setup) ? LM_BORDERED_FIELDS : 0;
}

int lm_sim_state_fields(const struct lm_sim *sim)
{
    return first_beyond(sim) + lm_sim_state_bordered(sim);
}

int lm_sim_state_strip(const struct lm_sim *sim, int k)
{
    return k >= first_strip(sim) && k < first_beyond(sim)
               ? (int)lm_radiating_side(&sim->backend->setup, k - first_strip(sim))
               : -1;
}

int lm_sim_state_array(const struct lm_sim *sim, int k)
{
    const int background = k - LM_STATE_FIELDS, friction = k - first_friction(sim), beyond = k - first_beyond(sim);
    if (background < 0)
        return k;
    if (friction < 0)
        return LM_BACKGROUND + background;
    if (lm_sim_state_strip(sim, k) >= 0)
        return -1;
    if (beyond < 0)
        return lm_friction_array(lm_friction_species(&sim->backend->setup, friction / LM_FRICTION_STATE),
                                 friction % LM_FRICTION_STATE);
    return LM_B + beyond;
}
