/* Fields at walls and bodies, on the host: ghosts of its arrays, and bodies as a backend wants them. */
#ifndef LARMOR_BACKEND_FIELD_BOUNDARIES_H
#define LARMOR_BACKEND_FIELD_BOUNDARIES_H

#include "backend/backend.h"
#include "larmor/physics/fields/field_boundaries.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lm_field_sides lm_field_sides_of(const struct lm_setup *setup);

/* Whether B on walls and beyond is part of the state. */
int lm_has_field_walls(const struct lm_setup *setup);

/* Ghosts of a moment at the centres; `along`: the axis of a current's component, or -1. */
void lm_fill_moment(const struct lm_grid *g, double *a, int along);

/* Ghosts of E_`component`, and for the push its nodes on walls. */
void lm_fill_e(const struct lm_setup *setup, double *e, int component, enum lm_fill fill);

/* The bodies' mask as enum lm_solid with ghosts: g->size bytes. */
void lm_fill_solid(const struct lm_setup *setup, uint8_t *solid);

#ifdef __cplusplus
}
#endif
#endif
