/* Tables of measurements: aligned text for a reader, JSON for a program. */
#ifndef LARMOR_BENCH_TABLE_H
#define LARMOR_BENCH_TABLE_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json_t; /* of jansson */

/* Median and extremes of repeated measurements. */
struct lm_measured {
    double median, min, max;
};

/* Sorts `values`; count >= 1. */
struct lm_measured lm_measured_of(double *values, int count);

struct lm_measured lm_measured_scaled(double scale, struct lm_measured s);

/* The spread of scale / t where t has this spread: rates from times. */
struct lm_measured lm_measured_rate(double scale, struct lm_measured time);

struct lm_table;

/* `name` is one word, for JSON; `title` a line. Texts are copied. */
int lm_table_new(const char *name, const char *title, struct lm_table **out);
void lm_table_free(struct lm_table **table);

/* Columns come before rows; the number of the column is returned. `unit` is "" for a pure number. */
int lm_table_column(struct lm_table *table, const char *name, const char *unit);

/* Begins a row; what follows is put into it. Cells left out stay empty. */
void lm_table_row(struct lm_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lm_table_number(struct lm_table *table, int column, double value);
void lm_table_measured(struct lm_table *table, int column, struct lm_measured spread);
void lm_table_text(struct lm_table *table, int column, const char *text);

/* A line below the table. */
void lm_table_note(struct lm_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* LM_FAILED: memory ran out while the table was filled, or a limit of it (src/bench/table.c) was passed. */
int lm_table_print(const struct lm_table *table, FILE *out);

/* A new object {name, title, columns: [{name, unit}], rows: [{label, values: {name: {value, unit, median, min, max}}}],
 * notes}; min, max and median are there for spreads, `text` in place of `value` for words. NULL: no memory. */
struct json_t *lm_table_json(const struct lm_table *table);

#ifdef __cplusplus
}
#endif
#endif
