/* Runs whose fingerprints must be the same everywhere: with other threads, tiles, sort intervals, after restarts, on a GPU. */
#ifndef LARMOR_TESTS_CASES_H
#define LARMOR_TESTS_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/sim.h"

struct run_case {
    const char *name, *file;
    const char *overrides[4];
};

static const struct run_case run_cases[] = {
    {"mix-linear-double", "mix.ini", {"particles.shape=linear", "particles.precision=double"}},
    {"mix-linear-single", "mix.ini", {"particles.shape=linear", "particles.precision=single"}},
    {"mix-quadratic-double", "mix.ini", {"particles.shape=quadratic", "particles.precision=double"}},
    {"mix-quadratic-single", "mix.ini", {"particles.shape=quadratic", "particles.precision=single"}},
    {"quiet-quadratic-double", "quiet.ini", {"particles.precision=double"}},
    {"quiet-linear-single", "quiet.ini", {"particles.shape=linear", "particles.precision=single"}},
    {"heap-linear-double", "heap.ini", {"particles.shape=linear"}},
    {"heap-quadratic-single", "heap.ini", {"particles.shape=quadratic", "particles.precision=single"}},
};
enum { RUN_CASES = sizeof run_cases / sizeof *run_cases };

/* Where the case files and golden.txt lie: $LARMOR_TESTS or tests/. */
static inline const char *tests_directory(void)
{
    const char *d = getenv("LARMOR_TESTS");
    return d ? d : "tests";
}

/* Reads a case with more overrides on top; the caller frees the configuration. Ends the program when it cannot be read. */
static inline void case_config(const struct run_case *c, int count, const char *const *more, struct lm_config *config)
{
    char path[LM_MAX_PATH];
    const char *all[16];
    int n = 0;
    for (int k = 0; k < 4 && c->overrides[k]; k++)
        all[n++] = c->overrides[k];
    for (int k = 0; k < count; k++)
        all[n++] = more[k];
    snprintf(path, sizeof path, "%s/cases/%s", tests_directory(), c->file);
    if (lm_config_read(path, n, all, config)) {
        fprintf(stderr, "%s\n", lm_error());
        exit(2);
    }
}

/* Runs a case to its end; the fingerprint of the last state, and after the first step where `early` is not NULL. */
static inline uint64_t case_run(const struct run_case *c, int count, const char *const *more, uint64_t *early)
{
    struct lm_config *config = calloc(1, sizeof *config);
    struct lm_sim *sim;
    uint64_t print = 0;
    case_config(c, count, more, config);
    int status = lm_sim_create(config, &sim);
    if (!status)
        status = lm_sim_start(sim);
    while (!status && sim->step < config->run.steps) {
        status = lm_sim_check(sim);
        if (!status)
            status = lm_sim_step(sim);
        if (!status && early && sim->step == 1)
            status = lm_sim_fingerprint(sim, early);
    }
    if (!status)
        status = lm_sim_fingerprint(sim, &print);
    if (status) {
        fprintf(stderr, "%s: %s\n", c->name, lm_error());
        exit(1);
    }
    lm_sim_destroy(&sim);
    lm_config_free(config);
    free(config);
    return print;
}

/* The fingerprint that a GPU run has confirmed; 0 when golden.txt has none. */
static inline uint64_t golden_of(const char *name)
{
    char path[LM_MAX_PATH], word[128];
    unsigned long long print, found = 0;
    snprintf(path, sizeof path, "%s/golden.txt", tests_directory());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%127s %llx", word, &print) == 2)
        if (!strcmp(word, name))
            found = print;
    if (f)
        fclose(f);
    return found;
}

#endif
