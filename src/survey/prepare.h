/* The checks before a run begins. `larmor run` and `larmor check` both use them, so that they agree. */
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

/* Checks everything that follows from the configuration, without loading a particle. `counts` are the numbers of
 * particles in the checkpoint from which the run goes on, or NULL; with a checkpoint the state at the start matters for
 * warnings only. LM_BAD_INPUT: the run cannot begin because of an expression, the state at the start, or memory. The
 * caller frees `out` after LM_OK only. */
int lm_prepare(const struct lm_config *config, const uint64_t *counts, struct lm_prepared *out);
void lm_prepare_free(struct lm_prepared *p);

/* Begins a run as `larmor run` does, up to its first step, on the CPU and without files. This finds what only the
 * loaded particles show. It is done for small runs only; for others the status is LM_OK. The status and message are
 * those of the run. */
int lm_prepare_try(const struct lm_config *config, const struct lm_prepared *p);

#endif
