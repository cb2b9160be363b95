/* Case `reduce`: sums over elements of which few contribute, against a plain loop on the host. */
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "bench/device.h"
#include "bench/reduce.h"

static const double rates[] = {1e-4, 1e-3, 1e-2, 0.1, 0.5, 1};

enum { RATES = sizeof rates / sizeof *rates, METHODS = 5, REPEATS = 5, RAGGED = 3, RAGGED_BLOCK = 200 };

struct expected {
    int64_t sum[RATES][LM_REDUCE_CHANNELS];
};

static uint64_t element_count(const struct lm_bench *b)
{
    return b->options->quick ? (uint64_t)1 << 20 : (uint64_t)1 << 26;
}

static void find_expected(uint64_t count, struct expected *e)
{
    memset(e, 0, sizeof *e);
    for (uint64_t k = 0; k < count; k++) {
        uint32_t draw = lm_reduce_draw(k);
        for (int r = RATES - 1; r >= 0 && draw < lm_reduce_threshold(rates[r]); r--)
            for (int c = 0; c < LM_REDUCE_CHANNELS; c++)
                e->sum[r][c] += lm_reduce_value(draw, c);
    }
}

/* --- the table --- */

enum { TIME, RATE, COPY, ATOMICS, PER_MILLION, SUMS };

static int new_table(int channels, uint64_t count, struct lm_table **t)
{
    char name[32], title[128];
    snprintf(name, sizeof name, "reduce_%d", channels);
    snprintf(title, sizeof title, "reduce: %d sum%s over %.4g M elements, by the rate of those that contribute",
             channels, channels == 1 ? "" : "s", 1e-6 * (double)count);
    if (lm_table_new(name, title, t))
        return LM_FAILED;
    lm_table_column(*t, "time", "us");
    lm_table_column(*t, "elements", "G/s");
    lm_table_column(*t, "of copy", "%");
    lm_table_column(*t, "atomics", "");
    lm_table_column(*t, "atomics", "a million");
    lm_table_column(*t, "sums", "");
    lm_table_note(*t,
                  "of copy: 4 bytes read an element; atomics: counted in an untimed run; sums: against a plain loop on "
                  "the host");
    return LM_OK;
}

static void put_time(struct lm_table *t, const struct lm_bench *b, struct lm_measured time, double count)
{
    lm_table_measured(t, TIME, lm_measured_scaled(1e6, time));
    lm_table_number(t, RATE, 1e-9 * count / time.median);
    lm_table_number(t, COPY, 100 * 4 * count / time.median / b->copy.median);
}

static void put_verdict(struct lm_table *t, struct lm_bench *b, const int64_t *sum, const int64_t *expected,
                        int channels)
{
    int equal = !memcmp(sum, expected, (size_t)channels * sizeof *sum);
    lm_bench_put_equal(b, t, SUMS, equal);
}

/* --- on the GPU --- */

static const char *const methods[METHODS] = {"an atomic a thread", "shuffles, an atomic a warp",
                                             "shuffles, empty warps skipped", "blocks", "blocks, empty ones skipped"};

/* All methods at all rates, and at a rate of 0.1 with blocks that are no multiple of a warp. */
static int list_runs(int channels, struct lm_reduce_run *run)
{
    int n = 0;
    for (int r = 0; r < RATES; r++)
        for (int m = 0; m < METHODS; m++)
            run[n++] = (struct lm_reduce_run){.method = m, .channels = channels, .block = 256, .rate = rates[r]};
    for (int m = 0; m < METHODS; m++)
        run[n++] =
            (struct lm_reduce_run){.method = m, .channels = channels, .block = RAGGED_BLOCK, .rate = rates[RAGGED]};
    return n;
}

static int rate_number(double rate)
{
    int r = 0;
    while (r < RATES - 1 && rates[r] != rate)
        r++;
    return r;
}

static int on_gpu(struct lm_bench *b, int channels, const struct expected *e, struct lm_table *t)
{
    struct lm_reduce_run run[(RATES + 1) * METHODS];
    uint64_t count = element_count(b);
    int runs = list_runs(channels, run);
    int status = lm_cuda_bench_reduce(count, lm_bench_repeats(b, REPEATS), run, runs);
    for (int k = 0; k < runs && !status; k++) {
        const struct lm_reduce_run *r = &run[k];
        lm_table_row(t, "%g, %s%s", r->rate, methods[r->method], r->block == RAGGED_BLOCK ? ", block of 200" : "");
        put_time(t, b, r->time, (double)count);
        lm_table_number(t, ATOMICS, r->atomics);
        lm_table_number(t, PER_MILLION, 1e6 * r->atomics / (double)count);
        put_verdict(t, b, r->sum, e->sum[rate_number(r->rate)], channels);
    }
    return status;
}

/* --- on the CPU --- */

static void sum_one(const uint32_t *draw, uint64_t count, uint64_t threshold, int threads, int64_t *out)
{
    int64_t sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (uint64_t k = 0; k < count; k++)
        if (draw[k] < threshold)
            sum += lm_reduce_value(draw[k], 0);
    out[0] = sum;
}

static void sum_four(const uint32_t *draw, uint64_t count, uint64_t threshold, int threads, int64_t *out)
{
    int64_t sum[LM_REDUCE_CHANNELS] = {0};
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (uint64_t k = 0; k < count; k++)
        if (draw[k] < threshold)
            for (int c = 0; c < LM_REDUCE_CHANNELS; c++)
                sum[c] += lm_reduce_value(draw[k], c);
    memcpy(out, sum, sizeof sum);
}

static int on_cpu(struct lm_bench *b, int channels, const struct expected *e, struct lm_table *t)
{
    uint64_t count = element_count(b);
    int repeats = lm_bench_repeats(b, REPEATS);
    uint32_t *draw = malloc(count * sizeof *draw);
    if (!draw)
        return lm_fail(LM_FAILED, "not enough memory");
    for (uint64_t k = 0; k < count; k++)
        draw[k] = lm_reduce_draw(k);
    for (int r = 0; r < RATES; r++) {
        double times[LM_BENCH_MAX_REPEATS];
        int64_t sum[LM_REDUCE_CHANNELS] = {0};
        for (int n = -1; n < repeats; n++) { /* the first is the warm-up */
            double before = lm_clock();
            (channels == 1 ? sum_one : sum_four)(draw, count, lm_reduce_threshold(rates[r]), b->threads, sum);
            times[n < 0 ? 0 : n] = lm_clock() - before;
        }
        lm_table_row(t, "%g, OpenMP reduction", rates[r]);
        put_time(t, b, lm_measured_of(times, repeats), (double)count);
        put_verdict(t, b, sum, e->sum[r], channels);
    }
    free(draw);
    return LM_OK;
}

static int one_table(struct lm_bench *b, int channels, const struct expected *e)
{
    struct lm_table *t;
    if (new_table(channels, element_count(b), &t))
        return LM_FAILED;
    int status = lm_bench_on_gpu(b) ? on_gpu(b, channels, e, t) : on_cpu(b, channels, e, t);
    if (!status)
        return lm_bench_add(b, &t);
    lm_table_free(&t);
    return status;
}

int lm_bench_reduce(struct lm_bench *b)
{
    struct expected e;
    find_expected(element_count(b), &e);
    int status = one_table(b, 1, &e);
    return status ? status : one_table(b, LM_REDUCE_CHANNELS, &e);
}
