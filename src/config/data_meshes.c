/* All meshes of an openPMD file by one section: a section with `meshes` becomes one with `dataset` or `magnetic_field`
 * for each mesh that the configuration uses. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/text.h"
#include "config/data.h"
#include "config/reader.h"

enum { MOST_MESHES = 512 };

/* What a file has, and the names for it. */
struct list {
    int count, is_unknown; /* is_unknown: the file cannot be read */
    struct mesh {
        char name[LM_MAX_NAME];
        char path[sizeof((struct lm_data_config *)0)->dataset];
        int is_potential, is_wanted;
    } of[MOST_MESHES];
};

static void add(struct list *l, const char *name, const char *path, int is_potential)
{
    if (l->count == MOST_MESHES)
        return;
    struct mesh *m = &l->of[l->count++];
    *m = (struct mesh){.is_potential = is_potential};
    snprintf(m->name, sizeof m->name, "%s", name);
    snprintf(m->path, sizeof m->path, "%.*s", (int)sizeof m->path - 1, path);
}

/* Adds the datasets of a group, and those of the groups in it as well if `deep`. Names and paths that are too long are
 * left out. */
static void list_group(struct lm_h5 *h, const char *path, const char *name, int deep, struct list *l)
{
    hid_t group = lm_h5_group(h, h->file, path);
    if (h->status)
        return;
    struct lm_h5_links links = lm_h5_links(h, group);
    for (int k = 0; k < links.count && h->status == LM_OK; k++) {
        char inner[sizeof l->of->path], named[sizeof l->of->name];
        hid_t object = H5Oopen(group, links.name[k], H5P_DEFAULT);
        const H5I_type_t type = object < 0 ? H5I_BADID : H5Iget_type(object);
        lm_h5_end(object);
        if (snprintf(inner, sizeof inner, "%s/%s", path, links.name[k]) >= (int)sizeof inner ||
            snprintf(named, sizeof named, "%s_%s", name, links.name[k]) >= (int)sizeof named)
            continue;
        if (type == H5I_DATASET)
            add(l, named, inner, 0);
        else if (type == H5I_GROUP && deep)
            list_group(h, inner, named, 0, l);
    }
    free(links.name);
    lm_h5_end(group);
}

/* Adds the potential of B where B has the components x and y. */
static void add_potential(const struct lm_data_config *d, struct list *l)
{
    char name[LM_MAX_NAME + 4], path[sizeof d->meshes + 4];
    int components = 0;
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/B/%c", d->meshes, "xy"[k]);
        for (int n = 0; n < l->count; n++)
            components += !strcmp(l->of[n].path, path);
    }
    snprintf(name, sizeof name, "%s_az", d->name);
    snprintf(path, sizeof path, "%s/B", d->meshes);
    if (components == 2 && strlen(name) < LM_MAX_NAME)
        add(l, name, path, 1);
}

/* Lists the meshes of the file. A file that cannot be read is reported. LM_FAILED: no memory. */
static int read_list(struct lm_config_reader *r, struct lm_data_config *d, int line, struct list *l)
{
    struct lm_h5 h;
    if (!d->file[0] || lm_config_resolve_path(r, LM_DATA_SECTION, "file", d, line)) {
        l->is_unknown = 1; /* a missing key is reported with those of other sections */
        return LM_OK;
    }
    if (!lm_h5_open(&h, d->file))
        list_group(&h, d->meshes, d->name, 1, l);
    const int status = lm_h5_finish(&h, 0);
    add_potential(d, l);
    if (status != LM_BAD_INPUT)
        return status;
    lm_problems_add(&r->problems, line, "data.%s.file: %s", d->name, lm_error());
    l->is_unknown = 1;
    return LM_OK;
}

static int begins_with(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* 1 when a name that begins with `prefix` is that of a constant, of a function or its argument, or comes from another
 * section. */
static int is_elsewhere(const struct lm_ini *ini, const char *prefix, const char *word)
{
    int found = 0;
    for (int k = 0; k < ini->section_count && !found; k++) {
        const char *dot = strchr(ini->section[k].name, '.');
        found = dot && begins_with(dot + 1, prefix) && begins_with(word, dot + 1);
    }
    for (int k = 0; k < ini->count && !found; k++) {
        const struct lm_ini_entry *e = &ini->entry[k];
        if (!strcmp(e->section, "const") || !strcmp(e->section, "functions"))
            found = lm_text_mentions(e->key, word) > 0;
    }
    return found;
}

/* The name gets a value so that expressions that use it have no error for that reason. */
static void report_absent(struct lm_config_reader *r, const struct lm_data_config *d, int line, const char *word,
                          const struct list *l)
{
    char names[1024] = "none";
    size_t n = 0;
    r->unusable_values = 1;
    if (lm_names_set_constant(r->config->names, word, 1) || l->is_unknown)
        return; /* reported before */
    for (int k = 0; k < l->count && n < sizeof names; k++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", k > 0 ? ", " : "", l->of[k].name);
    lm_problems_add(&r->problems, line, "data.%s.meshes: there is no mesh for %s; there are %s", d->name, word, names);
}

/* Marks the meshes that a value uses. */
static void find_words(struct lm_config_reader *r, const struct lm_data_config *d, int line, const char *value,
                       struct list *l)
{
    char prefix[LM_MAX_NAME + 1], word[LM_MAX_NAME];
    snprintf(prefix, sizeof prefix, "%s_", d->name);
    for (const char *at = value; *at; at++) {
        size_t n = 0;
        while (isalnum((unsigned char)at[n]) || at[n] == '_')
            n++;
        if (n == 0)
            continue;
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        int found = !begins_with(word, prefix);
        for (int k = 0; k < l->count && !found; k++)
            if (!strcmp(l->of[k].name, word))
                found = l->of[k].is_wanted = 1;
        if (!found && !is_elsewhere(&r->ini, prefix, word))
            report_absent(r, d, line, word, l);
        at += n - 1;
    }
}

static void find_wanted(struct lm_config_reader *r, const struct lm_data_config *d, int line, struct list *l)
{
    for (int k = 0; k < r->ini.count; k++) {
        const struct lm_ini_entry *e = &r->ini.entry[k];
        void *base;
        int *lines;
        const struct lm_key *key = e->dropped ? NULL : lm_config_target(r, e, &base, &lines);
        if (!e->dropped && !begins_with(e->section, "data.") && !(key && key->kind == LM_KEY_PATH))
            find_words(r, d, line, e->value, l);
    }
}

/* Numbers that are expressions are found later, from the entries of a section. */
static int copy_places(struct lm_ini *ini, const char *from, const char *to)
{
    static const char *const places[] = {"from_x", "to_x", "from_y", "to_y"};
    char section[2][LM_INI_NAME];
    snprintf(section[0], sizeof section[0], "data.%s", from);
    snprintf(section[1], sizeof section[1], "data.%s", to);
    for (int k = 0; k < 4; k++) {
        const struct lm_ini_entry *e = lm_ini_find(ini, section[0], places[k]);
        if (e && !e->dropped && lm_ini_append(ini, section[1], places[k], e->value, e->line))
            return LM_FAILED;
    }
    return LM_OK;
}

/* Makes item k the section for one mesh. */
static int turn_into(struct lm_config_reader *r, int k, const char *name, const struct mesh *m)
{
    struct lm_data_config *d = &r->config->data[k];
    int *lines = r->named_key_line[LM_DATA][k];
    char *to = m->is_potential ? d->magnetic_field : d->dataset;
    d->meshes[0] = 0;
    snprintf(to, sizeof d->dataset, "%s", m->path);
    lines[lm_keys_find(LM_DATA_SECTION, m->is_potential ? "magnetic_field" : "dataset")] =
        lines[lm_keys_find(LM_DATA_SECTION, "meshes")];
    if (m->is_potential)
        return LM_OK;
    snprintf(d->name, sizeof d->name, "%s", m->name);
    return copy_places(&r->ini, name, m->name);
}

/* The item itself becomes the section for the first mesh, and new items those for the others. An item that nothing uses
 * stays as it is. */
static int expand(struct lm_config_reader *r, int k, int line, const struct list *l)
{
    struct lm_config *c = r->config;
    const struct lm_data_config whole = c->data[k];
    int status = LM_OK;
    for (int n = 0, used = 0; n < l->count && !l->is_unknown && !status; n++) {
        if (!l->of[n].is_wanted)
            continue;
        const int at = used++ ? c->data_count : k;
        if (at == LM_MAX_DATA) {
            lm_problems_add(&r->problems, line, "data.%s.meshes: more than %d arrays of files", whole.name,
                            LM_MAX_DATA);
            r->unusable_values = 1;
            return LM_OK;
        }
        if (at != k) {
            c->data_count++;
            c->data[at] = whole;
            memcpy(r->named_key_line[LM_DATA][at], r->named_key_line[LM_DATA][k],
                   sizeof r->named_key_line[LM_DATA][at]);
        }
        status = turn_into(r, at, whole.name, &l->of[n]);
    }
    return status;
}

int lm_config_expand_data(struct lm_config_reader *r)
{
    const int count = r->config->data_count;
    int status = LM_OK;
    for (int k = 0; k < count && !status; k++) {
        struct lm_data_config *d = &r->config->data[k];
        const int *lines = r->named_key_line[LM_DATA][k];
        const int line = lines[lm_keys_find(LM_DATA_SECTION, "meshes")];
        if (!d->meshes[0] || d->dataset[0] || d->magnetic_field[0]) /* two of them are reported later */
            continue;
        struct list *l = calloc(1, sizeof *l);
        if (!l)
            return lm_fail(LM_FAILED, "out of memory");
        status = read_list(r, d, lines[lm_keys_find(LM_DATA_SECTION, "file")], l);
        if (!status) {
            find_wanted(r, d, line, l);
            status = expand(r, k, line, l);
        }
        free(l);
    }
    return status;
}
