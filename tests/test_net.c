/* Even points: how they share the boxes of the cube, which theory says exactly, and that scrambling keeps this, draws
 * each coordinate from the whole interval, and draws it independently of others. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/numerics/net.h"
#include "require.h"
#include "suite.h"

enum { MOST = 1 << 10 };

/* The first n points as fractions of 2^32; scrambled with random seeds unless `set` is 0. */
static void fill(uint32_t (*x)[LM_NET_AXES], uint32_t n, uint32_t set)
{
    for (uint32_t r = 0; r < n; r++) {
        lm_net_point(r, x[r]);
        for (int c = 0; c < LM_NET_AXES; c++) {
            const uint32_t seed = (uint32_t)lm_random_at(5, 0, LM_STREAM_SCRAMBLE, set, (uint32_t)c).a;
            x[r][c] = lm_reverse_bits(set ? lm_scramble(x[r][c], seed) : x[r][c]);
        }
    }
}

enum { BOX = LM_NET_AXES + 1 }; /* dimensions of a box: the axes, and the number of the point */

/* Whether all boxes of 2^-bits[c] along axis c have the same number of the 2^m points. */
static int is_even(uint32_t (*x)[LM_NET_AXES], int m, const int bits[BOX])
{
    static int count[MOST];
    int boxes = 1, good = 1;
    for (int c = 0; c < BOX; c++)
        boxes <<= bits[c];
    for (int k = 0; k < boxes; k++)
        count[k] = 0;
    for (int r = 0; r < 1 << m; r++) {
        uint32_t box = (uint32_t)r >> (m - bits[LM_NET_AXES]);
        for (int c = 0; c < LM_NET_AXES; c++)
            box = bits[c] ? box << bits[c] | x[r][c] >> (32 - bits[c]) : box;
        count[box]++;
    }
    for (int k = 0; k < boxes; k++)
        good &= count[k] == (1 << m) / boxes;
    return good;
}

/* A (0, 4)-sequence in base 4 has one of 4^m points in each box of volume 4^-m (Niederreiter 1992, definition 4.2),
 * also with the number of the point as a fifth coordinate (lemma 4.22). */
START_TEST(boxes_share_the_points)
{
    static uint32_t x[MOST][LM_NET_AXES];
    fill(x, MOST, (uint32_t)_i);
    for (int m = 0; m <= 10; m++)
        for (int c = 0; c < LM_NET_AXES; c++) {
            int bits[BOX] = {0};
            bits[c] = m;
            require(is_even(x, m, bits));
        }
    for (int m = 0; m <= 10; m += 2)
        for (int code = 0; code < 7776; code++) { /* five digits of base 6 */
            int bits[BOX], sum = 0;
            for (int c = 0, rest = code; c < BOX; c++, rest /= 6)
                sum += bits[c] = 2 * (rest % 6);
            if (sum == m)
                require(is_even(x, m, bits));
        }
}
END_TEST

/* Scrambling exchanges the halves of an interval at each level: whether the upper bits of two numbers agree stays. */
START_TEST(scrambling_is_nested)
{
    for (uint32_t k = 0; k < 20000; k++) {
        const struct lm_random a = lm_random_at(7, 0, LM_STREAM_SCRAMBLE, k, 0);
        const uint32_t bit = k % 32, seed = (uint32_t)(a.b >> 32), x = (uint32_t)a.a;
        const uint32_t below = bit == 31 ? 0 : (uint32_t)a.b << (bit + 1), y = x ^ 1u << bit ^ below;
        const uint32_t differ = lm_scramble(x, seed) ^ lm_scramble(y, seed);
        require((differ & (0xffffffffu >> (31 - bit))) == 1u << bit);
    }
}
END_TEST

/* Over many seeds a point is uniform in 16 x 16 boxes of any two axes: its coordinates, and one coordinate of two
 * points. chi^2 of 255 degrees of freedom has the standard deviation sqrt(510); the limit is four of them, fixed
 * beforehand. */
START_TEST(scrambled_points_are_uniform)
{
    enum { SETS = 1 << 15, POINTS = 6 };
    static int count[LM_NET_AXES][LM_NET_AXES][16][16];
    uint32_t x[POINTS][LM_NET_AXES];
    for (uint32_t set = 1; set <= SETS; set++) {
        fill(x, POINTS, set);
        for (int c = 0; c < LM_NET_AXES; c++)
            for (int d = 0; d < c; d++)
                count[c][d][x[_i][c] >> 28][x[_i][d] >> 28]++;
    }
    for (int c = 0; c < LM_NET_AXES; c++)
        for (int d = 0; d < c; d++) {
            double chi2 = 0, expected = SETS / 256.0;
            for (int k = 0; k < 256; k++)
                chi2 += pow(count[c][d][k / 16][k % 16] - expected, 2) / expected;
            require_near(chi2, 255, 4 * sqrt(510));
        }
}
END_TEST

/* Within their strata, points along an axis are independent: the products of their offsets from the centres of the
 * strata have the mean 0. Offsets are uniform in one stratum, of variance 1/12. */
START_TEST(points_in_strata_are_independent)
{
    enum { SETS = 20000, POINTS = 16 };
    uint32_t x[POINTS][LM_NET_AXES];
    double product[POINTS] = {0};
    for (uint32_t set = 1; set <= SETS; set++) {
        double offset[POINTS];
        fill(x, POINTS, set);
        for (int r = 0; r < POINTS; r++)
            offset[x[r][_i] >> 28] = ldexp((double)(x[r][_i] & 0xfffffffu), -28) - 0.5;
        for (int apart = 1; apart < POINTS; apart++)
            product[apart] += offset[0] * offset[apart] * 12;
    }
    for (int apart = 1; apart < POINTS; apart++)
        require_near(product[apart] / SETS, 0, 4 / sqrt(SETS));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net");
    TCase *t = tcase_create("net");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, boxes_share_the_points, 0, 8);
    tcase_add_test(t, scrambling_is_nested);
    tcase_add_loop_test(t, scrambled_points_are_uniform, 0, 6);
    tcase_add_loop_test(t, points_in_strata_are_independent, 0, LM_NET_AXES);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
