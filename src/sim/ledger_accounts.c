/* Which accounts of the ledger a run has, and what they are called. */
#include <stdio.h>

#include "larmor/sim.h"

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
        return c->boundary[channel] == LM_ABSORBING || c->boundary[channel] == LM_INFLOW;
    if (channel < LM_SURFACES)
        return body < c->body_count && c->body[body].particles == LM_ABSORBING;
    if (channel == LM_ENERGY_STOPPED)
        return s->energy_cutoff > 0 || s->stopping_table[0];
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
    if (c->species[species].electron_exchange > 0)
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

int64_t lm_sim_residual(const struct lm_sim *sim, int species)
{
    return (int64_t)(lm_ledger_present(&sim->ledger[species]) - sim->count[species]);
}
