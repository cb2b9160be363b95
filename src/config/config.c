#include "larmor/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/former.h"
#include "config/reader.h"
#include "base/expr.h"

/* `text` is read in place of the file; NULL: the file is read. */
static int read_into(struct lm_config_reader *r, const char *text, int override_count, const char *const *overrides)
{
    int status =
        text ? lm_ini_read_text(text, &r->ini, &r->problems) : lm_ini_read(r->config->file, &r->ini, &r->problems);
    if (!status)
        lm_former_rename(&r->ini, &r->problems, r->notes);
    for (int k = 0; !status && k < override_count; k++)
        status = lm_config_override(r, overrides[k]);
    if (status)
        return status;
    lm_config_apply(r);
    if (lm_config_define_names(r) || lm_config_check(r))
        return LM_FAILED;
    if (r->unusable_values && r->problems.count == 0) /* what made them so has been reported, or this is it */
        lm_problems_add(&r->problems, LM_WHOLE_FILE, "a size, a constant or a function cannot be used");
    return LM_OK;
}

/* Ends the notes; NULL stands for none. */
static void end_notes(const struct lm_config_reader *r, char **notes)
{
    if (r->notes)
        fclose(r->notes);
    if (*notes && !**notes) {
        free(*notes);
        *notes = NULL;
    }
}

static int read_config(const char *name, const char *text, int override_count, const char *const *overrides,
                       struct lm_config *config)
{
    memset(config, 0, sizeof *config);
    if (lm_path(config->file, "%s", name))
        return LM_BAD_INPUT;
    struct lm_config_reader *r = calloc(1, sizeof *r);
    if (!r)
        return lm_fail(LM_FAILED, "out of memory");
    r->config = config;
    r->problems.file = config->file;
    size_t size = 0;
    r->notes = open_memstream(&config->notes, &size);
    int status = r->notes ? read_into(r, text, override_count, overrides) : lm_fail(LM_FAILED, "out of memory");
    end_notes(r, &config->notes);
    if (status)
        lm_problems_free(&r->problems);
    else
        status = lm_problems_report(&r->problems);
    lm_ini_free(&r->ini);
    free(r);
    return status;
}

int lm_config_check_repeats(int count, const char *const *overrides)
{
    struct lm_override a, b;
    for (int k = 0; k < count; k++)
        for (int n = 0; n < k; n++) {
            if (!lm_config_split(overrides[n], &a) || !lm_config_split(overrides[k], &b) ||
                strcmp(a.section, b.section) || strcmp(a.key, b.key))
                continue;
            return lm_fail(LM_BAD_INPUT, "command line: %s.%s: given twice, as %s and as %s: leave one out", b.section,
                           b.key, strcmp(a.name, b.name) ? overrides[n] : a.value,
                           strcmp(a.name, b.name) ? overrides[k] : b.value);
        }
    return LM_OK;
}

int lm_config_read(const char *file, int override_count, const char *const *overrides, struct lm_config *config)
{
    return read_config(file, NULL, override_count, overrides, config);
}

int lm_config_read_text(const char *name, const char *text, int override_count, const char *const *overrides,
                        struct lm_config *config)
{
    return read_config(name, text, override_count, overrides, config);
}

const char *const lm_side_names[LM_SIDES] = {"x_min", "x_max", "y_min", "y_max"};

struct lm_grid lm_config_grid(const struct lm_config *c)
{
    struct lm_grid g = lm_grid_make(c->grid.nx, c->grid.ny, c->grid.lx, c->grid.ly);
    for (int side = 0; side < LM_SIDES; side++)
        g.sides.of[side] = c->boundary[side];
    return g;
}

void lm_config_free(struct lm_config *config)
{
    lm_names_free(&config->names);
    free(config->notes);
    config->notes = NULL;
    lm_config_free_data(config);
    lm_config_free_spectra(config);
    lm_config_free_probes(config);
    for (int k = 0; k < config->species_count; k++)
        lm_stopping_free(&config->species[k].stopping);
}

/* The variant of the temperature keys that describes a species. */
static int temperature_variant(const struct lm_species_config *s)
{
    if (s->temperature_kind == LM_TEMPERATURE_FIELD_ALIGNED)
        return LM_ALONG_FIELD;
    int alike = !strcmp(s->temperature[0], s->temperature[1]) && !strcmp(s->temperature[0], s->temperature[2]);
    return alike ? LM_ISOTROPIC : LM_ALONG_AXES;
}

/* 1 when the key has no value that a file could hold: an empty text, or no finite number. */
static int is_empty(const struct lm_key *key, const void *base)
{
    const void *at = (const char *)base + key->offset;
    int is_text = key->kind == LM_KEY_EXPR || key->kind == LM_KEY_PATH || key->kind == LM_KEY_TEXT;
    return (is_text && *(const char *)at == 0) || (key->kind == LM_KEY_REAL && !isfinite(*(const double *)at));
}

/* 1 when a key belongs into the echo: it has a meaning in this configuration, and no other key says the same. */
static int is_written(const struct lm_config *c, const void *base, const struct lm_key *key)
{
    if (lm_key_meaning(key, c, base) != LM_MEANINGFUL || is_empty(key, base))
        return 0;
    if (key->family == LM_DURATION_FAMILY)
        return key->variant == LM_BY_TIME;
    if (key->family == LM_TEMPERATURE_FAMILY)
        return key->variant == temperature_variant(base);
    if (key->family == LM_VELOCITY_FAMILY)
        return key->variant ==
               (((const struct lm_background_config *)base)->stream[0] ? LM_BY_STREAM : LM_BY_COMPONENTS);
    if (key->family == LM_PARTICLES_FAMILY)
        return key->variant == LM_AT_DENSITY_1;
    if (key->family == LM_ELECTRONS_FAMILY)
        return key->variant == (c->electrons.initial_temperature[0] ? LM_EVERYWHERE : LM_AT_DENSITY_1);
    return 1;
}

static void write_entry(FILE *out, const char *key, const char *value)
{
    fprintf(out, "%s = %s\n", key, value);
}

static void write_keys(const struct lm_config *c, const void *base, const char *section, FILE *out)
{
    for (int k = 0; k < lm_key_count; k++) {
        char text[LM_KEY_TEXT_SIZE];
        if (strcmp(lm_keys[k].section, section) || !is_written(c, base, &lm_keys[k]))
            continue;
        lm_key_text(&lm_keys[k], base, text);
        write_entry(out, lm_keys[k].name, text);
    }
}

/* 1 for the field of the electrons' entropy, which the program adds by itself. */
static int is_own(const struct lm_named *kind, const void *item)
{
    return kind == &lm_named[LM_BACKGROUNDS] && ((const struct lm_background_config *)item)->kind == LM_ENTROPY;
}

static void write_named(const struct lm_config *c, const struct lm_named *kind, FILE *out)
{
    for (int k = 0; k < lm_named_count(kind, c); k++) {
        const char *item = (const char *)c + lm_named_offset(kind, k);
        if (is_own(kind, item))
            continue;
        fprintf(out, "\n[%s.%s]\n", kind->kind, item);
        write_keys(c, item, kind->section, out);
    }
}

static void write_definitions(const char *section, int count, const struct lm_definition *list, FILE *out)
{
    if (count > 0)
        fprintf(out, "\n[%s]\n", section);
    for (int k = 0; k < count; k++)
        write_entry(out, list[k].name, list[k].text);
}

int lm_config_write(const struct lm_config *config, FILE *out)
{
    fputs("# All settings of a run, defaults included.\n", out);
    const char *section = "";
    for (int k = 0; k < lm_key_count; k++) {
        if (!strcmp(lm_keys[k].section, section))
            continue;
        section = lm_keys[k].section;
        if (lm_named_of(section)) {
            write_named(config, lm_named_of(section), out);
            continue;
        }
        fprintf(out, "\n[%s]\n", section);
        write_keys(config, config, section, out);
        if (!strcmp(section, "grid")) {
            write_definitions("const", config->const_count, config->const_text, out);
            write_definitions("functions", config->function_count, config->function_text, out);
        }
    }
    return fflush(out) || ferror(out) ? lm_fail(LM_FAILED, "cannot write the settings") : LM_OK;
}
