/* Electrons with an evolved pressure: checks, and the background field of their entropy, which the program adds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/reader.h"

static const char NAME[] = "electrons";

static void report(struct lm_config_reader *r, const char *key, const char *wrong)
{
    lm_problems_add(&r->problems, r->key_line[lm_keys_find("electrons", key)], "electrons.%s: %s", key, wrong);
}

static void add_field(struct lm_config *c)
{
    struct lm_background_config *b = &c->background[c->background_count++];
    *b = (struct lm_background_config){.kind = LM_ENTROPY,
                                       .initial = "0",
                                       .flow = LM_FLOW_ENTROPY,
                                       .scheme = c->electrons.scheme,
                                       .single = c->electrons.single,
                                       .limited = 1,
                                       .most = INFINITY,
                                       .source = "0",
                                       .courant = c->electrons.courant};
    memcpy(b->name, NAME, sizeof NAME);
    for (int side = 0; side < LM_SIDES; side++)
        b->sides[side] = lm_background_side_of(c->boundary[side]);
}

void lm_config_add_electrons(struct lm_config_reader *r)
{
    struct lm_config *c = r->config;
    if (c->electrons.closure != LM_EVOLVED)
        return;
    if (c->fields.solver == LM_SOLVER_NONE)
        report(r, "closure", "evolved has a meaning only with fields.solver = hybrid");
    if (!(c->electrons.gamma > 1))
        report(r, "gamma", "closure = evolved needs gamma > 1: the energy density is p_e / (gamma - 1)");
    for (int k = 0; k < c->background_count; k++)
        if (!strcmp(c->background[k].name, NAME))
            report(r, "closure", "evolved has a field [background.electrons] of its own: give yours another name");
    if (c->background_count == LM_MAX_BACKGROUNDS)
        report(r, "closure", "evolved takes one of the 8 background fields: leave one out");
    else if (r->problems.count == 0)
        add_field(c);
}
