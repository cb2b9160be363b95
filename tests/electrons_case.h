/* Runs with evolved electrons, and what is measured of them. */
#ifndef LARMOR_TESTS_ELECTRONS_CASE_H
#define LARMOR_TESTS_ELECTRONS_CASE_H

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "require.h"
#include "sim_run.h"

static const double GAMMA = 5.0 / 3;

/* Ions so heavy that they stay where they are. */
#define HEAVY "[species.p]\nstart = quiet\nparticles_per_cell = 4\nmass = 1e20\n"

/* The cells of an array without ghosts, [ny][nx]; the caller frees them. */
static inline double *packed_of(struct lm_sim *sim, int array)
{
    double *a = array_of(sim, array), *packed = malloc(sim->grid.cells * sizeof *packed);
    lm_grid_pack(&sim->grid, a, packed);
    free(a);
    return packed;
}

static inline double *pressure_of(struct lm_sim *sim)
{
    return packed_of(sim, LM_PRESSURE);
}

/* The amplitude of cos(2 pi (mx x/lx + my y/ly)) in a packed array. */
static inline double mode_of(const struct lm_grid *g, const double *a, int mx, int my)
{
    double sum = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            sum += a[j * g->nx + i] * cos(2 * M_PI * (mx * (i + 0.5) / g->nx + my * (j + 0.5) / g->ny));
    return 2 * sum / (double)g->cells;
}

/* A two-dimensional run with all terms at once. Its gradients of density and pressure are not parallel and generate B
 * (Biermann battery). */
static const char mixed_text[] =
    "[run]\nsteps = 10\ndt = 0.05\n[grid]\nnx = 16\nny = 16\nlx = 8\nly = 8\n"
    "[const]\nkx = 2*pi/lx\nky = 2*pi/ly\n"
    "[electrons]\nclosure = evolved\ninitial_temperature = 1 + 0.4*cos(kx*x)\nconductivity = 0.2\n"
    "conductivity_across = 0.05\n"
    "[fields]\nbx = 0.1\nbz = 0.5\nby = 0.2*sin(kx*x)\neta = 0.05\neta_hyper = 1e-2\nmin_substeps = 4\n"
    "[particles]\nshape = quadratic\n"
    "[species.p]\nstart = quiet\nparticles_per_cell = 16\ndensity = 1 + 0.4*cos(ky*y)\ndrift_x = 0.3*sin(kx*x)\n";

#endif
