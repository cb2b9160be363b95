/* Case `scale-moving`: work that moves from rank to rank during a run, with `run.rebalance` on and off. A dense layer
 * drifts through half of a periodic domain; a shock leaves a reflecting wall. Runs with and without rebalancing take
 * turns, and all must end with the same fingerprint. */
#include <stdio.h>

#include "bench/cases.h"
#include "distributed/distributed.h"
#include "ranks/ranks.h"

enum { PARTICLES, RATE, STEP, WAITING, DIVISIONS, DIVISION, EQUAL };
enum { OFF, ON, SETTINGS };
enum { REPEATS = 3, ROWS_PART = 4 /* the domain has so many times fewer cells along y */ };

/* A problem, and the steps that it takes for each cell along x. */
struct moving {
    const char *name;
    struct lm_bench_problem problem;
    double steps;
};

struct run {
    double seconds, waiting, particles; /* all steps; the part of the time; the mean of the first and the last state */
    int divisions;
    double dividing; /* s: all of them */
    uint64_t fingerprint;
};

static struct lm_bench_problem base_of(const struct lm_bench *b)
{
    return (struct lm_bench_problem){.shape = LM_LINEAR,
                                     .precision = LM_DOUBLE,
                                     .cells = lm_bench_cells(b),
                                     .rows = lm_bench_cells(b) / ROWS_PART,
                                     .ppc = lm_bench_ppc(b)};
}

/* A fifth of the domain is ten times as dense as the rest and ten times as cool. It drifts .3 cells a step. */
static struct moving layer_of(const struct lm_bench *b)
{
    struct moving m = {"layer of 10:1 that drifts", base_of(b), 0.5 / 0.3};
    m.problem.mean = 1 + 9 * 0.2;
    m.problem.more[0] = "species.protons.density=1+9*(abs(x/lx-0.25)<0.1)";
    m.problem.more[1] = "species.protons.temperature=0.5/(1+9*(abs(x/lx-0.25)<0.1))";
    m.problem.more[2] = "species.protons.drift_x=7.5";
    m.problem.more[3] = "electrons.temperature=0.05";
    return m;
}

static struct moving shock_of(const struct lm_bench *b)
{
    struct moving m = {"shock before a wall", base_of(b), 2.5};
    m.problem.more[0] = "boundary.x_min=reflecting";
    m.problem.more[1] = "boundary.x_max=inflow";
    m.problem.more[2] = "species.protons.drift_x=-3";
    return m;
}

static int run_once(struct lm_bench *b, const struct moving *m, int setting, int steps, struct run *out)
{
    struct lm_bench_problem p = m->problem;
    struct lm_bench_sim *s;
    int k = 0;
    while (p.more[k])
        k++;
    p.more[k] = setting == ON ? "run.rebalance=on" : "run.rebalance=off";
    int status = lm_bench_sim_new(b, &p, &s);
    if (status)
        return status;
    const double waited = lm_ranks_traffic().seconds, begin = lm_clock();
    status = lm_bench_advance(s, steps);
    out->seconds = lm_clock() - begin;
    out->waiting = (lm_ranks_traffic().seconds - waited) / out->seconds;
    out->divisions = lm_distributed_divisions(s->sim->backend, &out->dividing);
    out->particles = 0.5 * (s->particles + (double)s->sim->count[0]);
    if (!status)
        status = lm_sim_fingerprint(s->sim, &out->fingerprint);
    lm_bench_sim_free(&s);
    return status;
}

static int run_problem(struct lm_bench *b, struct lm_table *t, const struct moving *m)
{
    const int repeats = lm_bench_repeats(b, b->options->quick ? 1 : REPEATS),
              steps = (int)(m->steps * m->problem.cells);
    double seconds[SETTINGS][LM_BENCH_MAX_REPEATS];
    struct run last[SETTINGS], first = {0};
    int equal[SETTINGS] = {1, 1}; /* to the first run */
    for (int k = 0; k < repeats; k++)
        for (int setting = OFF; setting < SETTINGS; setting++) {
            const int status = run_once(b, m, setting, steps, &last[setting]);
            if (status)
                return status;
            first = k == 0 && setting == OFF ? last[setting] : first;
            equal[setting] &= last[setting].fingerprint == first.fingerprint;
            seconds[setting][k] = last[setting].seconds / steps;
        }
    for (int setting = OFF; setting < SETTINGS; setting++) {
        const struct lm_measured step = lm_measured_of(seconds[setting], repeats);
        lm_table_row(t, "%s, rebalance %s", m->name, setting == ON ? "on" : "off");
        lm_table_number(t, PARTICLES, 1e-6 * last[setting].particles);
        lm_table_measured(t, RATE, lm_measured_rate(1e-9 * last[setting].particles, step));
        lm_table_number(t, STEP, 1e3 * step.median);
        lm_table_number(t, WAITING, 100 * last[setting].waiting);
        lm_table_number(t, DIVISIONS, last[setting].divisions);
        if (last[setting].divisions > 0)
            lm_table_number(t, DIVISION, 1e3 * last[setting].dividing / last[setting].divisions);
        lm_bench_put_equal(b, t, EQUAL, equal[setting]);
    }
    return LM_OK;
}

static int new_table(const struct lm_bench *b, struct lm_table **t)
{
    char title[160];
    snprintf(title, sizeof title, "work that moves: %d x %d cells, %g particles a cell on the mean, %d ranks",
             lm_bench_cells(b), lm_bench_cells(b) / ROWS_PART, lm_bench_ppc(b), lm_rank_count());
    if (lm_table_new("scale_moving", title, t))
        return LM_FAILED;
    lm_table_column(*t, "particles", "M");
    lm_table_column(*t, "rate", "G particle-steps/s");
    lm_table_column(*t, "step", "ms");
    lm_table_column(*t, "waiting", "%");
    lm_table_column(*t, "divisions", "");
    lm_table_column(*t, "each", "ms");
    lm_table_column(*t, "fingerprint", "");
    lm_table_note(*t, "whole runs by turns, from a start without warm-up; waiting: the part of its time that rank 0 "
                      "spends in messages; divisions: of the domain, in the last run");
    return LM_OK;
}

int lm_bench_scale_moving(struct lm_bench *b)
{
    const struct moving problems[] = {layer_of(b), shock_of(b)};
    struct lm_table *t;
    if (lm_bench_needs_ranks(b, "scale-moving"))
        return LM_OK;
    int status = new_table(b, &t);
    if (status)
        return status;
    for (int k = 0; k < 2 && !status; k++)
        status = run_problem(b, t, &problems[k]);
    if (!status)
        return lm_bench_add(b, &t);
    lm_table_free(&t);
    return status;
}
