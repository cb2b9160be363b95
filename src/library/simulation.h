/* What a simulation of the library consists of: private to src/library. */
#ifndef LARMOR_LIBRARY_SIMULATION_H
#define LARMOR_LIBRARY_SIMULATION_H

#include "larmor.h"
#include "larmor/sim.h"
#include "output/series.h"

enum { LM_LIBRARY_ARRAYS = 11 + LM_MAX_SPECIES + LM_MAX_BACKGROUNDS };

/* An array that the caller can ask for by its name. */
struct lm_library_array {
    char name[LM_MAX_NAME + 16];
    int array;       /* enum lm_array */
    double x, y;     /* offset from the centre of its cell, in cells */
    double time;     /* offset from the time of the state */
    int not_at_once; /* 1: after a restart it is known from the next step on, because a checkpoint does not hold it */
};

struct larmor_simulation {
    struct lm_config config;
    struct lm_sim *sim; /* NULL: it has not begun */
    int tried;          /* larmor_begin or larmor_restart has been called */
    int64_t restarted;  /* the step of the checkpoint from which it goes on; -1: none */
    int checked;        /* the next step has passed the check */
    int lost;           /* a step has failed within */
    struct lm_references references;
    char *settings, *warnings; /* owned */
    int column_count;
    struct lm_series_column *columns; /* owned */
    int array_count;
    struct lm_library_array arrays[LM_LIBRARY_ARRAYS];
    double stepping, row_stepping; /* seconds spent in steps; those at the last row */
    uint64_t row_particle_steps;
    char saved[LM_MAX_PATH]; /* the last checkpoint */
};

/* LM_OK, or the reason why there is no state to ask for. */
int lm_library_need_state(const struct larmor_simulation *sim);

/* src/library/arrays.c: fills the list of arrays. */
void lm_library_list_arrays(struct larmor_simulation *sim);

#endif
