/* What friction between electrons and single species follows from, as a backend has it. */
#ifndef LARMOR_BACKEND_FRICTION_H
#define LARMOR_BACKEND_FRICTION_H

#include <string.h>

#include "backend/backend.h"
#include "larmor/physics/fields/electron_friction.h"

#ifdef __cplusplus
static_assert((int)LM_FRICTION_SPECIES >= (int)LM_MAX_SPECIES, "room for all species");
#else
_Static_assert((int)LM_FRICTION_SPECIES >= (int)LM_MAX_SPECIES, "room for all species");
#endif

static inline void lm_friction_take_moments(struct lm_friction *f, int which, double *const *older,
                                            double *const *newer)
{
    for (int d = 0; d < LM_ION_MOMENTS; d++) {
        f->older[which][d] = older[d];
        f->newer[which][d] = newer[d];
    }
}

/* From the arrays of the backend (enum lm_array) and the programs of friction_eta where the backend evaluates them.
 * The caller adds the current, B and the bodies. */
static inline struct lm_friction lm_friction_of(const struct lm_setup *s, double *const *array,
                                                struct lm_level_weights at, const struct lm_program *eta, double t)
{
    struct lm_friction f;
    memset(&f, 0, sizeof f);
    f.count = s->friction_species;
    f.at = at;
    f.eta = eta;
    f.t = t;
    f.grid = s->grid;
    f.electrons.n = array[LM_FLOORED];
    f.electrons.p = array[LM_PRESSURE];
    for (int k = 0; k < f.count; k++) {
        const int species = f.species[k] = lm_friction_species(s, k);
        f.least[k] = lm_least_friction_charge(s->species[species].charge, s->species[species].weight);
        lm_friction_take_moments(&f, k, array + LM_SPECIES_OLD + 4 * species, array + LM_SPECIES_NEW + 4 * species);
    }
    lm_friction_take_moments(&f, f.count, array + LM_N_OLD, array + LM_N_NEW);
    return f;
}

#endif
