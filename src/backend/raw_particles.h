/* Particles as they are stored in files and handed between backends. */
#ifndef LARMOR_BACKEND_RAW_PARTICLES_H
#define LARMOR_BACKEND_RAW_PARTICLES_H

#include <stdint.h>

/* Particles in their stored form: x, y in units of 2^-fraction_bits cells from the domain's corner (24 bits for single,
 * 48 for double precision), velocities as float or double. */
struct lm_raw_particles {
    int64_t *x, *y;
    void *vx, *vy, *vz;
};

#endif
