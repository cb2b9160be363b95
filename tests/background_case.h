/* Background fields on a backend without a simulation around it: cases of all kinds by number, and a reference that
 * advances a field cell by cell and face by face, straight from the definitions. */
#ifndef LARMOR_TESTS_BACKGROUND_CASE_H
#define LARMOR_TESTS_BACKGROUND_CASE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/body_obstacles.h"
#include "larmor/config.h"
#include "larmor/physics/fluid/flow.h"
#include "larmor/physics/fluid/face_value.h"
#include "larmor/physics/fluid/opening.h"

enum { CASE_QUANTUM = 46 };

struct background_case {
    struct lm_setup setup; /* one background field */
    uint8_t *mask;
    uint8_t *obstacle; /* struct lm_obstacles where bodies cut cells, else NULL */
    struct lm_body_cut *cut;
    float *weight;
    struct lm_opening *open;
    double *q, *vx, *vy, *source, *inflow[LM_SIDES]; /* grid arrays; inflow: NULL where none */
    double dt;
};

static inline double case_number(int array, int i, int j)
{
    double u = fabs(sin(1 + 12.9898 * i + 78.233 * j + 37.7 * array)) * 437.585;
    return u - floor(u) - 0.5;
}

/* Values that are smooth in one part of the grid, have a step and a spike in another, and are noise elsewhere. */
static inline double case_field(const struct lm_grid *g, int i, int j)
{
    const double x = (i + 0.5) / g->nx, y = (j + 0.5) / g->ny;
    double v = 0.5 + 0.3 * sin(2 * M_PI * x) * cos(2 * M_PI * y);
    v += hypot(x - 0.3, y - 0.6) < 0.2 ? 0.2 : 0;
    v += i == g->nx / 2 && j == g->ny / 2 ? 0.4 : 0;
    return y > 0.8 ? v + 0.1 * case_number(0, i, j) : v;
}

/* Places in cells. */
static inline int case_body_at(const void *grid, double i, double j)
{
    const struct lm_grid *g = grid;
    const double x = i / g->nx - 0.6, y = j / g->ny - 0.4;
    return hypot(x, y) < 0.18 ? 1 : y < x - 0.45 ? 2 : 0;
}

/* From the mask and a shape, bodies that cut cells. */
static inline void case_cut(struct background_case *c, const struct lm_body_places *places)
{
    const struct lm_grid *g = &c->setup.grid;
    c->obstacle = malloc(g->cells);
    c->cut = malloc(g->cells * sizeof *c->cut);
    c->weight = malloc(g->cells * sizeof *c->weight);
    c->open = malloc(g->size * sizeof *c->open);
    lm_obstacles_make(g, c->mask, places, c->obstacle, c->cut);
    lm_obstacles_weigh(g, c->mask, 1, c->obstacle, c->cut, c->weight);
    c->setup.bodies.obstacles = (struct lm_obstacles){c->obstacle, c->cut, c->weight};
    lm_openings_fill(g, &c->setup.bodies, c->open);
}

/* body: 1, the bodies are sets of cells; 2, they cut cells. */
static inline void case_body(struct background_case *c, int body)
{
    const struct lm_grid *g = &c->setup.grid;
    const struct lm_body_places places = {case_body_at, case_body_at, g};
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            c->mask[(size_t)j * (size_t)g->nx + (size_t)i] = (uint8_t)case_body_at(g, i + 0.5, j + 0.5);
    c->setup.bodies = (struct lm_bodies){.count = 2, .mask = c->mask};
    if (body > 1)
        case_cut(c, &places);
}

/* Velocities with ghost cells. Ghosts at periodic sides hold the periodic images; velocities into solids are 0. */
static inline void case_velocities(struct background_case *c)
{
    const struct lm_grid *g = &c->setup.grid;
    uint8_t *room = malloc(g->size);
    lm_stencil_clearance(g, c->setup.bodies.mask, room);
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++) {
            const int pi = g->sides.of[LM_X_MIN] == LM_PERIODIC ? (i + g->nx) % g->nx : i;
            const int pj = g->sides.of[LM_Y_MIN] == LM_PERIODIC ? (j + g->ny) % g->ny : j;
            const size_t k = lm_at(g, i, j), right = lm_at(g, i + 1, j), up = lm_at(g, i, j + 1);
            const int on_x = g->sides.of[LM_X_MIN] != LM_PERIODIC && (i < 0 || i == g->nx - 1);
            const int on_y = g->sides.of[LM_Y_MIN] != LM_PERIODIC && (j < 0 || j == g->ny - 1);
            c->vx[k] = on_x || (room[k] && room[right]) ? sin(3 * pj + pi) + 0.3 * case_number(1, pi, pj) : 0;
            c->vy[k] = on_y || (room[k] && room[up]) ? cos(2 * pi - pj) + 0.3 * case_number(2, pi, pj) : 0;
        }
    free(room);
}

static inline void case_fill(struct background_case *c)
{
    const struct lm_grid *g = &c->setup.grid;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const int solid = c->mask[(size_t)j * (size_t)g->nx + (size_t)i];
            c->q[k] = solid ? 0 : case_field(g, i, j);
            c->source[k] = solid ? 0 : case_number(3, i, j);
        }
    lm_background_round(g, c->open, c->q, CASE_QUANTUM);
    case_velocities(c);
    for (int side = 0; side < LM_SIDES; side++) {
        const int n = side < LM_Y_MIN ? g->ny : g->nx;
        c->inflow[side] =
            c->setup.background[0].sides[side] == LM_BACKGROUND_INFLOW ? malloc((size_t)n * sizeof **c->inflow) : NULL;
        for (int k = 0; k < n && c->inflow[side]; k++)
            c->inflow[side][k] = 0.5 + 0.5 * case_number(4, k, side);
    }
}

static inline struct background_case background_case_new(int nx, int ny, struct lm_background field, int body)
{
    struct background_case c = {.dt = 0.04};
    struct lm_grid g = lm_grid_make(nx, ny, 0.5 * nx, 0.4 * ny);
    for (int side = 0; side < LM_SIDES; side++)
        g.sides.of[side] = field.sides[side] == LM_BACKGROUND_PERIODIC ? LM_PERIODIC : LM_REFLECTING;
    c.setup = (struct lm_setup){.grid = g,
                                .ohm = {.inv_dx = 1 / g.dx, .inv_dy = 1 / g.dy, .floor = 0.1, .gamma = 1},
                                .shape = 1,
                                .precision = LM_DOUBLE,
                                .tile = 8,
                                .threads = 2,
                                .species_count = 1,
                                .background_count = 1,
                                .background = {field}};
    c.setup.species[0] = (struct lm_backend_species){.charge = 1, .mass = 1, .weight = 1};
    for (int side = 0; side < LM_SIDES; side++) {
        const int axis = side / 2, high = g.sides.of[2 * axis] != LM_PERIODIC;
        c.setup.field_sides[side] = high ? LM_CONDUCTING : LM_FIELDS_PERIODIC;
    }
    c.mask = calloc(g.cells, 1);
    double *all = calloc(4 * g.size, sizeof *all);
    c.q = all, c.vx = all + g.size, c.vy = all + 2 * g.size, c.source = all + 3 * g.size;
    if (body)
        case_body(&c, body);
    case_fill(&c);
    return c;
}

static inline void background_case_free(struct background_case *c)
{
    free(c->q);
    free(c->mask);
    free(c->obstacle);
    free(c->cut);
    free(c->weight);
    free(c->open);
    for (int side = 0; side < LM_SIDES; side++)
        free(c->inflow[side]);
}

/* Case `number`: all schemes, sides of all kinds, with and without bodies, bounds, diffusion and sources. */
static inline struct background_case background_case_of(int number)
{
    static const int sizes[][2] = {{37, 21}, {64, 40}, {5, 70}, {100, 3}, {31, 33}, {1, 40}, {45, 1}, {96, 66}, {2, 2}};
    struct lm_background f = {.scheme = number % 6,
                              .single = number % 6 > 1 && number / 6 % 2,
                              .limited = number % 6 > 1 && number / 12 % 3 == 1,
                              .least = 0.1,
                              .most = 1.2,
                              .diffusivity = number / 5 % 2 ? 0.3 : 0,
                              .has_source = number / 7 % 2};
    const int periodic = number / 3 % 4;
    for (int side = 0, kinds = number; side < LM_SIDES; side++, kinds /= 3)
        f.sides[side] =
            (periodic >> (side < LM_Y_MIN ? 0 : 1)) & 1 ? LM_BACKGROUND_PERIODIC : LM_BACKGROUND_WALL + kinds % 3;
    const int *size = sizes[number % 9];
    const int body = size[0] > 20 && size[1] > 20 && number / 2 % 2 ? 1 + number / 4 % 2 : 0;
    return background_case_new(size[0], size[1], f, body);
}

/* Puts the case's numbers into a backend. */
static inline int background_case_put(const struct background_case *c, struct lm_backend *b)
{
    int status = b->ops->put(b, LM_BACKGROUND, c->q);
    if (!status)
        status = b->ops->put(b, LM_BACKGROUND_X, c->vx);
    if (!status)
        status = b->ops->put(b, LM_BACKGROUND_Y, c->vy);
    if (!status && c->setup.background[0].has_source)
        status = b->ops->put(b, LM_BACKGROUND_SOURCE, c->source);
    for (int side = 0; side < LM_SIDES && !status; side++)
        if (c->inflow[side])
            status = b->ops->put_background_side(b, 0, side, c->inflow[side]);
    return status;
}

/* --- the reference --- */

static inline int reference_is_fluid(const struct background_case *c, int i, int j)
{
    const struct lm_grid *g = &c->setup.grid;
    if ((i < 0 || i >= g->nx) && g->sides.of[LM_X_MIN] != LM_PERIODIC)
        return 0;
    if ((j < 0 || j >= g->ny) && g->sides.of[LM_Y_MIN] != LM_PERIODIC)
        return 0;
    i = (i + 100 * g->nx) % g->nx, j = (j + 100 * g->ny) % g->ny;
    return !c->mask[(size_t)j * (size_t)g->nx + (size_t)i];
}

static inline double reference_weno(int r, int single, const double *w)
{
    return r == 1   ? w[0]
           : r == 2 ? (single ? lm_weno(2, 1, w) : lm_weno(2, 0, w))
           : r == 3 ? (single ? lm_weno(3, 1, w) : lm_weno(3, 0, w))
           : r == 4 ? (single ? lm_weno(4, 1, w) : lm_weno(4, 0, w))
                    : (single ? lm_weno(5, 1, w) : lm_weno(5, 0, w));
}

/* Quanta through the upper face of cell (i, j) along an axis. *side is the side of the domain that the face lies on,
 * or -1. */
static inline double reference_units(const struct background_case *c, const struct lm_advect *by, const double *q,
                                     int axis, int i, int j, int *side)
{
    const struct lm_grid *g = &c->setup.grid;
    const struct lm_background *f = &c->setup.background[0];
    const int sx = axis == 0, sy = axis == 1, n = axis == 0 ? g->nx : g->ny, at = axis == 0 ? i : j;
    const long k = (long)lm_at(g, i, j);
    const double u = (axis == 0 ? c->vx : c->vy)[k], length = lm_opening_at(c->open, axis, k),
                 factor = (axis == 0 ? by->x : by->y) * length;
    double w[LM_WENO_WINDOW] = {0}, turned[LM_WENO_WINDOW] = {0};
#define CELL(x, y) q[lm_at(g, ((x) + 100 * g->nx) % g->nx, ((y) + 100 * g->ny) % g->ny)]
    *side = -1;
    if (g->sides.of[2 * axis] != LM_PERIODIC && (at < 0 || at == n - 1)) {
        *side = 2 * axis + (at >= 0);
        const int x = at < 0 ? i + sx : i, y = at < 0 ? j + sy : j;
        const double in = at < 0 ? u : -u;
        if (!reference_is_fluid(c, x, y) || f->sides[*side] == LM_BACKGROUND_WALL)
            return 0;
        const double value =
            f->sides[*side] == LM_BACKGROUND_INFLOW && in > 0 ? c->inflow[*side][axis == 0 ? j : i] : CELL(x, y);
        return trunc(u * value * factor);
    }
    if (!reference_is_fluid(c, i, j) || !reference_is_fluid(c, i + sx, j + sy))
        return 0;
    double value = 0.5 * (CELL(i, j) + CELL(i + sx, j + sy));
    if (f->scheme > 0) {
        const int forward = u > 0, x = forward ? i : i + sx, y = forward ? j : j + sy, step = forward ? 1 : -1;
        int r = f->scheme;
        for (int fits = 0; r > 1 && !fits; r -= !fits) {
            fits = 1;
            for (int m = 1 - r; m < r; m++)
                fits &= reference_is_fluid(c, x + m * sx, y + m * sy);
        }
        for (int m = 0; m < 2 * r - 1; m++) {
            const int d = (m - r + 1) * step;
            w[m] = CELL(x + d * sx, y + d * sy);
            turned[2 * r - 2 - m] = w[m];
        }
        value = reference_weno(r, f->single, w);
        if (f->limited && r > 1) {
            const struct lm_bounds bounds = {f->least, f->most};
            value = lm_bounded_value(w[r - 1], value, reference_weno(r, f->single, turned), &bounds);
        }
        const size_t upwind = lm_at(g, (x + g->nx) % g->nx, (y + g->ny) % g->ny);
        if (r == 1 && f->scheme > 1 && lm_volume_at(c->open, (long)upwind) != 1 &&
            reference_is_fluid(c, x + 2 * step * sx, y + 2 * step * sy)) {
            const double next = CELL(x + step * sx, y + step * sy), after = CELL(x + 2 * step * sx, y + 2 * step * sy);
            const double a = next - w[0], b = after - next, slope = a * b > 0 ? (fabs(a) < fabs(b) ? a : b) : 0;
            const struct lm_bounds bounds = {f->least, f->most};
            value = w[0] + 0.5 * slope;
            if (f->limited)
                value = lm_bounded_value(w[0], value, w[0] - 0.5 * slope, &bounds);
        }
    }
    double units = trunc(u * value * factor);
    if (f->diffusivity > 0)
        units += trunc((CELL(i, j) - CELL(i + sx, j + sy)) * ((axis == 0 ? by->kx : by->ky) * length));
#undef CELL
    return units;
}

/* The nearest multiple of half a quantum. */
static inline double reference_content(double q, double volume)
{
    return ldexp(rint(ldexp(q * volume, CASE_QUANTUM + 1)), -CASE_QUANTUM - 1);
}

static inline void reference_stage(const struct background_case *c, const struct lm_advect *by, const double *q0,
                                   const double *q, double *to, lm_int128 crossed[LM_SIDES], lm_int128 *source)
{
    const struct lm_grid *g = &c->setup.grid;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const double volume = lm_volume_at(c->open, (long)k);
            int side[4];
            const double units[4] = {
                reference_units(c, by, q, 0, i - 1, j, &side[0]), reference_units(c, by, q, 0, i, j, &side[1]),
                reference_units(c, by, q, 1, i, j - 1, &side[2]), reference_units(c, by, q, 1, i, j, &side[3])};
            double gain = units[0] - units[1] + units[2] - units[3];
            for (int n = 0; n < 4; n++)
                if (side[n] >= 0)
                    crossed[side[n]] += (lm_int128)units[n];
            if (c->setup.background[0].has_source) {
                const double given = trunc(c->source[k] * by->source * volume);
                gain += given;
                *source += (lm_int128)given;
            }
            const double contents[2] = {reference_content(q0[k], volume), reference_content(q[k], volume)};
            to[k] = lm_advect_update(by, contents[0], contents[1], gain) / volume;
        }
}

/* Advances q in place by a number of substeps of c->dt. */
static inline void reference_advance(const struct background_case *c, int substeps, double *q,
                                     lm_int128 crossed[LM_SIDES], lm_int128 *source)
{
    const struct lm_grid *g = &c->setup.grid;
    double *first = calloc(2 * g->size, sizeof *first), *second = first + g->size;
    double *from[] = {q, first, second}, *to[] = {first, second, q};
    for (int n = 0; n < 3 * substeps; n++) {
        const struct lm_advect by = lm_advect_stage(n % 3, ldexp(1, -CASE_QUANTUM), c->dt, c->setup.ohm.inv_dx,
                                                    c->setup.ohm.inv_dy, c->setup.background[0].diffusivity);
        reference_stage(c, &by, q, from[n % 3], to[n % 3], crossed, source);
    }
    free(first);
}

#endif
