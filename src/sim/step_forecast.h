/* A forecast of the time that the next step takes. Before a long step the run writes a checkpoint of the step's
 * beginning, so that a signal need not wait for its end. Only loops over substeps can make a step long compared with a
 * checkpoint; the rest of a step grows with the size of the state, as a checkpoint does. */
#ifndef LARMOR_SIM_STEP_FORECAST_H
#define LARMOR_SIM_STEP_FORECAST_H

#include "larmor/sim.h"

/* The kinds of substeps: those of B, of the conduction of heat, and of each background field (the entropy of the
 * electrons is one of them). */
enum { LM_SUBSTEP_KINDS = 2 + LM_MAX_BACKGROUNDS };

struct lm_step_forecast {
    double seconds;                    /* duration of the last step; 0: there has been none */
    double substeps[LM_SUBSTEP_KINDS]; /* substeps of each kind in the last step */
};

/* The number of substeps of each kind in the next step. The numbers for B and for fields with a prescribed flow are
 * exact. The others are those of the last step; before the first step they are upper bounds. */
void lm_step_forecast_substeps(const struct lm_step_forecast *o, const struct lm_sim *sim,
                               double substeps[LM_SUBSTEP_KINDS]);

/* The time in seconds that the next step spends in substeps. The forecast is rather too long than too short. */
double lm_step_forecast_seconds(const struct lm_step_forecast *o, const struct lm_sim *sim);

/* Records a step that took `seconds`. */
void lm_step_forecast_update(struct lm_step_forecast *o, const struct lm_sim *sim, double seconds);

/* The approximate size of a checkpoint of the present state, in bytes. */
double lm_step_forecast_checkpoint_bytes(const struct lm_sim *sim);

#endif
