/* Ohm's law and Faraday's law of the CPU backend against analytic fields, term by term and in time. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "field_box.h"
#include "fields_case.h"
#include "suite.h"

static double pressure(double x, double y)
{
    return state.temperature * pow(density(x, y), state.gamma);
}

static double slope(int component, int axis, double x, double y)
{
    return along(j_of[component], axis, x, y);
}

/* Second derivative of J through its first ones. */
static double laplacian(int c, double x, double y)
{
    const double h = 0.02;
    double d = 0;
    for (int axis = 0; axis < 2; axis++) {
        double ax = axis ? 0 : h, ay = axis ? h : 0;
        d += (0.75 * (slope(c, axis, x + ax, y + ay) - slope(c, axis, x - ax, y - ay)) -
              0.15 * (slope(c, axis, x + 2 * ax, y + 2 * ay) - slope(c, axis, x - 2 * ax, y - 2 * ay)) +
              (slope(c, axis, x + 3 * ax, y + 3 * ay) - slope(c, axis, x - 3 * ax, y - 3 * ay)) / 60) /
             h;
    }
    return d;
}

static double e_of(int c, double x, double y)
{
    int p = (c + 1) % 3, q = (c + 2) % 3;
    double force = (j_of[p](x, y) - ji_of[p](x, y)) * b_of[q](x, y) - (j_of[q](x, y) - ji_of[q](x, y)) * b_of[p](x, y);
    double gradient = c < 2 ? along(pressure, c, x, y) : 0;
    double e = (force - gradient) / density(x, y) + eta(x, y) * j_of[c](x, y);
    return state.eta_hyper > 0 ? e - state.eta_hyper * laplacian(c, x, y) : e;
}

static double ex(double x, double y)
{
    return e_of(0, x, y);
}

static double ey(double x, double y)
{
    return e_of(1, x, y);
}

static double ez(double x, double y)
{
    return e_of(2, x, y);
}

static double rate_x(double x, double y)
{
    return -along(ez, 1, x, y);
}

static double rate_y(double x, double y)
{
    return along(ez, 0, x, y);
}

static double rate_z(double x, double y)
{
    return along(ex, 1, x, y) - along(ey, 0, x, y);
}

static const function e_functions[3] = {ex, ey, ez}, rates[3] = {rate_x, rate_y, rate_z};

static void check_order(const char *name, const char *what, int d, const double error[3], double size)
{
    if (size < 1e-9) { /* this term has no such component */
        ck_assert_msg(error[0] < 1e-9, "%s: %s %d should vanish: %g", name, what, d, error[0]);
        return;
    }
    for (int k = 0; k < 2 && error[0] > 1e-12 * size; k++) { /* terms without averages are exact */
        double ratio = error[k] / error[k + 1];
        ck_assert_msg(ratio > 3.7 && ratio < 4.4, "%s: %s %d: errors %g -> %g, ratio %g", name, what, d, error[k],
                      error[k + 1], ratio);
    }
    ck_assert_msg(error[2] < 0.02 * size, "%s: %s %d: error %g of %g", name, what, d, error[2], size);
}

START_TEST(ohm_term)
{
    double error[3][3], size[3];
    select_term(_i);
    for (int k = 0; k < 3; k++) {
        struct box x = box_new(16 << k, 12 << k, LX, LY, ohm_of_state(), 0);
        put_state(&x);
        x.b->ops->ohm(x.b, LM_OHM_OLD);
        for (int d = 0; d < 3; d++) {
            double *e = box_get(&x, LM_E + d), *zero = calloc(x.g.size, sizeof *zero);
            error[d][k] = box_error(&x, e, e_place[d], e_functions[d]);
            size[d] = box_error(&x, zero, e_place[d], e_functions[d]);
            free(e), free(zero);
        }
        box_free(&x);
    }
    for (int d = 0; d < 3; d++)
        check_order(terms[_i].name, "E", d, error[d], size[d]);
}
END_TEST

/* Compares (B(dt) - B(0)) / dt with theory for a dt so small that only the error in space is left. */
START_TEST(faraday_term)
{
    const double dt = 1e-6;
    double error[3][3], size[3];
    select_term(_i);
    for (int k = 0; k < 3; k++) {
        struct box x = box_new(16 << k, 12 << k, LX, LY, ohm_of_state(), 0);
        put_state(&x);
        x.b->ops->advance_b(x.b, &(const struct lm_b_step){LM_J_OLD, dt, 1, 0, LM_NO_MEAN, 0, 0});
        for (int d = 0; d < 3; d++) {
            double *after = box_get(&x, LM_B + d), *zero = calloc(x.g.size, sizeof *zero);
            box_put(&x, LM_B + d, b_place[d], b_of[d]);
            double *before = box_get(&x, LM_B + d);
            for (size_t m = 0; m < x.g.size; m++)
                after[m] = (after[m] - before[m]) / dt;
            error[d][k] = box_error(&x, after, b_place[d], rates[d]);
            size[d] = box_error(&x, zero, b_place[d], rates[d]);
            free(after), free(before), free(zero);
        }
        box_free(&x);
    }
    for (int d = 0; d < 3; d++) {
        if (_i == 2 || _i == 3) /* the curl of grad p / n is 0 when p depends on n only */
            ck_assert_msg(error[d][0] < (_i == 2 ? 3e-2 : 5e-2) && error[d][2] < error[d][0] / 8 + 1e-8, "%s: %g %g",
                          terms[_i].name, error[d][0], error[d][2]);
        else
            check_order(terms[_i].name, "dB/dt", d, error[d], size[d]);
    }
}
END_TEST

START_TEST(runge_kutta_is_fourth_order)
{
    double *b[5];
    select_term(TERMS - 1);
    state.eta_hyper = 0.005;
    struct box x = box_new(16, 12, LX, LY, ohm_of_state(), 0);
    for (int k = 0; k < 5; k++) {
        put_state(&x);
        x.b->ops->advance_b(x.b, &(const struct lm_b_step){LM_J_OLD, 0.2, k < 4 ? 16 << k : 512, 0, LM_NO_MEAN, 0, 0});
        b[k] = box_get(&x, LM_B + 2);
    }
    for (int k = 0; k < 2; k++) {
        double ratio = box_distance(&x, b[k], b[4]) / box_distance(&x, b[k + 1], b[4]);
        ck_assert_msg(ratio > 13 && ratio < 20, "%d substeps: ratio %g", 16 << k, ratio);
    }
    for (int k = 0; k < 5; k++)
        free(b[k]);
    box_free(&x);
}
END_TEST

/* The resistive decay of one mode is exp(-eta k^2 t) with the k^2 of the grid. */
static double shear(double x, double y)
{
    return 0 * y + sin(KX * x);
}

START_TEST(resistive_decay)
{
    state = (__typeof__(state)){.n0 = 1e13, .eta0 = 0.1, .gamma = 1, .eta_hyper = _i ? 0.03 : 0};
    struct box x = box_new(24, 5, LX, LY, ohm_of_state(), 0);
    put_state(&x);
    box_put(&x, LM_B + 1, b_place[1], shear);
    double *before = box_get(&x, LM_B + 1);
    x.b->ops->advance_b(x.b, &(const struct lm_b_step){LM_J_OLD, 2, 400, 0, LM_NO_MEAN, 0, 0});
    double *after = box_get(&x, LM_B + 1);
    double k2 = pow(2 / x.g.dx * sin(0.5 * KX * x.g.dx), 2), factor = exp(-2 * k2 * (0.1 + state.eta_hyper * k2));
    for (size_t k = 0; k < x.g.size; k++)
        require_near(after[k], factor * before[k], 1e-10);
    free(before), free(after);
    box_free(&x);
}
END_TEST

static double potential(double x, double y)
{
    return sin(KX * x) * cos(2 * KY * y) + 0.3 * cos(3 * KX * x + KY * y);
}

START_TEST(b_stays_free_of_divergence)
{
    select_term(TERMS - 1);
    struct box x = box_new(19, 14, LX, LY, ohm_of_state(), 0);
    const double centre[2] = {0, 0};
    put_state(&x);
    box_put(&x, LM_E, centre, potential);
    double *a = box_get(&x, LM_E), *f = calloc(x.g.size, sizeof *f);
    size_t s = (size_t)x.g.stride;
    for (int d = 0; d < 2; d++) {
        for (int j = 0; j < x.g.ny; j++)
            for (int i = 0; i < x.g.nx; i++) {
                size_t k = lm_at(&x.g, i, j);
                f[k] = d == 0 ? (a[k + s] - a[k]) / x.g.dy : -(a[k + 1] - a[k]) / x.g.dx;
            }
        lm_grid_wrap(&x.g, f);
        x.b->ops->put(x.b, LM_B + d, f);
    }
    struct lm_grid_sums sums;
    x.b->ops->grid_sums(x.b, &sums);
    double start = sums.div_b;
    x.b->ops->advance_b(x.b, &(const struct lm_b_step){LM_J_OLD, 4, 800, 0, LM_NO_MEAN, 0, 0});
    x.b->ops->grid_sums(x.b, &sums);
    ck_assert_msg(sums.div_b < 1e-12 && start < 1e-13, "div B from %g to %g", start, sums.div_b);
    double *b = box_get(&x, LM_B);
    ck_assert_double_gt(box_distance(&x, b, f), 1e-3); /* B has changed */
    box_put(&x, LM_B, centre, potential);
    x.b->ops->grid_sums(x.b, &sums);
    ck_assert_double_gt(sums.div_b, 0.1); /* and the diagnostic can see it */
    free(a), free(f), free(b);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields");
    TCase *t = tcase_create("fields");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, ohm_term, 0, TERMS);
    tcase_add_loop_test(t, faraday_term, 0, TERMS);
    tcase_add_test(t, runge_kutta_is_fourth_order);
    tcase_add_loop_test(t, resistive_decay, 0, 2);
    tcase_add_test(t, b_stays_free_of_divergence);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
