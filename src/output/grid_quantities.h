/* The quantities that are arrays of the grid as they stand: where their values are, and what they are called in files
 * and in the library. */
#ifndef LARMOR_OUTPUT_GRID_QUANTITIES_H
#define LARMOR_OUTPUT_GRID_QUANTITIES_H

#include "larmor/sim.h"

struct lm_grid_quantity {
    int array, components;              /* the first array; how many there are: 0 for a quantity that is no array */
    const char *record;                 /* its name in openPMD files and in the library */
    int kind;                           /* enum lm_mesh_kind */
    const char *columns[3], *unit;      /* in the files of probes */
    const struct lm_cell_offset *place; /* [components] */
    double time;                        /* of its values, after that of the state, in steps */
    int smoothed;                       /* 1: it has passed the smoothing of moments */
};

enum { LM_GRID_QUANTITIES = LM_Q_ELECTRON_PRESSURE + 1 };

/* By enum lm_quantity. */
extern const struct lm_grid_quantity lm_grid_quantities[LM_GRID_QUANTITIES];

#endif
