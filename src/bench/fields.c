/* Case `fields`: the operations on the grid one by one, and what the fields take of a step.
 *
 * An operation is called many times before the host waits once. Ideal bytes: each array that goes in read once, each
 * that comes out written once; for a substep of B as if its four stages were one.
 */
#include <stdio.h>

#include "bench/cases.h"
#include "larmor/physics/fields/relaxation.h"

enum { REPEATS = 10 };

static int closure(struct lm_backend *b)
{
    return b->ops->closure(b, LM_N_OLD, LM_N_NEW, 0.0);
}

static int advance_b(struct lm_backend *b)
{
    return b->ops->advance_b(b, &(const struct lm_b_step){LM_J_OLD, 0.01, 1, 0, LM_NO_MEAN, 0, 0});
}

static int relax_b(struct lm_backend *b)
{
    return b->ops->relax_b(b, 0, LM_LEAST_RELAXATION_STAGES);
}

static int ohm(struct lm_backend *b)
{
    return b->ops->ohm(b, LM_OHM_AHEAD);
}

static int survey(struct lm_backend *b)
{
    return b->ops->field_maxima(b, LM_MAXIMA);
}

static int grid_sums(struct lm_backend *b)
{
    struct lm_grid_sums ignored;
    return b->ops->grid_sums(b, &ignored);
}

static int collect(struct lm_backend *b)
{
    int status = b->ops->collect(b, 0, 0, 1);
    return status ? status : b->ops->moments(b);
}

static int nothing(struct lm_backend *b)
{
    (void)b;
    return LM_OK;
}

/* In this order: collect leaves no particles on the grid. */
static const struct {
    const char *label;
    int (*run)(struct lm_backend *b);
    double values; /* of 8 bytes a cell, ideal */
} operations[] = {
    {"closure", closure, 3},                        /* n of two levels to floored n; isothermal here and below */
    {"advance_b, a substep", advance_b, 10},        /* B, J_i, n to B */
    {"B in insulators, where none is", relax_b, 7}, /* B, 1/n to B */
    {"Ohm's law, smoothing, maxima", ohm, 16},      /* B, J_i of two levels, n to E, push E */
    {"survey", survey, 11},                         /* B, J_i, n, eta, push E */
    {"grid_sums", grid_sums, 4},                    /* B, n */
    {"collect and moments, smoothed", collect, 13}, /* 4 sums read, 4 cleared; n of the species, n, J_i */
    {"waiting for nothing", nothing, 0},
};

enum { OPERATIONS = sizeof operations / sizeof *operations, BATCH = 50 };

/* Seconds a call. */
static int time_operation(struct lm_backend *b, int number, int batch, int repeats, struct lm_measured *out)
{
    struct lm_control ignored;
    double times[LM_BENCH_MAX_REPEATS];
    int status = LM_OK;
    for (int r = -1; r < repeats && !status; r++) { /* the first is the warm-up */
        double before = lm_clock();
        for (int k = 0; k < batch && !status; k++)
            status = operations[number].run(b);
        status = status ? status : b->ops->control(b, &ignored);
        times[r < 0 ? 0 : r] = (lm_clock() - before) / batch;
    }
    if (!status)
        *out = lm_measured_of(times, repeats);
    return status;
}

static int time_operations(struct lm_bench *b, const struct lm_bench_problem *problem, struct lm_table *t)
{
    struct lm_bench_sim *s;
    double cells = (double)problem->cells * problem->cells;
    int status = lm_bench_sim_new(b, problem, &s), repeats = lm_bench_repeats(b, b->options->quick ? 2 : REPEATS);
    if (status)
        return status;
    for (int k = 0; k < OPERATIONS && !status; k++) {
        struct lm_measured time;
        int batch = b->options->quick ? 2 : operations[k].values > 0 ? BATCH : 1;
        double bytes = 8 * cells * operations[k].values;
        status = time_operation(s->sim->backend, k, batch, repeats, &time);
        if (status)
            break;
        lm_table_row(t, "%s", operations[k].label);
        lm_table_measured(t, 0, lm_measured_scaled(1e6, time));
        if (bytes > 0) {
            lm_table_number(t, 1, bytes / 1e6);
            lm_table_number(t, 2, 100 * bytes / time.median / b->copy.median);
        }
    }
    lm_bench_sim_free(&s);
    return status;
}

static int operations_table(struct lm_bench *b, const struct lm_bench_problem *problem)
{
    struct lm_table *t;
    char title[128];
    snprintf(title, sizeof title, "fields: one operation on %d x %d cells", problem->cells, problem->cells);
    if (lm_table_new("fields_operations", title, &t))
        return LM_FAILED;
    lm_table_column(t, "time", "us");
    lm_table_column(t, "ideal", "MB");
    lm_table_column(t, "of copy", "%");
    lm_table_note(t, "of copy: of the bandwidth of arrays that fit no cache; a grid may fit one");
    int status = time_operations(b, problem, t);
    if (!status)
        return lm_bench_add(b, &t);
    lm_table_free(&t);
    return status;
}

/* Seconds of a step without its passes and sorts. */
static int time_rest(struct lm_bench *b, const struct lm_bench_problem *problem, struct lm_measured *out, int *substeps)
{
    struct lm_bench_sim *s;
    double times[LM_BENCH_MAX_REPEATS];
    int repeats = lm_bench_repeats(b, b->options->quick ? 2 : REPEATS), steps = b->options->quick ? 2 : 20;
    int status = lm_bench_sim_new(b, problem, &s);
    if (status)
        return status;
    status = lm_bench_advance(s, steps);
    for (int r = 0; r < repeats && !status; r++) {
        lm_bench_watch_begin(s->sim->backend);
        double before = lm_clock();
        status = lm_bench_advance(s, steps);
        double total = lm_clock() - before;
        struct lm_bench_watch w = lm_bench_watch_read();
        lm_bench_watch_end(s->sim->backend);
        times[r] = (total - w.pass - w.sort) / steps;
    }
    *substeps = s->sim->substeps;
    lm_bench_sim_free(&s);
    if (!status)
        *out = lm_measured_of(times, repeats);
    return status;
}

static int step_table(struct lm_bench *b, struct lm_bench_problem problem)
{
    static const int counts[] = {1, 2, 4, 20};
    struct lm_table *t;
    char title[128];
    int status = LM_OK;
    snprintf(title, sizeof title, "fields: the part of a step that is neither particle pass nor sort, %d x %d cells",
             problem.cells, problem.cells);
    if (lm_table_new("fields_step", title, &t))
        return LM_FAILED;
    lm_table_column(t, "time", "us");
    lm_table_column(t, "a substep", "us");
    for (int k = 0; k < 4 && !status; k++) {
        struct lm_measured time;
        int substeps = 0;
        problem.substeps = counts[k];
        status = time_rest(b, &problem, &time, &substeps);
        if (status)
            break;
        lm_table_row(t, "%d substep%s", substeps, substeps == 1 ? "" : "s");
        lm_table_measured(t, 0, lm_measured_scaled(1e6, time));
        lm_table_number(t, 1, 1e6 * time.median / substeps);
    }
    lm_table_note(t, "moments, closure, B, E, maxima and the host's waiting; the passes are waited for, and left out");
    if (!status)
        return lm_bench_add(b, &t);
    lm_table_free(&t);
    return status;
}

/* The plasma is cold and has a quiet start. Then one particle per cell is enough, and no step needs more substeps than
 * the requested number. */
int lm_bench_fields(struct lm_bench *b)
{
    const struct lm_bench_problem problem = {.cells = lm_bench_cells(b),
                                             .ppc = 1,
                                             .precision = LM_DOUBLE,
                                             .more = {"species.protons.temperature=0", "species.protons.start=quiet"}};
    int status = operations_table(b, &problem);
    return status ? status : step_table(b, problem);
}
