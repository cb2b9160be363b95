#include "output/energy_budget.h"

#include <math.h>

#include "config/facts.h"

static double energy_of(const struct lm_config *c, const struct lm_sim_status *now, int species,
                        const struct lm_account *a)
{
    double value[LM_LEDGER_VALUES];
    lm_ledger_values(&now->species[species].ledger, a, now->species[species].weight, c->species[species].mass, value);
    return value[LM_LEDGER_VALUES - 1];
}

static void add(double brought, struct lm_energy_budget *out)
{
    *(brought > 0 ? &out->brought : &out->taken) += fabs(brought);
}

/* What ions give to the electrons stays in the plasma. An ion that has stopped in a gas is in two accounts: it leaves
 * with its energy, which the gas gets. */
static void add_species(const struct lm_config *c, const struct lm_sim_status *now, int species,
                        struct lm_energy_budget *out)
{
    const struct lm_ledger *l = &now->species[species].ledger;
    double to_gas = 0;
    for (int way = 0; way < LM_ENTRANCES; way++)
        out->brought += energy_of(c, now, species, &l->injected[way]);
    for (int channel = 0; channel < LM_CHANNELS; channel++)
        out->taken += energy_of(c, now, species, &l->lost[channel]);
    if (c->species[species].gas_field >= 0)
        to_gas = energy_of(c, now, species, &l->to_gas) - energy_of(c, now, species, &l->lost[LM_ENERGY_STOPPED]);
    add(-to_gas, out);
}

void lm_energy_budget_find(const struct lm_config *config, const struct lm_sim_status *now,
                           const struct lm_totals *totals, const struct lm_references *references,
                           struct lm_energy_budget *out)
{
    double off2 = 0, doubtful = 0;
    *out = (struct lm_energy_budget){0};
    for (int s = 0; s < config->species_count; s++)
        add_species(config, now, s, out);
    for (int side = 0; side < LM_SIDES; side++) {
        add(now->side[side].fields, out);
        add(now->side[side].electrons, out);
        off2 += pow(now->side[side].off, 2);
        doubtful += now->side[side].doubtful;
    }
    add(now->electrons_through_surfaces, out);
    out->unexplained = totals->energy - references->energy - out->brought + out->taken;
    out->reference = references->scale + out->brought;
    out->uncertain = off2 + doubtful > 0 ? (3 * sqrt(off2) + doubtful) / out->reference : 0;
    out->share = out->unexplained == 0 ? 0 : out->unexplained / out->reference;
}
