/* The state of a run that run.c, summary.c and others share. */
#ifndef LARMOR_RUN_RUN_STATE_H
#define LARMOR_RUN_RUN_STATE_H

#include "run/differences.h"
#include "run/energy.h"
#include "larmor/run.h"
#include "output/averages.h"
#include "output/lock.h"
#include "output/samples.h"
#include "output/series_columns.h"
#include "sim/step_forecast.h"
#include "survey/limits.h"
#include "run/progress.h"
#include "run/summary.h"

struct lm_run_state {
    const struct lm_config *config;
    struct lm_config *own; /* of a restart: what `config` points to, which shares the rest with that of the caller */
    const struct lm_run_options *options;
    struct lm_lock lock;
    struct lm_sim *sim;
    struct lm_series *series;
    struct lm_series_column *columns;
    int column_count;
    struct lm_references references;
    struct lm_energy_watch energy;
    struct lm_averages averages;
    struct lm_samples samples;
    struct lm_progress progress;
    struct lm_step_forecast forecast;
    int64_t first_step;
    double started, stepping; /* clock at the start; seconds spent in steps */
    double row_stepping;      /* `stepping` and step at the last row */
    uint64_t row_particle_steps;
    uint64_t particles;
    struct lm_limits limits;       /* limits of the start, for the warnings */
    struct lm_differences changed; /* settings that differ from those of the checkpoint */
    char checkpoint[LM_MAX_PATH];  /* the last checkpoint of this run; "": none */
    int64_t checkpoint_step;       /* its step */
    double checkpoint_seconds;     /* the time that writing it took */
    char spare[LM_MAX_PATH];       /* a checkpoint before a long step; it is removed when the next one is written */
    int spare_failed;              /* 1: a spare checkpoint could not be written, and no more are tried */
    struct lm_summary begun;       /* summary of the state before a step that may be given up */
    int is_rescued;                /* 1: the checkpoint that is written is that of a run that cannot go on */
    int told;                      /* 1: the message already says from which file to go on, or that there is none */
    char ended[LM_MAX_MESSAGE];    /* the reason for the end, for run.json */
};

#endif
