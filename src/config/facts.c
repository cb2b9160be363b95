/* Facts that follow from the configuration alone. */
#include "base/expr.h"
#include "config/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- species --- */

int lm_is_ionised(const struct lm_config *c, int species)
{
    for (int k = 0; k < c->ionisation_count; k++)
        if (c->ionisation[k].into == species)
            return 1;
    return 0;
}

int lm_collides(const struct lm_species_config *s)
{
    return s->gas_field >= 0 || s->drag_rate > 0 || s->scattering_rate > 0 || s->lost_below_energy > 0 ||
           lm_limits_pitch(s);
}

int lm_scatters(const struct lm_config *c, int species)
{
    const struct lm_species_config *s = &c->species[species];
    return s->scattering_rate > 0 || s->scattering_power > 0 || s->stopping.scatters;
}

int lm_exchanges_charge(const struct lm_species_config *s)
{
    return s->charge_exchange_cross_section > 0 || s->charge_exchange_rate > 0;
}

int lm_limits_pitch(const struct lm_species_config *s)
{
    return s->lost_below_pitch > 0 || s->lost_above_pitch < 180;
}

double lm_collision_time(const struct lm_config *c, int species)
{
    return c->run.dt * (double)c->species[species].collide_every;
}

int lm_entropy_field(const struct lm_config *c)
{
    return c->electrons.closure == LM_EVOLVED ? c->background_count - 1 : -1;
}

int lm_is_zero(const char *expression)
{
    return strcmp(expression, "0") == 0;
}

int lm_has_local_eta(const struct lm_config *c)
{
    int uniform;
    return c->fields.solver == LM_SOLVER_HYBRID && lm_expr_check(c->names, c->fields.eta, &uniform) != LM_OK;
}

int lm_has_friction(const struct lm_species_config *s)
{
    return !lm_is_zero(s->eta);
}

int lm_is_forced(const struct lm_species_config *s)
{
    return !lm_is_zero(s->force[0]) || !lm_is_zero(s->force[1]) || !lm_is_zero(s->force[2]);
}

int lm_has_magnets(const struct lm_config *c)
{
    return !lm_is_zero(c->external.az) || !lm_is_zero(c->external.bz);
}

int lm_has_external_current(const struct lm_config *c)
{
    int any = lm_has_magnets(c);
    for (int d = 0; d < 3; d++)
        any |= !lm_is_zero(c->external.current[d]);
    return any;
}

int lm_background_has_source(const struct lm_background_config *b)
{
    return strcmp(b->source, "0") != 0;
}

int lm_background_is_sourced(const struct lm_config *c, int field)
{
    const struct lm_background_config *b = &c->background[field];
    int any = lm_background_has_source(b) || b->gains || b->kind == LM_ENTROPY;
    for (int k = 0; k < c->ionisation_count; k++)
        any |= c->ionisation[k].from == field;
    return any;
}

int lm_background_is_open(const struct lm_background_config *b, int side)
{
    return b->sides[side] == LM_BACKGROUND_INFLOW || b->sides[side] == LM_BACKGROUND_OPEN;
}

/* --- sides --- */

int lm_has_inflow(const struct lm_config *c)
{
    int any = 0;
    for (int side = 0; side < LM_SIDES; side++)
        any |= c->boundary[side] == LM_INFLOW;
    return any;
}

int lm_is_crossed_by_fields(const struct lm_config *c, int side)
{
    return c->fields.solver == LM_SOLVER_HYBRID && lm_fields_cross(c->boundary_fields[side]);
}

int lm_is_crossed_by_electrons(const struct lm_config *c, int side)
{
    return c->fields.solver == LM_SOLVER_HYBRID && lm_ions_cross(c->boundary[side]) &&
           (c->electrons.closure == LM_EVOLVED || c->electrons.temperature != 0);
}

int lm_has_electron_surfaces(const struct lm_config *c)
{
    int any = c->body_count > 0;
    for (int side = 0; side < LM_SIDES; side++)
        any |= (c->boundary[side] != LM_PERIODIC && !lm_ions_cross(c->boundary[side])) ||
               lm_is_absorbing_wall(c->boundary[side], c->boundary_fields[side]);
    return any && lm_entropy_field(c) >= 0;
}

void lm_why_fields(const struct lm_config *c, int side, char out[LM_WHY_FIELDS])
{
    const double speed = c->boundary_speed[side];
    out[0] = 0;
    if (c->boundary_by_flow[side] != LM_CHANGED_BY_FLOW)
        return;
    if (c->boundary[side] != LM_INFLOW && isinf(speed))
        snprintf(out, LM_WHY_FIELDS, "cold plasma flows out");
    else if (c->boundary[side] != LM_INFLOW)
        snprintf(out, LM_WHY_FIELDS, "plasma flows out at %.3g times its thermal speed", speed);
    else if (speed > 0)
        snprintf(out, LM_WHY_FIELDS, "plasma flows in at %.3g times the speed of fast waves", speed);
    else
        snprintf(out, LM_WHY_FIELDS, "the mean flow there is not inwards");
}

/* --- accounts of the ledger --- */

const char *const lm_boundary_names[] = {"periodic", "reflecting", "absorbing", "thermal", "inflow"};

void lm_surface_name(const struct lm_config *c, int surface, char out[LM_SURFACE_NAME])
{
    if (surface < LM_SIDES)
        snprintf(out, LM_SURFACE_NAME, "%s", lm_side_names[surface]);
    else
        snprintf(out, LM_SURFACE_NAME, "body_%s", c->body[surface - LM_SIDES].name);
}

int lm_channel_is_open(const struct lm_config *c, int species, int channel)
{
    const struct lm_species_config *s = &c->species[species];
    const int body = channel - LM_SIDES;
    if (channel < LM_SIDES)
        return lm_ions_cross(c->boundary[channel]);
    if (channel < LM_SURFACES)
        return body < c->body_count && c->body[body].particles == LM_ABSORBING;
    if (channel == LM_ENERGY_STOPPED)
        return s->lost_below_energy > 0 || s->stopping_table[0];
    if (channel == LM_THETA_BOUNDARY)
        return lm_limits_pitch(s);
    return lm_scatters(c, species);
}

int lm_accounts(const struct lm_config *c, int species, struct lm_account_of out[LM_ACCOUNTS])
{
    int n = 0;
    for (int channel = 0; channel < LM_CHANNELS; channel++) {
        if (!lm_channel_is_open(c, species, channel))
            continue;
        out[n] = (struct lm_account_of){.kind = LM_LEAVES, .channel = channel};
        if (channel < LM_SURFACES)
            lm_surface_name(c, channel, out[n].name);
        else
            snprintf(out[n].name, sizeof out[n].name, "%s", lm_channel_names[channel]);
        n++;
    }
    for (int side = 0; side < LM_SIDES; side++)
        if (c->boundary[side] == LM_INFLOW) {
            out[n] = (struct lm_account_of){.kind = LM_ENTERS, .channel = side};
            lm_surface_name(c, side, out[n++].name);
        }
    if (lm_is_ionised(c, species))
        out[n++] = (struct lm_account_of){"ionised", LM_ENTERS, LM_IONISED};
    if (c->species[species].gas_field >= 0)
        out[n++] = (struct lm_account_of){"to_gas", LM_TO_GAS, 0};
    if (lm_exchanges_charge(&c->species[species]))
        out[n++] = (struct lm_account_of){"charge_exchanged", LM_EXCHANGED, 0};
    if (c->species[species].electron_heat_exchange_rate > 0)
        out[n++] = (struct lm_account_of){"to_electrons", LM_TO_ELECTRONS, 0};
    return n;
}

int lm_accounts_any(const struct lm_config *c)
{
    struct lm_account_of list[LM_ACCOUNTS];
    int n = 0;
    for (int s = 0; s < c->species_count; s++)
        n += lm_accounts(c, s, list);
    return n > 0;
}

const struct lm_account *lm_account_in(const struct lm_ledger *l, const struct lm_account_of *a)
{
    return a->kind == LM_ENTERS      ? &l->injected[a->channel]
           : a->kind == LM_LEAVES    ? &l->lost[a->channel]
           : a->kind == LM_TO_GAS    ? &l->to_gas
           : a->kind == LM_EXCHANGED ? &l->exchanged
                                     : &l->to_electrons;
}
