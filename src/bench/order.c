/* Case `order`: how the particle pass slows down as the order of the last sort decays, and how often sorting pays.
 *
 * A thermal plasma is sorted every so many steps; the passes and sorts inside of its steps are timed by the number of
 * steps since the sort. What a step costs with any other interval follows from the same numbers.
 */
#include <stdio.h>

#include "bench/cases.h"

enum { MOST_STEPS = 41, CYCLES = 5 };

struct decay {
    int steps, cycles;                             /* between sorts; sorts measured */
    double pass[MOST_STEPS][LM_BENCH_MAX_REPEATS]; /* s, by steps since the sort */
    double strays[MOST_STEPS], sort[LM_BENCH_MAX_REPEATS];
    double particles;
};

/* One step; its pass and sort. */
static int timed_step(struct lm_bench_sim *s, struct lm_bench_watch *out)
{
    lm_bench_watch_begin(s->sim->backend);
    int status = lm_bench_advance(s, 1);
    *out = lm_bench_watch_read();
    lm_bench_watch_end(s->sim->backend);
    return status;
}

/* Measures whole cycles of sorting. The next step sorts. */
static int time_cycles(struct lm_bench_sim *s, struct decay *d)
{
    int status = LM_OK;
    for (int cycle = 0; cycle < d->cycles && !status; cycle++)
        for (int age = 0; age < d->steps && !status; age++) {
            struct lm_bench_watch w;
            status = timed_step(s, &w);
            d->pass[age][cycle] = w.pass;
            d->strays[age] += (double)s->sim->control.strays[0] / d->cycles;
            if (w.sorts != (age == 0))
                return lm_fail(LM_FAILED, "an unexpected sort, %d steps after the last one", age);
            if (age == 0)
                d->sort[cycle] = w.sort;
        }
    return status;
}

static int measure(const struct lm_bench *b, struct lm_bench_problem problem, struct decay *d)
{
    struct lm_bench_sim *s;
    problem.sort_every = d->steps;
    int status = lm_bench_sim_new(b, &problem, &s);
    if (status)
        return status;
    status = lm_bench_advance(s, d->steps); /* the order of loading, until the first sort is due */
    status = status ? status : time_cycles(s, d);
    d->particles = s->particles;
    lm_bench_sim_free(&s);
    return status;
}

/* What the program's own choice gives: steps between sorts, pass and sort a step. */
static int measure_own_choice(const struct lm_bench *b, struct lm_bench_problem problem, int steps, double *interval,
                              double *cost)
{
    struct lm_bench_sim *s;
    struct lm_bench_watch sum = {0};
    problem.sort_every = 0;
    int status = lm_bench_sim_new(b, &problem, &s);
    if (status)
        return status;
    status = lm_bench_advance(s, steps);
    for (int k = 0; k < 3 * steps && !status; k++) {
        struct lm_bench_watch w;
        status = timed_step(s, &w);
        sum.pass += w.pass;
        sum.sort += w.sort;
        sum.sorts += w.sorts;
    }
    *interval = 3.0 * steps / (double)sum.sorts;
    *cost = (sum.pass + sum.sort) / (3.0 * steps);
    lm_bench_sim_free(&s);
    return status;
}

/* --- tables --- */

static int new_table(const char *kind, const char *what, const struct lm_bench_problem *p, struct lm_table **t)
{
    char name[64], title[160];
    snprintf(name, sizeof name, "order_%s_%s_%s", kind, lm_bench_shape(p->shape), lm_bench_precision(p->precision));
    snprintf(title, sizeof title, "order: %s; %s, %s, %d x %d cells, %g particles a cell", what,
             lm_bench_shape(p->shape), lm_bench_precision(p->precision), p->cells, p->cells, p->ppc);
    return lm_table_new(name, title, t);
}

static int decay_table(struct lm_bench *b, const struct lm_bench_problem *p, struct decay *d, double *pass)
{
    struct lm_table *t;
    double bytes = lm_bench_ideal(p->precision) * d->particles;
    if (new_table("decay", "the particle pass by the steps since the last sort", p, &t))
        return LM_FAILED;
    lm_table_column(t, "pass", "ms");
    lm_table_column(t, "rate", "G particle-steps/s");
    lm_table_column(t, "of copy", "%");
    lm_table_column(t, "strays", "% of particles");
    for (int age = 0; age < d->steps; age++) {
        struct lm_measured time = lm_measured_of(d->pass[age], d->cycles);
        pass[age] = time.median;
        lm_table_row(t, "%d steps", age);
        lm_table_measured(t, 0, lm_measured_scaled(1e3, time));
        lm_table_number(t, 1, 1e-9 * d->particles / time.median);
        lm_table_number(t, 2, 100 * bytes / time.median / b->copy.median);
        lm_table_number(t, 3, 100 * d->strays[age] / d->particles);
    }
    return lm_bench_add(b, &t);
}

static void put_interval(struct lm_table *t, const struct decay *d, const char *label, double sort, double cost)
{
    lm_table_row(t, "%s", label);
    lm_table_number(t, 0, 1e3 * cost);
    lm_table_number(t, 1, 1e-9 * d->particles / cost);
    lm_table_number(t, 2, 100 * sort / cost);
}

/* Pass and sort a step when sorting every `interval` steps. */
static double cost_of(const double *pass, double sort, int interval)
{
    double sum = sort;
    for (int age = 0; age < interval; age++)
        sum += pass[age];
    return sum / interval;
}

static int interval_table(struct lm_bench *b, const struct lm_bench_problem *p, struct decay *d, const double *pass)
{
    struct lm_table *t;
    struct lm_measured sort = lm_measured_of(d->sort, d->cycles);
    char label[64];
    int best = 1;
    double interval, cost;
    int status = measure_own_choice(b, *p, d->steps, &interval, &cost);
    status = status ? status : new_table("interval", "pass and sort a step by the steps between sorts", p, &t);
    if (status)
        return status;
    lm_table_column(t, "cost", "ms");
    lm_table_column(t, "rate", "G particle-steps/s");
    lm_table_column(t, "sort", "%");
    for (int k = 1; k <= d->steps; k++) {
        snprintf(label, sizeof label, "every %d", k);
        put_interval(t, d, label, sort.median / k, cost_of(pass, sort.median, k));
        best = cost_of(pass, sort.median, k) < cost_of(pass, sort.median, best) ? k : best;
    }
    snprintf(label, sizeof label, "BEST: every %d", best);
    put_interval(t, d, label, sort.median / best, cost_of(pass, sort.median, best));
    if (interval < 1e6)
        snprintf(label, sizeof label, "the program's choice: %.3g", interval);
    else
        snprintf(label, sizeof label, "the program's choice: none in %d steps", 3 * d->steps);
    put_interval(t, d, label, sort.median / interval, cost);
    lm_table_note(t, "a sort: %.4g ms (%.4g to %.4g), %.3g passes right after it", 1e3 * sort.median, 1e3 * sort.min,
                  1e3 * sort.max, sort.median / pass[0]);
    lm_table_note(t, "the program's choice is measured, the others follow from the passes by age and one sort");
    return lm_bench_add(b, &t);
}

static int one_problem(struct lm_bench *b, const struct lm_bench_problem *p)
{
    static struct decay d; /* too large for a stack */
    double pass[MOST_STEPS];
    d = (struct decay){.steps = b->options->quick ? 4 : MOST_STEPS,
                       .cycles = lm_bench_repeats(b, b->options->quick    ? 2
                                                     : lm_bench_on_gpu(b) ? CYCLES
                                                                          : 2)};
    int status = measure(b, *p, &d);
    status = status ? status : decay_table(b, p, &d, pass);
    return status ? status : interval_table(b, p, &d, pass);
}

int lm_bench_order(struct lm_bench *b)
{
    struct lm_bench_problem p = {.cells = lm_bench_cells(b), .ppc = lm_bench_ppc(b)};
    int status = LM_OK, most = lm_bench_on_gpu(b) ? LM_QUADRATIC : LM_LINEAR;
    for (p.shape = LM_LINEAR; p.shape <= most; p.shape++)
        for (p.precision = LM_DOUBLE; p.precision >= LM_SINGLE && !status; p.precision -= LM_DOUBLE - LM_SINGLE)
            status = one_problem(b, &p);
    return status;
}
