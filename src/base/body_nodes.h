/* The nodes of E at bodies (struct lm_body_node), from the shapes of the bodies. */
#ifndef LARMOR_BASE_BODY_NODES_H
#define LARMOR_BASE_BODY_NODES_H

#include "larmor/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The body at a place in the domain, in cells: 0 is plasma, k + 1 is body k. */
typedef int (*lm_body_at)(const void *shapes, double x, double y);

/* Fills all lm_body_node_count elements. mask[ny][nx] and fields[]: as in struct lm_bodies. The places that `at` gets
 * are never on a face of a cell. Places beyond walls are mirrored, and those beyond periodic sides are moved.
 *
 * The thresholds are those with which a disk has the right radius (tests/test_body_radius.c). E_z is 0 if more than an
 * eighth of the cell is in a conductor, as the surface is where E is 0. E_x and E_y are 0 if one of the two corners of
 * the node is in a conductor, with more than a half of the cell around it: B_z is constant there. E_x and E_y insulate
 * if both corners have more than an eighth in an insulator, as B_z is the same in all of them. E_z does if half of the
 * cell is in an insulator. */
void lm_body_nodes_make(const struct lm_grid *g, const uint8_t *mask, const int *fields, lm_body_at at,
                        const void *shapes, struct lm_body_node *node);

/* The same for bodies that fill their cells. */
void lm_body_nodes_of_cells(const struct lm_grid *g, const uint8_t *mask, const int *fields, struct lm_body_node *node);

#ifdef __cplusplus
}
#endif
#endif
