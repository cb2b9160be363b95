/* Fields between walls, on the CPU backend, against theory: flows, resistive modes, standing whistlers. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "field_box.h"
#include "field_walls.h"
#include "suite.h"

static double dense(double x, double y)
{
    return 1e13 + 0 * (x + y);
}

static double half(double x, double y)
{
    return 0.5 + 0 * (x + y);
}

static double two(double x, double y)
{
    return 2 + 0 * (x + y);
}

/* A uniform plasma that flows along walls has E = -u x B on the walls as inside. */
START_TEST(e_through_a_wall)
{
    const int along_y = _i, sides[LM_SIDES] = {along_y ? LM_CONDUCTING : PERIODIC, along_y ? LM_CONDUCTING : PERIODIC,
                                               along_y ? PERIODIC : LM_CONDUCTING, along_y ? PERIODIC : LM_CONDUCTING};
    const double centre[2] = {0, 0};
    struct lm_ohm ohm = {.floor = 0.01, .gamma = 1, .temperature = 0.3};
    struct box x = box_with_walls(7, 6, 3.5, 3, ohm, 0, sides, NULL);
    put_all(&x, LM_N_OLD, centre, two);
    put_all(&x, LM_J_OLD + along_y, centre, one); /* u = 0.5 along the walls, 0.25 along z */
    put_all(&x, LM_J_OLD + 2, centre, half);
    put_all(&x, LM_B + 2, b_place[2], half);
    put_all(&x, LM_B + along_y, b_place[along_y], half);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD, 0.0);
    x.b->ops->ohm(x.b, LM_OHM_OLD);
    const int d = along_y ? 0 : 1;
    double *e = box_get(&x, LM_E + d);
    for (int j = d == 1 ? -1 : 0; j < x.g.ny; j++)
        for (int i = d == 0 ? -1 : 0; i < x.g.nx; i++)
            require(fabs(e[lm_at(&x.g, i, j)] - (d == 0 ? -0.125 : 0.125)) < 1e-15);
    free(e);
    box_free(&x);
}
END_TEST

/* What ions feel beyond a side that turns them back is odd where the current that they deposit there is, and even where
 * it is even, whatever the side does to the fields. */
START_TEST(ions_feel_where_they_deposit)
{
    enum { N = 5 };
    const int axis = _i % 2, kinds[] = {LM_CONDUCTING, LM_OPEN, LM_INFLOW_E, LM_INFLOW_B};
    const struct lm_sides ions = {{LM_REFLECTING, LM_THERMAL, LM_THERMAL, LM_REFLECTING}};
    struct lm_field_sides fields = {.turns_back = {1, 1, 1, 1}};
    for (int side = 0; side < LM_SIDES; side++)
        fields.of[side] = kinds[_i / 2];
    for (int component = 0; component < 3; component++)
        for (int fill = LM_FILL_PUSH_E; fill <= LM_FILL_PUSH_B; fill++) {
            double line[N + 2 * LM_GHOST] = {0};
            for (int i = 0; i < N; i++)
                line[LM_GHOST + i] = i + 1;
            lm_fill_line(&fields, axis, component, fill, line + LM_GHOST, 1, N);
            for (int i = -LM_GHOST; i < N + LM_GHOST; i++) {
                int sign = 1;
                const int through = (component == axis) == (fill == LM_FILL_PUSH_E),
                          inside = lm_cell_inside(&ions, axis, N, through, i, &sign);
                ck_assert_double_eq(line[LM_GHOST + i], sign * (inside + 1));
            }
        }
}
END_TEST

/* The largest difference between an array and factor * f, in cells from (low_x, low_y) on. */
static double worst(struct box *x, int array, const double place[2], function f, double factor, int low_x, int low_y)
{
    double *a = box_get(x, array), most = 0;
    for (int j = low_y; j < x->g.ny; j++)
        for (int i = low_x; i < x->g.nx; i++) {
            double want = factor * f((i + 0.5 + place[0]) * x->g.dx, (j + 0.5 + place[1]) * x->g.dy);
            double off = fabs(a[lm_at(&x->g, i, j)] - want);
            most = off <= most ? most : off;
        }
    free(a);
    return most;
}

static double mode_kx, mode_ky;

static double cos_cos(double x, double y)
{
    return cos(mode_kx * x) * cos(mode_ky * y);
}

static double sin_cos(double x, double y)
{
    return sin(mode_kx * x) * cos(mode_ky * y);
}

static double cos_sin(double x, double y)
{
    return -cos(mode_kx * x) * sin(mode_ky * y);
}

static double flux_x(double x, double y)
{
    return grid_k(mode_ky, 0.3) * sin_cos(x, y);
}

static double flux_y(double x, double y)
{
    return grid_k(mode_kx, 0.25) * cos_sin(x, y);
}

/* Diffusion between conducting walls: B_z = cos cos and A_z = sin sin decay at the rate eta K^2, also on the walls and
 * beyond them. */
START_TEST(resistive_modes)
{
    static const int around[3][LM_SIDES] = {{LM_CONDUCTING, LM_CONDUCTING, LM_CONDUCTING, LM_CONDUCTING},
                                            {LM_CONDUCTING, LM_CONDUCTING, PERIODIC, PERIODIC},
                                            {PERIODIC, PERIODIC, LM_CONDUCTING, LM_CONDUCTING}};
    const int *sides = around[_i];
    const int walls_x = sides[0] != PERIODIC, walls_y = sides[2] != PERIODIC;
    const double eta = 0.02, t = 3, lx = 24 * 0.25, ly = 20 * 0.3;
    struct lm_ohm ohm = {.floor = 1, .gamma = 1, .eta_hyper = 1e-4};
    mode_kx = (walls_x ? 3 : 2) * M_PI / lx, mode_ky = 2 * M_PI / ly;
    for (int plane = 0; plane < 2; plane++) {
        struct box x = box_with_walls(24, 20, lx, ly, ohm, 0, sides, NULL);
        const function b[3] = {flux_x, flux_y, cos_cos};
        for (int d = 0; d < 3; d++)
            if (plane == (d < 2))
                put_all(&x, LM_B + d, b_place[d], b[d]);
        put_all(&x, LM_N_OLD, centre, dense);
        for (size_t k = 0; k < x.g.size; k++)
            x.work[k] = eta;
        x.b->ops->put(x.b, LM_ETA, x.work);
        advance(&x, t / 600, 600);
        double k2 = pow(grid_k(mode_kx, x.g.dx), 2) + pow(grid_k(mode_ky, x.g.dy), 2);
        double left = exp(-(eta + k2 * 1e-4) * k2 * t);
        ck_assert(left < 0.95 && left > 0.5);
        for (int d = 0; d < 3; d++)
            if (plane == (d < 2))
                ck_assert_double_lt(worst(&x, LM_B + d, b_place[d], b[d], left, -2 * walls_x, -2 * walls_y), 1e-10);
        box_free(&x);
    }
}
END_TEST

static double whistler_t, whistler_k2;

static int whistler_axis, whistler_odd;

static double shape(double x, double y)
{
    double along = whistler_axis ? mode_ky * y : mode_kx * x;
    return whistler_odd ? sin(along) : cos(along);
}

static double first(double x, double y)
{
    return 0.3 * shape(x, y) * cos(whistler_k2 * whistler_t);
}

static double second(double x, double y)
{
    return 0.3 * shape(x, y) * sin(whistler_k2 * whistler_t);
}

/* A standing whistler along B_n = 1 has omega = K^2 B/n. B along a conducting wall is even about it, as no current
 * flows there; about a wall with given B it is odd. The box has one row or one column. */
START_TEST(standing_whistler)
{
    whistler_axis = _i & 1;
    whistler_odd = _i >> 1;
    const int kind = whistler_odd ? LM_INFLOW_B : LM_CONDUCTING, n = 32, m = 3;
    int sides[LM_SIDES] = {PERIODIC, PERIODIC, PERIODIC, PERIODIC};
    sides[2 * whistler_axis] = sides[2 * whistler_axis + 1] = kind;
    const int nx = whistler_axis ? 1 : n, ny = whistler_axis ? n : 1;
    struct box x =
        box_with_walls(nx, ny, nx * 0.25, ny * 0.25, (struct lm_ohm){.floor = 0.1, .gamma = 1}, 0, sides, NULL);
    mode_kx = mode_ky = m * M_PI / (n * 0.25);
    whistler_k2 = pow(grid_k(mode_kx, 0.25), 2);
    /* The components in cyclic order: along x, B_z follows B_y; along y, B_x follows B_z. */
    const int a = (whistler_axis + 1) % 3, b = (whistler_axis + 2) % 3, low_x = whistler_axis ? 0 : -1;
    whistler_t = 0;
    put_all(&x, LM_B + whistler_axis, centre, one);
    put_all(&x, LM_B + a, b_place[a], first);
    put_all(&x, LM_B + b, b_place[b], second);
    put_all(&x, LM_N_OLD, centre, one);
    const double t = 2 * M_PI / whistler_k2;
    const int steps = 4000;
    advance(&x, 0.7 * t / steps, steps);
    whistler_t = 0.7 * t;
    ck_assert_double_lt(worst(&x, LM_B + a, b_place[a], first, 1, low_x, low_x ? 0 : -1), 1e-8);
    ck_assert_double_lt(worst(&x, LM_B + b, b_place[b], second, 1, low_x, low_x ? 0 : -1), 1e-8);
    ck_assert_double_eq_tol(worst(&x, LM_B + whistler_axis, centre, one, 1, 0, 0), 0, 1e-12);
    whistler_t = 0;
    ck_assert_double_gt(worst(&x, LM_B + a, b_place[a], first, 1, 0, 0), 0.1);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields between walls");
    TCase *t = tcase_create("fields between walls");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, e_through_a_wall, 0, 2);
    tcase_add_loop_test(t, ions_feel_where_they_deposit, 0, 8);
    tcase_add_loop_test(t, resistive_modes, 0, 3);
    tcase_add_loop_test(t, standing_whistler, 0, 4);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
