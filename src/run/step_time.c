#include "run/step_time.h"

int lm_step_time_measure(struct lm_sim *sim, int64_t most, double seconds, struct lm_step_time *out)
{
    double first = lm_clock();
    int status = LM_OK;
    for (out->steps = -1; out->steps < most - 1 && lm_clock() - first < seconds && !status; out->steps++) {
        status = lm_sim_check(sim);
        status = status ? status : lm_sim_step(sim);
        first = out->steps < 0 ? lm_clock() : first;
    }
    out->step = out->steps > 0 ? (lm_clock() - first) / (double)out->steps : 0;
    return status;
}
