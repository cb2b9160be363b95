/* What a configuration means as a whole: required keys, combinations, derived values, expressions on the grid. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config_reader.h"
#include "expr_scan.h"

static int given(const struct lm_config_reader *r, const char *section, const char *name)
{
    return r->given[lm_keys_find(section, name)];
}

static void check_required(struct lm_config_reader *r)
{
    for (int k = 0; k < lm_key_count; k++) {
        const struct lm_key *key = &lm_keys[k];
        if (!key->initial && !key->shown && !r->given[k])
            lm_problems_add(&r->problems, LM_WHOLE_FILE, "%s.%s: required and not given", key->section, key->name);
    }
    if (!given(r, "run", "t_end") && !given(r, "run", "steps"))
        lm_problems_add(&r->problems, LM_WHOLE_FILE, "run.t_end: required and not given (or run.steps)");
    if (r->config->species_count == 0 && !r->bad_species)
        lm_problems_add(&r->problems, LM_WHOLE_FILE, "no ion species: a [species.NAME] section is required");
}

/* Keys of one family that do not go together, in the run (species = NULL) or in one species. */
static void check_families(struct lm_config_reader *r, const int *lines, const struct lm_species_config *species)
{
    for (int k = 0; k < lm_key_count; k++)
        for (int n = 0; n < k; n++) {
            const struct lm_key *a = &lm_keys[k], *b = &lm_keys[n];
            if (!lines[k] || !lines[n] || a->family == LM_ALONE || a->family != b->family || a->variant == b->variant)
                continue;
            lm_problems_add(&r->problems, lines[k], "%s%s.%s: not together with %s", species ? "species." : "",
                            species ? species->name : a->section, a->name, b->name);
            return;
        }
}

/* Periodic sides come in pairs, and the field solver knows no others yet. */
static void check_sides(struct lm_config_reader *r)
{
    const struct lm_config *c = r->config;
    for (int side = 0; side < LM_SIDES; side++) {
        const char *name = lm_side_names[side], *opposite = lm_side_names[side ^ 1];
        int line = given(r, "boundary", name);
        if (c->boundary[side] == LM_PERIODIC)
            continue;
        if (c->boundary[side ^ 1] == LM_PERIODIC)
            lm_problems_add(&r->problems, line, "boundary.%s: the side opposite is periodic: set boundary.%s as well",
                            name, opposite);
        else if (c->fields.solver != LM_SOLVER_NONE)
            lm_problems_add(&r->problems, line,
                            "boundary.%s: only with fields.solver = none: the field solver needs periodic sides", name);
        else
            continue;
        return;
    }
}

static void check_meaning(struct lm_config_reader *r)
{
    const struct lm_config *c = r->config;
    for (int k = 0; k < lm_key_count; k++) {
        const struct lm_key *key = &lm_keys[k];
        const char *needs = NULL;
        if (key->when == LM_IF_POLYTROPIC && c->electrons.closure != LM_POLYTROPIC)
            needs = "closure = polytropic";
        if (key->when == LM_IF_NO_SOLVER && c->fields.solver != LM_SOLVER_NONE)
            needs = "solver = none";
        if (needs && r->given[k])
            lm_problems_add(&r->problems, r->given[k], "%s.%s: has a meaning only with %s", key->section, key->name,
                            needs);
    }
    int least = given(r, "fields", "min_substeps"), most = given(r, "fields", "max_substeps");
    if (c->fields.min_substeps > c->fields.max_substeps)
        lm_problems_add(&r->problems, least ? least : most, "fields.%s: min_substeps is above max_substeps",
                        least ? "min_substeps" : "max_substeps");
    int b0 = given(r, "units", "b0"), n0 = given(r, "units", "n0");
    if ((c->units.b0 > 0.0) != (c->units.n0 > 0.0))
        lm_problems_add(&r->problems, b0 ? b0 : n0, "units.%s: needs units.%s as well", c->units.b0 > 0.0 ? "b0" : "n0",
                        c->units.b0 > 0.0 ? "n0" : "b0");
}

static void resolve_time(struct lm_config_reader *r)
{
    struct lm_config *c = r->config;
    if (given(r, "run", "steps")) {
        c->run.t_end = (double)c->run.steps * c->run.dt;
        return;
    }
    int line = given(r, "run", "t_end");
    double steps = c->run.t_end / c->run.dt;
    if (steps > 1e15)
        lm_problems_add(&r->problems, line, "run.t_end: more than 1e15 steps of dt");
    else if (c->run.t_end > 0.0 && steps < 0.5)
        lm_problems_add(&r->problems, line, "run.t_end: less than half a step of dt");
    else
        c->run.steps = (int64_t)floor(steps + 0.5);
}

static void resolve_temperature(struct lm_config_reader *r, int s)
{
    struct lm_species_config *c = &r->config->species[s];
    const int *lines = r->species[s];
    int par = lines[lm_keys_find(LM_SPECIES_SECTION, "temperature_par")];
    int perp = lines[lm_keys_find(LM_SPECIES_SECTION, "temperature_perp")];
    if (par || perp) {
        c->temperature_kind = LM_TEMPERATURE_FIELD_ALIGNED;
        c->temperature[2][0] = 0;
        if (!par || !perp)
            lm_problems_add(&r->problems, par ? par : perp, "species.%s.%s: needs %s as well", c->name,
                            par ? "temperature_par" : "temperature_perp", par ? "temperature_perp" : "temperature_par");
    } else if (lines[lm_keys_find(LM_SPECIES_SECTION, "temperature")]) {
        memcpy(c->temperature[1], c->temperature[0], sizeof c->temperature[0]);
        memcpy(c->temperature[2], c->temperature[0], sizeof c->temperature[0]);
    }
}

/* FILE.ini writes to FILE.out in the current directory. */
static void resolve_directory(struct lm_config_reader *r)
{
    const char *slash = strrchr(r->config->file, '/');
    const char *name = slash ? slash + 1 : r->config->file;
    int k = lm_keys_find("output", "directory");
    char text[LM_MAX_PATH + 8];
    if (r->given[k])
        return;
    size_t n = strlen(name);
    if (n > 4 && !strcmp(name + n - 4, ".ini"))
        n -= 4;
    snprintf(text, sizeof text, "%.*s.out", (int)n, name);
    if (text[lm_ini_comment(text)] || *text == ' ' || lm_key_set(&lm_keys[k], r->config, text))
        lm_problems_add(&r->problems, LM_WHOLE_FILE,
                        "output.directory: required, as the file's name makes no good one");
}

static int resolve_constants(struct lm_config_reader *r)
{
    struct lm_config *c = r->config;
    if (lm_constants_new(&c->constants))
        return LM_FAILED;
    r->unusable_values = !(c->grid.nx && c->grid.ny && c->grid.lx > 0.0 && c->grid.ly > 0.0 && c->run.dt > 0.0);
    struct lm_grid g = {.dx = 1, .dy = 1};
    if (!r->unusable_values)
        g = lm_config_grid(c);
    const struct {
        const char *name;
        double value;
    } given_names[] = {{"nx", g.nx}, {"ny", g.ny}, {"lx", g.lx},     {"ly", g.ly},
                       {"dx", g.dx}, {"dy", g.dy}, {"dt", c->run.dt}};
    for (size_t k = 0; k < sizeof given_names / sizeof *given_names; k++)
        lm_constants_set(c->constants, given_names[k].name, given_names[k].value);
    for (int k = 0; k < c->const_count; k++) {
        const char *name = c->const_text[k].name, *text = c->const_text[k].text;
        int uniform;
        int status = r->unusable_values ? lm_expr_check(c->constants, text, &uniform)
                                        : lm_constants_define(c->constants, name, text);
        if (status)
            lm_problems_add(&r->problems, r->const_line[k], "const.%s: %s", name, lm_error());
        r->unusable_values |= status != LM_OK;
        if (r->unusable_values)
            lm_constants_set(c->constants, name, 1.0);
    }
    return LM_OK;
}

static void check_expression(struct lm_config_reader *r, const struct lm_key *key, const void *base, int line,
                             const char *section)
{
    const struct lm_config *c = r->config;
    const char *text = (const char *)base + key->offset;
    int uniform;
    int status = lm_expr_check(c->constants, text, &uniform);
    if (!status && !r->unusable_values) {
        struct lm_grid g = lm_config_grid(c);
        status = lm_expr_scan(c->constants, text, &g, key->place, key->low == -DBL_MAX ? -INFINITY : key->low);
    }
    if (status)
        lm_problems_add(&r->problems, line, "%s.%s: %s", section, key->name, lm_error());
}

static void check_expressions(struct lm_config_reader *r)
{
    for (int k = 0; k < lm_key_count; k++) {
        const struct lm_key *key = &lm_keys[k];
        if (key->kind != LM_KEY_EXPR)
            continue;
        if (r->given[k])
            check_expression(r, key, r->config, r->given[k], key->section);
        for (int s = 0; s < r->config->species_count; s++) {
            char section[LM_INI_NAME];
            snprintf(section, sizeof section, "species.%s", r->config->species[s].name);
            if (r->species[s][k])
                check_expression(r, key, &r->config->species[s], r->species[s][k], section);
        }
    }
}

int lm_config_check(struct lm_config_reader *r)
{
    struct lm_config *c = r->config;
    check_required(r);
    check_families(r, r->given, NULL);
    for (int s = 0; s < c->species_count; s++)
        check_families(r, r->species[s], &c->species[s]);
    check_meaning(r);
    check_sides(r);
    resolve_directory(r);
    if (c->run.dt > 0.0)
        resolve_time(r);
    if (resolve_constants(r))
        return LM_FAILED;
    check_expressions(r);
    for (int s = 0; s < c->species_count; s++)
        resolve_temperature(r, s);
    return LM_OK;
}
