#include "output/state.h"

#include <stdlib.h>

#include "base/threads.h"

int lm_output_b(struct lm_sim *sim, const struct lm_grid *g, double **b)
{
    int status = LM_OK;
    *b = malloc(3 * g->size * sizeof **b);
    if (!*b)
        return lm_fail(LM_FAILED, "not enough memory for an output");
    for (int d = 0; d < 3 && !status; d++) {
        status = lm_sim_get_array(sim, LM_B + d, *b + (size_t)d * g->size);
        lm_grid_wrap(g, *b + (size_t)d * g->size);
    }
    return status;
}

int lm_output_threads(const struct lm_config *config)
{
    enum { ENOUGH_CELLS = 4096 };
    return lm_threads_useful(lm_config_grid(config).cells, ENOUGH_CELLS, lm_threads_wanted(config->run.threads));
}
