/* The weights of the mean of B that ions feel (larmor/physics/fields/mean_field.h). */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "larmor/physics/fields/mean_field.h"
#include "suite.h"

/* The mean of t^power, t in units of a step from n on. */
static double mean_of(int substeps, int power)
{
    const enum lm_b_mean parts[] = {LM_MEAN_BEGINS, LM_MEAN_ENDS};
    double mean = NAN; /* what it was before does not count */
    for (int p = 0; p < 2; p++)
        for (int r = 0, count = p == 0 ? substeps : substeps / 2; r < count; r++) {
            const double t = p + (r + 1.0) / substeps, weight = lm_mean_weight(parts[p], r, count);
            ck_assert_int_eq(weight > 0, t > 0.5 - 1e-9);
            if (weight > 0)
                mean = lm_add_to_mean(lm_mean_is_new(parts[p], r, count), mean, weight, pow(t, power));
        }
    return mean;
}

/* The mean of a constant is the constant, and that of a line is its value at n + 1. That of a parabola differs by a
 * twelfth of dt^2, as a mean over a step does, and by the error of the trapezoidal rule. */
START_TEST(of_polynomials)
{
    const int substeps = 2 * (_i + 1);
    ck_assert_double_eq_tol(mean_of(substeps, 0), 1, 1e-14);
    ck_assert_double_eq_tol(mean_of(substeps, 1), 1, 1e-14);
    ck_assert_double_eq_tol(mean_of(substeps, 2), 1 + 1.0 / 12 + 1 / (6.0 * substeps * substeps), 1e-14);
}
END_TEST

/* A wave that turns once in a step is felt no more. */
START_TEST(of_a_turn)
{
    enum { SUBSTEPS = 6 };
    double sum = 0;
    for (int r = 0; r < SUBSTEPS; r++)
        sum += lm_mean_weight(LM_MEAN_BEGINS, r, SUBSTEPS) * cos(2 * 3.141592653589793 * (r + 1) / SUBSTEPS + 0.3);
    for (int r = 0; r < SUBSTEPS / 2; r++)
        sum += lm_mean_weight(LM_MEAN_ENDS, r, SUBSTEPS / 2) * cos(2 * 3.141592653589793 * (r + 1) / SUBSTEPS + 0.3);
    ck_assert_double_eq_tol(sum, 0, 1e-14);
    ck_assert(lm_mean_weight(LM_NO_MEAN, 0, 1) == 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mean_field");
    TCase *t = tcase_create("weights");
    tcase_add_loop_test(t, of_polynomials, 0, 20);
    tcase_add_test(t, of_a_turn);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
