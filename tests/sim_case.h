/* Set-ups that several tests of the whole step share. */
#ifndef LARMOR_TESTS_SIM_CASE_H
#define LARMOR_TESTS_SIM_CASE_H

#include <check.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "inside.h"
#include "require.h"
#include "sim_run.h"

/* Amplitude of exp(2 pi i m x / lx) in the first row. */
static inline double complex mode(struct lm_sim *sim, int array, int m)
{
    double *a = array_of(sim, array);
    double complex z = 0;
    for (int i = 0; i < sim->grid.nx; i++)
        z += a[lm_at(&sim->grid, i, 0)] * cexp(-2 * M_PI * I * m * i / sim->grid.nx) * 2 / sim->grid.nx;
    free(a);
    return z;
}

/* The mean velocity of a species at the level n - 1/2. */
static inline void mean_velocity(struct lm_sim *sim, int species, double v[3])
{
    const uint64_t count = sim->count[species];
    double *x = malloc(5 * count * sizeof *x);
    ck_assert_int_eq(
        lm_sim_get_particles(sim, species, 0, count, x, x + count, x + 2 * count, x + 3 * count, x + 4 * count), LM_OK);
    for (int d = 0; d < 3; d++) {
        v[d] = 0;
        for (uint64_t k = 0; k < count; k++)
            v[d] += x[(2 + (size_t)d) * count + k] / (double)count;
    }
    free(x);
}

static inline void velocity_of_first(struct lm_sim *sim, double v[3], double at[2])
{
    int64_t x[1], y[1];
    struct lm_raw_particles to = {x, y, &v[0], &v[1], &v[2]};
    ck_assert_int_eq(sim->backend->particles->get(sim->backend, 0, 0, 1, to), LM_OK);
    at[0] = ldexp((double)x[0], -48), at[1] = ldexp((double)y[0], -48);
}

#define BOX(run, grid, fields, species)                                                                                \
    "[run]\nsteps = 30\nseed = 4\n" run "[grid]\nnx = 20\nny = 13\n" grid                                              \
    "[const]\nkx = 2*pi/lx\nky = 2*pi/ly\n[electrons]\n"                                                               \
    "temperature = 0.4\n[fields]\n" fields "[species.p]\n" species

#define PLAIN                                                                                                          \
    BOX("dt = 0.03125\n", "lx = 8\nly = 5\n",                                                                          \
        "bx = 0.5\nbz = 1 + 0.2*cos(kx*x)*sin(ky*y)\neta = 0.015625\neta_hyper = 0.00390625\ndensity_floor = 0.25\n",  \
        "density = 1 + 0.25*sin(kx*x)\nparticles_per_cell = 32\ntemperature = 0.5\ndrift_y = 0.25*cos(kx*x)\nstart = " \
        "random\n")

#endif
