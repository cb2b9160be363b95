/* Sources of ions in a configuration: the species and the gas that they name. */
#include <stdio.h>
#include <string.h>

#include "config/reader.h"
#include "base/text.h"

static void report(struct lm_config_reader *r, const struct lm_scope *scope, const char *name, const char *wrong)
{
    const int line = scope->lines[lm_keys_find(LM_IONISATION_SECTION, name)];
    lm_problems_add(&r->problems, line ? line : scope->line, "%s.%s: %s", scope->section, name, wrong);
}

/* The number of the item with this name; -1: there is none, and that is reported. */
static int find(struct lm_config_reader *r, const struct lm_scope *scope, const char *key, enum lm_named_kind kind,
                const char *name)
{
    const struct lm_named *named = &lm_named[kind];
    const char *best = NULL;
    int distance = lm_text_tolerance(name) + 1;
    char wrong[4 * LM_MAX_NAME + 64];
    for (int k = 0; k < lm_named_count(named, r->config); k++) {
        const char *candidate = (const char *)r->config + lm_named_offset(named, k);
        if (!strcmp(candidate, name))
            return k;
        lm_text_nearer(name, candidate, &best, &distance);
    }
    snprintf(wrong, sizeof wrong, "there is no [%s.%s]%s%s%s", named->kind, name, best ? ", did you mean " : "",
             best ? best : "", best ? "?" : "");
    report(r, scope, key, wrong);
    return -1;
}

/* 1 also for a key whose name is misspelt. */
static int is_set(const struct lm_config_reader *r, const struct lm_scope *scope, const char *name)
{
    return scope->lines[lm_keys_find(LM_IONISATION_SECTION, name)] || !lm_config_is_missing(r, scope->section, name);
}

static void check_gas(struct lm_config_reader *r, const struct lm_scope *scope, struct lm_ionisation_config *s)
{
    s->from = find(r, scope, "gas", LM_BACKGROUNDS, s->gas);
    if (s->from < 0)
        return;
    const struct lm_background_config *gas = &r->config->background[s->from];
    if (gas->kind == LM_TRACER)
        report(r, scope, "gas", "the field is not a gas: it needs kind = neutral_gas");
    const char *absent = !s->drift[0][0] ? "vx" : !s->drift[1][0] ? "vy" : NULL;
    if (absent && (gas->flow == LM_FLOW_ION || gas->flow == LM_FLOW_ELECTRON))
        lm_problems_add(&r->problems, scope->line,
                        "%s.%s: required and not given: the %s carry the gas, and it has no velocity of its own",
                        scope->section, absent, gas->flow == LM_FLOW_ION ? "ions" : "electrons");
}

void lm_config_check_ionisation(struct lm_config_reader *r, const struct lm_scope *scope)
{
    if (scope->kind != &lm_named[LM_IONISATIONS])
        return;
    struct lm_ionisation_config *s = scope->base;
    s->from = -1;
    if (s->species[0])
        s->into = find(r, scope, "species", LM_SPECIES, s->species);
    if (!is_set(r, scope, "rate") && !is_set(r, scope, "gas") && !is_set(r, scope, "frequency"))
        lm_problems_add(&r->problems, scope->line, "%s.rate: required and not given (or gas and frequency)",
                        scope->section);
    else if (!is_set(r, scope, "rate") && !is_set(r, scope, "gas"))
        report(r, scope, "frequency", "needs gas as well");
    else if (!is_set(r, scope, "rate") && !is_set(r, scope, "frequency"))
        report(r, scope, "gas", "needs frequency as well");
    if (s->gas[0])
        check_gas(r, scope, s);
}
