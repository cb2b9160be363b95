/* `larmor check --time`: how long the steps of a run will take, by some of them. */
#include <math.h>

#include "larmor/run.h"
#include "larmor/sim.h"

static const double LONG_ENOUGH = 1; /* s */

struct measured {
    double start, step; /* s */
    int64_t steps;
};

/* Begins the run in memory and takes steps until they have lasted long enough. The first step does not count. */
static int measure(struct lm_sim *sim, int64_t most, struct measured *m)
{
    const double begin = lm_clock();
    int status = lm_sim_begin(sim);
    double first = lm_clock();
    m->start = first - begin;
    for (m->steps = -1; m->steps < most - 1 && lm_clock() - first < LONG_ENOUGH && !status; m->steps++) {
        status = lm_sim_check(sim);
        status = status ? status : lm_sim_step(sim);
        first = m->steps < 0 ? lm_clock() : first;
    }
    m->step = m->steps > 0 ? (lm_clock() - first) / (double)m->steps : 0;
    return status;
}

int lm_check_time(const struct lm_config *config, FILE *out)
{
    struct lm_sim *sim = NULL;
    struct measured m;
    int status = lm_sim_create(config, &sim);
    if (!status)
        status = measure(sim, config->run.steps, &m);
    lm_sim_destroy(&sim);
    if (status)
        return status;
    if (m.steps < 1) {
        fprintf(out, "time\n  start %.3g s; %lld steps are too few to be measured\n", m.start,
                (long long)config->run.steps);
        return LM_OK;
    }
    const double all = m.start + m.step * (double)config->run.steps;
    fprintf(out, "time\n  start %.3g s; a step %.4g ms (mean of %lld, the first one does not count)\n", m.start,
            1e3 * m.step, (long long)m.steps);
    fprintf(out, "  %.0f h %02.0f min %02.0f s for %lld steps as these, without files\n", floor(all / 3600),
            floor(fmod(all, 3600) / 60), floor(fmod(all, 60)), (long long)config->run.steps);
    return LM_OK;
}
