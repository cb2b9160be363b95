/* A row of the time series of a simulation, by the names of its columns. */
#ifndef LARMOR_TESTS_SERIES_ROW_H
#define LARMOR_TESTS_SERIES_ROW_H

#include <check.h>
#include <string.h>

#include "inside.h"

struct row {
    int count;
    struct lm_series_column *columns;
    double values[LM_ROW_MAX];
};

static inline struct row row_of(struct lm_sim *sim)
{
    static const struct lm_references none;
    struct row r = {.count = 0};
    ck_assert_msg(!lm_row_columns(sim->config, &r.count, &r.columns), "%s", lm_error());
    ck_assert_int_le(r.count, LM_ROW_MAX);
    ck_assert_msg(!lm_row_fill(sim, sim->config, &none, 7.5, r.values), "%s", lm_error());
    ck_assert_str_eq(r.columns[r.count - 1].name, "rate"); /* nothing has shifted */
    ck_assert(r.values[r.count - 1] == 7.5);
    return r;
}

/* NULL: no such column. */
static inline const struct lm_series_column *find(const struct row *r, const char *name)
{
    for (int c = 0; c < r->count; c++)
        if (!strcmp(r->columns[c].name, name))
            return &r->columns[c];
    return NULL;
}

static inline double value(const struct row *r, const char *name)
{
    const struct lm_series_column *c = find(r, name);
    ck_assert_msg(c != NULL, "no column %s", name);
    return r->values[c - r->columns];
}

#endif
