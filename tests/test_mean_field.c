/* The weights of the mean of B that ions feel (larmor/physics/fields/mean_field.h). */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "larmor/physics/fields/mean_field.h"
#include "suite.h"

/* The mean of t^power, t in units of a step from n on. */
static double mean_of(int substeps, int forecast, int power)
{
    const enum lm_b_mean parts[] = {LM_MEAN_BEGINS, LM_MEAN_ENDS};
    double mean = NAN; /* the first part takes its place */
    for (int p = 0; p < 2; p++)
        for (int r = 0, count = p == 0 ? substeps : forecast; r < count; r++) {
            const double t = p == 0 ? (r + 1.0) / substeps : 1 + 0.5 * (r + 1) / forecast,
                         weight = lm_mean_weight(parts[p], r, count, forecast);
            ck_assert_int_eq(weight > 0, t > 0.5 - 0.5 / substeps - 1e-9);
            const double part = lm_part_of_mean(weight, pow(t, power));
            if (weight > 0)
                mean = lm_mean_is_new(parts[p], r, count) ? part : mean + part;
        }
    return mean;
}

/* The mean of a constant is the constant, and that of a line is its value at n + 1. That of a parabola differs by a
 * twelfth of dt^2, as a mean over a step does, and by the error of the trapezoidal rule. */
START_TEST(of_polynomials)
{
    const int substeps = _i + 2;
    for (int forecast = 1; forecast <= (substeps + 1) / 2; forecast++) {
        const double error = 1 / (12.0 * substeps * substeps) + 1 / (48.0 * forecast * forecast);
        ck_assert_double_eq_tol(mean_of(substeps, forecast, 0), 1, 1e-14);
        ck_assert_double_eq_tol(mean_of(substeps, forecast, 1), 1, 1e-14);
        ck_assert_double_eq_tol(mean_of(substeps, forecast, 2), 1 + 1.0 / 12 + error, 1e-14);
    }
}
END_TEST

/* A wave that turns once in a step is felt no more. */
START_TEST(of_a_turn)
{
    enum { SUBSTEPS = 6 };
    double sum = 0;
    for (int r = 0; r < SUBSTEPS; r++)
        sum += lm_mean_weight(LM_MEAN_BEGINS, r, SUBSTEPS, SUBSTEPS / 2) *
               cos(2 * 3.141592653589793 * (r + 1) / SUBSTEPS + 0.3);
    for (int r = 0; r < SUBSTEPS / 2; r++)
        sum += lm_mean_weight(LM_MEAN_ENDS, r, SUBSTEPS / 2, SUBSTEPS / 2) *
               cos(2 * 3.141592653589793 * (r + 1) / SUBSTEPS + 0.3);
    ck_assert_double_eq_tol(sum, 0, 1e-14);
    ck_assert(lm_mean_weight(LM_NO_MEAN, 0, 1, 1) == 0);
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
