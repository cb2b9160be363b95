/* What files of fields and of particles both say about the run. */
#ifndef LARMOR_OUTPUT_DESCRIBE_H
#define LARMOR_OUTPUT_DESCRIBE_H

#include "larmor/sim.h"
#include "output/openpmd.h"

/* `solver` gets a text, to which run->solver_parameters points. */
enum { LM_SOLVER_TEXT = LM_MAX_TEXT + 256 };
void lm_describe_run(const struct lm_config *config, struct lm_openpmd_run *run, char solver[LM_SOLVER_TEXT]);

#endif
