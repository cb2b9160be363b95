/* Stores the entries of the file and of the command line in the members of struct lm_config. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/former.h"
#include "config/reader.h"
#include "base/text.h"

/* The section's name in the table of keys. */
static const char *table_section(const char *section)
{
    const struct lm_named *kind = lm_named_of(section);
    return kind ? kind->section : section;
}

/* Sections whose keys the user names. */
static int is_definition(const char *section)
{
    return !strcmp(section, "const") || !strcmp(section, "functions");
}

static int is_known_section(const char *section)
{
    return is_definition(section) || lm_named_of(section) || lm_keys_has_section(section);
}

/* NAME of [KIND.NAME]. */
static const char *own_name(const struct lm_named *kind, const char *section)
{
    return section + strlen(kind->kind) + 1;
}

static int find_item(const struct lm_config *config, const struct lm_named *kind, const char *section)
{
    for (int k = 0; k < lm_named_count(kind, config); k++)
        if (!strcmp((const char *)config + lm_named_offset(kind, k), own_name(kind, section)))
            return k;
    return -1;
}

/* Reports a section whose name, or the part before its dot, is nearly that of a kind of named sections. 1: reported. */
static int report_near_kind(struct lm_config_reader *r, const char *section, int line)
{
    const char *dot = strchr(section, '.');
    char head[LM_INI_NAME];
    snprintf(head, sizeof head, "%.*s", dot ? (int)(dot - section) : (int)sizeof head - 1, section);
    for (int k = 0; k < LM_NAMED_KINDS; k++) {
        const struct lm_named *kind = &lm_named[k];
        if (lm_text_distance(head, kind->kind) > lm_text_tolerance(kind->kind) ||
            (!dot && lm_keys_has_section(kind->kind)))
            continue;
        r->bad_section[k] = 1;
        if (dot)
            lm_problems_add(&r->problems, line, "unknown section [%s], did you mean [%s%s]?", section, kind->kind, dot);
        else
            lm_problems_add(&r->problems, line, "unknown section [%s]: %s has a name, [%s]", section, kind->one,
                            kind->section);
        return 1;
    }
    return 0;
}

/* The section that a misspelt name may stand for; NULL: there is none. */
static const char *nearest_section(const char *section)
{
    const char *best = NULL;
    int distance = lm_text_tolerance(section) + 1;
    lm_text_nearer(section, "const", &best, &distance);
    lm_text_nearer(section, "functions", &best, &distance);
    for (int k = 0; k < lm_key_count; k++)
        lm_text_nearer(section, lm_keys[k].section, &best, &distance);
    return best;
}

/* The key of a section of the table that a misspelt name may stand for; NULL: there is none. */
static const char *nearest_key(const char *section, const char *name)
{
    const char *best = NULL;
    int distance = lm_text_tolerance(name) + 1;
    for (int k = 0; k < lm_key_count; k++)
        if (!strcmp(lm_keys[k].section, section))
            lm_text_nearer(name, lm_keys[k].name, &best, &distance);
    return best;
}

static int is_meant(const struct lm_ini_entry *e, const char *section, const char *name)
{
    if (!is_known_section(e->section)) {
        const char *near = nearest_section(e->section);
        return near && !strcmp(near, section) && !strcmp(e->key, name);
    }
    if (strcmp(e->section, section) || lm_keys_find(table_section(section), e->key) >= 0)
        return 0;
    const char *near = nearest_key(table_section(section), e->key);
    return near && !strcmp(near, name);
}

int lm_config_is_missing(const struct lm_config_reader *r, const char *section, const char *name)
{
    int found = r->ini.lost > 0;
    for (int k = 0; k < r->ini.count && !found; k++)
        found = !r->ini.entry[k].dropped && is_meant(&r->ini.entry[k], section, name);
    return !found;
}

static void report_unknown_section(struct lm_config_reader *r, const char *section, int line)
{
    if (report_near_kind(r, section, line))
        return;
    const char *best = nearest_section(section);
    lm_problems_add(&r->problems, line, best ? "unknown section [%s], did you mean [%s]?" : "unknown section [%s]",
                    section, best);
}

static void report_unknown_key(struct lm_config_reader *r, const struct lm_ini_entry *e)
{
    const char *best = nearest_key(table_section(e->section), e->key);
    const char *removed = lm_former_removed(e->section, e->key);
    int distance = lm_text_tolerance(e->key) + 1, nearest = -1;
    if (removed) {
        lm_problems_add(&r->problems, e->line, "%s.%s: %s", e->section, e->key, removed);
        return;
    }
    if (best) {
        lm_problems_add(&r->problems, e->line, "%s.%s: unknown key, did you mean %s?", e->section, e->key, best);
        return;
    }
    for (int k = 0; k < lm_key_count; k++) {
        lm_text_nearer(e->key, lm_keys[k].name, &best, &distance);
        nearest = best == lm_keys[k].name ? k : nearest;
    }
    if (best)
        lm_problems_add(&r->problems, e->line, "%s.%s: unknown key, did you mean %s.%s?", e->section, e->key,
                        lm_keys[nearest].section, best);
    else
        lm_problems_add(&r->problems, e->line, "%s.%s: unknown key", e->section, e->key);
}

static void set_defaults(const struct lm_named *kind, void *base)
{
    for (int k = 0; k < lm_key_count; k++) {
        const struct lm_key *key = &lm_keys[k];
        if (lm_named_of(key->section) != kind)
            continue;
        void *member = (char *)base + key->offset;
        if (key->initial)
            lm_key_set(key, base, key->initial);
        else if (key->kind == LM_KEY_CHOICE)
            *(int *)member = LM_NOT_CHOSEN;
        else if (key->kind == LM_KEY_REAL && key->shown && kind) /* there is no limit */
            *(double *)member = INFINITY;
    }
}

static void add_item(struct lm_config_reader *r, const struct lm_named *kind, const struct lm_ini_section *section)
{
    const char *name = own_name(kind, section->name);
    if (!lm_text_is_name(name)) {
        r->bad_section[kind - lm_named] = 1;
        lm_problems_add(&r->problems, section->line,
                        "[%s]: \"%s\" is not a name: a letter, then letters, digits and _, at most %d", section->name,
                        name, LM_MAX_NAME - 1);
        return;
    }
    if (find_item(r->config, kind, section->name) >= 0)
        return;
    int used = lm_named_count(kind, r->config);
    if (used == kind->most) {
        lm_problems_add(&r->problems, section->line, "[%s]: more than %d %s", section->name, kind->most, kind->many);
        return;
    }
    char *item = (char *)r->config + lm_named_offset(kind, used);
    *(int *)((char *)r->config + kind->used) = used + 1;
    memcpy(item, name, strlen(name) + 1); /* a name is shorter than LM_MAX_NAME */
    set_defaults(kind, item);
}

static void apply_definition(struct lm_config_reader *r, const struct lm_ini_entry *e)
{
    struct lm_config *c = r->config;
    const int capacity = (int)(sizeof c->const_text / sizeof *c->const_text), is_const = !strcmp(e->section, "const");
    int *count = is_const ? &c->const_count : &c->function_count;
    struct lm_definition *list = is_const ? c->const_text : c->function_text;
    if (*count == capacity)
        lm_problems_add(&r->problems, e->line, "%s.%s: more than %d %s", e->section, e->key, capacity,
                        is_const ? "constants" : "functions");
    else if (strlen(e->value) >= LM_MAX_TEXT)
        lm_problems_add(&r->problems, e->line, "%s.%s: longer than %d bytes", e->section, e->key, LM_MAX_TEXT - 1);
    else {
        (is_const ? r->const_line : r->function_line)[*count] = e->line;
        snprintf(list[*count].name, sizeof list->name, "%s", e->key);
        snprintf(list[*count].text, sizeof list->text, "%s", e->value);
        ++*count;
    }
}

const struct lm_key *lm_config_target(struct lm_config_reader *r, const struct lm_ini_entry *e, void **base,
                                      int **lines)
{
    const int k = lm_keys_find(table_section(e->section), e->key);
    const struct lm_named *kind = lm_named_of(e->section);
    const int n = kind ? find_item(r->config, kind, e->section) : 0;
    if (k < 0 || n < 0)
        return NULL;
    *base = kind ? (char *)r->config + lm_named_offset(kind, n) : (char *)r->config;
    *lines = kind ? r->named_key_line[kind - lm_named][n] : r->key_line;
    return &lm_keys[k];
}

static void apply_key(struct lm_config_reader *r, const struct lm_ini_entry *e)
{
    void *base;
    int *lines;
    const struct lm_key *key = lm_config_target(r, e, &base, &lines);
    if (!key) {
        if (lm_keys_find(table_section(e->section), e->key) < 0) /* else the section has been reported */
            report_unknown_key(r, e);
        return;
    }
    lines[key - lm_keys] = e->line;
    if (lm_config_is_computed(key, e))
        return;
    if (lm_key_set(key, base, e->value))
        lm_problems_add(&r->problems, e->line, "%s.%s: %s", e->section, e->key, lm_error());
}

void lm_config_apply(struct lm_config_reader *r)
{
    set_defaults(NULL, r->config);
    for (int k = 0; k < r->ini.section_count; k++) {
        const struct lm_ini_section *s = &r->ini.section[k];
        if (!is_known_section(s->name))
            report_unknown_section(r, s->name, s->line);
        else if (lm_named_of(s->name))
            add_item(r, lm_named_of(s->name), s);
    }
    for (int k = 0; k < r->ini.count; k++) {
        const struct lm_ini_entry *e = &r->ini.entry[k];
        if (e->dropped || !is_known_section(e->section))
            continue;
        if (is_definition(e->section))
            apply_definition(r, e);
        else
            apply_key(r, e);
    }
}

int lm_config_header_line(const struct lm_config_reader *r, const char *section)
{
    for (int k = 0; k < r->ini.section_count; k++)
        if (!strcmp(r->ini.section[k].name, section))
            return r->ini.section[k].line;
    return LM_WHOLE_FILE;
}

int lm_config_scope(const struct lm_config_reader *r, int k, struct lm_scope *out)
{
    *out = (struct lm_scope){.base = r->config, .lines = r->key_line, .line = LM_WHOLE_FILE};
    int n = k - 1;
    for (int kind = 0; k > 0 && kind < LM_NAMED_KINDS; kind++) {
        int count = lm_named_count(&lm_named[kind], r->config);
        if (n < count) {
            out->kind = &lm_named[kind];
            out->base = (char *)r->config + lm_named_offset(out->kind, n);
            out->lines = r->named_key_line[kind][n];
            snprintf(out->section, sizeof out->section, "%s.%s", out->kind->kind, (const char *)out->base);
            out->line = lm_config_header_line(r, out->section);
            return 1;
        }
        n -= count;
    }
    return k == 0;
}

int lm_scope_has(const struct lm_scope *scope, const struct lm_key *key)
{
    return lm_named_of(key->section) == scope->kind;
}

const char *lm_scope_section(const struct lm_scope *scope, const struct lm_key *key)
{
    return scope->kind ? scope->section : key->section;
}

/* An override replaces the keys of the file that it excludes: steps on the command line replaces t_end in the file. */
static void drop_rivals(struct lm_config_reader *r, const char *section, const char *name)
{
    int k = lm_keys_find(table_section(section), name);
    if (k < 0 || lm_keys[k].family == LM_ALONE)
        return;
    for (int n = 0; n < r->ini.count; n++) {
        struct lm_ini_entry *e = &r->ini.entry[n];
        if (e->line == LM_COMMAND_LINE || strcmp(e->section, section))
            continue;
        int other = lm_keys_find(table_section(section), e->key);
        if (other >= 0 && lm_keys[other].family == lm_keys[k].family && lm_keys[other].variant != lm_keys[k].variant)
            e->dropped = 1;
    }
}

/* The file has no such section. The message suggests a similar one. */
static void report_absent_section(struct lm_config_reader *r, const char *section, const char *key)
{
    const char *best = NULL;
    int distance = lm_text_tolerance(section) + 1;
    for (int k = 0; k < r->ini.section_count; k++)
        lm_text_nearer(section, r->ini.section[k].name, &best, &distance);
    lm_problems_add(&r->problems, LM_COMMAND_LINE, "%s.%s: the file has no [%s]%s%s%s", section, key, section,
                    best ? ", did you mean [" : "", best ? best : "", best ? "]?" : "");
}

static int are_alike(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \t");
        b += strspn(b, " \t");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

/* The entry of a key, or NULL. Blanks in the signature of a function do not count. */
static struct lm_ini_entry *find_entry(const struct lm_config_reader *r, const char *section, const char *key)
{
    for (int k = 0; k < r->ini.count; k++)
        if (!strcmp(r->ini.entry[k].section, section) && are_alike(r->ini.entry[k].key, key))
            return &r->ini.entry[k];
    return NULL;
}

/* 1 when an override may name this section and key. A misspelt name must not make a new species, body, field or
 * constant.
 */
static int check_target(struct lm_config_reader *r, const char *section, const char *key)
{
    int found = !lm_named_of(section);
    for (int k = 0; k < r->ini.section_count && !found; k++)
        found = !strcmp(r->ini.section[k].name, section);
    if (!is_known_section(section))
        report_unknown_section(r, section, LM_COMMAND_LINE);
    else if (!found)
        report_absent_section(r, section, key);
    else if (is_definition(section) && !find_entry(r, section, key))
        lm_problems_add(&r->problems, LM_COMMAND_LINE, "%s.%s: the file has no such %s", section, key,
                        !strcmp(section, "const") ? "constant" : "function");
    else
        return 1;
    return 0;
}

/* Why a value could not stand in the echo in run.ini; NULL: it could. */
static const char *wrong_value(const char *value)
{
    for (const char *p = value; *p; p++)
        if ((unsigned char)*p < ' ')
            return "control character";
    if (lm_ini_has_gap(value))
        return "more than 64 blanks, # or ; in a row";
    if (value[lm_ini_comment(value)])
        return "# or ; would begin a comment";
    return NULL;
}

static int set_entry(struct lm_config_reader *r, const char *section, const char *key, const char *value)
{
    struct lm_ini_entry *e = find_entry(r, section, key);
    if (!e)
        return lm_ini_append(&r->ini, section, key, value, LM_COMMAND_LINE);
    e->line = LM_COMMAND_LINE;
    e->dropped = 0;
    return lm_ini_replace(e, value);
}

int lm_config_split(const char *text, struct lm_override *out)
{
    const char *equals = strchr(text, '='), *dot = NULL;
    for (const char *p = text; equals && p < equals; p++)
        dot = *p == '.' ? p : dot;
    if (!dot || dot == text || dot + 1 == equals || dot - text >= LM_INI_NAME || equals - dot > LM_INI_NAME)
        return 0;
    snprintf(out->section, sizeof out->section, "%.*s", (int)(dot - text), text);
    snprintf(out->name, sizeof out->name, "%.*s", (int)(equals - dot - 1), dot + 1);
    out->key = lm_former_now(out->section, out->name);
    out->value = equals + 1;
    return 1;
}

int lm_config_override(struct lm_config_reader *r, const char *text)
{
    struct lm_override o;
    if (!lm_config_split(text, &o)) {
        lm_problems_add(&r->problems, LM_COMMAND_LINE, "\"%s\": expected section.key=value", text);
        return LM_OK;
    }
    if (o.key != o.name)
        lm_former_note(r->notes, &r->problems, LM_COMMAND_LINE, o.section, o.name, o.key);
    if (!check_target(r, o.section, o.key))
        return LM_OK;
    const char *begin = o.value + strspn(o.value, " "), *wrong = wrong_value(begin);
    if (wrong) {
        lm_problems_add(&r->problems, LM_COMMAND_LINE, "%s.%s: %s", o.section, o.key, wrong);
        return LM_OK;
    }
    size_t n = strlen(begin);
    while (n > 0 && begin[n - 1] == ' ')
        n--;
    char *value = strndup(begin, n);
    drop_rivals(r, o.section, o.key);
    const int status = value ? set_entry(r, o.section, o.key, value) : lm_fail(LM_FAILED, "out of memory");
    free(value);
    return status;
}
