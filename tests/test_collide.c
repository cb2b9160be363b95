/* Collisions, ion by ion, against theory: normal numbers, the table of stopping, slowing, scattering, charge exchange.
 */
#include <check.h>
#include <math.h>

#ifndef LM_PRECISION
#define LM_PRECISION 64
#endif
#include "larmor/physics/collisions/collide_particle.h"
#include "larmor/physics/numerics/hash.h"
#include "larmor/stopping.h"
#include "require.h"
#include "scratch.h"
#include "suite.h"

enum { MANY = 1000000 };

static void random_of(uint32_t k, uint32_t r[2])
{
    uint32_t keys[LM_PHILOX_ROUNDS];
    lm_random_keys(77, 0, LM_STREAM_SCATTER, keys);
    lm_random_pair(keys, k, r);
}

/* Random123's bits. */
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
static struct lm_stopping_table table;

static void read_table(struct lm_stopping_table *to, const double *energy, const double *s, const double *p, int points)
{
    char path[LM_MAX_PATH];
    snprintf(path, sizeof path, "%s/stopping.txt", scratch);
    FILE *file = fopen(path, "w");
    fprintf(file, "# source = test\n# energy = normalized\n# stopping = normalized\n# scattering = normalized\n");
    for (int k = 0; k < points; k++)
        fprintf(file, "%.17g %.17g %.17g\n", energy[k], s[k], p[k]);
    fclose(file);
    ck_assert_int_eq(lm_stopping_read(path, 0, 0, to), LM_OK);
    ck_assert_int_eq(to->points, points);
}

static void fill_table(void)
{
    scratch_make();
    read_table(&table, energies, stopping, power, POINTS);
}

static void free_table(void)
{
    lm_stopping_free(&table);
    scratch_remove();
}

/* The plain way: look at every interval. */
static double plain_at(const double *energy, const double *value, int points, double at)
{
    if (at <= energy[0])
        return value[0];
    for (int k = 0; k + 1 < points; k++)
        if (at <= energy[k + 1])
            return value[k] + (value[k + 1] - value[k]) * (at - energy[k]) / (energy[k + 1] - energy[k]);
    return value[points - 1];
}

static double plain(const double *value, double energy)
{
    return plain_at(energies, value, POINTS, energy);
}

static void check_energy(const struct lm_stopping *t, const double *e, const double *s, const double *p, int points,
                         float energy)
{
    const int k = lm_stopping_row(t, energy);
    const struct lm_interpolated_stopping at = lm_stopping_at(t, energy);
    require(k >= 0 && k < t->rows && t->row[k].energy <= energy && (k + 1 == t->rows || energy < t->row[k + 1].energy));
    require(fabs((double)at.stopping - plain_at(e, s, points, (double)energy)) < 1e-6);
    require(fabs((double)at.scattering_power - plain_at(e, p, points, (double)energy)) < 1e-6);
    const int inside = energy >= (float)e[0] && energy < (float)e[points - 1];
    require(inside || (at.slope == 0 && at.scattering_slope == 0));
}

START_TEST(every_interval)
{
    for (float energy = 0; energy < 12; energy += 0.00037f)
        check_energy(&table.lookup, energies, stopping, power, POINTS, energy);
    for (int k = 0; k < POINTS; k++) {
        const float at = (float)energies[k];
        check_energy(&table.lookup, energies, stopping, power, POINTS, at);
        check_energy(&table.lookup, energies, stopping, power, POINTS, nextafterf(at, 0));
        check_energy(&table.lookup, energies, stopping, power, POINTS, nextafterf(at, 20));
    }
}
END_TEST

/* Rows from 0 to 10^8 and as close as floats are, as many as there may be: many to a bucket of the guide, and buckets
 * without any. Not a number finds some row. */
START_TEST(crowded_table)
{
    static double e[LM_MOST_STOPPING], s[LM_MOST_STOPPING], p[LM_MOST_STOPPING];
    const int points = LM_MOST_STOPPING;
    struct lm_stopping_table t;
    for (int k = 0; k < points; k++) {
        e[k] = k == 0           ? 0
               : k < points / 2 ? 1 + 1e-6 * k
               : k < points - 3 ? 1e3 * (1 + 1e-3 * k)
                                : pow(10, 10 + k - points);
        s[k] = 1 + 0.5 * sin(0.01 * k);
        p[k] = 0.5 + 0.25 * cos(0.013 * k);
    }
    read_table(&t, e, s, p, points);
    for (int k = 0; k < points; k++) {
        const float at = (float)e[k];
        require(lm_stopping_row(&t.lookup, at) == k + 1);
        require(k == 0 || lm_stopping_row(&t.lookup, nextafterf(at, 0)) == k);
    }
    for (double at = 1e-30; at < 1e30; at *= 1.01) {
        const int k = lm_stopping_row(&t.lookup, (float)at);
        require(t.lookup.row[k].energy <= (float)at && (k == points || (float)at < t.lookup.row[k + 1].energy));
    }
    const int lost = lm_stopping_row(&t.lookup, NAN);
    require(lost >= 0 && lost <= points && t.lookup.buckets <= LM_MOST_BUCKETS);
    lm_stopping_free(&t);
}
END_TEST

/* --- slowing --- */

static struct lm_collisions in_gas(float dt)
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
static void way_by_steps(float dt, double *way, double *time)
{
    const struct lm_collisions c = in_gas(dt);
    const double cutoff = sqrt((double)c.stopped2), step = (double)dt;
    double v = sqrt(2 * 8 / 1.5);
    *way = *time = 0;
    for (;;) {
        const float w[3] = {(float)v, 0, 0};
        const struct lm_interpolated_stopping at = lm_stopping_of_ion(&c, w);
        const struct lm_velocity_change got = lm_collide(&c, 0.7f, w, &at, 1);
        if (got.channel == LM_ENERGY_STOPPED) {
            const double s = plain(stopping, 0.75 * v * v) * 0.7 / 1.5, rest = (v - cutoff) / s;
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

/* Second order: a step of half the size leaves a quarter of the error, but for the kinks of the table. */
START_TEST(range)
{
    double way, time, error[3][2];
    exact_way(&way, &time);
    for (int k = 0; k < 3; k++) {
        double w, t;
        way_by_steps(0.1f / (float)(1 << 2 * k), &w, &t);
        error[k][0] = fabs(w - way) / way;
        error[k][1] = fabs(t - time) / time;
    }
    for (int k = 0; k < 2; k++) {
        ck_assert_msg(error[0][k] < 2e-3, "error of %g", error[0][k]);
        ck_assert_msg(error[2][k] < error[0][k] / 40, "errors %g, %g, %g", error[0][k], error[1][k], error[2][k]);
    }
}
END_TEST

/* An ion meets the same medium everywhere. */
static struct lm_collision_outcome meet(const struct lm_collisions *c, const struct lm_medium *m, double v[3],
                                        uint32_t number)
{
    float density[16];
    lm_real velocity[2 * 16], fields[LM_WINDOW_FIELDS * 16];
    const struct lm_gas_window g = {density + 5, velocity + 5, 4, 16};
    const struct lm_window f = {fields + 5, 4, 16};
    struct lm_particle p = {LM_HALF + ((lm_fix)number << (LM_FRACTION_BITS - 21)), LM_HALF, (lm_real)v[0],
                            (lm_real)v[1], (lm_real)v[2]};
    for (int k = 0; k < LM_WINDOW_FIELDS * 16; k++)
        fields[k] = k >= 80;
    for (int k = 0; k < 16; k++) {
        density[k] = m->n;
        velocity[k] = m->u[0];
        velocity[16 + k] = m->u[1];
    }
    const struct lm_collision_site site = {g, f, p.x, p.y, number};
    const struct lm_tally_units units = {0x1p30, 0x1p30};
    struct lm_collision_tallies tallies;
    const struct lm_collision_outcome outcome = lm_collide_and_tally(2, c, &units, &site, &p, &tallies);
    v[0] = (double)p.vx, v[1] = (double)p.vy, v[2] = (double)p.vz;
    return outcome;
}

/* The slowing to 1e-6 of itself; and in the end an ion has the medium's velocity in the precision it is stored in. */
START_TEST(friction)
{
    struct lm_collisions c = in_gas(0.1f);
    c.stopping.rows = c.stops = 0;
    c.moves = 1;
    c.friction = 0.3f * c.dt;
    const struct lm_medium m = {2, {(lm_real)0.4, (lm_real)-0.3}};
    double v[3] = {2, 1, -3};
    for (uint32_t k = 0; k < 10; k++)
        ck_assert_int_eq(meet(&c, &m, v, k).channel, -1);
    const double keep = exp(-0.3 * 2.0 * 10 * 0.1);
    ck_assert_double_lt(fabs(v[0] - (0.4 + 1.6 * keep)), 1e-6 * 1.6 * (1 - keep));
    ck_assert_double_lt(fabs(v[1] - (-0.3 + 1.3 * keep)), 1e-6 * 1.3 * (1 - keep));
    ck_assert_double_lt(fabs(v[2] - -3 * keep), 1e-6 * 3 * (1 - keep));
    c.friction = 5;
    for (uint32_t k = 0; k < 10; k++)
        ck_assert_int_eq(meet(&c, &m, v, k).channel, -1);
    const double round_off = LM_PRECISION == 64 ? 1e-15 : 1e-7;
    ck_assert_double_eq_tol(v[0], 0.4, round_off);
    ck_assert_double_eq_tol(v[1], -0.3, round_off);
    for (float x = 1e-12f; x < 100; x *= 1.1f)
        require(fabs((double)lm_one_minus_expf(x) + expm1(-(double)x)) < 2e-7 * -expm1(-(double)x));
}
END_TEST

/* --- scattering --- */

/* It keeps the speed, to single precision of the turn, and is as large as it says. With it done a thousand times the
 * speed is the same to round-off. */
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
        require(meet(&turning, &m, v, k).channel < 0);
    const double size2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    ck_assert_double_lt(fabs(size2 / 5.8125 - 1), LM_PRECISION == 64 ? 1e-13 : 1e-4);
}
END_TEST

/* <theta^2> is twice the variance in a plane, all azimuths alike, whatever the direction; so much of it is beyond the
 * sampled tail as a Rayleigh distribution says. */
START_TEST(angles)
{
    static const float from[3][3] = {{1, 0, 0}, {0, 0, -2}, {0.3f, -0.4f, 1.2f}};
    struct lm_collisions c = in_gas(0.1f);
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
    for (int d = 0; d < 3; d++) { /* forward it loses variance of its speed */
        const int e = (d + 1) % 3;
        const double one = (double)(v[d] / size), other = (double)(v[e] / size);
        ck_assert_double_lt(fabs(mean[d] / MANY + variance * one), spread * sigma);
        ck_assert_double_lt(fabs(across[d] / MANY / variance - (1 - one * one)), 2 * spread + 4 * variance);
        ck_assert_double_lt(fabs(across[3 + d] / MANY / variance + one * other), 2 * spread + 4 * variance);
    }
    ck_assert_double_lt(fabs(out - exp(-2) * MANY), 5 * sqrt(exp(-2) * MANY));
}
END_TEST

/* --- charge exchange --- */

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
        const struct lm_collision_outcome outcome = meet(&c, &m, v, k);
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

/* --- next to rest, and who is who --- */

/* Friction makes speeds of which single precision has no squares, and of which there are none at all. */
START_TEST(next_to_rest)
{
    static const float sizes[] = {1e-3f, 1e-14f, 1e-16f, 1e-18f, 1e-20f, 1e-25f, 1e-38f, 1e-44f, 0};
    struct lm_collisions c = in_gas(0.1f);
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
    c = in_gas(0.1f);
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

/* A million particles that differ in one thing alone, in small even steps, have identities of their own; so have those
 * that are laid out in order in every cell. A particle has the same one whatever tile it is counted in. */
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
    tcase_add_test(t, philox);
    tcase_add_test(t, logarithm_and_direction);
    tcase_add_test(t, normal_numbers);
    tcase_add_test(t, every_interval);
    tcase_add_test(t, crowded_table);
    tcase_add_test(t, range);
    tcase_add_test(t, friction);
    tcase_add_test(t, turn_keeps_the_speed);
    tcase_add_loop_test(t, angles, 0, 3);
    tcase_add_test(t, exchanges);
    tcase_add_test(t, next_to_rest);
    tcase_add_test(t, identities);
    suite_add_tcase(s, t);
    return suite_run(s);
}
