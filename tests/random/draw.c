#include "draw.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/physics/numerics/hash.h"

static uint64_t next(struct draw *d)
{
    d->random += 0x9e3779b97f4a7c15ull;
    return lm_mix(d->random);
}

double draw_between(struct draw *d, double low, double high)
{
    return low + (high - low) * (double)(next(d) >> 11) * 0x1p-53;
}

int draw_whole(struct draw *d, int low, int high)
{
    return low + (int)(next(d) % (uint64_t)(high - low + 1));
}

int draw_chance(struct draw *d, double probability)
{
    return draw_between(d, 0, 1) < probability;
}

/* Draws a number for {a:b} at `text`, and advances `text` beyond it. */
static double number_of(struct draw *d, const char **text)
{
    char *end;
    const double low = strtod(*text + 1, &end), high = strtod(end + 1, &end);
    *text = end + 1;
    return draw_between(d, low, high);
}

static const char *choose_template(struct draw *d, const char *templates)
{
    int count = 1;
    for (const char *c = templates; *c; c++)
        count += *c == '|';
    for (int skip = draw_whole(d, 0, count - 1); skip > 0; skip--)
        templates = strchr(templates, '|') + 1;
    return templates;
}

void draw_template(struct draw *d, const char *templates, char *out)
{
    const char *from = choose_template(d, templates);
    size_t n = 0;
    while (*from && *from != '|' && n < DRAFT_VALUE - 1)
        if (*from == '{')
            n += (size_t)snprintf(out + n, DRAFT_VALUE - n, "%.4g", number_of(d, &from));
        else
            out[n++] = *from++;
    out[n < DRAFT_VALUE ? n : DRAFT_VALUE - 1] = '\0';
}

/* --- values of keys without a rule --- */

static void any_choice(struct draw *d, const struct lm_key *key, char *out)
{
    int count = 0;
    while (key->choices[count].name)
        count++;
    snprintf(out, DRAFT_VALUE, "%s", key->choices[draw_whole(d, 0, count - 1)].name);
}

static double inside(const struct lm_key *key, double value)
{
    const double low = key->low == LM_POSITIVE ? 1e-6 : key->low;
    return fmin(fmax(value, low), key->high);
}

static void any_real(struct draw *d, const struct lm_key *key, char *out)
{
    const double initial = key->initial ? strtod(key->initial, NULL) : 1;
    const double near = initial != 0 ? initial * exp2(draw_between(d, -1, 1)) : draw_between(d, -0.1, 0.2);
    snprintf(out, DRAFT_VALUE, "%.6g", inside(key, near));
}

static void any_whole(struct draw *d, const struct lm_key *key, char *out)
{
    const double initial = key->initial ? strtod(key->initial, NULL) : 1;
    snprintf(out, DRAFT_VALUE, "%.15g", inside(key, initial + draw_whole(d, -2, 3)));
}

static void any_expression(struct draw *d, const struct lm_key *key, char *out)
{
    static const char positive[] = "{0.1:1}|{0.5:1}+{0:0.4}*cos(2*pi*x/lx)|{0.5:1}+{0:0.4}*sin(2*pi*y/ly)"
                                   "|{0.1:1}*(x<lx/2)|{0.1:1}*exp(-((x-lx/2)^2+(y-ly/2)^2)/{0.2:3})",
                      any[] = "{-0.5:0.5}|{-0.5:0.5}*cos(2*pi*x/lx)|{-0.5:0.5}*sin(2*pi*y/ly)|{-0.5:0.5}*(y>ly/2)"
                              "|{-0.5:0.5}+{0:0.4}*cos(2*pi*(x/lx+y/ly))";
    char place[DRAFT_VALUE], time[DRAFT_VALUE] = "", constant[DRAFT_VALUE] = "";
    draw_template(d, key->low >= 0 ? positive : any, place);
    if (key->timed && draw_chance(d, 0.4))
        draw_template(d, "*(1+{0:1}*sin({1:30}*t))|*({20:60}*t<1)", time);
    if (d->plan.has_constant && draw_chance(d, 0.3))
        snprintf(constant, sizeof constant, "*c0");
    if (time[0] || constant[0])
        snprintf(out, DRAFT_VALUE, "(%.120s)%.40s%.10s", place, time, constant);
    else
        snprintf(out, DRAFT_VALUE, "%s", place);
}

/* Returns 0 when no value is known for such a key. */
static int any_value(struct draw *d, const struct lm_key *key, char *out)
{
    switch (key->kind) {
    case LM_KEY_CHOICE:
        any_choice(d, key, out);
        return 1;
    case LM_KEY_REAL:
        any_real(d, key, out);
        return 1;
    case LM_KEY_INT:
    case LM_KEY_LONG:
        any_whole(d, key, out);
        return 1;
    case LM_KEY_EXPR:
        any_expression(d, key, out);
        return 1;
    case LM_KEY_SEED:
        snprintf(out, DRAFT_VALUE, "%llu", (unsigned long long)(next(d) >> 24));
        return 1;
    default:
        return 0;
    }
}

/* --- which keys are given --- */

static int is_required(const struct lm_key *key)
{
    return !key->initial && !key->shown;
}

/* Chooses one variant of the key's family for the whole section. */
static int has_chosen(struct draw *d, struct draw_scope *s, const struct lm_key *key)
{
    int variants[16], count = 0;
    if (key->family == LM_ALONE)
        return 1;
    for (int k = 0; k < lm_key_count && count < 16; k++) {
        const struct lm_key *other = &lm_keys[k];
        const int is_other = other->family != key->family || strcmp(other->section, key->section) != 0;
        int known =
            is_other || !draw_allows(d, other->variant) || lm_key_meaning(other, d->shadow, s->base) != LM_MEANINGFUL;
        for (int v = 0; v < count; v++)
            known |= variants[v] == other->variant;
        if (!known)
            variants[count++] = other->variant;
    }
    if (!s->variant[key->family] && count > 0)
        s->variant[key->family] = variants[draw_whole(d, 0, count - 1)];
    return s->variant[key->family] == key->variant;
}

static int is_given(struct draw *d, const struct draw_scope *s, const struct lm_key *key, const struct draw_rule *rule,
                    char *out)
{
    const double chance = rule && rule->percent ? 0.01 * rule->percent : d->chance;
    if (rule && rule->never)
        return 0;
    if (!is_required(key) && !draw_chance(d, chance))
        return 0;
    if (rule && rule->draw)
        return rule->draw(d, s, key, out);
    if (!rule || !rule->values)
        return any_value(d, key, out);
    draw_template(d, rule->values, out);
    return 1;
}

static void draw_key(struct draw *d, struct draw_scope *s, const struct lm_key *key)
{
    char value[DRAFT_VALUE];
    const struct draw_rule *rule = draw_rule_of(key);
    if (lm_key_meaning(key, d->shadow, s->base) != LM_MEANINGFUL || !has_chosen(d, s, key))
        return;
    if (!is_given(d, s, key, rule, value))
        return;
    draft_set(d->draft, s->table ? s->section : key->section, key->name, value);
    if (key->kind == LM_KEY_CHOICE)
        lm_key_set(key, s->base, value);
}

static int is_in(const struct draw_scope *s, const struct lm_key *key)
{
    int named = 0;
    for (int k = 0; k < LM_NAMED_KINDS; k++)
        named |= !strcmp(key->section, lm_named[k].section);
    return s->table ? !strcmp(key->section, s->table) : !named;
}

static void set_defaults(struct draw_scope *s)
{
    for (int k = 0; k < lm_key_count; k++)
        if (is_in(s, &lm_keys[k]) && lm_keys[k].initial)
            lm_key_set(&lm_keys[k], s->base, lm_keys[k].initial);
}

/* Choices are drawn first, as they decide which other keys have a meaning. */
static void draw_scope(struct draw *d, struct draw_scope *s, int choices)
{
    for (int k = 0; k < lm_key_count; k++)
        if (is_in(s, &lm_keys[k]) && (lm_keys[k].kind == LM_KEY_CHOICE) == choices)
            draw_key(d, s, &lm_keys[k]);
}

enum { MOST_SCOPES = 1 + LM_NAMED_KINDS * LM_MAX_NAMED };

static int make_scopes(struct draw *d, struct draw_scope *scopes)
{
    int count = 0;
    scopes[count++] = (struct draw_scope){.base = d->shadow};
    for (int kind = 0; kind < LM_NAMED_KINDS; kind++)
        for (int k = 0; k < d->plan.items[kind]; k++) {
            const struct lm_named *named = &lm_named[kind];
            struct draw_scope *s = &scopes[count++];
            *s = (struct draw_scope){.table = named->section, .item = k};
            s->base = (char *)d->shadow + lm_named_offset(named, k);
            snprintf(s->section, sizeof s->section, "%s.%c%d", named->kind, named->kind[0], k);
        }
    return count;
}

static void draw_constant(struct draw *d)
{
    char value[DRAFT_VALUE];
    if (!d->plan.has_constant)
        return;
    draw_template(d, "{0.5:2}|1+{0:0.5}*dt|{0.4:1}*pi", value);
    draft_set(d->draft, "const", "c0", value);
}

void draw_case(uint64_t seed, int index, int attempt, struct draft *out)
{
    static struct draw_scope scopes[MOST_SCOPES];
    struct draw d = {.draft = out, .shadow = calloc(1, sizeof *d.shadow)};
    if (!d.shadow) {
        fputs("not enough memory for a configuration\n", stderr);
        exit(2);
    }
    d.random = lm_mix(lm_mix(lm_mix(seed) ^ (uint64_t)index) ^ (uint64_t)attempt);
    *out = (struct draft){.count = 0};
    d.chance = draw_chance(&d, 0.3) ? 0.05 : draw_between(&d, 0.1, 0.5);
    draw_plan(&d);
    draw_constant(&d);
    const int count = make_scopes(&d, scopes);
    for (int k = 0; k < count; k++)
        set_defaults(&scopes[k]);
    for (int k = 0; k < count; k++) {
        if (scopes[k].table) /* a section without any key has a header too */
            draft_set(out, scopes[k].section, "", "");
        draw_scope(&d, &scopes[k], 1);
    }
    draw_resolve(&d);
    for (int k = 0; k < count; k++)
        draw_scope(&d, &scopes[k], 0);
    free(d.shadow);
}
