/* Defines the names that expressions may use: [const], [functions], and the sizes of the grid and of the step. Each may
 * use the others, in any order of the file, and sizes may be expressions too. So all are tried in turn until no more of
 * them can be defined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/text.h"
#include "base/units.h"
#include "config/reader.h"

enum kind { CONSTANT, FUNCTION, SIZE };

struct pending {
    enum kind kind;
    char name[LM_MAX_NAME];
    const char *section, *key, *text;
    int line, done;
};

enum { NX = 1, NY = 2, LX = 4, LY = 8, DT = 16, ALL = 31, B0 = 32, N0 = 64 };

/* Names that every configuration has: what they follow from. */
static const struct {
    const char *name;
    int needs;
} given[] = {{"nx", NX}, {"ny", NY}, {"lx", LX}, {"ly", LY}, {"dx", NX | LX}, {"dy", NY | LY}, {"dt", DT}};
enum { GIVEN = sizeof given / sizeof *given };

static const struct {
    const char *section, *key;
    int is;
} sizes[] = {{"grid", "nx", NX}, {"grid", "ny", NY},  {"grid", "lx", LX}, {"grid", "ly", LY},
             {"run", "dt", DT},  {"units", "b0", B0}, {"units", "n0", N0}};
enum { SIZES = sizeof sizes / sizeof *sizes };

struct definitions {
    struct lm_config_reader *r;
    int known; /* sizes whose values are known */
    int told;  /* bit k: names have given[k] */
    int has_units;
    int count;
    struct pending *list;
};

int lm_config_is_computed(const struct lm_key *key, const struct lm_ini_entry *e)
{
    return lm_key_is_number(key) && *e->value && !strchr("\"'", *e->value) && !lm_key_is_plain(key, e->value);
}

static double value_given(const struct lm_config *c, int k)
{
    const double of[GIVEN] = {c->grid.nx, c->grid.ny, c->grid.lx, c->grid.ly, 0, 0, c->run.dt};
    const struct lm_grid g = k == 4 || k == 5 ? lm_config_grid(c) : (struct lm_grid){.nx = 0};
    return k == 4 ? g.dx : k == 5 ? g.dy : of[k];
}

/* 1 when the configuration defines this name, or will do so. */
static int is_defined(const struct definitions *d, const char *name)
{
    for (int k = 0; k < d->count; k++)
        if (d->list[k].kind != SIZE && !strcmp(d->list[k].name, name))
            return 1;
    return 0;
}

/* SI units as numbers, where the configuration has [units]. So `500*km` is a length in d_i, and `400*km/s` a speed in
 * v_A. */
static void tell_units(struct definitions *d)
{
    const struct lm_config *c = d->r->config;
    if (d->has_units || (d->known & (B0 | N0)) != (B0 | N0))
        return;
    const struct lm_units u = lm_units_make(c->units.b0, c->units.n0);
    struct lm_si_unit units[LM_SI_UNITS];
    lm_si_units(&u, units);
    d->has_units = 1;
    for (int k = 0; k < LM_SI_UNITS; k++)
        if (!is_defined(d, units[k].name))
            lm_names_set_unit(c->names, units[k].name, d->r->unusable_values ? 1 : units[k].value);
}

/* Adds the names that follow from the sizes known so far. */
static void tell_sizes(struct definitions *d)
{
    tell_units(d);
    for (int k = 0; k < GIVEN; k++)
        if (!(d->told >> k & 1) && (given[k].needs & d->known) == given[k].needs) {
            lm_names_set_constant(d->r->config->names, given[k].name,
                                  d->r->unusable_values ? 1 : value_given(d->r->config, k));
            d->told |= 1 << k;
        }
}

static void add(struct definitions *d, enum kind kind, const char *section, const char *key, const char *text, int line)
{
    struct pending *p = &d->list[d->count++];
    *p = (struct pending){.kind = kind, .section = section, .key = key, .text = text, .line = line};
    if (kind != FUNCTION)
        snprintf(p->name, sizeof p->name, "%.*s", LM_MAX_NAME - 1, key);
    else if (lm_names_of_signature(key, p->name))
        p->name[0] = 0;
}

int lm_config_has_given(const char *name)
{
    for (int k = 0; k < GIVEN; k++)
        if (!strcmp(name, given[k].name))
            return 1;
    return 0;
}

static void report(struct definitions *d, struct pending *p, const char *wrong)
{
    lm_problems_add(&d->r->problems, p->line, "%s.%s: %s", p->section, p->key, wrong);
    d->r->unusable_values = 1;
    p->done = 1;
}

/* A plain 0 stands for a scale that is not given, as in run.ini. */
static int units_are_given(const struct definitions *d)
{
    const struct lm_ini_entry *of[] = {lm_ini_find(&d->r->ini, "units", "b0"), lm_ini_find(&d->r->ini, "units", "n0")};
    for (int k = 0; k < 2; k++) {
        char *end = NULL;
        if (of[k] && !of[k]->dropped && (strtod(of[k]->value, &end) != 0 || *end))
            return 1;
    }
    return 0;
}

/* The name of something else among the arguments of a function, wherever that stands; NULL: there is none. */
static const char *argument_taken(const struct definitions *d, const struct pending *p)
{
    const char *arguments = strchr(p->key, '(');
    for (int k = 0; arguments && k < GIVEN; k++)
        if (lm_text_mentions(arguments, given[k].name))
            return given[k].name;
    for (int k = 0; arguments && k < d->count; k++)
        if (d->list[k].kind != SIZE && d->list[k].name[0] && lm_text_mentions(arguments, d->list[k].name))
            return d->list[k].name;
    return NULL;
}

static void check_name(struct definitions *d, struct pending *p)
{
    char wrong[LM_MAX_NAME + 64];
    const char *argument = p->kind == FUNCTION ? argument_taken(d, p) : NULL;
    if (p->kind != SIZE && lm_config_has_given(p->name))
        snprintf(wrong, sizeof wrong, "the name \"%s\" is taken", p->name);
    else if (argument)
        snprintf(wrong, sizeof wrong, "the argument %s has the name of something else", argument);
    else
        return;
    report(d, p, wrong);
}

/* Sizes that are plain numbers are known; those that are wrong or missing have been reported. */
static void collect(struct definitions *d)
{
    struct lm_config *c = d->r->config;
    const int good[SIZES] = {c->grid.nx > 0, c->grid.ny > 0,  c->grid.lx > 0, c->grid.ly > 0,
                             c->run.dt > 0,  c->units.b0 > 0, c->units.n0 > 0};
    for (int k = 0; k < SIZES; k++) {
        const struct lm_ini_entry *e = lm_ini_find(&d->r->ini, sizes[k].section, sizes[k].key);
        const struct lm_key *key = &lm_keys[lm_keys_find(sizes[k].section, sizes[k].key)];
        if (e && !e->dropped && lm_config_is_computed(key, e)) {
            add(d, SIZE, sizes[k].section, sizes[k].key, e->value, e->line);
            continue;
        }
        const int is_absent = sizes[k].is > ALL && !units_are_given(d);
        d->known |= is_absent ? 0 : sizes[k].is;
        d->r->unusable_values |= !is_absent && !good[k];
    }
    for (int k = 0; k < c->const_count; k++)
        add(d, CONSTANT, "const", c->const_text[k].name, c->const_text[k].text, d->r->const_line[k]);
    for (int k = 0; k < c->function_count; k++)
        add(d, FUNCTION, "functions", c->function_text[k].name, c->function_text[k].text, d->r->function_line[k]);
    for (int k = 0; k < d->count; k++)
        check_name(d, &d->list[k]);
}

/* Without sizes, constants are parsed but not evaluated. */
static int define_constant(struct definitions *d, const struct pending *p)
{
    struct lm_names *names = d->r->config->names;
    int uniform;
    if (!d->r->unusable_values)
        return lm_names_define_constant(names, p->key, p->text);
    const int status = lm_expr_check(names, p->text, &uniform);
    return status ? status : lm_names_set_constant(names, p->key, 1);
}

#define NOT_IN_UNITS(unit, example)                                                                                    \
    "units of SI cannot be used in [units] itself, because [units] defines them: give the plain number in " unit       \
    " (" example ")"
static const char no_units[] = "units of SI need b0 and n0 of [units]";

static int define_size(struct definitions *d, const struct pending *p)
{
    double value;
    const struct lm_key *key = &lm_keys[lm_keys_find(p->section, p->key)];
    struct lm_names *names = d->r->config->names;
    if (!strcmp(p->section, "units"))
        lm_names_explain_units(names, !strcmp(p->key, "b0") ? NOT_IN_UNITS("T", "5e-9 is 5 nT")
                                                            : NOT_IN_UNITS("m^-3", "5e6 is 5 in a cm^3"));
    int status = lm_expr_value(names, p->text, &value);
    lm_names_explain_units(names, no_units);
    if (!status)
        status = lm_key_set_number(key, d->r->config, p->text, value);
    for (int k = 0; k < SIZES && !status; k++)
        if (!strcmp(sizes[k].key, p->key))
            d->known |= sizes[k].is;
    return status;
}

/* LM_BAD_INPUT: it cannot be defined yet, or not at all. */
static int define(struct definitions *d, struct pending *p)
{
    const int status = p->kind == CONSTANT   ? define_constant(d, p)
                       : p->kind == FUNCTION ? lm_names_define_function(d->r->config->names, p->key, p->text)
                                             : define_size(d, p);
    p->done = status == LM_OK;
    tell_sizes(d);
    return status;
}

/* The first unit of SI in the text of `p`, where [units] does not define it yet; NULL: there is none. [units] itself
 * does not wait for units. */
static const char *unit_awaited(const struct definitions *d, const struct pending *p)
{
    const struct lm_units none = lm_units_make(0, 0);
    struct lm_si_unit units[LM_SI_UNITS];
    if (d->has_units || !units_are_given(d) || !strcmp(p->section, "units"))
        return NULL;
    lm_si_units(&none, units);
    for (int k = 0; k < LM_SI_UNITS; k++)
        if (lm_text_mentions(p->text, units[k].name) && !is_defined(d, units[k].name) &&
            !lm_text_mentions(p->key, units[k].name)) /* an argument of a function */
            return units[k].name;
    return NULL;
}

/* The first name that is not defined in the text of `p`; NULL: there is none. dx stands for nx and lx. */
static const char *waits_for(const struct definitions *d, const struct pending *p)
{
    for (int k = 0; k < d->count; k++)
        if (!d->list[k].done && d->list[k].name[0] && lm_text_mentions(p->text, d->list[k].name))
            return d->list[k].name;
    for (int k = 0; k < GIVEN; k++)
        if (!(d->told >> k & 1) && lm_text_mentions(p->text, given[k].name))
            return given[k].name;
    return unit_awaited(d, p);
}

/* Definitions with an error of their own are reported. Those that wait for them are not; if all wait for one another,
 * that is the error of the first one. */
static void report_rest(struct definitions *d)
{
    /* Where the plain numbers of [units] are wrong, that has been reported. */
    int own = d->r->unusable_values && units_are_given(d) && !d->has_units;
    for (int k = 0; k < d->count; k++) {
        struct pending *p = &d->list[k];
        if (p->done || waits_for(d, p))
            continue;
        own = 1;
        if (define(d, p))
            report(d, p, lm_error());
    }
    for (int k = 0; k < d->count && !own; k++)
        if (!d->list[k].done) {
            own = 1;
            const struct pending *p = &d->list[k];
            const char *other = waits_for(d, p);
            lm_problems_add(&d->r->problems, p->line,
                            "%s.%s: needs %s, and %s cannot be defined before it: the definitions form a circle",
                            p->section, p->key, other, other);
        }
}

/* A function with as many arguments, of other names. */
static void define_placeholder(struct lm_names *names, const struct pending *p)
{
    static const char *const arguments[] = {"", "(a_)", "(a_, b_)", "(a_, b_, c_)", "(a_, b_, c_, d_)"};
    char signature[2 * LM_MAX_NAME];
    int count = strchr(p->key, '(') != NULL;
    for (const char *at = p->key; count > 0 && *at; at++)
        count += *at == ',';
    snprintf(signature, sizeof signature, "%s%s", p->name, arguments[count <= LM_MAX_ARGUMENTS ? count : 0]);
    lm_names_define_function(names, signature, "1");
}

/* So that expressions that use a name whose definition is wrong have no errors for that reason. */
static void define_placeholders(struct definitions *d)
{
    struct lm_names *names = d->r->config->names;
    d->known |= units_are_given(d) ? ALL | B0 | N0 : ALL;
    tell_sizes(d);
    for (int k = 0; k < d->count; k++)
        if (d->list[k].kind == FUNCTION)
            define_placeholder(names, &d->list[k]);
        else
            lm_names_set_constant(names, d->list[k].name, 1);
}

static void define_all(struct definitions *d)
{
    int before = -1, rest = 0;
    collect(d);
    tell_sizes(d);
    while (rest != before) {
        before = rest;
        rest = 0;
        for (int k = 0; k < d->count; k++)
            rest += !d->list[k].done && define(d, &d->list[k]);
    }
    if (rest > 0) {
        report_rest(d);
        d->r->unusable_values = 1;
    }
    if (d->r->unusable_values)
        define_placeholders(d);
}

static int is_size(const struct lm_ini_entry *e)
{
    for (int k = 0; k < SIZES; k++)
        if (!strcmp(e->section, sizes[k].section) && !strcmp(e->key, sizes[k].key))
            return 1;
    return 0;
}

static void set_computed(struct lm_config_reader *r, const struct lm_ini_entry *e)
{
    void *base;
    int *lines;
    double value;
    const struct lm_key *key = lm_config_target(r, e, &base, &lines);
    if (!key || is_size(e) || !lm_config_is_computed(key, e))
        return;
    int status = lm_expr_value(r->config->names, e->value, &value);
    if (!status)
        status = lm_key_set_number(key, base, e->value, value);
    if (status && !r->unusable_values)
        lm_problems_add(&r->problems, e->line, "%s.%s: %s", e->section, e->key, lm_error());
}

int lm_config_define_names(struct lm_config_reader *r)
{
    struct lm_config *c = r->config;
    struct definitions d = {.r = r};
    if (lm_names_new(&c->names))
        return LM_FAILED;
    lm_names_explain_units(c->names, no_units);
    d.list = calloc((size_t)(SIZES + c->const_count + c->function_count), sizeof *d.list);
    if (!d.list)
        return lm_fail(LM_FAILED, "out of memory");
    int status = lm_config_expand_data(r);
    lm_config_name_data(r);
    status = status ? status : lm_config_name_spectra(r);
    define_all(&d);
    free(d.list);
    if (status)
        return status;
    for (int k = 0; k < r->ini.count; k++)
        if (!r->ini.entry[k].dropped)
            set_computed(r, &r->ini.entry[k]);
    lm_names_limit_threads(c->names, c->run.threads);
    const int read = lm_config_read_data(r);
    return read ? read : lm_config_make_spectra(r);
}
