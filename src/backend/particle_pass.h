/* What both backends derive from the setup and from struct lm_pass for the loops over particles. For sources that are
 * compiled for each precision. */
#ifndef LARMOR_BACKEND_PARTICLE_PASS_H
#define LARMOR_BACKEND_PARTICLE_PASS_H

#include "backend/backend.h"
#include "larmor/physics/particles/ionise.h"
#include "larmor/physics/particles/push.h"

static inline struct lm_step lm_step_of(const struct lm_setup *s, int species, const struct lm_pass *pass)
{
    const struct lm_backend_species *p = &s->species[species];
    return lm_step_make(pass->kick_dt, pass->drift_dt, pass->move, pass->speed_exponent, p->charge / p->mass,
                        s->ohm.inv_dx, s->ohm.inv_dy);
}

static inline struct lm_tally_units lm_tally_units_of(const struct lm_pass *pass)
{
    const struct lm_tally_units units = {lm_exp2i(pass->tally_v), lm_exp2i(pass->tally_v2)};
    return units;
}

/* Source number `source` of ions in one step; `array`: the backend's arrays of the grid (enum lm_array). */
static inline struct lm_ionise lm_ionise_of(const struct lm_setup *s, double *const *array,
                                            const struct lm_opening *open, int source, const struct lm_pass *pass,
                                            int quantum)
{
    const struct lm_ionisation *from = &s->ionisation[source];
    struct lm_ionise to;
    to.expected = array[LM_BORN + source];
    to.thermal = array[LM_BORN_THERMAL + source];
    for (int d = 0; d < 3; d++)
        to.drift[d] = array[LM_BORN_DRIFT + d * LM_MAX_IONISATIONS + source];
    to.gas = from->gas < 0 ? NULL : array[LM_BACKGROUND + from->gas];
    to.open = open;
    to.unit = lm_exp2i(-quantum);
    to.quanta = lm_ionise_quanta(s->species[from->species].weight, quantum);
    to.key = lm_step_key(s->seed, pass->step);
    to.source = source;
    return to;
}

#endif
