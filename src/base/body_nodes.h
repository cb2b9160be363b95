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
 * A disk has the right size in all of its kinds (tests/test_body_radius.c, test_body_order.c). Where resistive bodies
 * or conductors are beside an insulator, a node is wholly in the insulator or not at all: one of E_z if half of its
 * cell is, one of E_x or E_y if more than an eighth of the cells around both of its corners is. */
void lm_body_nodes_make(const struct lm_grid *g, const uint8_t *mask, const int *fields, lm_body_at at,
                        const void *shapes, struct lm_body_node *node);

/* The same for bodies that fill their cells. */
void lm_body_nodes_of_cells(const struct lm_grid *g, const uint8_t *mask, const int *fields, struct lm_body_node *node);

#ifdef __cplusplus
}
#endif
#endif
