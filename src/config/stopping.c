#include "larmor/stopping.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/try.h"
#include "base/units.h"
#include "larmor/physics/numerics/hash.h"

enum { ENERGY, STOPPING, SCATTERING, COLUMNS };
static const char *const column_names[COLUMNS] = {"energy", "stopping", "scattering"};

struct row {
    double of[COLUMNS];
};

struct reader {
    const char *path;
    int line;
    double b0, n0;
    int unit_line[COLUMNS], source_line; /* lines of the file that set them; 0: none yet */
    double factor[COLUMNS];              /* to normalized units */
    struct row *row;                     /* [LM_MAX_STOPPING_ROWS] */
    struct lm_stopping_table *out;
};

static int wrong(const struct reader *r, const char *what)
{
    return lm_fail(LM_BAD_INPUT, "%s:%d: %s", r->path, r->line, what);
}

static int wrong_twice(const struct reader *r, const char *key, int first)
{
    return lm_fail(LM_BAD_INPUT, "%s:%d: `# %s =` is given twice, first on line %d: leave one out", r->path, r->line,
                   key, first);
}

/* Removes blanks at both ends. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

/* Splits "1e-15 eV cm2" into a number and a unit; without a number *number is 1. */
static const char *split(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    if (end == text)
        *number = 1;
    return end + strspn(end, " \t");
}

static int read_unit(struct reader *r, int column, const char *text)
{
    static const struct {
        const char *name;
        int column;
        double ev, m2; /* factors of an electronvolt and of a square metre; 0: the unit has none */
    } units[] = {{"eV", ENERGY, 1, 0},
                 {"keV", ENERGY, 1e3, 0},
                 {"MeV", ENERGY, 1e6, 0},
                 {"eV cm2", STOPPING, 1, 1e-4},
                 {"rad2 cm2", SCATTERING, 0, 1e-4}};
    double number;
    const char *unit = split(text, &number);
    if (r->unit_line[column])
        return wrong_twice(r, column_names[column], r->unit_line[column]);
    r->unit_line[column] = r->line;
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

/* A line that begins with #: a setting `key = value`, or a comment. */
static int read_comment(struct reader *r, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return LM_OK;
    *equals = '\0';
    const char *key = trimmed(text), *value = trimmed(equals + 1);
    if (!strcmp(key, "source")) {
        if (r->source_line)
            return wrong_twice(r, key, r->source_line);
        r->source_line = r->line;
        snprintf(r->out->source, sizeof r->out->source, "%s", value);
    }
    for (int k = 0; k < COLUMNS; k++)
        if (!strcmp(key, column_names[k]))
            return r->out->points ? wrong(r, "units stand before the first row") : read_unit(r, k, value);
    return LM_OK;
}

static int read_row(struct reader *r, const char *text)
{
    struct lm_stopping_table *t = r->out;
    const int columns = r->unit_line[SCATTERING] ? 3 : 2;
    struct row new = {{0}};
    double *v = new.of;
    if (!r->unit_line[ENERGY] || !r->unit_line[STOPPING] || !t->source[0])
        return wrong(r, "`# source = ...`, `# energy = UNIT` and `# stopping = UNIT` stand before the first row");
    for (int k = 0; k < columns; k++) {
        char *end;
        errno = 0;
        v[k] = strtod(text, &end) * r->factor[k];
        if (end == text || errno == ERANGE || !(v[k] >= 0 && v[k] < FLT_MAX))
            return wrong(r, columns == 3 ? "three numbers, none below 0, are expected in a row"
                                         : "two numbers, none below 0, are expected in a row");
        text = end + strspn(end, " \t,");
    }
    if (*text)
        return wrong(r, columns == 3 ? "more than three columns"
                                     : "more than two columns (`# scattering = UNIT` announces a third one)");
    if (t->points == LM_MAX_STOPPING_ROWS)
        return wrong(r, "more than 4096 rows");
    if (t->points > 0 && !((float)v[ENERGY] > (float)r->row[t->points - 1].of[ENERGY]))
        return wrong(r, "the energies must rise, by more than 1e-7 of themselves");
    r->row[t->points++] = new;
    t->scatters |= v[SCATTERING] > 0;
    return LM_OK;
}

static int read_lines(struct reader *r, FILE *file)
{
    char line[320];
    int status = LM_OK;
    for (r->line = 1; !status && fgets(line, sizeof line, file); r->line++) {
        if (!strchr(line, '\n') && !feof(file))
            return wrong(r, "the line is too long");
        char *text = trimmed(line);
        if (*text == '#')
            status = read_comment(r, text + 1);
        else if (*text)
            status = read_row(r, text);
    }
    if (!status && ferror(file))
        return lm_fail(LM_BAD_INPUT, "%s: %s", r->path, strerror(errno));
    if (!status && r->out->points < 2)
        return lm_fail(LM_BAD_INPUT, "%s: a table of stopping has at least two rows", r->path);
    return status;
}

/* The last row whose energy is not above the float with these bits. It is found by bisection, without the guide. */
static int row_of(const struct lm_stopping *t, int64_t bits)
{
    return lm_stopping_row_between(t, 0, t->rows - 1, lm_from_bitsf((uint32_t)bits));
}

/* The buckets reach from the first row with an energy > 0 to the last row. */
static void choose_buckets(struct lm_stopping *t, const struct reader *r)
{
    const struct row *first = &r->row[r->row[0].of[ENERGY] > 0 ? 0 : 1];
    const int32_t last = (int32_t)lm_bitsf((float)r->row[r->out->points - 1].of[ENERGY]);
    t->least_bits = (int32_t)lm_bitsf((float)first->of[ENERGY]);
    while ((last - t->least_bits) >> t->shift >= LM_MOST_BUCKETS)
        t->shift++;
    t->buckets = ((last - t->least_bits) >> t->shift) + 1;
}

static void fill_rows(const struct lm_stopping *t, struct lm_stopping_values *row, const struct reader *r)
{
    for (int k = 0; k < t->rows; k++) {
        const struct row *a = &r->row[k > 0 ? k - 1 : 0], *b = a + 1;
        const int is_inside = k > 0 && k + 1 < t->rows;
        const double width = is_inside ? (double)(float)b->of[ENERGY] - (double)(float)a->of[ENERGY] : 1;
        row[k].energy = k > 0 ? (float)a->of[ENERGY] : -1;
        row[k].stopping = (float)a->of[STOPPING];
        row[k].slope = is_inside ? (float)((b->of[STOPPING] - a->of[STOPPING]) / width) : 0;
        row[k].scattering_power = (float)a->of[SCATTERING];
        row[k].scattering_slope = is_inside ? (float)((b->of[SCATTERING] - a->of[SCATTERING]) / width) : 0;
    }
}

static void fill_guide(const struct lm_stopping *t, struct lm_stopping_bucket *guide)
{
    for (int k = 0; k < t->buckets; k++) {
        const int64_t first = t->least_bits + ((int64_t)k << t->shift), last = first + ((int64_t)1 << t->shift) - 1;
        const int low = row_of(t, k > 0 ? first : 0), high = k + 1 < t->buckets ? row_of(t, last) : t->rows - 1;
        guide[k].low = (uint16_t)low;
        guide[k].more = (uint16_t)(high - low);
        guide[k].border = high > low ? t->row[low + 1].energy : NAN;
    }
}

/* Makes the table that the program looks up from the rows of the file. */
static int make_lookup(const struct reader *r)
{
    struct lm_stopping *t = &r->out->lookup;
    t->rows = r->out->points + 1;
    choose_buckets(t, r);
    void *memory = calloc(1, lm_stopping_bytes(t));
    if (!memory)
        return lm_fail(LM_FAILED, "not enough memory for a table of stopping");
    *t = lm_stopping_in_memory(*t, memory);
    struct lm_stopping_values *row = memory;
    fill_rows(t, row, r);
    fill_guide(t, (struct lm_stopping_bucket *)(row + t->rows));
    r->out->memory = memory;
    return LM_OK;
}

static int read_file(struct reader *r)
{
    FILE *file;
    LM_TRY(lm_input_open(r->path, &file));
    const int status = read_lines(r, file);
    fclose(file);
    return status;
}

int lm_stopping_read(const char *path, double b0, double n0, struct lm_stopping_table *out)
{
    struct reader r = {
        .path = path, .b0 = b0, .n0 = n0, .row = calloc(LM_MAX_STOPPING_ROWS, sizeof *r.row), .out = out};
    *out = (struct lm_stopping_table){0};
    int status = r.row ? read_file(&r) : lm_fail(LM_FAILED, "not enough memory for a table of stopping");
    if (!status)
        status = make_lookup(&r);
    free(r.row);
    if (status)
        *out = (struct lm_stopping_table){0};
    return status;
}

uint64_t lm_stopping_hash(const struct lm_stopping_table *table)
{
    const struct lm_stopping *t = &table->lookup;
    const unsigned char *bytes = (const unsigned char *)t->row;
    uint64_t hash = 0;
    for (size_t k = 0; k < (size_t)t->rows * sizeof *t->row; k++)
        hash = lm_mix(hash ^ bytes[k]);
    return hash;
}

void lm_stopping_free(struct lm_stopping_table *table)
{
    free(table->memory);
    *table = (struct lm_stopping_table){0};
}
