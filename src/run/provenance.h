/* What the files of a run say about their origin. */
#ifndef LARMOR_RUN_PROVENANCE_H
#define LARMOR_RUN_PROVENANCE_H

#include "larmor/config.h"

/* Records the commit of the program and the settings of the run (base/provenance.h). */
void lm_run_set_provenance(const struct lm_config *config);

#endif
