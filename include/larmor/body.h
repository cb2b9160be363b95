/* Solid bodies in the plasma. A body is a set of cells.
 *
 * A cell belongs to a body if its centre lies in the shape of the body. Where bodies overlap, the cell belongs to the
 * last one in the configuration. Cells of a body are never plasma: no particle is loaded there, and Ohm's law in the
 * plasma never reads a value inside a body.
 */
#ifndef LARMOR_BODY_H
#define LARMOR_BODY_H

#include "larmor/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_MAX_BODIES = 8 };

enum lm_body_shape { LM_DISK, LM_BOX, LM_POLYGON, LM_MASK };

/* The electric field inside a body. */
enum lm_body_fields {
    LM_BODY_CONDUCTING, /* E = 0 */
    LM_BODY_RESISTIVE,  /* E = eta J, where eta is a profile */
    LM_BODY_TRANSPARENT /* E = eta J with eta = 20/(k^2 dt), k the largest of the grid: B passes within a step */
};

/* The bodies of a run. */
struct lm_bodies {
    int count;
    const uint8_t *mask;          /* [ny][nx]: 0 is plasma, k + 1 is body k; NULL: there are no bodies */
    int particles[LM_MAX_BODIES]; /* enum lm_boundary: LM_ABSORBING, LM_REFLECTING or LM_THERMAL */
    int fields[LM_MAX_BODIES];    /* enum lm_body_fields */
};

struct lm_config;

/* Finds the cells of all bodies and fills mask[ny][nx], which the caller owns. LM_BAD_INPUT: a mask file cannot be read
 * or has another size, a body has no cell, or no plasma is left. */
int lm_body_mask(const struct lm_config *config, uint8_t *mask);

#ifdef __cplusplus
}
#endif
#endif
