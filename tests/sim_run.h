/* Small simulations on the CPU from a configuration's text, in a scratch directory. */
#ifndef LARMOR_TESTS_SIM_RUN_H
#define LARMOR_TESTS_SIM_RUN_H

#include <check.h>
#include <stdlib.h>

#include "inside.h"
#include "scratch.h"

static inline struct lm_config *config_new(const char *text, const char *more)
{
    struct lm_config *c = calloc(1, sizeof *c);
    const char *overrides[] = {"run.backend=cpu", "run.threads=1", more};
    make_file("case.ini", text);
    ck_assert_msg(!lm_config_read(scratch_path("case.ini"), more ? 3 : 2, overrides, c), "%s", lm_error());
    return c;
}

static inline struct lm_sim *sim_new(const char *text, const char *more)
{
    struct lm_sim *sim;
    struct lm_config *c = config_new(text, more);
    ck_assert_msg(!lm_sim_create(c, &sim) && !lm_sim_start(sim), "%s", lm_error());
    return sim;
}

static inline void sim_free(struct lm_sim *sim)
{
    struct lm_config *c = (struct lm_config *)sim->config;
    lm_sim_destroy(&sim);
    lm_config_free(c);
    free(c);
}

static inline void advance(struct lm_sim *sim, int64_t to)
{
    while (sim->step < to)
        ck_assert_msg(!lm_sim_check(sim) && !lm_sim_step(sim), "%s", lm_error());
}

static inline double *array_of(struct lm_sim *sim, int array)
{
    double *a = malloc(sim->grid.size * sizeof *a);
    ck_assert_int_eq(sim->backend->ops->get(sim->backend, array, a), LM_OK);
    return a;
}

#endif
