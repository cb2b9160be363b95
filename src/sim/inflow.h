/* What enters through a side: the plasma beyond it, from the configuration. */
#ifndef LARMOR_SIM_INFLOW_H
#define LARMOR_SIM_INFLOW_H

#include "larmor/config.h"
#include "larmor/physics/particles/surface.h"
#include "larmor/physics/particles/inflow_cell.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flux of a Maxwellian of density 1, normal drift and thermal speed through a plane: thermal phi(a) + drift Phi(a), a =
 * drift/thermal, phi and Phi the normal density and distribution. */
double lm_inflow_flux(double drift, double thermal);

/* Distribution function of the normal distribution, to 1e-15, the same bits with every C library. (Hart et al.,
 * Computer Approximations, 1968, algorithm 5666, as in West, Wilmott Magazine, May 2005, 70.) */
double lm_normal_below(double x);

/* Fills the cells of a side, ny or nx of them, for a species, all but `rate`. b: B on the grid, or NULL where no
 * temperature is along it. *speed: raised, so that no particle that enters is faster. LM_BAD_INPUT: an expression is
 * negative or not finite. */
int lm_inflow_fill(const struct lm_config *config, int species, int side, double *const b[3],
                   struct lm_inflow_cell *cells, double *speed);

/* Their rates in a step around time t. Nothing enters into bodies; `of` and `cut` as in struct
 * lm_obstacles, or NULL. */
int lm_inflow_rate(const struct lm_config *config, int species, int side, double t, const uint8_t *of,
                   const struct lm_body_cut *cut, struct lm_inflow_cell *cells);

/* Whether what enters changes with time. */
int lm_inflow_is_timed(const struct lm_config *config, int species, int *timed);

#ifdef __cplusplus
}
#endif
#endif
