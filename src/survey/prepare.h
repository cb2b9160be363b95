/* What is found of a run before it begins: `larmor run` and `larmor check` both begin so, and agree therefore. */
#ifndef LARMOR_SURVEY_PREPARE_H
#define LARMOR_SURVEY_PREPARE_H

#include "survey/limits.h"
#include "survey/memory_need.h"

struct lm_prepared {
    int kind; /* of the backend, resolved */
    char device[256];
    struct lm_survey survey;
    struct lm_need need;
    struct lm_limits limits;
};

/* Looks at all that follows from the configuration without loading a particle. `counts`: of the species in a checkpoint
 * that the run goes on from, where the state at the start counts for nothing but warnings; or NULL. LM_BAD_INPUT: no
 * run can begin, here or at all: an expression, the state at the start, or memory. Free in the case of LM_OK only. */
int lm_prepare(const struct lm_config *config, const uint64_t *counts, struct lm_prepared *out);
void lm_prepare_free(struct lm_prepared *p);

/* Begins a run as `larmor run` would, up to its first step, on the CPU and without files: what only the loaded
 * particles show. For starts that take a moment; of others it says LM_OK. The status and message are those of the run.
 */
int lm_prepare_try(const struct lm_config *config, const struct lm_prepared *p);

#endif
