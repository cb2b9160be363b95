#include "bench/table.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "larmor/base.h"

enum { MAX_COLUMNS = 20, MAX_NOTES = 8, LABEL = 96, WORD = 32, LINE = 400 };

enum cell_kind { EMPTY, NUMBER, MEASURED, WORDS };

struct cell {
    enum cell_kind kind;
    struct lm_measured measured; /* a number is its median */
    char text[WORD];
};

struct row {
    char label[LABEL];
    struct cell cell[MAX_COLUMNS];
};

struct lm_table {
    char name[LABEL], title[LINE];
    int columns, notes, rows, capacity, failed;
    struct {
        char name[WORD], unit[WORD];
    } column[MAX_COLUMNS];
    char note[MAX_NOTES][LINE];
    struct row *row;
};

/* --- measured numbers --- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct lm_measured lm_measured_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    struct lm_measured s = {0.5 * (values[(count - 1) / 2] + values[count / 2]), values[0], values[count - 1]};
    return s;
}

struct lm_measured lm_measured_scaled(double scale, struct lm_measured s)
{
    s.median *= scale;
    s.min *= scale;
    s.max *= scale;
    return s;
}

struct lm_measured lm_measured_rate(double scale, struct lm_measured time)
{
    struct lm_measured s = {scale / time.median, scale / time.max, scale / time.min};
    return s;
}

/* --- filling --- */

int lm_table_new(const char *name, const char *title, struct lm_table **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return lm_fail(LM_FAILED, "not enough memory");
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    snprintf((*out)->title, sizeof(*out)->title, "%s", title);
    return LM_OK;
}

void lm_table_free(struct lm_table **table)
{
    if (*table)
        free((*table)->row);
    free(*table);
    *table = NULL;
}

int lm_table_column(struct lm_table *t, const char *name, const char *unit)
{
    if (t->columns == MAX_COLUMNS) {
        t->failed = 1;
        return MAX_COLUMNS - 1;
    }
    snprintf(t->column[t->columns].name, WORD, "%s", name);
    snprintf(t->column[t->columns].unit, WORD, "%s", unit);
    return t->columns++;
}

void lm_table_row(struct lm_table *t, const char *format, ...)
{
    va_list args;
    if (t->rows == t->capacity) {
        int capacity = 2 * t->capacity + 16;
        struct row *more = realloc(t->row, (size_t)capacity * sizeof *more);
        if (!more) {
            t->failed = 1;
            return;
        }
        t->row = more;
        t->capacity = capacity;
    }
    struct row *r = &t->row[t->rows++];
    memset(r, 0, sizeof *r);
    va_start(args, format);
    vsnprintf(r->label, sizeof r->label, format, args);
    va_end(args);
}

static struct cell *cell_at(struct lm_table *t, int column)
{
    static struct cell nowhere; /* of a table that has failed */
    return t->rows > 0 && !t->failed ? &t->row[t->rows - 1].cell[column] : &nowhere;
}

void lm_table_number(struct lm_table *t, int column, double value)
{
    *cell_at(t, column) = (struct cell){.kind = NUMBER, .measured = {value, value, value}};
}

void lm_table_measured(struct lm_table *t, int column, struct lm_measured measured)
{
    *cell_at(t, column) = (struct cell){.kind = MEASURED, .measured = measured};
}

void lm_table_text(struct lm_table *t, int column, const char *text)
{
    struct cell *c = cell_at(t, column);
    c->kind = WORDS;
    snprintf(c->text, sizeof c->text, "%s", text);
}

void lm_table_note(struct lm_table *t, const char *format, ...)
{
    va_list args;
    if (t->notes == MAX_NOTES) {
        t->failed = 1;
        return;
    }
    va_start(args, format);
    vsnprintf(t->note[t->notes++], LINE, format, args);
    va_end(args);
}

/* --- text --- */

/* Four digits; whole numbers as they are. */
static void number_text(double v, char out[WORD])
{
    int whole = fabs(v) < 1e7 && (v == floor(v) || fabs(v) >= 1000);
    snprintf(out, WORD, whole ? "%.0f" : "%.4g", v);
}

static void cell_text(const struct cell *c, char out[4 * WORD])
{
    char median[WORD], low[WORD], high[WORD];
    number_text(c->measured.median, median);
    number_text(c->measured.min, low);
    number_text(c->measured.max, high);
    if (c->kind == EMPTY)
        snprintf(out, 4 * WORD, "-");
    else if (c->kind == WORDS)
        snprintf(out, 4 * WORD, "%s", c->text);
    else if (c->kind == NUMBER)
        snprintf(out, 4 * WORD, "%s", median);
    else
        snprintf(out, 4 * WORD, "%s (%s..%s)", median, low, high);
}

static int longer(int width, const char *text)
{
    int n = (int)strlen(text);
    return n > width ? n : width;
}

static void find_widths(const struct lm_table *t, int *label, int width[MAX_COLUMNS])
{
    char text[4 * WORD];
    *label = 0;
    for (int c = 0; c < t->columns; c++)
        width[c] = longer(longer(0, t->column[c].name), t->column[c].unit);
    for (int r = 0; r < t->rows; r++) {
        *label = longer(*label, t->row[r].label);
        for (int c = 0; c < t->columns; c++) {
            cell_text(&t->row[r].cell[c], text);
            width[c] = longer(width[c], text);
        }
    }
}

int lm_table_print(const struct lm_table *t, FILE *out)
{
    int label, width[MAX_COLUMNS];
    char text[4 * WORD];
    if (t->failed)
        return lm_fail(LM_FAILED, "table %s: too large, or not enough memory", t->name);
    find_widths(t, &label, width);
    fprintf(out, "%s\n  %*s", t->title, label, "");
    for (int c = 0; c < t->columns; c++)
        fprintf(out, "  %*s", width[c], t->column[c].name);
    fprintf(out, "\n  %*s", label, "");
    for (int c = 0; c < t->columns; c++)
        fprintf(out, "  %*s", width[c], t->column[c].unit);
    fputc('\n', out);
    for (int r = 0; r < t->rows; r++) {
        fprintf(out, "  %-*s", label, t->row[r].label);
        for (int c = 0; c < t->columns; c++) {
            cell_text(&t->row[r].cell[c], text);
            fprintf(out, "  %*s", width[c], text);
        }
        fputc('\n', out);
    }
    for (int n = 0; n < t->notes; n++)
        fprintf(out, "  %s\n", t->note[n]);
    fputc('\n', out);
    return fflush(out) || ferror(out) ? lm_fail(LM_FAILED, "standard output cannot be written") : LM_OK;
}

/* --- JSON --- */

static json_t *cell_json(const struct cell *c, const char *unit)
{
    if (c->kind == WORDS)
        return json_pack("{s:s}", "text", c->text);
    json_t *j = json_pack("{s:o, s:s}", "value", lm_json_real(c->measured.median), "unit", unit);
    if (c->kind == MEASURED) {
        json_object_set_new(j, "median", lm_json_real(c->measured.median));
        json_object_set_new(j, "min", lm_json_real(c->measured.min));
        json_object_set_new(j, "max", lm_json_real(c->measured.max));
    }
    return j;
}

static json_t *row_json(const struct lm_table *t, const struct row *r)
{
    json_t *values = json_object();
    for (int c = 0; c < t->columns; c++)
        if (r->cell[c].kind != EMPTY)
            json_object_set_new(values, t->column[c].name, cell_json(&r->cell[c], t->column[c].unit));
    return json_pack("{s:s, s:o}", "label", r->label, "values", values);
}

json_t *lm_table_json(const struct lm_table *t)
{
    json_t *columns = json_array(), *rows = json_array(), *notes = json_array();
    for (int c = 0; c < t->columns; c++)
        json_array_append_new(columns, json_pack("{s:s, s:s}", "name", t->column[c].name, "unit", t->column[c].unit));
    for (int r = 0; r < t->rows; r++)
        json_array_append_new(rows, row_json(t, &t->row[r]));
    for (int n = 0; n < t->notes; n++)
        json_array_append_new(notes, json_string(t->note[n]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", t->name, "title", t->title, "columns", columns, "rows", rows,
                     "notes", notes);
}
