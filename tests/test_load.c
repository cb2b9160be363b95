/* Loading. Moments and distributions of random starts against theory, with thresholds fixed beforehand (four standard
 * deviations; Kolmogorov-Smirnov: sqrt(n) D < 2.2, p = 1e-4). Quiet starts are exact. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loaded_plasma.h"
#include "require.h"
#include "suite.h"

static double waves(double x, double y)
{
    return 1 + 0.5 * sin(2 * M_PI * x / NX) * cos(2 * M_PI * y / NY);
}

/* sqrt(n) times the Kolmogorov-Smirnov distance to a distribution function; sorts `a`. */
static double ks(double *a, size_t n, double (*cdf)(double, double), double parameter)
{
    double worst = 0;
    qsort(a, n, sizeof *a, ascending);
    for (size_t k = 0; k < n; k++) {
        double f = cdf(a[k], parameter);
        worst = fmax(worst, fmax(fabs(f - (double)k / (double)n), fabs(f - (double)(k + 1) / (double)n)));
    }
    return worst * sqrt((double)n);
}

static double uniform_cdf(double x, double unused)
{
    (void)unused;
    return fmin(fmax(x, 0), 1);
}

START_TEST(random_velocities)
{
    struct plasma *s = plasma_new(8, 1, 200, LM_RANDOM);
    load(s);
    size_t n = s->count;
    ck_assert_uint_eq(n, 200 * NX * NY);
    double sigma = 1 / sqrt((double)n);
    for (int d = 0; d < 3; d++) {
        double t = 0.3 + 0.2 * d;
        require_near(mean_product(s->v[d], NULL, n), 0, 4 * sigma * sqrt(t));
        require_near(mean_product(s->v[d], s->v[d], n) / t, 1, 4 * sigma * sqrt(2));
        for (int e = 0; e < d; e++)
            require_near(mean_product(s->v[d], s->v[e], n) / sqrt(t * (0.3 + 0.2 * e)), 0, 4 * sigma);
        double fourth = 0;
        for (size_t k = 0; k < n; k++)
            fourth += pow(s->v[d][k], 4) / (double)n;
        require_near(fourth / (3 * t * t), 1, 4 * sigma * sqrt(96.0 / 9));
    }
    for (int d = 0; d < 3; d++) {
        double distance = ks(s->v[d], n, normal_cdf, 0.3 + 0.2 * d);
        ck_assert_msg(distance < 2.2 && distance > 0.2, "component %d: sqrt(n) D = %g", d, distance);
    }
    plasma_free(s);
}
END_TEST

/* Positions within a cell are uniform along each axis and in 16 x 16 bins, and have no correlation with the velocity.
 */
START_TEST(random_positions)
{
    struct plasma *s = plasma_new(8, 1, 200, LM_RANDOM);
    static double bins[256];
    load(s);
    size_t n = s->count;
    for (size_t k = 0; k < n; k++) {
        s->x[k] -= floor(s->x[k]), s->y[k] -= floor(s->y[k]);
        bins[(int)(s->x[k] * 16) * 16 + (int)(s->y[k] * 16)]++;
    }
    double chi2 = 0, expected = (double)n / 256, sigma = 1 / sqrt((double)n);
    for (int k = 0; k < 256; k++)
        chi2 += pow(bins[k] - expected, 2) / expected;
    require_near(chi2, 255, 4 * sqrt(2 * 255.0));
    for (int d = 0; d < 3; d++) {
        double scale = sqrt((0.3 + 0.2 * d) / 12), v = mean_product(s->v[d], NULL, n);
        require_near((mean_product(s->x, s->v[d], n) - 0.5 * v) / scale, 0, 4 * sigma);
        require_near((mean_product(s->y, s->v[d], n) - 0.5 * v) / scale, 0, 4 * sigma);
    }
    ck_assert_double_lt(ks(s->x, n, uniform_cdf, 0), 2.2);
    ck_assert_double_lt(ks(s->y, n, uniform_cdf, 0), 2.2);
    plasma_free(s);
}
END_TEST

/* Two unit vectors across the unit vector a[0]. */
static void complete_axes(double a[3][3])
{
    int least = fabs(a[0][0]) < 0.6 ? 0 : 1; /* an axis that is not along a[0] */
    double size = sqrt(1 - a[0][least] * a[0][least]);
    for (int d = 0; d < 3; d++)
        a[1][d] = ((d == least) - a[0][least] * a[0][d]) / size;
    for (int d = 0; d < 3; d++)
        a[2][d] = a[0][(d + 1) % 3] * a[1][(d + 2) % 3] - a[0][(d + 2) % 3] * a[1][(d + 1) % 3];
}

START_TEST(temperatures_about_an_oblique_field)
{
    static const double along[4][3] = {{0.48, 0.6, 0.64}, {0, 0, 1}, {0, -1, 0}, {-1, 0, 0}};
    struct plasma *s = plasma_new(8, 1, 200, LM_RANDOM);
    double a[3][3];
    memcpy(a[0], along[_i], sizeof a[0]);
    complete_axes(a);
    for (int d = 0; d < 3; d++) {
        set(s, 7 + d, one, a[0][d]);
        s->from.b[d] = s->profile[7 + d];
        set(s, 4 + d, one, d == 0 ? 0.9 : 0.2);
    }
    load(s);
    double m[3][3] = {{0}}, n = (double)s->count;
    for (size_t k = 0; k < s->count; k++) {
        double q[3];
        for (int d = 0; d < 3; d++)
            q[d] = a[d][0] * s->v[0][k] + a[d][1] * s->v[1][k] + a[d][2] * s->v[2][k];
        for (int d = 0; d < 3; d++)
            for (int e = 0; e < 3; e++)
                m[d][e] += q[d] * q[e] / n;
    }
    for (int d = 0; d < 3; d++) {
        double t = d == 0 ? 0.9 : 0.2;
        require_near(m[d][d] / t, 1, 4 * sqrt(2 / n));
        for (int e = 0; e < d; e++)
            require_near(m[d][e] / sqrt(t * (e == 0 ? 0.9 : 0.2)), 0, 4 / sqrt(n));
    }
    plasma_free(s);
}
END_TEST

/* Each cell gets the expected number, rounded up or down so that the mean is right. The variance is that of this
 * rounding alone. */
START_TEST(counts_follow_the_density)
{
    struct plasma *s = plasma_new(8, 1, 10.3, _i);
    static int counts[NY][NX];
    double excess = 0, square = 0, variance = 0, fourth = 0;
    set(s, 0, waves, 1);
    load(s);
    memset(counts, 0, sizeof counts);
    for (size_t k = 0; k < s->count; k++)
        counts[(int)s->y[k]][(int)s->x[k]]++;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            double expected = 10.3 * waves(i + 0.5, j + 0.5), f = expected - floor(expected),
                   off = counts[j][i] - expected;
            require(fabs(off) < 1);
            excess += off, square += off * off, variance += f * (1 - f);
            fourth += f * (1 - f) * (1 - 2 * f) * (1 - 2 * f);
        }
    require_near(excess, 0, 4 * sqrt(variance));
    require_near(square, variance, 4 * sqrt(fourth) + 1e-9);
    plasma_free(s);
}
END_TEST

/* The drift is interpolated to the particle, so a profile that is linear around the cell is exact. */
START_TEST(drift_at_the_particle)
{
    struct plasma *s = plasma_new(8, 1, 20, _i);
    for (int d = 0; d < 3; d++) {
        set(s, 4 + d, one, 0);
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++)
                s->profile[1 + d][lm_at(&s->g, i, j)] = (d + 1) * (0.25 * (i + 0.5) - 0.5 * (j + 0.5));
    }
    load(s);
    int seen = 0;
    for (size_t k = 0; k < s->count; k++) {
        if (s->x[k] < 1 || s->x[k] > NX - 1 || s->y[k] < 1 || s->y[k] > NY - 1)
            continue; /* the profile is not periodic */
        seen++;
        for (int d = 0; d < 3; d++)
            require_near(s->v[d][k], (d + 1) * (0.25 * s->x[k] - 0.5 * s->y[k]), 1e-13);
    }
    ck_assert_int_gt(seen, 5000);
    plasma_free(s);
}
END_TEST

/* --- quiet --- */

START_TEST(quiet_density_and_current)
{
    static const double per_cell[] = {1, 2, 7, 16, 33, 128};
    struct plasma *s = plasma_new(8, 1, per_cell[_i], LM_QUIET);
    double *a = malloc(s->g.size * sizeof *a);
    load(s);
    ck_assert_uint_eq(s->count, (uint64_t)per_cell[_i] * NX * NY);
    deposit(s, 4);
    s->b->ops->get(s->b, LM_SPECIES_N, a);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            require(a[lm_at(&s->g, i, j)] == a[lm_at(&s->g, 0, 0)]);
    require_near(a[lm_at(&s->g, 0, 0)], 1, 1e-15);
    for (int d = 0; d < 3; d++) {
        s->b->ops->get(s->b, LM_J_NEW + d, a);
        for (size_t k = 0; k < s->g.size; k++)
            require(a[k] == 0);
    }
    for (int d = 0; d < 3; d++) /* a single particle is at rest */
        require_near(mean_product(s->v[d], s->v[d], s->count), per_cell[_i] > 1 ? 0.3 + 0.2 * d : 0, 1e-12);
    plasma_free(s);
    free(a);
}
END_TEST

/* The quiet set is close to a Maxwellian and fills the cell evenly: closer than a random set of its size, whose median
 * of sqrt(n) D is 0.83. */
START_TEST(quiet_set_is_even)
{
    enum { N = 512 };
    struct plasma *s = plasma_new(8, 1, N, LM_QUIET);
    load(s);
    double *cell = malloc(5 * N * sizeof *cell);
    size_t n = 0;
    for (size_t k = 0; k < s->count; k++)
        if (s->x[k] < 1 && s->y[k] < 1) {
            cell[n] = s->x[k], cell[N + n] = s->y[k];
            for (int d = 0; d < 3; d++)
                cell[(size_t)(2 + d) * N + n] = s->v[d][k];
            n++;
        }
    ck_assert_uint_eq(n, N);
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < d; e++)
            require_near(mean_product(cell + (2 + d) * N, cell + (2 + e) * N, N), 0, 0.05);
    ck_assert_double_lt(ks(cell, N, uniform_cdf, 0), 0.6);
    ck_assert_double_lt(ks(cell + N, N, uniform_cdf, 0), 0.6);
    for (int d = 0; d < 3; d++)
        ck_assert_double_lt(ks(cell + (2 + d) * N, N, normal_cdf, 0.3 + 0.2 * d), 0.6);
    free(cell);
    plasma_free(s);
}
END_TEST

START_TEST(tiles_and_threads_do_not_matter)
{
    uint64_t print[4];
    for (int k = 0; k < 4; k++) {
        struct plasma *s = plasma_new(k < 2 ? 8 : 16, 1 + k % 2, 10.3, _i);
        set(s, 0, waves, 1);
        load(s);
        deposit(s, 4);
        ck_assert_int_eq(s->b->ops->fingerprint(s->b, 0, &print[k]), LM_OK);
        ck_assert_uint_eq(print[k], print[0]);
        plasma_free(s);
    }
    struct plasma *s = plasma_new(8, 1, 10.3, _i);
    set(s, 0, waves, 1);
    s->from.seed = 21;
    load(s);
    deposit(s, 4);
    ck_assert_int_eq(s->b->ops->fingerprint(s->b, 0, &print[1]), LM_OK);
    ck_assert((print[1] == print[0]) == (_i == LM_QUIET)); /* a quiet start uses no random numbers */
    plasma_free(s);
}
END_TEST

/* A profile that is one number, and B filled with one, give the bits of arrays that have the number everywhere. The
 * third component has no temperature and a drift of -0, whose interpolation is 0. */
START_TEST(one_number_is_as_an_array)
{
    static const double numbers[7] = {1.13, 0.3, -0.7, -0.0, 0.3, 0.5, 0};
    uint64_t print[2];
    for (int k = 0; k < 2; k++) {
        struct plasma *s = plasma_new(8, 1, 10.3, _i);
        for (int p = 0; p < 7; p++) {
            set(s, p, one, numbers[p]);
            struct lm_given *const to = p == 0  ? &s->from.density
                                        : p < 4 ? &s->from.drift[p - 1]
                                                : &s->from.temperature[p - 4];
            if (k == 1)
                *to = (struct lm_given){NULL, numbers[p]};
        }
        set(s, 7, one, 0.2);
        load(s);
        deposit(s, 4);
        ck_assert_int_eq(k == 0 ? s->b->ops->put(s->b, LM_B, s->profile[7]) : s->b->ops->fill(s->b, LM_B, 0.2), LM_OK);
        ck_assert_int_eq(s->b->ops->fingerprint(s->b, 0, &print[k]), LM_OK);
        plasma_free(s);
    }
    ck_assert_uint_eq(print[0], print[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("load");
    TCase *t = tcase_create("load");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, random_velocities);
    tcase_add_test(t, random_positions);
    tcase_add_loop_test(t, temperatures_about_an_oblique_field, 0, 4);
    tcase_add_loop_test(t, counts_follow_the_density, 0, 3);
    tcase_add_loop_test(t, drift_at_the_particle, 0, 3);
    tcase_add_loop_test(t, quiet_density_and_current, 0, 6);
    tcase_add_test(t, quiet_set_is_even);
    tcase_add_loop_test(t, tiles_and_threads_do_not_matter, 0, 3);
    tcase_add_loop_test(t, one_number_is_as_an_array, 0, 3);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
