/* What particles meet in each cell (struct lm_obstacles), from the shapes of the bodies. */
#ifndef LARMOR_BASE_BODY_OBSTACLES_H
#define LARMOR_BASE_BODY_OBSTACLES_H

#include "base/body_nodes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bodies at a place: `at` has all of them, `smooth` those whose surfaces may cut cells. Places are in the domain
 * and its edge; those for `at` are never on a face of a cell. */
struct lm_body_places {
    lm_body_at at, smooth;
    const void *shapes;
};

/* Fills of[] and cut[]. mask[ny][nx] is that of lm_body_mask. Only cells with a cell of a body and one of the plasma
 * among the nine around them can be cut. */
void lm_obstacles_make(const struct lm_grid *g, const uint8_t *mask, const struct lm_body_places *places, uint8_t *of,
                       struct lm_body_cut *cut);

/* Fills factor[] from the others, for shapes of an order: 1 linear, 2 quadratic. The part of a shape that is in the
 * plasma is a sum over squares of 1/16 cells. */
void lm_obstacles_weigh(const struct lm_grid *g, const uint8_t *mask, int order, const uint8_t *of,
                        const struct lm_body_cut *cut, float *factor);

#ifdef __cplusplus
}
#endif
#endif
