#include "survey/prepare.h"

#include <stdlib.h>

#include "survey/parts.h"
#include "larmor/sim.h"
#include "output/series_columns.h"
#include "backend/backend.h"

/* Checks that no two columns of the series have the same name. */
static int check_columns(const struct lm_config *c)
{
    struct lm_series_column *columns = NULL;
    int count, status = lm_row_columns(c, &count, &columns);
    free(columns);
    return status;
}

/* Checks the memory for the grid alone, before anything is evaluated on it. */
static int check_grid(const struct lm_config *c, struct lm_prepared *p)
{
    const uint64_t none[LM_MAX_SPECIES] = {0};
    lm_need_find(c, p->kind, NULL, none, &p->need);
    return lm_need_check(c, &p->need);
}

static int check_memory(const struct lm_config *c, const uint64_t *checkpoint_counts, struct lm_prepared *p)
{
    uint64_t counts[LM_MAX_SPECIES];
    lm_survey_counts(&p->survey, counts);
    lm_need_find(c, p->kind, p->survey.mask, checkpoint_counts ? checkpoint_counts : counts, &p->need);
    return lm_need_check(c, &p->need);
}

/* Compares the memory at the end of the run, if no new ion leaves, with the memory that there is. */
static int add_growth(const struct lm_config *c, struct lm_prepared *p)
{
    uint64_t then[LM_MAX_SPECIES];
    struct lm_need need;
    int status = c->ionisation_count > 0 ? lm_check_births(&p->survey, then) : LM_OK;
    if (status || c->ionisation_count == 0)
        return status;
    lm_need_find(c, p->kind, p->survey.mask, then, &need);
    const int cuda = p->kind == LM_BACKEND_CUDA;
    lm_limits_add(&p->limits, "memory with all that are born, GiB",
                  lm_need_sum(cuda ? need.device : need.host) / 0x1p30,
                  (cuda ? need.has_device.free : need.has_host.free) / 0x1p30,
                  "if no new ion leaves; the run stops with a checkpoint before memory runs out",
                  "lower the rate of ionisation, the particles_per_cell of what is born, or the number of steps");
    return LM_OK;
}

int lm_prepare(const struct lm_config *c, const uint64_t *counts, struct lm_prepared *p)
{
    int status = lm_backend_resolve(c->run.backend, c->run.threads, &p->kind, p->device, sizeof p->device);
    p->limits.count = 0;
    if (!status)
        status = check_columns(c);
    if (!status)
        status = check_grid(c, p);
    if (!status)
        status = lm_survey_begin(c, &p->survey);
    if (status)
        return status;
    status = lm_survey_evaluate(&p->survey);
    if (!status)
        status = lm_limits_find(&p->survey, &p->limits);
    if (!status)
        status = add_growth(c, p);
    if (status == LM_BAD_INPUT && counts)
        status = LM_OK; /* the run begins with the state of the checkpoint */
    if (!status)
        status = check_memory(c, counts, p);
    if (status)
        lm_survey_end(&p->survey);
    return status;
}

void lm_prepare_free(struct lm_prepared *p)
{
    lm_survey_end(&p->survey);
}

static int is_small(const struct lm_prepared *p)
{
    static const double MOST_PARTICLES = 1 << 20, MOST_CELLS = 1 << 18;
    return (double)p->survey.grid.cells <= MOST_CELLS && lm_survey_particles(&p->survey) <= MOST_PARTICLES;
}

int lm_prepare_try(const struct lm_config *config, const struct lm_prepared *p)
{
    if (!is_small(p))
        return LM_OK;
    struct lm_config *on_cpu = malloc(sizeof *on_cpu);
    struct lm_sim *sim = NULL;
    struct lm_references unused;
    if (!on_cpu)
        return lm_fail(LM_FAILED, "not enough memory");
    *on_cpu = *config; /* a shallow copy: `config` still owns its memory */
    on_cpu->run.backend = LM_BACKEND_CPU;
    int status = lm_sim_create(on_cpu, &sim);
    if (!status)
        status = lm_sim_begin(sim);
    if (!status)
        status = lm_row_references(sim, &unused);
    lm_sim_destroy(&sim);
    free(on_cpu);
    return status;
}
