/* A low-discrepancy start: means over a cell have no bias and the variance that follows from their strata, neighbouring
 * cells share strata, and no two cells are alike. The limits are four standard deviations, fixed beforehand. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LM_PRECISION 64
#include "larmor/physics/particles/load.h"
#include "loaded_plasma.h"
#include "require.h"
#include "suite.h"

/* Particle r of n in cell (i, j) of a domain of 512 columns: place in the cell, and velocities of temperature 1. */
static void draw(int i, int j, int r, int n, double p[5])
{
    const struct lm_profile profile = {
        .temperature = {{NULL, 1}, {NULL, 1}, {NULL, 1}}, .start = LM_LOW_DISCREPANCY, .seed = 20, .nx = 512};
    lm_fix x, y;
    lm_load_particle(&profile, 4, 3, NULL, (uint32_t)(j * 512 + i), (uint32_t)r, (uint32_t)n, &x, &y, p + 2);
    p[0] = ldexp((double)x, -BITS);
    p[1] = ldexp((double)y, -BITS);
}

/* The density of the normal distribution at the upper end of stratum k of n equal ones. */
static double density_at_end(int k, int n)
{
    if (k <= 0 || k >= n)
        return 0;
    const double x = lm_normal((double)k / n);
    return exp(-0.5 * x * x) / sqrt(2 * M_PI);
}

/* Variance of the mean over one number from each of n equal strata: of uniform numbers, or of normal ones. The mean of
 * a normal number over a stratum is n times the difference of the density at its ends. */
static double stratified_variance(int n, int is_normal)
{
    double square = 0;
    for (int k = 0; k < n; k++)
        square += pow(n * (density_at_end(k, n) - density_at_end(k + 1, n)), 2) / n;
    return is_normal ? (1 - square) / n : 1 / (12 * pow(n, 3));
}

enum { CELLS = NX * NY };

/* Over the cells: the mean of f is `expected` within 4 standard deviations by the cells' own *variance. */
static void take_cells(const double *f, double expected, double *variance, double *error_of_variance)
{
    double second = 0, fourth = 0, mean = mean_product(f, NULL, CELLS);
    for (int k = 0; k < CELLS; k++) {
        second += pow(f[k] - mean, 2) / CELLS;
        fourth += pow(f[k] - mean, 4) / CELLS;
    }
    require_near(mean, expected, 4 * sqrt(second / CELLS));
    *variance = second;
    *error_of_variance = 4 * sqrt((fourth - second * second) / CELLS);
}

/* The means over a cell have no bias, for cells of squares of their own, which are independent. The variance of the
 * mean of a coordinate or velocity is known. That of the product of two must be below the variance of a random start,
 * and below half of it from 64 particles on. */
START_TEST(means)
{
    static const int per_cell[] = {16, 64, 128};
    /* The mean and the mean square of a coordinate, of a velocity and of 1. */
    static const double moment[3][2] = {{0.5, 1.0 / 3}, {0, 1}, {1, 1}};
    const int n = per_cell[_i];
    static double p[CELLS * 128][5], f[CELLS];
    double variance, error;
    for (int k = 0; k < CELLS * n; k++)
        draw(16 * (k / n % NX), 16 * (k / n / NX), k % n, n, p[k]);
    for (int a = 0; a < 5; a++)
        for (int b = -1; b <= a; b++) { /* -1: the mean of a alone */
            for (int k = 0; k < CELLS; k++) {
                f[k] = 0;
                for (int r = k * n; r < (k + 1) * n; r++)
                    f[k] += p[r][a] * (b < 0 ? 1 : p[r][b]) / n;
            }
            const double *of_a = moment[a > 1], *of_b = b < 0 ? moment[2] : moment[b > 1];
            const double expected = a == b ? of_a[1] : of_a[0] * of_b[0];
            take_cells(f, expected, &variance, &error);
            if (b < 0)
                require_near(variance, stratified_variance(n, a > 1), error);
            else if (a != b)
                ck_assert_double_lt(variance, (n < 64 ? 1 : 0.5) * (of_a[1] * of_b[1] - expected * expected) / n);
        }
}
END_TEST

/* Squares of 4^m cells with 16 particles each have one velocity in each of 16 4^m equal strata. */
START_TEST(squares)
{
    enum { N = 16 };
    const int edge = 1 << _i, strata = N * edge * edge;
    int *count = malloc(sizeof *count * (size_t)strata);
    for (int square = 0; square < 9; square++)
        for (int d = 2; d < 5; d++) {
            memset(count, 0, sizeof *count * (size_t)strata);
            for (int k = 0; k < strata; k++) {
                double p[5];
                draw(square % 3 * edge + k / N % edge, square / 3 * edge + k / N / edge, k % N, N, p);
                count[(int)(normal_cdf(p[d], 1) * strata)]++;
            }
            for (int k = 0; k < strata; k++)
                require(count[k] == 1);
        }
    free(count);
}
END_TEST

/* No two particles have a number in common, also where cells with few and with many particles are neighbours. Of N
 * random numbers of 32 bits N^2 2^-33 pairs are equal. */
START_TEST(cells_differ)
{
    enum { EDGE = 40, MOST = 100, N = EDGE * EDGE * MOST };
    static double all[5][N];
    size_t n = 0;
    for (int k = 0; k < EDGE * EDGE; k++) {
        const int count = k % 3 ? 16 : MOST;
        for (int r = 0; r < count; r++, n++) {
            double p[5];
            draw(k % EDGE, k / EDGE, r, count, p);
            for (int d = 0; d < 5; d++)
                all[d][n] = p[d];
        }
    }
    const double pairs = pow((double)n, 2) * 0x1p-33;
    for (int d = 0; d < 5; d++) {
        int equal = 0;
        qsort(all[d], n, sizeof(double), ascending);
        for (size_t k = 1; k < n; k++)
            equal += all[d][k] == all[d][k - 1];
        ck_assert_double_le(equal, pairs + 4 * sqrt(pairs) + 1);
    }
}
END_TEST

/* The variance of the density over the cells. With equal counts of N and places at random it is (q^2 - m^2)/N: q is the
 * sum over a cell and its two neighbours along an axis of the mean of S^2, S = max(1 - |u|, 0), and m that of the
 * square of the mean of S. (Halves of a cell are strata, so S is smooth in each of them. Then the variance of a
 * scrambled net falls as N^-3 log N, Owen 1997; the limit 1/N^2 leaves a factor of N/log N.) */
START_TEST(density_noise)
{
    static const struct {
        int start, n;
    } cases[] = {{LM_RANDOM, 16}, {LM_LOW_DISCREPANCY, 16}, {LM_LOW_DISCREPANCY, 64}, {LM_LOW_DISCREPANCY, 23}};
    const double n = cases[_i].n, q = 2.0 / 3, m = 0.75 * 0.75 + 2 * 0.125 * 0.125, at_random = (q * q - m * m) / n;
    static double f[CELLS];
    double variance, error;
    struct plasma *s = plasma_new(8, 1, n, cases[_i].start);
    double *density = malloc(s->g.size * sizeof *density);
    load(s);
    deposit(s, 4);
    s->b->ops->get(s->b, LM_SPECIES_N, density);
    for (int k = 0; k < CELLS; k++)
        f[k] = density[lm_at(&s->g, k % NX, k / NX)];
    take_cells(f, 1, &variance, &error);
    if (cases[_i].start == LM_RANDOM)
        require_near(variance, at_random, error);
    else
        ck_assert_double_lt(variance, at_random * (cases[_i].n == 23 ? 0.5 : 1 / n));
    plasma_free(s);
    free(density);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("load_even");
    TCase *t = tcase_create("load_even");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, means, 0, 3);
    tcase_add_loop_test(t, squares, 0, 5);
    tcase_add_test(t, cells_differ);
    tcase_add_loop_test(t, density_noise, 0, 4);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
