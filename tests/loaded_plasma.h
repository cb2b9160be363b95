/* A plasma of one species that a test loads, and what tests ask of its particles. */
#ifndef LARMOR_TESTS_LOADED_PLASMA_H
#define LARMOR_TESTS_LOADED_PLASMA_H

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "larmor/physics/numerics/bounds.h"

enum { NX = 24, NY = 20, BITS = 48 };

struct plasma {
    struct lm_backend *b;
    struct lm_grid g;
    double *profile[10]; /* density, drift, temperature, b */
    struct lm_loading from;
    uint64_t count;
    struct lm_raw_particles p;
    double *x, *y, *v[3]; /* cells; v_A */
};

static inline double one(double x, double y)
{
    (void)x, (void)y;
    return 1;
}

static inline void set(struct plasma *s, int k, double (*f)(double, double), double factor)
{
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            s->profile[k][lm_at(&s->g, i, j)] = factor * f(i + 0.5, j + 0.5);
    lm_grid_wrap(&s->g, s->profile[k]);
}

/* Uniform density 1, no drift, temperatures .3, .5, .7. */
static inline struct plasma *plasma_new(int tile, int threads, double per_cell, int start)
{
    struct plasma *s = calloc(1, sizeof *s);
    s->g = lm_grid_make(NX, NY, NX * 0.25, NY * 0.5);
    struct lm_setup setup = {
        .grid = s->g, .shape = 1, .precision = LM_DOUBLE, .tile = tile, .threads = threads, .species_count = 1};
    setup.ohm = (struct lm_ohm){.inv_dx = 1 / s->g.dx, .inv_dy = 1 / s->g.dy, .floor = 0.05, .gamma = 1};
    setup.species[0] = (struct lm_backend_species){.charge = 1, .mass = 1, .weight = 1 / per_cell};
    ck_assert_int_eq(lm_cpu_create(&setup, &s->b), LM_OK);
    for (int k = 0; k < 10; k++) {
        s->profile[k] = calloc(s->g.size, sizeof(double));
        set(s, k, one, k == 0 ? 1 : k < 4 ? 0 : k < 7 ? 0.3 + 0.2 * (k - 4) : 0);
    }
    s->from =
        (struct lm_loading){.density = {s->profile[0], 0}, .particles_per_cell = per_cell, .start = start, .seed = 20};
    for (int d = 0; d < 3; d++) {
        s->from.drift[d].array = s->profile[1 + d];
        s->from.temperature[d].array = s->profile[4 + d];
    }
    return s;
}

static inline void load(struct plasma *s)
{
    ck_assert_int_eq(s->b->particles->load(s->b, 0, &s->from, &s->count), LM_OK);
    size_t n = s->count;
    s->p = (struct lm_raw_particles){malloc(8 * n), malloc(8 * n), malloc(8 * n), malloc(8 * n), malloc(8 * n)};
    ck_assert_int_eq(s->b->particles->get(s->b, 0, 0, n, s->p), LM_OK);
    s->x = malloc(8 * n), s->y = malloc(8 * n);
    s->v[0] = s->p.vx, s->v[1] = s->p.vy, s->v[2] = s->p.vz;
    for (size_t k = 0; k < n; k++) {
        s->x[k] = ldexp((double)s->p.x[k], -BITS);
        s->y[k] = ldexp((double)s->p.y[k], -BITS);
    }
}

static inline void plasma_free(struct plasma *s)
{
    lm_backend_destroy(&s->b);
    for (int k = 0; k < 10; k++)
        free(s->profile[k]);
    void *all[] = {s->p.x, s->p.y, s->p.vx, s->p.vy, s->p.vz, s->x, s->y};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    free(s);
}

/* For qsort. */
static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double normal_cdf(double v, double temperature)
{
    return 0.5 * erfc(-v / sqrt(2 * temperature));
}

/* The mean of a, or of a b. */
static inline double mean_product(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += b ? a[k] * b[k] : a[k];
    return sum / (double)n;
}

/* Deposits the density and the current. */
static inline void deposit(struct plasma *s, int speed_exponent)
{
    struct lm_pass pass = {.speed_exponent = speed_exponent};
    ck_assert_int_eq(s->b->particles->pass(s->b, 0, &pass), LM_OK);
    ck_assert_int_eq(s->b->ops->collect(s->b, 0, pass.speed_exponent, 1), LM_OK);
    ck_assert_int_eq(s->b->ops->moments(s->b), LM_OK);
}

#endif
