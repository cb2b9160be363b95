/* Gather and Boris push: exact where the method is exact, of second order elsewhere. test_push_single.c includes this
 * file for single precision. */
#ifndef LM_PRECISION
#define LM_PRECISION 64
#endif

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/grid.h"
#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/particles/gather_nodes.h"
#include "larmor/physics/particles/stray.h"
#include "require.h"
#include "suite.h"

#define EPS (LM_PRECISION == 64 ? DBL_EPSILON : (double)FLT_EPSILON)

enum { TILE = 8, WIDTH = TILE + LM_WINDOW_EXTRA, AREA = WIDTH * WIDTH };

/* The position of node (0, 0) of each component (struct lm_window). */
static const double place[LM_WINDOW_FIELDS][2] = {{.5, .5}, {.5, .5}, {.5, .5}, {.5, .5},
                                                  {.5, .5}, {.5, .5}, {1, .5},  {.5, 1}};

static lm_real store[LM_WINDOW_FIELDS * AREA];

static struct lm_window window(void)
{
    return (struct lm_window){store + LM_WINDOW_LOW * WIDTH + LM_WINDOW_LOW, WIDTH, AREA};
}

/* A position in [-1, TILE + 1) cells; the first ones are on edges and middles of cells and next to them. */
static lm_fix position(uint32_t k, int axis)
{
    static const int64_t near[] = {0, 1, -1, LM_HALF, LM_HALF - 1, LM_HALF + 1};
    uint64_t r = lm_random_at(11, axis, LM_STREAM_POSITION, k, 0).a;
    lm_fix cell = (lm_fix)(r % (TILE + 2)) - 1;
    lm_fix within = (lm_fix)((r >> 8) & (uint64_t)(LM_ONE - 1));
    if (k < 600) {
        within = (lm_fix)near[(k / (axis ? 6 : 1)) % 6];
        cell = within < 0 ? cell + 1 : cell;
    }
    return cell * LM_ONE + within;
}

static double cells(lm_fix x)
{
    return ldexp((double)x, -LM_FRACTION_BITS);
}

/* Makes of the fields in `store` those of a window for the shape. */
static void join(int order)
{
    if (order == 1)
        lm_join_window(store, WIDTH, 1, AREA);
}

static void fill(int order, double c0, double cx, double cy)
{
    for (int c = 0; c < LM_WINDOW_FIELDS; c++)
        for (int j = 0; j < WIDTH; j++)
            for (int i = 0; i < WIDTH; i++)
                store[c * AREA + j * WIDTH + i] = (lm_real)((c + 1) * (c0 + cx * (i - LM_WINDOW_LOW + place[c][0]) +
                                                                       cy * (j - LM_WINDOW_LOW + place[c][1])));
    join(order);
}

static void check_gather(int order, double c0, double cx, double cy, double tolerance)
{
    struct lm_window win = window();
    fill(order, c0, cx, cy);
    for (uint32_t k = 0; k < 20000; k++) {
        lm_fix x = position(k, 0), y = position(k, 1);
        lm_real f[6];
        if (order == 1)
            lm_gather_fields(1, &win, x, y, f, f + 3);
        else
            lm_gather_fields(2, &win, x, y, f, f + 3);
        for (int c = 0; c < 6; c++) {
            const int factor = c + 1 + (c < 2 ? LM_WINDOW_FACES + c + 1 : 0); /* E with that of the pressure */
            const double want = factor * (c0 + cx * cells(x) + cy * cells(y));
            if (!(fabs((double)f[c] - want) <= tolerance * factor))
                ck_abort_msg("order %d, component %d at %.9g, %.9g: %.17g instead of %.17g", order, c, cells(x),
                             cells(y), (double)f[c], want);
        }
    }
}

START_TEST(gather_of_a_constant)
{
    check_gather(_i, 1, 0, 0, 4 * EPS);
}
END_TEST

START_TEST(gather_of_linear_fields)
{
    check_gather(_i, 2, 1, 0, 100 * EPS);
    check_gather(_i, 2, 0, 1, 100 * EPS);
    check_gather(_i, -1, 0.7, -1.3, 100 * EPS);
}
END_TEST

/* Random fields. The window has them one after the other, or side by side. */
START_TEST(gather_of_nodes_gives_the_same_bits)
{
    static lm_node_fields nodes[AREA];
    const struct lm_window win = window();
    const struct lm_node_window side_by_side = {(const lm_node_fields *)nodes + LM_WINDOW_LOW * WIDTH + LM_WINDOW_LOW,
                                                WIDTH};
    for (int c = 0; c < LM_WINDOW_FIELDS; c++)
        for (int n = 0; n < AREA; n++)
            nodes[n][c] = store[c * AREA + n] =
                (lm_real)(lm_uniform(lm_random_at(12, c, LM_STREAM_POSITION, (uint32_t)n, 0).a) - 0.5);
    join(_i);
    if (_i == 1)
        lm_join_window(nodes[0], WIDTH, LM_WINDOW_FIELDS, 1);
    for (uint32_t k = 0; k < 20000; k++) {
        const lm_fix x = position(k, 0), y = position(k, 1);
        struct lm_local_fields a = {{0}, {0}};
        lm_node_fields found;
        if (_i == 1) {
            lm_gather_fields(1, &win, x, y, a.e, a.b);
            lm_gather_nodes(1, &side_by_side, x, y, found);
        } else {
            lm_gather_fields(2, &win, x, y, a.e, a.b);
            lm_gather_nodes(2, &side_by_side, x, y, found);
        }
        const struct lm_local_fields b = lm_local_fields_of(found);
        require(!memcmp(&a, &b, sizeof a));
    }
}
END_TEST

/* The quadratic shape (TSC) has the same second moment everywhere, sum w (x_i - x)^2 = 1/4; the linear shape (CIC) has
 * f (1 - f). */
START_TEST(second_moment)
{
    for (uint32_t k = 0; k < 20000; k++) {
        lm_fix x = position(k, 0);
        struct lm_stencil one[] = {lm_centre(1, x), lm_face(1, x)}, two[] = {lm_centre(2, x), lm_face(2, x)};
        for (int face = 0; face < 2; face++) {
            double a = 0, b = 0, at = face ? 1 : 0.5;
            for (int n = 0; n < 3; n++) {
                require(one[face].w[n] >= 0 && two[face].w[n] >= 0);
                a += (double)one[face].w[n] * pow(one[face].at + n + at - cells(x), 2);
                b += (double)two[face].w[n] * pow(two[face].at + n + at - cells(x), 2);
            }
            double f = cells(x) - at - floor(cells(x) - at);
            require_near(a, f * (1 - f), 20 * EPS);
            require_near(b, 0.25, 20 * EPS);
        }
    }
}
END_TEST

START_TEST(speed_is_kept)
{
    enum { STEPS = 100000 };
    const lm_real e[3] = {0, 0, 0}, h = (lm_real)0.15;
    lm_real u = (lm_real)0.3, v = (lm_real)-1.1, w = (lm_real)0.7;
    double before = sqrt((double)u * (double)u + (double)v * (double)v + (double)w * (double)w);
    for (uint32_t k = 0; k < STEPS; k++) { /* B differs in each step, with angles up to large ones */
        struct lm_random r = lm_random_at(5, 0, LM_STREAM_VELOCITY, k, 0),
                         q = lm_random_at(5, 1, LM_STREAM_VELOCITY, k, 0);
        const lm_real b[3] = {(lm_real)(10 * lm_uniform(r.a) - 5), (lm_real)(10 * lm_uniform(r.b) - 5),
                              (lm_real)(10 * lm_uniform(q.a) - 5)};
        lm_boris(&u, &v, &w, e, b, h);
    }
    double after = sqrt((double)u * (double)u + (double)v * (double)v + (double)w * (double)w);
    require_near(after / before, 1, 10 * sqrt(STEPS) * EPS); /* round-off errors add up as a random walk */
}
END_TEST

/* n steps in B_z turn the velocity by -2 n atan(h B), exactly. */
START_TEST(angle_of_gyration)
{
    const lm_real e[3] = {0, 0, 0}, b[3] = {0, 0, 2};
    for (int n = 1; n <= 64; n *= 2) {
        lm_real u = 1, v = 0, w = (lm_real)0.5, h = (lm_real)0.0625;
        for (int k = 0; k < n; k++)
            lm_boris(&u, &v, &w, e, b, h);
        double angle = 2 * n * atan(0.125);
        require_near((double)u, cos(angle), 10 * n * EPS);
        require_near((double)v, -sin(angle), 10 * n * EPS);
        require((double)w == 0.5);
    }
}
END_TEST

/* The error of the velocity at t = 1 against the exact solution; `field` 0: gyration only, 1: with E. */
static double error_at(int steps, int with_e)
{
    const double e0 = with_e ? 0.5 : 0;
    const lm_real e[3] = {(lm_real)e0, (lm_real)0, (lm_real)0}, b[3] = {0, 0, 1}, h = (lm_real)(0.5 / steps);
    lm_real u = 1, v = 0, w = 0;
    for (int k = 0; k < steps; k++)
        lm_boris(&u, &v, &w, e, b, h);
    /* drift (0, -e0): u' = v + e0, v' = -u */
    double want_u = cos(1) + e0 * sin(1), want_v = -e0 - sin(1) + e0 * cos(1);
    return hypot((double)u - want_u, (double)v - want_v);
}

START_TEST(second_order_in_dt)
{
    for (int n = 4; n <= 16; n *= 2) {
        double ratio = error_at(n, _i) / error_at(2 * n, _i);
        ck_assert_msg(ratio > 3.8 && ratio < 4.2, "%d steps: ratio of errors %g", n, ratio);
    }
}
END_TEST

START_TEST(drift_is_exact)
{
    const double b[3] = {0.4, -0.8, 1.6}, e[3] = {0.8, -0.4, -0.4}; /* E.B = 0, B^2 = 3.36 */
    const lm_real be[3] = {(lm_real)b[0], (lm_real)b[1], (lm_real)b[2]},
                  ee[3] = {(lm_real)e[0], (lm_real)e[1], (lm_real)e[2]};
    double b2 = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    double d[3] = {(e[1] * b[2] - e[2] * b[1]) / b2, (e[2] * b[0] - e[0] * b[2]) / b2,
                   (e[0] * b[1] - e[1] * b[0]) / b2};
    lm_real u = (lm_real)d[0], v = (lm_real)d[1], w = (lm_real)d[2];
    for (int k = 0; k < 1000; k++)
        lm_boris(&u, &v, &w, ee, be, (lm_real)0.7);
    require_near((double)u, d[0], 3000 * EPS);
    require_near((double)v, d[1], 3000 * EPS);
    require_near((double)w, d[2], 3000 * EPS);
}
END_TEST

START_TEST(back_and_forth)
{
    const lm_real e[3] = {(lm_real)0.3, (lm_real)-0.2, (lm_real)0.9}, b[3] = {(lm_real)0.5, (lm_real)1.5, (lm_real)-2};
    lm_real u = 1, v = 2, w = 3, h = (lm_real)0.3;
    lm_boris(&u, &v, &w, e, b, h);
    require(fabs((double)u - 1) > 0.1);
    lm_boris(&u, &v, &w, e, b, -h);
    require_near((double)u, 1, 40 * EPS);
    require_near((double)v, 2, 40 * EPS);
    require_near((double)w, 3, 40 * EPS);
}
END_TEST

/* The two parts of a push between which collisions take place are the whole push to round-off, and the first part turns
 * by half of the angle, but for t^3/4. */
START_TEST(parts_are_the_push)
{
    for (uint32_t k = 0; k < 10000; k++) {
        lm_real x[9], whole[3], parts[3], none[3] = {0, 0, 0};
        for (uint32_t d = 0; d < 9; d++)
            x[d] = (lm_real)(4 * lm_uniform(lm_random_at(8, (int)d, LM_STREAM_VELOCITY, k, 0).a) - 2);
        memcpy(whole, x, sizeof whole);
        memcpy(parts, x, sizeof parts);
        const lm_real *e = x + 3, *b = x + 6, h = k % 2 ? (lm_real)0.05 : (lm_real)1.5;
        lm_boris(&whole[0], &whole[1], &whole[2], e, b, h);
        lm_boris_first(&parts[0], &parts[1], &parts[2], e, b, h);
        lm_boris_rest(&parts[0], &parts[1], &parts[2], e, b, h);
        for (int d = 0; d < 3; d++)
            require_near((double)parts[d], (double)whole[d], 60 * EPS);
        const double t = (double)h * sqrt((double)b[2] * (double)b[2]);
        const lm_real along_z[3] = {0, 0, b[2]};
        lm_real u = 1, v = 0, w = 0;
        lm_boris_first(&u, &v, &w, none, along_z, h);
        require(fabs(fabs(atan2((double)v, (double)u)) - atan(t)) < t * t * t / 4 + 8 * EPS);
    }
}
END_TEST

/* A velocity of one cell in a step moves a particle by one cell, to the bit. E changes the velocity by Z/m dt E. */
START_TEST(displacement)
{
    struct lm_window win = window();
    fill(2, 0, 0, 0);
    for (int k = 0; k < AREA; k++)
        store[k] = 3; /* E_x */
    join(1);
    struct lm_particle p = {LM_ONE, 2 * LM_ONE, (lm_real)1.25, (lm_real)-2, 0};
    struct lm_step step = {(lm_real)0.125, (lm_real)LM_ONE, (lm_real)(LM_ONE / 2), 1, 1};
    lm_fix dx, dy;
    lm_push(1, &p, &win, &step, &dx, &dy);
    require((double)p.vx == 2);
    require((int64_t)dx == 2 * (int64_t)LM_ONE);
    require((int64_t)dy == -(int64_t)LM_ONE);
    require(lm_speed2(&p) == 8);
}
END_TEST

/* --- the direct path --- */

static void random_grid(const struct lm_grid *g, double *field[LM_WINDOW_FIELDS])
{
    for (int c = 0; c < LM_WINDOW_FIELDS; c++) {
        field[c] = malloc(g->size * sizeof(double));
        for (size_t k = 0; k < g->size; k++)
            field[c][k] = lm_uniform(lm_random_at(1, c, LM_STREAM_COUNT, (uint32_t)k, 0).a) - 0.5;
        lm_grid_wrap(g, field[c]);
    }
}

static void copy_window(int order, const struct lm_grid *g, double *const field[LM_WINDOW_FIELDS],
                        const struct lm_tiling *t, int tile)
{
    for (int c = 0; c < LM_WINDOW_FIELDS; c++)
        for (int j = 0; j < WIDTH; j++)
            for (int i = 0; i < WIDTH; i++) {
                int x = lm_wrap(tile % t->nx * TILE - LM_WINDOW_LOW + i, g->nx);
                int y = lm_wrap(tile / t->nx * TILE - LM_WINDOW_LOW + j, g->ny);
                store[c * AREA + j * WIDTH + i] = (lm_real)field[c][lm_at(g, x, y)];
            }
    join(order);
}

static void push_both(int order, const struct lm_tiling *t, int tile, uint32_t k, double *const field[LM_WINDOW_FIELDS],
                      int stride)
{
    struct lm_random r = lm_random_at(3, 0, LM_STREAM_VELOCITY, k, 0);
    struct lm_particle p = {position(k, 0), position(k, 1), (lm_real)lm_uniform(r.a), (lm_real)-lm_uniform(r.b), 1};
    struct lm_step step = {(lm_real)0.1, (lm_real)LM_ONE, (lm_real)LM_ONE, 1, 1};
    const double *all[LM_WINDOW_FIELDS];
    for (int c = 0; c < LM_WINDOW_FIELDS; c++)
        all[c] = field[c];
    struct lm_window near = window();
    struct lm_stray s;
    lm_fix d[4];
    lm_stray_at(order, &s, t, tile, &p, all, stride);
    struct lm_window far = lm_stray_window(&s);
    if (order == 1) {
        lm_push(1, &p, &near, &step, &d[0], &d[1]);
        lm_push(1, &s.p, &far, &step, &d[2], &d[3]);
    } else {
        lm_push(2, &p, &near, &step, &d[0], &d[1]);
        lm_push(2, &s.p, &far, &step, &d[2], &d[3]);
    }
    require(p.vx == s.p.vx && p.vy == s.p.vy && p.vz == s.p.vz);
    require(d[0] == d[2] && d[1] == d[3]);
}

START_TEST(direct_path_gives_the_same_bits)
{
    static const int sizes[][2] = {{13, 11}, {8, 8}, {1, 24}, {2, 1}};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        struct lm_grid g = lm_grid_make(sizes[n][0], sizes[n][1], 1, 1);
        struct lm_tiling t = lm_tiling_make(TILE, g.nx, g.ny);
        double *field[LM_WINDOW_FIELDS];
        random_grid(&g, field);
        for (int tile = 0; tile < t.nx * t.ny; tile++) {
            copy_window(_i, &g, field, &t, tile);
            for (uint32_t k = 0; k < 2000; k++)
                push_both(_i, &t, tile, k, field, g.stride);
        }
        for (int c = 0; c < LM_WINDOW_FIELDS; c++)
            free(field[c]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create(LM_PRECISION == 64 ? "push, double" : "push, single");
    TCase *t = tcase_create("push");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, gather_of_a_constant, 1, 3);
    tcase_add_loop_test(t, gather_of_linear_fields, 1, 3);
    tcase_add_loop_test(t, gather_of_nodes_gives_the_same_bits, 1, 3);
    tcase_add_test(t, second_moment);
    tcase_add_test(t, speed_is_kept);
    tcase_add_test(t, angle_of_gyration);
    tcase_add_loop_test(t, second_order_in_dt, 0, 2);
    tcase_add_test(t, drift_is_exact);
    tcase_add_test(t, back_and_forth);
    tcase_add_test(t, parts_are_the_push);
    tcase_add_test(t, displacement);
    tcase_add_loop_test(t, direct_path_gives_the_same_bits, 1, 3);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
