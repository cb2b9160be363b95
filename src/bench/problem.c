/* The simulations that the cases measure: a configuration as text, and keys on top of it. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases.h"

static const char thermal[] = "[run]\nsteps = 1000000000\ndt = 0.01\n"
                              "[grid]\nnx = 1\nny = 1\nlx = 1\nly = 1\n"
                              "[electrons]\nclosure = isothermal\ntemperature = 0.5\n"
                              "[fields]\nbz = 1\n"
                              "[species.protons]\ntemperature = 0.5\n"
                              "[output]\nseries_every = 0\n";

int lm_bench_cells(const struct lm_bench *b)
{
    if (b->options->cells)
        return b->options->cells;
    return b->options->quick ? 64 : lm_bench_on_gpu(b) ? 1024 : 256;
}

double lm_bench_ppc(const struct lm_bench *b)
{
    if (b->options->ppc > 0)
        return b->options->ppc;
    return b->options->quick ? 8 : lm_bench_on_gpu(b) ? 128 : 64;
}

enum { KEYS = 12, KEY_TEXT = 96, FILE_TEXT = 1024 };

/* The keys that follow from the problem's numbers. */
static int number_keys(const struct lm_bench *b, const struct lm_bench_problem *p, char text[KEYS][KEY_TEXT])
{
    int n = 0, threads = p->threads ? p->threads : b->options->threads;
    snprintf(text[n++], KEY_TEXT, "grid.nx=%d", p->cells);
    snprintf(text[n++], KEY_TEXT, "grid.ny=%d", p->rows ? p->rows : p->cells);
    snprintf(text[n++], KEY_TEXT, "grid.lx=%.17g", 0.25 * p->cells);
    snprintf(text[n++], KEY_TEXT, "grid.ly=%.17g", 0.25 * (p->rows ? p->rows : p->cells));
    snprintf(text[n++], KEY_TEXT, "run.backend=%s", lm_bench_on_gpu(b) ? "cuda" : "cpu");
    snprintf(text[n++], KEY_TEXT, "run.threads=%d", threads);
    snprintf(text[n++], KEY_TEXT, "run.sort_every=%lld", (long long)p->sort_every);
    snprintf(text[n++], KEY_TEXT, "fields.min_substeps=%d", p->substeps ? p->substeps : 1);
    snprintf(text[n++], KEY_TEXT, "particles.shape=%s", lm_bench_shape(p->shape));
    snprintf(text[n++], KEY_TEXT, "particles.precision=%s", lm_bench_precision(p->precision));
    snprintf(text[n++], KEY_TEXT, "species.protons.particles_per_cell=%.17g", p->ppc / (p->mean > 0 ? p->mean : 1));
    return n;
}

static int read_problem(const struct lm_bench *b, const struct lm_bench_problem *p, struct lm_config *config)
{
    char text[KEYS][KEY_TEXT], file[FILE_TEXT];
    const char *list[KEYS + LM_BENCH_MORE];
    int count = number_keys(b, p, text);
    for (int k = 0; k < count; k++)
        list[k] = text[k];
    for (int k = 0; k < LM_BENCH_MORE && p->more[k]; k++)
        list[count++] = p->more[k];
    snprintf(file, sizeof file, "%s%s", thermal, p->sections ? p->sections : "");
    return lm_config_read_text("bench.ini", file, count, list, config);
}

int lm_bench_sim_new(const struct lm_bench *b, const struct lm_bench_problem *p, struct lm_bench_sim **out)
{
    struct lm_bench_sim *s = *out = calloc(1, sizeof *s);
    if (!s)
        return lm_fail(LM_FAILED, "not enough memory");
    int status = read_problem(b, p, &s->config);
    status = status ? status : lm_sim_create(&s->config, &s->sim);
    status = status ? status : lm_sim_start(s->sim);
    if (status) {
        lm_bench_sim_free(out);
        return status;
    }
    s->particles = (double)s->sim->count[0];
    return LM_OK;
}

void lm_bench_sim_free(struct lm_bench_sim **s)
{
    if (*s) {
        lm_sim_destroy(&(*s)->sim);
        lm_config_free(&(*s)->config);
    }
    free(*s);
    *s = NULL;
}

int lm_bench_advance(struct lm_bench_sim *s, int64_t steps)
{
    int status = LM_OK;
    for (int64_t k = 0; k < steps && !status; k++) {
        status = lm_sim_check(s->sim);
        status = status ? status : lm_sim_step(s->sim);
    }
    return status;
}

double lm_bench_ideal(int precision)
{
    return precision == LM_SINGLE ? 40 : 80;
}

const char *lm_bench_shape(int shape)
{
    return shape == LM_QUADRATIC ? "quadratic" : "linear";
}

const char *lm_bench_precision(int precision)
{
    return precision == LM_SINGLE ? "single" : "double";
}
