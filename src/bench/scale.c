/* Cases `scale-weak` and `scale-strong`: the whole step on a growing number of ranks. Weak: each rank has as many
 * cells; strong: the domain stays, and the last states must have equal fingerprints. Case `scale-halo`: widths of the
 * halo.
 *
 * The clock of a card at its limit of power moves by several percent within a minute. So the numbers of ranks take
 * turns, and each turn compares the ranks with the one rank of the same turn.
 *
 * A model stands beside the measurement: the time of one rank, and that of the messages of a rank by the latency and
 * the rate of the link between ranks 0 and 1. What the measurement takes beyond the model is imbalance, waiting for
 * rank 0, and cores, memory or electric power that the ranks share. Before the measurement, the ranks divide the cells
 * by what steps have cost each of them, as a long run does: two cards of one kind differ by some percent.
 */
#include <math.h>
#include <stdio.h>

#include "bench/cases.h"
#include "distributed/distributed.h"
#include "ranks/ranks.h"

enum { MOST_COUNTS = 24, SMALL = 8, LARGE = 1 << 22 };
enum { TURNS = 5, BATCHES = 4 /* of steps, in each turn */ };
enum { GPU_BATCH = 30, CPU_BATCH = 10, QUICK_BATCH = 2 /* steps; the particles are sorted once in each batch */ };

struct link {
    double latency, rate; /* s; B/s each way */
};

struct result {
    double step;                                             /* s: the mean of all batches */
    double particles, waiting, bytes, messages, collectives; /* of rank 0, in a step; waiting: the part of the time */
    double imbalance;                                        /* the time of the busiest rank over the mean */
    int divisions;                                           /* of the domain, while it was timed */
    struct link link;
    uint64_t fingerprint; /* of the last state */
};

/* The turns of one number of ranks. */
struct turns {
    double cells;                            /* in all */
    double step[LM_BENCH_MAX_REPEATS];       /* s */
    double efficiency[LM_BENCH_MAX_REPEATS]; /* against one rank in the same turn */
    int divisions;                           /* in all turns */
    int equal;                               /* all last states are equal to that of one rank */
    struct result last;
};

/* 1, 2, 4, ... and all ranks. */
static int list_counts(int *counts)
{
    int n = 0;
    for (int ranks = 1; ranks < lm_rank_count() && n < MOST_COUNTS - 1; ranks *= 2)
        counts[n++] = ranks;
    counts[n++] = lm_rank_count();
    return n;
}

static struct link measure_link(struct lm_backend *b)
{
    const double latency = lm_distributed_ping(b, SMALL, 1000);
    return (struct link){latency, LARGE / fmax(lm_distributed_ping(b, LARGE, 20) - latency, 1e-12)};
}

/* Brings the machine to its usual temperature and clock, and lets ranks divide the cells by what steps cost them. A
 * division mends only a part of the imbalance, so they do it twice. */
static int warm_up(struct lm_bench_sim *s, int ranks, int steps)
{
    struct lm_backend *b = s->sim->backend;
    double imbalance;
    int status = lm_bench_advance(s, steps);
    if (!status && ranks > 1)
        status = lm_distributed_measure(b, &imbalance);
    for (int k = 0; k < 2 && !status; k++) {
        status = lm_bench_advance(s, 2 * steps);
        if (!status && ranks > 1)
            status = lm_distributed_rebalance(b);
    }
    return status;
}

static int divisions_of(const struct lm_bench_sim *s, int ranks)
{
    double seconds;
    return ranks > 1 ? lm_distributed_divisions(s->sim->backend, &seconds) : 0;
}

static int time_steps(struct lm_bench_sim *s, int ranks, int steps, struct result *out)
{
    const int divisions = divisions_of(s, ranks), all = steps * BATCHES;
    int status = lm_bench_advance(s, steps);
    const struct lm_ranks_traffic before = lm_ranks_traffic();
    const double begin = lm_clock();
    for (int k = 0; k < BATCHES && !status; k++)
        status = lm_bench_advance(s, steps);
    const double seconds = lm_clock() - begin;
    const struct lm_ranks_traffic after = lm_ranks_traffic();
    out->step = seconds / all;
    out->divisions = divisions_of(s, ranks) - divisions;
    out->waiting = (after.seconds - before.seconds) / seconds;
    out->bytes = (after.bytes - before.bytes) / all;
    out->messages = (after.messages - before.messages) / all;
    out->collectives = (after.collectives - before.collectives) / all;
    return status;
}

static int batch_of(const struct lm_bench *b)
{
    return b->options->quick ? QUICK_BATCH : lm_bench_on_gpu(b) ? GPU_BATCH : CPU_BATCH;
}

static int measure(struct lm_bench *b, int ranks, const struct lm_bench_problem *problem, struct result *out)
{
    struct lm_bench_sim *s;
    const int steps = batch_of(b);
    *out = (struct result){.link = {0, 1}};
    lm_ranks_use(ranks);
    int status = lm_bench_sim_new(b, problem, &s);
    if (!status) {
        out->particles = s->particles;
        status = warm_up(s, ranks, lm_bench_on_gpu(b) ? 2 * steps : steps);
        if (!status)
            status = time_steps(s, ranks, steps, out);
        if (ranks > 1 && !status) {
            status = lm_distributed_measure(s->sim->backend, &out->imbalance);
            out->link = measure_link(s->sim->backend);
        }
        if (!status)
            status = lm_sim_fingerprint(s->sim, &out->fingerprint);
        lm_bench_sim_free(&s);
    }
    lm_ranks_use(0);
    return status;
}

/* --- the tables --- */

enum { CELLS, RATE, STEP, EFFICIENCY, MODEL, WAITING, IMBALANCE, DIVISIONS, SENT, MESSAGES, COLLECTIVES, EQUAL };

static int new_table(const struct lm_bench *b, int weak, struct lm_table **t)
{
    char title[160];
    snprintf(title, sizeof title, "%s scaling: %d x %d cells%s, %g particles a cell", weak ? "weak" : "strong",
             lm_bench_cells(b), lm_bench_cells(b), weak ? " a rank" : " in all", lm_bench_ppc(b));
    if (lm_table_new(weak ? "scale_weak" : "scale_strong", title, t))
        return LM_FAILED;
    lm_table_column(*t, "cells", "M");
    lm_table_column(*t, "rate", "G particle-steps/s");
    lm_table_column(*t, "step", "ms");
    lm_table_column(*t, "efficiency", "%");
    lm_table_column(*t, "model", "%");
    lm_table_column(*t, "waiting", "%");
    lm_table_column(*t, "imbalance", "%");
    lm_table_column(*t, "divisions", "");
    lm_table_column(*t, "sent", "MB/step");
    lm_table_column(*t, "messages", "1/step");
    lm_table_column(*t, "collectives", "1/step");
    if (!weak)
        lm_table_column(*t, "fingerprint", "");
    lm_table_note(*t, "rate of all particles, step, efficiency: medians of turns, each against one rank in the same "
                      "turn; the particles are sorted once in each batch; divisions: of the domain, while all turns "
                      "were timed");
    lm_table_note(*t, "of the last turn: waiting, the part of its time that rank 0 spends in messages; imbalance, what "
                      "a step keeps the busiest rank computing beyond the mean of all; sent, messages, by rank 0");
    return LM_OK;
}

/* The time of the messages of a rank, a collective function as one message for each doubling of the ranks. */
static double message_seconds(const struct result *r, const struct link *link, int ranks)
{
    return (r->messages + r->collectives * log2(ranks)) * link->latency + r->bytes / link->rate;
}

static void put_row(struct lm_table *t, int weak, int ranks, struct turns *turns, int count, double one)
{
    const struct result *r = &turns->last;
    const double alone = weak ? one : one / ranks;
    const struct lm_measured step = lm_measured_of(turns->step, count);
    lm_table_row(t, "%d rank%s", ranks, ranks == 1 ? "" : "s");
    lm_table_number(t, CELLS, 1e-6 * turns->cells);
    lm_table_measured(t, RATE, lm_measured_rate(1e-9 * r->particles, step));
    lm_table_number(t, STEP, 1e3 * step.median);
    if (ranks == 1)
        return;
    lm_table_measured(t, EFFICIENCY, lm_measured_scaled(100, lm_measured_of(turns->efficiency, count)));
    lm_table_number(t, MODEL, 100 * alone / (alone + message_seconds(r, &r->link, ranks)));
    lm_table_number(t, WAITING, 100 * r->waiting);
    lm_table_number(t, IMBALANCE, 100 * (r->imbalance - 1));
    lm_table_number(t, DIVISIONS, turns->divisions);
    lm_table_number(t, SENT, 1e-6 * r->bytes);
    lm_table_number(t, MESSAGES, r->messages);
    lm_table_number(t, COLLECTIVES, r->collectives);
}

/* The link, and the model for ranks that are not here. */
static void put_notes(struct lm_table *t, int weak, double alone, const struct result *last)
{
    enum { MANY = 1024 };
    const char *const exchange = lm_backend_exchange();
    lm_table_note(t, "link of ranks 0 and 1: %.3g us for a small message, %.3g GB/s each way%s%s",
                  1e6 * last->link.latency, 1e-9 * last->link.rate, exchange[0] ? ", by " : "", exchange);
    if (weak)
        lm_table_note(
            t,
            "model for %d ranks like these, each with a machine and such links of its own: %.3g %%. It takes as many "
            "bytes and messages a rank as above, and collective functions that grow with log2 of the ranks",
            MANY, 100 * alone / (alone + message_seconds(last, &last->link, MANY)));
}

/* Multiplies the cells of a problem, along both axes in turn: first along y, so that two ranks have arrays as wide as
 * one has alone. */
static void multiply(struct lm_bench_problem *p, int by)
{
    for (int along_x = 0; by % 2 == 0; by /= 2, along_x = !along_x)
        *(along_x ? &p->cells : &p->rows) *= 2;
    p->rows *= by;
}

/* One turn: each number of ranks once, the largest first in every second turn, so that what changes steadily falls on
 * both. */
static int take_turn(struct lm_bench *b, int weak, const int *counts, int n, int turn, struct turns *all)
{
    for (int i = 0; i < n; i++) {
        const int k = turn % 2 ? n - 1 - i : i;
        struct lm_bench_problem p = {.shape = LM_LINEAR,
                                     .precision = LM_DOUBLE,
                                     .cells = lm_bench_cells(b),
                                     .ppc = lm_bench_ppc(b),
                                     .sort_every = batch_of(b)};
        p.rows = p.cells;
        multiply(&p, weak ? counts[k] : 1);
        const int status = measure(b, counts[k], &p, &all[k].last);
        if (status)
            return status;
        all[k].cells = (double)p.cells * p.rows;
        all[k].step[turn] = all[k].last.step;
        all[k].divisions += all[k].last.divisions;
    }
    for (int k = 0; k < n; k++) {
        all[k].efficiency[turn] = all[0].step[turn] / all[k].step[turn] / (weak ? 1 : counts[k]);
        all[k].equal &= all[k].last.fingerprint == all[0].last.fingerprint;
    }
    return LM_OK;
}

static int run_table(struct lm_bench *b, int weak)
{
    int counts[MOST_COUNTS], status = LM_OK;
    struct turns all[MOST_COUNTS];
    struct lm_table *t;
    const int n = list_counts(counts), turns = lm_bench_repeats(b, b->options->quick ? 2 : TURNS);
    for (int k = 0; k < n; k++)
        all[k] = (struct turns){.equal = 1};
    for (int turn = 0; turn < turns && !status; turn++)
        status = take_turn(b, weak, counts, n, turn, all);
    if (status || (status = new_table(b, weak, &t)))
        return status;
    const double one = lm_measured_of(all[0].step, turns).median;
    for (int k = 0; k < n; k++) {
        put_row(t, weak, counts[k], &all[k], turns, one);
        if (!weak)
            lm_bench_put_equal(b, t, EQUAL, all[k].equal);
    }
    put_notes(t, weak, one, &all[n - 1].last);
    return lm_bench_add(b, &t);
}

/* --- the width of the halo --- */

enum { HALO_STEP, HALO_WAITING, HALO_SENT, HALO_MESSAGES };

static int new_halo_table(const struct lm_bench *b, struct lm_table **t)
{
    char title[160];
    snprintf(title, sizeof title, "width of the halo: %d x %d cells in all, %g particles a cell, %d ranks",
             lm_bench_cells(b), lm_bench_cells(b), lm_bench_ppc(b), lm_rank_count());
    if (lm_table_new("scale_halo", title, t))
        return LM_FAILED;
    lm_table_column(*t, "step", "ms");
    lm_table_column(*t, "waiting", "%");
    lm_table_column(*t, "sent", "MB/step");
    lm_table_column(*t, "messages", "1/step");
    return LM_OK;
}

/* Wide halos cost work, narrow ones messages. */
static int run_halos(struct lm_bench *b)
{
    static const char *const widths[] = {"run.halo=16", "run.halo=24", "run.halo=32", "run.halo=48"};
    struct lm_table *t;
    struct result r;
    int status = new_halo_table(b, &t);
    if (status)
        return status;
    for (size_t k = 0; k < sizeof widths / sizeof *widths && !status; k++) {
        const struct lm_bench_problem p = {.shape = LM_LINEAR,
                                           .precision = LM_DOUBLE,
                                           .cells = lm_bench_cells(b),
                                           .ppc = lm_bench_ppc(b),
                                           .sort_every = batch_of(b),
                                           .more = {widths[k]}};
        status = measure(b, lm_rank_count(), &p, &r);
        if (status)
            break;
        lm_table_row(t, "%s", widths[k]);
        lm_table_number(t, HALO_STEP, 1e3 * r.step);
        lm_table_number(t, HALO_WAITING, 100 * r.waiting);
        lm_table_number(t, HALO_SENT, 1e-6 * r.bytes);
        lm_table_number(t, HALO_MESSAGES, r.messages);
    }
    if (!status)
        return lm_bench_add(b, &t);
    lm_table_free(&t);
    return status;
}

int lm_bench_needs_ranks(const struct lm_bench *b, const char *name)
{
    if (lm_rank_count() > 1)
        return 0;
    fprintf(b->out, "%s: one rank; mpirun -n N larmor bench %s compares numbers of ranks up to N\n\n", name, name);
    return 1;
}

int lm_bench_scale_weak(struct lm_bench *b)
{
    return lm_bench_needs_ranks(b, "scale-weak") ? LM_OK : run_table(b, 1);
}

int lm_bench_scale_strong(struct lm_bench *b)
{
    return lm_bench_needs_ranks(b, "scale-strong") ? LM_OK : run_table(b, 0);
}

int lm_bench_scale_halo(struct lm_bench *b)
{
    return lm_bench_needs_ranks(b, "scale-halo") ? LM_OK : run_halos(b);
}
