/* A state of the fields without any symmetry, combinations of sides, and three bodies. */
#ifndef LARMOR_TESTS_FIELD_NOISE_H
#define LARMOR_TESTS_FIELD_NOISE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_box.h"
#include "field_walls.h"

enum { N = 14 };

enum { B = 0, JI = 3, DENSITY = 6, ETA, E, PUSH = E + 3, ALL = PUSH + 3 };

static const int arrays[ALL] = {LM_B,   LM_B + 1, LM_B + 2, LM_J_OLD, LM_J_OLD + 1, LM_J_OLD + 2,  LM_N_OLD,
                                LM_ETA, LM_E,     LM_E + 1, LM_E + 2, LM_PUSH_E,    LM_PUSH_E + 1, LM_PUSH_E + 2};

struct state {
    double *a[ALL];
};

static inline void state_free(struct state *s)
{
    for (int k = 0; k < ALL; k++)
        free(s->a[k]);
}

static inline double random_of(int i, int j, int k)
{
    double u = fabs(sin(1 + 12.9898 * i + 78.233 * j + 37.7 * k)) * 437.585;
    return u - floor(u);
}

/* Random numbers without any symmetry, ghost cells included. B in the plane is the curl of such numbers, so div B is
 * round-off. */
static inline struct state noise(const struct box *x)
{
    const struct lm_grid *g = &x->g;
    const int periodic_x = g->sides.of[0] == LM_PERIODIC, periodic_y = g->sides.of[2] == LM_PERIODIC;
    struct state s;
    for (int k = 0; k < ALL; k++) {
        s.a[k] = calloc(g->size, sizeof(double));
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
                int p = periodic_x ? (i + g->nx * 3) % g->nx : i + 10,
                    q = periodic_y ? (j + g->ny * 3) % g->ny : j + 10;
                int right = periodic_x ? (p + 1) % g->nx : p + 1, above = periodic_y ? (q + 1) % g->ny : q + 1;
                double u = random_of(p, q, k), a = random_of(p, q, 99);
                double *to = s.a[k] + lm_at(g, i, j);
                *to = k == DENSITY ? 1 + u : k == ETA ? 0.02 + 0.01 * u : u - 0.5;
                if (k == B)
                    *to = (random_of(p, above, 99) - a) * 0.2 / g->dy;
                if (k == B + 1)
                    *to = (a - random_of(right, q, 99)) * 0.2 / g->dx;
            }
    }
    return s;
}

static inline void solve(struct box *x, struct state *s, int steps)
{
    for (int k = 0; k < ALL; k++)
        x->b->ops->put(x->b, arrays[k], s->a[k]);
    advance(x, 0.002, steps);
    x->b->ops->ohm(x->b, LM_OHM_OLD);
    for (int k = 0; k < ALL; k++)
        x->b->ops->get(x->b, arrays[k], s->a[k]);
}

static const struct lm_ohm every_term = {
    .eta_hyper = 0.001, .floor = 0.05, .temperature = 0.4, .gamma = 1.4, .friction = 1};

/* The sides of case `number`. Over all cases every pair of kinds of sides meets in a corner, and each kind meets a
 * periodic direction. */
static inline void sides_of_case(int number, int sides[LM_SIDES])
{
    for (int side = 0; side < LM_SIDES; side++) {
        sides[side] = LM_CONDUCTING + number % 4;
        number /= 4;
    }
    if (number > 0) /* 256 and up */
        sides[2 * number - 2] = sides[2 * number - 1] = PERIODIC;
}

/* Three bodies, one of each kind, one of them at a wall. */
static uint8_t body_cells[N * N];

static inline struct lm_bodies three_bodies(void)
{
    memset(body_cells, 0, sizeof body_cells);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            if (hypot(i - 4, j - 4) < 2.2)
                body_cells[j * N + i] = 1;
            if (i > 8 && i < 12 && j > 1 && j < 4)
                body_cells[j * N + i] = 2;
            if (hypot(i - 8, j - 13) < 3.1)
                body_cells[j * N + i] = 3;
        }
    return (struct lm_bodies){.count = 3,
                              .mask = body_cells,
                              .particles = {LM_ABSORBING, LM_REFLECTING, LM_ABSORBING},
                              .fields = {LM_BODY_CONDUCTING, LM_BODY_RESISTIVE, LM_BODY_TRANSPARENT}};
}

#endif
