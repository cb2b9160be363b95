/* WENO of dynamic order against the scheme of each order, to the bit. */
#include <math.h>
#include <stdlib.h>

#include "larmor/physics/numerics/weno_dynamic.h"
#include "suite.h"

static double of_order(int r, const double *w)
{
    return r == 1   ? w[0]
           : r == 2 ? lm_weno(2, 0, w)
           : r == 3 ? lm_weno(3, 0, w)
           : r == 4 ? lm_weno(4, 0, w)
                    : lm_weno(5, 0, w);
}

static double dynamic(int most, int r, const double *w)
{
    return most == 2   ? lm_weno_dynamic(2, r, w)
           : most == 3 ? lm_weno_dynamic(3, r, w)
           : most == 4 ? lm_weno_dynamic(4, r, w)
                       : lm_weno_dynamic(5, r, w);
}

static double drawn(void)
{
    return (double)rand() / RAND_MAX - 0.5;
}

/* Windows of noise of all sizes, waves, jumps, spikes, and integers of which many are equal. */
static void fill(int kind, double *w)
{
    const double a = drawn(), b = drawn(), c = 3 * drawn(), size = ldexp(1, rand() % 200 - 100);
    for (int m = 0; m < LM_WENO_WINDOW; m++) {
        const double x = m - 4 + a;
        const double v = kind == 0   ? sin(b * x + c)
                         : kind == 1 ? (x > 4 * b)
                         : kind == 2 ? exp(-x * x)
                         : kind == 3 ? floor(4 * drawn()) + 0.0
                                     : drawn();
        w[m] = v * size + 0.0;
    }
}

/* The orders that can be chosen; larger ones count as `most`. */
enum { LARGEST = LM_WENO_MOST + 2 };

static int order_of(int most, int r)
{
    return r < most ? r : most;
}

/* A window of 2 most - 1 cells, in which the cells beyond order 2r-1 hold the value `beyond`. */
static void check(int most, int r, const double *cells, double beyond)
{
    double w[LM_WENO_WINDOW];
    for (int m = 0; m < 2 * most - 1; m++)
        w[m] = abs(m - most + 1) < r ? cells[m] : beyond;
    const int own = order_of(most, r);
    const double expected = of_order(own, w + most - own), found = dynamic(most, r, w);
    ck_assert_msg(lm_bits(expected) == lm_bits(found), "%d of %d beside %g: %.17g, not %.17g", r, most, beyond, found,
                  expected);
}

START_TEST(test_equal)
{
    double w[LM_WENO_WINDOW];
    for (int n = 0; n < 50000; n++) {
        fill(n % 5, w);
        for (int most = 2; most <= LM_WENO_MOST; most++)
            for (int r = 1; r <= LARGEST; r++) {
                check(most, r, w, drawn());
                check(most, r, w, NAN);
                check(most, r, w, INFINITY);
            }
    }
}
END_TEST

START_TEST(test_constant)
{
    double w[LM_WENO_WINDOW];
    for (int m = 0; m < LM_WENO_WINDOW; m++)
        w[m] = 0.1;
    for (int most = 2; most <= LM_WENO_MOST; most++)
        for (int r = 1; r <= LARGEST; r++) {
            check(most, r, w, 1e300);
            check(most, r, w, NAN);
            ck_assert(dynamic(most, r, w) == 0.1);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("weno dynamic");
    TCase *t = tcase_create("weno dynamic");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_equal);
    tcase_add_test(t, test_constant);
    suite_add_tcase(s, t);
    return suite_run(s);
}
