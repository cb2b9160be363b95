#include "larmor/stopping.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/openpmd.h"

enum { ENERGY, STOPPING, SCATTERING, COLUMNS };

struct reader {
    const char *path;
    int line;
    double b0, n0;
    int given[COLUMNS];
    double factor[COLUMNS]; /* to normalized units */
    struct lm_stopping_table *out;
};

static int wrong(const struct reader *r, const char *what)
{
    return lm_fail(LM_BAD_INPUT, "%s:%d: %s", r->path, r->line, what);
}

/* Without blanks around it. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

/* "1e-15 eV cm2": a number, 1 if there is none, and a unit. */
static const char *split(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    if (end == text)
        *number = 1;
    return end + strspn(end, " \t");
}

static int take_unit(struct reader *r, int column, const char *text)
{
    static const struct {
        const char *name;
        int column;
        double ev, m2; /* factors of an electronvolt and a square metre; 0: not in it */
    } units[] = {{"eV", ENERGY, 1, 0},
                 {"keV", ENERGY, 1e3, 0},
                 {"MeV", ENERGY, 1e6, 0},
                 {"eV cm2", STOPPING, 1, 1e-4},
                 {"rad2 cm2", SCATTERING, 0, 1e-4}};
    double number;
    const char *unit = split(text, &number);
    r->given[column] = 1;
    r->factor[column] = number;
    if (!(number > 0 && number < INFINITY))
        return wrong(r, "the number before a unit must be above 0");
    if (!strcmp(unit, "normalized"))
        return LM_OK;
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        if (units[k].column != column || strcmp(units[k].name, unit))
            continue;
        if (!(r->b0 > 0 && r->n0 > 0))
            return wrong(r, "physical units need [units] b0 and n0 in the configuration");
        const struct lm_units u = lm_units_make(r->b0, r->n0);
        if (units[k].ev > 0)
            r->factor[column] *= units[k].ev * u.charge / (u.mass * u.velocity * u.velocity);
        if (units[k].m2 > 0)
            r->factor[column] *= units[k].m2 * u.density * u.length;
        return LM_OK;
    }
    return wrong(r, column == ENERGY     ? "unknown unit of energy: normalized, eV, keV or MeV"
                    : column == STOPPING ? "unknown unit of stopping: normalized or eV cm2"
                                         : "unknown unit of scattering: normalized or rad2 cm2");
}

/* A line that begins with #: `key = value`, or a comment. */
static int take_head(struct reader *r, char *text)
{
    static const char *const names[COLUMNS] = {"energy", "stopping", "scattering"};
    char *equals = strchr(text, '=');
    if (!equals)
        return LM_OK;
    *equals = '\0';
    const char *key = trimmed(text), *value = trimmed(equals + 1);
    if (!strcmp(key, "source"))
        snprintf(r->out->source, sizeof r->out->source, "%s", value);
    for (int k = 0; k < COLUMNS; k++)
        if (!strcmp(key, names[k]))
            return r->out->points ? wrong(r, "units stand before the first row") : take_unit(r, k, value);
    return LM_OK;
}

static int take_row(struct reader *r, const char *text)
{
    struct lm_stopping_table *t = r->out;
    const int columns = r->given[SCATTERING] ? 3 : 2;
    double v[COLUMNS] = {0};
    if (!r->given[ENERGY] || !r->given[STOPPING] || !t->source[0])
        return wrong(r, "`# source = ...`, `# energy = UNIT` and `# stopping = UNIT` stand before the first row");
    for (int k = 0; k < columns; k++) {
        char *end;
        errno = 0;
        v[k] = strtod(text, &end) * r->factor[k];
        if (end == text || errno == ERANGE || !isfinite(v[k]) || v[k] < 0)
            return wrong(r, columns == 3 ? "three numbers, none below 0, are expected in a row"
                                         : "two numbers, none below 0, are expected in a row");
        text = end + strspn(end, " \t,");
    }
    if (*text)
        return wrong(r, columns == 3 ? "more than three columns"
                                     : "more than two columns (`# scattering = UNIT` announces a third one)");
    if (t->points == LM_MOST_STOPPING)
        return wrong(r, "more than 4096 rows");
    if (t->points > 0 && !(v[ENERGY] > t->row[t->points - 1].energy))
        return wrong(r, "the energies must rise");
    t->row[t->points++] = (struct lm_stopping){.energy = v[ENERGY], .stopping = v[STOPPING], .power = v[SCATTERING]};
    t->scatters |= v[SCATTERING] > 0;
    return LM_OK;
}

static int take_lines(struct reader *r, FILE *file)
{
    char line[LM_MAX_TEXT + 64];
    int status = LM_OK;
    for (r->line = 1; !status && fgets(line, sizeof line, file); r->line++) {
        if (!strchr(line, '\n') && !feof(file))
            return wrong(r, "the line is too long");
        char *text = trimmed(line);
        if (*text == '#')
            status = take_head(r, text + 1);
        else if (*text)
            status = take_row(r, text);
    }
    if (!status && ferror(file))
        return lm_fail(LM_BAD_INPUT, "%s: %s", r->path, strerror(errno));
    if (!status && r->out->points < 2)
        return lm_fail(LM_BAD_INPUT, "%s: a table of stopping has at least two rows", r->path);
    return status;
}

int lm_stopping_read(const char *path, double b0, double n0, struct lm_stopping_table *out)
{
    struct reader r = {.path = path, .b0 = b0, .n0 = n0, .out = out};
    *out = (struct lm_stopping_table){.row = calloc(LM_MOST_STOPPING, sizeof *out->row)};
    FILE *file = fopen(path, "r");
    int status = !file       ? lm_fail(LM_BAD_INPUT, "%s: %s", path, strerror(errno))
                 : !out->row ? lm_fail(LM_FAILED, "not enough memory for a table of stopping")
                             : take_lines(&r, file);
    for (int k = 0; k + 1 < out->points; k++) {
        struct lm_stopping *a = &out->row[k];
        const double width = a[1].energy - a->energy;
        a->slope = (a[1].stopping - a->stopping) / width;
        a->power_slope = (a[1].power - a->power) / width;
    }
    if (file)
        fclose(file);
    if (status) {
        free(out->row);
        *out = (struct lm_stopping_table){0};
    }
    return status;
}
