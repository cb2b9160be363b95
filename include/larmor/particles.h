/* How ions are represented, and how they are placed at the start of a run. */
#ifndef LARMOR_PARTICLES_H
#define LARMOR_PARTICLES_H

/* The order of a particle's shape: linear (cloud in cell, CIC) or quadratic (triangular-shaped cloud, TSC). */
enum lm_shape_order { LM_LINEAR = 1, LM_QUADRATIC = 2 };

/* The bits of a position and of a velocity component. */
enum lm_precision { LM_SINGLE = 32, LM_DOUBLE = 64 };

/* Described in larmor/physics/particles/load.h. */
enum lm_start { LM_RANDOM, LM_QUIET, LM_LOW_DISCREPANCY };

#endif
