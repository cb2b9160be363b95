/* What the backends derive from the setup's walls and bodies, for the particles. */
#ifndef LARMOR_BACKEND_SURFACES_H
#define LARMOR_BACKEND_SURFACES_H

#include "backend/backend.h"
#include "larmor/physics/particles/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether particles of this setup can meet anything. */
int lm_setup_is_open(const struct lm_setup *setup);

/* Surfaces for one pass; the masks as in struct lm_surfaces, wherever the backend has them. */
struct lm_surfaces lm_surfaces_make(const struct lm_setup *setup, int species, const struct lm_pass *pass,
                                    const uint8_t *body, const uint8_t *near_body);

/* No random number that a velocity is drawn from is larger, along any axis. */
enum { LM_MOST_SIGMAS = 9 };

/* Nothing drawn from a Maxwellian with a drift of that size and that thermal speed along an axis is faster. */
double lm_drawn_speed(double drift, double thermal);

/* Nothing that walls and bodies re-emit is faster, v_A; 0 where none do. */
double lm_surfaces_speed(const struct lm_setup *setup, int species);

/* near_body[ny][nx]: 1 where one of the nine cells around is a body's. tile[]: 1 where the window of a tile holds one;
 * tiles of setup->tile cells, x fast. */
void lm_surfaces_mark(const struct lm_setup *setup, uint8_t *near_body, uint8_t *tile);

/* The faces of all surfaces in their order (struct lm_map_bins): fills `first`, and `faces` where it is not NULL. */
void lm_surfaces_faces(const struct lm_grid *g, const struct lm_bodies *bodies, uint32_t first[LM_SURFACES + 1],
                       uint32_t *faces);

#ifdef __cplusplus
}
#endif
#endif
