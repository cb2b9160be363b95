/* What the parts of the comparison share: the reference with its trace, and a way under way. */
#ifndef LARMOR_TESTS_RANDOM_COMPARE_RUN_H
#define LARMOR_TESTS_RANDOM_COMPARE_RUN_H

#include "../inside.h"
#include "compare.h"

/* The reference, step by step. */
struct compare_trace {
    struct lm_config *config;
    const char *directory;
    struct lm_references references;
    struct lm_series_column *columns;
    int column_count;
    int64_t steps; /* that were taken */
    uint64_t *prints;
    double *rows;                 /* [steps + 1][column_count] */
    int in_check;                 /* it stopped before a step, not in one */
    char stopped[LM_MAX_MESSAGE]; /* why it has not gone on to the end; "": it has */
    struct lm_sim *sim;           /* at the last step */
};

/* Where it runs. */
extern const struct compare_machine compare_reference;

/* Runs it; to be freed in any case. 0: there is none, and the result says why. */
int compare_trace_make(const struct draft *d, struct compare_trace *t, struct compare_result *r);
void compare_trace_free(struct compare_trace *t);

/* Row of a step; the last column, the rate, is never compared. */
static inline double *compare_row(const struct compare_trace *t, int64_t step)
{
    return t->rows + (size_t)step * (size_t)t->column_count;
}

/* A copy of the configuration for a machine, whose insides still belong to the original; freed with free. NULL: no
 * memory. */
struct lm_config *compare_config(const struct compare_trace *t, const struct compare_machine *machine);

/* Records a difference; the first one counts. Returns 1. */
int compare_differs(struct compare_result *r, int64_t step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records that the comparison could not be made, with lm_error(). */
void compare_breaks(struct compare_result *r);

/* Adds a line to what is said. */
void compare_says(struct compare_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether two rows of a step differ; says in which columns. */
int compare_rows(const struct compare_trace *t, int64_t step, const double *row, struct compare_result *r);

/* compare_state.c: whether ledgers, maps and arrays differ that no fingerprint covers. */
int compare_ends(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r);

/* Says which arrays, cells and particles of the state differ. */
void compare_states(struct lm_sim *reference, struct lm_sim *sim, struct compare_result *r);

/* compare_series.c: runs to the end, then again from a checkpoint at some step. Whether the files differ from the
 * trace. */
int compare_series(const struct compare_trace *t, const struct compare_way *way, int64_t middle,
                   struct compare_result *r);

/* Removes a directory and all that is in it. */
void compare_remove(const char *directory);

#endif
