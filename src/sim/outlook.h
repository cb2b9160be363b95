/* How long the coming step may take: whether it is worth a checkpoint of its beginning, so that a signal need not wait
 * for its end. Only loops over substeps make a step long beside a checkpoint; all else in it grows like the state. */
#ifndef LARMOR_SIM_OUTLOOK_H
#define LARMOR_SIM_OUTLOOK_H

#include "larmor/sim.h"

/* Kinds of substeps: of B, of each background field (the electrons' entropy among them), of the conduction of heat. */
enum { LM_SUBSTEP_KINDS = 2 + LM_MAX_BACKGROUNDS };

struct lm_outlook {
    double seconds;                    /* of the last step; 0: there has been none */
    double substeps[LM_SUBSTEP_KINDS]; /* in it */
};

/* Substeps of each kind that the next step will take. Those of B and of fields with a given flow are known beforehand.
 * Those of the others are taken from the last step; before the first one they are bounds. */
void lm_outlook_substeps(const struct lm_outlook *o, const struct lm_sim *sim, double substeps[LM_SUBSTEP_KINDS]);

/* Seconds that the next step may spend in them, rather too many than too few. */
double lm_outlook_next(const struct lm_outlook *o, const struct lm_sim *sim);

/* The step has been taken in so many seconds. */
void lm_outlook_took(struct lm_outlook *o, const struct lm_sim *sim, double seconds);

/* Bytes of a checkpoint of the state, about. */
double lm_outlook_bytes(const struct lm_sim *sim);

#endif
