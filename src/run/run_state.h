/* A run under way: what src/run/run.c and its parts share. */
#ifndef LARMOR_RUN_RUN_STATE_H
#define LARMOR_RUN_RUN_STATE_H

#include "run/differences.h"
#include "larmor/run.h"
#include "output/lock.h"
#include "survey/limits.h"
#include "output/series_columns.h"
#include "sim/outlook.h"
#include "run/progress.h"
#include "run/summary.h"

struct lm_run_state {
    const struct lm_config *config;
    const struct lm_run_options *options;
    struct lm_lock lock;
    struct lm_sim *sim;
    struct lm_series *series;
    struct lm_series_column *columns;
    int column_count;
    struct lm_references references;
    struct lm_progress progress;
    struct lm_outlook outlook;
    int64_t first_step;
    double started, stepping; /* clock at the start; seconds spent in steps */
    double row_stepping;      /* `stepping` and step at the last row */
    uint64_t row_particle_steps;
    uint64_t particles;
    struct lm_limits limits;       /* of the start: what is warned of */
    struct lm_differences changed; /* from the checkpoint's settings */
    char checkpoint[LM_MAX_PATH];  /* the last one written; "": none */
    int64_t checkpoint_step;       /* its step */
    double checkpoint_seconds;     /* that it took to write */
    char spare[LM_MAX_PATH];       /* one that was written for a long step only, and goes when there is another */
    int spare_failed;              /* one could not be written: no more are tried */
    struct lm_summary begun;       /* of the state before a step that may be given up */
    int told;                      /* the message says where to go on, or that there is no such place */
    char ended[LM_MAX_MESSAGE];    /* why, for run.json */
};

#endif
