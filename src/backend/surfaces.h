/* What both backends derive for the particles from the walls and bodies of the setup. */
#ifndef LARMOR_BACKEND_SURFACES_H
#define LARMOR_BACKEND_SURFACES_H

#include "backend/backend.h"
#include "larmor/physics/particles/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this setup has any surfaces: sides that are not periodic, or bodies. */
int lm_setup_is_open(const struct lm_setup *setup);

/* Surfaces for one pass. The arrays are as in struct lm_surfaces, in the memory of the backend. */
struct lm_surfaces lm_surfaces_make(const struct lm_setup *setup, int species, const struct lm_pass *pass,
                                    const uint8_t *body, const struct lm_body_cut *cut, const uint8_t *near_body);

/* Upper bound of the normal random numbers from which velocities are drawn, along any axis. */
enum { LM_MOST_SIGMAS = 9 };

/* Upper bound of the speed of a particle drawn from a Maxwellian; `drift`: size of its drift, `thermal`: its thermal
 * speed along an axis. */
double lm_drawn_speed(double drift, double thermal);

/* Upper bound of the speed of particles that walls and bodies re-emit, v_A; 0 if none re-emits. */
double lm_surfaces_speed(const struct lm_setup *setup, int species);

/* near_body[ny][nx]: 1 where one of the nine cells around meets a body. tile[]: 1 where the window of a tile holds one;
 * tiles of setup->tile cells, x fast. */
void lm_surfaces_mark(const struct lm_setup *setup, uint8_t *near_body, uint8_t *tile);

/* factor[ny][nx] of struct lm_obstacles; 0 or 1 where the setup lends none. */
void lm_surfaces_factors(const struct lm_setup *setup, float *factor);

/* The faces of all surfaces in their order (struct lm_map_bins): fills `first`, and `faces` where it is not NULL. */
void lm_surfaces_faces(const struct lm_grid *g, const struct lm_bodies *bodies, uint32_t first[LM_SURFACES + 1],
                       uint32_t *faces);

#ifdef __cplusplus
}
#endif
#endif
