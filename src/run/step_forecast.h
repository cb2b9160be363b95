/* How long the coming step may take: whether it is worth a checkpoint of its beginning, so that a signal need not wait
 * for its end. Only loops over substeps make a step long beside a checkpoint; all else in it grows like the state. */
#ifndef LARMOR_RUN_STEP_FORECAST_H
#define LARMOR_RUN_STEP_FORECAST_H

#include "larmor/sim.h"

/* Kinds of substeps: of B, of each background field (the electrons' entropy among them), of the conduction of heat. */
enum { LM_SUBSTEP_KINDS = 2 + LM_MAX_BACKGROUNDS };

struct lm_step_forecast {
    double seconds;                    /* of the last step; 0: there has been none */
    double substeps[LM_SUBSTEP_KINDS]; /* in it */
};

/* Substeps of each kind that the next step will take. Those of B and of fields with a given flow are known beforehand.
 * Those of the others are taken from the last step; before the first one they are bounds. */
void lm_step_forecast_substeps(const struct lm_step_forecast *o, const struct lm_sim *sim,
                               double substeps[LM_SUBSTEP_KINDS]);

/* Seconds that the next step may spend in them, rather too many than too few. */
double lm_step_forecast_seconds(const struct lm_step_forecast *o, const struct lm_sim *sim);

/* The step has been taken in so many seconds. */
void lm_step_forecast_update(struct lm_step_forecast *o, const struct lm_sim *sim, double seconds);

/* Bytes of a checkpoint of the state, about. */
double lm_step_forecast_checkpoint_bytes(const struct lm_sim *sim);

#endif
