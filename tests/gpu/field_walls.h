/* CPU and GPU, bit for bit: fields between walls of all kinds and around bodies, ghosts included. The backends work on
 * the same numbers without a simulation around them. */
#ifndef LARMOR_TESTS_GPU_FIELD_WALLS_H
#define LARMOR_TESTS_GPU_FIELD_WALLS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "larmor/config.h"
#include "larmor/physics/fields/relaxation.h"

struct fields_case {
    int nx, ny, smoothing, bodies, polytropic, hyper;
    int sides[LM_SIDES]; /* enum lm_field_boundary */
};

/* Case `number`: sides of all kinds against each other, and periodic in none, one or both directions. */
static inline struct fields_case fields_case_of(int number)
{
    static const int sizes[][2] = {{14, 12}, {37, 9}, {5, 4}, {64, 33}, {3, 40}, {2, 2}};
    struct fields_case c = {
        .smoothing = number % 4, .bodies = number % 3 == 1, .polytropic = number % 5 < 3, .hyper = number % 2};
    int kinds = number, periodic = number % 5;
    static const int all[] = {LM_CONDUCTING, LM_OPEN, LM_INFLOW_B, LM_INFLOW_E, LM_RADIATING};
    for (int side = 0; side < LM_SIDES; side++, kinds /= 5)
        c.sides[side] = all[kinds % 5];
    c.nx = sizes[number / 4 % 6][0], c.ny = sizes[number / 4 % 6][1];
    c.bodies |= periodic == 4; /* without walls or bodies the backends take the other path */
    if (periodic == 1 || periodic == 4)
        c.sides[LM_X_MIN] = c.sides[LM_X_MAX] = LM_FIELDS_PERIODIC, c.nx = number % 11 == 0 ? 1 : c.nx;
    if (periodic == 2 || periodic == 4)
        c.sides[LM_Y_MIN] = c.sides[LM_Y_MAX] = LM_FIELDS_PERIODIC, c.ny = number % 11 == 0 ? 1 : c.ny;
    return c;
}

static inline struct lm_setup fields_setup(const struct fields_case *c, uint8_t *mask)
{
    struct lm_setup s = {.grid = lm_grid_make(c->nx, c->ny, 0.5 * c->nx, 0.4 * c->ny),
                         .shape = 1,
                         .precision = LM_DOUBLE,
                         .smoothing = c->smoothing,
                         .tile = 8,
                         .threads = 1,
                         .species_count = 2};
    for (int side = 0; side < LM_SIDES; side++) {
        s.field_sides[side] = c->sides[side];
        s.grid.sides.of[side] = c->sides[side] == LM_FIELDS_PERIODIC                          ? LM_PERIODIC
                                : c->sides[side] == LM_OPEN || c->sides[side] == LM_RADIATING ? LM_ABSORBING
                                                                                              : LM_REFLECTING;
        s.side_temperature[side] = 0.3 + 0.1 * side;
    }
    s.ohm = (struct lm_ohm){.inv_dx = 1 / s.grid.dx,
                            .inv_dy = 1 / s.grid.dy,
                            .eta_hyper = c->hyper ? 1e-3 : 0,
                            .substep_eta = c->polytropic ? 0.005 : 0,
                            .floor = 0.9,
                            .temperature = 0.4,
                            .gamma = c->polytropic ? 1.4 : 1,
                            .friction = c->smoothing % 2};
    for (int k = 0; k < 2; k++)
        s.species[k] = (struct lm_backend_species){.charge = 1 + k, .mass = 1, .weight = 0.5};
    memset(mask, 0, s.grid.cells);
    if (!c->bodies)
        return s;
    s.bodies = (struct lm_bodies){
        .count = 3,
        .mask = mask,
        .particles = {LM_ABSORBING, LM_REFLECTING, LM_ABSORBING},
        .fields = {c->hyper ? LM_BODY_INSULATING : LM_BODY_CONDUCTING, LM_BODY_RESISTIVE, LM_BODY_TRANSPARENT}};
    for (int j = 0; j < c->ny; j++)
        for (int i = 0; i < c->nx; i++)
            mask[j * c->nx + i] = (uint8_t)(hypot(i - 4, j - 4) < 2.2         ? 1
                                            : i > 8 && i < 12 && j < 3        ? 2
                                            : hypot(i - c->nx, j - c->ny) < 3 ? 3
                                                                              : 0);
    return s;
}

/* Patches of little density, so that there are voids. */
static inline int number_is_hollow(int i, int j)
{
    return i < 20 && (i + 12) / 6 % 2 == 0 && (j + 12) / 6 % 2 == 0;
}

/* The same numbers for both backends; periodic where the sides are. */
static inline double fields_number(const struct lm_grid *g, int array, int i, int j)
{
    if (g->sides.of[LM_X_MIN] == LM_PERIODIC)
        i = (i + g->nx * LM_GHOST) % g->nx;
    if (g->sides.of[LM_Y_MIN] == LM_PERIODIC)
        j = (j + g->ny * LM_GHOST) % g->ny;
    double u = fabs(sin(1 + 12.9898 * i + 78.233 * j + 37.7 * array)) * 437.585;
    u -= floor(u);
    const int is_density = array == LM_N_OLD || array == LM_N_NEW || array >= LM_SPECIES_N;
    if (is_density && number_is_hollow(i, j))
        return 0.1 * u;
    if (array == LM_VOID)
        return u < 0.3;
    return array == LM_ETA ? 0.02 * u : is_density ? 0.6 + u : u - 0.5;
}

static inline void fields_put(struct lm_backend *b, double *work)
{
    const struct lm_grid *g = &b->setup.grid;
    for (int array = 0; array < LM_SPECIES_N + b->setup.species_count; array++) {
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++)
                work[lm_at(g, i, j)] = fields_number(g, array, i, j);
        b->ops->put(b, array, work);
    }
}

/* Whether the strips beyond radiating sides hold the same bits; prints the first difference. */
static inline int strips_same(int number, const char *when, struct lm_backend *a, struct lm_backend *b)
{
    static double one[LM_STRIP_ARRAYS * LM_STRIP_CELLS * 64], two[LM_STRIP_ARRAYS * LM_STRIP_CELLS * 64];
    const struct lm_grid *g = &a->setup.grid;
    for (int k = 0; k < lm_radiating_sides(&a->setup); k++) {
        const enum lm_side side = lm_radiating_side(&a->setup, k);
        const int lines = side < LM_Y_MIN ? g->ny : g->nx;
        a->ops->get_strip(a, side, one);
        b->ops->get_strip(b, side, two);
        for (int m = 0; m < LM_STRIP_ARRAYS * LM_STRIP_CELLS * lines; m++)
            if (memcmp(one + m, two + m, sizeof *one)) {
                printf(
                    "fields %d (%d x %d), %s: strip of side %d, array %d, cell %d, line %d: %.17g, %.17g: DIFFERENT\n",
                    number, g->nx, g->ny, when, (int)side, m / (LM_STRIP_CELLS * lines), m / lines % LM_STRIP_CELLS,
                    m % lines, one[m], two[m]);
                return 0;
            }
    }
    return 1;
}

/* Whether two backends hold the same bits, ghost cells included; prints the first difference. */
static inline int fields_same(int number, const char *when, struct lm_backend *a, struct lm_backend *b, double *one,
                              double *two)
{
    const struct lm_grid *g = &a->setup.grid;
    for (int array = 0; array < LM_SPECIES_N + a->setup.species_count; array++) {
        a->ops->get(a, array, one);
        b->ops->get(b, array, two);
        for (size_t k = 0; k < g->size; k++)
            if (memcmp(one + k, two + k, sizeof *one)) {
                printf("fields %d (%d x %d), %s: array %d in %d, %d: %.17g, %.17g: DIFFERENT\n", number, g->nx, g->ny,
                       when, array, (int)(k % (size_t)g->stride) - LM_GHOST, (int)(k / (size_t)g->stride) - LM_GHOST,
                       one[k], two[k]);
                return 0;
            }
    }
    if (!strips_same(number, when, a, b))
        return 0;
    struct lm_control x, y;
    struct lm_grid_sums u, v;
    uint64_t p, q;
    memset(&u, 0, sizeof u), memset(&v, 0, sizeof v);
    a->ops->control(a, &x);
    b->ops->control(b, &y);
    a->ops->grid_sums(a, &u);
    b->ops->grid_sums(b, &v);
    a->ops->fingerprint(a, 1, &p);
    b->ops->fingerprint(b, 1, &q);
    int same = !memcmp(x.push_e, y.push_e, sizeof x.push_e) &&
               !memcmp(x.push_pressure, y.push_pressure, sizeof x.push_pressure) && x.frequency == y.frequency &&
               x.eta == y.eta && x.floored == y.floored && x.voids == y.voids && !memcmp(&u, &v, sizeof u) && p == q;
    if (!same)
        printf("fields %d (%d x %d), %s: maxima, sums or fingerprint: DIFFERENT\n", number, g->nx, g->ny, when);
    return same;
}

/* What a step does with the fields. */
static inline void fields_advance(struct lm_backend *b)
{
    struct lm_control c;
    b->ops->field_maxima(b, LM_MAXIMA);
    b->ops->control(b, &c);
    b->ops->closure(b, LM_N_OLD, LM_N_NEW, 0.0);
    b->ops->advance_b(b, &(const struct lm_b_step){LM_J_NEW, 0.004, 2, c.voids > 0, LM_NO_MEAN, 0, 0});
    if (b->setup.ohm.substep_eta > 0) /* so long a dt that the resistivity counts */
        b->ops->relax_b(b, 5, LM_LEAST_RELAXATION_STAGES + LM_RELAXATION_EXCHANGE);
    else if (lm_any_insulator(&b->setup.bodies))
        b->ops->relax_b(b, 0, LM_LEAST_RELAXATION_STAGES);
    b->ops->ohm(b, LM_OHM_AHEAD);
}

/* Deposits a species between the walls. */
static inline void fields_deposit(struct lm_backend *b, double *work)
{
    const struct lm_grid *g = &b->setup.grid;
    for (size_t k = 0; k < g->size; k++)
        work[k] = 0.1;
    const struct lm_given one = {NULL, 1}, array = {work, 0};
    for (int s = 0; s < 2; s++) {
        struct lm_loading loading = {.density = one,
                                     .drift = {one, array, one},
                                     .temperature = {array, one, array},
                                     .particles_per_cell = 2,
                                     .seed = 3};
        struct lm_pass pass = {.drift_dt = 0.1, .speed_exponent = 4};
        uint64_t count;
        b->particles->load(b, s, &loading, &count);
        b->particles->pass(b, s, &pass);
        b->ops->collect(b, s, pass.speed_exponent, s == 0);
    }
    b->ops->moments(b);
}

/* Returns how many of the cases differ. */
static inline int fields_compare(int count, int moments)
{
    uint8_t mask[64 * 40];
    int different = 0;
    for (int number = 0; number < count; number++) {
        const struct fields_case c = fields_case_of(number);
        struct lm_setup setup = fields_setup(&c, mask);
        struct lm_backend *a = NULL, *b = NULL;
        double *work = malloc(2 * setup.grid.size * sizeof *work);
        if (!work || lm_cpu_create(&setup, &a) || lm_cuda_create(&setup, &b)) {
            printf("fields %d: %s\n", number, lm_error());
            exit(1);
        }
        struct lm_backend *both[2] = {a, b};
        for (int k = 0; k < 2; k++)
            fields_put(both[k], work), both[k]->ops->ohm(both[k], LM_OHM_OLD);
        int same = fields_same(number, "Ohm's law", a, b, work, work + setup.grid.size);
        for (int step = 0; step < 3 && same; step++) {
            for (int k = 0; k < 2; k++)
                fields_advance(both[k]);
            same = fields_same(number, "a step", a, b, work, work + setup.grid.size);
        }
        for (int k = 0; k < 2 && same && moments; k++)
            fields_deposit(both[k], work);
        same = same && (!moments || fields_same(number, "moments", a, b, work, work + setup.grid.size));
        different += !same;
        lm_backend_destroy(&a);
        lm_backend_destroy(&b);
        free(work);
    }
    printf("%-28s %d, different %d\n", "fields, walls and bodies", count, different);
    return different;
}

#endif
