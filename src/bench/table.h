/* Tables of measurements: aligned text for a reader, JSON for a program. */
#ifndef LARMOR_BENCH_TABLE_H
#define LARMOR_BENCH_TABLE_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json_t; /* of jansson */

/* The median and the extremes of repeated measurements. */
struct lm_measured {
    double median, min, max;
};

/* Of `count` >= 1 values; the function sorts them. */
struct lm_measured lm_measured_of(double *values, int count);

struct lm_measured lm_measured_scaled(double scale, struct lm_measured s);

/* Rates from times: scale / t for the measured times t. */
struct lm_measured lm_measured_rate(double scale, struct lm_measured time);

struct lm_table;

/* Makes a table. `name` is one word, for JSON, and `title` is a line. Texts are copied. */
int lm_table_new(const char *name, const char *title, struct lm_table **out);
void lm_table_free(struct lm_table **table);

/* Adds a column and returns its number. All columns are added before the first row. `unit` is "" for a pure number. */
int lm_table_column(struct lm_table *table, const char *name, const char *unit);

/* Begins a row; the three functions below fill its cells. Cells that are not filled stay empty. */
void lm_table_row(struct lm_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lm_table_number(struct lm_table *table, int column, double value);
void lm_table_measured(struct lm_table *table, int column, struct lm_measured measured);
void lm_table_text(struct lm_table *table, int column, const char *text);

/* Adds a line of text below the table. */
void lm_table_note(struct lm_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the table. LM_FAILED: memory ran out while the table was filled, the table is larger than src/bench/table.c
 * allows, or the text cannot be written. */
int lm_table_print(const struct lm_table *table, FILE *out);

/* A new object {name, title, columns: [{name, unit}], rows: [{label, values: {name: {value, unit, median, min, max}}}],
 * notes}. Only measured cells have median, min and max; cells of text have `text` in place of `value`. NULL: no memory.
 */
struct json_t *lm_table_json(const struct lm_table *table);

#ifdef __cplusplus
}
#endif
#endif
