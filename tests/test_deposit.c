/* Deposition: exact charge, bounded quanta, moments of the shape, and the places of the currents.
 * test_deposit_single.c includes this file. */
#ifndef LM_PRECISION
#define LM_PRECISION 64
#endif

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/physics/numerics/bounds.h"
#include "larmor/physics/particles/deposit.h"
#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/particles/tile.h"
#include "require.h"
#include "suite.h"

enum { SIZE = 16, LOW = 4, ONE24 = 1 << 24, SAMPLES = 200000 };

/* Sums over the nodes that one deposition has changed. */
struct deposit {
    int64_t sum, x, y; /* sum of the quanta; sum of quanta times node number */
    int32_t smallest, largest;
    int low, high; /* nodes reached in x and y */
};

static struct deposit got[LM_MOMENTS];

static void add(int component, int i, int j, int32_t part)
{
    struct deposit *d = &got[component];
    d->sum += part;
    d->x += (int64_t)part * i;
    d->y += (int64_t)part * j;
    d->smallest = part < d->smallest ? part : d->smallest;
    d->largest = part > d->largest ? part : d->largest;
    d->low = i < d->low ? i : d->low;
    d->low = j < d->low ? j : d->low;
    d->high = i > d->high ? i : d->high;
    d->high = j > d->high ? j : d->high;
}

static void clear(void)
{
    for (int c = 0; c < LM_MOMENTS; c++)
        got[c] = (struct deposit){.smallest = INT32_MAX, .largest = INT32_MIN, .low = 1000, .high = -1000};
}

static void density(int order, int32_t x, int32_t y)
{
    clear();
    if (order == 1)
        LM_DEPOSIT_DENSITY(1, x, y, add);
    else
        LM_DEPOSIT_DENSITY(2, x, y, add);
}

static void current(int order, int32_t x, int32_t y, double u, double v, double w, float scale)
{
    clear();
    if (order == 1)
        LM_DEPOSIT_CURRENT(1, x, y, u, v, w, scale, add);
    else
        LM_DEPOSIT_CURRENT(2, x, y, u, v, w, scale, add);
}

/* Positions: edges and middles of cells and the numbers next to them, the ends of the fixed-point range, then random
 * ones in [-127, 127). */
static int32_t position(uint32_t k, int axis)
{
    static const int32_t special[] = {0,
                                      1,
                                      -1,
                                      ONE24 / 2,
                                      ONE24 / 2 - 1,
                                      ONE24 / 2 + 1,
                                      ONE24 - 1,
                                      ONE24,
                                      -ONE24,
                                      ONE24 / 3,
                                      -127 * ONE24,
                                      -127 * ONE24 + 1,
                                      126 * ONE24 + (ONE24 - 1),
                                      127 * ONE24,
                                      126 * ONE24};
    enum { SPECIAL = sizeof special / sizeof *special };
    if (k < SPECIAL * SPECIAL)
        return special[axis ? k / SPECIAL : k % SPECIAL];
    uint64_t r = lm_random_at(2, axis, LM_STREAM_POSITION, k, 0).a;
    return (int32_t)((int64_t)(r % (254ull * ONE24)) - 127ll * ONE24);
}

START_TEST(charge_is_exact)
{
    for (uint32_t k = 0; k < SAMPLES; k++) {
        int32_t x = position(k, 0), y = position(k, 1);
        density(_i, x, y);
        const struct deposit *d = &got[LM_DENSITY];
        require(d->sum == LM_CHARGE_QUANTA);
        require(d->largest <= LM_CHARGE_QUANTA);
        require(d->smallest >= (_i == 1 ? -2 : -4)); /* the last weight takes the rounding of the others */
    }
}
END_TEST

/* The first moment of the shape, sum w x_i = x, up to the rounding to quanta: half a quantum for each node, and the
 * last node takes the rest. */
START_TEST(centre_of_charge)
{
    double tolerance = _i == 1 ? 2 : 9;
    for (uint32_t k = 0; k < SAMPLES; k++) {
        int32_t x = position(k, 0), y = position(k, 1);
        density(_i, x, y);
        const struct deposit *d = &got[LM_DENSITY];
        require_near((double)d->x + 0.5 * LM_CHARGE_QUANTA, ldexp(x, -24) * LM_CHARGE_QUANTA, tolerance);
        require_near((double)d->y + 0.5 * LM_CHARGE_QUANTA, ldexp(y, -24) * LM_CHARGE_QUANTA, tolerance);
    }
}
END_TEST

/* A velocity of a third of a quantum is not lost: the mean over many positions is right. A particle has one random
 * number for rounding, so the error of its sum is at most its number of quanta. */
START_TEST(small_currents_are_kept)
{
    double total[3] = {0}, parts = _i == 1 ? 4 : 9;
    const double v[3] = {1.0 / 3, -1.0 / 3, 0.1};
    for (uint32_t k = 0; k < SAMPLES; k++) {
        current(_i, position(k, 0), position(k, 1), v[0], v[1], v[2], 1.0f);
        for (int c = 0; c < 3; c++)
            total[c] += (double)got[LM_CURRENT_X + c].sum;
    }
    for (int c = 0; c < 3; c++)
        require_near(total[c] / SAMPLES, v[c], 5 * 0.5 * sqrt(parts) / sqrt(SAMPLES));
}
END_TEST

START_TEST(current_and_its_place)
{
    /* v = (3, -1, 0.5) and |v| < 2^2: v has quanta of 2^-14 */
    const double v[3] = {3, -1, 0.5}, place[3][2] = {{.5, .5}, {.5, .5}, {.5, .5}};
    double parts = _i == 1 ? 4 : 9, tolerance = parts; /* each node is rounded up or down by less than a quantum */
    for (uint32_t k = 0; k < SAMPLES; k++) {
        int32_t x = position(k, 0), y = position(k, 1);
        current(_i, x, y, v[0], v[1], v[2], 16384.0f);
        for (int c = 0; c < 3; c++) {
            const struct deposit *d = &got[LM_CURRENT_X + c];
            double total = v[c] * 16384;
            require_near((double)d->sum, total, tolerance);
            /* relative to the particle, nodes are at most 1.5 cells away */
            double mx = (double)d->x + (double)d->sum * (place[c][0] - ldexp(x, -24));
            double my = (double)d->y + (double)d->sum * (place[c][1] - ldexp(y, -24));
            if (!(fabs(mx) <= 1.5 * tolerance && fabs(my) <= 1.5 * tolerance))
                ck_abort_msg("component %d at %.9g, %.9g: off by %g, %g parts x cells", c, ldexp(x, -24), ldexp(y, -24),
                             mx, my);
        }
    }
}
END_TEST

/* The currents of opposite velocities at one position cancel to the bit, so a quiet start has no net current. */
START_TEST(opposite_velocities_cancel)
{
    for (uint32_t k = 0; k < SAMPLES / 10; k++) {
        int32_t x = position(k, 0), y = position(k, 1);
        double u = lm_uniform(lm_random_at(9, 0, LM_STREAM_VELOCITY, k, 0).a);
        current(_i, x, y, u, 0.37 * u, 1 - u, 65536.0f);
        struct deposit there[LM_MOMENTS];
        memcpy(there, got, sizeof there);
        current(_i, x, y, -u, -0.37 * u, u - 1, 65536.0f);
        for (int c = LM_CURRENT_X; c <= LM_CURRENT_Z; c++) {
            require(there[c].sum == -got[c].sum);
            require(there[c].x == -got[c].x);
            require(there[c].y == -got[c].y);
        }
    }
}
END_TEST

/* All particles of a chunk have the position and the velocity that give the largest quanta. */
START_TEST(chunk_cannot_overflow)
{
    static int32_t parts[LM_MOMENTS][SIZE][SIZE];
    int64_t largest = 0;
    for (uint32_t k = 0; k < SAMPLES; k++) {
        int32_t x = position(k, 0), y = position(k, 1);
        current(_i, x, y, -4, 4, 4, 16384.0f); /* |component| = bound */
        density(_i, x, y);
        for (int c = 0; c < LM_MOMENTS; c++) {
            largest = got[c].largest > largest ? got[c].largest : largest;
            largest = -(int64_t)got[c].smallest > largest && got[c].smallest < 0 ? -(int64_t)got[c].smallest : largest;
        }
    }
    require(largest <= LM_CHARGE_QUANTA);
    require((int64_t)LM_CHUNK * (LM_CHARGE_QUANTA + 1) <= INT32_MAX);
    memset(parts, 0, sizeof parts);
#define ADD(c, i, j, part) parts[c][(j) + LOW][(i) + LOW] += part
    for (int k = 0; k < LM_CHUNK; k++) {
        LM_DEPOSIT_DENSITY(1, ONE24 / 2, ONE24 / 2, ADD);
        LM_DEPOSIT_CURRENT(1, ONE24 / 2, ONE24 / 2, -4.0, 4.0, 4.0, 16384.0f, ADD);
    }
#undef ADD
    require(parts[LM_DENSITY][LOW][LOW] == LM_CHUNK * LM_CHARGE_QUANTA);
    require(parts[LM_CURRENT_X][LOW][LOW] == -LM_CHUNK * LM_CHARGE_QUANTA);
}
END_TEST

/* For every position that lm_in_window accepts, all nodes are inside the window. */
START_TEST(nodes_stay_in_the_window)
{
    for (int size = 8; size <= 16; size += 8)
        for (uint32_t k = 0; k < 2000; k++) {
            lm_fix low = -LM_MARGIN * LM_ONE + (_i == 2 ? LM_HALF : 0), high = (lm_fix)(size + LM_MARGIN) * LM_ONE - 1;
            lm_fix x = k % 3 == 0 ? low : k % 3 == 1 ? high : (lm_fix)(k % (uint32_t)size) * LM_ONE + (lm_fix)k;
            lm_fix y = k % 2 ? low : high;
            require(lm_in_window(_i, x, y, size));
            require(!lm_in_window(_i, low - 1, y, size) && !lm_in_window(_i, x, high + 1, size));
            require(!lm_in_window(_i, x, low - 1, size) && !lm_in_window(_i, high + 1, y, size));
            density(_i, lm_fix24(x), lm_fix24(y));
            struct deposit n = got[LM_DENSITY];
            current(_i, lm_fix24(x), lm_fix24(y), 1, 1, 1, 1.0f);
            for (int c = LM_CURRENT_X; c <= LM_CURRENT_Z; c++) {
                require(got[c].low >= -LM_WINDOW_LOW);
                require(got[c].high < size + LM_WINDOW_EXTRA - LM_WINDOW_LOW);
            }
            require(n.low >= -LM_WINDOW_LOW);
            require(n.high < size + LM_WINDOW_EXTRA - LM_WINDOW_LOW);
        }
}
END_TEST

/* The speed exponents are powers of two above every bound, and the sums fit into 63 bits. */
START_TEST(exponents)
{
    static const double bounds[] = {0, 1e-300, 1e-13, 0x1p-40, 0.3, 0.5, 1, 1.0000001, 3, 4, 1e9, 1e100};
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        int e = lm_speed_exponent(bounds[k]);
        require(e >= -40 && ldexp(1, e) >= bounds[k]);
        require(e == -40 || ldexp(1, e - 1) < bounds[k]);
        for (double count = 0; count < 1e10; count = 3 * count + 1) {
            int s = lm_sum_exponent(count, e);
            require(ldexp(count, s + e) <= 0x1p62 && ldexp(fmax(count, 1), s + e) >= 0x1p61);
        }
    }
    const double e[3] = {3, 4, 12};
    require(lm_speed_bound(4, e, 2, -0.5) >= 15);
    require(lm_speed_bound(4, e, 2, -0.5) <= 15.01);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create(LM_PRECISION == 64 ? "deposit, double" : "deposit, single");
    TCase *t = tcase_create("deposit");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, charge_is_exact, 1, 3);
    tcase_add_loop_test(t, centre_of_charge, 1, 3);
    tcase_add_loop_test(t, small_currents_are_kept, 1, 3);
    tcase_add_loop_test(t, current_and_its_place, 1, 3);
    tcase_add_loop_test(t, opposite_velocities_cancel, 1, 3);
    tcase_add_loop_test(t, chunk_cannot_overflow, 1, 3);
    tcase_add_loop_test(t, nodes_stay_in_the_window, 1, 3);
    tcase_add_test(t, exponents);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
