/* What the parts of the comparison share: the reference with its trace, and the way that is being run. */
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
    int64_t steps; /* number of steps that were taken */
    uint64_t *prints;
    double *rows;                 /* [steps + 1][column_count] */
    int in_check;                 /* it stopped before a step, not in one */
    char stopped[LM_MAX_MESSAGE]; /* why the run has not gone on to the end; "" when it has */
    int is_finite;      /* at the last step. Else its bits cannot be compared: CPUs and GPUs write NaN differently */
    struct lm_sim *sim; /* at the last step, or within the one that failed */
};

/* The backend and the settings of a run. */
extern const struct compare_machine compare_reference;

/* Runs the reference, which must be freed in any case. Returns 0 when there is none; the result then says why. */
int compare_trace_make(const struct draft *d, struct compare_trace *t, struct compare_result *r);
void compare_trace_free(struct compare_trace *t);

/* The row of a step. Its last column, the rate, is never compared. */
static inline double *compare_row(const struct compare_trace *t, int64_t step)
{
    return t->rows + (size_t)step * (size_t)t->column_count;
}

/* A copy of the configuration for a machine. Its pointers still belong to the original; free it with free. Returns
 * NULL when there is no memory. */
struct lm_config *compare_config(const struct compare_trace *t, const struct compare_machine *machine);

/* Records a difference; the first one counts. Returns 1. */
int compare_differs(struct compare_result *r, int64_t step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records that the comparison could not be made, with lm_error(). */
void compare_breaks(struct compare_result *r);

/* Adds a line to the description. */
void compare_says(struct compare_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether two rows of a step differ; describes the columns. */
int compare_rows(const struct compare_trace *t, int64_t step, const double *row, struct compare_result *r);

/* compare_state.c: whether ledgers, maps and arrays differ that no fingerprint covers. */
int compare_ends(const struct compare_trace *t, struct lm_sim *sim, struct compare_result *r);

/* Describes which arrays, cells and particles of the state differ. */
void compare_states(struct lm_sim *reference, struct lm_sim *sim, struct compare_result *r);

/* compare_series.c: runs to the end, and again from a checkpoint at some step. Returns whether the files differ from
 * the trace. */
int compare_series(const struct compare_trace *t, const struct compare_way *way, int64_t middle,
                   struct compare_result *r);

/* Removes a directory and all that is in it. */
void compare_remove(const char *directory);

#endif
