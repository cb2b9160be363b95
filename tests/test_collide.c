/* Collisions, ion by ion, against theory: normal numbers, the table of stopping, slowing, scattering, charge exchange.
 */
#include <check.h>
#include <math.h>

#include "larmor/physics/collide.h"
#include "larmor/physics/hash.h"
#include "require.h"
#include "suite.h"

enum { MANY = 1000000 };

static void random_of(uint32_t k, uint32_t r[2])
{
    lm_random_pair(77, 0, LM_STREAM_SCATTER, k, r);
}

/* Random123's bits. */
START_TEST(philox)
{
    for (uint32_t k = 0; k < 1000; k++) {
        philox2x32_ctr_t counter = {{k * 0x9e3779b9u, k * k}};
        philox2x32_key_t key = {{k * 77777u}};
        const philox2x32_ctr_t want = philox2x32_R(7, counter, key);
        uint32_t r[2] = {counter.v[0], counter.v[1]};
        lm_philox2x32(key.v[0], r);
        require(r[0] == want.v[0] && r[1] == want.v[1]);
    }
}
END_TEST

START_TEST(logarithm_and_turn)
{
    for (float x = 1.2e-10f; x < 2.0f; x *= 1.0007f)
        require(fabs((double)lm_logf(x) - log((double)x)) < 2e-7 * (1 + fabs(log((double)x))));
    for (uint64_t k = 0; k < 1ull << 32; k += 399989) {
        const double angle = 2 * M_PI * (double)k / 0x1p32;
        float c, s;
        lm_turnf((uint32_t)k, &c, &s);
        require(fabs((double)c - cos(angle)) < 2e-7 && fabs((double)s - sin(angle)) < 2e-7);
    }
    require(lm_normal_radius2(0) > 43.6f && lm_normal_radius2(0) < 46.2f && lm_normal_radius2(0xffffffffu) >= 0.0f);
}
END_TEST

/* Moments of each, of products, and the tails beyond 1, 2, 3 and 4, within 5 standard deviations. */
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

/* --- the table --- */

enum { POINTS = 7 };
static const double energies[POINTS] = {0.1, 0.2, 0.5, 1, 2, 2.5, 9}, stopping[POINTS] = {2, 3, 2.5, 2, 1, 0.8, 0.3},
                    power[POINTS] = {0.5, 0.4, 0.3, 0.1, 0.05, 0.04, 0.01};
static struct lm_stopping table[POINTS];

static void fill_table(void)
{
    for (int k = 0; k < POINTS; k++)
        table[k] = (struct lm_stopping){.energy = energies[k], .stopping = stopping[k], .power = power[k]};
    for (int k = 0; k + 1 < POINTS; k++) {
        table[k].slope = (stopping[k + 1] - stopping[k]) / (energies[k + 1] - energies[k]);
        table[k].power_slope = (power[k + 1] - power[k]) / (energies[k + 1] - energies[k]);
    }
}

/* The plain way: look at every interval. */
static double plain(const double *value, double energy)
{
    if (energy <= energies[0])
        return value[0];
    for (int k = 0; k + 1 < POINTS; k++)
        if (energy <= energies[k + 1])
            return value[k] + (value[k + 1] - value[k]) * (energy - energies[k]) / (energies[k + 1] - energies[k]);
    return value[POINTS - 1];
}

static void check_energy(double energy)
{
    for (int points = 2; points <= POINTS; points++) {
        const int k = lm_stopping_row(table, points, energy);
        require(k >= 0 && k <= points - 2);
        require(k == 0 || table[k].energy <= energy);
        require(k == points - 2 || energy < table[k + 1].energy);
    }
    const struct lm_stopping s = lm_stopping_at(table, POINTS, energy);
    require(fabs(s.stopping - plain(stopping, energy)) < 1e-14 && fabs(s.power - plain(power, energy)) < 1e-14);
    const int inside = energy >= energies[0] && energy <= energies[POINTS - 1];
    require(inside || (s.slope == 0 && s.power_slope == 0));
}

START_TEST(every_interval)
{
    for (double energy = 0; energy < 12; energy += 0.00037)
        check_energy(energy);
    for (int k = 0; k < POINTS; k++) {
        check_energy(energies[k]);
        check_energy(nextafter(energies[k], 0));
        check_energy(nextafter(energies[k], 20));
    }
}
END_TEST

/* --- slowing --- */

static struct lm_collisions in_gas(double dt)
{
    return (struct lm_collisions){.gas = 0,
                                  .dt = dt,
                                  .mass = 1.5,
                                  .one_over_mass = 1 / 1.5,
                                  .points = POINTS,
                                  .stopping = table,
                                  .tail2 = 100,
                                  .stops = 1,
                                  .stopped2 = 2 * 0.15 / 1.5,
                                  .cos_low = -2,
                                  .cos_high = 2,
                                  .key = 5};
}

/* The way to the cut-off from energy 8 in a gas of density 0.7, and the time it takes; integrated with small steps of
 * the energy. */
static void exact_way(double *way, double *time)
{
    const int steps = 4000000;
    *way = *time = 0;
    for (int k = 0; k < steps; k++) {
        const double energy = 0.15 + (8 - 0.15) * (k + 0.5) / steps, part = (8 - 0.15) / steps;
        *way += part / (0.7 * plain(stopping, energy));
        *time += part / (0.7 * plain(stopping, energy) * sqrt(2 * energy / 1.5));
    }
}

/* The same by steps of dt; in the last one, straight to the cut-off. */
static void way_by_steps(double dt, double *way, double *time)
{
    const struct lm_collisions c = in_gas(dt);
    double v[3] = {sqrt(2 * 8 / 1.5), 0, 0}, variance;
    *way = *time = 0;
    for (;;) {
        const double before = v[0];
        if (!lm_slow(&c, 0.7, v, &variance)) {
            const double s = plain(stopping, 0.75 * before * before) * 0.7 / 1.5,
                         rest = (before - sqrt(c.stopped2)) / s;
            *way += rest * 0.5 * (before + sqrt(c.stopped2));
            *time += rest;
            return;
        }
        *way += 0.5 * dt * (before + v[0]);
        *time += dt;
    }
}

/* Second order: a step of half the size leaves a quarter of the error, but for the kinks of the table. */
START_TEST(range)
{
    double way, time, error[3][2];
    exact_way(&way, &time);
    for (int k = 0; k < 3; k++) {
        double w, t;
        way_by_steps(0.1 / (1 << 2 * k), &w, &t);
        error[k][0] = fabs(w - way) / way;
        error[k][1] = fabs(t - time) / time;
    }
    for (int k = 0; k < 2; k++) {
        ck_assert_msg(error[0][k] < 2e-3, "error of %g", error[0][k]);
        ck_assert_msg(error[2][k] < error[0][k] / 40, "errors %g, %g, %g", error[0][k], error[1][k], error[2][k]);
    }
}
END_TEST

START_TEST(friction)
{
    struct lm_collisions c = in_gas(0.1);
    c.points = c.stops = 0;
    c.friction = 0.3 * c.dt;
    const struct lm_medium m = {2.0, {0.5, -0.25, 0}};
    const double b[3] = {0, 0, 1};
    double v[3] = {2, 1, -3};
    for (int k = 0; k < 10; k++)
        ck_assert_int_eq(lm_collide(&c, &m, b, v, (uint64_t)k).channel, -1);
    const double keep = exp(-0.3 * 2.0 * 10 * 0.1);
    ck_assert_double_lt(fabs(v[0] - (0.5 + 1.5 * keep)), 1e-14);
    ck_assert_double_lt(fabs(v[1] - (-0.25 + 1.25 * keep)), 1e-14);
    ck_assert_double_lt(fabs(v[2] - -3 * keep), 1e-14);
}
END_TEST

/* --- scattering --- */

START_TEST(turn_keeps_the_speed)
{
    for (uint32_t k = 0; k < 1000; k++) {
        uint32_t r[2];
        float n[2];
        random_of(k, r);
        lm_normal_pair(r[0], r[1], n);
        double v[3] = {1, -2, 0.5}, a[3] = {0.3 * (double)n[0], 0.3 * (double)n[1], 0};
        a[2] = -(a[0] * v[0] + a[1] * v[1]) / v[2]; /* across v */
        const double size2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], old[3] = {v[0], v[1], v[2]};
        lm_turn(v, a);
        require(fabs(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - size2) < 1e-14 * size2);
        const double cosine = (v[0] * old[0] + v[1] * old[1] + v[2] * old[2]) / size2;
        const double angle = 2 * atan(sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]));
        require(fabs(cosine - cos(angle)) < 1e-14);
    }
}
END_TEST

/* <theta^2> is twice the variance in a plane, all azimuths alike, whatever the direction; so much of it is beyond the
 * sampled tail as a Rayleigh distribution says. */
START_TEST(angles)
{
    static const double from[3][3] = {{1, 0, 0}, {0, 0, -2}, {0.3, -0.4, 1.2}};
    struct lm_collisions c = in_gas(0.1);
    const double variance = 1e-4, *v0 = from[_i], size = sqrt(v0[0] * v0[0] + v0[1] * v0[1] + v0[2] * v0[2]);
    double theta2 = 0, theta4 = 0, mean[3] = {0};
    int out = 0;
    for (uint32_t k = 0; k < MANY; k++) {
        double v[3] = {v0[0], v0[1], v0[2]}, chord2 = 0;
        uint32_t r[2];
        random_of(k, r);
        c.tail2 = INFINITY;
        require(lm_scatter(&c, variance, v, r[0], r[1]));
        for (int d = 0; d < 3; d++) {
            chord2 += (v[d] - v0[d]) * (v[d] - v0[d]) / (size * size);
            mean[d] += (v[d] - v0[d]) / size;
        }
        const double t = 2 * asin(0.5 * sqrt(chord2));
        theta2 += t * t;
        theta4 += t * t * t * t;
        c.tail2 = 4;
        out += !lm_scatter(&c, variance, v, r[0], r[1]);
    }
    const double spread = 5 / sqrt(MANY), sigma = sqrt(variance);
    ck_assert_double_lt(fabs(theta2 / MANY / (2 * variance) - 1), spread + variance);
    ck_assert_double_lt(fabs(theta4 / MANY / (8 * variance * variance) - 1), spread * sqrt(5) + 4 * variance);
    for (int d = 0; d < 3; d++) /* forward it loses variance of its speed */
        ck_assert_double_lt(fabs(mean[d] / MANY + variance * v0[d] / size), spread * sigma);
    ck_assert_double_lt(fabs(out - exp(-2) * MANY), 5 * sqrt(exp(-2) * MANY));
}
END_TEST

/* --- charge exchange --- */

START_TEST(exchanges)
{
    struct lm_collisions c = {.gas = 0,
                              .dt = 0.2,
                              .mass = 1,
                              .section = 0.6,
                              .rate = 0.1,
                              .thermal = 0.25,
                              .cos_low = -2,
                              .cos_high = 2,
                              .exchanges = 1,
                              .key = 3};
    const struct lm_medium m = {1.5, {0.4, -0.1, 0}};
    const double b[3] = {0, 0, 1}, v0[3] = {2.4, -0.1, 1.5}, speed = 2.5;
    const double chance = 1 - exp(-1.5 * 0.2 * (0.6 * speed + 0.1));
    double mean[3] = {0}, two[3] = {0};
    int count = 0;
    for (uint32_t k = 0; k < MANY; k++) {
        double v[3] = {v0[0], v0[1], v0[2]};
        const struct lm_collided got = lm_collide(&c, &m, b, v, lm_mix(k));
        require(got.channel < 0 && (got.exchanged || (fabs(v[0] - v0[0]) < 1e-15 && v[2] == v0[2])));
        count += got.exchanged;
        for (int d = 0; d < 3 && got.exchanged; d++) {
            require(fabs(got.before[d] - v0[d]) < 1e-15);
            mean[d] += v[d] - m.u[d];
            two[d] += (v[d] - m.u[d]) * (v[d] - m.u[d]);
        }
    }
    ck_assert_double_lt(fabs(count - chance * MANY), 5 * sqrt(chance * (1 - chance) * MANY));
    for (int d = 0; d < 3; d++) {
        ck_assert_double_lt(fabs(mean[d] / count), 5 * 0.25 / sqrt(count));
        ck_assert_double_lt(fabs(two[d] / count / (0.25 * 0.25) - 1), 5 * sqrt(2.0 / count));
    }
}
END_TEST

/* Friction makes speeds of which single precision has no squares, and of which there are none at all. */
START_TEST(next_to_rest)
{
    static const double sizes[] = {1e-3, 1e-14, 1e-16, 1e-18, 1e-20, 1e-25, 1e-160, 1e-300, 0};
    const struct lm_collisions c = {.tail2 = 100};
    uint32_t r[2];
    random_of(3, r);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        double v[3] = {0.6 * sizes[k], 0, -0.8 * sizes[k]};
        require(lm_scatter(&c, 0.01, v, r[0], r[1]));
        require(fabs(sqrt(lm_size2(v)) - sizes[k]) <= 1e-6 * sizes[k] + 1e-150);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("collisions");
    TCase *t = tcase_create("collisions");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, fill_table, NULL);
    tcase_add_test(t, philox);
    tcase_add_test(t, logarithm_and_turn);
    tcase_add_test(t, normal_numbers);
    tcase_add_test(t, every_interval);
    tcase_add_test(t, range);
    tcase_add_test(t, friction);
    tcase_add_test(t, turn_keeps_the_speed);
    tcase_add_loop_test(t, angles, 0, 3);
    tcase_add_test(t, exchanges);
    tcase_add_test(t, next_to_rest);
    suite_add_tcase(s, t);
    return suite_run(s);
}
