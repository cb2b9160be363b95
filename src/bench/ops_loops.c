/* Expressions of operators as plain loops: every operator over the whole grid, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "bench/ops.h"
#include "larmor/physics/numerics/hash.h"

enum { X, Y };
enum { Q0, Q1, Q2, Q3, R0, R1, R2, T0, T1, T2, BEYOND };

/* Besides operators along an axis. */
enum { PRODUCT = LM_OPERATORS, SUM, DIFFERENCE, BY_ETA_HYPER };

/* array `to` = op of array a; b: the other factor or term, the velocity of LM_UPWIND_PRODUCT. */
struct step {
    int op, axis, set, a, b, to;
};

enum { MOST_STEPS = 32, CENTRES = LM_OPS_CENTRES, COEFFICIENT = LM_OPS_COEFFICIENT, FACES = LM_OPS_FACES };

#define ALONG(op, axis, set, a, to)                                                                                    \
    {                                                                                                                  \
        LM_##op, axis, set, a, a, to                                                                                   \
    }
#define UPWIND(axis, u, q, to)                                                                                         \
    {                                                                                                                  \
        LM_UPWIND_PRODUCT, axis, CENTRES, q, u, to                                                                     \
    }
#define POINTWISE(op, a, b, to)                                                                                        \
    {                                                                                                                  \
        op, X, CENTRES, a, b, to                                                                                       \
    }

/* eta J - eta_H lap J, eta and J in one place, J in T0; sets of J along x, along y. */
#define RESIST(x, y, eta, to)                                                                                          \
    ALONG(SECOND, X, x, T0, T1), ALONG(SECOND, Y, y, T0, T2), POINTWISE(SUM, T1, T2, T1),                              \
        POINTWISE(BY_ETA_HYPER, T1, T1, T1), POINTWISE(PRODUCT, eta, T0, to), POINTWISE(DIFFERENCE, to, T1, to)

static const struct step steps[LM_OPS_EXPRESSIONS][MOST_STEPS] = {
    [LM_OPS_GRAD] = {ALONG(DIFF_UP, X, CENTRES, Q0, R0), ALONG(DIFF_UP, Y, CENTRES, Q0, R1)},
    [LM_OPS_DIV] = {ALONG(DIFF_DOWN, X, FACES, Q0, T0), ALONG(DIFF_DOWN, Y, FACES, Q1, T1), POINTWISE(SUM, T0, T1, R0)},
    [LM_OPS_CURL] = {ALONG(DIFF_DOWN, Y, FACES, Q2, R0), ALONG(DROP_DOWN, X, FACES, Q2, R1),
                     ALONG(DIFF_DOWN, X, FACES, Q1, T0), ALONG(DIFF_DOWN, Y, FACES, Q0, T1),
                     POINTWISE(DIFFERENCE, T0, T1, R2)},
    [LM_OPS_DROP_CURL] = {ALONG(DROP_UP, Y, CENTRES, Q2, R0), ALONG(DIFF_UP, X, CENTRES, Q2, R1),
                          ALONG(DIFF_UP, Y, CENTRES, Q0, T0), ALONG(DIFF_UP, X, CENTRES, Q1, T1),
                          POINTWISE(DIFFERENCE, T0, T1, R2)},
    [LM_OPS_TO_FACES] = {ALONG(INTERP_UP, X, CENTRES, Q0, R0), ALONG(INTERP_UP, Y, CENTRES, Q0, R1),
                         ALONG(INTERP_UP, Y, CENTRES, R0, R2)},
    [LM_OPS_TO_CENTRE] = {ALONG(INTERP_DOWN, X, FACES, Q0, R0), ALONG(INTERP_DOWN, Y, FACES, Q1, R1)},
    [LM_OPS_CENTRED] = {ALONG(DIFF_CENTRE, X, CENTRES, Q0, R0), ALONG(DIFF_CENTRE, Y, CENTRES, Q0, R1),
                        ALONG(INTERP_CENTRE, X, CENTRES, Q0, T0), ALONG(INTERP_CENTRE, Y, CENTRES, T0, R2)},
    [LM_OPS_UPWIND] = {UPWIND(X, Q0, Q2, R0), UPWIND(Y, Q1, Q2, R1)},
    [LM_OPS_DIV_GRAD] = {POINTWISE(PRODUCT, Q2, Q3, T0), ALONG(DIFF_UP, X, CENTRES, T0, T1),
                         ALONG(DIFF_UP, Y, CENTRES, T0, T2), POINTWISE(PRODUCT, Q0, T1, T1),
                         POINTWISE(PRODUCT, Q1, T2, T2), ALONG(DIFF_DOWN, X, FACES, T1, T0),
                         ALONG(DIFF_DOWN, Y, FACES, T2, T1), POINTWISE(SUM, T0, T1, R0)},
    [LM_OPS_DIFFUSION] = {ALONG(INTERP_UP, X, COEFFICIENT, Q0, T0), ALONG(DIFF_UP, X, CENTRES, Q1, T1),
                          POINTWISE(PRODUCT, T0, T1, T1), ALONG(DIFF_DOWN, X, FACES, T1, T2),
                          ALONG(INTERP_UP, Y, COEFFICIENT, Q0, T0), ALONG(DIFF_UP, Y, CENTRES, Q1, T1),
                          POINTWISE(PRODUCT, T0, T1, T1), ALONG(DIFF_DOWN, Y, FACES, T1, T0),
                          POINTWISE(SUM, T2, T0, R0)},
    [LM_OPS_ADVECTION] = {ALONG(INTERP_UP, X, COEFFICIENT, Q0, T0), UPWIND(X, T0, Q2, T1),
                          ALONG(DIFF_DOWN, X, FACES, T1, T2), ALONG(INTERP_UP, Y, COEFFICIENT, Q1, T0),
                          UPWIND(Y, T0, Q2, T1), ALONG(DIFF_DOWN, Y, FACES, T1, T0), POINTWISE(SUM, T2, T0, R0)},
    [LM_OPS_RESISTIVE] = {ALONG(DIFF_DOWN, Y, FACES, Q2, T0), ALONG(INTERP_UP, X, COEFFICIENT, Q3, R0),
                          RESIST(FACES, CENTRES, R0, R0), ALONG(DROP_DOWN, X, FACES, Q2, T0),
                          ALONG(INTERP_UP, Y, COEFFICIENT, Q3, R1), RESIST(CENTRES, FACES, R1, R1),
                          ALONG(DIFF_DOWN, X, FACES, Q1, T0), ALONG(DIFF_DOWN, Y, FACES, Q0, T1),
                          POINTWISE(DIFFERENCE, T0, T1, T0), RESIST(CENTRES, CENTRES, Q3, R2)},
};

const struct lm_ops_info *lm_ops_info(int expression)
{
    static const struct lm_ops_info info[LM_OPS_EXPRESSIONS] = {
        [LM_OPS_GRAD] = {"grad q", 1, 2, {{1, 0}, {0, 1}}},
        [LM_OPS_DIV] = {"div f", 2, 1, {{0, 0}}},
        [LM_OPS_CURL] = {"curl B", 3, 3, {{1, 0}, {0, 1}, {0, 0}}},
        [LM_OPS_DROP_CURL] = {"-curl E", 3, 3, {{0, 1}, {1, 0}, {1, 1}}},
        [LM_OPS_TO_FACES] = {"q to faces, corners", 1, 3, {{1, 0}, {0, 1}, {1, 1}}},
        [LM_OPS_TO_CENTRE] = {"f to centres", 2, 2, {{0, 0}, {0, 0}}},
        [LM_OPS_CENTRED] = {"collocated", 1, 3, {{0, 0}, {0, 0}, {0, 0}}},
        [LM_OPS_UPWIND] = {"u q upwind", 3, 2, {{1, 0}, {0, 1}}},
        [LM_OPS_DIV_GRAD] = {"div(f grad(a b))", 4, 1, {{0, 0}}},
        [LM_OPS_DIFFUSION] = {"div(kappa grad q)", 2, 1, {{0, 0}}},
        [LM_OPS_ADVECTION] = {"div(u to faces, q upwind)", 3, 1, {{0, 0}}},
        [LM_OPS_RESISTIVE] = {"eta J - eta_H lap J", 4, 3, {{1, 0}, {0, 1}, {0, 0}}},
    };
    return &info[expression];
}

/* --- operators over the grid: in all nodes but the outermost ghosts --- */

struct line {
    const double *a, *u;
    double *to;
    int count, step; /* step: along the axis */
    double r;
};

LM_HD void each(const struct line *l, int op)
{
    for (int i = 0; i < l->count; i++)
        l->to[i] = lm_along(op, l->a + i, l->step, l->r, op == LM_UPWIND_PRODUCT ? l->u[i] : 0.0);
}

/* A loop for each operator, so that compilers make vector instructions of it. */
static void along_line(const struct line *l, int op)
{
    switch (op) {
    case LM_DIFF_UP:
        return each(l, LM_DIFF_UP);
    case LM_DIFF_DOWN:
        return each(l, LM_DIFF_DOWN);
    case LM_DROP_UP:
        return each(l, LM_DROP_UP);
    case LM_DROP_DOWN:
        return each(l, LM_DROP_DOWN);
    case LM_INTERP_UP:
        return each(l, LM_INTERP_UP);
    case LM_INTERP_DOWN:
        return each(l, LM_INTERP_DOWN);
    case LM_UPWIND_PRODUCT:
        return each(l, LM_UPWIND_PRODUCT);
    case LM_DIFF_CENTRE:
        return each(l, LM_DIFF_CENTRE);
    case LM_INTERP_CENTRE:
        return each(l, LM_INTERP_CENTRE);
    default:
        return each(l, LM_SECOND);
    }
}

static int step_of(const struct lm_grid *g, int axis)
{
    return axis == X ? 1 : g->stride;
}

static int length_of(const struct lm_grid *g, int axis)
{
    return axis == X ? g->nx : g->ny;
}

/* The first node of line `number` across an axis; lines -LM_GHOST .. n + LM_GHOST. */
static size_t line_at(const struct lm_grid *g, int axis, int number)
{
    return axis == X ? lm_at(g, 0, number) : lm_at(g, number, 0);
}

/* The argument beyond the walls of an axis, as the conditions say. */
static void fill_beyond(const struct lm_ops_problem *p, const struct step *s, double *a)
{
    const struct lm_grid *g = &p->grid;
    const struct lm_condition *c = p->conditions[s->set] + 2 * s->axis;
    const int n = length_of(g, s->axis), step = step_of(g, s->axis), faces = s->set == FACES;
    for (int number = -LM_GHOST; number < length_of(g, !s->axis) + LM_GHOST; number++) {
        double *line = a + line_at(g, s->axis, number), new[2][LM_GHOST + 1];
        const int first[2] = {-LM_GHOST, n - 1}, count = LM_GHOST + 1;
        for (int k = 0; k < 2 * count; k++) {
            const int i = first[k / count] + k % count;
            const struct lm_beyond b = lm_beyond_wall(c, faces, n, i);
            new[k / count][k % count] = b.steps == 0 ? line[i * step]
                                                     : lm_continued(b, c, faces, s->axis == X ? g->dx : g->dy,
                                                                    line[b.first * step], line[b.second * step]);
        }
        for (int k = 0; k < 2 * count; k++)
            line[(first[k / count] + k % count) * step] = new[k / count][k % count];
    }
}

/* The differences that a condition gives. */
static void put_given(const struct lm_ops_problem *p, const struct step *s, double *to)
{
    const struct lm_grid *g = &p->grid;
    const int n = length_of(g, s->axis), step = step_of(g, s->axis);
    for (int i = 1 - LM_GHOST; i < n + LM_GHOST - 1; i = i == 0 && n > 1 ? n - 1 : i + 1) {
        const struct lm_condition *c = lm_given_difference(s->op, p->conditions[s->set] + 2 * s->axis, n, i);
        for (int number = 1 - LM_GHOST; c && number < length_of(g, !s->axis) + LM_GHOST - 1; number++)
            to[line_at(g, s->axis, number) + (size_t)(i * step)] = lm_given(s->op, c);
    }
}

static void along(const struct lm_ops_problem *p, const struct step *s, int threads)
{
    double *const *array = p->array;
    const struct lm_grid *g = &p->grid;
    const struct lm_condition *c = p->conditions[s->set] + 2 * s->axis;
    const double *from = array[s->a];
    const int conditions = c[0].kind != LM_NO_CONDITION || c[1].kind != LM_NO_CONDITION;
    if (conditions) {
        memcpy(array[BEYOND], from, g->size * sizeof *from);
        fill_beyond(p, s, array[BEYOND]);
        from = array[BEYOND];
    }
#pragma omp parallel for num_threads(threads)
    for (int j = 1 - LM_GHOST; j < g->ny + LM_GHOST - 1; j++) {
        const size_t k = lm_at(g, 1 - LM_GHOST, j);
        const struct line l = {.a = from + k,
                               .u = array[s->b] + k,
                               .to = array[s->to] + k,
                               .count = g->nx + 2 * LM_GHOST - 2,
                               .step = step_of(g, s->axis),
                               .r = 1 / (s->axis == X ? g->dx : g->dy)};
        along_line(&l, s->op);
    }
    if (conditions)
        put_given(p, s, array[s->to]);
}

static void pointwise(const struct lm_ops_problem *p, const struct step *s, int threads)
{
    const double *a = p->array[s->a], *b = p->array[s->b];
    double *to = p->array[s->to];
    const size_t stride = (size_t)p->grid.stride;
#pragma omp parallel for num_threads(threads)
    for (int j = 0; j < p->grid.ny + 2 * LM_GHOST; j++)
        for (size_t k = (size_t)j * stride; k < (size_t)(j + 1) * stride; k++)
            to[k] = s->op == PRODUCT      ? a[k] * b[k]
                    : s->op == SUM        ? a[k] + b[k]
                    : s->op == DIFFERENCE ? a[k] - b[k]
                                          : p->eta_hyper * a[k];
}

void lm_ops_loops(const struct lm_ops_problem *p, int expression, int threads)
{
    for (const struct step *s = steps[expression]; s->a != s->to || s->op >= LM_OPERATORS; s++)
        (s->op < LM_OPERATORS ? along : pointwise)(p, s, threads);
}

uint64_t lm_ops_checksum(const struct lm_ops_problem *p, int expression)
{
    const struct lm_ops_info *info = lm_ops_info(expression);
    const struct lm_grid *g = &p->grid;
    uint64_t sum = 0;
    for (int n = 0; n < info->outputs; n++)
        for (int j = lm_ops_first(g, info, n, Y); j < g->ny; j++)
            for (int i = lm_ops_first(g, info, n, X); i < g->nx; i++)
                sum += lm_hash_value(n, lm_at(g, i, j), p->array[LM_OPS_OUT + n][lm_at(g, i, j)]);
    return sum;
}

/* --- the problem --- */

static int image(int i, int n, int walls)
{
    return walls ? i : (i + LM_GHOST * n) % n;
}

static void fill_inputs(const struct lm_ops_problem *p, int walls_x, int walls_y, uint64_t seed)
{
    const struct lm_grid *g = &p->grid;
    for (int n = 0; n < LM_OPS_INPUTS; n++)
        for (int j = -LM_GHOST; j < g->ny + LM_GHOST; j++)
            for (int i = -LM_GHOST; i < g->nx + LM_GHOST; i++) {
                const size_t node = lm_at(g, image(i, g->nx, walls_x), image(j, g->ny, walls_y));
                const uint64_t bits = lm_mix(lm_mix(seed + (uint64_t)n) ^ node) >> 11;
                p->array[n][lm_at(g, i, j)] = (double)bits * 0x1p-53 - 0.5;
            }
}

static struct lm_condition random_condition(int faces, uint64_t random)
{
    struct lm_condition c = {.kind = (int)(random % (LM_EXTRAPOLATED + 1)),
                             .value = 0.01 * (double)(random >> 32 & 127) - 0.6};
    if (!lm_takes_condition(faces, c.kind))
        c.kind = LM_NO_CONDITION;
    return c;
}

int lm_ops_make(int nx, int ny, int walls_x, int walls_y, uint64_t seed, struct lm_ops_problem *out)
{
    struct lm_ops_problem p = {.grid = lm_grid_make(nx, ny, 0.3 * nx, 0.7 * ny),
                               .eta_hyper = 1e-3 * (double)(1 + lm_mix(seed) % 100)};
    p.array[0] = calloc(LM_OPS_ARRAYS * p.grid.size, sizeof *p.array[0]);
    if (!p.array[0])
        return lm_fail(LM_FAILED, "not enough memory");
    for (size_t k = 1; k < LM_OPS_ARRAYS; k++)
        p.array[k] = p.array[0] + k * p.grid.size;
    for (int side = 0; side < LM_SIDES; side++) {
        const int walls = side < LM_Y_MIN ? walls_x : walls_y;
        p.grid.sides.of[side] = walls ? LM_REFLECTING : LM_PERIODIC;
        for (int set = 0; set < LM_OPS_SETS && walls; set++)
            p.conditions[set][side] = random_condition(set == FACES, lm_mix(seed ^ lm_mix((uint64_t)(side * 8 + set))));
    }
    fill_inputs(&p, walls_x, walls_y, seed);
    *out = p;
    return LM_OK;
}

void lm_ops_free(struct lm_ops_problem *p)
{
    free(p->array[0]);
    *p = (struct lm_ops_problem){0};
}
