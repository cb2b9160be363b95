/* For tests that look inside a simulation: what is private to the parts that it is made of. */
#ifndef TESTS_INSIDE_H
#define TESTS_INSIDE_H

#include "base/expr.h"
#include "checkpoint/checkpoint.h"
#include "config/facts.h"
#include "larmor/run.h"
#include "output/info.h"
#include "output/output.h"
#include "output/series_columns.h"
#include "sim/advection.h"
#include "sim/boundaries.h"
#include "sim/collisions.h"
#include "sim/electrons.h"
#include "sim/ion_electron_heating.h"
#include "sim/ionisation.h"
#include "sim/restart.h"
#include "sim/setup.h"
#include "sim/state.h"

/* Restores a state and hands over the head of its checkpoint. */
static inline int restore_checkpoint(struct lm_sim *sim, const char *path, struct lm_checkpoint *head)
{
    const int status = lm_checkpoint_head(path, head);
    return status ? status : lm_sim_restore_state(sim, path, head);
}

#endif
