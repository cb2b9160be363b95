/* Collisions of ions with a gas in a configuration: the field, the table, the combinations of keys. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/reader.h"
#include "larmor/stopping.h"
#include "base/text.h"

static int line_of(const struct lm_config_reader *r, int species, const char *key)
{
    return r->named_key_line[LM_SPECIES][species][lm_keys_find(LM_SPECIES_SECTION, key)];
}

__attribute__((format(printf, 4, 5))) static void report(struct lm_config_reader *r, int species, const char *key,
                                                         const char *format, ...)
{
    char wrong[LM_MAX_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(wrong, sizeof wrong, format, args);
    va_end(args);
    lm_problems_add(&r->problems, line_of(r, species, key), "species.%s.%s: %s", r->config->species[species].name, key,
                    wrong);
}

static void find_field(struct lm_config_reader *r, int species)
{
    const struct lm_config *c = r->config;
    struct lm_species_config *s = &r->config->species[species];
    const char *best = NULL;
    int distance = lm_text_tolerance(s->gas) + 1;
    for (int f = 0; f < c->background_count; f++) {
        lm_text_nearer(s->gas, c->background[f].name, &best, &distance);
        s->gas_field = strcmp(s->gas, c->background[f].name) ? s->gas_field : f;
    }
    if (s->gas_field < 0) {
        if (best)
            report(r, species, "gas", "there is no [background.%s], did you mean %s?", s->gas, best);
        else
            report(r, species, "gas", "there is no [background.%s]", s->gas);
        return;
    }
    const struct lm_background_config *b = &c->background[s->gas_field];
    if (b->kind == LM_TRACER)
        report(r, species, "gas", "background.%s.kind is tracer; ions collide with a neutral_gas", s->gas);
    if (b->flow == LM_FLOW_ION || b->flow == LM_FLOW_ELECTRON)
        report(r, species, "gas", "background.%s.velocity must be prescribed for a gas that ions collide with", s->gas);
}

static void check_combinations(struct lm_config_reader *r, int species)
{
    const struct lm_species_config *s = &r->config->species[species];
    const struct {
        const char *key;
        int used;
    } of_gas[] = {{"stopping_table", s->stopping_table[0] != 0},
                  {"scattering_power", s->scattering_power > 0},
                  {"charge_exchange_cross_section", s->charge_exchange_cross_section > 0},
                  {"charge_exchange_rate", s->charge_exchange_rate > 0},
                  {"gas_drag_rate", s->gas_drag_rate > 0}};
    for (size_t k = 0; k < sizeof of_gas / sizeof *of_gas && !s->gas[0]; k++)
        if (of_gas[k].used)
            report(r, species, of_gas[k].key, "has a meaning only with gas");
    if (s->electron_heat_exchange_rate > 0 && r->config->electrons.closure != LM_EVOLVED)
        report(r, species, "electron_heat_exchange_rate",
               "needs electrons.closure = evolved: the heat goes to and comes from their pressure");
    if (s->gas[0] && s->drag_rate > 0)
        report(r, species, "drag_rate", "describes a medium at rest everywhere; with gas use gas_drag_rate");
    if (s->gas[0] && s->scattering_rate > 0)
        report(r, species, "scattering_rate", "describes a medium everywhere; with gas use scattering_power");
}

static int check_table(struct lm_config_reader *r, int species)
{
    struct lm_species_config *s = &r->config->species[species];
    if (lm_config_resolve_path(r, LM_SPECIES_SECTION, "stopping_table", s, line_of(r, species, "stopping_table")))
        return LM_OK;
    int status = lm_stopping_read(s->stopping_table, r->config->units.b0, r->config->units.n0, &s->stopping);
    if (status == LM_BAD_INPUT)
        report(r, species, "stopping_table", "%s", lm_error());
    if (s->stopping.scatters && s->scattering_power > 0)
        report(r, species, "scattering_power",
               "the table of stopping has a column of scattering too: use one of the two");
    return status == LM_FAILED ? status : LM_OK;
}

/* A neutral gas is a density, so it can gain a number only. */
static void check_gains(struct lm_config_reader *r, int field)
{
    const struct lm_background_config *b = &r->config->background[field];
    if (b->kind == LM_NEUTRAL_GAS && b->gains && b->gains != 1 + LM_GAS_NUMBER)
        lm_problems_add(&r->problems,
                        r->named_key_line[LM_BACKGROUNDS][field][lm_keys_find(LM_BACKGROUND_SECTION, "gains")],
                        "background.%s.gains: a neutral_gas is a density and gains a number only; for momentum and "
                        "energy use a tracer",
                        b->name);
}

int lm_config_check_gas(struct lm_config_reader *r)
{
    int status = LM_OK;
    for (int k = 0; k < r->config->background_count; k++)
        check_gains(r, k);
    for (int k = 0; k < r->config->species_count && !status; k++) {
        struct lm_species_config *s = &r->config->species[k];
        s->gas_field = -1;
        check_combinations(r, k);
        if (s->gas[0])
            find_field(r, k);
        if (s->stopping_table[0])
            status = check_table(r, k);
    }
    return status;
}
