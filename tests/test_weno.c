/* WENO reconstruction against polynomials and smoothness indicators that are computed in long double without its
 * formulas: by solving for the averages, and by quadrature. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "larmor/physics/numerics/weno.h"
#include "suite.h"

typedef long double real;

/* Calls the function under test for an order that is known only at run time. */
static double weno(int r, int single, const double *w)
{
    switch (r) {
    case 1:
        return lm_weno(1, 0, w);
    case 2:
        return single ? lm_weno(2, 1, w) : lm_weno(2, 0, w);
    case 3:
        return single ? lm_weno(3, 1, w) : lm_weno(3, 0, w);
    case 4:
        return single ? lm_weno(4, 1, w) : lm_weno(4, 0, w);
    default:
        return single ? lm_weno(5, 1, w) : lm_weno(5, 0, w);
    }
}

/* --- reference --- */

/* Coefficients of the polynomial of degree r - 1 whose averages over the cells m .. m + r - 1 are w. */
static void polynomial(int r, int m, const double *w, real *p)
{
    real a[5][6];
    for (int i = 0; i < r; i++) {
        const real low = (real)(m + i) - 0.5L, high = low + 1;
        for (int k = 0; k < r; k++)
            a[i][k] = (powl(high, k + 1) - powl(low, k + 1)) / (k + 1);
        a[i][r] = (real)w[i];
    }
    for (int i = 0; i < r; i++) {
        int best = i;
        for (int k = i; k < r; k++)
            best = fabsl(a[k][i]) > fabsl(a[best][i]) ? k : best;
        for (int k = 0; k <= r; k++) {
            real t = a[i][k];
            a[i][k] = a[best][k];
            a[best][k] = t;
        }
        for (int k = 0; k < r; k++) {
            const real f = k == i ? 0 : a[k][i] / a[i][i];
            for (int n = 0; n <= r; n++)
                a[k][n] -= f * a[i][n];
        }
    }
    for (int i = 0; i < r; i++)
        p[i] = a[i][r] / a[i][i];
}

static real at(int r, const real *p, real x)
{
    real v = 0;
    for (int k = r - 1; k >= 0; k--)
        v = v * x + p[k];
    return v;
}

/* The smoothness of a polynomial: the sum over its derivatives of the integral of their squares over the cell, by
 * Gauss's rule of five points. */
static real smoothness(int r, const real *p)
{
    static const real x[5] = {0, 0.5384693101056830910363144L, -0.5384693101056830910363144L,
                              0.9061798459386639927976269L, -0.9061798459386639927976269L};
    static const real g[5] = {0.5688888888888888888888889L, 0.4786286704993664680412915L, 0.4786286704993664680412915L,
                              0.2369268850561890875142640L, 0.2369268850561890875142640L};
    real d[5], sum = 0;
    for (int k = 0; k < r; k++)
        d[k] = p[k];
    for (int order = 1; order < r; order++) {
        for (int k = 0; k < r - 1; k++)
            d[k] = d[k + 1] * (k + 1);
        d[r - 1] = 0;
        for (int n = 0; n < 5; n++)
            sum += 0.5L * g[n] * at(r, d, 0.5L * x[n]) * at(r, d, 0.5L * x[n]);
    }
    return sum;
}

static real global_tau(int r, const real *b)
{
    switch (r) {
    case 2:
        return fabsl(b[0] - b[1]);
    case 3:
        return fabsl(b[0] - b[2]);
    case 4:
        return fabsl(b[0] + 3 * b[1] - 3 * b[2] - b[3]);
    default:
        return fabsl(b[0] + 2 * b[1] - 6 * b[2] + 2 * b[3] + b[4]);
    }
}

/* *spread: the largest difference of the polynomials on the face. */
static double reference(int r, const double *w, double small, double *spread)
{
    static const real optimal[6][5] = {{0}, {1}, {1, 2}, {1, 6, 3}, {1, 12, 18, 4}, {1, 20, 60, 40, 5}};
    real b[5], f[5], p[5], most = 0, sum = 0, mean = 0, low = INFINITY, high = -INFINITY;
    for (int k = 0; k < r; k++) {
        polynomial(r, k - r + 1, w + k, p);
        f[k] = at(r, p, 0.5L);
        b[k] = smoothness(r, p);
        most = fmaxl(most, b[k]);
        low = fminl(low, f[k]);
        high = fmaxl(high, f[k]);
    }
    int e = 0;
    frexpl(most, &e);
    for (int k = 0; k < r; k++)
        b[k] = ldexpl(b[k], 1 - e) + small;
    for (int k = 0; k < r; k++) {
        const real ratio = r > 1 ? global_tau(r, b) / b[k] : 0, a = optimal[r][k] * (1 + ratio * ratio);
        sum += a;
        mean += a * f[k];
    }
    *spread = (double)(high - low);
    return (double)(mean / sum);
}

static double drawn(void)
{
    return (double)rand() / RAND_MAX - 0.5;
}

/* Smooth, jumping, spiky and noisy windows. */
static void fill(int kind, double *w)
{
    const double a = drawn(), b = drawn(), c = 3 * drawn();
    for (int m = 0; m < LM_WENO_WINDOW; m++) {
        const double x = m - 4 + a;
        w[m] = kind == 0 ? sin(b * x + c) : kind == 1 ? (x > 4 * b) : kind == 2 ? exp(-x * x) : drawn();
    }
}

START_TEST(test_reference)
{
    double w[LM_WENO_WINDOW], spread;
    for (int n = 0; n < 4000; n++)
        for (int r = 1; r <= LM_WENO_MOST; r++) {
            fill(n % 4, w);
            const double expected = reference(r, w, LM_WENO_SMALL, &spread);
            ck_assert_double_le(fabs(weno(r, 0, w) - expected), 1e-14 + 2e-9 * spread);
        }
}
END_TEST

/* Single precision: the error is within the stated share of the difference between the polynomials. */
START_TEST(test_single)
{
    double w[LM_WENO_WINDOW], spread, worst = 0;
    for (int n = 0; n < 40000; n++)
        for (int r = 2; r <= LM_WENO_MOST; r++) {
            fill(n % 4, w);
            reference(r, w, LM_WENO_SMALL, &spread);
            if (spread > 0)
                worst = fmax(worst, fabs(weno(r, 1, w) - weno(r, 0, w)) / (spread + 1e-9));
        }
    printf("single against double: %.3g of the spread\n", worst);
    ck_assert_double_le(worst, 0x1p-14);
}
END_TEST

static double sine_average(double x, double h)
{
    return (cos(x - 0.5 * h) - cos(x + 0.5 * h)) / h;
}

START_TEST(test_order)
{
    static const int cells[] = {0, 0, 64, 32, 24, 16};
    for (int r = 2; r <= LM_WENO_MOST; r++)
        for (int single = 0; single < 2; single++) {
            double error[2] = {0, 0}, w[LM_WENO_WINDOW];
            for (int fine = 0; fine < 2; fine++) {
                const int n = cells[r] << fine;
                const double h = 2 * M_PI / n;
                for (int i = 0; i < n; i++) {
                    for (int m = 0; m < 2 * r - 1; m++)
                        w[m] = sine_average((i + 0.3 + m - r + 1) * h, h);
                    error[fine] += fabs(weno(r, single, w) - sin((i + 0.8) * h)) / n;
                }
            }
            const double order = log2(error[0] / error[1]);
            printf("r = %d, %s: order %.2f (%.2g, %.2g)\n", r, single ? "single" : "double", order, error[0], error[1]);
            ck_assert_double_ge(order, 2 * r - 1 - (r == 2 ? 0.6 : 0.3));
        }
}
END_TEST

START_TEST(test_constant_and_scale)
{
    double w[LM_WENO_WINDOW], scaled[LM_WENO_WINDOW];
    for (int single = 0; single < 2; single++)
        for (int r = 1; r <= LM_WENO_MOST; r++) {
            for (int m = 0; m < LM_WENO_WINDOW; m++)
                w[m] = 0.1;
            ck_assert(weno(r, single, w) == 0.1);
            for (int e = -140; e <= 140; e += 20)
                for (int kind = 0; kind < 4; kind++) {
                    fill(kind, w);
                    for (int m = 0; m < LM_WENO_WINDOW; m++)
                        scaled[m] = ldexp(w[m], e);
                    ck_assert(weno(r, single, scaled) == ldexp(weno(r, single, w), e));
                }
        }
}
END_TEST

/* Values beyond a jump have no influence. */
START_TEST(test_jump)
{
    for (int single = 0; single < 2; single++)
        for (int r = 2; r <= LM_WENO_MOST; r++) {
            double w[LM_WENO_WINDOW];
            for (int m = 0; m < LM_WENO_WINDOW; m++)
                w[m] = m >= r ? 1 : 0; /* the window begins behind the cell itself */
            ck_assert_double_le(fabs(weno(r, single, w)), 1e-10);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("weno");
    TCase *t = tcase_create("weno");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_reference);
    tcase_add_test(t, test_single);
    tcase_add_test(t, test_order);
    tcase_add_test(t, test_constant_and_scale);
    tcase_add_test(t, test_jump);
    suite_add_tcase(s, t);
    return suite_run(s);
}
