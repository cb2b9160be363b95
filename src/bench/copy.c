/* Case `copy`: what all other cases are compared with. */
#include <stdlib.h>

#include "bench/cases.h"
#include "bench/device.h"

enum { REPEATS = 10 };

static size_t copy_bytes(const struct lm_bench *b)
{
    if (lm_bench_on_gpu(b))
        return b->options->quick ? (size_t)1 << 28 : (size_t)1 << 32;
    return b->options->quick ? (size_t)1 << 24 : (size_t)1 << 29;
}

static void copy_array(double *to, const double *from, size_t count, int threads)
{
#pragma omp parallel for num_threads(threads)
    for (size_t k = 0; k < count; k++)
        to[k] = from[k];
}

/* Times of `repeats` copies of `bytes` by all threads, after one that touches the pages. */
static int copy_on_cpu(const struct lm_bench *b, size_t bytes, int repeats, struct lm_measured *out)
{
    size_t count = bytes / sizeof(double);
    double *from = calloc(count, sizeof *from), *to = calloc(count, sizeof *to), times[LM_BENCH_MAX_REPEATS];
    int status = from && to ? LM_OK : lm_fail(LM_FAILED, "not enough memory for a copy");
    for (int r = -1; r < repeats && !status; r++) {
        double before = lm_clock();
        if (r < 0) { /* pages that were only ever read are all one page of zeros */
            for (size_t k = 0; k < count; k += 64)
                from[k] = (double)k;
            before = lm_clock();
        }
        copy_array(to, from, count, b->threads);
        times[r < 0 ? 0 : r] = lm_clock() - before;
    }
    if (!status)
        *out = lm_measured_of(times, repeats);
    free(from);
    free(to);
    return status;
}

int lm_bench_measure_copy(struct lm_bench *b)
{
    struct lm_measured loop, memcpy_time = {0, 0, 0};
    size_t bytes = copy_bytes(b);
    int repeats = lm_bench_repeats(b, b->options->quick ? 2 : REPEATS), gpu = lm_bench_on_gpu(b);
    int status = gpu ? lm_cuda_bench_copy(bytes, repeats, &loop, &memcpy_time) : copy_on_cpu(b, bytes, repeats, &loop);
    if (status)
        return status;
    b->copy = b->copy_loop = lm_measured_rate(2.0 * (double)bytes, loop);
    if (gpu) {
        b->copy_memcpy = lm_measured_rate(2.0 * (double)bytes, memcpy_time);
        b->copy = b->copy_memcpy.median > b->copy.median ? b->copy_memcpy : b->copy;
    }
    return LM_OK;
}

static void add_row(struct lm_table *t, const struct lm_bench *b, const char *label, struct lm_measured rate)
{
    lm_table_row(t, "%s", label);
    lm_table_number(t, 0, (double)copy_bytes(b) / 0x1p30);
    lm_table_measured(t, 1, lm_measured_scaled(1e-9, rate));
}

int lm_bench_copy(struct lm_bench *b)
{
    struct lm_table *t;
    int status =
        lm_table_new("copy", "copy: bytes read and written a second; the others are compared with the better", &t);
    if (status)
        return status;
    lm_table_column(t, "array", "GiB");
    lm_table_column(t, "bandwidth", "GB/s");
    add_row(t, b, lm_bench_on_gpu(b) ? "kernel, 16 bytes a thread" : "loop, all threads", b->copy_loop);
    if (lm_bench_on_gpu(b))
        add_row(t, b, "cudaMemcpy", b->copy_memcpy);
    return lm_bench_add(b, &t);
}
