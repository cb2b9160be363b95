/* Random numbers of collisions: bits, logarithm, direction, and normal numbers. */
#include <check.h>
#include <math.h>

#ifndef LM_PRECISION
#define LM_PRECISION 64
#endif
#include "collide_case.h"
#include "require.h"
#include "scratch.h"
#include "suite.h"

/* The generator gives the bits of the library Random123. */
START_TEST(philox)
{
    for (uint32_t k = 0; k < 1000; k++) {
        philox2x32_ctr_t counter = {{k * 0x9e3779b9u, k * k}};
        philox2x32_key_t key = {{k * 77777u}};
        const philox2x32_ctr_t want = philox2x32_R(7, counter, key);
        uint32_t r[2] = {counter.v[0], counter.v[1]};
        uint32_t keys[LM_PHILOX_ROUNDS];
        lm_philox2x32_keys(key.v[0], keys);
        lm_philox2x32(keys, r);
        require(r[0] == want.v[0] && r[1] == want.v[1]);
    }
}
END_TEST

START_TEST(logarithm_and_direction)
{
    for (float x = 1.2e-10f; x < 2.0f; x *= 1.0007f)
        require(fabs((double)lm_logf(x) - log((double)x)) < 2e-7 * (1 + fabs(log((double)x))));
    for (uint64_t k = 0; k < 1ull << 32; k += 399989) {
        const double angle = M_PI / 4 * (double)(int32_t)((uint32_t)k << 2) / 0x1p31;
        const double c = k >> 31 ? -cos(angle) : cos(angle), s = sin(angle);
        const int swapped = k >> 30 & 1;
        float x, y;
        lm_directionf((uint32_t)k, &x, &y);
        require(fabs((double)x - (swapped ? s : c)) < 2e-7 && fabs((double)y - (swapped ? c : s)) < 2e-7);
    }
    require(lm_normal_radius2(0) > 43.6f && lm_normal_radius2(0) < 46.2f && lm_normal_radius2(0xffffffffu) >= 0.0f);
}
END_TEST

/* Moments of both numbers of a pair, of their product, and the tails beyond 1, 2, 3 and 4, within 5 standard
 * deviations. */
START_TEST(normal_numbers)
{
    double sum[2] = {0}, two[2] = {0}, four[2] = {0}, mixed[2] = {0};
    int tail[2][5] = {{0}};
    for (uint32_t k = 0; k < MANY; k++) {
        uint32_t r[2];
        float n[2];
        random_of(k, r);
        const float square = lm_normal_pair(r[0], r[1], n);
        require(fabsf(square - (n[0] * n[0] + n[1] * n[1])) <= 1e-6f * square);
        for (int d = 0; d < 2; d++) {
            const double x = (double)n[d], y = (double)n[1 - d];
            sum[d] += x;
            two[d] += x * x;
            four[d] += x * x * x * x;
            mixed[d] += x * y;
            for (int t = 1; t <= 4; t++)
                tail[d][t] += fabs(x) > t;
        }
    }
    const double spread = 5 / sqrt(MANY);
    for (int d = 0; d < 2; d++) {
        ck_assert_double_lt(fabs(sum[d] / MANY), spread);
        ck_assert_double_lt(fabs(two[d] / MANY - 1), spread * sqrt(2));
        ck_assert_double_lt(fabs(four[d] / MANY - 3), spread * sqrt(96));
        ck_assert_double_lt(fabs(mixed[d] / MANY), spread);
        for (int t = 1; t <= 4; t++) {
            const double p = erfc(t / sqrt(2));
            ck_assert_double_lt(fabs(tail[d][t] - p * MANY), 5 * sqrt(p * MANY));
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create(LM_PRECISION == 64 ? "random numbers of collisions, double"
                                               : "random numbers of collisions, single");
    TCase *t = tcase_create("random numbers");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, fill_table, free_table);
    tcase_add_test(t, philox);
    tcase_add_test(t, logarithm_and_direction);
    tcase_add_test(t, normal_numbers);
    suite_add_tcase(s, t);
    return suite_run(s);
}
