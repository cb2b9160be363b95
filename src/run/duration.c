/* `larmor check --time`: how long the steps of a run will take, by some of them. */
#include <math.h>

#include "larmor/run.h"
#include "larmor/sim.h"
#include "backend/backend.h"
#include "output/energy_budget.h"
#include "output/series_columns.h"
#include "run/backend_choice.h"
#include "run/energy.h"
#include "run/step_time.h"

static const double LONG_ENOUGH = 1; /* s */

struct measured {
    double start; /* s */
    struct lm_step_time steps;
    struct lm_energy_watch energy;
    double share, uncertain, time; /* what of the energy is unexplained after these steps, and the time then */
};

static int find_share(struct lm_sim *sim, const struct lm_config *config, const struct lm_references *references,
                      struct measured *m)
{
    struct lm_sim_status now;
    struct lm_totals totals;
    struct lm_energy_budget budget;
    const int status = lm_sim_totals(sim, &totals);
    lm_sim_status(sim, &now);
    lm_energy_budget_find(config, &now, &totals, references, &budget);
    m->share = budget.share;
    m->uncertain = budget.uncertain;
    m->time = now.time;
    return status;
}

/* Begins the run in memory and takes steps until they have lasted long enough. */
static int measure(struct lm_sim *sim, const struct lm_config *config, struct measured *m)
{
    const double begin = lm_clock();
    struct lm_references references = {0};
    int status = lm_sim_begin(sim);
    m->start = lm_clock() - begin;
    if (!status)
        status = lm_row_references(sim, &references);
    lm_energy_watch_begin(config, &references, &m->energy);
    if (!status)
        status = lm_step_time_measure(sim, config->run.steps, LONG_ENOUGH, &m->steps);
    return status ? status : find_share(sim, config, &references, m);
}

/* A gain or loss that goes on as in these steps. */
static void print_energy(const struct lm_config *config, const struct measured *m, FILE *out)
{
    const double end = (double)config->run.steps * config->run.dt, then = m->share * end / m->time;
    if (m->energy.judged == LM_ENERGY_NOT)
        return;
    fprintf(out, "  energy: %+.2g %% unexplained at t = %.3g; if it goes on so, %+.2g %% at the end%s\n",
            100 * m->share, m->time, 100 * then,
            lm_energy_is_beyond(&m->energy, then, m->uncertain * end / m->time, config->run.energy_limit)
                ? ", BEYOND run.energy_limit"
                : "");
}

/* `auto` on a GPU stands for the faster backend from here on, as in a run. */
static int choose_backend(const struct lm_config *config, FILE *out)
{
    struct lm_prepared p;
    char text[256];
    int kind;
    lm_backend_prefer(LM_BACKEND_AUTO);
    int status = lm_backend_resolve(config->run.backend, config->run.threads, &kind, text, sizeof text);
    if (status || kind != LM_BACKEND_CUDA)
        return status;
    status = lm_prepare(config, NULL, &p);
    if (status)
        return status;
    status = lm_backend_choose(&p, text, sizeof text);
    if (*text)
        fprintf(out, "backend\n  %s\n", text);
    lm_prepare_free(&p);
    return status;
}

int lm_check_time(const struct lm_config *config, FILE *out)
{
    struct lm_sim *sim = NULL;
    struct measured m;
    int status = choose_backend(config, out);
    if (!status)
        status = lm_sim_create(config, &sim);
    if (!status)
        status = measure(sim, config, &m);
    lm_sim_destroy(&sim);
    if (status)
        return status;
    const struct lm_step_time *t = &m.steps;
    if (t->steps < 1) {
        fprintf(out, "time\n  start %.3g s; %lld steps are too few to be measured\n", m.start,
                (long long)config->run.steps);
        return LM_OK;
    }
    const double all = m.start + t->step * (double)config->run.steps;
    fprintf(out, "time\n  start %.3g s; a step %.4g ms (mean of %lld, the first one does not count)\n", m.start,
            1e3 * t->step, (long long)t->steps);
    fprintf(out, "  %.0f h %02.0f min %02.0f s for %lld steps as these, without files\n", floor(all / 3600),
            floor(fmod(all, 3600) / 60), floor(fmod(all, 60)), (long long)config->run.steps);
    print_energy(config, &m, out);
    return LM_OK;
}
