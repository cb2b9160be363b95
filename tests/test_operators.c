/* The operators of larmor/physics/numerics/operators.h: order, exactness, adjoints. The formulas of the solver consist
 * of them. */
#include "operator_box.h"

#include "larmor/physics/fields/fields.h"

/* --- order and exactness, along x and along y --- */

static double wave(double s)
{
    return sin(1.3 * s + 0.4);
}
static double slope(double s)
{
    return 1.3 * cos(1.3 * s + 0.4);
}
static double minus_slope(double s)
{
    return -slope(s);
}
static double bend(double s)
{
    return -1.69 * wave(s);
}
static double flow(double s)
{
    return 0.7 * wave(s);
}

/* place: position of the result, in cells from the node of the argument with the same index; degree: polynomials up to
 * this degree have an exact result. */
static const struct {
    int op;
    double place;
    double (*exact)(double s);
    int order, degree;
} operators[] = {
    {LM_DIFF_UP, 0.5, slope, 2, 2},       {LM_DIFF_DOWN, -0.5, slope, 2, 2},
    {LM_DROP_UP, 0.5, minus_slope, 2, 2}, {LM_DROP_DOWN, -0.5, minus_slope, 2, 2},
    {LM_INTERP_UP, 0.5, wave, 2, 1},      {LM_INTERP_DOWN, -0.5, wave, 2, 1},
    {LM_UPWIND_PRODUCT, 0.5, flow, 1, 0}, {LM_DIFF_CENTRE, 0, slope, 2, 2},
    {LM_INTERP_CENTRE, 0, wave, 2, 1},    {LM_SECOND, 0, bend, 2, 3},
};

/* The largest error of an operator on `of` at 200 positions, with cells of size h; `s` is the stride of the array. */
static double worst_error(size_t k, double h, int s, double (*of)(double), double (*exact)(double))
{
    double a[64] = {0}, worst = 0;
    for (double at = 0; at < 4; at += 0.02) {
        for (int i = -1; i <= 1; i++)
            a[32 + i * s] = of(at + i * h);
        double e = lm_along(operators[k].op, a + 32, s, 1 / h, 0.7) - exact(at + operators[k].place * h);
        worst = fmax(worst, fabs(e));
    }
    return worst;
}

START_TEST(order)
{
    for (int s = 1; s <= 17; s += 16) {
        double coarse = worst_error((size_t)_i, 0.02, s, wave, operators[_i].exact);
        double fine = worst_error((size_t)_i, 0.01, s, wave, operators[_i].exact);
        ck_assert_double_eq_tol(log2(coarse / fine), operators[_i].order, 0.02);
    }
}
END_TEST

static int power;

static double monomial(double s)
{
    return pow(s, power);
}

/* What the operator must give for a wave: its value, slope or second derivative, with sign and factor. */
static double of_monomial(int op, double s)
{
    if (op == LM_SECOND)
        return power < 2 ? 0 : power * (power - 1) * pow(s, power - 2);
    if (op == LM_INTERP_UP || op == LM_INTERP_DOWN || op == LM_INTERP_CENTRE || op == LM_UPWIND_PRODUCT)
        return (op == LM_UPWIND_PRODUCT ? 0.7 : 1) * pow(s, power);
    double d = power < 1 ? 0 : power * pow(s, power - 1);
    return op == LM_DROP_UP || op == LM_DROP_DOWN ? -d : d;
}

static int of_op;

static double expected_monomial(double s)
{
    return of_monomial(of_op, s);
}

START_TEST(polynomials)
{
    of_op = operators[_i].op;
    for (power = 0; power <= operators[_i].degree; power++)
        require_near(worst_error((size_t)_i, 0.25, 1, monomial, expected_monomial), 0, 1e-11);
    power = operators[_i].degree + 1;
    require(worst_error((size_t)_i, 0.25, 1, monomial, expected_monomial) > 1e-3);
}
END_TEST

START_TEST(upwind_takes_the_side_of_the_flow)
{
    const double a[2] = {3, 5};
    ck_assert_double_eq(lm_upwind(2, a, 1), 6);
    ck_assert_double_eq(lm_upwind(-2, a, 1), -10);
    ck_assert_double_eq(lm_upwind(0, a, 1), 0);
}
END_TEST

/* --- on periodic boxes --- */

static const int boxes[][2] = {{1, 1}, {1, 7}, {5, 1}, {2, 2}, {9, 6}, {16, 31}};

/* sum f . grad q = -sum q div f, sum b . curl e = sum e . curl b, sum f interp(q) = sum q interp(f). */
START_TEST(adjoints)
{
    make(boxes[_i][0], boxes[_i][1], 0, 0, 7);
    const int s = p.grid.stride;
    const double inv_dx = 1 / p.grid.dx, inv_dy = 1 / p.grid.dy;
    double grad = 0, div = 0, up = 0, down = 0, curl_b = 0, curl_e = 0;
    for (int j = 0; j < p.grid.ny; j++)
        for (int i = 0; i < p.grid.nx; i++) {
            const double *q = in(3, i, j), *f = in(0, i, j), *g = in(1, i, j);
            grad += f[0] * lm_diff_up(q, 1, inv_dx) + g[0] * lm_diff_up(q, s, inv_dy);
            div += q[0] * lm_div_down((struct lm_view){f, g, NULL, s}, inv_dx, inv_dy);
            up += f[0] * lm_interp_up(q, 1) + g[0] * lm_interp_up(q, s);
            down += q[0] * (lm_interp_down(f, 1) + lm_interp_down(g, s));
            /* b: inputs 0, 1, 2; e: 1, 2, 3 */
            const struct lm_view b = inputs(i, j), e = {in(1, i, j), in(2, i, j), in(3, i, j), s};
            const struct lm_vector cb = lm_curl_down(b, inv_dx, inv_dy), ce = lm_drop_curl_up(e, inv_dx, inv_dy);
            curl_b += cb.x * e.x[0] + cb.y * e.y[0] + cb.z * e.z[0];
            curl_e -= ce.x * b.x[0] + ce.y * b.y[0] + ce.z * b.z[0];
        }
    const double round = 1e-13 * (double)p.grid.cells * inv_dx;
    require_near(grad, -div, round);
    require_near(up, down, round);
    require_near(curl_b, curl_e, round);
}
END_TEST

START_TEST(no_divergence_of_a_curl)
{
    make(boxes[_i][0], boxes[_i][1], 0, 0, 11);
    const double inv_dx = 1 / p.grid.dx, inv_dy = 1 / p.grid.dy;
    for (int j = 0; j < p.grid.ny; j++)
        for (int i = 0; i < p.grid.nx; i++) {
            double down[2][3], up[2][3]; /* the x and y components in this node and in the next one */
            for (int k = 0; k < 3; k++) {
                const struct lm_vector d = lm_curl_down(inputs(i - (k == 1), j - (k == 2)), inv_dx, inv_dy);
                const struct lm_vector u = lm_drop_curl_up(inputs(i + (k == 1), j + (k == 2)), inv_dx, inv_dy);
                down[0][k] = d.x, down[1][k] = d.y, up[0][k] = u.x, up[1][k] = u.y;
            }
            require_near((down[0][0] - down[0][1]) * inv_dx + (down[1][0] - down[1][2]) * inv_dy, 0,
                         1e-13 * inv_dx * inv_dx);
            require_near((up[0][1] - up[0][0]) * inv_dx + (up[1][2] - up[1][0]) * inv_dy, 0, 1e-13 * inv_dx * inv_dx);
        }
}
END_TEST

/* The expressions agree with the formulas of the solver, to the bit. */
START_TEST(formulas_of_the_solver)
{
    make(boxes[_i][0], boxes[_i][1], 0, 0, 13);
    const struct lm_grid *g = &p.grid;
    const struct lm_ohm o = {.inv_dx = 1 / g->dx, .inv_dy = 1 / g->dy, .eta_hyper = p.eta_hyper};
    double *j0[3];
    for (int d = 0; d < 3; d++)
        j0[d] = calloc(g->size, sizeof *j0[d]);
    lm_ops_loops(&p, LM_OPS_CURL, 1);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const struct lm_vector c = lm_curl_b(inputs(i, j), o.inv_dx, o.inv_dy);
            const double want[3] = {c.x, c.y, c.z};
            for (int d = 0; d < 3; d++) {
                require(lm_bits(out(d, i, j)) == lm_bits(want[d]));
                j0[d][lm_at(g, i, j)] = want[d];
            }
        }
    lm_ops_loops(&p, LM_OPS_DROP_CURL, 1);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const struct lm_vector c = lm_faraday(inputs(i, j), o.inv_dx, o.inv_dy);
            require(lm_bits(out(0, i, j)) == lm_bits(c.x) && lm_bits(out(1, i, j)) == lm_bits(c.y) &&
                    lm_bits(out(2, i, j)) == lm_bits(c.z));
        }
    for (int d = 0; d < 3; d++)
        lm_grid_wrap(g, j0[d]);
    lm_ops_loops(&p, LM_OPS_RESISTIVE, 1);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            for (int d = 0; d < 3; d++) {
                const double *eta = in(3, i, j);
                const double mean = d == 2 ? eta[0] : lm_interp_up(eta, d == 0 ? 1 : g->stride);
                require(lm_bits(out(d, i, j)) == lm_bits(lm_resistive(j0[d] + lm_at(g, i, j), g->stride, mean, &o)));
            }
    lm_ops_loops(&p, LM_OPS_DIFFUSION, 1);
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            require(lm_bits(out(0, i, j)) ==
                    lm_bits(lm_diffusion(in(0, i, j), in(1, i, j), g->stride, o.inv_dx, o.inv_dy)));
    for (int d = 0; d < 3; d++)
        free(j0[d]);
}
END_TEST

START_TEST(same_with_more_threads)
{
    make(45, 37, 1, 0, 2);
    for (int e = 0; e < LM_OPS_EXPRESSIONS; e++) {
        lm_ops_loops(&p, e, 1);
        const uint64_t one = lm_ops_checksum(&p, e);
        lm_ops_loops(&p, e, 3);
        require(lm_ops_checksum(&p, e) == one);
    }
}
END_TEST

int main(void)
{
    const int count = sizeof operators / sizeof *operators, sizes = sizeof boxes / sizeof *boxes;
    Suite *suite = suite_create("operators");
    TCase *t = tcase_create("operators");
    tcase_add_checked_fixture(t, NULL, free_problem);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, order, 0, count);
    tcase_add_loop_test(t, polynomials, 0, count);
    tcase_add_test(t, upwind_takes_the_side_of_the_flow);
    tcase_add_loop_test(t, adjoints, 0, sizes);
    tcase_add_loop_test(t, no_divergence_of_a_curl, 0, sizes);
    tcase_add_loop_test(t, formulas_of_the_solver, 0, sizes);
    tcase_add_test(t, same_with_more_threads);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
