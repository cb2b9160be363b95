/* What the files about background fields share: background_setup.c, background_ledger.c and advection.c. */
#ifndef LARMOR_SIM_BACKGROUND_PARTS_H
#define LARMOR_SIM_BACKGROUND_PARTS_H

#include <math.h>

#include "sim/advection.h"

/* Fields, sources and inflow values stay below this, because WENO squares differences. */
#define LM_BACKGROUND_LARGEST 1e150

/* The largest of what flows into a field, and of what its source adds in the next step. */
static inline double lm_largest_given(const struct lm_sim_background *s)
{
    return fmax(s->largest_inflow, s->largest_source);
}

/* The same and the largest |q| of the field as it stands. */
static inline double lm_largest_next(const struct lm_sim_background *s)
{
    return fmax(fmax(fabs(s->least), fabs(s->most)), lm_largest_given(s));
}

/* Three grid arrays in a row, all 0, for free(). NULL: not enough memory, which is reported. */
double *lm_sim_background_work(const struct lm_sim *sim);

/* The largest |a| over the cells; NaN if any value is. */
double lm_largest_of(const struct lm_grid *g, const double *a);

/* Sets a to 0 in the cells of bodies. `mask` as in struct lm_bodies, or NULL. */
void lm_clear_bodies(const struct lm_grid *g, const uint8_t *mask, double *a);

/* LM_BAD_INPUT unless whole quanta can hold a field of the largest size `own`, and of `largest`, which counts also its
 * source and inflow. */
int lm_background_check_size(const struct lm_config *c, int field, double own, double largest);

/* The least and the largest value over the cells that lie in no body. */
void lm_sim_survey_background(struct lm_sim *sim, int field, const double *q);

/* Takes a field that has been read from a checkpoint, with its ledger. LM_BAD_INPUT: it is not what its ledger says. */
int lm_sim_take_field(struct lm_sim *sim, int field, const char *path, const struct lm_checkpoint_background *from,
                      double *q);

/* LM_FAILED if a field, its source or its inflow has grown to LM_BACKGROUND_LARGEST. */
int lm_sim_check_growth(const struct lm_sim *sim, int field);

#endif
