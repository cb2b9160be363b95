/* Checks the configuration as a whole: required keys, combinations, derived values, expressions on the grid. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/facts.h"
#include "config/reader.h"
#include "base/expr_scan.h"
#include "base/program.h"

static int line_of(const struct lm_config_reader *r, const char *section, const char *name)
{
    return r->key_line[lm_keys_find(section, name)];
}

static void check_required(struct lm_config_reader *r, const struct lm_scope *scope)
{
    for (int k = 0; k < lm_key_count; k++) {
        const struct lm_key *key = &lm_keys[k];
        if (!lm_scope_has(scope, key) || key->initial || key->shown || scope->lines[k] ||
            lm_key_meaning(key, r->config, scope->base) != LM_MEANINGFUL ||
            !lm_config_is_missing(r, lm_scope_section(scope, key), key->name))
            continue;
        lm_problems_add(&r->problems, scope->line, "%s.%s: required%s%s and not given", lm_scope_section(scope, key),
                        key->name, key->when ? " with " : "", key->when ? key->when->words : "");
    }
}

static void check_whole(struct lm_config_reader *r)
{
    if (!line_of(r, "run", "t_end") && !line_of(r, "run", "steps") && lm_config_is_missing(r, "run", "t_end") &&
        lm_config_is_missing(r, "run", "steps"))
        lm_problems_add(&r->problems, LM_WHOLE_FILE, "run.t_end: required and not given (or run.steps)");
    if (r->config->species_count == 0 && !r->bad_section[LM_SPECIES] && !r->ini.lost)
        lm_problems_add(&r->problems, LM_WHOLE_FILE, "no ion species: a [species.NAME] section is required");
}

/* Reports two keys of one family that exclude each other. */
static void check_families(struct lm_config_reader *r, const struct lm_scope *scope)
{
    const int *lines = scope->lines;
    for (int k = 0; k < lm_key_count; k++)
        for (int n = 0; n < k; n++) {
            const struct lm_key *a = &lm_keys[k], *b = &lm_keys[n];
            if (!lines[k] || !lines[n] || a->family == LM_ALONE || a->family != b->family || a->variant == b->variant)
                continue;
            lm_problems_add(&r->problems, lines[k], "%s.%s: not together with %s", lm_scope_section(scope, a), a->name,
                            b->name);
            return;
        }
}

static void check_meaning(struct lm_config_reader *r, const struct lm_scope *scope)
{
    for (int k = 0; k < lm_key_count; k++)
        if (scope->lines[k] && lm_key_meaning(&lm_keys[k], r->config, scope->base) == LM_MEANINGLESS)
            lm_problems_add(&r->problems, scope->lines[k], "%s.%s: has a meaning only with %s",
                            lm_scope_section(scope, &lm_keys[k]), lm_keys[k].name, lm_keys[k].when->words);
}

/* Two keys contradict each other. The message is about the key that the user has set, or the first one if both are set.
 */
static void report_pair(struct lm_config_reader *r, const struct lm_scope *scope, const char *first, const char *second,
                        const char *wrong)
{
    const char *table = scope->kind ? scope->kind->section : scope->section;
    int a = scope->lines[lm_keys_find(table, first)], b = scope->lines[lm_keys_find(table, second)];
    lm_problems_add(&r->problems, a ? a : b, "%s.%s: %s", scope->section, a ? first : second, wrong);
}

static void check_pairs(struct lm_config_reader *r)
{
    const struct lm_config *c = r->config;
    struct lm_scope fields = {.lines = r->key_line, .section = "fields"},
                    output = {.lines = r->key_line, .section = "output"};
    if (c->fields.min_substeps > c->fields.max_substeps)
        report_pair(r, &fields, "min_substeps", "max_substeps", "min_substeps is above max_substeps");
    if (!(c->output.map_energy[0] < c->output.map_energy[1]))
        report_pair(r, &output, "map_energy_min", "map_energy_max", "map_energy_min is not below map_energy_max");
    const int64_t fields_every = c->output.fields_every, particles_every = c->output.particles_every;
    if (c->output.particles_with_fields && particles_every > 0 &&
        (fields_every == 0 || particles_every % fields_every != 0))
        report_pair(r, &output, "particles_with_fields", "particles_every",
                    "on needs fields at each step that has particles: make particles_every a multiple of fields_every");
    int b0 = line_of(r, "units", "b0"), n0 = line_of(r, "units", "n0");
    if ((c->units.b0 > 0.0) != (c->units.n0 > 0.0) && !(b0 && n0))
        lm_problems_add(&r->problems, b0 ? b0 : n0, "units.%s: needs units.%s as well", c->units.b0 > 0.0 ? "b0" : "n0",
                        c->units.b0 > 0.0 ? "n0" : "b0");
}

static void check_pitch(struct lm_config_reader *r, const struct lm_scope *scope)
{
    if (scope->kind != &lm_named[LM_SPECIES])
        return;
    const struct lm_species_config *s = scope->base;
    if (!(s->lost_below_pitch < s->lost_above_pitch))
        report_pair(r, scope, "lost_below_pitch", "lost_above_pitch", "lost_below_pitch is not below lost_above_pitch");
    if (!(sqrt(s->scattering_rate * r->config->run.dt) * s->scattering_sigmas <= 3.2))
        report_pair(
            r, scope, "scattering_rate", "scattering_sigmas",
            "sqrt(scattering_rate*dt)*scattering_sigmas, the largest angle in a step, is above pi: use a smaller dt");
}

/* Ions take up the friction of the electrons only where the configuration has it. */
static void check_friction(struct lm_config_reader *r, const struct lm_scope *scope)
{
    const int key = lm_keys_find(LM_SPECIES_SECTION, "eta"), *lines = scope->lines;
    if (scope->kind != &lm_named[LM_SPECIES] || !lines[key] || !lm_has_friction(scope->base))
        return;
    if (r->config->fields.solver != LM_SOLVER_HYBRID)
        lm_problems_add(&r->problems, lines[key], "%s.eta: only with fields.solver = hybrid",
                        lm_scope_section(scope, &lm_keys[key]));
    else if (!r->config->fields.electron_friction)
        lm_problems_add(&r->problems, lines[key], "%s.eta: only with fields.electron_friction = on",
                        lm_scope_section(scope, &lm_keys[key]));
}

static void resolve_time(struct lm_config_reader *r)
{
    struct lm_config *c = r->config;
    if (line_of(r, "run", "steps")) {
        c->run.t_end = (double)c->run.steps * c->run.dt;
        return;
    }
    int line = line_of(r, "run", "t_end");
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
    const int *lines = r->named_key_line[LM_SPECIES][s];
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
    if (r->key_line[k])
        return;
    size_t n = strlen(name);
    if (n > 4 && !strcmp(name + n - 4, ".ini"))
        n -= 4;
    snprintf(text, sizeof text, "%.*s.out", (int)n, name);
    if (text[lm_ini_comment(text)] || *text == ' ' || lm_key_set(&lm_keys[k], r->config, text))
        lm_problems_add(&r->problems, LM_WHOLE_FILE,
                        "output.directory: required, as the file's name makes no good one");
}

static int is_of_plasma(const struct lm_key *key)
{
    return key->timed == LM_OF_PLASMA || key->timed == LM_ALWAYS_OF_PLASMA;
}

/* Expressions along sides are checked with the sides. Others are evaluated in the cells at the middle of the first
 * step. */
static int scan_expression(const struct lm_config *c, const struct lm_key *key, const char *text)
{
    struct lm_grid g = lm_config_grid(c);
    const double middle = 0.5 * c->run.dt;
    if (key->timed == LM_ALONG_SIDES)
        return LM_OK;
    if (key->timed == LM_TIMELESS || is_of_plasma(key))
        return lm_expr_scan(c->names, text, &g, key->cell_offset, key->low == -DBL_MAX ? -INFINITY : key->low);
    if (key->low > -DBL_MAX)
        return lm_expr_scan_at(c->names, text, &g, key->cell_offset, middle, key->low);
    return lm_expr_fill_at(c->names, text, &g, key->cell_offset, middle, NULL);
}

/* An expression that the backend evaluates at every step. */
static int check_program(const struct lm_names *names, const char *text, unsigned variables)
{
    struct lm_program *p = malloc(sizeof *p);
    const int status = p ? lm_program_compile(names, text, variables, p) : lm_fail(LM_FAILED, "out of memory");
    free(p);
    return status;
}

/* Syntax and names; *scan = 1: the values can be looked at, too. */
static int parse_expression(const struct lm_config *c, const struct lm_key *key, const char *text, int *scan)
{
    int timed = 0, uniform, status;
    *scan = 1;
    if (is_of_plasma(key)) {
        *scan = lm_expr_check(c->names, text, &uniform) == LM_OK;
        return *scan && key->timed == LM_OF_PLASMA ? LM_OK : check_program(c->names, text, LM_PROGRAM_OF_PLASMA);
    }
    status = key->timed ? lm_expr_uses_time(c->names, text, &timed) : lm_expr_check(c->names, text, &uniform);
    if (!status && ((timed && key->timed == LM_COMPILED) || key->timed == LM_ALWAYS_COMPILED))
        status = check_program(c->names, text, LM_PROGRAM_OF_X_Y_T);
    return status;
}

static void check_expression(struct lm_config_reader *r, const struct lm_key *key, const struct lm_scope *scope)
{
    const char *text = (const char *)scope->base + key->offset;
    int scan, status = parse_expression(r->config, key, text, &scan);
    if (!status && scan && !r->unusable_values)
        status = scan_expression(r->config, key, text);
    if (status)
        lm_problems_add(&r->problems, scope->lines[key - lm_keys], "%s.%s: %s", lm_scope_section(scope, key), key->name,
                        lm_error());
}

static void check_expressions(struct lm_config_reader *r, const struct lm_scope *scope)
{
    for (int k = 0; k < lm_key_count; k++)
        if (lm_keys[k].kind == LM_KEY_EXPR && scope->lines[k])
            check_expression(r, &lm_keys[k], scope);
}

static void check_scope(struct lm_config_reader *r, const struct lm_scope *scope)
{
    check_required(r, scope);
    check_families(r, scope);
    check_meaning(r, scope);
    check_pitch(r, scope);
    check_friction(r, scope);
    lm_config_check_ionisation(r, scope);
}

int lm_config_check(struct lm_config_reader *r)
{
    struct lm_config *c = r->config;
    struct lm_scope scope;
    lm_config_check_sides(r);
    lm_config_check_backgrounds(r);
    for (int k = 0; lm_config_scope(r, k, &scope); k++)
        check_scope(r, &scope);
    check_whole(r);
    check_pairs(r);
    lm_config_check_points(r);
    resolve_directory(r);
    if (c->run.dt > 0.0)
        resolve_time(r);
    for (int k = 0; lm_config_scope(r, k, &scope); k++)
        check_expressions(r, &scope);
    for (int s = 0; s < c->species_count; s++)
        resolve_temperature(r, s);
    if (lm_config_resolve_particles(r) || lm_config_check_gas(r) || lm_config_check_inflow(r) ||
        lm_config_choose_fields(r) || lm_config_check_background_inflow(r) || lm_config_check_cells(r))
        return LM_FAILED;
    lm_config_check_outputs(r);
    lm_config_add_electrons(r);
    return LM_OK;
}
