/* How ions are represented. */
#ifndef LARMOR_PARTICLES_H
#define LARMOR_PARTICLES_H

/* The order of a particle's shape: linear (cloud in cell, CIC) or quadratic (triangular-shaped cloud, TSC). */
enum lm_shape_order { LM_LINEAR = 1, LM_QUADRATIC = 2 };

/* The bits of a position and of a velocity component. */
enum lm_precision { LM_SINGLE = 32, LM_DOUBLE = 64 };

#endif
