/* The arrays on the grid that a simulation has, by number. Where each lives in a cell: larmor/grid.h. */
#ifndef LARMOR_ARRAY_H
#define LARMOR_ARRAY_H

#include "larmor/background.h"
#include "larmor/base.h"
#include "larmor/ionisation.h"

/* Vectors are three in a row; the OLD and NEW groups are laid out alike. */
enum lm_array {
    LM_B,                    /* B^n */
    LM_VOID_E = LM_B + 3,    /* E_v of void_field.h at n, on the nodes of E */
    LM_VOID = LM_VOID_E + 3, /* 1 in cells that were void in the last step of B, else 0 */
    /* What the ions feel at n, smoothed: */
    LM_PUSH_E = LM_VOID + 1,          /* E at the centres, without the parts of friction and of LM_PUSH_PRESSURE; */
    LM_PUSH_B = LM_PUSH_E + 3,        /* B at the centres; */
    LM_PUSH_PRESSURE = LM_PUSH_B + 3, /* -grad p / n on x-faces and y-faces; 0 of an evolved p */
    LM_N_OLD = LM_PUSH_PRESSURE + 2,  /* electron density at n */
    LM_J_OLD,                         /* ion current at n-1/2, centres */
    LM_N_NEW = LM_J_OLD + 3,          /* n+1 */
    LM_J_NEW,                         /* n+1/2 */
    LM_E = LM_J_NEW + 3,              /* E of Ohm's law at n, for output */
    LM_FLOORED = LM_E + 3,      /* electron density, floored: of the last closure, or of n after getting LM_PRESSURE */
    LM_PER_DENSITY,             /* 1/n in the motional field of the last closure (void.h) */
    LM_PRESSURE,                /* electron pressure; to get it: at n */
    LM_PRESSURE_E,              /* -grad p / n on x-faces and y-faces; to get them: at n */
    LM_ETA = LM_PRESSURE_E + 2, /* resistivity at centres */
    LM_SPECIES_N,               /* number density of species 0, 1, ... */
    LM_MAGNET_J = LM_SPECIES_N + LM_MAX_SPECIES, /* current of magnets, on the nodes of J; */
    LM_EXTERNAL_J = LM_MAGNET_J + 3,  /* and with that of coils at the time of the last `drive`: outside the plasma */
    LM_GIVEN_ETA = LM_EXTERNAL_J + 3, /* where LM_ETA depends on the plasma: the part that does not */
    /* Of species 0, 1, ... with electron_friction.h: charge density and current, four arrays each, as LM_N_OLD and the
     * arrays after it. */
    LM_SPECIES_OLD,
    LM_SPECIES_NEW = LM_SPECIES_OLD + 4 * LM_MAX_SPECIES,
    LM_FRICTION_E = LM_SPECIES_NEW + 4 * LM_MAX_SPECIES,    /* what its ions feel beside LM_PUSH_E, at n: three each */
    LM_FRICTION_FORCE = LM_FRICTION_E + 3 * LM_MAX_SPECIES, /* sum F_s/n of the last Ohm's law, centres */
    LM_BACKGROUND = LM_FRICTION_FORCE + 3,                  /* background field 0, 1, ... (opening.h) */
    LM_BACKGROUND_X = LM_BACKGROUND + LM_MAX_BACKGROUNDS,   /* the velocity that carries it: on x-faces, */
    LM_BACKGROUND_Y = LM_BACKGROUND_X + LM_MAX_BACKGROUNDS, /* on y-faces; with those at -1 */
    LM_BACKGROUND_SOURCE = LM_BACKGROUND_Y + LM_MAX_BACKGROUNDS,
    LM_BORN = LM_BACKGROUND_SOURCE + LM_MAX_BACKGROUNDS,  /* source of ions 0, 1, ...: particles expected in a step; */
    LM_BORN_THERMAL = LM_BORN + LM_MAX_IONISATIONS,       /* their thermal speed; */
    LM_BORN_DRIFT = LM_BORN_THERMAL + LM_MAX_IONISATIONS, /* their drift: x of each source, y of each, z of each */
    /* Where whistlers turn within a step (mean_field.h), from the first such step on: */
    LM_J_AHEAD = LM_BORN_DRIFT + 3 * LM_MAX_IONISATIONS, /* ion current extrapolated to n+1 */
    LM_MEAN_B = LM_J_AHEAD + 3,                          /* B averaged over a step */
    LM_KEPT_B = LM_MEAN_B + 3,                           /* LM_B during the forecast */
    LM_ARRAYS = LM_KEPT_B + 3
};

/* The arrays of a gas as particles see it, `which` = 0, 1, 2: density, velocity on x-faces, velocity on y-faces. */
static inline int lm_gas_array(int gas, int which)
{
    const int first[3] = {LM_BACKGROUND, LM_BACKGROUND_X, LM_BACKGROUND_Y};
    return first[which] + gas;
}

/* The value of an array at a cell of the domain, 0 <= i < nx, 0 <= j < ny. */
struct lm_array_value {
    int array; /* enum lm_array */
    int i, j;
    double value;
};

/* An output of the fields has at most so many arrays, and one more for each species and background field. */
enum { LM_OUTPUT_ARRAYS = 16 };

#endif
