/* Operators at the sides of the domain, and the expressions of bench/ops.h, against a reference that goes from node to
 * node and shares no code with them. */
#include "operator_box.h"

/* --- conditions: a reference in extended precision that goes from node to node, by geometry --- */

typedef long double (*node)(int i, int j);

static long double cell_of(int axis)
{
    return axis == X ? (long double)p.grid.dx : (long double)p.grid.dy;
}

/* A point on the line through (s0, a0) with a slope. */
static long double on_line(long double s, long double s0, long double a0, long double slope_there)
{
    return a0 + (s - s0) * slope_there;
}

/* The value of the argument in a node of an axis, continued beyond the walls by the conditions. Lengths are measured
 * from the lower wall. */
static long double argument(node a, int axis, int set, int i, int j)
{
    const int at = axis == X ? i : j, n = axis == X ? p.grid.nx : p.grid.ny;
    const long double d = cell_of(axis), shift = set == LM_OPS_FACES ? 1 : 0.5L, s = (at + shift) * d, length = n * d;
    const int low = s <= 0, high = s >= length * (1 - 1e-12L);
    const struct lm_condition c = p.conditions[set][2 * axis + !low];
    if (!(low || high) || c.kind == LM_NO_CONDITION)
        return a(i, j);
    const int first = low ? 0 : n - (set == LM_OPS_FACES ? 2 : 1), second = low ? first + 1 : first - 1;
    const long double wall = low ? 0 : length, at_first = (first + shift) * d;
    const long double here = axis == X ? a(first, j) : a(i, first);
    if (c.kind == LM_GIVEN_VALUE && s == wall)
        return c.value;
    if (c.kind == LM_GIVEN_VALUE)
        return on_line(s, wall, c.value, (here - c.value) / (at_first - wall));
    if (c.kind != LM_EXTRAPOLATED)
        return on_line(s, at_first, here, c.value);
    const long double there = n == 1 ? here : axis == X ? a(second, j) : a(i, second);
    return on_line(s, at_first, here, (there - here) / ((second - first) * d));
}

/* Differences and means between nodes half a cell apart; `low` and `high` are the offsets of the nodes. */
static long double slope_of(node a, int axis, int set, int i, int j, int low, int high)
{
    const int x = axis == X, y = axis == Y;
    return (argument(a, axis, set, i + x * high, j + y * high) - argument(a, axis, set, i + x * low, j + y * low)) /
           ((high - low) * cell_of(axis));
}

static long double mean_of(node a, int axis, int set, int i, int j, int low, int high)
{
    const int x = axis == X, y = axis == Y;
    return (argument(a, axis, set, i + x * high, j + y * high) + argument(a, axis, set, i + x * low, j + y * low)) / 2;
}

/* From faces to the centre. In a single cell between two walls the condition on the divergence comes before others. */
static long double down_of(node a, int axis, int i, int j)
{
    const struct lm_condition *c = p.conditions[LM_OPS_FACES] + 2 * axis;
    for (int high = 0; high < 2 && (axis == X ? p.grid.nx : p.grid.ny) == 1; high++)
        if (c[high].kind == LM_GIVEN_DIVERGENCE && (high ? 1 : -1) * (axis == X ? i : j) >= 0)
            return c[high].value;
    return slope_of(a, axis, LM_OPS_FACES, i, j, -1, 0);
}

#define UP(a, axis) slope_of(a, axis, LM_OPS_CENTRES, i, j, 0, 1)
#define DOWN(a, axis) down_of(a, axis, i, j)
#define NODE(name, expression)                                                                                         \
    static long double name(int i, int j)                                                                              \
    {                                                                                                                  \
        return expression;                                                                                             \
    }

static long double bend_of(node a, int axis, int set, int i, int j)
{
    return (slope_of(a, axis, set, i, j, 0, 1) - slope_of(a, axis, set, i, j, -1, 0)) / cell_of(axis);
}

static long double flow_of(double u, node a, int axis, int i, int j)
{
    const int on = u >= 0 ? 0 : 1;
    return u * argument(a, axis, LM_OPS_CENTRES, i + (axis == X) * on, j + (axis == Y) * on);
}

static long double filtered(node a, int axis, int i, int j)
{
    return (mean_of(a, axis, LM_OPS_CENTRES, i, j, -1, 0) + mean_of(a, axis, LM_OPS_CENTRES, i, j, 0, 1)) / 2;
}

NODE(q0, *in(0, i, j))
NODE(q1, *in(1, i, j))
NODE(q2, *in(2, i, j))
NODE(q3, *in(3, i, j))
NODE(grad_x, UP(q0, X))
NODE(grad_y, UP(q0, Y))
NODE(div_f, DOWN(q0, X) + DOWN(q1, Y))
NODE(j_x, DOWN(q2, Y))
NODE(j_y, -DOWN(q2, X))
NODE(j_z, DOWN(q1, X) - DOWN(q0, Y))
NODE(rate_x, -UP(q2, Y))
NODE(rate_y, UP(q2, X))
NODE(rate_z, UP(q0, Y) - UP(q1, X))
NODE(face_x, mean_of(q0, X, LM_OPS_CENTRES, i, j, 0, 1))
NODE(face_y, mean_of(q0, Y, LM_OPS_CENTRES, i, j, 0, 1))
NODE(corner, mean_of(face_x, Y, LM_OPS_CENTRES, i, j, 0, 1))
NODE(centre_x, mean_of(q0, X, LM_OPS_FACES, i, j, -1, 0))
NODE(centre_y, mean_of(q1, Y, LM_OPS_FACES, i, j, -1, 0))
NODE(centred_x, slope_of(q0, X, LM_OPS_CENTRES, i, j, -1, 1))
NODE(centred_y, slope_of(q0, Y, LM_OPS_CENTRES, i, j, -1, 1))
NODE(filtered_x, filtered(q0, X, i, j))
NODE(filtered_xy, filtered(filtered_x, Y, i, j))
NODE(flow_x, flow_of((double)q0(i, j), q2, X, i, j))
NODE(flow_y, flow_of((double)q1(i, j), q2, Y, i, j))
NODE(carried_x, flow_of((double)mean_of(q0, X, LM_OPS_COEFFICIENT, i, j, 0, 1), q2, X, i, j))
NODE(carried_y, flow_of((double)mean_of(q1, Y, LM_OPS_COEFFICIENT, i, j, 0, 1), q2, Y, i, j))
NODE(advection, DOWN(carried_x, X) + DOWN(carried_y, Y))
NODE(ab, q2(i, j) * q3(i, j))
NODE(f_grad_x, q0(i, j) * UP(ab, X))
NODE(f_grad_y, q1(i, j) * UP(ab, Y))
NODE(div_f_grad, DOWN(f_grad_x, X) + DOWN(f_grad_y, Y))
NODE(diffusive_x, mean_of(q0, X, LM_OPS_COEFFICIENT, i, j, 0, 1) * UP(q1, X))
NODE(diffusive_y, mean_of(q0, Y, LM_OPS_COEFFICIENT, i, j, 0, 1) * UP(q1, Y))
NODE(diffusion, DOWN(diffusive_x, X) + DOWN(diffusive_y, Y))

static long double resistive(node current, double eta, int set_x, int set_y, int i, int j)
{
    return eta * current(i, j) - p.eta_hyper * (bend_of(current, X, set_x, i, j) + bend_of(current, Y, set_y, i, j));
}

NODE(e_x, resistive(j_x, (double)mean_of(q3, X, LM_OPS_COEFFICIENT, i, j, 0, 1), LM_OPS_FACES, LM_OPS_CENTRES, i, j))
NODE(e_y, resistive(j_y, (double)mean_of(q3, Y, LM_OPS_COEFFICIENT, i, j, 0, 1), LM_OPS_CENTRES, LM_OPS_FACES, i, j))
NODE(e_z, resistive(j_z, (double)q3(i, j), LM_OPS_CENTRES, LM_OPS_CENTRES, i, j))

static const node references[LM_OPS_EXPRESSIONS][LM_OPS_OUTPUTS] = {
    [LM_OPS_GRAD] = {grad_x, grad_y},
    [LM_OPS_DIV] = {div_f},
    [LM_OPS_CURL] = {j_x, j_y, j_z},
    [LM_OPS_DROP_CURL] = {rate_x, rate_y, rate_z},
    [LM_OPS_TO_FACES] = {face_x, face_y, corner},
    [LM_OPS_TO_CENTRE] = {centre_x, centre_y},
    [LM_OPS_CENTRED] = {centred_x, centred_y, filtered_xy},
    [LM_OPS_UPWIND] = {flow_x, flow_y},
    [LM_OPS_DIV_GRAD] = {div_f_grad},
    [LM_OPS_DIFFUSION] = {diffusion},
    [LM_OPS_ADVECTION] = {advection},
    [LM_OPS_RESISTIVE] = {e_x, e_y, e_z},
};

static void compare_with_reference(int expression)
{
    const struct lm_ops_info *info = lm_ops_info(expression);
    lm_ops_loops(&p, expression, 1);
    for (int n = 0; n < info->outputs; n++)
        for (int j = lm_ops_first(&p.grid, info, n, Y); j < p.grid.ny; j++)
            for (int i = lm_ops_first(&p.grid, info, n, X); i < p.grid.nx; i++) {
                const double want = (double)references[expression][n](i, j);
                if (!(fabs(out(n, i, j) - want) <= 1e-11 * (1 + fabs(want))))
                    ck_abort_msg("%s, %d x %d, result %d in %d, %d: %.17g, not %.17g", info->name, p.grid.nx, p.grid.ny,
                                 n, i, j, out(n, i, j), want);
            }
}

/* Domains of 1 to 7 cells in a direction and of more, with all pairs of conditions, on one axis, both or none. */
START_TEST(expressions_between_walls)
{
    for (int number = 0; number < 500; number++) {
        const int nx = number % 50 == 49 ? 37 : 1 + number % 7, ny = number % 50 == 49 ? 20 : 1 + number / 7 % 7;
        make(nx, ny, number & 1, number >> 1 & 1, (uint64_t)number);
        compare_with_reference(_i);
    }
}
END_TEST

/* --- conditions: their definitions, with numbers written out --- */

/* 4 x 3 cells with walls. Set `set` has the condition `kind` on `side` and none elsewhere. */
static void one_condition(int set, int side, int kind, double value)
{
    make(4, 3, 1, 1, 3);
    for (int s = 0; s < LM_OPS_SETS; s++)
        for (int k = 0; k < LM_SIDES; k++)
            p.conditions[s][k].kind = LM_NO_CONDITION;
    p.conditions[set][side] = (struct lm_condition){kind, value};
}

/* For a node along the wall of a side: the cell next to the wall, the cell after it, and the face on the wall. */
static int along_wall(int side, int k, int first[2], int second[2], int face[2])
{
    const int axis = side / 2, high = side % 2, n = axis == X ? p.grid.nx : p.grid.ny;
    first[axis] = high ? n - 1 : 0, second[axis] = high ? n - 2 : 1, face[axis] = high ? n - 1 : -1;
    first[!axis] = second[!axis] = face[!axis] = k;
    return k < (axis == X ? p.grid.ny : p.grid.nx);
}

START_TEST(gradient_on_walls)
{
    const int axis = _i / 2, sign = _i % 2 ? -1 : 1; /* the direction in which the domain lies */
    for (int kind = LM_GIVEN_VALUE; kind <= LM_EXTRAPOLATED; kind++) {
        one_condition(LM_OPS_CENTRES, _i, kind, 0.37);
        lm_ops_loops(&p, LM_OPS_GRAD, 1);
        const double d = (double)cell_of(axis);
        int a[2], b[2], w[2];
        for (int k = 0; along_wall(_i, k, a, b, w); k++) {
            const double first = *in(0, a[X], a[Y]), second = *in(0, b[X], b[Y]), have = out(axis, w[X], w[Y]);
            if (kind == LM_GIVEN_VALUE)
                require_near(have, sign * (first - 0.37) / (d / 2), 1e-14 / d);
            if (kind == LM_GIVEN_GRADIENT)
                require(have == 0.37); /* to the bit */
            if (kind == LM_EXTRAPOLATED)
                require_near(have, sign * (second - first) / d, 1e-14 / d);
        }
    }
}
END_TEST

START_TEST(divergence_in_first_cells)
{
    const int axis = _i / 2, sign = _i % 2 ? -1 : 1;
    one_condition(LM_OPS_FACES, _i, LM_GIVEN_DIVERGENCE, 0.37);
    p.grid.sides.of[2 * !axis] = p.grid.sides.of[2 * !axis + 1] = LM_PERIODIC;
    for (size_t k = 0; k < p.grid.size; k++)
        p.array[axis == X][k] = 0.25; /* the other component adds nothing */
    int a[2], b[2], w[2];
    lm_ops_loops(&p, LM_OPS_DIV, 1);
    for (int k = 0; along_wall(_i, k, a, b, w); k++)
        require(out(0, a[X], a[Y]) == 0.37);
    p.conditions[LM_OPS_FACES][_i].kind = LM_GIVEN_VALUE;
    lm_ops_loops(&p, LM_OPS_DIV, 1);
    for (int k = 0; along_wall(_i, k, a, b, w); k++) {
        const double face = *in(axis, sign > 0 ? a[X] : a[X] - (axis == X), sign > 0 ? a[Y] : a[Y] - (axis == Y));
        require_near(out(0, a[X], a[Y]), sign * (face - 0.37) / (double)cell_of(axis), 1e-13);
    }
    p.conditions[LM_OPS_FACES][_i].kind = LM_EXTRAPOLATED;
    lm_ops_loops(&p, LM_OPS_DIV, 1);
    for (int k = 0; along_wall(_i, k, a, b, w); k++)
        require_near(out(0, a[X], a[Y]), out(0, b[X], b[Y]), 1e-13);
}
END_TEST

/* Without flux through the walls nothing is lost: the sums of diffusion and of advection are 0. */
START_TEST(closed_boxes_lose_nothing)
{
    make(11, 8, 1, 1, 5);
    for (int side = 0; side < LM_SIDES; side++)
        p.conditions[LM_OPS_FACES][side] = (struct lm_condition){LM_GIVEN_VALUE, 0};
    for (int e = LM_OPS_DIV_GRAD; e <= LM_OPS_ADVECTION; e++) {
        double sum = 0, size = 0;
        lm_ops_loops(&p, e, 1);
        for (int j = 0; j < p.grid.ny; j++)
            for (int i = 0; i < p.grid.nx; i++)
                sum += out(0, i, j), size += fabs(out(0, i, j));
        require(size > 1);
        require_near(sum, 0, 1e-13 * size);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operator_walls");
    TCase *t = tcase_create("operator_walls");
    tcase_add_checked_fixture(t, NULL, free_problem);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, expressions_between_walls, 0, LM_OPS_EXPRESSIONS);
    tcase_add_loop_test(t, gradient_on_walls, 0, LM_SIDES);
    tcase_add_loop_test(t, divergence_in_first_cells, 0, LM_SIDES);
    tcase_add_test(t, closed_boxes_lose_nothing);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
