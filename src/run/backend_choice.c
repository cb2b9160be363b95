#include "run/backend_choice.h"

#include <stdio.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "base/threads.h"
#include "ranks/ranks.h"
#include "run/step_time.h"

static const double LONG_ENOUGH = 0.2; /* s */

int lm_backend_is_doubtful(const struct lm_prepared *p)
{
    const struct lm_config *c = p->survey.config;
    return p->kind == LM_BACKEND_CUDA && lm_ranks_expected() == 1 && !lm_survey_enters(c) &&
           lm_survey_work(&p->survey) < LM_DOUBTFUL_WORK * lm_threads_wanted(c->run.threads);
}

/* 0: the steps could not be measured; the run itself will say why. */
static int measure(struct lm_config *c, int kind, double *step)
{
    struct lm_sim *sim = NULL;
    struct lm_step_time t = {0, 0};
    c->run.backend = kind;
    int status = lm_sim_create(c, &sim);
    if (!status)
        status = lm_sim_begin(sim);
    if (!status)
        status = lm_step_time_measure(sim, c->run.steps, LONG_ENOUGH, &t);
    lm_sim_destroy(&sim);
    *step = t.step;
    return !status && t.steps > 0;
}

int lm_backend_faster(double on_gpu, double on_cpu, char *line, size_t size)
{
    const int is_cpu = on_cpu < on_gpu;
    snprintf(line, size, "a step takes %.3g ms on the GPU and %.3g ms on the CPU, so the run goes on the %s",
             1e3 * on_gpu, 1e3 * on_cpu, is_cpu ? "CPU" : "GPU");
    return is_cpu ? LM_BACKEND_CPU : LM_BACKEND_CUDA;
}

int lm_backend_choose(const struct lm_prepared *p, char *line, size_t size)
{
    const struct lm_config *config = p->survey.config;
    double on_cpu, on_gpu;
    *line = 0;
    if (config->run.backend != LM_BACKEND_AUTO || config->run.steps < LM_DOUBTFUL_STEPS || !lm_backend_is_doubtful(p))
        return LM_OK;
    struct lm_config *copy = malloc(sizeof *copy);
    if (!copy)
        return lm_fail(LM_FAILED, "not enough memory");
    *copy = *config; /* a shallow copy: `config` still owns its memory */
    if (measure(copy, LM_BACKEND_CUDA, &on_gpu) && measure(copy, LM_BACKEND_CPU, &on_cpu))
        lm_backend_prefer(lm_backend_faster(on_gpu, on_cpu, line, size));
    free(copy);
    return LM_OK;
}
