/* Fields at walls and bodies, on the host: ghost cells of host arrays, and the mask of the bodies for a backend. */
#ifndef LARMOR_BACKEND_FIELD_BOUNDARIES_H
#define LARMOR_BACKEND_FIELD_BOUNDARIES_H

#include "backend/backend.h"
#include "larmor/physics/fields/open_side.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lm_field_sides lm_field_sides_of(const struct lm_setup *setup);

/* Whether B on walls and beyond is part of the state. */
int lm_has_field_walls(const struct lm_setup *setup);

/* Whether a GPU computes the fields with the kernels that know walls, bodies, voids and currents outside the plasma
 * (cuda/fields/walls.cu). */
int lm_is_general(const struct lm_setup *setup);

/* Ghost cells of a moment at the centres; `along` is the axis of a current's component, or -1. */
void lm_fill_moment(const struct lm_grid *g, double *a, int along);

/* Ghost cells of E_`component`, and for the push its nodes on walls. */
void lm_fill_e(const struct lm_setup *setup, double *e, int component, enum lm_fill fill);

/* In a stage of Faraday's law, after lm_fill_e of all components and after radiating sides: E beyond open ones. Threads
 * share the lines, as a line reads and writes only itself. */
void lm_fill_open_e(const struct lm_setup *setup, const struct lm_open_sides *o, double *const e[3], int threads);

/* lm_solid_of in cells of bodies, else 0, with ghost cells: g->size bytes. */
void lm_fill_solid(const struct lm_setup *setup, uint8_t *solid);

/* The nodes of E at bodies, with ghost cells: 3 g->size elements, three of each cell. LM_FAILED: not enough memory. */
int lm_fill_nodes(const struct lm_setup *setup, struct lm_body_node *node);

#ifdef __cplusplus
}
#endif
#endif
