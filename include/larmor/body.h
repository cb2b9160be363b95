/* Solid bodies in the plasma: each a set of cells.
 *
 * A shape is cut into cells by their centres: a cell belongs to a body where its centre lies in it, and where bodies
 * overlap to the last one in the configuration. Cells of a body are never plasma: no particle is loaded there, and
 * Ohm's law takes nothing from them.
 */
#ifndef LARMOR_BODY_H
#define LARMOR_BODY_H

#include "larmor/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_MAX_BODIES = 8 };

enum lm_body_shape { LM_DISK, LM_BOX, LM_POLYGON, LM_MASK };

/* What a body is to the fields. */
enum lm_body_fields {
    LM_BODY_CONDUCTING, /* E = 0 */
    LM_BODY_RESISTIVE,  /* E = eta J, eta a profile */
    LM_BODY_TRANSPARENT /* E = eta J with an eta so large that B passes at once: 20/(k^2 dt), k the grid's largest */
};

/* The bodies of a run. */
struct lm_bodies {
    int count;
    const uint8_t *mask;          /* [ny][nx]: 0 plasma, k + 1 body k; NULL without bodies */
    int particles[LM_MAX_BODIES]; /* enum lm_boundary: LM_ABSORBING, LM_REFLECTING or LM_THERMAL */
    int fields[LM_MAX_BODIES];    /* enum lm_body_fields */
};

struct lm_config;

/* Cuts the configuration's bodies into cells: mask as above, [ny][nx], owned by the caller. LM_BAD_INPUT: a mask file
 * that cannot be read or has another size, a body without a cell, no plasma left. */
int lm_body_mask(const struct lm_config *config, uint8_t *mask);

#ifdef __cplusplus
}
#endif
#endif
