/* Case `ops`: expressions of operators on the grid, in every way the device has, against plain loops on the host. */
#include "bench/cases.h"
#include "bench/device.h"

enum { REPEATS = 10 };

static int cells_of(const struct lm_bench *b)
{
    if (b->options->cells)
        return b->options->cells;
    return b->options->quick ? 100 : lm_bench_on_gpu(b) ? 4096 : 2048;
}

enum { TIME, RATE, COPY, RESULTS, REGISTERS, SPILL, SHARED, OCCUPANCY, LOADS };

static int new_table(const struct lm_bench *b, const char *sides, struct lm_table **t)
{
    char name[32], title[128];
    const int cells = cells_of(b);
    snprintf(name, sizeof name, "ops_%s", sides);
    snprintf(title, sizeof title, "ops: expressions of operators, %s, %d x %d cells", sides, cells, cells);
    if (lm_table_new(name, title, t))
        return LM_FAILED;
    lm_table_column(*t, "time", "us");
    lm_table_column(*t, "cells", "G/s");
    lm_table_column(*t, "of copy", "%");
    lm_table_column(*t, "results", "");
    lm_table_note(*t, "of copy: each input read once, each result written once; results: %s",
                  lm_bench_on_gpu(b) ? "against the loops on the host, bit for bit" : "against those of one thread");
    if (!lm_bench_on_gpu(b))
        return LM_OK;
    lm_table_column(*t, "registers", "");
    lm_table_column(*t, "spilled", "B");
    lm_table_column(*t, "shared", "B");
    lm_table_column(*t, "occupancy", "%");
    lm_table_column(*t, "loads", "a cell");
    lm_table_note(*t, "loads: of inputs from global memory, counted in an untimed run, as the kernel has them; the "
                      "compiler may make one of equal ones");
    return LM_OK;
}

static void put_row(struct lm_bench *b, struct lm_table *t, const struct lm_ops_problem *p, int expression,
                    struct lm_measured time, int equal)
{
    const struct lm_ops_info *info = lm_ops_info(expression);
    const double cells = (double)p->grid.cells, bytes = 8 * (info->inputs + info->outputs);
    lm_table_measured(t, TIME, lm_measured_scaled(1e6, time));
    lm_table_number(t, RATE, 1e-9 * cells / time.median);
    lm_table_number(t, COPY, 100 * bytes * cells / time.median / b->copy.median);
    lm_bench_put_equal(b, t, RESULTS, equal);
}

static int on_gpu(struct lm_bench *b, struct lm_table *t, const struct lm_ops_problem *p, int expression)
{
    static const char *const ways[LM_OPS_WAYS] = {"global", "shared, 32 x 8", "shared, 32 x 32", "shared, 128 x 64"};
    struct lm_ops_run run[LM_OPS_WAYS];
    lm_ops_loops(p, expression, b->threads);
    int status = lm_cuda_bench_ops(p, expression, lm_bench_repeats(b, REPEATS), run);
    for (int k = 0; k < LM_OPS_WAYS && !status; k++) {
        lm_table_row(t, "%s; %s%s", lm_ops_info(expression)->name, ways[k],
                     run[k].fell_back ? ": does not fit, global" : "");
        put_row(b, t, p, expression, run[k].time, run[k].different == 0);
        lm_table_number(t, REGISTERS, run[k].registers);
        lm_table_number(t, SPILL, run[k].spill);
        lm_table_number(t, SHARED, run[k].shared);
        lm_table_number(t, OCCUPANCY, 100 * run[k].occupancy);
        lm_table_number(t, LOADS, run[k].loads);
    }
    return status;
}

static int on_cpu(struct lm_bench *b, struct lm_table *t, const struct lm_ops_problem *p, int expression)
{
    double times[LM_BENCH_MAX_REPEATS];
    const int repeats = lm_bench_repeats(b, REPEATS);
    lm_ops_loops(p, expression, 1);
    const uint64_t expected = lm_ops_checksum(p, expression);
    for (int n = -1; n < repeats; n++) { /* the first is the warm-up */
        const double before = lm_clock();
        lm_ops_loops(p, expression, b->threads);
        times[n < 0 ? 0 : n] = lm_clock() - before;
    }
    lm_table_row(t, "%s; a loop an operator", lm_ops_info(expression)->name);
    put_row(b, t, p, expression, lm_measured_of(times, repeats), lm_ops_checksum(p, expression) == expected);
    return LM_OK;
}

static int one_table(struct lm_bench *b, int walls)
{
    struct lm_ops_problem p = {0};
    struct lm_table *t;
    const int cells = cells_of(b);
    if (new_table(b, walls ? "walls" : "periodic", &t))
        return LM_FAILED;
    int status = lm_ops_make(cells, cells, walls, walls, 1, &p);
    for (int k = 0; k < LM_OPS_EXPRESSIONS && !status; k++)
        status = (lm_bench_on_gpu(b) ? on_gpu : on_cpu)(b, t, &p, k);
    if (!status)
        status = lm_bench_add(b, &t);
    lm_table_free(&t);
    lm_ops_free(&p);
    return status;
}

int lm_bench_ops(struct lm_bench *b)
{
    const int status = one_table(b, 0);
    return status ? status : one_table(b, 1);
}
