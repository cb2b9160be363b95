/* What the configuration means on the grid: the setup of a backend and the initial profiles. No simulation is needed.
 * Arrays have lm_grid.size doubles. */
#ifndef LARMOR_SIM_SETUP_H
#define LARMOR_SIM_SETUP_H

#include "backend/backend.h"
#include "larmor/config.h"

struct lm_setup lm_setup_of(const struct lm_config *config);

/* The expected cost of a step for each tile of the setup, [tiles in y][tiles in x], in units of the cost of a particle:
 * by the densities of the configuration at some points. */
int lm_setup_cost(const struct lm_config *config, const struct lm_setup *setup, double *cost);

/* src/sim/setup.c: B at t = 0. LM_BAD_INPUT: not finite, or div B is not 0. */
int lm_setup_b(const struct lm_config *config, double *b[3]);
/* Whether it is the same everywhere, and its components then. */
int lm_setup_b_is_uniform(const struct lm_config *config, double b[3]);

/* Adds the field of the magnets outside the plasma to B, with its ghosts. LM_BAD_INPUT: not finite. */
int lm_setup_add_magnets(const struct lm_config *config, double *const b[3]);

/* The resistivity but for a part that depends on the plasma: its profile, the layers before sides, and what `mask` (as
 * in struct lm_bodies, or NULL) says. */
int lm_setup_eta(const struct lm_config *config, const uint8_t *mask, double *eta);
/* Whether it is the same everywhere, and its value then. */
int lm_setup_eta_is_uniform(const struct lm_config *config, double *eta);

/* Puts E_`component` of the plasma that comes in beyond sides whose fields are `inflow`, where E lives or at the
 * centres: -u x B of the configuration, u the mean drift of the charges that come in at t = 0. Ghosts beyond periodic
 * sides become images of the cells. */
int lm_setup_inflow_e(const struct lm_config *config, double *const b[3], int component, int at_centre, double *e);

/* The profiles that a species is loaded from; those that depend on the place are in `store`, which has
 * LM_LOADING_ARRAYS arrays. `b` is read for field-aligned temperatures only. */
int lm_setup_loading(const struct lm_config *config, int species, double *const b[3], double *store,
                     struct lm_loading *out);
enum { LM_LOADING_ARRAYS = 10 };

/* src/sim/ionisation.c: what a source of ions is expected to create in a step at time t: particles in the cells, of a
 * gas for each unit of its density; thermal speeds and drifts. `work` has 3 arrays. `bodies`: mask and obstacles, or
 * NULL; `clearance`: lm_stencil_clearance; `cuts`: of the same cells. */
int lm_setup_ionisation(const struct lm_config *config, int source, const struct lm_bodies *bodies,
                        const uint8_t *clearance, struct lm_cuts cuts, double t, double *const to[LM_BORN_ARRAYS],
                        double *work);

/* src/sim/advection.c: the prescribed flow of a background field on the faces at time t, shut at bodies and walls;
 * arrays that hold something, `work` another one. */
int lm_setup_flow(const struct lm_config *config, int field, const uint8_t *clearance, struct lm_cuts cuts, double t,
                  double *vx, double *vy, double *work);

/* A background field at t = 0 in the cells, 0 in bodies; `mask` as in struct lm_bodies, or NULL. LM_BAD_INPUT: not
 * finite, a negative density of a gas, or of a size that whole quanta cannot hold. */
int lm_setup_initial(const struct lm_config *config, int field, const uint8_t *mask, double *q);

/* src/sim/start.c: messages of a start that is impossible: LM_BAD_INPUT. */
int lm_sim_too_fast(const struct lm_config *config, int species);
int lm_sim_no_particles(const struct lm_config *config);

#endif
