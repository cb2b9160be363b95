/* Ions that a run follows: [track.NAME]. */
#ifndef LARMOR_TRACK_H
#define LARMOR_TRACK_H

#include <stdint.h>

/* One of them. A copy of the ion, which takes the same steps as the ion itself, to the bit. */
struct lm_tracked {
    int64_t x, y;      /* position in the domain, in units of 2^-fraction_bits cells (src/backend/raw_particles.h) */
    int64_t turns[2];  /* how often it has left the domain upwards along x and y by a periodic side, less how often
                          downwards */
    double moved[2];   /* along x and y in the last step, cells */
    double v[3];       /* half a step back, v_A */
    double e[3], b[3]; /* E that pushes it, and B, at its place; v_A B0, B0. 0 after it has left, as is `moved` */
    int64_t channel;   /* enum lm_channel by which it has left, or -1: it is there */
    int64_t left;      /* the number of the step at whose end it was no longer there, or -1 */
};

#endif
