/* Case `advect`, last part: the time that a background field adds to a whole step of a plasma. */
#include <stdio.h>

#include "bench/cases.h"

enum { ADDED, SHARE, STEP };

struct share_row {
    const char *label;
    const char *scheme[2]; /* keys; NULL: no field */
};

static const char field[] = "[background.q]\ninitial = 1+0.5*sin(2*pi*x/lx)*cos(2*pi*y/ly)\nvelocity = ion\n";

static const struct share_row list[] = {
    {"no background field", {NULL, NULL}},
    {"a field, WENO5", {"background.q.weno=5", NULL}},
    {"a field, WENO7", {"background.q.weno=7", NULL}},
    {"a field, WENO7, fp32", {"background.q.weno=7", "background.q.smoothness=single"}},
    {"a field, WENO9", {"background.q.weno=9", NULL}}};

static int new_table(const struct lm_bench *b, struct lm_table **t)
{
    char title[160];
    snprintf(title, sizeof title, "advect: share of a step; %d x %d cells, %g particles a cell, linear, double",
             lm_bench_cells(b), lm_bench_cells(b), lm_bench_ppc(b));
    if (lm_table_new("advect_share", title, t))
        return LM_FAILED;
    lm_table_column(*t, "added", "us");
    lm_table_column(*t, "share", "%");
    lm_table_column(*t, "step", "ms");
    lm_table_note(*t, "a step has three stages of the field, and finds the time step that it allows");
    return LM_OK;
}

static int time_step(const struct lm_bench *b, const struct share_row *row, struct lm_measured *out)
{
    const int quick = b->options->quick || !lm_bench_on_gpu(b), warm_up = quick ? 2 : 30, batch = quick ? 2 : 30;
    const int batches = lm_bench_repeats(b, quick ? 2 : 5);
    struct lm_bench_problem p = {.cells = lm_bench_cells(b), .ppc = lm_bench_ppc(b)};
    struct lm_bench_sim *s;
    double times[LM_BENCH_MAX_REPEATS];
    p.sections = row->scheme[0] ? field : NULL;
    p.more[0] = row->scheme[0];
    p.more[1] = row->scheme[1];
    int status = lm_bench_sim_new(b, &p, &s);
    if (status)
        return status;
    status = lm_bench_advance(s, warm_up);
    for (int k = 0; k < batches && !status; k++) {
        const double before = lm_clock();
        status = lm_bench_advance(s, batch);
        times[k] = (lm_clock() - before) / batch;
    }
    if (!status)
        *out = lm_measured_of(times, batches);
    lm_bench_sim_free(&s);
    return status;
}

int lm_bench_share(struct lm_bench *b)
{
    struct lm_table *t;
    struct lm_measured time, without = {0};
    int status = new_table(b, &t);
    for (size_t k = 0; k < sizeof list / sizeof *list && !status; k++) {
        status = time_step(b, &list[k], &time);
        if (status)
            break;
        lm_table_row(t, "%s", list[k].label);
        if (k > 0) {
            lm_table_number(t, ADDED, 1e6 * (time.median - without.median));
            lm_table_number(t, SHARE, 100 * (1 - without.median / time.median));
        } else {
            without = time;
        }
        lm_table_measured(t, STEP, lm_measured_scaled(1e3, time));
    }
    if (!status)
        return lm_bench_add(b, &t);
    lm_table_free(&t);
    return status;
}
