/* A box of fields on the CPU backend, filled from analytic functions, and derivatives of these functions to round-off.
 */
#ifndef LARMOR_TESTS_FIELD_BOX_H
#define LARMOR_TESTS_FIELD_BOX_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "larmor/config.h"
#include "require.h"

typedef double (*function)(double x, double y);

struct box {
    struct lm_backend *b;
    struct lm_grid g;
    double *work;
};

/* Offsets from the cell's centre, in cells, of E_x E_y E_z and of B_x B_y B_z. */
static const double e_place[3][2] = {{0.5, 0}, {0, 0.5}, {0, 0}}, b_place[3][2] = {{0, 0.5}, {0.5, 0}, {0.5, 0.5}};

/* A setup with one species. The 1/dx and 1/dy of its `ohm` are those of the grid. */
static inline struct lm_setup box_setup(const struct lm_grid *g, struct lm_ohm ohm, int smoothing)
{
    ohm.inv_dx = 1 / g->dx, ohm.inv_dy = 1 / g->dy;
    struct lm_setup setup = {.grid = *g,
                             .ohm = ohm,
                             .shape = 1,
                             .precision = LM_DOUBLE,
                             .smoothing = smoothing,
                             .tile = 8,
                             .threads = 1,
                             .species_count = 1};
    setup.species[0] = (struct lm_backend_species){.charge = 1, .mass = 1, .weight = 1};
    return setup;
}

static inline struct box box_of(const struct lm_setup *setup)
{
    struct box x = {.g = setup->grid};
    ck_assert_int_eq(lm_cpu_create(setup, &x.b), LM_OK);
    x.work = calloc(x.g.size, sizeof *x.work);
    return x;
}

static inline struct box box_new(int nx, int ny, double lx, double ly, struct lm_ohm ohm, int smoothing)
{
    const struct lm_grid g = lm_grid_make(nx, ny, lx, ly);
    const struct lm_setup setup = box_setup(&g, ohm, smoothing);
    return box_of(&setup);
}

static inline void box_free(struct box *x)
{
    lm_backend_destroy(&x->b);
    free(x->work);
}

/* Puts the values of f, taken at an offset from the centre of each cell. put cannot fail on the CPU, so there is no
 * status. */
static inline void box_put(struct box *x, int array, const double place[2], function f)
{
    for (int j = 0; j < x->g.ny; j++)
        for (int i = 0; i < x->g.nx; i++)
            x->work[lm_at(&x->g, i, j)] = f((i + 0.5 + place[0]) * x->g.dx, (j + 0.5 + place[1]) * x->g.dy);
    lm_grid_wrap(&x->g, x->work);
    x->b->ops->put(x->b, array, x->work);
}

/* An array with ghosts; the caller frees it. */
static inline double *box_get(const struct box *x, int array)
{
    double *a = malloc(x->g.size * sizeof *a);
    x->b->ops->get(x->b, array, a);
    return a;
}

/* Root mean square of an array minus f. */
static inline double box_error(const struct box *x, const double *a, const double place[2], function f)
{
    double sum = 0;
    for (int j = 0; j < x->g.ny; j++)
        for (int i = 0; i < x->g.nx; i++)
            sum += pow(a[lm_at(&x->g, i, j)] - f((i + 0.5 + place[0]) * x->g.dx, (j + 0.5 + place[1]) * x->g.dy), 2);
    return sqrt(sum / (double)x->g.cells);
}

/* The largest difference of two boxes' arrays over the cells. */
static inline double box_distance(const struct box *x, const double *a, const double *b)
{
    double worst = 0;
    for (int j = 0; j < x->g.ny; j++)
        for (int i = 0; i < x->g.nx; i++)
            worst = fmax(worst, fabs(a[lm_at(&x->g, i, j)] - b[lm_at(&x->g, i, j)]));
    return worst;
}

/* Derivative along axis 0 or 1, sixth order; accurate to about 1e-12 for the functions of these tests. */
static inline double along(function f, int axis, double x, double y)
{
    const double h = 0.02, ax = axis ? 0 : h, ay = axis ? h : 0;
    double d1 = f(x + ax, y + ay) - f(x - ax, y - ay), d2 = f(x + 2 * ax, y + 2 * ay) - f(x - 2 * ax, y - 2 * ay);
    double d3 = f(x + 3 * ax, y + 3 * ay) - f(x - 3 * ax, y - 3 * ay);
    return (0.75 * d1 - 0.15 * d2 + d3 / 60) / h;
}

#endif
