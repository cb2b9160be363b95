#include "bench.h"

static struct {
    const struct lm_backend_ops *real;
    struct lm_backend_ops timed;
    struct lm_bench_watch sum;
} watched;

static int drain(struct lm_backend *b)
{
    struct lm_control ignored;
    return watched.real->control(b, &ignored);
}

static int timed_pass(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    int status = drain(b);
    double before = lm_clock();
    status = status ? status : watched.real->pass(b, species, pass);
    status = status ? status : drain(b);
    watched.sum.pass += lm_clock() - before;
    return status;
}

static int timed_sort(struct lm_backend *b, int species)
{
    int status = drain(b);
    double before = lm_clock();
    status = status ? status : watched.real->sort(b, species);
    status = status ? status : drain(b);
    watched.sum.sort += lm_clock() - before;
    watched.sum.sorts++;
    return status;
}

void lm_bench_watch_begin(struct lm_backend *b)
{
    watched.real = b->ops;
    watched.timed = *b->ops;
    watched.timed.pass = timed_pass;
    watched.timed.sort = timed_sort;
    watched.sum = (struct lm_bench_watch){0};
    b->ops = &watched.timed;
}

struct lm_bench_watch lm_bench_watch_read(void)
{
    return watched.sum;
}

void lm_bench_watch_end(struct lm_backend *b)
{
    b->ops = watched.real;
}
