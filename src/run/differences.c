#include "run/differences.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "config/former.h"
#include "config/ini.h"
#include "larmor/base.h"

/* ---- which keys may change ---- */

struct rule {
    const char *section; /* "species." stands for every species */
    const char *key;     /* NULL: every key */
};

/* These keys say where a run ends and how it is computed. They do not change a result. */
static const struct rule neutral[] = {
    {"run", "t_end"},      {"run", "steps"},        {"run", "backend"},      {"run", "threads"},
    {"run", "rank_limit"}, {"run", "rebalance"},    {"run", "gpu_exchange"}, {"run", "halo"},
    {"run", "tile"},       {"run", "sort_every"},   {"run", "energy_limit"}, {"output", NULL},
    {"output.", NULL},     {"distribution.", NULL}, {"track.", "every"},     {"probe.", NULL}};

/* The state in a checkpoint has no meaning with another value of these keys. Other things that must be the same (the
 * channels of loss, maps, cells of masks, sides of background fields) are compared with the state itself
 * (src/sim/restart_check.c). */
static const struct rule fixed[] = {
    {"run", "dt"},
    {"grid", NULL},
    {"particles", NULL},
    {"fields", "solver"},
    {"boundary", "x_min"},
    {"boundary", "x_max"},
    {"boundary", "y_min"},
    {"boundary", "y_max"},
    {"species.", "charge"},
    {"species.", "mass"},
    {"species.", "particles_per_cell"},
    {"body.", "shape"},
    {"body.", "x"},
    {"body.", "y"},
    {"body.", "radius"},
    {"body.", "width"},
    {"body.", "height"},
    {"body.", "points"},
    {"body.", "particles"},
    {"background.", "kind"},
};

/* A section of these kinds must be on both sides. */
static const char *const needed[] = {"species.", "body.", "background."};

/* These keys describe the state at the start, and the plasma beyond inflow sides. */
static const struct rule start_only[] = {
    {"species.", "density"},       {"species.", "drift_x"},         {"species.", "drift_y"},
    {"species.", "drift_z"},       {"species.", "temperature"},     {"species.", "temperature_x"},
    {"species.", "temperature_y"}, {"species.", "temperature_z"},   {"species.", "temperature_par"},
    {"species.", "start"},         {"species.", "temperature_perp"}};

static int is_section(const char *section, const char *pattern)
{
    size_t n = strlen(pattern);
    return n > 0 && pattern[n - 1] == '.' ? !strncmp(section, pattern, n) : !strcmp(section, pattern);
}

static int is_among(const struct rule *rules, size_t count, const char *section, const char *key)
{
    for (size_t k = 0; k < count; k++)
        if (is_section(section, rules[k].section) && (!rules[k].key || !strcmp(rules[k].key, key)))
            return 1;
    return 0;
}
#define AMONG(rules, section, key) is_among(rules, sizeof(rules) / sizeof *(rules), section, key)

static int is_needed(const char *section)
{
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
        if (is_section(section, needed[k]))
            return 1;
    return 0;
}

static const char not_given[] = "not given";

static int is_nothing(const char *value)
{
    return !strcmp(value, not_given) || !strcmp(value, "0");
}

/* Electrons with an evolved pressure have a field of their own in the checkpoint. The field of magnets is part of the B
 * in it. */
static int is_fixed(const char *section, const char *key, const char *there, const char *here)
{
    if (!strcmp(section, "external") && (!strcmp(key, "az") || !strcmp(key, "bz")))
        return !is_nothing(there) || !is_nothing(here);
    if (!strcmp(section, "electrons") && !strcmp(key, "closure"))
        return !strcmp(there, "evolved") || !strcmp(here, "evolved");
    return AMONG(fixed, section, key);
}

/* ---- what a change means ---- */

static int has_side(const struct lm_config *c, int kind)
{
    for (int side = 0; side < LM_SIDES; side++)
        if (c->boundary[side] == kind)
            return 1;
    return 0;
}

/* 1 when steps draw random numbers. The random numbers of the start do not count. */
static int draws(const struct lm_config *c)
{
    int any = has_side(c, LM_THERMAL) || has_side(c, LM_INFLOW) || c->ionisation_count > 0;
    for (int k = 0; k < c->body_count; k++)
        any |= c->body[k].particles == LM_THERMAL;
    for (int s = 0; s < c->species_count; s++)
        any |=
            c->species[s].scattering_rate > 0 || c->species[s].gas[0] || c->species[s].electron_heat_exchange_rate > 0;
    return any;
}

static const char *remark_on(const struct lm_config *c, const char *section, const char *key)
{
    if (!strcmp(section, "run") && !strcmp(key, "seed"))
        return draws(c) ? "other random numbers from here on"
                        : "no effect: no random numbers are drawn after the start";
    if (AMONG(start_only, section, key) && !has_side(c, LM_INFLOW))
        return "no effect: the key describes the start only";
    if (is_section(section, "track."))
        return "no effect on ions that have been chosen before";
    return NULL;
}

/* ---- comparing ---- */

struct comparison {
    const struct lm_config *config;
    struct lm_ini there, here;
    struct lm_differences *out;
    int status;
};

static struct lm_difference *grow(struct lm_differences *d)
{
    struct lm_difference *list = realloc(d->list, (size_t)(d->count + 1) * sizeof *list);
    if (!list)
        return NULL;
    d->list = list;
    list[d->count] = (struct lm_difference){.fixed = 0};
    return &list[d->count++];
}

static struct lm_difference *add(struct comparison *c)
{
    struct lm_difference *d = grow(c->out);
    if (!d)
        c->status = lm_fail(LM_FAILED, "not enough memory");
    return d;
}

static int has_section(const struct lm_ini *ini, const char *section)
{
    for (int k = 0; k < ini->section_count; k++)
        if (!strcmp(ini->section[k].name, section))
            return 1;
    return 0;
}

/* The keys of these sections are compared one by one, also where only one side has the section. */
static int is_definition(const char *section)
{
    return !strcmp(section, "const") || !strcmp(section, "functions");
}

/* A section that only one side has is one difference. */
static void compare_sections(struct comparison *c, const struct lm_ini *of, const struct lm_ini *other, int is_here)
{
    for (int k = 0; k < of->section_count && !c->status; k++) {
        const char *section = of->section[k].name;
        if (has_section(other, section) || is_definition(section) || AMONG(neutral, section, ""))
            continue;
        struct lm_difference *d = add(c);
        if (!d)
            return;
        snprintf(d->key, sizeof d->key, "[%s]", section);
        snprintf(d->there, sizeof d->there, "%s", is_here ? not_given : "given");
        snprintf(d->here, sizeof d->here, "%s", is_here ? "given" : not_given);
        d->fixed = is_needed(section);
    }
}

static void compare_key(struct comparison *c, const char *section, const char *key)
{
    const struct lm_ini_entry *a = lm_ini_find(&c->there, section, key), *b = lm_ini_find(&c->here, section, key);
    const char *there = a ? a->value : not_given, *here = b ? b->value : not_given;
    if ((a && b && !strcmp(there, here)) || AMONG(neutral, section, key))
        return;
    struct lm_difference *d = add(c);
    if (!d)
        return;
    snprintf(d->key, sizeof d->key, "%s.%s", section, key);
    snprintf(d->there, sizeof d->there, "%s", there);
    snprintf(d->here, sizeof d->here, "%s", here);
    d->remark = remark_on(c->config, section, key);
    d->fixed = is_fixed(section, key, there, here);
}

static int is_on_both_sides(const struct comparison *c, const char *section)
{
    return is_definition(section) || (has_section(&c->there, section) && has_section(&c->here, section));
}

static void compare(struct comparison *c)
{
    compare_sections(c, &c->here, &c->there, 1);
    compare_sections(c, &c->there, &c->here, 0);
    for (int k = 0; k < c->here.count && !c->status; k++) {
        const struct lm_ini_entry *e = &c->here.entry[k];
        if (is_on_both_sides(c, e->section))
            compare_key(c, e->section, e->key);
    }
    for (int k = 0; k < c->there.count && !c->status; k++) {
        const struct lm_ini_entry *e = &c->there.entry[k];
        if (is_on_both_sides(c, e->section) && !lm_ini_find(&c->here, e->section, e->key))
            compare_key(c, e->section, e->key);
    }
}

/* Refuses the differences that are not allowed, in one message. */
static int refuse(const struct lm_differences *d, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    int found = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return lm_fail(LM_FAILED, "not enough memory");
    for (int k = 0; k < d->count; k++)
        if (d->list[k].fixed)
            fprintf(out, "%s%s: %s there, %s in the run", found++ ? "; " : "", d->list[k].key, d->list[k].there,
                    d->list[k].here);
    fclose(out);
    int status = found ? lm_fail(LM_BAD_INPUT, "%s: cannot be continued with other settings than its own: %s; set %s",
                                 path, text, found > 1 ? "them as there" : "it as there")
                       : LM_OK;
    free(text);
    return status;
}

/* The echo of a configuration, as entries. */
static int read_echo(const struct lm_config *config, struct lm_ini *ini, struct lm_problems *problems)
{
    char *text = NULL;
    size_t size = 0;
    FILE *echo = open_memstream(&text, &size);
    if (!echo)
        return lm_fail(LM_FAILED, "not enough memory");
    int status = lm_config_write(config, echo);
    if (fclose(echo) && !status)
        status = lm_fail(LM_FAILED, "not enough memory");
    if (!status)
        status = lm_ini_read_text(text, ini, problems);
    free(text);
    return status;
}

/* Sides of which the file of the run leaves to the flow what they do to fields stay what they are there. */
static void keep_sides(struct lm_config *config, const struct lm_ini *there)
{
    static const int kinds[] = {LM_RADIATING, LM_OPEN, LM_FIELDS_INFLOW};
    static const char *const names[] = {"radiating", "open", "inflow"};
    for (int side = 0; side < LM_SIDES; side++) {
        char key[32];
        snprintf(key, sizeof key, "fields_%s", lm_side_names[side]);
        const struct lm_ini_entry *e = lm_ini_find(there, "boundary", key);
        const int count = config->boundary[side] == LM_INFLOW ? 3 : 2;
        for (int k = 0; k < count && e && config->boundary_by_flow[side]; k++) {
            if (strcmp(e->value, names[k]))
                continue;
            config->boundary_fields[side] = kinds[k];
            config->boundary_by_flow[side] = LM_LEFT_TO_FLOW;
            config->boundary_speed[side] = 0;
        }
    }
}

/* `text`: the configuration there; NULL: it is the file `path`. */
static int find(struct lm_config *config, const char *path, const char *text, struct lm_differences *out)
{
    struct comparison c = {.config = config, .out = out};
    struct lm_problems problems = {.file = path};
    *out = (struct lm_differences){.count = 0};
    c.status = text ? lm_ini_read_text(text, &c.there, &problems) : lm_ini_read(path, &c.there, &problems);
    if (!c.status) {
        lm_former_rename(&c.there, &problems, NULL);
        keep_sides(config, &c.there);
        c.status = read_echo(config, &c.here, &problems);
    }
    if (c.status)
        lm_problems_free(&problems);
    else
        c.status = lm_problems_report(&problems);
    if (!c.status) {
        const struct lm_ini_entry *every = lm_ini_find(&c.there, "output", "series_every");
        out->series_every = every ? strtoll(every->value, NULL, 10) : 0;
        compare(&c);
    }
    lm_ini_free(&c.here);
    lm_ini_free(&c.there);
    return c.status;
}

int lm_differences_of_run(const struct lm_config *config, struct lm_differences *out)
{
    char path[LM_MAX_PATH];
    *out = (struct lm_differences){.count = 0};
    struct lm_config *own = malloc(sizeof *own);
    if (!own)
        return lm_fail(LM_FAILED, "not enough memory");
    *own = *config;
    int status = lm_path(path, "%s/run.ini", config->output.directory);
    if (!status)
        status = find(own, path, NULL, out);
    free(own);
    return status;
}

static int has_key(const struct lm_differences *d, const char *key)
{
    for (int k = 0; k < d->count; k++)
        if (!strcmp(d->list[k].key, key))
            return 1;
    return 0;
}

/* Adds stopping tables whose file has the same name as in the checkpoint but other contents. */
static int add_tables(const struct lm_config *config, const struct lm_checkpoint *head, struct lm_differences *out)
{
    char key[LM_DIFFERENCE_KEY];
    for (int s = 0; s < config->species_count && s < head->species_count; s++) {
        const uint64_t there = head->species[s].stopping, here = lm_stopping_hash(&config->species[s].stopping);
        snprintf(key, sizeof key, "species.%s.stopping_table", config->species[s].name);
        if (there == here || has_key(out, key))
            continue;
        struct lm_difference *d = grow(out);
        if (!d)
            return lm_fail(LM_FAILED, "not enough memory");
        memcpy(d->key, key, sizeof key);
        snprintf(d->there, sizeof d->there, "contents %016" PRIx64, there);
        snprintf(d->here, sizeof d->here, "contents %016" PRIx64, here);
        d->remark = "the file holds another table now";
    }
    return LM_OK;
}

int lm_differences_read(struct lm_config *config, const char *path, struct lm_checkpoint *head,
                        struct lm_differences *out)
{
    char *text = NULL;
    *out = (struct lm_differences){.count = 0};
    int status = lm_checkpoint_head(path, head);
    if (!status)
        status = lm_checkpoint_configuration(path, &text);
    if (!status)
        status = find(config, path, text, out);
    if (!status)
        status = refuse(out, path);
    if (!status)
        status = add_tables(config, head, out);
    free(text);
    return status;
}

void lm_differences_free(struct lm_differences *differences)
{
    free(differences->list);
    *differences = (struct lm_differences){.count = 0};
}

int lm_differences_matter(const struct lm_differences *d)
{
    int matter = 0;
    for (int k = 0; k < d->count; k++)
        matter |= !d->list[k].remark;
    return matter;
}

void lm_differences_print(const struct lm_differences *differences, const char *path, FILE *out)
{
    if (differences->count > 0)
        fprintf(out, "%s: the run goes on with other settings:\n", path);
    for (int k = 0; k < differences->count; k++) {
        const struct lm_difference *d = &differences->list[k];
        fprintf(out, "  %s: %s -> %s", d->key, d->there, d->here);
        fprintf(out, d->remark ? " (%s)\n" : "\n", d->remark);
    }
}

json_t *lm_differences_json(const struct lm_differences *differences, const char *path)
{
    if (!path)
        return json_null();
    json_t *changed = json_array();
    for (int k = 0; k < differences->count; k++) {
        const struct lm_difference *d = &differences->list[k];
        json_array_append_new(changed, json_pack("{s:s, s:o, s:o}", "key", d->key, "checkpoint", lm_json_text(d->there),
                                                 "run", lm_json_text(d->here)));
    }
    return json_pack("{s:o, s:o}", "checkpoint", lm_json_text(path), "changed", changed);
}
