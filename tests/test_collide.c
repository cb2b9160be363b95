/* Collisions, ion by ion, against theory: slowing, scattering, charge exchange, and the identity of a particle. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#ifndef LM_PRECISION
#define LM_PRECISION 64
#endif
#include "larmor/physics/collisions/collide_particle.h"
#include "collide_case.h"
#include "require.h"
#include "scratch.h"
#include "suite.h"

static double interpolated(const double *value, double energy)
{
    return interpolated_at(energies, value, POINTS, energy);
}

static struct lm_collisions collisions_in_gas(float dt)
{
    return (struct lm_collisions){.gas = 0,
                                  .dt = dt,
                                  .half_mass = 0.75f,
                                  .one_over_mass = 1 / 1.5f,
                                  .stopping = table.lookup,
                                  .tail2 = 100,
                                  .stops = 1,
                                  .stopped2 = 2 * 0.15f / 1.5f,
                                  .cos_low = -2,
                                  .cos_high = 2,
                                  .key = 5};
}

/* The range from energy 8 to the cut-off in a gas of density 0.7, and the time that it takes, integrated with small
 * steps of the energy. */
static void exact_range(double *way, double *time)
{
    const int steps = 4000000;
    *way = *time = 0;
    for (int k = 0; k < steps; k++) {
        const double energy = 0.15 + (8 - 0.15) * (k + 0.5) / steps, part = (8 - 0.15) / steps;
        *way += part / (0.7 * interpolated(stopping, energy));
        *time += part / (0.7 * interpolated(stopping, energy) * sqrt(2 * energy / 1.5));
    }
}

/* Range and time of an ion that takes steps of dt. The last step ends at the cut-off. */
static void range_by_steps(float dt, double *way, double *time)
{
    const struct lm_collisions c = collisions_in_gas(dt);
    const double cutoff = sqrt((double)c.stopped2), step = (double)dt;
    double v = sqrt(2 * 8 / 1.5);
    *way = *time = 0;
    for (;;) {
        const float w[3] = {(float)v, 0, 0};
        const struct lm_interpolated_stopping at = lm_stopping_of_ion(&c, w);
        const struct lm_velocity_change got = lm_collide(&c, 0.7f, w, &at, 1);
        if (got.channel == LM_ENERGY_STOPPED) {
            const double s = interpolated(stopping, 0.75 * v * v) * 0.7 / 1.5, rest = (v - cutoff) / s;
            *way += rest * 0.5 * (v + cutoff);
            *time += rest;
            return;
        }
        const double next = v - (double)got.fraction_lost * v;
        *way += 0.5 * step * (v + next);
        *time += step;
        v = next;
    }
}

/* The method is of second order: half the step leaves a quarter of the error, except for the kinks of the table. */
START_TEST(range)
{
    double way, time, error[3][2];
    exact_range(&way, &time);
    for (int k = 0; k < 3; k++) {
        double w, t;
        range_by_steps(0.1f / (float)(1 << 2 * k), &w, &t);
        error[k][0] = fabs(w - way) / way;
        error[k][1] = fabs(t - time) / time;
    }
    for (int k = 0; k < 2; k++) {
        ck_assert_msg(error[0][k] < 2e-3, "error of %g", error[0][k]);
        ck_assert_msg(error[2][k] < error[0][k] / 40, "errors %g, %g, %g", error[0][k], error[1][k], error[2][k]);
    }
}
END_TEST

/* One collision step of an ion in a medium that is the same everywhere; v becomes its new velocity. */
static struct lm_collision_outcome collide_once(const struct lm_collisions *c, const struct lm_medium *m, double v[3],
                                                uint32_t number)
{
    float density[16];
    lm_real velocity[2 * 16];
    const struct lm_gas_window g = {density + 5, velocity + 5, 4, 16};
    struct lm_particle p = {LM_HALF + ((lm_fix)number << (LM_FRACTION_BITS - 21)), LM_HALF, (lm_real)v[0],
                            (lm_real)v[1], (lm_real)v[2]};
    for (int k = 0; k < 16; k++) {
        density[k] = m->n;
        velocity[k] = m->u[0];
        velocity[16 + k] = m->u[1];
    }
    const struct lm_local_fields f = {{0, 0, 0}, {0, 0, 1}};
    const struct lm_collision_site site = {g, f, 0, p.x, p.y, number};
    const struct lm_tally_units units = {0x1p30, 0x1p30};
    struct lm_collision_tallies tallies;
    const struct lm_collision_outcome outcome = lm_collide_and_tally(2, c, &units, &site, &p, &tallies);
    v[0] = (double)p.vx, v[1] = (double)p.vy, v[2] = (double)p.vz;
    return outcome;
}

/* Friction slows to 1e-6 of the change of velocity. After strong friction an ion has the velocity of the medium, to
 * round-off. */
START_TEST(friction)
{
    struct lm_collisions c = collisions_in_gas(0.1f);
    c.stopping.rows = c.stops = 0;
    c.moves = 1;
    c.friction = 0.3f * c.dt;
    const struct lm_medium m = {2, {(lm_real)0.4, (lm_real)-0.3}};
    double v[3] = {2, 1, -3};
    for (uint32_t k = 0; k < 10; k++)
        ck_assert_int_eq(collide_once(&c, &m, v, k).channel, -1);
    const double keep = exp(-0.3 * 2.0 * 10 * 0.1);
    ck_assert_double_lt(fabs(v[0] - (0.4 + 1.6 * keep)), 1e-6 * 1.6 * (1 - keep));
    ck_assert_double_lt(fabs(v[1] - (-0.3 + 1.3 * keep)), 1e-6 * 1.3 * (1 - keep));
    ck_assert_double_lt(fabs(v[2] - -3 * keep), 1e-6 * 3 * (1 - keep));
    c.friction = 5;
    for (uint32_t k = 0; k < 10; k++)
        ck_assert_int_eq(collide_once(&c, &m, v, k).channel, -1);
    const double round_off = LM_PRECISION == 64 ? 1e-15 : 1e-7;
    ck_assert_double_eq_tol(v[0], 0.4, round_off);
    ck_assert_double_eq_tol(v[1], -0.3, round_off);
    for (float x = 1e-12f; x < 100; x *= 1.1f)
        require(fabs((double)lm_one_minus_expf(x) + expm1(-(double)x)) < 2e-7 * -expm1(-(double)x));
}
END_TEST

/* Scattering keeps the speed to single precision of the turn, and the turn has the angle that was drawn. After a
 * thousand turns the speed is still the same to round-off. */
START_TEST(turn_keeps_the_speed)
{
    struct lm_collisions c = {.tail2 = 100};
    for (uint32_t k = 0; k < 10000; k++) {
        uint32_t r[2], other[2];
        float n[2], change[3];
        random_of(k, r);
        random_of(k + 77777, other);
        lm_normal_pair(r[0], r[1], n);
        const float v[3] = {n[0], n[1], (float)(int)other[0] * 1e-9f};
        const double size2 = (double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2];
        const float variance = 0.5f * ((float)other[1] * 0x1p-32f);
        const double a2 = 0.25 * (double)variance * (double)lm_normal_radius2(r[0]);
        require(lm_scatter(&c, variance, v, (float)sqrt(size2), (float)(1 / sqrt(size2)), r, change));
        double now2 = 0, along = 0;
        for (int d = 0; d < 3; d++) {
            now2 += ((double)v[d] + (double)change[d]) * ((double)v[d] + (double)change[d]);
            along += (double)v[d] * ((double)v[d] + (double)change[d]);
        }
        const double turn = 2 * atan(sqrt(a2)), sine = sin(turn);
        require(fabs(now2 / size2 - 1) < 2e-6 * turn);
        require(fabs(along / size2 - cos(turn)) < 1e-6 * turn + 1e-6 * fabs(sine));
    }
    double v[3] = {1.25, -0.5, 2};
    const struct lm_collisions turning = {
        .gas = 0, .dt = 0.1f, .scattering_power = 0.02f, .tail2 = 100, .scatters = 1, .cos_low = -2, .cos_high = 2};
    const struct lm_medium m = {1, {0, 0}};
    for (uint32_t k = 0; k < 1000; k++)
        require(collide_once(&turning, &m, v, k).channel < 0);
    const double size2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    ck_assert_double_lt(fabs(size2 / 5.8125 - 1), LM_PRECISION == 64 ? 1e-13 : 1e-4);
}
END_TEST

/* <theta^2> is twice the variance in a plane and isotropic in azimuth, for any direction of the velocity. The share of
 * angles beyond the cut tail is that of a Rayleigh distribution. */
START_TEST(angles)
{
    static const float from[3][3] = {{1, 0, 0}, {0, 0, -2}, {0.3f, -0.4f, 1.2f}};
    struct lm_collisions c = collisions_in_gas(0.1f);
    const float *v = from[_i], size = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double variance = 1e-4;
    double theta2 = 0, theta4 = 0, mean[3] = {0}, across[6] = {0};
    int out = 0;
    for (uint32_t k = 0; k < MANY; k++) {
        double chord2 = 0, by[3];
        float change[3];
        uint32_t r[2];
        random_of(k, r);
        c.tail2 = INFINITY;
        require(lm_scatter(&c, (float)variance, v, size, 1 / size, r, change));
        for (int d = 0; d < 3; d++) {
            by[d] = (double)(change[d] / size);
            chord2 += by[d] * by[d];
            mean[d] += by[d];
        }
        for (int d = 0; d < 3; d++) {
            across[d] += by[d] * by[d];
            across[3 + d] += by[d] * by[(d + 1) % 3];
        }
        const double t = 2 * asin(0.5 * sqrt(chord2));
        theta2 += t * t;
        theta4 += t * t * t * t;
        c.tail2 = 4;
        out += !lm_scatter(&c, (float)variance, v, size, 1 / size, r, change);
    }
    const double spread = 5 / sqrt(MANY), sigma = sqrt(variance);
    ck_assert_double_lt(fabs(theta2 / MANY / (2 * variance) - 1), spread + variance);
    ck_assert_double_lt(fabs(theta4 / MANY / (8 * variance * variance) - 1), spread * sqrt(5) + 4 * variance);
    for (int d = 0; d < 3; d++) { /* the component along v loses `variance` of its value */
        const int e = (d + 1) % 3;
        const double one = (double)(v[d] / size), other = (double)(v[e] / size);
        ck_assert_double_lt(fabs(mean[d] / MANY + variance * one), spread * sigma);
        ck_assert_double_lt(fabs(across[d] / MANY / variance - (1 - one * one)), 2 * spread + 4 * variance);
        ck_assert_double_lt(fabs(across[3 + d] / MANY / variance + one * other), 2 * spread + 4 * variance);
    }
    ck_assert_double_lt(fabs(out - exp(-2) * MANY), 5 * sqrt(exp(-2) * MANY));
}
END_TEST

START_TEST(exchanges)
{
    struct lm_collisions c = {.gas = 0,
                              .moves = 1,
                              .dt = 0.2f,
                              .exchange_section = 0.2f * 0.6f,
                              .exchange_rate = 0.2f * 0.1f,
                              .thermal = 0.25f,
                              .cos_low = -2,
                              .cos_high = 2,
                              .exchanges = 1,
                              .key = 3};
    const struct lm_medium m = {1.5f, {0.4f, -0.1f}};
    const double v0[3] = {2.4, -0.1, 1.5}, speed = 2.5, u[3] = {(double)m.u[0], (double)m.u[1], 0};
    const double chance = 1 - exp(-1.5 * 0.2 * (0.6 * speed + 0.1));
    double mean[3] = {0}, two[3] = {0};
    int count = 0;
    for (uint32_t k = 0; k < MANY; k++) {
        double v[3] = {v0[0], v0[1], v0[2]};
        const struct lm_collision_outcome outcome = collide_once(&c, &m, v, k);
        require(outcome.channel < 0);
        count += outcome.exchanged;
        for (int d = 0; d < 3; d++)
            require((outcome.exchanged ? outcome.before_exchange[d] : v[d]) == (double)(lm_real)v0[d]);
        for (int d = 0; d < 3 && outcome.exchanged; d++) {
            mean[d] += v[d] - u[d];
            two[d] += (v[d] - u[d]) * (v[d] - u[d]);
        }
    }
    ck_assert_double_lt(fabs(count - chance * MANY), 5 * sqrt(chance * (1 - chance) * MANY));
    for (int d = 0; d < 3; d++) {
        ck_assert_double_lt(fabs(mean[d] / count), 5 * 0.25 / sqrt(count));
        ck_assert_double_lt(fabs(two[d] / count / (0.25 * 0.25) - 1), 5 * sqrt(2.0 / count));
    }
}
END_TEST

/* Where an ion slows down in a step, the chance of a charge exchange follows from its mean speed, to the second order.
 */
START_TEST(exchanges_of_slowed_ions)
{
    const struct lm_collisions c = {.gas = 0,
                                    .dt = 0.2f,
                                    .friction = 0.2f,
                                    .exchange_section = 0.2f * 0.6f,
                                    .cos_low = -2,
                                    .cos_high = 2,
                                    .exchanges = 1,
                                    .key = 3};
    const struct lm_medium m = {1, {0, 0}};
    const double speed = 2 * (1 - exp(-0.2)) / 0.2, chance = 1 - exp(-0.2 * 0.6 * speed), second_order = 0.2 * 0.2 / 12;
    int count = 0;
    for (uint32_t k = 0; k < MANY; k++) {
        double v[3] = {2, 0, 0};
        count += collide_once(&c, &m, v, k).exchanged;
    }
    const double spread = 5 * sqrt((1 - chance) / (chance * MANY));
    ck_assert_double_lt(fabs(count / (chance * MANY) - 1), spread + 1.5 * second_order);
}
END_TEST

/* Very small speeds: their squares underflow in single precision, or the speed itself is 0. */
START_TEST(next_to_rest)
{
    static const float sizes[] = {1e-3f, 1e-14f, 1e-16f, 1e-18f, 1e-20f, 1e-25f, 1e-38f, 1e-44f, 0};
    struct lm_collisions c = collisions_in_gas(0.1f);
    c.stopping.rows = c.stops = 0;
    c.scattering_power = 0.01f;
    c.scatters = 1;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const float w[3] = {0.6f * sizes[k], 0, -0.8f * sizes[k]};
        const struct lm_interpolated_stopping at = lm_stopping_of_ion(&c, w);
        const struct lm_velocity_change got = lm_collide(&c, 0.7f, w, &at, k);
        for (int d = 0; d < 3; d++)
            require(got.channel == -1 && fabsf(got.turn[d]) <= 2 * sizes[k] && got.fraction_lost == 0);
    }
    c = collisions_in_gas(0.1f);
    const float rest[3] = {0};
    const struct lm_interpolated_stopping at = lm_stopping_of_ion(&c, rest);
    require(lm_collide(&c, 0.7f, rest, &at, 1).channel == LM_ENERGY_STOPPED);
}
END_TEST

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A million particles that differ in one quantity only, in small equal steps, have different identities. So have
 * particles on a regular lattice in every cell. The identity of a particle does not depend on the tile that its
 * position refers to. */
START_TEST(identities)
{
    uint64_t *all = malloc(MANY * sizeof *all);
    for (int way = 0; way < 6; way++) {
        for (uint32_t k = 0; k < MANY; k++) {
            struct lm_particle p = {LM_HALF, LM_ONE / 4, (lm_real)0.5, (lm_real)-0.25, (lm_real)1};
            const uint32_t cell = way == 0 ? k : way == 5 ? k / 1024 : 7;
            p.x += way == 1 ? (lm_fix)k * (LM_ONE >> 22) : way == 5 ? (lm_fix)(k % 32) * (LM_ONE / 64) : 0;
            p.y += way == 2 ? (lm_fix)k * (LM_ONE >> 22) : way == 5 ? (lm_fix)(k / 32 % 32) * (LM_ONE / 64) : 0;
            p.vx += way == 3 ? (lm_real)k * (lm_real)0x1p-22 : 0;
            p.vz += way == 4 ? (lm_real)k * (lm_real)0x1p-22 : 0;
            all[k] = lm_identity(cell, &p);
            const struct lm_particle same = {p.x + 3 * LM_ONE, p.y - 2 * LM_ONE, p.vx, p.vy, p.vz};
            require(lm_identity(cell, &same) == all[k]);
        }
        qsort(all, MANY, sizeof *all, compare);
        for (int k = 1; k < MANY; k++)
            require(all[k] != all[k - 1]);
    }
    free(all);
}
END_TEST

int main(void)
{
    Suite *s = suite_create(LM_PRECISION == 64 ? "collisions, double" : "collisions, single");
    TCase *t = tcase_create("collisions");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, fill_table, free_table);
    tcase_add_test(t, range);
    tcase_add_test(t, friction);
    tcase_add_test(t, turn_keeps_the_speed);
    tcase_add_loop_test(t, angles, 0, 3);
    tcase_add_test(t, exchanges);
    tcase_add_test(t, exchanges_of_slowed_ions);
    tcase_add_test(t, next_to_rest);
    tcase_add_test(t, identities);
    suite_add_tcase(s, t);
    return suite_run(s);
}
